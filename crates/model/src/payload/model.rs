//! What goes into the model, what comes out, and what it used.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::{ArtifactRef, AssistantContentBlock};
use crate::ids::ToolCallId;

/// How a context was made to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextStrategy {
    /// It fitted.
    None,
    /// The oldest messages were left out.
    TruncateOldest,
}

payload! {
    /// What of the transcript reached the runtime.
    ContextWindow {
        /// How it was made to fit.
        strategy: ContextStrategy,
        /// The limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_chars: Option<u64>,
        /// The messages left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        omitted_indices: Option<Vec<u64>>,
        /// Even the last message was too big.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overflow: Option<bool>,
    }
}

payload! {
    /// `model.input`: the canonical input that went to the runtime.
    ModelInputPayload {
        /// The input's bytes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_ref: Option<ArtifactRef>,
        /// `sha256:<hex>` of the canonical input.
        input_hash: String,
        /// What of the transcript it holds.
        context_window: ContextWindow,
        /// Files the runtime reads by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        implicit_sources_ref: Option<ArtifactRef>,
    }
}

/// What a delta is a piece of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelOutputDeltaKind {
    /// The answer.
    TextDelta,
    /// A tool's input while it is written.
    JsonDelta,
    /// Source code.
    CodeDelta,
    /// The agent's thinking (not in the seed).
    ReasoningDelta,
    /// Something else.
    UnknownDelta,
}

payload! {
    /// `model.output.delta`: a piece of output.
    ModelOutputDeltaPayload {
        /// What it is a piece of.
        kind: ModelOutputDeltaKind,
        /// The block it belongs to; stable within a task.
        block_id: Arc<str>,
        /// The piece.
        delta: String,
        /// The tool call whose input it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ToolCallId>,
        /// The language of code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<String>,
    }
}

payload! {
    /// `model.output.completed`: a finished answer.
    ModelOutputCompletedPayload {
        /// Its blocks.
        content: Vec<AssistantContentBlock>,
    }
}

/// How full the runtime's context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextFill {
    /// Tokens used.
    pub used: u64,
    /// Tokens that fit.
    pub size: u64,
}

payload! {
    /// `usage.reported`: one shape for every runtime; what a runtime does not tell is absent.
    UsageReportedPayload {
        /// Tokens in, cached ones included.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_tokens: Option<u64>,
        /// Tokens in that came from a cache.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cached_input_tokens: Option<u64>,
        /// Tokens out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output_tokens: Option<u64>,
        /// Tokens out that were thinking.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning_tokens: Option<u64>,
        /// What it cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost_usd: Option<f64>,
        /// How full the context is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<ContextFill>,
    }
}
