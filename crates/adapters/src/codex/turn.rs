//! One turn of Codex.

use std::collections::HashMap;
use std::time::Instant;

use roost_engine::adapter::{Draft, Fact, TaskEnd};
use roost_model::ids::{QuestionId, RequestId};
use roost_model::payload::{RequestStatus, RuntimeRequestCompletedPayload};
use tokio::sync::mpsc;

use super::asks::Wait;
use super::calls::Reply;
use super::map::Mapper;
use super::questions::Form;
use super::wire::RpcId;
use crate::waiting::Waiting;

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
    pub(super) mapper: Mapper,
    pub(super) drafts: mpsc::Sender<Vec<Draft>>,
    pub(super) approvals: Waiting<Approval>,
    pub(super) questions: HashMap<QuestionId, (RpcId, Form)>,
    pub(super) cancelled: bool,
    /// How it ended; while something of it is still being cleared away, that is not told yet.
    pub(super) end: Option<TaskEnd>,
    /// The end is told.
    pub(super) over: bool,
    /// Whoever waits for it to begin, until a later daemon would find it.
    pub(super) begun: Option<Reply>,
    /// The request that began it, unless another daemon sent it.
    request: Option<RequestId>,
    started: Instant,
}

impl Turn {
    /// A turn that begins with this request.
    pub(super) fn new(request: RequestId, drafts: mpsc::Sender<Vec<Draft>>) -> Self {
        Self { request: Some(request), ..Self::again(None, Mapper::default(), drafts) }
    }

    /// A turn that another daemon began.
    pub(super) fn adopted(id: String, drafts: mpsc::Sender<Vec<Draft>>) -> Self {
        Self::again(Some(id), Mapper::again(), drafts)
    }

    fn again(id: Option<String>, mapper: Mapper, drafts: mpsc::Sender<Vec<Draft>>) -> Self {
        Self {
            id,
            mapper,
            drafts,
            approvals: Waiting::default(),
            questions: HashMap::new(),
            cancelled: false,
            end: None,
            over: false,
            begun: None,
            request: None,
            started: Instant::now(),
        }
    }

    /// Tells the end, and closes what is open.
    pub(super) fn finish(&mut self, end: TaskEnd, outbox: &mut Vec<Draft>) {
        if std::mem::replace(&mut self.over, true) {
            return;
        }
        let completed = matches!(end, TaskEnd::Completed(_));
        self.mapper.end(!completed, outbox);
        if let Some(request_id) = self.request.take() {
            let status = if matches!(end, TaskEnd::Failed(_)) { RequestStatus::Error } else { RequestStatus::Ok };
            let duration_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let method = METHOD.to_owned();
            let request = RuntimeRequestCompletedPayload { request_id, method, status, duration_ms };
            outbox.push(Fact::RequestCompleted(request).into());
        }
        outbox.push(Fact::Ended(end).into());
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
