//! The end of tasks, runtimes and sessions.

use std::time::Duration;

use roost_model::approval::{Answerer, ApprovalEnd};
use roost_model::event::EventBody;
use roost_model::failure::{FailureCode, TaskError};
use roost_model::payload::{SessionClosedPayload, SessionUpdatedPayload};
use roost_model::session::{QueuedPrompt, SessionStatus, SessionStep, TaskOutcome};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};

use super::drafts::CONTROL_TIMEOUT;
use super::{Actor, Flow, PromptOptions};
use crate::adapter::{Draft, Fact, TaskEnd};
use crate::command::Reply;
use crate::error::Error;
use crate::policy_context::Approver;
use crate::runtime::Opening;
use crate::task::{LingerEvent, LingeringRuntime, Phase, Stop, Task};

/// How long a runtime has to confirm a stop before the task is recorded as stopped without it.
const STOP_GRACE: Duration = Duration::from_millis(200);
/// How long a runtime has after that to confirm before its process is ended.
const LINGER: Duration = Duration::from_secs(2);
/// How long an adapter may stay silent about a task whose runtime has exited before the task counts as failed.
pub(super) const EXIT_GRACE: Duration = Duration::from_secs(2);

impl Actor {
    pub(super) async fn stop(
        &mut self,
        reason: String,
        by: Option<Answerer>,
        reply: Reply<TaskOutcome>,
    ) -> Result<Flow, Error> {
        let Some(task) = &mut self.task else {
            let _ = reply.send(Some(Err(Error::NothingToStop(self.profile.id.clone()))));
            return Ok(Flow::Continue);
        };
        if let Some(stop) = &mut task.stop {
            stop.replies.push(reply);
            return Ok(Flow::Continue);
        }
        self.begin_stop(reason, by, None, vec![reply]).await
    }

