//! The session's task that a turn of a runtime works for.

use std::time::Instant;

use roost_engine::adapter::{Draft, Fact, TaskEnd};
use roost_model::ids::RequestId;
use roost_model::payload::{RequestStatus, RuntimeRequestCompletedPayload, RuntimeRequestStartedPayload};
use tokio::sync::mpsc;

use super::ExitReport;

/// A task of the session's: where its drafts go, the request that began it, and whether its end was reported.
pub(crate) struct Task {
    drafts: mpsc::Sender<Vec<Draft>>,
    request: Option<TaskRequest>,
    over: bool,
}

/// The request to the runtime that began a task; recorded with its duration.
struct TaskRequest {
    id: RequestId,
    method: &'static str,
    sent: Instant,
}

impl Task {
    /// A task that begins now; its request is recorded under `method`.
    pub(crate) fn new(method: &'static str, drafts: mpsc::Sender<Vec<Draft>>) -> Self {
        let request = Some(TaskRequest { id: RequestId::new(), method, sent: Instant::now() });
        Self { drafts, request, over: false }
    }

    /// A task without a recorded request: an earlier daemon sent it, or the runtime takes none.
    pub(crate) fn without_request(drafts: mpsc::Sender<Vec<Draft>>) -> Self {
        Self { drafts, request: None, over: false }
    }

    /// The session's end of the task's draft queue.
    pub(super) fn drafts(&self) -> &mpsc::Sender<Vec<Draft>> {
        &self.drafts
    }

    /// Whether the end was reported.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// The draft which records that the request was sent.
    pub(super) fn request_started(&self) -> Option<Draft> {
        let TaskRequest { id, method, .. } = self.request.as_ref()?;
        let started = RuntimeRequestStartedPayload { request_id: id.clone(), method: (*method).to_owned() };
        Some(Fact::RequestStarted(started).into())
    }

    /// Records the answer to the request; does nothing the second time or if there is no request.
    pub(crate) fn request_completed(&mut self, status: RequestStatus, outbox: &mut Vec<Draft>) {
        let Some(TaskRequest { id, method, sent }) = self.request.take() else { return };
        let completed = RuntimeRequestCompletedPayload {
            request_id: id,
            method: method.to_owned(),
            status,
            duration_ms: u64::try_from(sent.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        outbox.push(Fact::RequestCompleted(completed).into());
    }

    /// Reports the end of the task.
    pub(crate) fn end(&mut self, end: TaskEnd, outbox: &mut Vec<Draft>) {
        self.over = true;
        outbox.push(Fact::Ended(end).into());
    }

    /// Ends the task as failed because its runtime is gone.
    pub(crate) fn fail(&mut self, exit: &ExitReport, outbox: &mut Vec<Draft>) {
        self.end(TaskEnd::Failed(Box::new(exit.failure())), outbox);
    }

    /// Records the end of the task as the answer to its request, then reports it.
    pub(crate) fn complete(&mut self, end: TaskEnd, outbox: &mut Vec<Draft>) {
        let status = if matches!(end, TaskEnd::Failed(_)) { RequestStatus::Error } else { RequestStatus::Ok };
        self.request_completed(status, outbox);
        self.end(end, outbox);
    }
}

/// For runtimes whose turns have no state besides the task.
impl AsRef<Self> for Task {
    fn as_ref(&self) -> &Self {
        self
    }
}
