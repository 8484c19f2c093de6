//! The host's tools, offered to the CLI as an MCP server whose messages travel inside the control protocol: no port, no
//! token, and every call carries the id under which the model made it.

use roost_model::tool::ToolManifest;
use serde_json::{Value, json};

/// The server's name.
pub(super) const NAME: &str = "roost-host";
/// What the CLI puts in front of the names of its tools.
const PREFIX: &str = "mcp__roost-host__";
/// Where a call tells under which id the model made it.
const NATIVE_ID: &str = "/params/_meta/claudecode~1toolUseId";

/// What a message wants.
#[derive(Debug, PartialEq)]
pub(super) enum Wanted {
    /// Nothing but this answer.
    Answer(Value),
    /// A tool is to run.
    Call(HostCall),
}

/// A tool of the host's that is to run.
#[derive(Debug, PartialEq)]
pub(super) struct HostCall {
    /// The message's own id, for the answer.
    pub(super) id: Value,
    /// The model's id for the call.
    pub(super) native: Option<String>,
    /// The tool.
    pub(super) name: String,
    /// Its input.
    pub(super) input: Value,
}

/// Whether the CLI means a tool of the host's.
pub(super) fn is_ours(tool: &str) -> bool {
    tool.starts_with(PREFIX)
}

/// The tool's name as the host knows it.
pub(super) fn plain_name(tool: &str) -> &str {
    tool.strip_prefix(PREFIX).unwrap_or(tool)
}

/// Reads a message to the server with these tools.
pub(super) fn read(tools: &ToolManifest, message: &Value) -> Wanted {
    let id = message.get("id").cloned().unwrap_or(json!(0));
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    let result = match method {
        "initialize" => json!({
            "protocolVersion": message.pointer("/params/protocolVersion"),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": NAME, "version": env!("CARGO_PKG_VERSION") },
        }),
        "tools/list" => json!({ "tools": listed(tools) }),
        "tools/call" => {
            let text = |path: &str| message.pointer(path).and_then(Value::as_str).map(ToOwned::to_owned);
            let input = message.pointer("/params/arguments").cloned().unwrap_or_else(|| json!({}));
            let (native, name) = (text(NATIVE_ID), text("/params/name").unwrap_or_default());
            return Wanted::Call(HostCall { id, native, name, input });
        }
        // The CLI wants an answer even to a notification.
        "ping" | "" => json!({}),
        _ if method.starts_with("notifications/") => json!({}),
        _ => {
            let error = json!({ "code": -32601, "message": format!("{method} is not offered here") });
            return Wanted::Answer(json!({ "mcp_response": { "jsonrpc": "2.0", "id": id, "error": error } }));
        }
    };
    Wanted::Answer(answer(&id, &result))
}

/// The answer to a call: what the tool said, or why it did not run.
pub(super) fn told(id: &Value, result: &Value, is_error: bool) -> Value {
    let text = result.as_str().map_or_else(|| result.to_string(), ToOwned::to_owned);
    answer(id, &json!({ "content": [{ "type": "text", "text": text }], "isError": is_error }))
}

fn answer(id: &Value, result: &Value) -> Value {
    json!({ "mcp_response": { "jsonrpc": "2.0", "id": id, "result": result } })
}

fn listed(tools: &ToolManifest) -> Vec<Value> {
    let tools = tools.tools.iter().map(|tool| {
        let schema = tool.input_schema.clone().unwrap_or_else(|| json!({ "type": "object" }));
        json!({ "name": tool.name, "description": tool.description.as_deref().unwrap_or(""), "inputSchema": schema })
    });
    tools.collect()
}

#[cfg(test)]
mod tests {
    use roost_model::tool::ToolManifestEntry;

    use super::*;

    #[test]
    fn the_tools_are_listed_and_a_call_keeps_its_ids() {
        let tool = ToolManifestEntry { name: "greet".into(), description: None, input_schema: None, schema_hash: None };
        let tools = ToolManifest { tools: vec![tool] };
        let Wanted::Answer(list) = read(&tools, &json!({ "id": 1, "method": "tools/list" })) else { panic!() };
        assert_eq!(list["mcp_response"]["result"]["tools"][0]["name"], "greet");
        let call = json!({ "id": 2, "method": "tools/call", "params": {
            "name": "greet", "arguments": { "who": "me" }, "_meta": { "claudecode/toolUseId": "toolu_1" } } });
        let expected = HostCall {
            id: json!(2),
            native: Some("toolu_1".into()),
            name: "greet".into(),
            input: json!({ "who": "me" }),
        };
        assert_eq!(read(&tools, &call), Wanted::Call(expected));
    }

    #[test]
    fn every_other_message_is_answered_too() {
        for (method, has_result) in [("initialize", true), ("notifications/initialized", true), ("brand/new", false)] {
            let message = json!({ "id": 7, "method": method });
            let Wanted::Answer(answer) = read(&ToolManifest::default(), &message) else { panic!() };
            assert_eq!(answer["mcp_response"]["id"], 7);
            assert_eq!(answer["mcp_response"].get("result").is_some(), has_result, "{method}");
        }
    }
}
