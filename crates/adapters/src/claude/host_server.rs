//! The MCP server that offers the host's tools to the CLI. Its messages travel inside the control protocol, so it needs
//! no port and no token, and every call carries the model's id of the tool call.

use roost_model::tool::ToolManifest;
use serde_json::{Value, json};

/// The server's name in the CLI's list of tool servers.
pub(super) const NAME: &str = "roost-host";
/// The prefix that the CLI adds to the names of the server's tools.
const PREFIX: &str = "mcp__roost-host__";
/// The JSON pointer to the model's id of a call.
const NATIVE_ID: &str = "/params/_meta/claudecode~1toolUseId";

/// What to do about a message to the server.
#[derive(Debug, PartialEq)]
pub(super) enum McpAction {
    /// Send this answer.
    Answer(Value),
    /// Run a tool, and answer with its result.
    Call(HostCall),
}

/// A call of one of the host's tools.
#[derive(Debug, PartialEq)]
pub(super) struct HostCall {
    /// The JSON-RPC id of the message, which the answer repeats.
    pub(super) id: Value,
    /// The model's id of the call; `None` if the CLI does not tell it.
    pub(super) native: Option<String>,
    pub(super) name: String,
    pub(super) input: Value,
}

/// Whether a tool name of the CLI's means one of the host's tools.
pub(super) fn is_ours(tool: &str) -> bool {
    tool.starts_with(PREFIX)
}

/// The tool's name without the prefix of the host's server; other names are returned unchanged.
pub(super) fn plain_name(tool: &str) -> &str {
    tool.strip_prefix(PREFIX).unwrap_or(tool)
}

/// Handles a JSON-RPC message to the server, which offers `tools`. Unknown methods are answered with an error.
pub(super) fn handle_message(tools: &ToolManifest, message: &Value) -> McpAction {
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
            return McpAction::Call(HostCall { id, native, name, input });
        }
        // The CLI expects an answer even to a notification.
        "ping" | "" => json!({}),
        _ if method.starts_with("notifications/") => json!({}),
        _ => {
            let error = json!({ "code": -32601, "message": format!("{method} is not offered here") });
            return McpAction::Answer(json!({ "mcp_response": { "jsonrpc": "2.0", "id": id, "error": error } }));
        }
    };
    McpAction::Answer(answer(&id, &result))
}

/// The answer to a call: the tool's result, or with `is_error` the reason why there is none.
pub(super) fn tool_result(id: &Value, result: &Value, is_error: bool) -> Value {
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
        let McpAction::Answer(list) = handle_message(&tools, &json!({ "id": 1, "method": "tools/list" })) else {
            panic!()
        };
        assert_eq!(list["mcp_response"]["result"]["tools"][0]["name"], "greet");
        let call = json!({ "id": 2, "method": "tools/call", "params": {
            "name": "greet", "arguments": { "who": "me" }, "_meta": { "claudecode/toolUseId": "toolu_1" } } });
        let expected = HostCall {
            id: json!(2),
            native: Some("toolu_1".into()),
            name: "greet".into(),
            input: json!({ "who": "me" }),
        };
        assert_eq!(handle_message(&tools, &call), McpAction::Call(expected));
    }

    #[test]
    fn every_other_message_is_answered_too() {
        for (method, has_result) in [("initialize", true), ("notifications/initialized", true), ("brand/new", false)] {
            let message = json!({ "id": 7, "method": method });
            let McpAction::Answer(answer) = handle_message(&ToolManifest::default(), &message) else { panic!() };
            assert_eq!(answer["mcp_response"]["id"], 7);
            assert_eq!(answer["mcp_response"].get("result").is_some(), has_result, "{method}");
        }
    }
}
