//! What the server lists.

use serde_json::{Value, json};

/// Tools without arguments, by name.
const PLAIN_TOOLS: [&str; 23] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_error_handling",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_reconnection",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_logging_tool",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
];

fn tool(name: &str, schema: Value) -> Value {
    json!({ "name": name, "description": format!("The tool {name} of the conformance suite"), "inputSchema": schema })
}

pub(super) fn tools(has_extra: bool) -> Value {
    let plain = json!({ "type": "object" });
    let mut tools: Vec<_> = PLAIN_TOOLS.iter().map(|name| tool(name, plain.clone())).collect();
    tools.push(tool("test_input_required_result_capabilities", plain.clone()));
    for (name, argument) in [("test_sampling", "prompt"), ("test_elicitation", "message")] {
        let argument =
            json!({ "type": "object", "properties": { argument: { "type": "string" } }, "required": [argument] });
        tools.push(tool(name, argument));
    }
    tools.push(tool(
        "test_custom_header",
        json!({
            "type": "object",
            "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
            "required": ["region"],
        }),
    ));
    tools.push(tool("json_schema_2020_12_tool", whole_schema()));
    if has_extra {
        tools.push(tool("test_extra_tool", plain));
    }
    json!({ "tools": tools })
}

/// A schema with keywords that a gateway could lose.
fn whole_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

pub(super) fn prompts(has_extra: bool) -> Value {
    let argument =
        |name: &str| json!({ "name": name, "description": format!("The argument {name}"), "required": true });
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments: Vec<_> = arguments.iter().map(|name| argument(name)).collect();
        json!({ "name": name, "description": format!("The prompt {name}"), "arguments": arguments })
    };
    let mut prompts = vec![
        prompt("test_simple_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
        prompt("test_input_required_result_prompt", &[]),
    ];
    if has_extra {
        prompts.push(prompt("test_extra_prompt", &[]));
    }
    json!({ "prompts": prompts })
}

pub(super) fn resources() -> Value {
    let resource = |uri: &str, kind: &str| json!({ "uri": uri, "name": uri, "description": format!("The resource {uri}"), "mimeType": kind });
    json!({ "resources": [
        resource("test://static-text", "text/plain"),
        resource("test://static-binary", "image/png"),
        resource("test://watched-resource", "text/plain"),
    ] })
}

pub(super) fn templates() -> Value {
    json!({ "resourceTemplates": [{
        "uriTemplate": "test://template/{id}/data",
        "name": "data",
        "description": "Data by id",
        "mimeType": "application/json",
    }] })
}
