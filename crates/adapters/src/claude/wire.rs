//! The lines of Claude Code's stream-json and control protocol, read with tolerance and written strictly.
//!
//! Only what Roost uses is typed. A JSON object that is none of these is kept as it came; anything else is noise.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::messages::{Assistant, Piece, PieceKind, Request, StreamEvent, Streamed, System, TurnResult, User};

/// One line from the CLI.
#[derive(Debug)]
pub(super) enum Incoming<'a> {
    /// A piece of output: nearly all traffic, so it is read in one pass.
    Piece(Piece),
    /// Another event of the model's stream.
    Stream(Streamed),
    /// What the CLI says about itself.
    System(System),
    /// A finished block of the model's.
    Assistant(Box<Assistant>),
    /// What the model was told: a prompt, a tool's result.
    User(Box<User>),
    /// The end of a turn.
    Result(Box<TurnResult>),
    /// The CLI asks us something.
    Request { id: String, request: Request },
    /// It no longer waits for an answer to this.
    Withdrawn { id: String },
    /// It answers.
    Response { id: String, result: Result<Value, String> },
    /// A message whose kind is known and means nothing to a task.
    Idle,
    /// A message of a kind that Roost does not know.
    Unknown { kind: Cow<'a, str> },
    /// Not protocol.
    Noise,
}

#[derive(Deserialize)]
struct PieceLine {
    event: PieceEvent,
    #[serde(default)]
    parent_tool_use_id: Option<String>,
}

#[derive(Deserialize)]
struct PieceEvent {
    index: u64,
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    partial_json: Option<String>,
}

#[derive(Deserialize)]
struct StreamLine {
    event: StreamEvent,
    #[serde(default)]
    parent_tool_use_id: Option<String>,
}

#[derive(Deserialize)]
struct RequestLine {
    request_id: String,
    request: Request,
}

#[derive(Deserialize)]
struct IdLine {
    request_id: String,
}

#[derive(Deserialize)]
struct ResponseLine {
    response: ResponseBody,
}

#[derive(Deserialize)]
struct ResponseBody {
    request_id: String,
    #[serde(default)]
    response: Value,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
}

/// Reads one line.
pub(super) fn parse(line: &str) -> Incoming<'_> {
    if !line.trim_start().starts_with('{') {
        return Incoming::Noise;
    }
    let Ok(Head { kind }) = serde_json::from_str(line) else { return Incoming::Noise };
    let known = match &*kind {
        "stream_event" => piece(line).or_else(|| {
            let StreamLine { event, parent_tool_use_id } = read(line)?;
            Some(Incoming::Stream(Streamed { event, parent: parent_tool_use_id }))
        }),
        "system" => read(line).map(Incoming::System),
        "assistant" => read(line).map(Incoming::Assistant),
        "user" => read(line).map(Incoming::User),
        "result" => read(line).map(Incoming::Result),
        "control_request" => match read(line) {
            Some(RequestLine { request_id: id, request }) => Some(Incoming::Request { id, request }),
            // Whatever it asks, it must not wait for ever.
            None => read(line).map(|IdLine { request_id: id }| Incoming::Request { id, request: Request::Other }),
        },
        "control_cancel_request" => read(line).map(|IdLine { request_id: id }| Incoming::Withdrawn { id }),
        "control_response" => read(line).map(|ResponseLine { response }| {
            let ResponseBody { request_id, response, error } = response;
            Incoming::Response { id: request_id, result: error.map_or(Ok(response), Err) }
        }),
        "keep_alive" | "tool_progress" => Some(Incoming::Idle),
        _ => None,
    };
    known.unwrap_or(Incoming::Unknown { kind })
}

fn read<'a, T: Deserialize<'a>>(line: &'a str) -> Option<T> {
    serde_json::from_str(line).ok()
}

fn piece(line: &str) -> Option<Incoming<'_>> {
    let PieceLine { event: PieceEvent { index, delta }, parent_tool_use_id: parent } = read(line)?;
    let (kind, text) = match delta {
        Delta { text: Some(text), .. } => (PieceKind::Text, text),
        Delta { thinking: Some(text), .. } => (PieceKind::Thinking, text),
        Delta { partial_json: Some(text), .. } => (PieceKind::Input, text),
        // A signature or a citation: nothing that anybody reads.
        Delta { .. } => return Some(Incoming::Idle),
    };
    Some(Incoming::Piece(Piece { index, kind, text, parent }))
}

/// A prompt as a line; the CLI acknowledges it by its id.
pub(super) fn prompt(uuid: &str, content: &[Value]) -> Vec<u8> {
    line(&json!({ "type": "user", "uuid": uuid, "message": { "role": "user", "content": content } }))
}

