//! A session as an actor: one loop, one event at a time, everything it decides written to the log first.

use std::sync::Arc;
use std::time::Duration;

use roost_log::Receipt;
use roost_policy::{Approver, Context, Memory, RuleSet, evaluate};
use roost_proto::event::{EventBody, NewEvent};
use roost_proto::failure::FailureCode;
use roost_proto::ids::{PromptId, RuntimeSessionId, TaskId};
use roost_proto::mode::{Mode, PermissionMode};
use roost_proto::payload::{
    NoticeLevel, NoticeSource, QuestionOutcome, RuntimeNoticePayload, SessionClosedPayload, SessionUpdatedPayload,
    TaskStartedPayload,
};
use roost_proto::runtime::InteractionMode;
use roost_proto::session::{QueuedPrompt, SessionStatus, SessionStep, TaskOutcome};
use roost_proto::time::Timestamp;
use roost_proto::tool::PolicyDecision;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::adapter::{AdapterError, Answer, Draft, Fact, TaskEnd};
use crate::command::{Accepted, Command, Prompt};
use crate::engine::Shared;
use crate::error::Error;
use crate::ledger::{Asked, Ledger, Next};
use crate::runtime::{self, Job, Opened, Profile, Runtime};
use crate::scribe::Scribe;
use crate::task::{Linger, Lingered, Phase, Stop, Task, TaskEvent, at};

/// How long a runtime has to confirm a stop before the task is recorded as stopped without it.
const STOP_GRACE: Duration = Duration::from_millis(200);
/// How long it has after that before its process is ended.
const LINGER: Duration = Duration::from_secs(2);
/// How long a runtime has to take a message; one that does not read its input must not hold up the session.
const CONTROL_PATIENCE: Duration = Duration::from_secs(1);
/// Most prompts that wait in one session.
pub(crate) const MAX_QUEUE: usize = 100;
/// What is said to an agent whose tool call nobody could approve.
const NOBODY: &str = "nobody is there to approve it";

/// Everything that can happen to a session.
enum Event {
    Command(Command),
    Abandoned,
    Task(TaskEvent),
    Linger(Lingered),
    Exited,
    Expired,
    Wanted,
    Stalled,
}

/// Whether the actor goes on.
enum Flow {
    Continue,
    End,
}

/// One live session.
pub(crate) struct Actor {
    pub(crate) shared: Arc<Shared>,
    pub(crate) profile: Profile,
    pub(crate) inbox: mpsc::Receiver<Command>,
    pub(crate) scribe: Scribe,
    pub(crate) status: SessionStatus,
    pub(crate) mode: Mode,
    pub(crate) native: Option<RuntimeSessionId>,
    pub(crate) queue: Vec<QueuedPrompt>,
    pub(crate) runtime: Option<Runtime>,
    pub(crate) task: Option<Task>,
    pub(crate) linger: Option<Linger>,
    pub(crate) idle_since: Instant,
}

impl Actor {
    /// Runs until the session is closed or the log fails.
    pub(crate) async fn run(mut self) {
        loop {
            let event = self.next().await;
            match self.handle(event).await {
                Ok(Flow::Continue) => {}
                Ok(Flow::End) => break,
                Err(error) => {
                    tracing::error!(session = %self.profile.id, %error, "The session ends because it cannot be recorded.");
                    break;
                }
            }
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.close().await;
        }
    }

    async fn next(&mut self) -> Event {
        let idle = self.task.is_none() && self.linger.is_none();
        let open = idle && self.runtime.is_some();
        let expires = idle.then(|| self.idle_since + self.shared.config.idle_timeout);
        tokio::select! {
            // Commands first: a stop must be heard in the middle of a flood.
            biased;
            command = self.inbox.recv() => command.map_or(Event::Abandoned, Event::Command),
            () = self.scribe.stalled(), if self.task.is_some() => Event::Stalled,
            event = async { match &mut self.task { Some(task) => task.next().await, None => std::future::pending().await } } => Event::Task(event),
            event = async { match &mut self.linger { Some(linger) => linger.next().await, None => std::future::pending().await } } => Event::Linger(event),
            () = async { match &mut self.runtime { Some(runtime) => runtime.session.exited().await, None => std::future::pending().await } }, if open => Event::Exited,
            () = self.shared.slots.wanted(), if open => Event::Wanted,
            () = at(expires) => Event::Expired,
        }
    }

