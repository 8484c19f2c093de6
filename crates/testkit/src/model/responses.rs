//! OpenAI's Responses API, as Codex speaks it.

use serde_json::{Value, json};

use super::dialect::Dialect;
use super::model_request::{ModelRequest, OfferedTool, list, text};
use super::script::Act;
use super::sse::{Ids, SseFrame, argument_pieces};
use super::{CACHED_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS, REASONING_TOKENS};

/// OpenAI's Responses, as a [`Dialect`]. Codex uses it.
pub(super) struct Responses;

impl Dialect for Responses {
    fn parse_request(&self, body: &Value) -> ModelRequest {
        let mut request = ModelRequest::default();
        request.add_user_text(&text(&body["input"]));
        list(&body["tools"]).iter().for_each(|tool| offer(&mut request, tool, None));
        for item in list(&body["input"]) {
            match item["type"].as_str().unwrap_or("message") {
                "message" if item["role"] == "user" => add_user_content(&mut request, &item["content"]),
                // Newer models are told of their tools in the conversation.
                "additional_tools" => list(&item["tools"]).iter().for_each(|tool| offer(&mut request, tool, None)),
                kind if kind.ends_with("_call_output") => request.add_tool_result(&result(&item["output"])),
                _ => {}
            }
        }
        request
    }

    fn document(&self, acts: &[Act], model: &str, ids: &mut Ids) -> Value {
        let output: Vec<_> = acts.iter().map(|act| item(act, ids)).collect();
        completed(&opening(model, ids), output)
    }

    fn stream(&self, acts: &[Act], model: &str, ids: &mut Ids) -> Vec<SseFrame> {
        let response = opening(model, ids);
        let mut stream = Stream::begin(&response);
        let mut output = Vec::new();
        for act in acts {
            let item = item(act, ids);
            stream.send_item(output.len(), act, &item);
            stream.send("response.output_item.done", json!({ "output_index": output.len(), "item": item }));
            output.push(item);
        }
        stream.send("response.completed", json!({ "response": completed(&response, output) }));
        stream.frames
    }

    fn failing(&self, model: &str, ids: &mut Ids) -> Vec<SseFrame> {
        let mut response = opening(model, ids);
        let mut stream = Stream::begin(&response);
        let act = Act::Say(vec!["partial".into()]);
        stream.send_item(0, &act, &item(&act, ids));
        response["status"] = "failed".into();
        response["error"] = json!({ "code": "server_error", "message": "scripted stream failure" });
        stream.send("response.failed", json!({ "response": response }));
        stream.frames
    }

    fn refusal(&self, status: u16) -> Value {
        let kind = match status {
            400 => "invalid_request_error",
            401 => "authentication_error",
            429 => "rate_limit_exceeded",
            _ => "server_error",
        };
        json!({ "error": { "type": kind, "code": "scripted", "message": "scripted error" } })
    }
}

/// Adds a user message: a plain text, or a list of parts.
fn add_user_content(request: &mut ModelRequest, content: &Value) {
    request.add_user_text(&text(content));
    for part in list(content) {
        match part["type"].as_str() {
            Some("input_image") => request.images.push(media_type(&text(&part["image_url"]))),
            _ => request.add_user_text(&text(&part["text"])),
        }
    }
}

/// The media type of an image in a `data:` URL.
pub(super) fn media_type(url: &str) -> String {
    let rest = url.strip_prefix("data:").unwrap_or(url);
    rest.split([';', ',']).next().unwrap_or_default().to_owned()
}

fn result(output: &Value) -> String {
    let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
    // Codex adds measurements, which differ from run to run.
    let measured = |line: &&str| line.starts_with("Chunk ID: ") || line.starts_with("Wall time: ");
    text.split_inclusive('\n').filter(|line| !measured(line)).collect()
}

fn offer(request: &mut ModelRequest, tool: &Value, namespace: Option<&str>) {
    if tool["type"] == "namespace" {
        return list(&tool["tools"]).iter().for_each(|inner| offer(request, inner, tool["name"].as_str()));
    }
    // Built-in tools have a type and no name.
    let name = if tool["name"].is_string() { &tool["name"] } else { &tool["type"] };
    request.tools.push(OfferedTool {
        namespace: namespace.map(str::to_owned),
        takes_text: tool["type"] == "custom",
        ..OfferedTool::new(name, &tool["parameters"])
    });
}

fn opening(model: &str, ids: &mut Ids) -> Value {
    json!({
        "id": ids.next("resp"), "object": "response", "created_at": 1_760_000_000, "status": "in_progress",
        "model": model, "output": [], "parallel_tool_calls": true, "tools": [],
    })
}

