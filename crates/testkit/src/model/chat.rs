//! OpenAI's Chat Completions API, which most other providers speak too.

use serde_json::{Value, json};

use super::dialect::Dialect;
use super::model_request::{ModelRequest, OfferedTool, list, text};
use super::responses::{Responses, media_type};
use super::script::Act;
use super::sse::{Ids, SseFrame, argument_pieces};
use super::{CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};

/// OpenAI's Chat Completions, as a [`Dialect`]. The refusals are those of the Responses API.
pub(super) struct Chat;

impl Dialect for Chat {
    fn parse_request(&self, body: &Value) -> ModelRequest {
        let mut request = ModelRequest::default();
        for message in list(&body["messages"]) {
            match message["role"].as_str() {
                Some("user") => add_user_content(&mut request, &message["content"]),
                Some("tool") => request.add_tool_result(&content(&message["content"])),
                _ => {}
            }
        }
        let functions = list(&body["tools"]).iter().map(|tool| &tool["function"]);
        request.tools =
            functions.map(|function| OfferedTool::new(&function["name"], &function["parameters"])).collect();
        request
    }

    fn document(&self, acts: &[Act], model: &str, ids: &mut Ids) -> Value {
        let mut message = json!({ "role": "assistant", "content": "" });
        let mut calls = Vec::new();
        for act in acts {
            match act {
                Act::Say(pieces) => message["content"] = pieces.concat().into(),
                Act::Think(pieces) => message["reasoning_content"] = pieces.concat().into(),
                Act::Call(tool, input) => calls.push(json!({
                    "id": ids.next("call"), "type": "function",
                    "function": { "name": tool.name, "arguments": input.to_string() },
                })),
            }
        }
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let choice = json!({ "index": 0, "message": message, "finish_reason": finish_reason(acts) });
        answer("chat.completion", &ids.next("chatcmpl"), model, vec![choice], Some(usage()))
    }

    fn stream(&self, acts: &[Act], model: &str, ids: &mut Ids) -> Vec<SseFrame> {
        let chunks = Chunks { id: ids.next("chatcmpl"), model };
        let mut frames = vec![chunks.delta(json!({ "role": "assistant", "content": "" }))];
        let mut calls = 0;
        for act in acts {
            match act {
                Act::Say(pieces) => {
                    frames.extend(pieces.iter().map(|piece| chunks.delta(json!({ "content": piece })).piece()))
                }
                Act::Think(pieces) => {
                    frames
                        .extend(pieces.iter().map(|piece| chunks.delta(json!({ "reasoning_content": piece })).piece()));
                }
                Act::Call(tool, input) => {
                    let function = json!({ "name": tool.name, "arguments": "" });
                    let call =
                        json!({ "index": calls, "id": ids.next("call"), "type": "function", "function": function });
                    frames.push(chunks.delta(json!({ "tool_calls": [call] })));
                    frames.extend(argument_pieces(&input.to_string()).into_iter().map(|piece| {
                        let call = json!({ "index": calls, "function": { "arguments": piece } });
                        chunks.delta(json!({ "tool_calls": [call] })).piece()
                    }));
                    calls += 1;
                }
            }
        }
        frames.push(chunks.frame(vec![json!({ "index": 0, "delta": {}, "finish_reason": finish_reason(acts) })], None));
        frames.push(chunks.frame(Vec::new(), Some(usage())));
        frames.push(SseFrame::plain("[DONE]"));
        frames
    }

    fn failing(&self, model: &str, ids: &mut Ids) -> Vec<SseFrame> {
        let chunks = Chunks { id: ids.next("chatcmpl"), model };
        let error = json!({ "error": { "type": "server_error", "message": "scripted stream failure" } });
        vec![
            chunks.delta(json!({ "role": "assistant", "content": "partial" })).piece(),
            SseFrame::plain(&error.to_string()),
        ]
    }

    fn refusal(&self, status: u16) -> Value {
        Responses.refusal(status)
    }
}

/// Adds a user message: a plain text, or a list of parts.
fn add_user_content(request: &mut ModelRequest, content: &Value) {
    request.add_user_text(&text(content));
    for part in list(content) {
        match part["type"].as_str() {
            Some("image_url") => request.images.push(media_type(&text(&part["image_url"]["url"]))),
            _ => request.add_user_text(&text(&part["text"])),
        }
    }
}

fn content(content: &Value) -> String {
    content.as_str().map_or_else(|| content.to_string(), str::to_owned)
}

/// The chunks of one answer.
struct Chunks<'a> {
    id: String,
    model: &'a str,
}

impl Chunks<'_> {
    fn delta(&self, delta: Value) -> SseFrame {
        self.frame(vec![json!({ "index": 0, "delta": delta, "finish_reason": null })], None)
    }

    fn frame(&self, choices: Vec<Value>, usage: Option<Value>) -> SseFrame {
        SseFrame::plain(&answer("chat.completion.chunk", &self.id, self.model, choices, usage).to_string())
    }
}

fn answer(object: &str, id: &str, model: &str, choices: Vec<Value>, usage: Option<Value>) -> Value {
    let mut answer =
        json!({ "id": id, "object": object, "created": 1_760_000_000, "model": model, "choices": choices });
    if let Some(usage) = usage {
        answer["usage"] = usage;
    }
    answer
}

fn usage() -> Value {
    json!({
        "prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
        "prompt_tokens_details": { "cached_tokens": CACHED_TOKENS },
    })
}

fn finish_reason(acts: &[Act]) -> &'static str {
    if acts.iter().any(|act| matches!(act, Act::Call(..))) { "tool_calls" } else { "stop" }
}