    async fn handle(&mut self, event: Event) -> Result<Flow, Error> {
        match event {
            Event::Command(Command::Prompt { prompt, reply }) => {
                // Nobody waits for the answer any more: the prompt counts all the same.
                let _ = reply.send(self.prompt(prompt).await);
                Ok(Flow::Continue)
            }
            Event::Command(Command::Stop { reason, reply }) => self.stop(reason, reply).await,
            Event::Command(Command::Close { reason, reply }) => {
                self.close(&reason).await?;
                let _ = reply.send(());
                Ok(Flow::End)
            }
            Event::Abandoned => {
                self.close("Roost is shutting down").await?;
                Ok(Flow::End)
            }
            Event::Task(TaskEvent::Opened(opened)) => self.opened(opened).await,
            Event::Task(TaskEvent::Drafts(Some(drafts))) => self.take(drafts).await,
            Event::Task(TaskEvent::Drafts(None)) => {
                let end = TaskEnd::failed(FailureCode::Internal, "the runtime's adapter ended without a result");
                self.end(end).await
            }
            Event::Task(TaskEvent::StopDue) => self.stop_due().await,
            Event::Linger(lingered) => self.lingered(lingered).await,
            Event::Exited => self.release("the runtime exited").await,
            Event::Expired => self.release("no task for a while").await,
            Event::Wanted => self.release("its place was needed for another session").await,
            Event::Stalled => {
                self.cut();
                let message = "the disk is full, so the task's events could not be kept; free some space and try again";
                self.end(TaskEnd::failed(FailureCode::StorageFull, message)).await
            }
        }
    }

    async fn prompt(&mut self, prompt: Prompt) -> Result<Accepted, Error> {
        if self.scribe.is_stalled() {
            return Err(Error::DiskFull);
        }
        self.mode = prompt.mode.unwrap_or(self.mode);
        if self.task.is_some() || self.linger.is_some() {
            if self.queue.len() >= MAX_QUEUE {
                return Err(Error::QueueFull { session: self.profile.id.clone(), max: MAX_QUEUE });
            }
            let prompt_id = PromptId::new();
            let queued = QueuedPrompt { prompt_id: prompt_id.clone(), message: prompt.message, held: false };
            self.queue.push(queued);
            let queue = Some(self.queue.clone());
            self.write(vec![SessionUpdatedPayload { queue, ..Default::default() }.into()]).await?.await?;
            return Ok(Accepted::Queued(prompt_id));
        }
        let queued = QueuedPrompt { prompt_id: PromptId::new(), message: prompt.message, held: false };
        self.begin(queued, Vec::new()).await.map(Accepted::Started)
    }

    /// Starts a task; `before` is written together with its first event.
    async fn begin(&mut self, prompt: QueuedPrompt, mut before: Vec<EventBody>) -> Result<TaskId, Error> {
        let slot = match self.runtime {
            Some(_) => None,
            None => Some(self.shared.slots.claim()?),
        };
        let task_id = TaskId::new();
        if let Ok(status) = self.status.after(SessionStep::Prompt) {
            self.status = status;
        }
        let job = Job { task_id: task_id.clone(), message: prompt.message.clone(), mode: self.mode };
        let started = TaskStartedPayload {
            messages: vec![prompt.message],
            permission_mode: PermissionMode::from(self.mode),
            mode: self.mode,
            interaction_mode: InteractionMode::NonInteractive,
            prompt_id: Some(prompt.prompt_id),
        };
        self.scribe.set_task(Some(task_id.clone()));
        before.push(started.into());
        self.write(before).await?.await?;

        let opening = match (self.runtime.take(), slot) {
            (Some(runtime), _) => runtime::start(runtime, job),
            (None, Some(slot)) => {
                runtime::open(self.shared.clone(), slot, self.profile.clone(), self.native.clone(), job)
            }
            // Without a runtime a slot was claimed above.
            (None, None) => Box::pin(std::future::pending()),
        };
        let (mode, ledger) = (self.mode, Ledger::new(self.mode));
        self.task = Some(Task { id: task_id.clone(), mode, ledger, phase: Phase::Opening(opening), stop: None });
        Ok(task_id)
    }

    async fn opened(&mut self, opened: Opened) -> Result<Flow, Error> {
        self.runtime = opened.runtime;
        let native = self.runtime.as_ref().and_then(|runtime| runtime.session.native_id());
        if native.is_some() && native != self.native {
            self.native.clone_from(&native);
            self.scribe.runtime.runtime_session_id.clone_from(&native);
            let update = SessionUpdatedPayload { runtime_session_id: native, ..Default::default() };
            self.write(vec![update.into()]).await?;
        }
        match (opened.task, &mut self.task) {
            (Ok(started), Some(task)) => task.phase = Phase::Running(started),
            (Ok(_), None) => {}
            (Err(mut failure), _) => {
                failure.runtime = Some(self.profile.adapter.name());
                return self.end(TaskEnd::Failed(Box::new(failure))).await;
            }
        }
        Ok(Flow::Continue)
    }

