//! The messages of Claude Code's stream-json and control protocol, as far as Roost uses them.

use serde::Deserialize;
use serde_json::Value;

/// A piece of a block that the model writes.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) index: u64,
    pub(super) kind: PieceKind,
    pub(super) text: String,
    /// The tool call of the sub-agent that writes it.
    pub(super) parent: Option<String>,
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    Text,
    Thinking,
    Input,
}

/// An event of the model's stream that is not a piece of a block.
#[derive(Debug)]
pub(super) struct Streamed {
    pub(super) event: StreamEvent,
    pub(super) parent: Option<String>,
}

/// The events of the model's stream that Roost uses.
#[derive(Debug)]
pub(super) enum StreamEvent {
    MessageStart { message: Started },
    ContentBlockStart { index: u64, content_block: Block },
    MessageDelta { usage: Usage },
    Other,
}

/// The beginning of a message.
#[derive(Debug, Deserialize)]
pub(super) struct Started {
    #[serde(default)]
    pub(super) usage: Usage,
}

/// Tokens as the provider counts them: cached ones apart.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub(super) input_tokens: u64,
    pub(super) cache_creation_input_tokens: u64,
    pub(super) cache_read_input_tokens: u64,
    pub(super) output_tokens: u64,
}

impl Usage {
    /// Everything that went in.
    pub(super) fn input(&self) -> u64 {
        self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens
    }
}

/// One block of a message.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        text: String,
    },
    Thinking {
        thinking: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: Value,
    },
    ToolResult {
        tool_use_id: String,
        #[serde(default)]
        content: Value,
        #[serde(default)]
        is_error: bool,
    },
    #[serde(other)]
    Other,
}

/// A message's content; the CLI's own remarks are plain text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Blocks(Vec<Block>),
    Text(String),
}

impl Content {
    /// The blocks; plain text has none.
    pub(super) fn blocks(self) -> Vec<Block> {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Text(_) => Vec::new(),
        }
    }
}

/// The part of a message that Roost uses.
#[derive(Debug, Deserialize)]
pub(super) struct Said {
    pub(super) content: Content,
}

/// `assistant`: finished blocks.
#[derive(Debug, Deserialize)]
pub(super) struct Assistant {
    pub(super) message: Said,
    #[serde(default, rename = "parent_tool_use_id")]
    pub(super) parent: Option<String>,
    /// The message stands for a failed request, of this kind.
    #[serde(default)]
    pub(super) error: Option<String>,
}

/// `user`: what the model was told.
#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub(super) message: Said,
    #[serde(default, rename = "parent_tool_use_id")]
    pub(super) parent: Option<String>,
    #[serde(default)]
    pub(super) uuid: Option<String>,
    /// It was sent by us and is acknowledged here.
    #[serde(default, rename = "isReplay")]
    pub(super) is_replay: bool,
    /// What a tool said, as the CLI itself knows it.
    #[serde(default)]
    pub(super) tool_use_result: Option<Value>,
}

/// `system`: what the CLI says about itself.
#[derive(Debug, Deserialize)]
pub(super) struct System {
    pub(super) subtype: String,
    #[serde(default)]
    pub(super) model: Option<String>,
    #[serde(default, rename = "permissionMode")]
    pub(super) permission_mode: Option<String>,
    #[serde(default)]
    pub(super) attempt: Option<u64>,
    #[serde(default)]
    pub(super) max_retries: Option<u64>,
    #[serde(default)]
    pub(super) error_status: Option<u64>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

/// `result`: the end of a turn.
#[derive(Debug, Deserialize)]
pub(super) struct TurnResult {
    pub(super) subtype: String,
    #[serde(default)]
    pub(super) is_error: bool,
    #[serde(default)]
    pub(super) api_error_status: Option<u64>,
    /// Requests to the model; none for a command that the CLI answers itself.
    #[serde(default)]
    pub(super) num_turns: u64,
    #[serde(default)]
    pub(super) result: Option<String>,
    #[serde(default)]
    pub(super) stop_reason: Option<String>,
    #[serde(default)]
    pub(super) errors: Vec<String>,
    #[serde(default)]
    pub(super) usage: Usage,
    /// Of the whole process so far.
    #[serde(default)]
    pub(super) total_cost_usd: f64,
    #[serde(default, rename = "modelUsage")]
    pub(super) model_usage: Value,
}

/// What the CLI asks.
#[derive(Debug, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub(super) enum Request {
    /// A tool is about to run; the hook says who decides.
    HookCallback {
        #[serde(default)]
        input: Hooked,
    },
    /// May this tool run?
    CanUseTool(Box<Asked>),
    /// A message to the tool server that we are.
    McpMessage { message: Value },
    /// Something that Roost does not offer.
    #[serde(other)]
    Other,
}

/// What a hook is told.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Hooked {
    pub(super) tool_name: String,
}

/// A tool that wants to run.
#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    pub(super) tool_name: String,
    pub(super) input: Value,
    pub(super) tool_use_id: String,
    #[serde(default)]
    pub(super) description: Option<String>,
}
