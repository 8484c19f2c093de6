//! Calls the tools of agent services on the agents' own behalf: when a timer fires, and when somebody writes to an agent.
//!
//! Such a call goes the way of every other call of the gateway, so rules, approved definitions, budgets and the record hold
//! for it. It is not asked about: whoever applied the manifest said when it is made.

use std::sync::Arc;

use roost_model::ids::RunId;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::catalog::OfferedService;
use crate::endpoint::{Endpoint, IncomingRequest, McpRefusal, Outlet, View};
use crate::era::MODERN;
use crate::principal::Principal;
use crate::raw_object::to_raw;

/// What the calls are made under, for rules and the record.
const CLIENT: &str = "agent-service";

/// Members of a module's input that are no parameters of its function.
const CALL_OPTIONS: [&str; 3] = ["args", "argTypes", "resultType"];
/// What the names of tools begin with that are functions of a module.
const MODULE_FUNCTION: &str = "fn__";

/// The way to the tools of agent services.
#[derive(Clone)]
pub struct AgentCalls {
    endpoint: Arc<Endpoint>,
}

impl AgentCalls {
    /// Calls through this endpoint, whose governor must not ask for what a manifest declares.
    pub fn new(endpoint: Arc<Endpoint>) -> Self {
        Self { endpoint }
    }

    /// Calls a tool for a run, and returns its result or why there is none.
    pub(super) async fn call(
        &self,
        service: &OfferedService,
        tool: &str,
        arguments: &Value,
        run: &RunId,
    ) -> Result<Value, String> {
        let params = to_raw(&json!({
            "name": tool,
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": CLIENT, "version": "1" },
                "runId": run,
            },
        }));
        let id = to_raw(&json!(1));
        let incoming = IncomingRequest { id: &id, method: "tools/call", params: Some(&params), traceparent: None };
        // Nobody reads progress and log lines of such a call.
        let outlet = Outlet::Queue(mpsc::channel(1).0);
        let view = View::One(service.namespace.clone());
        let answer = self.endpoint.answer_modern(&Principal::Local, &view, incoming, &outlet).await;
        let result: Value = match answer {
            Ok(result) => serde_json::from_str(result.get()).map_err(|error| error.to_string())?,
            Err(McpRefusal::Own { message, .. }) => return Err(message),
            Err(McpRefusal::Service(error)) => {
                let error: Value = serde_json::from_str(error.get()).unwrap_or_default();
                return Err(error["message"].as_str().unwrap_or("the service failed").to_owned());
            }
        };
        if result["resultType"] == "input_required" {
            return Err(format!("{tool} asks for input, which nobody can give here"));
        }
        if result["isError"] == true {
            return Err(reply_text(&result).unwrap_or_else(|| format!("{tool} answered with an error")));
        }
        Ok(result)
    }
}

/// The first of these tools that the service offers, with the schema of its input.
pub(super) fn find_tool(service: &OfferedService, names: &[&str]) -> Option<(String, Value)> {
    names.iter().find_map(|name| {
        let tool = service.tools.iter().find(|tool| tool.key == *name)?;
        let definition: Value = serde_json::from_str(tool.definition.get()).ok()?;
        Some(((*name).to_owned(), definition["inputSchema"].clone()))
    })
}

