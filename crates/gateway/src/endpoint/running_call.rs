//! One call to a service while it runs: its answer, and what the service says before.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use super::refusal::McpRefusal;
use super::request::ClientContext;
use crate::governor::{CallReport, Governor, Ticket};
use crate::raw_object::text;
use crate::upstream::{Interjection, ServerAnswer, Upstream, UpstreamError, UpstreamRequest};

/// What a service says during a call may wait here; beyond it the service is not read.
const INTERJECTIONS: usize = 16;

type Answering = Pin<Box<dyn Future<Output = Result<ServerAnswer, UpstreamError>> + Send>>;

/// A call that runs. Dropping it cancels the call at the service.
pub(super) struct RunningCall {
    answering: Answering,
    interjections: mpsc::Receiver<Interjection>,
}

/// What happens next in a call.
pub(super) enum CallEvent {
    /// The call is over.
    Answered(Result<ServerAnswer, UpstreamError>),
    /// The service says something first.
    Said(Interjection),
}

impl RunningCall {
    pub(super) fn start(
        upstream: Arc<dyn Upstream>,
        context: Arc<ClientContext>,
        method: &str,
        params: Box<RawValue>,
        patience: Duration,
    ) -> Self {
        let (interject, interjections) = mpsc::channel(INTERJECTIONS);
        let method = method.to_owned();
        let answering = Box::pin(async move {
            let request = UpstreamRequest {
                method: &method,
                params: Some(&params),
                client: &context.profile,
                patience,
                interjections: Some(interject),
            };
            upstream.call(request).await
        });
        Self { answering, interjections }
    }

    /// Waits for what happens next; nothing does after the answer.
    pub(super) async fn next(&mut self) -> CallEvent {
        tokio::select! {
            // What was said before the answer comes before it.
            biased;
            Some(said) = self.interjections.recv() => CallEvent::Said(said),
            answered = &mut self.answering => match self.interjections.try_recv() {
                Ok(said) => {
                    self.answering = Box::pin(std::future::ready(answered));
                    CallEvent::Said(said)
                }
                Err(_) => CallEvent::Answered(answered),
            },
        }
    }
}

/// A permit to call a tool, which is handed back exactly once, also if the call is given up.
pub(super) struct OpenTicket {
    governor: Arc<dyn Governor>,
    ticket: Option<Ticket>,
    started: Instant,
    request_bytes: u64,
    tasks: TaskTracker,
    /// What the record says if nobody says how the call ended.
    pub(super) unless_finished: &'static str,
}

impl OpenTicket {
    pub(super) fn new(governor: Arc<dyn Governor>, ticket: Ticket, request_bytes: usize, tasks: TaskTracker) -> Self {
        Self {
            governor,
            ticket: Some(ticket),
            started: Instant::now(),
            request_bytes: request_bytes as u64,
            tasks,
            unless_finished: "the client cancelled the call",
        }
    }

    /// Records how the call ended: with a result, or with an error.
    pub(super) async fn finish(mut self, outcome: Result<&RawValue, &McpRefusal>) {
        let Some(ticket) = self.ticket.take() else { return };
        match outcome {
            Ok(result) => {
                let is_error = is_error(result);
                let error = is_error.then(|| "the tool answered with an error".to_owned());
                let report = self.report(!is_error, error, result.get().len());
                self.governor.finish(ticket, report, Some(result)).await;
            }
            Err(refusal) => {
                let report = self.report(false, Some(refusal.for_record()), 0);
                self.governor.finish(ticket, report, Some(&text(&refusal.message()))).await;
            }
        }
    }

    fn report(&self, success: bool, error: Option<String>, response_bytes: usize) -> CallReport {
        CallReport {
            success,
            error,
            duration: self.started.elapsed(),
            request_bytes: self.request_bytes,
            response_bytes: response_bytes as u64,
        }
    }
}

impl Drop for OpenTicket {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket.take() else { return };
        let report = self.report(false, Some(self.unless_finished.into()), 0);
        let governor = self.governor.clone();
        self.tasks.spawn(async move { governor.finish(ticket, report, None).await });
    }
}

/// Whether a tool's result says that it is an error.
fn is_error(result: &RawValue) -> bool {
    #[derive(serde::Deserialize)]
    struct Outcome {
        #[serde(default, rename = "isError")]
        is_error: bool,
    }
    // Most results do not have the member, so they need not be read.
    result.get().contains("\"isError\"")
        && serde_json::from_str::<Outcome>(result.get()).is_ok_and(|outcome| outcome.is_error)
}
