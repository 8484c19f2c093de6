//! The gateway as modules use it: every tool, and the people behind whoever called the module.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt;
use futures::future::{BoxFuture, Shared, WeakShared};
use parking_lot::Mutex;
use roost_model::ids::{QuestionId, ServiceId};
use roost_model::payload::{QuestionAskedPayload, QuestionField, UsageReportedPayload};
use roost_model::run::AgentEvent;
use serde_json::{Value, json};

use crate::endpoint::Endpoint;
use crate::governance::EngineGovernor;
use crate::principal::Principal;
use crate::runs::Runs;
use crate::upstream::{ModelCall, ModuleGateway};

/// See the module.
pub struct ModuleDoor {
    endpoint: Arc<Endpoint>,
    governor: Arc<EngineGovernor>,
    runs: Arc<Runs>,
    questions: Mutex<HashMap<QuestionKey, WeakShared<Asking>>>,
}

/// A question that waits for an answer. It is withdrawn when the last call that waits for it is gone.
type Asking = BoxFuture<'static, Result<Option<String>, String>>;

/// What makes two questions the same one.
#[derive(Clone, PartialEq, Eq, Hash)]
struct QuestionKey {
    principal: Principal,
    service: ServiceId,
    key: String,
}

impl ModuleDoor {
    /// Modules list and call tools at the endpoint, as clients do; the governor knows the sessions in which people are
    /// asked, and the runs take what models cost.
    pub fn new(endpoint: Arc<Endpoint>, governor: Arc<EngineGovernor>, runs: Arc<Runs>) -> Self {
        Self { endpoint, governor, runs, questions: Mutex::default() }
    }

    /// The question that waits under this key, else a new one.
    fn question(&self, key: QuestionKey, text: &str) -> Shared<Asking> {
        let mut questions = self.questions.lock();
        questions.retain(|_, asking| asking.upgrade().is_some_and(|asking| asking.peek().is_none()));
        if let Some(waiting) = questions.get(&key).and_then(WeakShared::upgrade) {
            return waiting;
        }
        let asking = ask(self.governor.clone(), key.clone(), text.to_owned()).boxed().shared();
        questions.extend(asking.downgrade().map(|weak| (key, weak)));
        asking
    }
}

async fn ask(governor: Arc<EngineGovernor>, key: QuestionKey, text: String) -> Result<Option<String>, String> {
    let QuestionKey { principal, service, key } = key;
    let field =
        QuestionField { id: key.clone(), label: text.clone(), options: Vec::new(), multiple: false, required: true };
    let asked = QuestionAskedPayload {
        question_id: QuestionId::new(),
        message: format!("The service {service} asks: {text}"),
        fields: vec![field],
        tool_call_id: None,
    };
    let answers = governor.ask(&principal, None, asked).await.map_err(|error| error.to_string())?;
    Ok(answers.map(|mut answers| answers.remove(&key).unwrap_or_default().join("\n")))
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

    async fn report_model_call(&self, principal: &Principal, run: Option<&str>, call: ModelCall) {
        let ModelCall { service, model, input_tokens, output_tokens } = call;
        let reported = match (principal, run) {
            (Principal::Session(session), _) => {
                let usage = UsageReportedPayload {
                    input_tokens: Some(input_tokens),
                    output_tokens: Some(output_tokens),
                    cached_input_tokens: None,
                    reasoning_tokens: None,
                    cost_usd: None,
                    context: None,
                };
                self.governor.add_usage(session, usage).await.map_err(|error| error.to_string())
            }
            (Principal::Local | Principal::Device(_), Some(run)) => {
                let document = json!({
                    "kind": "agent.llm_called", "run_id": run, "message": format!("{model}, asked by {service}"),
                    "data": { "model": model, "inputTokens": input_tokens, "outputTokens": output_tokens },
                });
                match AgentEvent::parse(&document) {
                    Ok(event) => self.runs.report(vec![event]).await.map_err(|error| error.to_string()),
                    Err(error) => Err(error.to_string()),
                }
            }
            // Whoever names no run has no budget.
            (Principal::Local | Principal::Device(_), None) => Ok(()),
        };
        if let Err(error) = reported {
            tracing::warn!(error, "What a module used of a model could not be recorded.");
        }
    }

    async fn ask(
        &self,
        principal: &Principal,
        service: &ServiceId,
        key: &str,
        question: &str,
    ) -> Result<Option<String>, String> {
        let key = QuestionKey { principal: principal.clone(), service: service.clone(), key: key.into() };
        self.question(key, question).await
    }
}
