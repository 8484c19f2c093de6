//! The messages of `codex app-server`: JSON-RPC without the `jsonrpc` member, one per WebSocket text frame.
//!
//! Parsed with tolerance, because the protocol is marked experimental: an unknown message, item or status is no error.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The thread and turn of a notification; those about a turn have both.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ScopeParams {
    pub(super) thread_id: Option<String>,
    pub(super) turn_id: Option<String>,
}

/// The parameters of `item/started` and `item/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ItemParams {
    pub(super) item: Item,
    pub(super) thread_id: String,
    pub(super) turn_id: String,
}

/// The parameters of a delta: a piece of an item's text or output.
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
    /// The part of a reasoning summary; 0 for other deltas.
    #[serde(default)]
    pub(super) summary_index: u32,
}

/// One step of a turn: a message, a tool call, or something that Roost does not show.
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
    /// The conversation is summarised to make room, by request or because the model's context is full.
    ContextCompaction,
    #[serde(other)]
    Other,
}

/// The progress of an item.
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

/// The parameters of `rawResponseItem/completed`: what the model sent, or what Codex answered it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawItemParams {
    pub(super) item: RawItem,
    pub(super) thread_id: String,
    pub(super) turn_id: String,
}

/// An item of the model's API. Only what the model calls and what it gets back is read.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum RawItem {
    FunctionCall {
        call_id: String,
        name: String,
        /// The arguments as a JSON text.
        arguments: String,
    },
    FunctionCallOutput {
        call_id: String,
        /// A text, or a list of texts and images.
        output: Value,
    },
    #[serde(other)]
    Other,
}

/// A part of a command line, as Codex parsed it.
#[derive(Debug, Deserialize)]
pub(super) struct CommandAction {
    pub(super) command: String,
}

/// The parameters of `turn/completed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnParams {
    pub(super) thread_id: String,
    pub(super) turn: TurnInfo,
}

/// A turn, without its items.
#[derive(Debug, Deserialize)]
pub(super) struct TurnInfo {
    pub(super) id: String,
    pub(super) status: TurnStatus,
    #[serde(default)]
    pub(super) error: Option<TurnError>,
}

/// The progress of a turn.
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

/// The parameters of `error`: something failed, and Codex may retry it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ErrorParams {
    pub(super) error: TurnError,
    #[serde(default)]
    pub(super) will_retry: bool,
}

/// The parameters of `hook/completed`.
#[derive(Debug, Deserialize)]
pub(super) struct HookParams {
    pub(super) run: HookRun,
}

/// A run of a hook that the user configured for Codex.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HookRun {
    pub(super) event_name: String,
    /// The file that configures the hook.
    #[serde(default)]
    pub(super) source_path: String,
    pub(super) status: String,
    #[serde(default)]
    pub(super) entries: Vec<HookEntry>,
}

/// Something that a hook said.
#[derive(Debug, Deserialize)]
pub(super) struct HookEntry {
    pub(super) text: String,
}

/// Why a turn failed. Serialised as the `raw` part of a task error.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnError {
    #[serde(default)]
    pub(super) message: String,
    /// A name, or an object whose only key is the name.
    #[serde(default)]
    pub(super) codex_error_info: Value,
    #[serde(default)]
    pub(super) additional_details: Option<String>,
}

/// The parameters of `thread/tokenUsage/updated`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UsageParams {
    pub(super) token_usage: TokenUsage,
}

/// The token usage of a thread. Serialised as the `raw` part of a usage event.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenUsage {
    /// The sum over all requests of the thread.
    #[serde(default)]
    total: Value,
    /// The last request to the model alone.
    pub(super) last: TokenCount,
    #[serde(default)]
    pub(super) model_context_window: Option<u64>,
}

/// Token counts of one or more requests.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TokenCount {
    pub(super) total_tokens: u64,
    pub(super) input_tokens: u64,
    pub(super) cached_input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) reasoning_output_tokens: u64,
}

/// The parameters of `turn/plan/updated`.
#[derive(Debug, Deserialize)]
pub(super) struct PlanParams {
    pub(super) plan: Vec<PlanStep>,
}

/// A step of the agent's plan.
#[derive(Debug, Deserialize)]
pub(super) struct PlanStep {
    pub(super) step: String,
    pub(super) status: PlanStepStatus,
}

/// The progress of a step.
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
