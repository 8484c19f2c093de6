//! Writes a session's events: adds time, session, task and runtime to each, and appends them to the log.

use std::sync::Arc;

use roost_log::{Health, Log, Receipt, StreamId};
use roost_model::approval::Answerer;
use roost_model::event::{EventBody, NewEvent, RuntimeRef, Trace};
use roost_model::ids::{SessionId, TaskId};
use roost_model::time::Timestamp;
use serde_json::Value;
use tokio::sync::watch;

use crate::artifacts::Artifacts;
use crate::error::Error;
use crate::spill;

/// Appends to the stream of one session.
pub(crate) struct EventWriter {
    log: Arc<dyn Log>,
    stream: StreamId,
    trace: Trace,
    /// Who sent the prompt of the task; unknown for a task that was taken over.
    prompted_by: Answerer,
    pub(crate) runtime: RuntimeRef,
    health: watch::Receiver<Health>,
}

impl EventWriter {
    pub(crate) fn new(log: Arc<dyn Log>, session: &SessionId, runtime: RuntimeRef) -> Self {
        let health = log.health();
        let (trace, prompted_by) = (Trace::session(session.clone()), Answerer::default());
        Self { log, stream: session.into(), trace, prompted_by, runtime, health }
    }

    /// Sets the task that the next events belong to; `None` between tasks.
    pub(crate) fn set_task(&mut self, task: Option<TaskId>) {
        self.trace.task_id = task;
    }

    /// Sets who sent the message of the next event that starts or steers a task.
    pub(crate) fn set_prompted_by(&mut self, by: Answerer) {
        self.prompted_by = by;
    }

    /// A complete event; only its number is missing, which the log assigns.
    pub(crate) fn stamp(&self, time: Timestamp, body: EventBody, raw: Option<Value>) -> NewEvent {
        let mut runtime = self.runtime.clone();
        runtime.raw = raw;
        let mut trace = self.trace.clone();
        // A task's first event is its start and its last is its end; what happens to the session is not the task's.
        if matches!(body, EventBody::SessionUpdated(_) | EventBody::SessionClosed(_)) {
            trace.task_id = None;
        }
        // A client starts and steers a task; the rest is the agent's doing.
        if matches!(body, EventBody::TaskStarted(_) | EventBody::TaskSteered(_)) {
            trace.client_id.clone_from(&self.prompted_by.client_id);
            trace.user_id.clone_from(&self.prompted_by.user_id);
        }
        NewEvent { time, trace, runtime, body }
    }

    /// Like [`Self::stamp`], but moves everything that is too big for an event to the artifact store first.
    pub(crate) async fn stamp_and_spill(
        &self,
        artifacts: &Artifacts,
        time: Timestamp,
        body: EventBody,
        raw: Option<Value>,
    ) -> NewEvent {
        let body = if spill::may_be_big(&body) { spill::spill(artifacts, body).await } else { body };
        let raw = match raw {
            Some(raw) => Some(spill::raw(artifacts, raw).await),
            None => None,
        };
        self.stamp(time, body, raw)
    }

    /// Queues events in the log. Returns when the queue has room; the receipt resolves when they are committed.
    pub(crate) fn append(&self, events: Vec<NewEvent>) -> impl Future<Output = Result<Receipt, Error>> + use<> {
        let (log, stream) = (self.log.clone(), self.stream.clone());
        async move { Ok(log.append(&stream, events).await?) }
    }

    /// Queues events with the current time, without looking for big parts.
    pub(crate) async fn write(&self, bodies: Vec<EventBody>) -> Result<Receipt, Error> {
        let now = Timestamp::now();
        self.append(bodies.into_iter().map(|body| self.stamp(now, body, None)).collect()).await
    }

    /// Whether the log cannot be written at the moment, because the disk is full.
    pub(crate) fn is_stalled(&self) -> bool {
        matches!(*self.health.borrow(), Health::Stalled { .. })
    }

    /// Returns when the log becomes unable to write.
    pub(crate) fn stalled(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut health = self.health.clone();
        async move {
            // A log that is gone cannot stall any more; its appends fail instead.
            if health.wait_for(|health| matches!(health, Health::Stalled { .. })).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