    /// Writes what the runtime did; the hot path.
    async fn take(&mut self, drafts: Vec<Draft>) -> Result<Flow, Error> {
        let now = Timestamp::now();
        let mut events = Vec::with_capacity(drafts.len());
        let mut bodies = Vec::new();
        for Draft { fact, raw } in drafts {
            let Some(task) = &mut self.task else { return Ok(Flow::Continue) };
            if let Fact::Session(update) = &fact {
                self.native = update.runtime_session_id.clone().or(self.native.take());
            }
            let next = task.ledger.enter(fact, &mut bodies);
            let mut raw = raw;
            events.extend(bodies.drain(..).map(|body| self.scribe.stamp(now, body, raw.take())));
            match next {
                Next::Nothing => {}
                Next::Decide(asked) => {
                    self.hand_over(std::mem::take(&mut events)).await?;
                    self.decide(asked).await?;
                }
                Next::End(end) => {
                    self.hand_over(events).await?;
                    return self.end(end).await;
                }
            }
        }
        self.hand_over(events).await?;
        Ok(Flow::Continue)
    }

    /// Decides what the runtime waits for, writes the decision, and only then tells the runtime.
    async fn decide(&mut self, asked: Asked) -> Result<(), Error> {
        let Some(task) = &mut self.task else { return Ok(()) };
        let told = match asked {
            Asked::Tool(call) => {
                if task.ledger.decision(&call).is_none() {
                    let runtime = self.profile.adapter.name();
                    let context = Context {
                        mode: task.mode,
                        approver: Approver::Nobody,
                        session: &self.profile.id,
                        workspace: self.profile.cwd.as_ref(),
                        resolved: &[],
                        rules: &RuleSet::default(),
                        memory: &Memory::default(),
                    };
                    let judged = task.ledger.for_policy(&call, &runtime).map(|call| evaluate(&call, &context));
                    let words = judged.map(|judged| judged.words).unwrap_or_default();
                    let events = task.ledger.decide(&call, words, NOBODY);
                    self.write(events).await?.await?;
                }
                let Some(Task { ledger, phase: Phase::Running(running), .. }) = &self.task else { return Ok(()) };
                match ledger.decision(&call) {
                    Some(PolicyDecision::Allow) => within(running.control.send_tool_approved(&call)).await,
                    Some(PolicyDecision::Deny) => within(running.control.send_tool_denied(&call, NOBODY)).await,
                    None => Ok(()),
                }
            }
            Asked::Question(question) => {
                let resolved =
                    task.ledger.resolve(&question, QuestionOutcome::Declined, Some(roost_policy::NO_APPROVER));
                self.write(resolved.into_iter().collect()).await?.await?;
                let Some(Task { phase: Phase::Running(running), .. }) = &self.task else { return Ok(()) };
                within(running.control.send_answer(&question, Answer::Declined)).await
            }
        };
        if let Err(error) = told {
            let message = format!("the runtime did not take a decision: {error}");
            let notice = RuntimeNoticePayload { level: NoticeLevel::Warning, source: NoticeSource::Engine, message };
            self.write(vec![notice.into()]).await?;
        }
        Ok(())
    }

    async fn stop(
        &mut self,
        reason: String,
        reply: oneshot::Sender<Result<TaskOutcome, Error>>,
    ) -> Result<Flow, Error> {
        let Some(task) = &mut self.task else {
            let _ = reply.send(Err(Error::NothingToStop(self.profile.id.clone())));
            return Ok(Flow::Continue);
        };
        if let Some(stop) = &mut task.stop {
            stop.replies.push(reply);
            return Ok(Flow::Continue);
        }
        let deadline = Instant::now() + STOP_GRACE;
        task.stop = Some(Stop { reason: reason.clone(), deadline, replies: vec![reply] });
        match &task.phase {
            Phase::Running(running) => {
                if let Err(error) = within(running.control.stop()).await {
                    tracing::debug!(session = %self.profile.id, %error, "The runtime could not be asked to stop.");
                }
                Ok(Flow::Continue)
            }
            // Dropping what is being opened ends whatever of it exists already.
            Phase::Opening(_) => self.end(TaskEnd::Stopped(reason)).await,
        }
    }

