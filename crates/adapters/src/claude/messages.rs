//! The messages of Claude Code's stream-json and control protocol, with the members that Roost uses.

use serde::Deserialize;
use serde_json::Value;

/// A piece of a block that the model is writing.
#[derive(Debug)]
pub(super) struct Piece {
    /// The block's index in its message.
    pub(super) index: u64,
    pub(super) kind: PieceKind,
    pub(super) text: String,
    /// The tool call that started the sub-agent which writes it; `None` for the main agent.
    pub(super) parent: Option<String>,
}

/// What a piece is a part of: text, thinking, or the input of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    Text,
    Thinking,
    Input,
}

/// An event of the model's stream that is not a piece of a block.
#[derive(Debug)]
pub(super) struct StreamUpdate {
    pub(super) event: StreamEvent,
    pub(super) parent: Option<String>,
}

/// The events of the model's stream that Roost uses.
#[derive(Debug)]
pub(super) enum StreamEvent {
    MessageStart { message: MessageStart },
    ContentBlockStart { index: u64, content_block: ContentBlock },
    MessageDelta { usage: Usage },
    Other,
}

/// The head of a model message, at the start of its stream.
#[derive(Debug, Deserialize)]
pub(super) struct MessageStart {
    #[serde(default)]
    pub(super) usage: Usage,
}

/// Token counts of the provider. `input_tokens` does not include the cached ones.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub(super) input_tokens: u64,
    pub(super) cache_creation_input_tokens: u64,
    pub(super) cache_read_input_tokens: u64,
    pub(super) output_tokens: u64,
}

impl Usage {
    /// All input tokens, with those read from and written to the cache.
    pub(super) fn input(&self) -> u64 {
        self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens
    }
}

/// One block of a message's content.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ContentBlock {
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

/// A message's content: blocks, or plain text as in the CLI's own remarks.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Blocks(Vec<ContentBlock>),
    Text(String),
}

impl Content {
    /// The blocks; empty for plain text.
    pub(super) fn blocks(self) -> Vec<ContentBlock> {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Text(_) => Vec::new(),
        }
    }
}

/// The body of an `assistant` or `user` message.
#[derive(Debug, Deserialize)]
pub(super) struct MessageBody {
    pub(super) content: Content,
}

/// `assistant`: finished blocks of the model's answer.
#[derive(Debug, Deserialize)]
pub(super) struct Assistant {
    pub(super) message: MessageBody,
    #[serde(default, rename = "parent_tool_use_id")]
    pub(super) parent: Option<String>,
    /// The kind of error, if the message stands for a failed request to the model.
    #[serde(default)]
    pub(super) error: Option<String>,
}

/// `user`: a message to the model, such as a prompt or the result of a tool.
#[derive(Debug, Deserialize)]
pub(super) struct User {
    pub(super) message: MessageBody,
    #[serde(default, rename = "parent_tool_use_id")]
    pub(super) parent: Option<String>,
    #[serde(default)]
    pub(super) uuid: Option<String>,
    /// The CLI repeats a message that Roost sent, which acknowledges it.
    #[serde(default, rename = "isReplay")]
    pub(super) is_replay: bool,
    /// The tool's result as structured data, besides the text that the model is shown.
    #[serde(default)]
    pub(super) tool_use_result: Option<Value>,
}

/// What the CLI wraps around what a slash command printed that it carried out itself.
const LOCAL_OUTPUT: [(&str, &str); 2] =
    [("<local-command-stdout>", "</local-command-stdout>"), ("<local-command-stderr>", "</local-command-stderr>")];

impl User {
    /// What a slash command printed, or why the CLI refused it. Newer versions send an `assistant` message instead.
    pub(super) fn local_output(&self) -> Option<&str> {
        let Content::Text(text) = &self.message.content else { return None };
        let inner = |(begin, end): &(&str, &str)| text.trim().strip_prefix(begin)?.strip_suffix(end);
        LOCAL_OUTPUT.iter().find_map(inner).map(str::trim).filter(|output| !output.is_empty())
    }

    /// The model's ids of the tool calls whose results it holds.
    pub(super) fn results(&self) -> impl Iterator<Item = &str> {
        let blocks = match &self.message.content {
            Content::Blocks(blocks) => blocks.as_slice(),
            Content::Text(_) => &[],
        };
        blocks.iter().filter_map(|block| match block {
            ContentBlock::ToolResult { tool_use_id, .. } => Some(tool_use_id.as_str()),
            _ => None,
        })
    }
}

/// `system`: a message about the CLI itself. Which members are set depends on `subtype`.
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
    /// `session_state_changed`: `idle`, `running` or `requires_action`.
    #[serde(default)]
    pub(super) state: Option<String>,
    /// `background_tasks_changed`: every task that runs in the background.
    #[serde(default)]
    pub(super) tasks: Vec<TaskInfo>,
    /// `task_updated`: what has changed of the task.
    #[serde(default)]
    pub(super) patch: Option<Value>,
    /// `task_notification`: how the task ended, such as `completed`, `failed` or `stopped`.
    #[serde(default)]
    pub(super) status: Option<String>,
    /// `task_notification`: what an agent said last, or how a command ended.
    #[serde(default)]
    pub(super) summary: Option<String>,
    #[serde(flatten)]
    pub(super) task: TaskInfo,
}

/// What a `system` message says about a task of the CLI's own: a command or an agent, in the background or not.
#[derive(Debug, Deserialize)]
pub(super) struct TaskInfo {
    #[serde(default)]
    pub(super) task_id: Option<String>,
    /// The model's id of the call that started the task.
    #[serde(default)]
    pub(super) tool_use_id: Option<String>,
    #[serde(default)]
    pub(super) description: Option<String>,
    /// `None` in versions that do not tell.
    #[serde(default)]
    pub(super) is_backgrounded: Option<bool>,
}

/// `result`: the end of a turn.
#[derive(Debug, Deserialize)]
pub(super) struct TurnResult {
    pub(super) subtype: String,
    #[serde(default)]
    pub(super) is_error: bool,
    #[serde(default)]
    pub(super) api_error_status: Option<u64>,
    /// The number of requests to the model; 0 for a command that the CLI answers itself.
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
    /// The cost of the process so far, not of this turn.
    #[serde(default)]
    pub(super) total_cost_usd: f64,
    #[serde(default, rename = "modelUsage")]
    pub(super) model_usage: Value,
    /// The usage by model since the `result` before, with `costUSD`; only newer versions send it.
    #[serde(default)]
    pub(super) model_usage_since_last_result: Option<Value>,
}

/// A `control_request` of the CLI's.
#[derive(Debug, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub(super) enum ControlRequest {
    /// The `PreToolUse` hook: a tool is about to run, and the answer says who decides about it.
    HookCallback {
        #[serde(default)]
        input: HookInput,
    },
    /// The CLI asks whether a tool may run.
    CanUseTool(Box<CanUseTool>),
    /// An MCP message to the host's tool server.
    McpMessage { message: Value },
    /// A request that Roost does not support; it is refused.
    #[serde(other)]
    Other,
}

/// The input of the hook.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct HookInput {
    pub(super) tool_name: String,
}

/// `can_use_tool`: a tool call that waits for a decision.
#[derive(Debug, Deserialize)]
pub(super) struct CanUseTool {
    pub(super) tool_name: String,
    pub(super) input: Value,
    pub(super) tool_use_id: String,
    #[serde(default)]
    pub(super) description: Option<String>,
}
