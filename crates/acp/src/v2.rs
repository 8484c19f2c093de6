//! Version 2 of the protocol, a draft: translated from and to version 1, which the rest of this crate speaks.
//!
//! What differs in behaviour, not only in form: a prompt is answered when it was taken, and what becomes of it is told by
//! `state_update` ([`SessionState`]). As JSON rather than as the official types, because these are a draft that changes
//! with every release; the tests check every line against the official schemas.

use agent_client_protocol_schema::v1 as acp;
use roost_model::approval::PendingChange;
use roost_model::event::{EventBody, NormalizedEvent};
use serde::Serialize;
use serde_json::{Map, Value, json};
use similar::TextDiff;

use crate::error;

/// Whether `initialize` asks for version 2 or a later one.
pub(crate) fn is_asked_for(params: &Value) -> bool {
    params.get("protocolVersion").and_then(Value::as_u64).is_some_and(|version| version >= 2)
}

/// A request of version 2 as one of version 1.
pub(crate) fn request(method: String, params: Value) -> Result<(String, Value), acp::Error> {
    let Value::Object(mut fields) = params else { return Ok((method, params)) };
    let method = match method.as_str() {
        "initialize" => {
            let offered = fields.remove("capabilities").unwrap_or_default();
            let has_terminal = offered.pointer("/auth/terminal").is_some_and(Value::is_object);
            let capabilities = json!({
                "auth": { "terminal": has_terminal },
                "session": { "notices": {} },
                "elicitation": offered.get("elicitation"),
            });
            fields.insert("clientCapabilities".into(), capabilities);
            "initialize"
        }
        "auth/login" => "authenticate",
        "auth/logout" => "logout",
        "session/resume" => {
            fields.entry("mcpServers").or_insert_with(|| json!([]));
            match fields.remove("replayFrom").filter(|from| !from.is_null()) {
                None => "session/resume",
                Some(from) if from["type"] == "start" => "session/load",
                Some(_) => return Err(error::invalid_params("a session can be replayed from its start only")),
            }
        }
        "session/new" | "session/fork" => {
            fields.entry("mcpServers").or_insert_with(|| json!([]));
            for server in fields.get_mut("mcpServers").and_then(Value::as_array_mut).into_iter().flatten() {
                complete_server(server);
            }
            &method
        }
        // Version 2 has other methods instead of these, or none.
        "session/load" | "session/set_mode" | "authenticate" | "logout" => return Err(error::no_method(&method)),
        _ => &method,
    };
    Ok((method.to_owned(), Value::Object(fields)))
}

/// Adds the lists that a tool server may leave out in version 2.
fn complete_server(server: &mut Value) {
    let Some(fields) = server.as_object_mut() else { return };
    let lists: &[&str] = match fields.get("type").and_then(Value::as_str) {
        Some("stdio") => {
            fields.remove("type");
            &["args", "env"]
        }
        _ => &["headers"],
    };
    for list in lists {
        fields.entry(*list).or_insert_with(|| json!([]));
    }
}

/// The result of a request of version 1 as one of version 2.
pub(crate) fn result(method: &str, mut result: Value) -> Value {
    match method {
        "initialize" => return introduction(&result),
        "session/new" | "session/load" | "session/resume" | "session/fork" | "session/set_config_option" => {
            if let Some(fields) = result.as_object_mut() {
                fields.remove("modes");
                rename_options(fields);
            }
        }
        _ => {}
    }
    result
}

fn introduction(v1: &Value) -> Value {
    let methods = v1["authMethods"].as_array().cloned().unwrap_or_default().into_iter().map(|mut method| {
        if let Some(fields) = method.as_object_mut()
            && let Some(id) = fields.remove("id")
        {
            fields.insert("methodId".into(), id);
        }
        method
    });
    json!({
        "protocolVersion": 2,
        "info": v1["agentInfo"],
        "capabilities": {
            "session": {
                "prompt": { "image": {}, "embeddedContext": {} },
                "mcp": { "stdio": {}, "http": {} },
                "delete": {},
            },
            "_meta": v1["agentCapabilities"]["_meta"],
        },
        "authMethods": methods.collect::<Vec<_>>(),
    })
}

fn rename_options(fields: &mut Map<String, Value>) {
    for option in fields.get_mut("configOptions").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(option) = option.as_object_mut()
            && let Some(id) = option.remove("id")
        {
            option.insert("configId".into(), id);
        }
    }
}

