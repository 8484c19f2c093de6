//! The lines that `codex exec --json` prints.

use serde::Deserialize;
use serde_json::Value;

use super::totals::Totals;
use crate::codex::wire::ItemStatus;

/// One line.
#[derive(Debug)]
pub(super) enum Incoming {
    /// One that we know.
    Event(Box<Event>),
    /// JSON that nobody has heard of.
    Unknown(Value),
    /// Something else.
    Noise,
}

/// Something happened.
#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Event {
    #[serde(rename = "thread.started")]
    ThreadStarted { thread_id: String },
    #[serde(rename = "turn.started")]
    TurnStarted,
    #[serde(rename = "item.started", alias = "item.updated")]
    ItemChanged { item: Item },
    #[serde(rename = "item.completed")]
    ItemCompleted { item: Item },
    #[serde(rename = "turn.completed")]
    TurnCompleted {
        #[serde(default)]
        usage: Option<Totals>,
    },
    #[serde(rename = "turn.failed")]
    TurnFailed { error: Failure },
    /// Something went wrong, which Codex may overcome.
    #[serde(rename = "error")]
    Error(Failure),
}

/// Why something failed.
#[derive(Debug, Deserialize)]
pub(super) struct Failure {
    #[serde(default)]
    pub(super) message: String,
}

/// A step of a turn.
#[derive(Debug, Deserialize)]
pub(super) struct Item {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) step: Step,
}

/// What a step is.
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
        status: Status,
    },
    FileChange {
        changes: Value,
        status: Status,
    },
    McpToolCall {
        server: String,
        tool: String,
        status: Status,
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

/// How far a step is.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    InProgress,
    Completed,
    Failed,
    Declined,
    #[serde(other)]
    Unknown,
}

impl From<Status> for ItemStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::InProgress => Self::InProgress,
            Status::Completed => Self::Completed,
            Status::Failed => Self::Failed,
            Status::Declined => Self::Declined,
            Status::Unknown => Self::Unknown,
        }
    }
}

/// An entry of the agent's list.
#[derive(Debug, Deserialize)]
pub(super) struct Todo {
    pub(super) text: String,
    #[serde(default)]
    pub(super) completed: bool,
}

/// Reads a line.
pub(super) fn parse(line: &str) -> Incoming {
    let Ok(value @ Value::Object(_)) = serde_json::from_str::<Value>(line) else { return Incoming::Noise };
    match Event::deserialize(&value) {
        Ok(event) => Incoming::Event(Box::new(event)),
        Err(_) => Incoming::Unknown(value),
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
                Incoming::Event(_) => "event",
                Incoming::Unknown(_) => "unknown",
                Incoming::Noise => "noise",
            };
            assert_eq!(kind, expected, "{line}");
        }
    }
}
