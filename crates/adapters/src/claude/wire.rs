//! The lines of Claude Code's stream-json and control protocol, read with tolerance and written strictly.
//!
//! Only what Roost uses is typed. A JSON object that is none of these is kept as it came; anything else is noise.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::messages::{
    Assistant, Block, Piece, PieceKind, Request, Started, StreamEvent, Streamed, System, TurnResult, Usage, User,
};

/// One line from the CLI.
#[derive(Debug)]
pub(super) enum Incoming<'a> {
    /// A piece of output: nearly all traffic.
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
struct EventLine<'a> {
    #[serde(borrow)]
    event: Event<'a>,
    #[serde(default)]
    parent_tool_use_id: Option<String>,
}

/// The members of all events of the model's stream, so that one pass reads any of them.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    message: Option<Started>,
    #[serde(default)]
    content_block: Option<Block>,
    #[serde(default)]
    usage: Option<Usage>,
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

/// Reads one line, in one pass: the CLI writes the type first, and the rest is read as what that says.
pub(super) fn parse(line: &str) -> Incoming<'_> {
    if !line.trim_start().starts_with('{') {
        return Incoming::Noise;
    }
    match serde_json::from_str(line) {
        Ok(TypedLine(Some(incoming))) => incoming,
        Ok(TypedLine(None)) | Err(_) => parse_again(line),
    }
}

/// Reads a line whose type comes later, or that is not what its type says.
fn parse_again(line: &str) -> Incoming<'_> {
    let Ok(Head { kind }) = serde_json::from_str(line) else { return Incoming::Noise };
    match read(&kind, &mut serde_json::Deserializer::from_str(line)) {
        Ok(Some(incoming)) => incoming,
        // Whatever it asks, it must not wait for ever.
        Err(_) if kind == "control_request" => match serde_json::from_str(line) {
            Ok(IdLine { request_id: id }) => Incoming::Request { id, request: Request::Other },
            Err(_) => Incoming::Unknown { kind },
        },
        Ok(None) | Err(_) => Incoming::Unknown { kind },
    }
}

/// A line that begins with its type; `None` if it begins otherwise, or if the type is not known.
struct TypedLine<'a>(Option<Incoming<'a>>);

impl<'de> Deserialize<'de> for TypedLine<'de> {
    fn deserialize<D: Deserializer<'de>>(line: D) -> Result<Self, D::Error> {
        struct Line;
        impl<'de> Visitor<'de> for Line {
            type Value = TypedLine<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a message")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<TypedLine<'de>, A::Error> {
                match members.next_entry::<&str, &str>()? {
                    Some(("type", kind)) => read(kind, MapAccessDeserializer::new(members)).map(TypedLine),
                    _ => Err(A::Error::custom("the type does not come first")),
                }
            }
        }
        line.deserialize_map(Line)
    }
}

/// Reads the members of a line of this type; `None` if nobody knows the type.
fn read<'de, D: Deserializer<'de>>(kind: &str, line: D) -> Result<Option<Incoming<'de>>, D::Error> {
    Ok(Some(match kind {
        "stream_event" => event(EventLine::deserialize(line)?).ok_or_else(|| D::Error::custom("half an event"))?,
        "system" => Incoming::System(System::deserialize(line)?),
        "assistant" => Incoming::Assistant(Box::deserialize(line)?),
        "user" => Incoming::User(Box::deserialize(line)?),
        "result" => Incoming::Result(Box::deserialize(line)?),
        "control_request" => {
            let RequestLine { request_id: id, request } = Deserialize::deserialize(line)?;
            Incoming::Request { id, request }
        }
        "control_cancel_request" => {
            let IdLine { request_id: id } = Deserialize::deserialize(line)?;
            Incoming::Withdrawn { id }
        }
        "control_response" => {
            let ResponseLine { response } = Deserialize::deserialize(line)?;
            let ResponseBody { request_id: id, response, error } = response;
            Incoming::Response { id, result: error.map_or(Ok(response), Err) }
        }
        "keep_alive" | "tool_progress" => {
            IgnoredAny::deserialize(line)?;
            Incoming::Idle
        }
        _ => {
            IgnoredAny::deserialize(line)?;
            return Ok(None);
        }
    }))
}

/// A piece of a block, or another event; `None` if something of it is missing.
fn event<'a>(line: EventLine<'_>) -> Option<Incoming<'a>> {
    let EventLine { event: Event { kind, index, delta, message, content_block, usage }, parent_tool_use_id: parent } =
        line;
    if let (Some(index), Some(delta)) = (index, delta) {
        let (kind, text) = match delta {
            Delta { text: Some(text), .. } => (PieceKind::Text, text),
            Delta { thinking: Some(text), .. } => (PieceKind::Thinking, text),
            Delta { partial_json: Some(text), .. } => (PieceKind::Input, text),
            // A signature or a citation: nothing that anybody reads.
            Delta { .. } => return Some(Incoming::Idle),
        };
        return Some(Incoming::Piece(Piece { index, kind, text, parent }));
    }
    let event = match &*kind {
        "message_start" => StreamEvent::MessageStart { message: message? },
        "content_block_start" => StreamEvent::ContentBlockStart { index: index?, content_block: content_block? },
        "message_delta" => StreamEvent::MessageDelta { usage: usage.unwrap_or_default() },
        _ => StreamEvent::Other,
    };
    Some(Incoming::Stream(Streamed { event, parent }))
}

/// A prompt as a line; the CLI acknowledges it by its id.
pub(super) fn prompt(uuid: &str, content: &[Value]) -> String {
    json!({ "type": "user", "uuid": uuid, "message": { "role": "user", "content": content } }).to_string()
}

/// A request of ours as a line.
pub(super) fn request(id: &str, request: &Value) -> String {
    json!({ "type": "control_request", "request_id": id, "request": request }).to_string()
}

/// An answer of ours as a line.
pub(super) fn response(id: &str, response: &Value) -> String {
    let response = json!({ "subtype": "success", "request_id": id, "response": response });
    json!({ "type": "control_response", "response": response }).to_string()
}

/// A refusal of ours as a line.
pub(super) fn refusal(id: &str, error: &str) -> String {
    let response = json!({ "subtype": "error", "request_id": id, "error": error });
    json!({ "type": "control_response", "response": response }).to_string()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;
    use crate::generated::{cut, message};

    const KINDS: &[&str] = &[
        "stream_event",
        "system",
        "assistant",
        "user",
        "result",
        "control_request",
        "control_cancel_request",
        "control_response",
        "keep_alive",
        "brand_new",
    ];
    const NAMES: &[&str] = &[
        "event",
        "type",
        "index",
        "delta",
        "text",
        "message",
        "content",
        "subtype",
        "request_id",
        "request",
        "response",
        "error",
        "usage",
        "parent_tool_use_id",
        "tool_name",
        "input",
    ];

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
            (r#"{"uuid":"u","type":"keep_alive"}"#.into(), "idle"),
            (r#"{"event":{"delta":{"text":"x"},"index":0,"type":"d"},"type":"stream_event"}"#.into(), "text"),
            (r#"{"type":"stream_event","event":{"type":"message_start"}}"#.into(), "unknown"),
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
        fn no_line_breaks_the_parser(message in message("type", KINDS, NAMES), at: Index, text in ".{0,200}") {
            let line = Value::Object(message).to_string();
            prop_assert!(!matches!(parse(&line), Incoming::Noise), "{}", line);
            prop_assert!(matches!(parse(cut(&line, at)), Incoming::Noise));
            let _ = parse(&text);
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
