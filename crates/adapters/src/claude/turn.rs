//! The state of one turn: the task that it works for, and the requests that the CLI waits on.

use std::collections::{HashMap, HashSet};

use roost_model::ids::QuestionId;
use serde_json::Value;

use super::map::ClaudeMapper;
use crate::host::Task;
use crate::host::pending_decisions::PendingDecisions;

/// A `can_use_tool` request that waits for a decision, or for the answer to a question.
#[derive(Debug)]
pub(super) struct PendingPermission {
    /// The CLI's id of the request.
    pub(super) id: String,
    /// The tool's input, which is sent back when the call is allowed.
    pub(super) input: Value,
}

/// A call of a host tool whose result the CLI waits for.
#[derive(Debug)]
pub(super) struct HostRequest {
    /// The CLI's id of the control request.
    pub(super) id: String,
    /// The JSON-RPC id of the MCP message inside the request.
    pub(super) message: Value,
}

/// The state of one turn.
pub(super) struct ClaudeTurn {
    pub(super) task: Task,
    pub(super) mapper: ClaudeMapper,
    /// Ids of the user messages that the CLI has not acknowledged. A `result` that comes before they are ends a turn
    /// that the CLI began by itself.
    pub(super) unacknowledged: HashSet<String>,
    pub(super) permissions: PendingDecisions<PendingPermission>,
    /// Open calls of `AskUserQuestion`.
    pub(super) questions: HashMap<QuestionId, PendingPermission>,
    pub(super) host_calls: PendingDecisions<HostRequest>,
    /// The session has interrupted the turn.
    pub(super) cancelled: bool,
}

impl ClaudeTurn {
    /// A turn that begins with the user message of this id.
    pub(super) fn new(prompt: String, task: Task) -> Self {
        Self {
            task,
            mapper: ClaudeMapper::default(),
            unacknowledged: [prompt].into(),
            permissions: PendingDecisions::default(),
            questions: HashMap::new(),
            host_calls: PendingDecisions::default(),
            cancelled: false,
        }
    }
}

impl AsRef<Task> for ClaudeTurn {
    fn as_ref(&self) -> &Task {
        &self.task
    }
}
