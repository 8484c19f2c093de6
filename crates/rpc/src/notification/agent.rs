//! What the agent says and does.

use roost_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::session_event;
use crate::conversation::Speaker;

words! {
    /// Where a line comes from.
    LogStream {
        /// The agent's output.
        Stdout,
        /// Beside it.
        Stderr,
    }
}

session_event! {
    /// A line of the agent's output, as Claude would write it.
    ClaudeLog {
        /// The line.
        line: String,
        /// Where it comes from.
        stream: LogStream,
        ;
        /// What it says.
        parsed: ParsedLine,
    }
}

params! {
    /// What a line says.
    ParsedLine {
        /// `user`, `assistant`, `system` or `result`.
        r#type: String,
        /// Its blocks.
        content: Vec<LineBlock>,
        ;
        /// The session.
        session_id: String,
        /// Why the turn ends.
        stop_reason: String,
        /// The model that said it.
        model: String,
        /// It was thought and not said.
        is_thinking: bool,
        /// It sums up a context that was too long.
        is_context_compaction: bool,
        /// Tokens written.
        output_tokens: u64,
        /// What it cost.
        cost_usd: f64,
    }
}

params! {
    /// One block of a line.
    LineBlock {
        /// `text`, `tool_use` or `tool_result`.
        r#type: String,
        ;
        /// The text.
        text: String,
        /// The tool.
        tool_name: String,
        /// Which call.
        tool_id: String,
        /// The tool's input as JSON text.
        tool_input: String,
    }
}

session_event! {
    /// Something was said or done.
    ClaudeMessage {
        /// Who speaks.
        r#type: Speaker,
        /// The same.
        role: Speaker,
        /// Its blocks; none where it only ends the turn.
        content: Vec<MessageBlock>,
        /// It sums up a context that was too long.
        is_context_compaction: bool,
        /// The same as in the history; unique.
        uuid: String,
        ;
        /// The model that said it.
        model: String,
        /// Why the turn ends with it, where it does.
        stop_reason: String,
    }
}

/// One block of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum MessageBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// The agent calls a tool, or asks a question.
    ToolUse {
        /// The tool.
        tool_name: String,
        /// Which call or question.
        tool_id: String,
        /// Its input.
        tool_input: Map<String, Value>,
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

words! {
    /// What the agent does.
    AgentState {
        /// It works.
        Running,
        /// It waits for an answer.
        Waiting,
        /// It is done.
        Idle,
        /// It was stopped.
        Stopped,
        /// It failed.
        Error,
    }
}

session_event! {
    /// What the agent does now.
    ClaudeStatus {
        /// It.
        state: AgentState,
        ;
        /// The prompt's beginning, where it begins.
        prompt: String,
        /// Since when.
        started_at: Timestamp,
        /// Why it failed.
        error: String,
    }
}

session_event! {
    /// The session's model.
    ClaudeSessionInfo {
        ;
        /// It.
        model: String,
    }
}

words! {
    /// What a terminal would show.
    TerminalState {
        /// It works.
        Thinking,
        /// A tool call waits for an answer.
        Permission,
        /// A question waits for an answer.
        Question,
        /// It is done.
        Idle,
        /// It failed.
        Error,
    }
}

session_event! {
    /// What a terminal would show.
    PtyState {
        /// It.
        state: TerminalState,
        /// Something can be said.
        waiting_for_input: bool,
        ;
        /// What is waited for.
        prompt_type: TerminalState,
    }
}

session_event! {
    /// All of a turn has been sent.
    StreamReadComplete {
        /// At least one.
        messages_emitted: u64,
        /// The `seq` of the turn's last event.
        file_offset: u64,
        /// The same.
        file_size: u64,
        ;
    }
}