    /// Asks the runtime to stop. The task ends as stopped, or with this failure.
    pub(super) async fn begin_stop(
        &mut self,
        reason: String,
        by: Option<Answerer>,
        failure: Option<TaskError>,
        replies: Vec<Reply<TaskOutcome>>,
    ) -> Result<Flow, Error> {
        let Some(task) = &mut self.task else { return Ok(Flow::Continue) };
        let deadline = Instant::now() + STOP_GRACE;
        task.stop = Some(Stop { reason: reason.clone(), by, failure, deadline, replies });
        task.host.cancel();
        // Answers do not count any more, and viewers should see that at once.
        let closed = task.ledger.close_pending(ApprovalEnd::Stopped, &format!("stopped: {reason}"));
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

    /// The runtime did not confirm the stop in time: records the end of the task and lets the runtime linger.
    pub(super) async fn on_stop_timeout(&mut self) -> Result<Flow, Error> {
        let Some(task) = &mut self.task else { return Ok(Flow::Continue) };
        let reason = task.stop.as_ref().map(|stop| stop.reason.clone()).unwrap_or_default();
        let (nothing, drafts) = mpsc::channel(1);
        drop(nothing);
        if let Phase::Running(running) = &mut task.phase {
            let drafts = std::mem::replace(&mut running.drafts, drafts);
            self.linger = Some(LingeringRuntime { drafts, deadline: Instant::now() + LINGER });
        }
        self.end(TaskEnd::Stopped(reason)).await
    }

    pub(super) async fn on_linger_event(&mut self, event: LingerEvent) -> Result<Flow, Error> {
        let ended = |draft: &Draft| match &draft.fact {
            Fact::Ended(end) => Some(has_exited(end)),
            _ => None,
        };
        let useless = match event {
            LingerEvent::Drafts(Some(drafts)) => match drafts.iter().find_map(ended) {
                Some(has_exited) => has_exited,
                None => return Ok(Flow::Continue),
            },
            // Neither a broken adapter nor a runtime that ignores a stop gets another task.
            LingerEvent::Drafts(None) | LingerEvent::Due => true,
        };
        if useless {
            self.discard_runtime().await;
        }
        self.linger = None;
        self.idle_since = Instant::now();
        self.start_next_or_close().await
    }

    /// Ends the task, then starts the next prompt or closes the session.
    pub(super) async fn end(&mut self, end: TaskEnd) -> Result<Flow, Error> {
        self.finish(end).await?;
        self.start_next_or_close().await
    }

    /// Writes the end of the task and answers everyone who waits for it.
    pub(super) async fn finish(&mut self, end: TaskEnd) -> Result<(), Error> {
        let Some(mut task) = self.task.take() else { return Ok(()) };
        let has_exited = has_exited(&end);
        let end = match (&task.stop, end) {
            // However the runtime reports it, a stopped task was stopped, unless it had completed before.
            (Some(stop), TaskEnd::Stopped(_) | TaskEnd::Failed(_)) => match &stop.failure {
                Some(failure) => TaskEnd::Failed(Box::new(failure.clone())),
                None => TaskEnd::Stopped(stop.reason.clone()),
            },
            (_, end) => end,
        };
        let outcome = match &end {
            TaskEnd::Completed(_) => TaskOutcome::Completed,
            TaskEnd::Stopped(_) => TaskOutcome::Stopped,
            TaskEnd::Failed(_) => TaskOutcome::Failed,
        };
        let mut events = task.ledger.close(end);
        if let (Some(EventBody::TaskStopped(stopped)), Some(stop)) = (events.last_mut(), &task.stop) {
            stopped.stopped_by.clone_from(&stop.by);
        }
        self.write(events).await?.await?;
        self.writer.set_task(None);
        self.idle_since = Instant::now();
        tracing::debug!(session = %self.profile.id, task = %task.id, ?outcome, "A task ended.");
        for reply in task.stop.into_iter().flat_map(|stop| stop.replies) {
            let _ = reply.send(Some(Ok(outcome)));
        }
        if let Phase::Opening(opening) = task.phase {
            // A runtime that was interrupted while it took a task is not used again.
            self.runtime = opening.give_up().await;
            self.discard_runtime().await;
        }
        if has_exited {
            self.discard_runtime().await;
        }
        Ok(())
    }

    /// Starts the next queued prompt. Without one, a session that has no runtime is closed.
    pub(super) async fn start_next_or_close(&mut self) -> Result<Flow, Error> {
        if self.linger.is_some() {
            return Ok(Flow::Continue);
        }
        self.hold_forbidden_prompts().await?;
        if let Some(at) = self.queue.iter().position(|prompt| !prompt.held) {
            let prompt = self.queue.remove(at);
            // The options of a prompt from before a restart are lost, and its sender may be gone.
            let defaults = || PromptOptions {
                mode: None,
                model: None,
                approver: Approver::Nobody,
                never_yolo: true,
                by: Answerer::default(),
            };
            let options = self.prompt_options.get(&prompt.prompt_id).cloned().unwrap_or_else(defaults);
            let queue = Some(self.queue.clone());
            let update = SessionUpdatedPayload { queue, ..Default::default() };
            match self.begin(prompt.clone(), options, vec![update.into()]).await {
                Ok(_) => {
                    self.prompt_options.remove(&prompt.prompt_id);
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

    /// Holds queued prompts that must not run in the session's present mode.
    async fn hold_forbidden_prompts(&mut self) -> Result<(), Error> {
        let (mode, prompt_options) = (self.mode, &self.prompt_options);
        let is_forbidden = |prompt: &QueuedPrompt| {
            !prompt.held && prompt_options.get(&prompt.prompt_id).is_some_and(|options| options.is_forbidden_in(mode))
        };
        if !self.queue.iter().any(is_forbidden) {
            return Ok(());
        }
        for prompt in &mut self.queue {
            prompt.held |= is_forbidden(prompt);
        }
        let update = SessionUpdatedPayload { queue: Some(self.queue.clone()), ..Default::default() };
        self.write(vec![update.into()]).await?.await?;
        Ok(())
    }

    /// The runtime has exited. During a task the adapter gets [`EXIT_GRACE`] to report the end with all it knows.
    pub(super) async fn on_runtime_exit(&mut self) -> Result<Flow, Error> {
        let Some(task) = &mut self.task else { return self.release("the runtime exited").await };
        task.exit_deadline = Some(Instant::now() + EXIT_GRACE);
        Ok(Flow::Continue)
    }

    /// Closes the session and its runtime. The next prompt opens it again.
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
            let _ = timeout(CONTROL_TIMEOUT, running.control.stop()).await;
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

    /// Closes the runtime, if there is one, and waits until it is gone.
    pub(super) async fn discard_runtime(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.close(&*self.shared.log).await;
        }
    }

    /// Kills the runtime by dropping it. The task fails as soon as the log can be written again.
    pub(super) fn kill_runtime(&mut self) {
        self.runtime = None;
        if let Some(task) = &mut self.task {
            task.phase = Phase::Opening(Opening::failed(storage_full()));
        }
    }
}

/// Whether the runtime cannot be used again after this end: it has exited, or it broke the policy.
fn has_exited(end: &TaskEnd) -> bool {
    let over = [FailureCode::RuntimeExited, FailureCode::PolicyViolation];
    matches!(end, TaskEnd::Failed(error) if over.contains(&error.code))
}

pub(super) fn storage_full() -> TaskError {
    let message = "the disk is full, so the task's events could not be kept; free some space and try again";
    TaskError::new(FailureCode::StorageFull, message)
}