/// The arguments that a tool's schema asks for, out of what is known: by name in either spelling. A module's parameters may
/// have any names, so where one that is required is none of ours, its function gets what is known in the order of its
/// parameters. Another schema that names nothing gets everything.
pub(super) fn fitting_arguments(tool: &str, schema: &Value, known: &[(&str, Value)]) -> Value {
    let everything = || known.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Map<_, _>>();
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    let is_of_module = tool.starts_with(MODULE_FUNCTION);
    if properties.is_empty() && !is_of_module {
        return everything().into();
    }
    let plain = |name: &str| name.replace('_', "").to_lowercase();
    let value_of = |name: &str| Some(&known.iter().find(|(known, _)| plain(known) == plain(name))?.1);
    let parameters: Vec<_> = properties.keys().filter(|name| !CALL_OPTIONS.contains(&name.as_str())).collect();
    let takes_args = properties.contains_key(CALL_OPTIONS[0]);
    let is_required = |name: &str| match schema["required"].as_array() {
        Some(required) => required.iter().any(|one| one == name),
        // Where arguments can be given in order, too, no schema can require them by name.
        None => takes_args,
    };
    if (is_of_module || takes_args) && parameters.iter().any(|name| is_required(name) && value_of(name).is_none()) {
        let args: Vec<_> = known.iter().take(parameters.len()).map(|(_, value)| value.clone()).collect();
        return json!({ "args": args });
    }
    let named = parameters.into_iter().filter_map(|name| Some((name.clone(), value_of(name)?.clone())));
    named.collect::<Map<_, _>>().into()
}

/// What a tool said, for people.
pub(super) fn reply_text(result: &Value) -> Option<String> {
    let reply_in = |value: &Value| {
        let members = ["reply", "message", "text", "output_text", "result"];
        members.iter().find_map(|member| Some(value.get(member)?.as_str()?.to_owned()))
    };
    if let Some(text) = reply_in(&result["structuredContent"]) {
        return Some(text);
    }
    let texts: Vec<_> = result["content"].as_array()?.iter().filter_map(|part| part["text"].as_str()).collect();
    let whole = texts.join("\n");
    let inner = serde_json::from_str::<Value>(&whole).ok();
    Some(inner.as_ref().and_then(reply_in).unwrap_or(whole)).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_gets_what_its_schema_names_and_a_modules_function_else_the_first_arguments_in_their_order() {
        let known = [("runId", json!("r")), ("scheduleId", json!("s")), ("firedAt", json!("t"))];
        let closed = |properties: Value, required: Value| json!({ "properties": properties, "required": required, "additionalProperties": false });
        let cases = [
            ("on_timer", json!({ "type": "object" }), json!({ "runId": "r", "scheduleId": "s", "firedAt": "t" })),
            ("on_timer", json!({ "properties": { "schedule_id": {}, "other": {} } }), json!({ "schedule_id": "s" })),
            ("on_timer", json!({ "properties": { "a0": {}, "a1": {}, "args": {} } }), json!({ "args": ["r", "s"] })),
            ("on_timer", json!({ "properties": { "args": {} } }), json!({})),
            ("on_timer", json!({ "properties": { "fired_at": {}, "args": {} } }), json!({ "fired_at": "t" })),
            // Functions of modules, as their schemas are.
            ("fn__on_timer", json!({ "type": "object", "properties": {} }), json!({})),
            ("fn__on_timer", closed(json!({ "a0": {}, "a1": {} }), json!(["a0", "a1"])), json!({ "args": ["r", "s"] })),
            (
                "fn__on_timer",
                closed(json!({ "run_id": {}, "why": {} }), json!(["run_id", "why"])),
                json!({ "args": ["r", "s"] }),
            ),
            ("fn__on_timer", closed(json!({ "run_id": {}, "why": {} }), json!(["run_id"])), json!({ "run_id": "r" })),
            ("fn__on_timer", json!({ "properties": { "why": {} }, "additionalProperties": false }), json!({})),
            (
                "fn__on_timer",
                json!({ "properties": { "why": {}, "args": {} }, "additionalProperties": false }),
                json!({ "args": ["r"] }),
            ),
        ];
        for (tool, schema, expected) in cases {
            assert_eq!(fitting_arguments(tool, &schema, &known), expected, "{schema}");
        }
    }

    #[test]
    fn what_a_tool_said_is_found_wherever_it_stands() {
        let part = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
        for (result, expected) in [
            (json!({ "structuredContent": { "reply": "a" }, "content": [] }), Some("a")),
            (part("b"), Some("b")),
            (part(r#"{"message":"c"}"#), Some("c")),
            (part("5"), Some("5")),
            (json!({ "content": [] }), None),
        ] {
            assert_eq!(reply_text(&result).as_deref(), expected, "{result}");
        }
    }
}
