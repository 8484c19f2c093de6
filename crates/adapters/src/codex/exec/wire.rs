//! The lines that `codex exec --json` prints.

use serde::Deserialize;
use serde_json::Value;

use super::totals::Totals;
use crate::codex::wire::ItemStatus;

/// One line of stdout.
#[derive(Debug)]
pub(super) enum ExecLine {
    /// An event that we know.
    Event(Box<ExecEvent>),
    /// A JSON object that is no event we know.
    Unknown(Value),
    /// Anything else, such as a progress message.
    Noise,
}

/// An event of the thread or its turn.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(super) enum ExecEvent {
    #[serde(rename = "thread.started")]
    ThreadStarted { thread_id: String },
    #[serde(rename = "turn.started")]
    TurnStarted,
    #[serde(rename = "item.started", alias = "item.updated")]
    ItemChanged { item: ExecItem },
    #[serde(rename = "item.completed")]
    ItemCompleted { item: ExecItem },
    #[serde(rename = "turn.completed")]
    TurnCompleted {
        #[serde(default)]
        usage: Option<Totals>,
    },
    #[serde(rename = "turn.failed")]
    TurnFailed { error: ExecError },
    /// A failure that Codex may recover from.
    #[serde(rename = "error")]
    Error(ExecError),
}

/// The message of a failure.
#[derive(Debug, Deserialize)]
pub(super) struct ExecError {
    #[serde(default)]
    pub(super) message: String,
}

/// A step of a turn. Ids are numbered anew in every process.
#[derive(Debug, Deserialize)]
pub(super) struct ExecItem {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) step: Step,
}

/// The kind of a step.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Step {
    #[serde(alias = "assistant_message")]
    AgentMessage {
        text: String,
    },
    Reasoning {
        text: String,
    },
    CommandExecution {
        command: String,
        #[serde(default)]
        aggregated_output: Option<String>,
        #[serde(default)]
        exit_code: Option<i64>,
        status: StepStatus,
    },
    FileChange {
        changes: Value,
        status: StepStatus,
    },
    McpToolCall {
        server: String,
        tool: String,
        status: StepStatus,
        #[serde(default)]
        arguments: Value,
        #[serde(default)]
        result: Option<Value>,
        #[serde(default)]
        error: Option<Value>,
    },
    WebSearch {
        #[serde(default)]
        query: Option<String>,
    },
    TodoList {
        items: Vec<Todo>,
    },
    /// A warning, in spite of its name.
    Error {
        message: String,
    },
}

/// The progress of a step.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StepStatus {
    InProgress,
    Completed,
    Failed,
    Declined,
    #[serde(other)]
    Unknown,
}

impl From<StepStatus> for ItemStatus {
    fn from(status: StepStatus) -> Self {
        match status {
            StepStatus::InProgress => Self::InProgress,
            StepStatus::Completed => Self::Completed,
            StepStatus::Failed => Self::Failed,
            StepStatus::Declined => Self::Declined,
            StepStatus::Unknown => Self::Unknown,
        }
    }
}

/// A step of the agent's plan.
#[derive(Debug, Deserialize)]
pub(super) struct Todo {
    pub(super) text: String,
    #[serde(default)]
    pub(super) completed: bool,
}

/// Parses a line of stdout; never fails.
pub(super) fn parse(line: &str) -> ExecLine {
    let Ok(value @ Value::Object(_)) = serde_json::from_str::<Value>(line) else { return ExecLine::Noise };
    match ExecEvent::deserialize(&value) {
        Ok(event) => ExecLine::Event(Box::new(event)),
        Err(_) => ExecLine::Unknown(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_known_kept_or_noise() {
        let cases = [
            (r#"{"type":"turn.started"}"#, "event"),
            (r#"{"type":"turn.completed"}"#, "event"),
            (r#"{"type":"error","message":"no"}"#, "event"),
            (r#"{"type":"item.updated","item":{"id":"i","type":"todo_list","items":[]}}"#, "event"),
            (r#"{"type":"item.completed","item":{"id":"i","type":"web_search","query":"q"}}"#, "event"),
            (r#"{"type":"item.completed","item":{"id":"i","type":"brand_new"}}"#, "unknown"),
            (r#"{"type":"brand.new"}"#, "unknown"),
            (r#"{"id":"0","msg":{"type":"task_started"}}"#, "unknown"),
            ("[]", "noise"),
            ("{\"type\":", "noise"),
            ("Reading prompt from stdin...", "noise"),
            ("", "noise"),
        ];
        for (line, expected) in cases {
            let kind = match parse(line) {
                ExecLine::Event(_) => "event",
                ExecLine::Unknown(_) => "unknown",
                ExecLine::Noise => "noise",
            };
            assert_eq!(kind, expected, "{line}");
        }
    }
}
