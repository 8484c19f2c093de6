//! A session as an actor: one loop, one event at a time, everything it decides written to the log first.

mod amending;
mod deciding;
mod ending;
mod hosting;
mod listening;

use std::collections::HashMap;
use std::sync::Arc;

use futures::FutureExt;
use roost_log::Receipt;
use roost_model::canonical;
use roost_model::event::{EventBody, NewEvent, RuntimeRef};
use roost_model::failure::{FailureCode, TaskError};
use roost_model::ids::{PromptId, RuntimeSessionId, TaskId};
use roost_model::mode::{Mode, PermissionMode};
use roost_model::payload::{ModelInputPayload, SessionUpdatedPayload, TaskStartedPayload};
use roost_model::runtime::InteractionMode;
use roost_model::session::{QueuedPrompt, SessionRecord, SessionStatus, SessionStep};
use roost_model::time::Timestamp;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::adapter::{SentInput, StartedTask, TaskEnd};
use crate::artifacts::Artifacts;
use crate::command::{Accepted, Command, Prompt};
use crate::engine::Shared;
use crate::error::Error;
use crate::event_writer::EventWriter;
use crate::host_tools;
use crate::ledger::Ledger;
use crate::policy_context::Approver;
use crate::runtime::{self, Job, Opened, Opening, Profile, Runtime};
use crate::shell_folders::ShellFolders;
use crate::task::{Linger, Lingered, Phase, Task, TaskEvent, at};

/// Most prompts that wait in one session.
const MAX_QUEUE: usize = 100;
/// Most bytes that they have together: all of them are in one event, and that must fit into a client's frame.
const MAX_QUEUE_BYTES: usize = 512 << 10;

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

/// What an actor begins with.
pub(crate) struct Origin {
    pub(crate) profile: Profile,
    pub(crate) record: SessionRecord,
    pub(crate) runtime: Option<Runtime>,
    pub(crate) task: Option<Task>,
}

/// Keeps what went to the runtime, and says where. What cannot be kept is still known by its hash.
async fn model_input(artifacts: &Artifacts, mut sent: SentInput) -> ModelInputPayload {
    if let Some(Value::Object(settings)) = sent.input.get_mut("runtime_config") {
        *settings = roost_policy::redact_settings(settings);
    }
    let keep = async |value: &Value, name| {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        match artifacts.put(text.into_bytes(), "application/json", name).await {
            Ok(stored) => Some(stored),
            Err(error) => {
                tracing::warn!(%error, name, "What a runtime was told could not be kept.");
                None
            }
        }
    };
    let sources = serde_json::to_value(&sent.implicit_sources).unwrap_or_default();
    ModelInputPayload {
        input_ref: keep(&sent.input, "model_input.json").await,
        input_hash: canonical::hash(&sent.input),
        context_window: sent.context_window,
        implicit_sources_ref: keep(&sources, "implicit_sources.json").await,
    }
}

/// How a prompt wants to be served.
#[derive(Clone)]
struct Manner {
    mode: Option<Mode>,
    model: Option<String>,
    approver: Approver,
    never_yolo: bool,
}

impl Manner {
    /// Whether it may not run, because this is the session's mode.
    fn is_barred(&self, mode: Mode) -> bool {
        self.never_yolo && self.mode.unwrap_or(mode) == Mode::Yolo
    }
}

/// One live session.
pub(crate) struct Actor {
    shared: Arc<Shared>,
    profile: Profile,
    inbox: mpsc::Receiver<Command>,
    scribe: EventWriter,
    status: SessionStatus,
    mode: Mode,
    native: Option<RuntimeSessionId>,
    queue: Vec<QueuedPrompt>,
    /// What queued prompts bring along besides their words.
    manners: HashMap<PromptId, Manner>,
    runtime: Option<Runtime>,
    /// Where the runtime's shell may stand.
    shell_folders: ShellFolders,
    /// The runtime was opened with another model than the session has now.
    is_outdated: bool,
    /// The model that the task which is being started asks for; the session's when the runtime has taken it.
    choosing: Option<String>,
    task: Option<Task>,
    linger: Option<Linger>,
    idle_since: Instant,
}

impl Actor {
    pub(crate) fn new(shared: Arc<Shared>, origin: Origin, inbox: mpsc::Receiver<Command>) -> Self {
        let Origin { profile, record, runtime, task } = origin;
        let mut name = RuntimeRef::new(record.runtime);
        name.runtime_session_id.clone_from(&record.runtime_session_id);
        let mut scribe = EventWriter::new(shared.log.clone(), &profile.id, name);
        scribe.set_task(task.as_ref().map(|task| task.id.clone()));
        Self {
            shell_folders: ShellFolders::new(profile.cwd.clone().into()),
            shared,
            profile,
            inbox,
            scribe,
            status: record.status,
            mode: record.mode,
            native: record.runtime_session_id,
            queue: record.queue,
            manners: HashMap::new(),
            runtime,
            is_outdated: false,
            choosing: None,
            task,
            linger: None,
            idle_since: Instant::now(),
        }
    }

