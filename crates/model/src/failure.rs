//! Why a task failed, in a form that programs can act on.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json::present;
use crate::runtime::RuntimeName;

/// Why a task failed. The first seven are seed 001's; the rest are what only a host can know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FailureCode {
    /// The prompt alone is bigger than the runtime's limit, so leaving out history cannot help.
    ContextTooLarge,
    /// The runtime reported an error of its own.
    RuntimeError,
    /// A tool failed, and the runtime ended the task because of it.
    ToolError,
    /// The runtime is not logged in; log in with the runtime's own command.
    AuthError,
    /// The task was cut off by a stop that left no record.
    Cancelled,
    /// The runtime sent something that cannot be turned into an event.
    InvalidEvent,
    /// A fault in Roost itself.
    Internal,
    /// The runtime's process could not be started.
    SpawnFailed,
    /// The runtime's process ended in the middle of the task; see `stderr_tail`.
    RuntimeExited,
    /// The daemon ended in the middle of the task.
    HostRestarted,
    /// The disk is full, so events could no longer be stored.
    StorageFull,
    /// The runtime ran a tool without the permission that it had to ask for.
    PolicyViolation,
    /// The session has used up its budget of tool calls, tokens or cost; raise it in `[budgets]` of roost.toml.
    BudgetExceeded,
}

/// Why a task failed, for programs to act on and for people to read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskError {
    /// The kind of failure, for programs.
    pub code: FailureCode,
    /// What happened, to what, and what to do about it; for people.
    pub message: String,
    /// Whether the same prompt may succeed if it is sent again.
    pub retryable: bool,
    /// The runtime that failed; absent if none was involved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeName>,
    /// The last lines that the runtime wrote to stderr; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// The runtime's own error object, unchanged; absent if it sent none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub raw: Option<Value>,
}

impl TaskError {
    /// A failure of this kind. It is retryable if its kind is [`FailureCode::RuntimeExited`],
    /// [`FailureCode::HostRestarted`], [`FailureCode::StorageFull`] or [`FailureCode::Cancelled`].
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        let retryable = matches!(
            code,
            FailureCode::RuntimeExited | FailureCode::HostRestarted | FailureCode::StorageFull | FailureCode::Cancelled
        );
        Self { code, message: message.into(), retryable, runtime: None, stderr_tail: None, raw: None }
    }
}
