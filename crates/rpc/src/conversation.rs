//! The messages of a session's history, as `session/messages` returns them.

use roost_model::ids::SessionId;
use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Who a message comes from. As in Claude's own records, a tool's result comes from the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The person, or a tool that returns its result to the agent.
    User,
    /// The agent; also for the message that a failed task ends with.
    Assistant,
    /// Instructions that stand before the conversation.
    System,
}

/// One block of a message's content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", schemars(rename = "Block"))]
pub enum ContentBlock {
    /// Text. Code is fenced with its language; images and artifacts are named in brackets.
    Text {
        /// Never empty; cut if the message would exceed 128 KiB.
        text: String,
    },
    /// What the agent thought before it went on.
    Thinking {
        /// The thinking as text; cut if the message would exceed 128 KiB.
        text: String,
    },
    /// A tool call of the agent, or a question to the user.
    ToolUse {
        /// Roost's id of the tool call or question, by which it is answered.
        id: String,
        /// The tool as the runtime names it; `AskUserQuestion` for a question.
        name: String,
        /// The tool's arguments. Arguments that are not an object stand in a field `input`.
        input: Map<String, Value>,
    },
    /// The result of a tool call, or how a question ended.
    ToolResult {
        /// The `id` of the `tool_use` block that this answers.
        tool_use_id: String,
        /// The result as text. For a big result its beginning, and the id of the artifact that has all of it.
        content: String,
        /// True if the tool failed, the call was denied or the question was not answered.
        is_error: bool,
    },
}

/// The content of a message, in the shape of Claude's API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Said"))]
pub struct MessageBody {
    /// Who it comes from; the same as `type` of the message.
    pub role: Speaker,
    /// The content in order; at least one block.
    pub content: Vec<ContentBlock>,
    /// The model that wrote it; only for messages of the agent, and only if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why the agent stopped writing: `tool_use` for a tool call, `error` for a failed task; absent for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
}

/// One message of a session's history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Message {
    /// Position in the session, strictly increasing; in a forked session it counts on from the other one.
    pub id: u64,
    /// The session that was asked for, also for messages that it has from another one.
    pub session_id: SessionId,
    /// Who it comes from.
    #[serde(rename = "type")]
    pub speaker: Speaker,
    /// Unique id, the same in the history, in the `claude_message` event and in its pieces, `agent_message_delta`.
    pub uuid: String,
    /// When it was recorded.
    pub timestamp: Timestamp,
    /// Role and content, in the shape of Claude's API.
    pub message: MessageBody,
    /// Whether it summarizes a context that became too long; always false for sessions in Roost's log.
    pub is_context_compaction: bool,
    /// Whether it is not meant to be shown; always false for sessions in Roost's log.
    pub is_meta: bool,
}
