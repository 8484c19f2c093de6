//! The session's task that a turn of a runtime works for.

use std::time::Instant;

use roost_engine::adapter::{Draft, Fact, TaskEnd};
use roost_model::ids::RequestId;
use roost_model::payload::{RequestStatus, RuntimeRequestCompletedPayload, RuntimeRequestStartedPayload};
use tokio::sync::mpsc;

/// A task: where its drafts go, the request that began it, and whether its end is told.
pub(crate) struct Task {
    drafts: mpsc::Sender<Vec<Draft>>,
    request: Option<Request>,
    over: bool,
}

struct Request {
    id: RequestId,
    method: &'static str,
    sent: Instant,
}

impl Task {
    /// A task that begins now with a request of this method.
    pub(crate) fn new(method: &'static str, drafts: mpsc::Sender<Vec<Draft>>) -> Self {
        let request = Some(Request { id: RequestId::new(), method, sent: Instant::now() });
        Self { drafts, request, over: false }
    }

    /// A task without a request of ours: an earlier daemon sent it, or the runtime takes none.
    pub(crate) fn without_request(drafts: mpsc::Sender<Vec<Draft>>) -> Self {
        Self { drafts, request: None, over: false }
    }

    /// Where its drafts go.
    pub(super) fn drafts(&self) -> &mpsc::Sender<Vec<Draft>> {
        &self.drafts
    }

    /// The end is told.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Tells that the request went out.
    pub(super) fn request_started(&self) -> Option<Draft> {
        let Request { id, method, .. } = self.request.as_ref()?;
        let started = RuntimeRequestStartedPayload { request_id: id.clone(), method: (*method).to_owned() };
        Some(Fact::RequestStarted(started).into())
    }

    /// Tells that the request was answered; once.
    pub(crate) fn request_completed(&mut self, status: RequestStatus, outbox: &mut Vec<Draft>) {
        let Some(Request { id, method, sent }) = self.request.take() else { return };
        let completed = RuntimeRequestCompletedPayload {
            request_id: id,
            method: method.to_owned(),
            status,
            duration_ms: u64::try_from(sent.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        outbox.push(Fact::RequestCompleted(completed).into());
    }

    /// Tells the end.
    pub(crate) fn end(&mut self, end: TaskEnd, outbox: &mut Vec<Draft>) {
        self.over = true;
        outbox.push(Fact::Ended(end).into());
    }

    /// Tells the end, and that the request was answered by it.
    pub(crate) fn complete(&mut self, end: TaskEnd, outbox: &mut Vec<Draft>) {
        let status = if matches!(end, TaskEnd::Failed(_)) { RequestStatus::Error } else { RequestStatus::Ok };
        self.request_completed(status, outbox);
        self.end(end, outbox);
    }
}

/// A turn that is nothing but its task.
impl AsRef<Self> for Task {
    fn as_ref(&self) -> &Self {
        self
    }
}
