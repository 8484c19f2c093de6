//! The messages of `codex app-server`: JSON-RPC without the `jsonrpc` member, one per WebSocket text frame.
//!
//! Read with tolerance: the protocol is marked experimental, so a message, item or status that is not here is kept as it
//! came and never an error.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// One message from the server.
#[derive(Debug)]
pub(super) enum Incoming<'a> {
    /// It tells something.
    Notification { method: Cow<'a, str>, params: &'a RawValue },
    /// It asks something and waits.
    Request { id: RpcId, method: Cow<'a, str>, params: &'a RawValue },
    /// It answers.
    Response { id: u64, result: Result<&'a RawValue, RpcError> },
    /// Not protocol.
    Noise,
}

/// The id of a request of the server's, sent back unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum RpcId {
    Number(i64),
    Text(String),
}

/// An error as the server sent it.
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

/// Reads one message.
pub(super) fn parse(text: &str) -> Incoming<'_> {
    let Ok(Frame { id, method, params, result, error }) = serde_json::from_str(text) else { return Incoming::Noise };
    let params = params.unwrap_or(RawValue::NULL);
    match (id.map(RawValue::get), method) {
        (None | Some("null"), Some(method)) => Incoming::Notification { method, params },
        (Some(id), Some(method)) => match serde_json::from_str(id) {
            Ok(id) => Incoming::Request { id, method, params },
            Err(_) => Incoming::Noise,
        },
        (Some(id), None) => match (id.parse(), error) {
            (Ok(id), Some(error)) => Incoming::Response { id, result: Err(error) },
            (Ok(id), None) => Incoming::Response { id, result: Ok(result.unwrap_or(RawValue::NULL)) },
            (Err(_), _) => Incoming::Noise,
        },
        (None, None) => Incoming::Noise,
    }
}

/// A request of ours.
pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    text(&serde_json::json!({ "id": id, "method": method, "params": params }))
}

/// A notification of ours.
pub(super) fn notification(method: &str) -> String {
    text(&serde_json::json!({ "method": method }))
}

/// An answer of ours.
pub(super) fn response(id: &RpcId, result: &Value) -> String {
    text(&serde_json::json!({ "id": id, "result": result }))
}

/// A refusal to answer.
pub(super) fn refusal(id: &RpcId, error: &RpcError) -> String {
    text(&serde_json::json!({ "id": id, "error": error }))
}

fn text(message: &Value) -> String {
    message.to_string()
}

/// Where a message belongs; every message about a turn carries it.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Place {
    pub(super) thread_id: Option<String>,
    pub(super) turn_id: Option<String>,
}

/// `item/started` and `item/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ItemParams {
    pub(super) item: Item,
    pub(super) thread_id: String,
    pub(super) turn_id: String,
}

/// A piece of an item's text or output.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeltaParams<'a> {
    #[serde(borrow)]
    pub(super) thread_id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) turn_id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) item_id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) delta: Cow<'a, str>,
    /// Which part of a summary.
    #[serde(default)]
    pub(super) summary_index: u32,
}

/// A step of a turn.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Item {
    UserMessage,
    Reasoning,
    AgentMessage {
        id: String,
        text: String,
    },
    /// The text of a plan, in plan mode.
    Plan {
        id: String,
        text: String,
    },
    CommandExecution {
        id: String,
        command: String,
        cwd: String,
        status: ItemStatus,
        #[serde(default)]
        process_id: Option<String>,
        #[serde(default)]
        command_actions: Vec<CommandAction>,
        #[serde(default)]
        aggregated_output: Option<String>,
        #[serde(default)]
        exit_code: Option<i64>,
    },
    FileChange {
        id: String,
        changes: Value,
        status: ItemStatus,
    },
    McpToolCall {
        id: String,
        server: String,
        tool: String,
        status: ItemStatus,
        #[serde(default)]
        arguments: Value,
        #[serde(default)]
        result: Option<Value>,
        #[serde(default)]
        error: Option<Value>,
    },
    DynamicToolCall {
        id: String,
        tool: String,
        status: ItemStatus,
        #[serde(default)]
        arguments: Value,
        #[serde(default)]
        content_items: Option<Value>,
    },
    WebSearch {
        id: String,
        #[serde(default)]
        query: Option<String>,
        #[serde(default)]
        action: Option<Value>,
    },
    ImageView {
        id: String,
        path: String,
    },
    CollabAgentToolCall {
        id: String,
        tool: String,
        status: ItemStatus,
        #[serde(default)]
        prompt: Option<String>,
    },
    #[serde(other)]
    Other,
}

