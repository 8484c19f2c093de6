//! The lines of Claude Code's stream-json and control protocol, read with tolerance and written strictly.
//!
//! Only messages that Roost uses are typed. Any other JSON object with a type is unknown; the rest is noise.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::messages::{
    Assistant, ContentBlock, ControlRequest, MessageStart, Piece, PieceKind, StreamEvent, StreamUpdate, System,
    TurnResult, Usage, User,
};

/// One line from the CLI.
#[derive(Debug)]
pub(super) enum ClaudeMessage<'a> {
    /// A piece of a block; nearly all traffic.
    Piece(Piece),
    /// Another event of the model's stream.
    Stream(StreamUpdate),
    /// A message about the CLI itself.
    System(Box<System>),
    /// Finished blocks of the model's answer.
    Assistant(Box<Assistant>),
    /// A message to the model: a prompt or the result of a tool.
    User(Box<User>),
    /// The end of a turn.
    Result(Box<TurnResult>),
    /// A request of the CLI's, to be answered under `id`.
    Request { id: String, request: ControlRequest },
    /// The CLI no longer waits for the answer to its request of this id.
    Withdrawn { id: String },
    /// The CLI's answer to a request of ours, or its acknowledgement of an answer that we sent.
    Response { id: String, result: Result<Value, String> },
    /// A known message without a meaning for a task, such as `keep_alive`.
    Idle,
    /// A message of a kind that Roost does not know.
    Unknown { kind: Cow<'a, str> },
    /// Not a message of the protocol.
    Noise,
}

#[derive(Deserialize)]
struct EventLine<'a> {
    #[serde(borrow)]
    event: RawStreamEvent<'a>,
    #[serde(default)]
    parent_tool_use_id: Option<String>,
}

/// The members of every kind of stream event, so that one pass reads any of them.
#[derive(Deserialize)]
struct RawStreamEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    delta: Option<Delta>,
    #[serde(default)]
    message: Option<MessageStart>,
    #[serde(default)]
    content_block: Option<ContentBlock>,
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
    request: ControlRequest,
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

/// The type of a line, wherever it stands in the object.
#[derive(Deserialize)]
struct TypeField<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
}

/// Reads one line. One pass is enough as long as the CLI writes the type first; otherwise the line is read again.
pub(super) fn parse(line: &str) -> ClaudeMessage<'_> {
    if !line.trim_start().starts_with('{') {
        return ClaudeMessage::Noise;
    }
    match serde_json::from_str(line) {
        Ok(TypedLine(Some(incoming))) => incoming,
        Ok(TypedLine(None)) | Err(_) => parse_again(line),
    }
}

/// Reads a line whose type does not come first, or that does not match its type.
fn parse_again(line: &str) -> ClaudeMessage<'_> {
    let Ok(TypeField { kind }) = serde_json::from_str(line) else { return ClaudeMessage::Noise };
    match read(&kind, &mut serde_json::Deserializer::from_str(line)) {
        Ok(Some(incoming)) => incoming,
        // Every request must be answered, even one that cannot be read.
        Err(_) if kind == "control_request" => match serde_json::from_str(line) {
            Ok(IdLine { request_id: id }) => ClaudeMessage::Request { id, request: ControlRequest::Other },
            Err(_) => ClaudeMessage::Unknown { kind },
        },
        Ok(None) | Err(_) => ClaudeMessage::Unknown { kind },
    }
}

/// A line that begins with its type; `None` if it begins otherwise, or if the type is not known.
struct TypedLine<'a>(Option<ClaudeMessage<'a>>);

impl<'de> Deserialize<'de> for TypedLine<'de> {
    fn deserialize<D: Deserializer<'de>>(line: D) -> Result<Self, D::Error> {
        struct TypedLineVisitor;
        impl<'de> Visitor<'de> for TypedLineVisitor {
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
        line.deserialize_map(TypedLineVisitor)
    }
}