    /// The runtime did not confirm the stop in time: the task is over, the runtime lingers.
    async fn stop_due(&mut self) -> Result<Flow, Error> {
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

    async fn lingered(&mut self, lingered: Lingered) -> Result<Flow, Error> {
        let quiet = match lingered {
            Lingered::Said(Some(drafts)) => drafts.iter().any(|draft| matches!(draft.fact, Fact::Ended(_))),
            Lingered::Said(None) => true,
            Lingered::Due => {
                if let Some(runtime) = self.runtime.take() {
                    runtime.close().await;
                }
                true
            }
        };
        if !quiet {
            return Ok(Flow::Continue);
        }
        self.linger = None;
        self.idle_since = Instant::now();
        self.settle().await
    }

    /// Ends the task and goes on to whatever is next.
    async fn end(&mut self, end: TaskEnd) -> Result<Flow, Error> {
        self.finish(end).await?;
        self.settle().await
    }

    /// Writes the end of the task and tells whoever waits for it.
    async fn finish(&mut self, end: TaskEnd) -> Result<(), Error> {
        let Some(mut task) = self.task.take() else { return Ok(()) };
        let end = match (&task.stop, end) {
            // Whatever a runtime makes of a stop, it was a stop; only a task that was finished already is not.
            (Some(stop), TaskEnd::Stopped(_) | TaskEnd::Failed(_)) => TaskEnd::Stopped(stop.reason.clone()),
            (_, end) => end,
        };
        let runtime_is_dead = matches!(&end, TaskEnd::Failed(error) if error.code == FailureCode::RuntimeExited);
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
            let _ = reply.send(Ok(outcome));
        }
        if runtime_is_dead && let Some(runtime) = self.runtime.take() {
            runtime.close().await;
        }
        Ok(())
    }

    /// Starts what is next in the queue; a session without a runtime and without work is closed.
    async fn settle(&mut self) -> Result<Flow, Error> {
        if self.linger.is_some() {
            return Ok(Flow::Continue);
        }
        if self.queue.first().is_some_and(|prompt| !prompt.held) {
            let prompt = self.queue.remove(0);
            let queue = Some(self.queue.clone());
            let update = SessionUpdatedPayload { queue, ..Default::default() };
            match self.begin(prompt.clone(), vec![update.into()]).await {
                Ok(_) => return Ok(Flow::Continue),
                Err(Error::TooManySessions { .. }) => self.queue.insert(0, prompt),
                Err(error) => return Err(error),
            }
        }
        match self.runtime {
            Some(_) => Ok(Flow::Continue),
            None => self.release("the runtime is gone").await,
        }
    }

    /// Lets the runtime go and closes the session; the next prompt opens it again.
    async fn release(&mut self, reason: &str) -> Result<Flow, Error> {
        self.close(reason).await?;
        Ok(Flow::End)
    }

    async fn close(&mut self, reason: &str) -> Result<(), Error> {
        self.inbox.close();
        if self.status == SessionStatus::Created {
            return Ok(());
        }
        if let Some(Task { phase: Phase::Running(running), .. }) = &self.task {
            // Best effort: the process is ended below in any case.
            let _ = within(running.control.stop()).await;
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
        if let Some(runtime) = self.runtime.take() {
            runtime.close().await;
        }
        if let Ok(status) = self.status.after(SessionStep::Gone) {
            self.status = status;
            self.write(vec![SessionClosedPayload { reason: reason.into() }.into()]).await?.await?;
        }
        Ok(())
    }

    /// Ends the runtime at once, without asking it.
    fn cut(&mut self) {
        self.runtime = None;
        if let Some(task) = &mut self.task {
            task.phase = Phase::Opening(Box::pin(std::future::pending()));
        }
    }

    async fn write(&mut self, bodies: Vec<EventBody>) -> Result<Receipt, Error> {
        let now = Timestamp::now();
        let events = bodies.into_iter().map(|body| self.scribe.stamp(now, body, None)).collect();
        self.hand_over(events).await
    }

    /// Hands events to the log. While a full disk keeps it from taking them, the runtime must not go on unseen.
    async fn hand_over(&mut self, events: Vec<NewEvent>) -> Result<Receipt, Error> {
        let taken = self.scribe.hand_over(events);
        let stalled = self.scribe.stalled();
        tokio::pin!(taken, stalled);
        tokio::select! {
            biased;
            receipt = &mut taken => return receipt,
            () = &mut stalled => self.cut(),
        }
        taken.await
    }
}

async fn within(told: impl Future<Output = Result<(), AdapterError>>) -> Result<(), AdapterError> {
    match tokio::time::timeout(CONTROL_PATIENCE, told).await {
        Ok(answer) => answer,
        Err(_) => Err(AdapterError::Runtime { message: "the runtime does not read its input".into(), raw: None }),
    }
}
