//! Events about the model: its input, its output and its token usage.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::content::{ArtifactRef, AssistantContentBlock};
use crate::ids::ToolCallId;

/// How a conversation was shortened to fit the runtime's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextStrategy {
    /// Nothing was left out.
    None,
    /// The oldest messages were left out until the rest fitted.
    TruncateOldest,
}

payload! {
    /// Which part of the transcript was sent to the runtime.
    ContextWindow {
        /// How the conversation was shortened.
        strategy: ContextStrategy,
        /// The runtime's limit in characters; absent if it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_chars: Option<u64>,
        /// Positions (from 0) of the messages that were left out; absent if none were.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        omitted_indices: Option<Vec<u64>>,
        /// True if even the last message exceeded the limit; absent otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overflow: Option<bool>,
    }
}

payload! {
    /// `model.input`: the complete input that was sent to the runtime for a task.
    ModelInputPayload {
        /// The input as JSON, with secrets in `runtime_config` removed; absent if it could not be stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_ref: Option<ArtifactRef>,
        /// `sha256:<hex>` of the canonical JSON of the input.
        input_hash: String,
        /// Which part of the transcript the input contains.
        context_window: ContextWindow,
        /// The files that the runtime reads by itself, by path and hash; absent if the list could not be stored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        implicit_sources_ref: Option<ArtifactRef>,
    }
}

/// What a piece of output belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ModelOutputDeltaKind {
    /// The agent's answer.
    TextDelta,
    /// The arguments of a tool call while the model writes them.
    JsonDelta,
    /// Source code in the answer.
    CodeDelta,
    /// The agent's reasoning, which is repeated nowhere else (not in the seed).
    ReasoningDelta,
    /// Output of a kind that the adapter does not know.
    UnknownDelta,
}

payload! {
    /// `model.output.delta`: a piece of output while the model writes it. `model.output.completed` repeats answers
    /// as a whole.
    ModelOutputDeltaPayload {
        /// What the piece belongs to.
        kind: ModelOutputDeltaKind,
        /// The block to append the piece to; unique within the task.
        block_id: Arc<str>,
        /// The text to append, as it came from the runtime.
        delta: String,
        /// The tool call whose arguments these are; only for `json_delta`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ToolCallId>,
        /// Language tag; only for `code_delta`, and only if the runtime gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<String>,
    }
}

payload! {
    /// `model.output.completed`: a finished answer; the deltas before it are then obsolete.
    ModelOutputCompletedPayload {
        /// The answer's blocks in order.
        content: Vec<AssistantContentBlock>,
    }
}

/// How much of the model's context window is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextFill {
    /// Tokens in use.
    pub used: u64,
    /// Tokens that fit into the window.
    pub size: u64,
}

payload! {
    /// `usage.reported`: token usage in one shape for every runtime. A field is absent if the runtime does
    /// not report it.
    UsageReportedPayload {
        /// Input tokens, including those read from a cache.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_tokens: Option<u64>,
        /// Those input tokens that were read from a cache.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cached_input_tokens: Option<u64>,
        /// Output tokens, including reasoning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_tokens: Option<u64>,
        /// Those output tokens that were reasoning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning_tokens: Option<u64>,
        /// Cost in US dollars, as reported by the runtime.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
        /// How much of the context window is in use now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<ContextFill>,
    }
}