/// Reads the remaining members of a line of this type; `None` if the type is unknown.
fn read<'de, D: Deserializer<'de>>(kind: &str, line: D) -> Result<Option<ClaudeMessage<'de>>, D::Error> {
    Ok(Some(match kind {
        "stream_event" => event(EventLine::deserialize(line)?).ok_or_else(|| D::Error::custom("half an event"))?,
        "system" => ClaudeMessage::System(Box::deserialize(line)?),
        "assistant" => ClaudeMessage::Assistant(Box::deserialize(line)?),
        "user" => ClaudeMessage::User(Box::deserialize(line)?),
        "result" => ClaudeMessage::Result(Box::deserialize(line)?),
        "control_request" => {
            let RequestLine { request_id: id, request } = Deserialize::deserialize(line)?;
            ClaudeMessage::Request { id, request }
        }
        "control_cancel_request" => {
            let IdLine { request_id: id } = Deserialize::deserialize(line)?;
            ClaudeMessage::Withdrawn { id }
        }
        "control_response" => {
            let ResponseLine { response } = Deserialize::deserialize(line)?;
            let ResponseBody { request_id: id, response, error } = response;
            ClaudeMessage::Response { id, result: error.map_or(Ok(response), Err) }
        }
        "keep_alive" | "tool_progress" | "command_lifecycle" => {
            IgnoredAny::deserialize(line)?;
            ClaudeMessage::Idle
        }
        _ => {
            IgnoredAny::deserialize(line)?;
            return Ok(None);
        }
    }))
}

/// Converts a stream event; `None` if a member that its kind needs is missing.
fn event<'a>(line: EventLine<'_>) -> Option<ClaudeMessage<'a>> {
    let EventLine {
        event: RawStreamEvent { kind, index, delta, message, content_block, usage },
        parent_tool_use_id: parent,
    } = line;
    if let (Some(index), Some(delta)) = (index, delta) {
        let (kind, text) = match delta {
            Delta { text: Some(text), .. } => (PieceKind::Text, text),
            Delta { thinking: Some(text), .. } => (PieceKind::Thinking, text),
            Delta { partial_json: Some(text), .. } => (PieceKind::Input, text),
            // A signature or a citation, which is not shown.
            Delta { .. } => return Some(ClaudeMessage::Idle),
        };
        return Some(ClaudeMessage::Piece(Piece { index, kind, text, parent }));
    }
    let event = match &*kind {
        "message_start" => StreamEvent::MessageStart { message: message? },
        "content_block_start" => StreamEvent::ContentBlockStart { index: index?, content_block: content_block? },
        "message_delta" => StreamEvent::MessageDelta { usage: usage.unwrap_or_default() },
        _ => StreamEvent::Other,
    };
    Some(ClaudeMessage::Stream(StreamUpdate { event, parent }))
}

/// The line of a user message; the CLI acknowledges it by repeating it with this `uuid`.
pub(super) fn prompt(uuid: &str, content: &[Value]) -> String {
    json!({ "type": "user", "uuid": uuid, "message": { "role": "user", "content": content } }).to_string()
}

/// The line of a control request to the CLI.
pub(super) fn request(id: &str, request: &Value) -> String {
    json!({ "type": "control_request", "request_id": id, "request": request }).to_string()
}

/// The line that answers a control request of the CLI's.
pub(super) fn response(id: &str, response: &Value) -> String {
    let response = json!({ "subtype": "success", "request_id": id, "response": response });
    json!({ "type": "control_response", "response": response }).to_string()
}

/// The line that refuses a control request of the CLI's with an error message.
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
            ClaudeMessage::Piece(piece) => match piece.kind {
                PieceKind::Text => "text",
                PieceKind::Thinking => "thinking",
                PieceKind::Input => "input",
            },
            ClaudeMessage::Stream(_) => "stream",
            ClaudeMessage::System(_) => "system",
            ClaudeMessage::Assistant(_) => "assistant",
            ClaudeMessage::User(_) => "user",
            ClaudeMessage::Result(_) => "result",
            ClaudeMessage::Request { request: ControlRequest::Other, .. } => "other request",
            ClaudeMessage::Request { .. } => "request",
            ClaudeMessage::Withdrawn { .. } => "withdrawn",
            ClaudeMessage::Response { result: Ok(_), .. } => "answer",
            ClaudeMessage::Response { result: Err(_), .. } => "error",
            ClaudeMessage::Idle => "idle",
            ClaudeMessage::Unknown { .. } => "unknown",
            ClaudeMessage::Noise => "noise",
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
            (r#"{"type":"command_lifecycle","command_uuid":"u","state":"queued"}"#.into(), "idle"),
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
            prop_assert!(!matches!(parse(&line), ClaudeMessage::Noise), "{}", line);
            prop_assert!(matches!(parse(cut(&line, at)), ClaudeMessage::Noise));
            let _ = parse(&text);
        }

        #[test]
        fn text_survives_the_way_in(text in ".{0,100}") {
            let line = json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 3,
                "delta": {"type": "text_delta", "text": text}}}).to_string();
            let ClaudeMessage::Piece(piece) = parse(&line) else { panic!("not a piece: {line}") };
            prop_assert_eq!((piece.text, piece.index), (text, 3));
        }
    }
}
