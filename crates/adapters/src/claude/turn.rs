//! One task of the agent: its prompt, and what the agent waits for.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use roost_engine::adapter::Draft;
use roost_model::ids::{QuestionId, RequestId};
use serde_json::Value;
use tokio::sync::mpsc;

use super::map::Mapper;
use crate::waiting::Waiting;

/// A request for leave that waits for its answer.
#[derive(Debug)]
pub(super) struct Permission {
    /// The CLI's id for it.
    pub(super) id: String,
    /// What the tool is to run with.
    pub(super) input: Value,
}

/// A tool of the host's whose result the CLI waits for.
#[derive(Debug)]
pub(super) struct HostRequest {
    /// The CLI's id for the request.
    pub(super) id: String,
    /// The id of the message inside it.
    pub(super) message: Value,
}

/// One task.
pub(super) struct Turn {
    pub(super) request: RequestId,
    pub(super) started: Instant,
    pub(super) mapper: Mapper,
    pub(super) drafts: mpsc::Sender<Vec<Draft>>,
    /// The messages of ours that the agent has not taken up yet: a turn that ends before that was another one.
    pub(super) unheard: HashSet<String>,
    pub(super) permissions: Waiting<Permission>,
    pub(super) questions: HashMap<QuestionId, Permission>,
    pub(super) host_calls: Waiting<HostRequest>,
    pub(super) cancelled: bool,
    pub(super) ended: bool,
}

impl Turn {
    /// A task that begins with this prompt.
    pub(super) fn new(prompt: String, request: RequestId, drafts: mpsc::Sender<Vec<Draft>>) -> Self {
        Self {
            request,
            started: Instant::now(),
            mapper: Mapper::default(),
            drafts,
            unheard: [prompt].into(),
            permissions: Waiting::default(),
            questions: HashMap::new(),
            host_calls: Waiting::default(),
            cancelled: false,
            ended: false,
        }
    }
}
