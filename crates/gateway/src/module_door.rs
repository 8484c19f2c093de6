//! The gateway as modules use it: every tool, and the people behind whoever called the module.

use std::sync::Arc;

use async_trait::async_trait;
use roost_model::ids::{QuestionId, ServiceId};
use roost_model::payload::{QuestionAskedPayload, QuestionField};
use serde_json::{Value, json};

use crate::endpoint::Endpoint;
use crate::governance::EngineGovernor;
use crate::principal::Principal;
use crate::upstream::ModuleGateway;

/// See the module.
pub struct ModuleDoor {
    /// Where modules list and call tools, as clients do.
    pub endpoint: Arc<Endpoint>,
    /// Knows the sessions in which people are asked.
    pub governor: Arc<EngineGovernor>,
}

#[async_trait]
impl ModuleGateway for ModuleDoor {
    async fn list_tools(&self, principal: &Principal) -> Result<Vec<Value>, String> {
        self.endpoint.list_tools_for(principal).await.map_err(|refusal| refusal.message())
    }

    async fn call_tool(
        &self,
        principal: &Principal,
        tool: &str,
        arguments: Value,
        meta: Value,
    ) -> Result<String, String> {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let result = self.endpoint.call_tool_for(principal, params).await.map_err(|refusal| refusal.message())?;
        let result: Value = serde_json::from_str(result.get()).map_err(|error| format!("{tool}: {error}"))?;
        let texts = result["content"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
        let text = texts.collect::<Vec<_>>().join("\n");
        match result["isError"].as_bool() {
            Some(true) => Err(text),
            _ => Ok(text),
        }
    }

    async fn ask(
        &self,
        principal: &Principal,
        service: &ServiceId,
        key: &str,
        question: &str,
    ) -> Result<Option<String>, String> {
        let field = QuestionField {
            id: key.into(),
            label: question.into(),
            options: Vec::new(),
            multiple: false,
            required: true,
        };
        let asked = QuestionAskedPayload {
            question_id: QuestionId::new(),
            message: format!("The service {service} asks: {question}"),
            fields: vec![field],
            tool_call_id: None,
        };
        let answers = self.governor.ask(principal, None, asked).await.map_err(|error| error.to_string())?;
        Ok(answers.map(|mut answers| answers.remove(key).unwrap_or_default().join("\n")))
    }
}
