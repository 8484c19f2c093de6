//! One task of the agent: its prompt, and what the agent waits for.

use std::collections::{HashMap, HashSet};

use roost_model::ids::QuestionId;
use serde_json::Value;

use super::map::Mapper;
use crate::host::Task;
use crate::host::waiting::Waiting;

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
    pub(super) task: Task,
    pub(super) mapper: Mapper,
    /// The messages of ours that the agent has not taken up yet: a turn that ends before that was another one.
    pub(super) unheard: HashSet<String>,
    pub(super) permissions: Waiting<Permission>,
    pub(super) questions: HashMap<QuestionId, Permission>,
    pub(super) host_calls: Waiting<HostRequest>,
    pub(super) cancelled: bool,
}

impl Turn {
    /// A task that begins with this prompt.
    pub(super) fn new(prompt: String, task: Task) -> Self {
        Self {
            task,
            mapper: Mapper::default(),
            unheard: [prompt].into(),
            permissions: Waiting::default(),
            questions: HashMap::new(),
            host_calls: Waiting::default(),
            cancelled: false,
        }
    }
}

impl AsRef<Task> for Turn {
    fn as_ref(&self) -> &Task {
        &self.task
    }
}
