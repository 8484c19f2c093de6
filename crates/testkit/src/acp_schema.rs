//! Checks every line that an ACP agent sends against the JSON Schemas that the TypeScript SDK ships
//! (`cargo xtask fixtures` installs it).
//!
//! The schemas allow members that they do not know. ACP does not: whatever is not in the schema belongs into `_meta`.
//! So unknown members are violations here, in parameters, results and session updates.

use std::collections::HashMap;
use std::fs;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::agents;

/// One connection of a client with an agent, and the schemas of its protocol version.
pub struct AcpChecker {
    /// The stable schema, then the unstable one for methods that only the latter has.
    schemas: [Value; 2],
    /// By the name of a definition; made when first needed.
    validators: HashMap<String, Validator>,
    /// The methods of the client's requests that wait for an answer, by id as JSON.
    asked: HashMap<String, String>,
}

/// What a definition of the schema is about, as its name ends.
#[derive(Clone, Copy)]
enum MessageKind {
    Request,
    Response,
    Notification,
}

impl MessageKind {
    fn suffix(self) -> &'static str {
        match self {
            Self::Request => "Request",
            Self::Response => "Response",
            Self::Notification => "Notification",
        }
    }
}

impl AcpChecker {
    /// A checker for a connection that is about to begin, with protocol version 1 or 2.
    ///
    /// # Panics
    ///
    /// If the SDK is not installed.
    pub fn new(version: u8) -> Self {
        let folder = agents::acp_clients().join("node_modules/@agentclientprotocol/sdk/schema");
        let schemas = ["schema.json", "schema.unstable.json"].map(|file| {
            let text = fs::read_to_string(folder.join(format!("v{version}")).join(file)).unwrap();
            let mut schema: Value = serde_json::from_str(&text).unwrap();
            schema["$defs"]["SessionUpdate"]["unevaluatedProperties"] = false.into();
            schema
        });
        Self { schemas, validators: HashMap::new(), asked: HashMap::new() }
    }

    /// Notes a line from the client, so that its answer is known. It may be anything: clients are not checked.
    pub fn client_sent(&mut self, line: &str) {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return };
        let is_answer = message.get("result").is_some() || message.get("error").is_some();
        if let Some(id) = message.get("id").filter(|_| !is_answer) {
            // Without a method it is no request, and the agent answers with an error.
            let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
            self.asked.insert(id.to_string(), method.to_owned());
        }
    }

    /// Checks a line from the agent.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn agent_sent(&mut self, line: &str) -> Result<(), String> {
        self.check(line).map_err(|problem| format!("{problem}\nin {line}"))
    }

    /// The methods that the agent has not answered yet.
    pub fn unanswered(&self) -> Vec<&str> {
        self.asked.values().map(String::as_str).collect()
    }

    fn check(&mut self, line: &str) -> Result<(), String> {
        let message: Map<String, Value> =
            serde_json::from_str(line).map_err(|error| format!("not a JSON object: {error}"))?;
        if message.get("jsonrpc") != Some(&json!("2.0")) {
            return Err("jsonrpc is not \"2.0\"".into());
        }
        let members: Vec<_> = message.keys().map(String::as_str).filter(|member| *member != "jsonrpc").collect();
        let nothing = Value::Null;
        let params = message.get("params").unwrap_or(&nothing);
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some(method), Some(_)) => {
                expect_members(&members, &["id", "method", "params"])?;
                self.validate_method(MessageKind::Request, "client", method, params)
            }
            (Some(method), None) => {
                expect_members(&members, &["method", "params"])?;
                let side = if method.starts_with("$/") { "protocol" } else { "client" };
                self.validate_method(MessageKind::Notification, side, method, params)
            }
            (None, Some(id)) => self.check_answer(id, &members, &message),
            (None, None) => Err("neither a method nor an id".into()),
        }
    }

    fn check_answer(&mut self, id: &Value, members: &[&str], message: &Map<String, Value>) -> Result<(), String> {
        let asked = self.asked.remove(&id.to_string());
        if let Some(error) = message.get("error") {
            expect_members(members, &["id", "error"])?;
            // An id of null is the answer to a line that could not be read.
            return match (asked, id) {
                (None, id) if !id.is_null() => Err("nobody asked this, or it was answered before".into()),
                _ => self.validate("Error", error),
            };
        }
        expect_members(members, &["id", "result"])?;
        let method = asked.ok_or("nobody asked this, or it was answered before")?;
        let result = message.get("result").ok_or("neither a result nor an error")?;
        self.validate_method(MessageKind::Response, "agent", &method, result)
    }

    /// Validates parameters or a result by the method that they belong to. Methods that begin with `_` are extensions,
    /// about which the schema says nothing.
    fn validate_method(&mut self, kind: MessageKind, side: &str, method: &str, value: &Value) -> Result<(), String> {
        if method.starts_with('_') {
            return Ok(());
        }
        let belongs = |(name, definition): &(&String, &Value)| {
            definition["x-method"] == method && definition["x-side"] == side && name.ends_with(kind.suffix())
        };
        let definitions = self.schemas.iter().filter_map(|schema| schema["$defs"].as_object());
        let name = definitions.flatten().find(belongs).map(|(name, _)| name.clone());
        let name = name.ok_or_else(|| format!("the schema has no {} `{method}`", kind.suffix().to_lowercase()))?;
        self.validate(&name, value)
    }

    fn validate(&mut self, name: &str, value: &Value) -> Result<(), String> {
        if !self.validators.contains_key(name) {
            let schema = self.schemas.iter().find(|schema| schema["$defs"].get(name).is_some());
            let definitions = &schema.ok_or_else(|| format!("the schema has no {name}"))?["$defs"];
            let schema =
                json!({ "$ref": format!("#/$defs/{name}"), "$defs": definitions, "unevaluatedProperties": false });
            self.validators.insert(name.to_owned(), jsonschema::validator_for(&schema).unwrap());
        }
        let problems: Vec<_> = self.validators[name]
            .iter_errors(value)
            .map(|error| format!("{name}{}: {error}", error.instance_path()))
            .collect();
        if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
    }
}

/// Fails if a message has a member that its kind does not have.
fn expect_members(members: &[&str], expected: &[&str]) -> Result<(), String> {
    match members.iter().find(|member| !expected.contains(member)) {
        Some(unknown) => Err(format!("`{unknown}` does not belong into a message with {}", expected.join(", "))),
        None => Ok(()),
    }
}
