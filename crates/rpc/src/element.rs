//! Elements: a session as a list of things to draw, in the order of its events.

use std::collections::BTreeMap;

use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};

/// One thing to draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Element {
    /// Derived from the event's `seq` (or the position in the runtime's own record), so it never changes.
    pub id: String,
    /// When the event was recorded.
    pub timestamp: Timestamp,
    /// What to draw.
    #[serde(flatten)]
    pub content: ElementContent,
}

/// What an element shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", content = "content", rename_all = "snake_case")]
pub enum ElementContent {
    /// A prompt of the user.
    UserInput {
        /// The prompt's text, with images and files named.
        text: String,
    },
    /// An answer of the agent.
    AssistantText {
        /// The answer's text; code is fenced as in Markdown.
        text: String,
        /// The model that wrote it; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    /// A tool call, or a question to the user. Its status changes later.
    ToolCall(ToolCallElement),
    /// The result of a tool call or question.
    ToolResult(ToolResultElement),
    /// A change that a tool call makes to a file.
    Diff(DiffElement),
    /// The agent's reasoning.
    Thinking {
        /// The text, cut at 64 KiB.
        text: String,
        /// Whether to show it folded; always true.
        collapsed: bool,
    },
    /// The task was stopped or failed before its end.
    Interrupted {
        /// The tool call that was interrupted; empty if none was open.
        tool_call_id: String,
        /// The reason, for people.
        message: String,
    },
}

/// How far a tool call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    /// It runs, or waits for an approval.
    Running,
    /// It ended with success.
    Completed,
    /// It failed or was denied.
    Error,
    /// The task ended before it did.
    Interrupted,
}

/// A tool call to draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCallElement {
    /// The tool as the runtime names it.
    pub tool: String,
    /// Roost's id of the call.
    pub tool_id: String,
    /// One line that says what the call does, such as `Bash(ls)`.
    pub display: String,
    /// Its arguments as text; a value that is not a string is JSON.
    pub params: BTreeMap<String, String>,
    /// How far it is.
    pub status: CallStatus,
    /// Time from request to result in milliseconds, including the wait for approval; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// The result of a tool call to draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolResultElement {
    /// The `tool_id` of the call.
    pub tool_call_id: String,
    /// The tool as the runtime names it.
    pub tool_name: String,
    /// True if the tool failed or the call was denied.
    pub is_error: bool,
    /// `DENIED` if the call was denied; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// The result's first line, cut to 80 characters.
    pub summary: String,
    /// The result as text, cut at 64 KiB.
    pub full_content: String,
    /// Number of lines in `full_content`.
    pub line_count: usize,
    /// Whether `full_content` has more than `summary`.
    pub expandable: bool,
    /// Whether the result has more than `full_content`.
    pub truncated: bool,
}

/// A change that a tool call makes to a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffElement {
    /// The `tool_id` of the call.
    pub tool_call_id: String,
    /// Path of the file, as the agent gave it.
    pub file_path: String,
    /// The number of changed lines.
    pub summary: DiffSummary,
    /// The changes, in the file's order.
    pub hunks: Vec<DiffHunk>,
}

/// The number of lines that a diff changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffSummary {
    /// Number of lines added.
    pub added: usize,
    /// Number of lines removed.
    pub removed: usize,
    /// Both numbers as text, such as `+3 -1`.
    pub display: String,
}

/// A group of changed lines with up to 3 unchanged lines around them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffHunk {
    /// The header as in a unified diff: `@@ -1,2 +1,3 @@`.
    pub header: String,
    /// Number of the first line before the change, from 1; if there are none, of the line before.
    pub old_start: usize,
    /// Number of lines before the change.
    pub old_count: usize,
    /// Number of the first line after the change, from 1; if there are none, of the line before.
    pub new_start: usize,
    /// Number of lines after the change.
    pub new_count: usize,
    /// The lines in order.
    pub lines: Vec<DiffLine>,
}

/// What a change does to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LineChange {
    /// Unchanged, shown as context.
    Context,
    /// Only in the file after the change.
    Added,
    /// Only in the file before the change.
    Removed,
}

/// One line of a diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiffLine {
    /// What the change does to it.
    #[serde(rename = "type")]
    pub change: LineChange,
    /// Its number before the change, from 1; absent for an added line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_line: Option<usize>,
    /// Its number after the change, from 1; absent for a removed line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_line: Option<usize>,
    /// The line without its line break.
    pub content: String,
}