/// An update of version 1 as one of version 2; `None` if there is no such thing any more. A message without an id gets
/// one from `seq`, the number of the event that it came of.
pub(crate) fn update(update: &acp::SessionUpdate, seq: u64) -> Option<Value> {
    let Value::Object(mut fields) = encode(update) else { return None };
    let kind = fields.get("sessionUpdate")?.as_str()?.to_owned();
    match kind.as_str() {
        "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk" => {
            fields.entry("messageId").or_insert_with(|| json!(format!("{kind}-{seq}")));
        }
        "tool_call" | "tool_call_update" => {
            fields = tool_call(fields);
            fields.insert("sessionUpdate".into(), json!("tool_call_update"));
        }
        "plan" => {
            let plan = json!({ "type": "items", "planId": "plan", "entries": fields.remove("entries") });
            fields = Map::from_iter([("sessionUpdate".into(), json!("plan_update")), ("plan".into(), plan)]);
        }
        "available_commands_update" => {
            for command in fields.get_mut("availableCommands").and_then(Value::as_array_mut).into_iter().flatten() {
                command["type"] = json!("command");
            }
        }
        "config_option_update" => rename_options(&mut fields),
        // The mode is one of the options.
        "current_mode_update" => return None,
        _ => {}
    }
    Some(Value::Object(fields))
}

/// A tool call, whose diffs are lists of changes with a patch.
fn tool_call(mut call: Map<String, Value>) -> Map<String, Value> {
    for content in call.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
        if content["type"] == "diff" {
            *content = diff(content);
        }
    }
    call
}

fn diff(v1: &Value) -> Value {
    let text = |field: &str| v1.get(field).and_then(Value::as_str).unwrap_or_default();
    let (path, old, new) = (text("path"), text("oldText"), text("newText"));
    let operation = if old.is_empty() { "add" } else { "modify" };
    let before = if old.is_empty() { "/dev/null" } else { path };
    let changed = TextDiff::from_lines(old, new);
    let patch = format!("diff --git {path} {path}\n{}", changed.unified_diff().header(before, path));
    json!({
        "type": "diff",
        "changes": [{ "operation": operation, "path": path }],
        "patch": { "format": "git_patch", "text": patch },
    })
}

/// A request for permission of version 1 as one of version 2.
pub(crate) fn permission(v1: &acp::RequestPermissionRequest) -> Value {
    let Value::Object(call) = encode(&v1.tool_call) else { return Value::Null };
    let call = tool_call(call);
    json!({
        "sessionId": v1.session_id,
        "title": call.get("title").cloned().unwrap_or_default(),
        "subject": { "type": "tool_call", "toolCall": call },
        "options": v1.options,
    })
}

/// The answer to a prompt that was taken.
pub(crate) fn accepted(message: &str) -> Value {
    json!({ "messageId": message })
}

/// What a session does, as the editor was told last.
#[derive(Default)]
pub(crate) struct SessionState {
    told: Option<&'static str>,
    /// Approvals and questions that wait for an answer.
    waiting: usize,
}

impl SessionState {
    /// The update for an event, if it changes the state; `end` is how its task ended, if it did.
    pub(crate) fn after(
        &mut self,
        event: &NormalizedEvent,
        end: Option<&Result<acp::PromptResponse, acp::Error>>,
    ) -> Option<Value> {
        match PendingChange::from_event(event) {
            Some(PendingChange::Opened(_)) => self.waiting += 1,
            Some(PendingChange::Closed(_)) => self.waiting = self.waiting.saturating_sub(1),
            None => {}
        }
        if let Some(end) = end {
            (self.told, self.waiting) = (Some("idle"), 0);
            return Some(idle(end));
        }
        let state = match (self.waiting, &event.body) {
            (0, EventBody::TaskStarted(_)) => "running",
            (0, _) if self.told == Some("requires_action") => "running",
            (0, _) => return None,
            _ => "requires_action",
        };
        if self.told.replace(state) == Some(state) {
            return None;
        }
        Some(json!({ "sessionUpdate": "state_update", "state": state }))
    }
}

fn idle(end: &Result<acp::PromptResponse, acp::Error>) -> Value {
    let mut state = json!({ "sessionUpdate": "state_update", "state": "idle" });
    match end {
        Ok(response) => {
            state["stopReason"] = json!(response.stop_reason);
            state["_meta"] = json!(response.meta);
        }
        Err(error) => {
            state["stopReason"] = json!("error");
            state["error"] = json!(error);
        }
    }
    state
}

fn encode(value: &impl Serialize) -> Value {
    // Types of the schema have string keys and finite numbers only, so they always serialise.
    serde_json::to_value(value).unwrap_or_default()
}

#[cfg(test)]
#[path = "v2_tests.rs"]
mod tests;
