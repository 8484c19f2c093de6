//! Events about what the agent says and does.

use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::session_event;
use crate::conversation::Speaker;

words! {
    /// The stream that a line belongs to.
    LogStream {
        /// The agent's output.
        Stdout,
        /// Diagnostics of the runtime or of Roost.
        Stderr,
    }
}

session_event! {
    /// A line of output in Claude's `stream-json`, whichever agent it comes from; for clients that watch the session.
    ClaudeLog {
        /// The line: JSON, or plain text for diagnostics.
        line: String,
        /// The stream that it belongs to.
        stream: LogStream,
        ;
        /// The line's content in a simpler shape; absent for diagnostics.
        parsed: ParsedLine,
    }
}

params! {
    /// The content of a `claude_log` line.
    ParsedLine {
        /// Kind of line: `user`, `assistant`, `system` or `result` (the end of a task).
        r#type: String,
        /// The blocks in order; empty for `system` and `result`.
        content: Vec<LineBlock>,
        ;
        /// Id of the session; absent for usage, because clients take it for a new session.
        session_id: String,
        /// Why the turn ends; `tool_use` for a line with tool calls. Absent otherwise.
        stop_reason: String,
        /// The model that wrote it; absent if unknown.
        model: String,
        /// Whether it is thinking; absent for `system` and `result`.
        is_thinking: bool,
        /// Whether it summarizes a context that became too long; always false where present.
        is_context_compaction: bool,
        /// Output tokens; only for usage.
        output_tokens: u64,
        /// Cost in US dollars; only for usage, and only if the runtime reports it.
        cost_usd: f64,
    }
}

params! {
    /// One block of a `claude_log` line. Fields that do not belong to its type are absent.
    LineBlock {
        /// `text`, `thinking`, `tool_use` or `tool_result`.
        r#type: String,
        ;
        /// The text, or the text of a result.
        text: String,
        /// The tool as the runtime names it; only for `tool_use`.
        tool_name: String,
        /// Roost's id of the tool call.
        tool_id: String,
        /// The tool's arguments as JSON text; only for `tool_use`.
        tool_input: String,
    }
}

session_event! {
    /// A message of the conversation, as in `session/messages`; for clients that watch the session.
    ClaudeMessage {
        /// Who it comes from.
        r#type: Speaker,
        /// The same as `type`.
        role: Speaker,
        /// The content in order; empty if it only ends the turn.
        content: Vec<MessageBlock>,
        /// Whether it summarizes a context that became too long.
        is_context_compaction: bool,
        /// Unique id, the same as in `session/messages`.
        uuid: String,
        ;
        /// The model that wrote it; absent if unknown.
        model: String,
        /// Why the agent stopped writing: `tool_use` after a call, otherwise the turn ends with this message. Absent if
        /// the turn goes on.
        stop_reason: String,
    }
}

/// One block of a message's content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessageBlock {
    /// Text. Code is fenced with its language; images and artifacts are named in brackets.
    Text {
        /// The text, cut if the message would exceed 128 KiB.
        text: String,
    },
    /// What the agent thought before it went on.
    Thinking {
        /// The thinking as text, cut if the message would exceed 128 KiB.
        text: String,
    },
    /// A tool call of the agent, or a question to the user.
    ToolUse {
        /// The tool as the runtime names it; `AskUserQuestion` for a question.
        tool_name: String,
        /// Roost's id of the tool call or question.
        tool_id: String,
        /// The tool's arguments.
        tool_input: Map<String, Value>,
    },
    /// The result of a tool call, or how a question ended.
    ToolResult {
        /// The `tool_id` of the call or question.
        tool_use_id: String,
        /// The result as text.
        content: String,
        /// True if the tool failed, the call was denied or the question was not answered.
        is_error: bool,
    },
}

words! {
    /// What the agent is doing.
    AgentState {
        /// It works on a prompt.
        Running,
        /// It waits for an approval or an answer.
        Waiting,
        /// Its last task is complete.
        Idle,
        /// Its last task was stopped.
        Stopped,
        /// Its last task failed.
        Error,
    }
}

session_event! {
    /// The agent's state changed.
    ClaudeStatus {
        /// The new state.
        state: AgentState,
        ;
        /// The prompt's first 500 characters; only when a task starts.
        prompt: String,
        /// When the task started; only when a task starts.
        started_at: Timestamp,
        /// Id of the client that sent the prompt; only when a task starts, and absent if no client did.
        prompted_by: String,
        /// Why the task failed; only for the state `error`.
        error: String,
    }
}

session_event! {
    /// The model of the session, when it becomes known or changes.
    ClaudeSessionInfo {
        ;
        /// The model; absent if the runtime does not say.
        model: String,
    }
}

words! {
    /// What a terminal with the agent would show.
    TerminalState {
        /// The agent is working.
        Thinking,
        /// An approval waits for an answer.
        Permission,
        /// A question waits for an answer.
        Question,
        /// The agent waits for a prompt.
        Idle,
        /// The last task failed.
        Error,
    }
}

session_event! {
    /// What a terminal with the agent would show now.
    PtyState {
        /// The new state.
        state: TerminalState,
        /// Whether a client can send something: an answer or a prompt.
        waiting_for_input: bool,
        ;
        /// Kind of the call that needs approval, as `type` of `pty_permission`; absent if the state is another, and
        /// after an answer while another approval waits.
        prompt_type: String,
    }
}

session_event! {
    /// What the agent is busy with, for as long as it works. Not stored, and not sent while something waits.
    PtySpinner {
        /// Symbol and message in one.
        text: String,
        /// A symbol that clients know as a spinner.
        symbol: String,
        /// What it does, such as `Working…` or `Bash…`.
        message: String,
        ;
    }
}

words! {
    /// What a piece of a message belongs to.
    DeltaKind {
        /// The answer that the agent writes.
        Text,
        /// The thinking before it.
        Thinking,
    }
}

session_event! {
    /// A piece of a message while the agent writes it; for clients that watch the session and asked for this event by
    /// name. Not stored: the `claude_message` with the same `uuid` replaces all of its pieces.
    AgentMessageDelta {
        /// The `uuid` of the message that the piece belongs to.
        uuid: String,
        /// What it belongs to.
        r#type: DeltaKind,
        /// The text to append. Pieces of 50 milliseconds come as one.
        delta: String,
        ;
    }
}

session_event! {
    /// Everything of a turn has been sent. Its names come from clients that read a file.
    StreamReadComplete {
        /// Always 1, whatever the number of messages.
        messages_emitted: u64,
        /// `seq` of the turn's last event.
        file_offset: u64,
        /// The same as `file_offset`.
        file_size: u64,
        ;
    }
}