/// How far an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum ItemStatus {
    InProgress,
    Completed,
    Failed,
    Declined,
    #[serde(other)]
    Unknown,
}

/// A part of a command line, as Codex reads it.
#[derive(Debug, Deserialize)]
pub(super) struct CommandAction {
    pub(super) command: String,
}

/// `turn/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnParams {
    pub(super) thread_id: String,
    pub(super) turn: Turn,
}

/// A turn that is over.
#[derive(Debug, Deserialize)]
pub(super) struct Turn {
    pub(super) id: String,
    pub(super) status: TurnStatus,
    #[serde(default)]
    pub(super) error: Option<TurnError>,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum TurnStatus {
    Completed,
    Interrupted,
    Failed,
    InProgress,
    #[serde(other)]
    Unknown,
}

/// `error`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErrorParams {
    pub(super) error: TurnError,
    #[serde(default)]
    pub(super) will_retry: bool,
}

/// Why a turn failed.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnError {
    #[serde(default)]
    pub(super) message: String,
    /// A word, or an object with a word and details.
    #[serde(default)]
    pub(super) codex_error_info: Value,
    #[serde(default)]
    pub(super) additional_details: Option<String>,
}

/// `thread/tokenUsage/updated`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UsageParams {
    pub(super) token_usage: TokenUsage,
}

/// What a thread has used.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenUsage {
    /// Of all requests so far.
    #[serde(default)]
    total: Value,
    /// Of the last request alone.
    pub(super) last: TokenCount,
    #[serde(default)]
    pub(super) model_context_window: Option<u64>,
}

/// Tokens.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenCount {
    pub(super) total_tokens: u64,
    pub(super) input_tokens: u64,
    pub(super) cached_input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) reasoning_output_tokens: u64,
}

/// `turn/plan/updated`.
#[derive(Debug, Deserialize)]
pub(super) struct PlanParams {
    pub(super) plan: Vec<PlanStep>,
}

/// A step of a plan.
#[derive(Debug, Deserialize)]
pub(super) struct PlanStep {
    pub(super) step: String,
    pub(super) status: PlanStepStatus,
}

/// How far a step of a plan is.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum PlanStepStatus {
    InProgress,
    Completed,
    #[serde(other)]
    Pending,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind(text: &str) -> &'static str {
        match parse(text) {
            Incoming::Notification { .. } => "notification",
            Incoming::Request { .. } => "request",
            Incoming::Response { result: Ok(_), .. } => "answer",
            Incoming::Response { result: Err(_), .. } => "error",
            Incoming::Noise => "noise",
        }
    }

    #[test]
    fn every_text_is_protocol_or_noise() {
        let cases = [
            (r#"{"method":"turn/started","params":{},"emittedAtMs":1}"#, "notification"),
            (r#"{"method":"initialized"}"#, "notification"),
            (r#"{"method":"item/tool/call","id":0,"params":{}}"#, "request"),
            (r#"{"method":"item/tool/call","id":"a","params":{}}"#, "request"),
            (r#"{"id":1,"result":{}}"#, "answer"),
            (r#"{"id":1,"result":null}"#, "answer"),
            (r#"{"error":{"code":-32600,"message":"no"},"id":1}"#, "error"),
            (r#"{"error":{},"id":1}"#, "error"),
            (r#"{"id":"not ours","result":{}}"#, "noise"),
            (r#"{"level":"info"}"#, "noise"),
            ("[]", "noise"),
            ("{", "noise"),
            ("", "noise"),
        ];
        for (text, expected) in cases {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn items_and_words_that_nobody_knows_are_no_error() {
        let read = |item: &str| serde_json::from_str::<Item>(item).unwrap();
        assert!(matches!(read(r#"{"type":"brandNew","id":"a"}"#), Item::Other));
        let command = r#"{"type":"commandExecution","id":"a","command":"ls","cwd":"/","status":"paused"}"#;
        assert!(matches!(read(command), Item::CommandExecution { status: ItemStatus::Unknown, .. }));
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parser(text in ".{0,200}") {
            let _ = parse(&text);
        }
    }
}
