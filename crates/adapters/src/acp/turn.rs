//! The state of one turn of an ACP agent.

use std::collections::HashMap;

use agent_client_protocol_schema::v1 as acp;
use roost_model::ids::QuestionId;

use super::client_requests::PendingClientRequest;
use super::map::AcpMapper;
use super::presets::AgentProfile;
use super::questions::Form;
use crate::host::Task;
use crate::host::json_rpc::RpcId;
use crate::host::pending_decisions::PendingDecisions;

/// The request that begins a turn; the agent's answer to it ends the turn.
pub(super) const PROMPT: &str = "session/prompt";

/// A permission request that waits for a decision.
pub(super) struct PendingPermission {
    pub(super) id: RpcId,
    /// The answers that the agent offers; a decision must pick one of them.
    pub(super) options: Vec<acp::PermissionOption>,
}

/// One turn: the task that it works for, and the requests that the agent waits on.
pub(super) struct AcpTurn {
    pub(super) task: Task,
    pub(super) mapper: AcpMapper,
    pub(super) permissions: PendingDecisions<PendingPermission>,
    /// Requests about files and terminals that wait for a decision.
    pub(super) client_requests: PendingDecisions<PendingClientRequest>,
    pub(super) questions: HashMap<QuestionId, (RpcId, Form)>,
    pub(super) profile: AgentProfile,
    /// A tool call was denied; some agents then end the turn as cancelled.
    pub(super) refused: bool,
    /// The prompt looks like a command of the agent's own, which it may carry out without its model.
    pub(super) is_command: bool,
    /// The session has cancelled the turn.
    pub(super) cancelled: bool,
}

impl AcpTurn {
    /// A turn that begins now, of an agent with this profile.
    pub(super) fn new(task: Task, profile: AgentProfile) -> Self {
        Self {
            task,
            mapper: AcpMapper::new(profile),
            permissions: PendingDecisions::default(),
            client_requests: PendingDecisions::default(),
            questions: HashMap::new(),
            profile,
            refused: false,
            is_command: false,
            cancelled: false,
        }
    }

    /// Whether the turn was cancelled and is over while one of its tools still runs, by an agent that does not end it.
    pub(super) fn leaves_a_tool(&self) -> bool {
        self.task.is_over() && self.cancelled && !self.profile.ends_tools_on_cancel && self.mapper.tools.any_runs()
    }
}

impl AsRef<Task> for AcpTurn {
    fn as_ref(&self) -> &Task {
        &self.task
    }
}
