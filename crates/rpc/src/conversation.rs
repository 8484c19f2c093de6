//! Messages of a session's history, as the history's methods answer with them.

use roost_model::ids::SessionId;
use roost_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who speaks; a tool's result is the user's, as in Claude's own records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The person, or a tool that answers the agent.
    User,
    /// The agent.
    Assistant,
    /// Instructions.
    System,
}

/// One block of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text; code is fenced, artifacts are named.
    Text {
        /// The text.
        text: String,
    },
    /// The agent calls a tool, or asks a question.
    ToolUse {
        /// Our id of the call or question.
        id: String,
        /// The tool.
        name: String,
        /// Its input, always an object.
        input: Map<String, Value>,
    },
    /// What became of it.
    ToolResult {
        /// Which call or question.
        tool_use_id: String,
        /// The result as text.
        content: String,
        /// It failed or was denied.
        is_error: bool,
    },
}

/// What was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Said {
    /// By whom.
    pub role: Speaker,
    /// Its blocks, at least one.
    pub content: Vec<Block>,
    /// The model that said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why the turn ends with it, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
}

/// A message of a session's history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Message {
    /// Its place in the session.
    pub id: u64,
    /// Which session.
    pub session_id: SessionId,
    /// Who speaks.
    #[serde(rename = "type")]
    pub speaker: Speaker,
    /// The same in the history and in the live event.
    pub uuid: String,
    /// When.
    pub timestamp: Timestamp,
    /// What was said.
    pub message: Said,
    /// It sums up a context that was too long; Roost's log has none such.
    pub is_context_compaction: bool,
    /// It is not for people; Roost's log has none such.
    pub is_meta: bool,
}
