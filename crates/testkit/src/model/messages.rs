//! Anthropic's Messages API.

use serde_json::{Value, json};

use super::dialect::Dialect;
use super::model_request::{ModelRequest, OfferedTool, list, text};
use super::script::Act;
use super::sse::{Ids, SseFrame, argument_pieces};
use super::{CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};

/// The signature of every thought; agents must send it back unchanged.
const SIGNATURE: &str = "c2NyaXB0ZWQ=";

/// Anthropic's Messages, as a [`Dialect`]. Claude Code uses it.
pub(super) struct Messages;

impl Dialect for Messages {
    fn parse_request(&self, body: &Value) -> ModelRequest {
        let mut request = ModelRequest::default();
        for message in list(&body["messages"]).iter().filter(|message| message["role"] == "user") {
            if let Some(text) = message["content"].as_str() {
                request.add_user_text(text);
            }
            for block in list(&message["content"]) {
                match block["type"].as_str() {
                    Some("text") => request.add_user_text(&text(&block["text"])),
                    Some("image") => request.images.push(text(&block["source"]["media_type"])),
                    Some("tool_result") => request.add_tool_result(&result(&block["content"])),
                    _ => {}
                }
            }
        }
        request.tools =
            list(&body["tools"]).iter().map(|tool| OfferedTool::new(&tool["name"], &tool["input_schema"])).collect();
        request
    }

    fn document(&self, acts: &[Act], model: &str, ids: &mut Ids) -> Value {
        let content = acts.iter().map(|act| match act {
            Act::Say(pieces) => json!({ "type": "text", "text": pieces.concat() }),
            Act::Think(pieces) => json!({ "type": "thinking", "thinking": pieces.concat(), "signature": SIGNATURE }),
            Act::Call(tool, input) => {
                json!({ "type": "tool_use", "id": ids.next("toolu"), "name": tool.name, "input": input })
            }
        });
        let content: Vec<_> = content.collect();
        message(model, ids, content, Some(stop_reason(acts)), OUTPUT_TOKENS)
    }

    fn stream(&self, acts: &[Act], model: &str, ids: &mut Ids) -> Vec<SseFrame> {
        let mut frames = vec![opening(model, ids)];
        for (index, act) in acts.iter().enumerate() {
            frames.extend(block(act, index, ids));
        }
        let delta = json!({ "stop_reason": stop_reason(acts), "stop_sequence": null });
        let usage = json!({ "output_tokens": OUTPUT_TOKENS });
        frames.push(event(json!({ "type": "message_delta", "delta": delta, "usage": usage })));
        frames.push(event(json!({ "type": "message_stop" })));
        frames
    }

    fn failing(&self, model: &str, ids: &mut Ids) -> Vec<SseFrame> {
        let mut frames = vec![opening(model, ids)];
        frames.extend(block(&Act::Say(vec!["partial".into()]), 0, ids));
        frames.pop();
        let error = json!({ "type": "overloaded_error", "message": "scripted overload" });
        frames.push(event(json!({ "type": "error", "error": error })));
        frames
    }

    fn refusal(&self, status: u16) -> Value {
        let kind = match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            429 => "rate_limit_error",
            _ => "api_error",
        };
        json!({ "type": "error", "error": { "type": kind, "message": "scripted error" } })
    }
}

fn result(content: &Value) -> String {
    content.as_str().map_or_else(
        || list(content).iter().map(|block| text(&block["text"])).collect::<Vec<_>>().join(" "),
        str::to_owned,
    )
}

fn opening(model: &str, ids: &mut Ids) -> SseFrame {
    let message = message(model, ids, Vec::new(), None, 1);
    event(json!({ "type": "message_start", "message": message }))
}

fn message(model: &str, ids: &mut Ids, content: Vec<Value>, stop: Option<&str>, output: u64) -> Value {
    let usage = json!({
        "input_tokens": INPUT_TOKENS, "cache_creation_input_tokens": 0, "cache_read_input_tokens": CACHED_TOKENS,
        "output_tokens": output,
    });
    json!({
        "id": ids.next("msg"), "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": stop, "stop_sequence": null, "usage": usage,
    })
}

fn block(act: &Act, index: usize, ids: &mut Ids) -> Vec<SseFrame> {
    let (empty, deltas): (_, Vec<_>) = match act {
        Act::Say(pieces) => {
            let deltas = pieces.iter().map(|piece| json!({ "type": "text_delta", "text": piece }));
            (json!({ "type": "text", "text": "" }), deltas.collect())
        }
        Act::Think(pieces) => {
            let deltas = pieces.iter().map(|piece| json!({ "type": "thinking_delta", "thinking": piece }));
            let signature = json!({ "type": "signature_delta", "signature": SIGNATURE });
            (json!({ "type": "thinking", "thinking": "", "signature": "" }), deltas.chain([signature]).collect())
        }
        Act::Call(tool, input) => {
            let pieces = argument_pieces(&input.to_string()).into_iter();
            let deltas = pieces.map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
            (json!({ "type": "tool_use", "id": ids.next("toolu"), "name": tool.name, "input": {} }), deltas.collect())
        }
    };
    let start = event(json!({ "type": "content_block_start", "index": index, "content_block": empty }));
    let delta = |delta| event(json!({ "type": "content_block_delta", "index": index, "delta": delta })).piece();
    let stop = event(json!({ "type": "content_block_stop", "index": index }));
    [start].into_iter().chain(deltas.into_iter().map(delta)).chain([stop]).collect()
}

fn stop_reason(acts: &[Act]) -> &'static str {
    if acts.iter().any(|act| matches!(act, Act::Call(..))) { "tool_use" } else { "end_turn" }
}

/// An event is named after its type.
fn event(data: Value) -> SseFrame {
    SseFrame::named(&text(&data["type"]), &data)
}
