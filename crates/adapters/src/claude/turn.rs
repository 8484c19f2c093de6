//! The state of one task in the CLI, which may take several of its turns, and the requests that the CLI waits on.

use std::collections::{HashMap, HashSet};

use roost_model::ids::QuestionId;
use serde_json::Value;

use super::map::ClaudeMapper;
use super::messages::TurnResult;
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

/// The state of one task: the turn that its prompt began, and those that the CLI began by itself after that.
pub(super) struct ClaudeTurn {
    pub(super) task: Task,
    pub(super) mapper: ClaudeMapper,
    /// Ids of the user messages that the CLI has not acknowledged. A `result` that comes before they are ends a turn
    /// that the CLI began by itself.
    pub(super) unacknowledged: HashSet<String>,
    /// What the CLI printed itself. It is the answer if the turn ends without the model.
    pub(super) local_output: Vec<String>,
    pub(super) permissions: PendingDecisions<PendingPermission>,
    /// Open calls of `AskUserQuestion`.
    pub(super) questions: HashMap<QuestionId, PendingPermission>,
    pub(super) host_calls: PendingDecisions<HostRequest>,
    /// The session has interrupted the turn.
    pub(super) cancelled: bool,
    /// The latest `result`, until the CLI begins another turn of the same task.
    pub(super) result: Option<TurnResult>,
    /// The next prompt waits for the end of this task.
    pub(super) prompt_waiting: bool,
    /// People were told that the task waits for what runs in the background.
    pub(super) wait_reported: bool,
}

impl ClaudeTurn {
    /// A turn that begins with the user message of this id.
    pub(super) fn new(prompt: String, task: Task) -> Self {
        Self {
            task,
            mapper: ClaudeMapper::default(),
            unacknowledged: [prompt].into(),
            local_output: Vec::new(),
            permissions: PendingDecisions::default(),
            questions: HashMap::new(),
            host_calls: PendingDecisions::default(),
            cancelled: false,
            result: None,
            prompt_waiting: false,
            wait_reported: false,
        }
    }
}

impl AsRef<Task> for ClaudeTurn {
    fn as_ref(&self) -> &Task {
        &self.task
    }
}
