//! The messages of `codex app-server`: JSON-RPC without the `jsonrpc` member, one per WebSocket text frame.
//!
//! Read with tolerance: the protocol is marked experimental, so a message, item or status that is not here is kept as it
//! came and never an error.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

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

    #[test]
    fn items_and_words_that_nobody_knows_are_no_error() {
        let read = |item: &str| serde_json::from_str::<Item>(item).unwrap();
        assert!(matches!(read(r#"{"type":"brandNew","id":"a"}"#), Item::Other));
        let command = r#"{"type":"commandExecution","id":"a","command":"ls","cwd":"/","status":"paused"}"#;
        assert!(matches!(read(command), Item::CommandExecution { status: ItemStatus::Unknown, .. }));
    }
}
