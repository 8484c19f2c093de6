//! The lines of the Agent Client Protocol: JSON-RPC, with a fast path for text chunks, which nearly all lines are.

use std::borrow::Cow;

use serde::Deserialize;

use crate::host::json_rpc;

/// One line from the agent.
#[derive(Debug)]
pub(super) enum AcpMessage<'a> {
    /// A text chunk, read in one pass.
    Chunk(Chunk<'a>),
    /// Every other line.
    Rpc(json_rpc::Incoming<'a>),
}

/// A piece of the agent's answer or of its thinking.
#[derive(Debug)]
pub(super) struct Chunk<'a> {
    pub(super) session: Cow<'a, str>,
    /// Thinking, not answer.
    pub(super) thought: bool,
    /// The id of the message that it belongs to; many agents send none.
    pub(super) message: Option<Cow<'a, str>>,
    pub(super) text: Cow<'a, str>,
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

/// Reads one line; never fails, because what is not protocol is noise.
pub(super) fn parse(line: &str) -> AcpMessage<'_> {
    if line.trim_start().starts_with('{')
        && let Ok(line) = serde_json::from_str::<ChunkLine<'_>>(line)
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
            return AcpMessage::Chunk(Chunk { session: session_id, thought, message, text });
        }
    }
    AcpMessage::Rpc(json_rpc::parse(line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::Index;
    use serde_json::Value;

    use crate::generated::{cut, message};

    const METHODS: &[&str] = &["session/update", "session/request_permission", "agent_message_chunk", "s"];
    const NAMES: &[&str] =
        &["id", "params", "result", "error", "sessionId", "update", "sessionUpdate", "content", "text", "code"];

    fn kind(line: &str) -> &'static str {
        match parse(line) {
            AcpMessage::Chunk(chunk) if chunk.thought => "thought",
            AcpMessage::Chunk(_) => "chunk",
            AcpMessage::Rpc(json_rpc::Incoming::Notification { .. }) => "notification",
            AcpMessage::Rpc(json_rpc::Incoming::Request { .. }) => "request",
            AcpMessage::Rpc(json_rpc::Incoming::Response { result: Ok(_), .. }) => "answer",
            AcpMessage::Rpc(json_rpc::Incoming::Response { result: Err(_), .. }) => "error",
            AcpMessage::Rpc(json_rpc::Incoming::Noise) => "noise",
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
        fn no_line_breaks_the_parser(message in message("method", METHODS, NAMES), at: Index, text in ".{0,200}") {
            let line = Value::Object(message.clone()).to_string();
            // Half a request or answer may be noise.
            let is_notification = !message.contains_key("id") && !message.contains_key("error");
            prop_assert!(!is_notification || matches!(kind(&line), "notification" | "chunk" | "thought"), "{}", line);
            prop_assert_eq!(kind(cut(&line, at)), "noise");
            let _ = parse(&text);
        }

        #[test]
        fn text_survives_the_fast_path(text in ".{0,100}") {
            let line = serde_json::json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s",
                "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}});
            let line = line.to_string();
            let AcpMessage::Chunk(chunk) = parse(&line) else { panic!("not a chunk: {line}") };
            prop_assert_eq!(&*chunk.text, text.as_str());
        }
    }
}
