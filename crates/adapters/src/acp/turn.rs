//! One turn of the agent.

use std::collections::HashMap;
use std::time::Instant;

use agent_client_protocol_schema::v1 as acp;
use roost_engine::adapter::Draft;
use roost_model::ids::{QuestionId, RequestId};
use tokio::sync::mpsc;

use super::map::Mapper;
use super::presets::Observed;
use super::questions::Form;
use super::wire::RpcId;
use crate::waiting::Waiting;

/// A request for permission that waits.
pub(super) struct Permission {
    pub(super) id: RpcId,
    pub(super) options: Vec<acp::PermissionOption>,
}

/// One turn: what the agent works on, and what it waits for.
pub(super) struct Turn {
    pub(super) prompt: u64,
    pub(super) request: RequestId,
    pub(super) started: Instant,
    pub(super) mapper: Mapper,
    pub(super) drafts: mpsc::Sender<Vec<Draft>>,
    pub(super) permissions: Waiting<Permission>,
    pub(super) questions: HashMap<QuestionId, (RpcId, Form)>,
    pub(super) observed: Observed,
    pub(super) refused: bool,
    /// The prompt is a command of the agent's own, which it may follow without its model.
    pub(super) is_command: bool,
    pub(super) cancelled: bool,
    pub(super) ended: bool,
}

impl Turn {
    /// A turn that begins with this prompt.
    pub(super) fn new(
        prompt: u64,
        request: RequestId,
        started: Instant,
        drafts: mpsc::Sender<Vec<Draft>>,
        observed: Observed,
    ) -> Self {
        Self {
            prompt,
            request,
            started,
            mapper: Mapper::of(observed),
            drafts,
            permissions: Waiting::default(),
            questions: HashMap::new(),
            observed,
            refused: false,
            is_command: false,
            cancelled: false,
            ended: false,
        }
    }

    /// It was cancelled and is over, and a tool of it still runs.
    pub(super) fn leaves_a_tool(&self) -> bool {
        self.ended && self.cancelled && !self.observed.ends_tools_on_cancel && self.mapper.tools.any_runs()
    }
}
