//! How tasks end, and sessions with them.

use std::time::Duration;

use roost_model::approval::ApprovalEnd;
use roost_model::failure::{FailureCode, TaskError};
use roost_model::payload::{SessionClosedPayload, SessionUpdatedPayload};
use roost_model::session::{QueuedPrompt, SessionStatus, SessionStep, TaskOutcome};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

use super::listening::CONTROL_PATIENCE;
use super::{Actor, Flow, Manner};
use crate::adapter::{Draft, Fact, TaskEnd};
use crate::command::Reply;
use crate::error::Error;
use crate::policy_context::Approver;
use crate::runtime::Opening;
use crate::task::{Linger, Lingered, Phase, Stop, Task};

/// How long a runtime has to confirm a stop before the task is recorded as stopped without it.
const STOP_GRACE: Duration = Duration::from_millis(200);
/// How long it has after that before its process is ended.
const LINGER: Duration = Duration::from_secs(2);
/// How long an adapter has to tell the end of a task whose runtime has exited.
pub(super) const EXIT_GRACE: Duration = Duration::from_secs(2);

impl Actor {
    pub(super) async fn stop(&mut self, reason: String, reply: Reply<TaskOutcome>) -> Result<Flow, Error> {
        let Some(task) = &mut self.task else {
            let _ = reply.send(Some(Err(Error::NothingToStop(self.profile.id.clone()))));
            return Ok(Flow::Continue);
        };
        if let Some(stop) = &mut task.stop {
            stop.replies.push(reply);
            return Ok(Flow::Continue);
        }
        let deadline = Instant::now() + STOP_GRACE;
        task.stop = Some(Stop { reason: reason.clone(), deadline, replies: vec![reply] });
        task.host.cancel();
        // Nobody's answer counts any more, and whoever looks at it should know at once.
        let closed = task.ledger.close_asks(ApprovalEnd::Stopped, &format!("stopped: {reason}"));
        if !closed.is_empty() {
            self.write(closed).await?.await?;
        }
        let Some(task) = &self.task else { return Ok(Flow::Continue) };
        match &task.phase {
            Phase::Running(running) => {
                if !matches!(timeout_at(deadline, running.control.stop()).await, Ok(Ok(()))) {
                    tracing::debug!(session = %self.profile.id, "The runtime could not be asked to stop.");
                }
                Ok(Flow::Continue)
            }
            Phase::Opening(_) | Phase::Opened => self.end(TaskEnd::Stopped(reason)).await,
        }
    }

    /// The runtime did not confirm the stop in time: the task is over, the runtime lingers.
    pub(super) async fn stop_due(&mut self) -> Result<Flow, Error> {
        let Some(task) = &mut self.task else { return Ok(Flow::Continue) };
        let reason = task.stop.as_ref().map(|stop| stop.reason.clone()).unwrap_or_default();
        let (nothing, drafts) = mpsc::channel(1);
        drop(nothing);
        if let Phase::Running(running) = &mut task.phase {
            let drafts = std::mem::replace(&mut running.drafts, drafts);
            self.linger = Some(Linger { drafts, deadline: Instant::now() + LINGER });
        }
        self.end(TaskEnd::Stopped(reason)).await
    }

    pub(super) async fn lingered(&mut self, lingered: Lingered) -> Result<Flow, Error> {
        let ended = |draft: &Draft| match &draft.fact {
            Fact::Ended(end) => Some(has_exited(end)),
            _ => None,
        };
        let useless = match lingered {
            Lingered::Said(Some(drafts)) => match drafts.iter().find_map(ended) {
                Some(has_exited) => has_exited,
                None => return Ok(Flow::Continue),
            },
            // Neither a broken adapter nor a runtime that does not listen gets another task.
            Lingered::Said(None) | Lingered::Due => true,
        };
        if useless {
            self.discard_runtime().await;
        }
        self.linger = None;
        self.idle_since = Instant::now();
        self.settle().await
    }

    /// Ends the task and goes on to whatever is next.
    pub(super) async fn end(&mut self, end: TaskEnd) -> Result<Flow, Error> {
        self.finish(end).await?;
        self.settle().await
    }

    /// Writes the end of the task and tells whoever waits for it.
    pub(super) async fn finish(&mut self, end: TaskEnd) -> Result<(), Error> {
        let Some(mut task) = self.task.take() else { return Ok(()) };
        let has_exited = has_exited(&end);
        let end = match (&task.stop, end) {
            // Whatever a runtime makes of a stop, it was a stop; only a task that was finished already is not.
            (Some(stop), TaskEnd::Stopped(_) | TaskEnd::Failed(_)) => TaskEnd::Stopped(stop.reason.clone()),
            (_, end) => end,
        };
        let outcome = match &end {
            TaskEnd::Completed(_) => TaskOutcome::Completed,
            TaskEnd::Stopped(_) => TaskOutcome::Stopped,
            TaskEnd::Failed(_) => TaskOutcome::Failed,
        };
        self.write(task.ledger.close(end)).await?.await?;
        self.scribe.set_task(None);
        self.idle_since = Instant::now();
        tracing::debug!(session = %self.profile.id, task = %task.id, ?outcome, "A task ended.");
        for reply in task.stop.into_iter().flat_map(|stop| stop.replies) {
            let _ = reply.send(Some(Ok(outcome)));
        }
        if let Phase::Opening(opening) = task.phase {
            // A runtime that was interrupted while it took a task gets no other.
            self.runtime = opening.give_up().await;
            self.discard_runtime().await;
        }
        if has_exited {
            self.discard_runtime().await;
        }
        Ok(())
    }

