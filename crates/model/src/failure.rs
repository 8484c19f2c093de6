//! Why a task failed, in a form that programs can act on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json::present;
use crate::runtime::RuntimeName;

/// The kinds of failure; the first seven are seed 001's design, the rest say what a host can know on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FailureCode {
    /// The context does not fit even when cut.
    ContextTooLarge,
    /// The runtime answered with an error.
    RuntimeError,
    /// A tool failed in a way that ended the task.
    ToolError,
    /// The runtime is not logged in.
    AuthError,
    /// The task was cut off by a stop that nobody recorded.
    Cancelled,
    /// The runtime said something that cannot be recorded.
    InvalidEvent,
    /// Roost itself failed.
    Internal,
    /// The runtime could not be started.
    SpawnFailed,
    /// The runtime's process ended in the middle of the task.
    RuntimeExited,
    /// The daemon ended in the middle of the task.
    HostRestarted,
    /// The disk is full; events could not be kept.
    StorageFull,
    /// The runtime ran a tool that it had no leave to run.
    PolicyViolation,
}

/// A failure with everything that helps to act on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskError {
    /// Which kind.
    pub code: FailureCode,
    /// What happened, to what, and what to do.
    pub message: String,
    /// The same prompt may succeed when sent again.
    pub retryable: bool,
    /// The runtime it happened to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeName>,
    /// The last lines of the runtime's stderr.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// The runtime's own error.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub raw: Option<Value>,
}

impl TaskError {
    /// A failure of this kind; `retryable` follows from the kind.
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        let retryable = matches!(
            code,
            FailureCode::RuntimeExited | FailureCode::HostRestarted | FailureCode::StorageFull | FailureCode::Cancelled
        );
        Self { code, message: message.into(), retryable, runtime: None, stderr_tail: None, raw: None }
    }
}