fn completed(opening: &Value, output: Vec<Value>) -> Value {
    let mut response = opening.clone();
    response["status"] = "completed".into();
    response["output"] = output.into();
    response["usage"] = json!({
        "input_tokens": INPUT_TOKENS, "input_tokens_details": { "cached_tokens": CACHED_TOKENS },
        "output_tokens": OUTPUT_TOKENS, "output_tokens_details": { "reasoning_tokens": REASONING_TOKENS },
        "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
    });
    response
}

/// A finished item of an answer.
fn item(act: &Act, ids: &mut Ids) -> Value {
    match act {
        Act::Say(pieces) => json!({
            "id": ids.next("msg"), "type": "message", "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": pieces.concat(), "annotations": [] }],
        }),
        Act::Think(pieces) => json!({
            "id": ids.next("rs"), "type": "reasoning", "encrypted_content": "c2NyaXB0ZWQ=",
            "summary": [{ "type": "summary_text", "text": pieces.concat() }],
        }),
        Act::Call(tool, input) => {
            let kind = if tool.takes_text { "custom_tool_call" } else { "function_call" };
            let mut call = json!({
                "id": ids.next("fc"), "type": kind, "status": "completed", "call_id": ids.next("call"),
                "name": tool.name, written_in(tool): result(input),
            });
            if let Some(namespace) = &tool.namespace {
                call["namespace"] = namespace.as_str().into();
            }
            call
        }
    }
}

/// The events of an answer, numbered.
struct Stream {
    frames: Vec<SseFrame>,
}

impl Stream {
    fn begin(response: &Value) -> Self {
        let mut stream = Self { frames: Vec::new() };
        stream.send("response.created", json!({ "response": response }));
        stream.send("response.in_progress", json!({ "response": response }));
        stream
    }

    fn send(&mut self, kind: &str, fields: Value) {
        let frame = self.frame(kind, fields);
        self.frames.push(frame);
    }

    fn send_pieces(&mut self, kind: &str, place: &Value, pieces: &[String]) {
        for piece in pieces {
            let frame = self.frame(kind, with(place, "delta", piece.as_str()));
            self.frames.push(frame.piece());
        }
    }

    fn frame(&self, kind: &str, fields: Value) -> SseFrame {
        let mut data = json!({ "type": kind, "sequence_number": self.frames.len() + 1 });
        for (name, value) in fields.as_object().into_iter().flatten() {
            data[name] = value.clone();
        }
        SseFrame::named(kind, &data)
    }

    /// Sends the events of one item, all but the one that says that it is done.
    fn send_item(&mut self, index: usize, act: &Act, item: &Value) {
        let mut empty = item.clone();
        if empty["status"].is_string() {
            empty["status"] = "in_progress".into();
        }
        let field = match act {
            Act::Say(_) => "content",
            Act::Think(_) => "summary",
            Act::Call(tool, _) => written_in(tool),
        };
        empty[field] = if item[field].is_array() { json!([]) } else { json!("") };
        self.send("response.output_item.added", json!({ "output_index": index, "item": empty }));

        let place = json!({ "item_id": item["id"], "output_index": index });
        match act {
            Act::Say(pieces) => {
                let place = with(&place, "content_index", 0);
                let part = json!({ "type": "output_text", "text": "", "annotations": [] });
                self.send("response.content_part.added", with(&place, "part", part));
                self.send_pieces("response.output_text.delta", &place, pieces);
                self.send("response.output_text.done", with(&place, "text", pieces.concat()));
                self.send("response.content_part.done", with(&place, "part", item["content"][0].clone()));
            }
            Act::Think(pieces) => {
                let place = with(&place, "summary_index", 0);
                let part = json!({ "type": "summary_text", "text": "" });
                self.send("response.reasoning_summary_part.added", with(&place, "part", part));
                self.send_pieces("response.reasoning_summary_text.delta", &place, pieces);
                self.send("response.reasoning_summary_text.done", with(&place, "text", pieces.concat()));
            }
            Act::Call(tool, _) => {
                let kind = if tool.takes_text { "custom_tool_call_input" } else { "function_call_arguments" };
                self.send_pieces(&format!("response.{kind}.delta"), &place, &argument_pieces(&text(&item[field])));
                self.send(&format!("response.{kind}.done"), with(&place, field, item[field].clone()));
            }
        }
    }
}

/// The field of a call that holds its input.
fn written_in(tool: &OfferedTool) -> &'static str {
    if tool.takes_text { "input" } else { "arguments" }
}

fn with(place: &Value, name: &str, value: impl Into<Value>) -> Value {
    let mut fields = place.clone();
    fields[name] = value.into();
    fields
}