/// A request of ours as a line.
pub(super) fn request(id: &str, request: &Value) -> Vec<u8> {
    line(&json!({ "type": "control_request", "request_id": id, "request": request }))
}

/// An answer of ours as a line.
pub(super) fn response(id: &str, response: &Value) -> Vec<u8> {
    let response = json!({ "subtype": "success", "request_id": id, "response": response });
    line(&json!({ "type": "control_response", "response": response }))
}

/// A refusal of ours as a line.
pub(super) fn refusal(id: &str, error: &str) -> Vec<u8> {
    let response = json!({ "subtype": "error", "request_id": id, "error": error });
    line(&json!({ "type": "control_response", "response": response }))
}

fn line(message: &impl Serialize) -> Vec<u8> {
    // Messages have string keys and finite numbers only, so they always serialise.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind(line: &str) -> &'static str {
        match parse(line) {
            Incoming::Piece(piece) => match piece.kind {
                PieceKind::Text => "text",
                PieceKind::Thinking => "thinking",
                PieceKind::Input => "input",
            },
            Incoming::Stream(_) => "stream",
            Incoming::System(_) => "system",
            Incoming::Assistant(_) => "assistant",
            Incoming::User(_) => "user",
            Incoming::Result(_) => "result",
            Incoming::Request { request: Request::Other, .. } => "other request",
            Incoming::Request { .. } => "request",
            Incoming::Withdrawn { .. } => "withdrawn",
            Incoming::Response { result: Ok(_), .. } => "answer",
            Incoming::Response { result: Err(_), .. } => "error",
            Incoming::Idle => "idle",
            Incoming::Unknown { .. } => "unknown",
            Incoming::Noise => "noise",
        }
    }

    #[test]
    fn every_line_is_protocol_or_noise() {
        let piece = |delta: &str| {
            format!(
                r#"{{"type":"stream_event","event":{{"type":"content_block_delta","index":0,"delta":{delta}}},"parent_tool_use_id":null}}"#
            )
        };
        let cases = [
            (piece(r#"{"type":"text_delta","text":"a\nb"}"#), "text"),
            (piece(r#"{"type":"thinking_delta","thinking":"x"}"#), "thinking"),
            (piece(r#"{"type":"input_json_delta","partial_json":"{"}"#), "input"),
            (piece(r#"{"type":"signature_delta","signature":"x"}"#), "idle"),
            (r#"{"type":"stream_event","event":{"type":"message_stop"}}"#.into(), "stream"),
            (r#"{"type":"stream_event","event":{"type":"brand_new"}}"#.into(), "stream"),
            (r#"{"type":"stream_event"}"#.into(), "unknown"),
            (r#"{"type":"system","subtype":"brand_new"}"#.into(), "system"),
            (r#"{"type":"user","message":{"role":"user","content":"text"}}"#.into(), "user"),
            (r#"{"type":"assistant","message":{"content":[{"type":"brand_new"}]}}"#.into(), "assistant"),
            (r#"{"type":"result","subtype":"success"}"#.into(), "result"),
            (r#"{"type":"result"}"#.into(), "unknown"),
            (r#"{"type":"control_request","request_id":"a","request":{"subtype":"hook_callback"}}"#.into(), "request"),
            (r#"{"type":"control_request","request_id":"a","request":{"subtype":"new"}}"#.into(), "other request"),
            (
                r#"{"type":"control_request","request_id":"a","request":{"subtype":"can_use_tool"}}"#.into(),
                "other request",
            ),
            (r#"{"type":"control_cancel_request","request_id":"a"}"#.into(), "withdrawn"),
            (r#"{"type":"control_response","response":{"subtype":"success","request_id":"a"}}"#.into(), "answer"),
            (
                r#"{"type":"control_response","response":{"subtype":"error","request_id":"a","error":"no"}}"#.into(),
                "error",
            ),
            (r#"{"type":"keep_alive"}"#.into(), "idle"),
            (r#"{"type":"brand_new","a":1}"#.into(), "unknown"),
            (r#"{"level":"info"}"#.into(), "noise"),
            ("{\"type\":".into(), "noise"),
            ("Loading…".into(), "noise"),
            (String::new(), "noise"),
        ];
        for (line, expected) in cases {
            assert_eq!(kind(&line), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_line_breaks_the_parser(line in ".{0,200}") {
            let _ = parse(&line);
        }

        #[test]
        fn text_survives_the_way_in(text in ".{0,100}") {
            let line = json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 3,
                "delta": {"type": "text_delta", "text": text}}}).to_string();
            let Incoming::Piece(piece) = parse(&line) else { panic!("not a piece: {line}") };
            prop_assert_eq!((piece.text, piece.index), (text, 3));
        }
    }
}
