//! Google's generateContent API.

use serde_json::{Value, json};

use super::dialect::Dialect;
use super::model_request::{ModelRequest, OfferedTool, list, text};
use super::script::Act;
use super::sse::{Ids, SseFrame};
use super::{CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};

/// Google's generateContent, as a [`Dialect`]. A refusal is also how its streams report an error.
pub(super) struct Gemini;

impl Dialect for Gemini {
    fn parse_request(&self, body: &Value) -> ModelRequest {
        let mut request = ModelRequest::default();
        for content in list(&body["contents"]) {
            for part in list(&content["parts"]) {
                if content["role"] == "user" {
                    request.add_user_text(&text(&part["text"]));
                }
                if let Some(image) = part.get("inlineData") {
                    request.images.push(text(&image["mimeType"]));
                }
                if let Some(answered) = part.get("functionResponse") {
                    request.add_tool_result(&answered["response"].to_string());
                }
            }
        }
        for function in list(&body["tools"]).iter().flat_map(|tools| list(&tools["functionDeclarations"])) {
            let schema = function.get("parametersJsonSchema").unwrap_or(&function["parameters"]);
            request.tools.push(OfferedTool::new(&function["name"], schema));
        }
        let config = &body["generationConfig"];
        request.form = config.get("responseJsonSchema").or_else(|| config.get("responseSchema")).cloned();
        request
    }

    fn document(&self, acts: &[Act], model: &str, ids: &mut Ids) -> Value {
        let id = ids.next("resp");
        let parts = acts.iter().map(|act| match act {
            Act::Say(pieces) => json!({ "text": pieces.concat() }),
            Act::Think(pieces) => thought(&pieces.concat()),
            Act::Call(tool, input) => call(tool, input, ids),
        });
        answer(&id, model, parts.collect(), Some("STOP"))
    }

    fn stream(&self, acts: &[Act], model: &str, ids: &mut Ids) -> Vec<SseFrame> {
        let id = ids.next("resp");
        let send = |part: Value| SseFrame::plain(&answer(&id, model, vec![part], None).to_string()).piece();
        let mut frames = Vec::new();
        for act in acts {
            match act {
                Act::Say(pieces) => frames.extend(pieces.iter().map(|piece| send(json!({ "text": piece })))),
                Act::Think(pieces) => frames.extend(pieces.iter().map(|piece| send(thought(piece)))),
                Act::Call(tool, input) => frames.push(send(call(tool, input, ids))),
            }
        }
        frames.push(SseFrame::plain(&answer(&id, model, vec![json!({ "text": "" })], Some("STOP")).to_string()));
        frames
    }

    fn failing(&self, model: &str, ids: &mut Ids) -> Vec<SseFrame> {
        let begun = answer(&ids.next("resp"), model, vec![json!({ "text": "partial" })], None);
        vec![SseFrame::plain(&begun.to_string()).piece(), SseFrame::plain(&self.refusal(500).to_string())]
    }

    fn refusal(&self, status: u16) -> Value {
        let kind = match status {
            400 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            429 => "RESOURCE_EXHAUSTED",
            _ => "INTERNAL",
        };
        json!({ "error": { "code": status, "message": "scripted error", "status": kind } })
    }
}

/// The CLI takes the words between the stars as the subject of the thought.
fn thought(piece: &str) -> Value {
    json!({ "text": format!("**Think** {piece}"), "thought": true })
}

fn call(tool: &OfferedTool, input: &Value, ids: &mut Ids) -> Value {
    json!({
        "functionCall": { "id": ids.next("fc"), "name": tool.name, "args": input },
        "thoughtSignature": "c2NyaXB0ZWQ=",
    })
}

fn answer(id: &str, model: &str, parts: Vec<Value>, finish: Option<&str>) -> Value {
    let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    let usage = json!({
        "promptTokenCount": INPUT_TOKENS, "candidatesTokenCount": OUTPUT_TOKENS,
        "totalTokenCount": INPUT_TOKENS + OUTPUT_TOKENS, "cachedContentTokenCount": CACHED_TOKENS,
    });
    json!({ "candidates": [candidate], "usageMetadata": usage, "modelVersion": model, "responseId": id })
}
