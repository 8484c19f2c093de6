//! The state of one turn.

use std::collections::HashMap;

use roost_engine::adapter::{Draft, Fact, TaskEnd};
use roost_model::ids::QuestionId;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::map::NotificationMapper;
use super::questions::AnswerFormat;
use super::requests::ApprovalKind;
use crate::host::json_rpc::RpcId;
use crate::host::pending_decisions::PendingDecisions;
use crate::host::{Reply, Task};

/// The request that starts a turn.
pub(super) const START_METHOD: &str = "turn/start";
/// The request that starts a turn which compacts the conversation.
const COMPACT_METHOD: &str = "thread/compact/start";

/// How a turn is started.
pub(super) struct TurnStart {
    pub(super) method: &'static str,
    pub(super) params: Value,
    /// A warning for people, told at the start of the turn.
    pub(super) warning: Option<String>,
}

impl TurnStart {
    /// A turn with these parameters of `turn/start`.
    pub(super) fn prompt(params: Value, warning: Option<String>) -> Self {
        Self { method: START_METHOD, params, warning }
    }

    /// A turn that compacts the conversation of a thread.
    pub(super) fn compact(thread: &str) -> Self {
        Self { method: COMPACT_METHOD, params: json!({ "threadId": thread }), warning: None }
    }
}

/// An approval that Codex waits for, by the JSON-RPC id of its request.
pub(super) struct PendingApproval {
    pub(super) id: RpcId,
    pub(super) approval: ApprovalKind,
}

/// One turn: its task, its mapper, and what Codex waits for.
pub(super) struct CodexTurn {
    /// Codex's id of the turn; `None` until it has answered the request or, if the answer has none, begun the turn.
    pub(super) id: Option<String>,
    pub(super) task: Task,
    pub(super) mapper: NotificationMapper,
    pub(super) approvals: PendingDecisions<PendingApproval>,
    pub(super) questions: HashMap<QuestionId, (RpcId, AnswerFormat)>,
    pub(super) cancelled: bool,
    /// How the turn ended, held back until the commands that it left running are cleaned up.
    pub(super) end: Option<TaskEnd>,
    /// Whoever waits for the turn to start. Answered once the turn marker is on disk.
    pub(super) start_reply: Option<Reply>,
}

impl CodexTurn {
    /// A turn that is starting for a task.
    pub(super) fn new(task: Task) -> Self {
        Self::with(None, NotificationMapper::default(), task)
    }

    /// A turn that an earlier daemon started.
    pub(super) fn adopted(id: String, drafts: mpsc::Sender<Vec<Draft>>) -> Self {
        Self::with(Some(id), NotificationMapper::for_adopted_turn(), Task::without_request(drafts))
    }

    fn with(id: Option<String>, mapper: NotificationMapper, task: Task) -> Self {
        let (approvals, questions, cancelled, end, start_reply) = Default::default();
        Self { id, task, mapper, approvals, questions, cancelled, end, start_reply }
    }

    /// Completes everything that is open and reports the end; only once.
    pub(super) fn finish(&mut self, end: TaskEnd, outbox: &mut Vec<Draft>) {
        if self.task.is_over() {
            return;
        }
        let completed = matches!(end, TaskEnd::Completed(_));
        self.mapper.on_turn_end(!completed, outbox);
        self.task.complete(end, outbox);
    }

    /// Called when Codex no longer waits for an answer to this request.
    pub(super) fn on_request_resolved(&mut self, id: &RpcId, outbox: &mut Vec<Draft>) {
        self.approvals.drop_if(|waiting| waiting.id == *id);
        let question = self.questions.iter().find(|(_, (known, _))| known == id).map(|(question, _)| question.clone());
        if let Some(question) = question {
            self.questions.remove(&question);
            outbox.push(Fact::QuestionWithdrawn(question).into());
        }
    }
}

impl AsRef<Task> for CodexTurn {
    fn as_ref(&self) -> &Task {
        &self.task
    }
}
