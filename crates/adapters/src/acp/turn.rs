//! One turn of the agent.

use std::collections::HashMap;

use agent_client_protocol_schema::v1 as acp;
use roost_model::ids::QuestionId;

use super::map::Mapper;
use super::presets::Observed;
use super::questions::Form;
use crate::host::Task;
use crate::host::json_rpc::RpcId;
use crate::host::waiting::Waiting;

/// The request that begins a turn; its answer ends it.
pub(super) const PROMPT: &str = "session/prompt";

/// A request for permission that waits.
pub(super) struct Permission {
    pub(super) id: RpcId,
    pub(super) options: Vec<acp::PermissionOption>,
}

/// One turn: what the agent works on, and what it waits for.
pub(super) struct Turn {
    pub(super) task: Task,
    pub(super) mapper: Mapper,
    pub(super) permissions: Waiting<Permission>,
    pub(super) questions: HashMap<QuestionId, (RpcId, Form)>,
    pub(super) observed: Observed,
    pub(super) refused: bool,
    /// The prompt is a command of the agent's own, which it may follow without its model.
    pub(super) is_command: bool,
    pub(super) cancelled: bool,
}

impl Turn {
    /// The turn of a task, by an agent that was seen to do this.
    pub(super) fn new(task: Task, observed: Observed) -> Self {
        Self {
            task,
            mapper: Mapper::of(observed),
            permissions: Waiting::default(),
            questions: HashMap::new(),
            observed,
            refused: false,
            is_command: false,
            cancelled: false,
        }
    }

    /// It was cancelled and is over, and a tool of it still runs.
    pub(super) fn leaves_a_tool(&self) -> bool {
        self.task.is_over() && self.cancelled && !self.observed.ends_tools_on_cancel && self.mapper.tools.any_runs()
    }
}

impl AsRef<Task> for Turn {
    fn as_ref(&self) -> &Task {
        &self.task
    }
}
