//! JSON-RPC lines of the Agent Client Protocol, read with tolerance and written strictly.
//!
//! Agents print banners, logs and half messages on stdout. Only a JSON object that has the shape of JSON-RPC counts;
//! everything else is noise, to be shown and otherwise ignored.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// One line from the agent.
#[derive(Debug)]
pub(super) enum Incoming<'a> {
    /// A piece of the agent's answer or thinking: nearly all traffic, so it is read in one pass.
    Chunk(Chunk<'a>),
    /// Another notification.
    Notification { method: Cow<'a, str>, params: &'a RawValue },
    /// The agent asks us something.
    Request { id: RpcId, method: Cow<'a, str>, params: &'a RawValue },
    /// The agent answers.
    Response { id: u64, result: Result<&'a RawValue, RpcError> },
    /// Not protocol.
    Noise,
}

/// A piece of text that the agent says or thinks.
#[derive(Debug)]
pub(super) struct Chunk<'a> {
    pub(super) session: Cow<'a, str>,
    pub(super) thought: bool,
    pub(super) message: Option<Cow<'a, str>>,
    pub(super) text: Cow<'a, str>,
}

/// A request id as the agent chose it, sent back unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum RpcId {
    Number(i64),
    Text(String),
}

/// An error as the agent sent it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct RpcError {
    #[serde(default)]
    pub(super) code: i64,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Value>,
}

#[derive(Deserialize)]
struct ChunkLine<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: ChunkParams<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChunkParams<'a> {
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow)]
    update: ChunkUpdate<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ChunkUpdate<'a> {
    #[serde(borrow)]
    session_update: Cow<'a, str>,
    #[serde(borrow, default)]
    message_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: ChunkContent<'a>,
}

#[derive(Deserialize)]
struct ChunkContent<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<RpcError>,
}

/// Reads one line.
pub(super) fn parse(line: &str) -> Incoming<'_> {
    if !line.trim_start().starts_with('{') {
        return Incoming::Noise;
    }
    if let Ok(line) = serde_json::from_str::<ChunkLine<'_>>(line)
        && line.method == "session/update"
    {
        let ChunkParams { session_id, update } = line.params;
        let thought = match &*update.session_update {
            "agent_message_chunk" => Some(false),
            "agent_thought_chunk" => Some(true),
            _ => None,
        };
        if let Some(thought) = thought {
            let (message, text) = (update.message_id, update.content.text);
            return Incoming::Chunk(Chunk { session: session_id, thought, message, text });
        }
    }
    frame(line)
}

fn frame(line: &str) -> Incoming<'_> {
    let Ok(Frame { id, method, params, result, error }) = serde_json::from_str(line) else { return Incoming::Noise };
    let params = params.unwrap_or(RawValue::NULL);
    match (id.map(RawValue::get), method, result, error) {
        (None | Some("null"), Some(method), ..) => Incoming::Notification { method, params },
        (Some(id), Some(method), ..) => match serde_json::from_str(id) {
            Ok(id) => Incoming::Request { id, method, params },
            Err(_) => Incoming::Noise,
        },
        (Some(id), None, result, error) => match (serde_json::from_str(id), result, error) {
            (Ok(id), _, Some(error)) => Incoming::Response { id, result: Err(error) },
            (Ok(id), result, None) => Incoming::Response { id, result: Ok(result.unwrap_or(RawValue::NULL)) },
            (Err(_), ..) => Incoming::Noise,
        },
        (None, None, ..) => Incoming::Noise,
    }
}

/// A request of ours as a line.
pub(super) fn request(id: u64, method: &str, params: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Request<'a, P> {
        jsonrpc: &'a str,
        id: u64,
        method: &'a str,
        params: &'a P,
    }
    line(&Request { jsonrpc: "2.0", id, method, params })
}

/// A notification of ours as a line.
pub(super) fn notification(method: &str, params: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Notification<'a, P> {
        jsonrpc: &'a str,
        method: &'a str,
        params: &'a P,
    }
    line(&Notification { jsonrpc: "2.0", method, params })
}

/// An answer of ours as a line.
pub(super) fn response(id: &RpcId, result: Result<&impl Serialize, &RpcError>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Response<'a, R> {
        jsonrpc: &'a str,
        id: &'a RpcId,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<&'a R>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<&'a RpcError>,
    }
    line(&Response { jsonrpc: "2.0", id, result: result.ok(), error: result.err() })
}

fn line(message: &impl Serialize) -> Vec<u8> {
    // Wire types have string keys and finite numbers only, so they always serialise.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind(line: &str) -> &'static str {
        match parse(line) {
            Incoming::Chunk(chunk) if chunk.thought => "thought",
            Incoming::Chunk(_) => "chunk",
            Incoming::Notification { .. } => "notification",
            Incoming::Request { .. } => "request",
            Incoming::Response { result: Ok(_), .. } => "answer",
            Incoming::Response { result: Err(_), .. } => "error",
            Incoming::Noise => "noise",
        }
    }

    #[test]
    fn every_line_is_protocol_or_noise() {
        let update = |update: &str| {
            format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#)
        };
        let text = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a\nb"}}"#;
        let thought = r#"{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"x"}}"#;
        let image = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"","mimeType":"x"}}"#;
        let cases = [
            (update(text), "chunk"),
            (update(thought), "thought"),
            (update(image), "notification"),
            (update(r#"{"sessionUpdate":"brand_new"}"#), "notification"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.into(), "answer"),
            (r#"{"jsonrpc":"2.0","id":1,"result":null}"#.into(), "answer"),
            (r#"{"id":1,"error":{"code":-32603,"message":"no"}}"#.into(), "error"),
            (r#"{"id":1,"error":{}}"#.into(), "error"),
            (r#"{"id":"a","method":"fs/read_text_file","params":{}}"#.into(), "request"),
            (r#"{"id":0,"method":"x"}"#.into(), "request"),
            (r#"{"method":"x"}"#.into(), "notification"),
            (r#"{"id":null,"method":"x"}"#.into(), "notification"),
            (r#"{"level":"info","msg":"started"}"#.into(), "noise"),
            (r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#.into(), "noise"),
            ("{\"jsonrpc\":".into(), "noise"),
            ("Loading model…".into(), "noise"),
            ("42".into(), "noise"),
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
        fn text_survives_the_fast_path(text in ".{0,100}") {
            let line = serde_json::json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s",
                "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}});
            let line = line.to_string();
            let Incoming::Chunk(chunk) = parse(&line) else { panic!("not a chunk: {line}") };
            prop_assert_eq!(&*chunk.text, text.as_str());
        }
    }
}
