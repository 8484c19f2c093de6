//! Elements: what a screen shows of a session, in the order of its events.

use std::collections::BTreeMap;

use roost_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One element of a screen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Element {
    /// Derived from the event's `seq`, or the place in what a runtime keeps, so it never changes.
    pub id: String,
    /// When.
    pub timestamp: Timestamp,
    /// What it shows.
    #[serde(flatten)]
    pub content: ElementContent,
}

/// What an element shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "content", rename_all = "snake_case")]
pub enum ElementContent {
    /// What the user said.
    UserInput {
        /// The text.
        text: String,
    },
    /// What the agent said.
    AssistantText {
        /// The text.
        text: String,
        /// The model that said it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// A tool call, or a question to the user.
    ToolCall(ToolCallElement),
    /// What became of it.
    ToolResult(ToolResultElement),
    /// What it changes in a file.
    Diff(DiffElement),
    /// What the agent thought.
    Thinking {
        /// The text.
        text: String,
        /// It is shown when asked for.
        collapsed: bool,
    },
    /// The task ended before it was done.
    Interrupted {
        /// The call that it interrupted; empty where none ran.
        tool_call_id: String,
        /// Why.
        message: String,
    },
}

/// How far a tool call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    /// It runs, or waits for leave to.
    Running,
    /// It is done.
    Completed,
    /// It failed or was denied.
    Error,
    /// The task ended first.
    Interrupted,
}

/// A tool call as a screen shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallElement {
    /// The tool.
    pub tool: String,
    /// Our id of the call.
    pub tool_id: String,
    /// One line for people, such as `Bash(ls)`.
    pub display: String,
    /// Its input; what is no text is JSON.
    pub params: BTreeMap<String, String>,
    /// How far it is.
    pub status: CallStatus,
    /// How long it took, waiting included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// What became of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolResultElement {
    /// Which call.
    pub tool_call_id: String,
    /// The tool.
    pub tool_name: String,
    /// It failed or was denied.
    pub is_error: bool,
    /// Which way it failed, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// Its first line.
    pub summary: String,
    /// Its text.
    pub full_content: String,
    /// How many lines that has.
    pub line_count: usize,
    /// There is more than the summary.
    pub expandable: bool,
    /// There is more than the text.
    pub truncated: bool,
}

/// What a tool call changes in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiffElement {
    /// Which call.
    pub tool_call_id: String,
    /// The file.
    pub file_path: String,
    /// How much.
    pub summary: DiffSummary,
    /// What.
    pub hunks: Vec<DiffHunk>,
}

/// How much a diff changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiffSummary {
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
    /// Both for people, such as `+3 -1`.
    pub display: String,
}

/// Lines of a file that change together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiffHunk {
    /// `@@ -old +new @@`.
    pub header: String,
    /// The first old line.
    pub old_start: usize,
    /// How many old lines.
    pub old_count: usize,
    /// The first new line.
    pub new_start: usize,
    /// How many new lines.
    pub new_count: usize,
    /// The lines.
    pub lines: Vec<DiffLine>,
}

/// What happens to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LineChange {
    /// It stays.
    Context,
    /// It is new.
    Added,
    /// It goes.
    Removed,
}

/// A line of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiffLine {
    /// What happens to it.
    #[serde(rename = "type")]
    pub change: LineChange,
    /// Its number before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_line: Option<usize>,
    /// Its number after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_line: Option<usize>,
    /// The line without its end.
    pub content: String,
}