    /// Runs until the session is closed or the log fails; the runtime is gone and every command answered afterwards.
    pub(crate) async fn run(mut self) -> Result<(), Error> {
        let ended = loop {
            let event = self.next().await;
            match self.handle(event).await {
                Ok(Flow::Continue) => {}
                Ok(Flow::End) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.discard_runtime().await;
        self.inbox.close();
        while let Some(command) = self.inbox.recv().await {
            command.give_back();
        }
        ended
    }

    async fn next(&mut self) -> Event {
        let idle = self.task.is_none() && self.linger.is_none();
        let open = idle && self.runtime.is_some();
        // While a task is being started its runtime is elsewhere; one that lingers has its own end.
        let alive = open || self.task.as_ref().is_some_and(|task| task.exit_deadline.is_none());
        let expires = idle.then(|| self.idle_since + self.shared.config.idle_timeout);
        tokio::select! {
            // Commands first: a stop must be heard in the middle of a flood.
            biased;
            command = self.inbox.recv() => command.map_or(Event::Abandoned, Event::Command),
            () = self.scribe.stalled(), if self.task.is_some() => Event::Stalled,
            event = async { match &mut self.task { Some(task) => task.next().await, None => std::future::pending().await } } => Event::Task(event),
            event = async { match &mut self.linger { Some(linger) => linger.next().await, None => std::future::pending().await } } => Event::Linger(event),
            () = async { match &mut self.runtime { Some(runtime) => runtime.session.exited().await, None => std::future::pending().await } }, if alive => Event::Exited,
            () = self.shared.slots.wanted(), if open => Event::Wanted,
            () = at(expires) => Event::Expired,
        }
    }

    async fn handle(&mut self, event: Event) -> Result<Flow, Error> {
        match event {
            Event::Command(Command::Prompt { prompt, reply }) => {
                // Nobody waits for the answer any more: the prompt counts all the same.
                let _ = reply.send(Some(self.prompt(prompt).await));
                Ok(Flow::Continue)
            }
            Event::Command(Command::Stop { reason, reply }) => self.stop(reason, reply).await,
            Event::Command(Command::Close { reason, reply }) => {
                let _ = reply.send(Some(self.close(&reason).await));
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
                self.finish(end).await?;
                self.discard_runtime().await;
                self.settle().await
            }
            Event::Task(TaskEvent::ExitDue) => {
                self.end(TaskEnd::failed(FailureCode::RuntimeExited, "the runtime exited without a result")).await
            }
            Event::Command(Command::Respond { response, reply }) => {
                let answered = self.respond(response).await;
                // An answer that is not in the log is the log's failure, and the session's end.
                let failed = matches!(answered, Err(Error::Log(_)));
                let _ = reply.send(Some(answered));
                Ok(if failed { Flow::End } else { Flow::Continue })
            }
            Event::Command(Command::Amend { amendment, reply }) => {
                let amended = self.amend(amendment).await;
                let failed = matches!(amended, Err(Error::Log(_)));
                let _ = reply.send(Some(amended));
                Ok(if failed { Flow::End } else { Flow::Continue })
            }
            Event::Task(TaskEvent::AskDue(asked)) => {
                self.ask_due(asked).await?;
                Ok(Flow::Continue)
            }
            Event::Task(TaskEvent::HostTool(done)) => {
                self.host_tool_done(done).await?;
                Ok(Flow::Continue)
            }
            Event::Task(TaskEvent::StopDue) => self.stop_due().await,
            Event::Linger(lingered) => self.lingered(lingered).await,
            Event::Exited => self.exited().await,
            Event::Expired => self.release("no task for a while").await,
            Event::Wanted => self.release("its place was needed for another session").await,
            Event::Stalled => {
                self.cut();
                self.end(TaskEnd::Failed(Box::new(ending::storage_full()))).await
            }
        }
    }

    async fn prompt(&mut self, prompt: Prompt) -> Result<Accepted, Error> {
        if self.scribe.is_stalled() {
            return Err(Error::DiskFull);
        }
        let Prompt { message, mode, model, approver, never_yolo } = prompt;
        let manner = Manner { mode, model, approver, never_yolo };
        if manner.is_barred(self.mode) {
            return Err(Error::Yolo(self.profile.id.clone()));
        }
        if self.task.is_some() || self.linger.is_some() {
            if self.queue.len() >= MAX_QUEUE {
                return Err(Error::QueueFull { session: self.profile.id.clone(), max: MAX_QUEUE });
            }
            let prompt_id = PromptId::new();
            let queued = QueuedPrompt { prompt_id: prompt_id.clone(), message, held: false };
            let bytes = serde_json::to_string(&(&self.queue, &queued)).map_or(usize::MAX, |text| text.len());
            if bytes > MAX_QUEUE_BYTES {
                return Err(Error::QueueTooBig { session: self.profile.id.clone(), max: MAX_QUEUE_BYTES });
            }
            self.queue.push(queued);
            self.manners.insert(prompt_id.clone(), manner);
            let queue = Some(self.queue.clone());
            self.write(vec![SessionUpdatedPayload { queue, ..Default::default() }.into()]).await?.await?;
            return Ok(Accepted::Queued(prompt_id));
        }
        let queued = QueuedPrompt { prompt_id: PromptId::new(), message, held: false };
        self.begin(queued, manner, Vec::new()).await.map(Accepted::Started)
    }

    /// Starts a task; `before` is written together with its first event.
    async fn begin(
        &mut self,
        prompt: QueuedPrompt,
        manner: Manner,
        mut before: Vec<EventBody>,
    ) -> Result<TaskId, Error> {
        if let Some(runtime) = &mut self.runtime
            && runtime.session.exited().now_or_never().is_some()
        {
            self.discard_runtime().await;
        }
        let model = manner.model.filter(|model| self.profile.input.model.as_ref() != Some(model));
        let is_outdated = std::mem::take(&mut self.is_outdated) || model.is_some();
        if let Some(runtime) = &self.runtime
            && is_outdated
            && !runtime.session.switches_model()
        {
            self.discard_runtime().await;
        }
        let slot = match self.runtime {
            Some(_) => None,
            None => Some(self.shared.slots.claim()?),
        };
        self.mode = manner.mode.unwrap_or(self.mode);
        let mut profile = self.profile.clone();
        if model.is_some() {
            profile.input.model.clone_from(&model);
        }
        self.choosing = model;
        let task_id = TaskId::new();
        if let Ok(status) = self.status.after(SessionStep::Prompt) {
            self.status = status;
        }
        let interaction_mode = match manner.approver {
            Approver::Present => InteractionMode::Interactive,
            Approver::Nobody => InteractionMode::NonInteractive,
        };
        let job = Job {
            task_id: task_id.clone(),
            message: prompt.message.clone(),
            mode: self.mode,
            model: profile.input.model.clone(),
            interaction_mode,
            tool_manifest: self.shared.config.host_tools.as_deref().map(host_tools::manifest),
        };
        let started = TaskStartedPayload {
            messages: vec![prompt.message],
            permission_mode: PermissionMode::from(self.mode),
            mode: self.mode,
            interaction_mode,
            prompt_id: Some(prompt.prompt_id),
        };
        self.scribe.set_task(Some(task_id.clone()));
        before.push(started.into());
        self.write(before).await?.await?;

        let opening = match (self.runtime.take(), slot) {
            (Some(runtime), _) => runtime::start(self.shared.clone(), runtime, job),
            (None, Some(slot)) => {
                self.shell_folders = ShellFolders::new(profile.cwd.clone().into());
                runtime::open(self.shared.clone(), slot, profile, self.native.clone(), job)
            }
            // Without a runtime a slot was claimed above.
            (None, None) => Opening::failed(TaskError::new(FailureCode::Internal, "no place for a runtime")),
        };
        let ledger = Ledger::new(self.mode);
        self.task = Some(Task::new(task_id.clone(), self.mode, manner.approver, ledger, Phase::Opening(opening)));
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
        match opened.task {
            Ok(StartedTask { input, task: running }) => {
                let mut events = Vec::new();
                if let Some(model) = self.choosing.take() {
                    self.profile.input.model = Some(model.clone());
                    events.push(SessionUpdatedPayload { model: Some(model), ..Default::default() }.into());
                }
                events.push(model_input(&self.shared.artifacts, input).await.into());
                self.write(events).await?;
                if let Some(task) = &mut self.task {
                    task.phase = Phase::Running(running);
                }
            }
            Err(mut failure) => {
                failure.runtime = Some(self.profile.adapter.name());
                return self.end(TaskEnd::Failed(Box::new(failure))).await;
            }
        }
        Ok(Flow::Continue)
    }

    async fn write(&mut self, bodies: Vec<EventBody>) -> Result<Receipt, Error> {
        let now = Timestamp::now();
        let mut events = Vec::with_capacity(bodies.len());
        for body in bodies {
            events.push(self.scribe.small(&self.shared.artifacts, now, body, None).await);
        }
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
