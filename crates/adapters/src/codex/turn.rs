//! One turn of Codex.

use std::collections::HashMap;

use roost_engine::adapter::{Draft, Fact, TaskEnd};
use roost_model::ids::QuestionId;
use tokio::sync::mpsc;

use super::asks::Wait;
use super::map::Mapper;
use super::questions::Form;
use crate::host::json_rpc::RpcId;
use crate::host::waiting::Waiting;
use crate::host::{Reply, Task};

/// The request that begins a turn.
pub(super) const METHOD: &str = "turn/start";

/// An approval that Codex waits for.
pub(super) struct Approval {
    pub(super) id: RpcId,
    pub(super) wait: Wait,
}

/// One turn: what Codex works on, and what it waits for.
pub(super) struct Turn {
    /// Codex's id, once it has answered.
    pub(super) id: Option<String>,
    pub(super) task: Task,
    pub(super) mapper: Mapper,
    pub(super) approvals: Waiting<Approval>,
    pub(super) questions: HashMap<QuestionId, (RpcId, Form)>,
    pub(super) cancelled: bool,
    /// How it ended; while something of it is still being cleared away, that is not told yet.
    pub(super) end: Option<TaskEnd>,
    /// Whoever waits for it to begin, until a later daemon would find it.
    pub(super) begun: Option<Reply>,
}

impl Turn {
    /// The turn of a task.
    pub(super) fn new(task: Task) -> Self {
        Self::with(None, Mapper::default(), task)
    }

    /// A turn that another daemon began.
    pub(super) fn adopted(id: String, drafts: mpsc::Sender<Vec<Draft>>) -> Self {
        Self::with(Some(id), Mapper::again(), Task::without_request(drafts))
    }

    fn with(id: Option<String>, mapper: Mapper, task: Task) -> Self {
        let (approvals, questions, cancelled, end, begun) = Default::default();
        Self { id, task, mapper, approvals, questions, cancelled, end, begun }
    }

    /// Tells the end, and closes what is open.
    pub(super) fn finish(&mut self, end: TaskEnd, outbox: &mut Vec<Draft>) {
        if self.task.is_over() {
            return;
        }
        let completed = matches!(end, TaskEnd::Completed(_));
        self.mapper.end(!completed, outbox);
        self.task.complete(end, outbox);
    }

    /// Codex no longer waits for an answer to this.
    pub(super) fn resolved(&mut self, id: &RpcId, outbox: &mut Vec<Draft>) {
        self.approvals.drop_if(|waiting| waiting.id == *id);
        let question = self.questions.iter().find(|(_, (known, _))| known == id).map(|(question, _)| question.clone());
        if let Some(question) = question {
            self.questions.remove(&question);
            outbox.push(Fact::QuestionWithdrawn(question).into());
        }
    }
}

impl AsRef<Task> for Turn {
    fn as_ref(&self) -> &Task {
        &self.task
    }
}