    /// Starts what is next in the queue; a session without a runtime and without work is closed.
    pub(super) async fn settle(&mut self) -> Result<Flow, Error> {
        if self.linger.is_some() {
            return Ok(Flow::Continue);
        }
        self.hold_barred().await?;
        if let Some(at) = self.queue.iter().position(|prompt| !prompt.held) {
            let prompt = self.queue.remove(at);
            // A prompt that waited for a restart was held, and whoever sent it may be gone.
            let alone = Manner { mode: None, model: None, approver: Approver::Nobody, never_yolo: true };
            let manner = self.manners.get(&prompt.prompt_id).cloned().unwrap_or(alone);
            let queue = Some(self.queue.clone());
            let update = SessionUpdatedPayload { queue, ..Default::default() };
            match self.begin(prompt.clone(), manner, vec![update.into()]).await {
                Ok(_) => {
                    self.manners.remove(&prompt.prompt_id);
                    return Ok(Flow::Continue);
                }
                Err(Error::TooManySessions { .. }) => self.queue.insert(at, prompt),
                Err(error) => return Err(error),
            }
        }
        match self.runtime {
            Some(_) => Ok(Flow::Continue),
            None => self.release("the runtime is gone").await,
        }
    }

    /// Holds prompts that may not run in the mode that the session came into while they waited.
    async fn hold_barred(&mut self) -> Result<(), Error> {
        let (mode, manners) = (self.mode, &self.manners);
        let is_barred = |prompt: &QueuedPrompt| {
            !prompt.held && manners.get(&prompt.prompt_id).is_some_and(|manner| manner.is_barred(mode))
        };
        if !self.queue.iter().any(is_barred) {
            return Ok(());
        }
        for prompt in &mut self.queue {
            prompt.held |= is_barred(prompt);
        }
        let update = SessionUpdatedPayload { queue: Some(self.queue.clone()), ..Default::default() };
        self.write(vec![update.into()]).await?.await?;
        Ok(())
    }

    /// The runtime is gone. In a task that is for the adapter to tell, with what it knows; but not for ever.
    pub(super) async fn exited(&mut self) -> Result<Flow, Error> {
        let Some(task) = &mut self.task else { return self.release("the runtime exited").await };
        task.exit_deadline = Some(Instant::now() + EXIT_GRACE);
        Ok(Flow::Continue)
    }

    /// Lets the runtime go and closes the session; the next prompt opens it again.
    pub(super) async fn release(&mut self, reason: &str) -> Result<Flow, Error> {
        self.close(reason).await?;
        Ok(Flow::End)
    }

    pub(super) async fn close(&mut self, reason: &str) -> Result<(), Error> {
        self.inbox.close();
        if self.status == SessionStatus::Created {
            return Ok(());
        }
        if let Some(Task { phase: Phase::Running(running), .. }) = &self.task {
            // Best effort: the process is ended below in any case.
            let _ = timeout(CONTROL_PATIENCE, running.control.stop()).await;
        }
        self.finish(TaskEnd::Stopped(reason.into())).await?;
        if let Ok(status) = self.status.after(SessionStep::End) {
            self.status = status;
            self.queue.iter_mut().for_each(|prompt| prompt.held = true);
            let queue = (!self.queue.is_empty()).then(|| self.queue.clone());
            let (status, reason) = (Some(status), Some(reason.to_owned()));
            self.write(vec![SessionUpdatedPayload { status, reason, queue, ..Default::default() }.into()]).await?;
        }
        self.linger = None;
        self.discard_runtime().await;
        if let Ok(status) = self.status.after(SessionStep::Gone) {
            self.status = status;
            self.write(vec![SessionClosedPayload { reason: reason.into() }.into()]).await?.await?;
        }
        Ok(())
    }

    /// Ends the runtime in order.
    pub(super) async fn discard_runtime(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.close().await;
        }
    }

    /// Ends the runtime at once, without asking it; the task fails as soon as that can be written.
    pub(super) fn cut(&mut self) {
        self.runtime = None;
        if let Some(task) = &mut self.task {
            task.phase = Phase::Opening(Opening::failed(storage_full()));
        }
    }
}

/// A runtime whose task ended like this gets no other: it is gone, or cannot be trusted.
fn has_exited(end: &TaskEnd) -> bool {
    let over = [FailureCode::RuntimeExited, FailureCode::PolicyViolation];
    matches!(end, TaskEnd::Failed(error) if over.contains(&error.code))
}

pub(super) fn storage_full() -> TaskError {
    let message = "the disk is full, so the task's events could not be kept; free some space and try again";
    TaskError::new(FailureCode::StorageFull, message)
}
