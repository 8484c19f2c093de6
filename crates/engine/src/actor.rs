//! A session as an actor: one loop handles one event at a time, and writes every decision to the log before it acts.

mod amending;
mod deciding;
mod drafts;
mod ending;
mod gateway;
mod gateway_questions;
mod hosting;
mod spending;
mod steering;

use std::collections::HashMap;
use std::sync::Arc;

use futures::FutureExt;
use roost_log::Receipt;
use roost_model::approval::Answerer;
use roost_model::canonical;
use roost_model::event::{EventBody, NewEvent, RuntimeRef};
use roost_model::failure::{FailureCode, TaskError};
use roost_model::ids::{PromptId, QuestionId, RuntimeSessionId, TaskId};
use roost_model::mode::{Mode, PermissionMode};
use roost_model::payload::{ModelInputPayload, SessionUpdatedPayload, TaskStartedPayload};
use roost_model::runtime::InteractionMode;
use roost_model::session::{QueuedPrompt, SessionRecord, SessionStatus, SessionStep, SessionUsage};
use roost_model::time::Timestamp;
use roost_model::tool::ToolCallIdentity;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use self::drafts::CONTROL_TIMEOUT;
use self::gateway::WaitingCalls;
use self::gateway_questions::WaitingQuestions;
use crate::adapter::{SentInput, StartedTask, TaskEnd};
use crate::artifacts::Artifacts;
use crate::command::{Accepted, Command, Delivery, Prompt};
use crate::engine::Shared;
use crate::error::Error;
use crate::event_writer::EventWriter;
use crate::host_tools;
use crate::ledger::Ledger;
use crate::policy_context::Approver;
use crate::runtime::{self, Job, Opening, OpeningOutcome, Profile, Runtime};
use crate::shell_folders::ShellFolders;
use crate::task::{LingerEvent, LingeringRuntime, Phase, Task, TaskEvent, sleep_until};

/// The most prompts that may wait in one session.
const MAX_QUEUE: usize = 100;
/// The most bytes of JSON that they may have together: one event holds them all, and it must fit into a client's frame.
const MAX_QUEUE_BYTES: usize = 512 << 10;

/// Everything that the actor's loop waits for.
enum ActorEvent {
    Command(Command),
    /// The engine dropped its handle, so no command can come any more.
    InboxClosed,
    Task(TaskEvent),
    /// The sender of a gateway call no longer waits for the decision about it.
    GatewayCallWithdrawn(ToolCallIdentity),
    /// The sender of a question no longer waits for its answer.
    GatewayQuestionWithdrawn(QuestionId),
    Linger(LingerEvent),
    RuntimeExited,
    IdleTimeout,
    /// The session is idle and another one waits for a slot.
    SlotNeeded,
    /// The disk is full.
    LogStalled,
}

/// Whether the actor's loop continues.
enum Flow {
    Continue,
    End,
}

/// The state that an actor starts from. A runtime and a task are there only if they were taken over.
pub(crate) struct InitialState {
    pub(crate) profile: Profile,
    pub(crate) record: SessionRecord,
    pub(crate) runtime: Option<Runtime>,
    pub(crate) task: Option<Task>,
}

/// Stores the input that was sent to the runtime, without secret settings, and builds the event that refers to it. If
/// it cannot be stored, the event still has its hash.
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

/// The options of a prompt, besides its message.
#[derive(Clone)]
struct PromptOptions {
    mode: Option<Mode>,
    model: Option<String>,
    approver: Approver,
    never_yolo: bool,
    by: Answerer,
}

impl PromptOptions {
    /// Whether the prompt must not run if the session is in this mode.
    fn is_forbidden_in(&self, mode: Mode) -> bool {
        self.never_yolo && self.mode.unwrap_or(mode) == Mode::Yolo
    }
}

/// The actor of one session. It lives while the session has a runtime or waits for its first prompt.
pub(crate) struct Actor {
    shared: Arc<Shared>,
    profile: Profile,
    inbox: mpsc::Receiver<Command>,
    writer: EventWriter,
    status: SessionStatus,
    mode: Mode,
    native: Option<RuntimeSessionId>,
    queue: Vec<QueuedPrompt>,
    /// The options of the queued prompts. Not stored: after a restart, prompts are held and run with the defaults.
    prompt_options: HashMap<PromptId, PromptOptions>,
    runtime: Option<Runtime>,
    /// The possible current folders of the runtime's shell.
    shell_folders: ShellFolders,
    /// The session's model was changed after the runtime was opened.
    is_outdated: bool,
    /// The runtime's settings were changed after it was opened. It takes them only when it is started.
    has_new_settings: bool,
    /// The model of the task that is being started. It becomes the session's when the runtime has taken the task.
    choosing: Option<String>,
    task: Option<Task>,
    linger: Option<LingeringRuntime>,
    /// Calls of the MCP gateway that wait for a decision.
    gateway_calls: WaitingCalls,
    /// Questions of the MCP gateway that wait for an answer.
    gateway_questions: WaitingQuestions,
    idle_since: Instant,
    /// What the session used in its life, by its events.
    usage: SessionUsage,
    /// It grew since the budget was looked at.
    usage_changed: bool,
}

impl Actor {
    pub(crate) fn new(shared: Arc<Shared>, initial: InitialState, inbox: mpsc::Receiver<Command>) -> Self {
        let InitialState { profile, record, runtime, task } = initial;
        let mut name = RuntimeRef::new(record.runtime);
        name.runtime_session_id.clone_from(&record.runtime_session_id);
        let mut writer = EventWriter::new(shared.log.clone(), &profile.id, name);
        writer.set_task(task.as_ref().map(|task| task.id.clone()));
        Self {
            shell_folders: ShellFolders::new(profile.cwd.clone().into()),
            shared,
            profile,
            inbox,
            writer,
            status: record.status,
            mode: record.mode,
            native: record.runtime_session_id,
            queue: record.queue,
            prompt_options: HashMap::new(),
            runtime,
            is_outdated: false,
            has_new_settings: false,
            choosing: None,
            task,
            linger: None,
            gateway_calls: WaitingCalls::default(),
            gateway_questions: WaitingQuestions::default(),
            idle_since: Instant::now(),
            usage: record.usage,
            usage_changed: false,
        }
    }

    /// Runs until the session is closed or the log fails. Afterwards the runtime is gone and every command is answered.
    pub(crate) async fn run(mut self) -> Result<(), Error> {
        let ended = loop {
            let event = self.next().await;
            let handled = self.handle(event).await;
            let answered = self.answer_gateway_calls().await;
            self.cancel_ended_questions();
            match handled.and_then(|flow| answered.map(|()| flow)) {
                Ok(Flow::Continue) => {}
                Ok(Flow::End) => break Ok(()),
                Err(error) => break Err(error),
            }
            if let Err(error) = self.end_idle_client_task().await {
                break Err(error);
            }
        };
        self.discard_runtime().await;
        self.inbox.close();
        while let Some(command) = self.inbox.recv().await {
            command.give_back();
        }
        ended
    }

    async fn next(&mut self) -> ActorEvent {
        let idle = self.task.is_none() && self.linger.is_none();
        let open = idle && self.runtime.is_some();
        // While a task is being started, its `Opening` owns the runtime; a lingering runtime is watched by itself.
        let alive = open || self.task.as_ref().is_some_and(|task| task.exit_deadline.is_none());
        let expires = idle.then(|| self.idle_since + self.shared.config.idle_timeout);
        tokio::select! {
            // Commands first: a stop must be handled even during a flood of output.
            biased;
            command = self.inbox.recv() => command.map_or(ActorEvent::InboxClosed, ActorEvent::Command),
            () = self.writer.stalled(), if self.task.is_some() => ActorEvent::LogStalled,
            event = async { match &mut self.task { Some(task) => task.next().await, None => std::future::pending().await } } => ActorEvent::Task(event),
            call = self.gateway_calls.withdrawn() => ActorEvent::GatewayCallWithdrawn(call),
            question = self.gateway_questions.withdrawn() => ActorEvent::GatewayQuestionWithdrawn(question),
            event = async { match &mut self.linger { Some(linger) => linger.next().await, None => std::future::pending().await } } => ActorEvent::Linger(event),
            () = async { match &mut self.runtime { Some(runtime) => runtime.session.exited().await, None => std::future::pending().await } }, if alive => ActorEvent::RuntimeExited,
            () = self.shared.slots.wanted(), if open => ActorEvent::SlotNeeded,
            () = sleep_until(expires) => ActorEvent::IdleTimeout,
        }
    }

    async fn handle(&mut self, event: ActorEvent) -> Result<Flow, Error> {
        match event {
            ActorEvent::Command(Command::Prompt { prompt, reply }) => {
                // The prompt counts even if its sender no longer waits for the answer.
                let _ = reply.send(Some(self.prompt(prompt).await));
                Ok(Flow::Continue)
            }
            ActorEvent::Command(Command::Stop { reason, by, reply }) => self.stop(reason, by, reply).await,
            ActorEvent::Command(Command::Close { reason, reply }) => {
                let _ = reply.send(Some(self.close(&reason).await));
                Ok(Flow::End)
            }
            ActorEvent::Command(Command::GatewayCall { call, reply }) => {
                self.on_gateway_call(call, reply).await?;
                self.stop_if_spent().await
            }
            ActorEvent::Command(Command::GatewayDone { identity, result, is_error, reply }) => {
                self.on_gateway_done(&identity, result, is_error).await?;
                let _ = reply.send(Some(Ok(())));
                Ok(Flow::Continue)
            }
            ActorEvent::GatewayCallWithdrawn(call) => {
                self.on_gateway_call_withdrawn(&call).await?;
                Ok(Flow::Continue)
            }
            ActorEvent::Command(Command::GatewayQuestion { question, reply }) => {
                self.on_gateway_question(question, reply).await?;
                Ok(Flow::Continue)
            }
            ActorEvent::Command(Command::Usage { usage, reply }) => {
                if self.task.is_some() {
                    self.write(vec![usage.into()]).await?;
                }
                let _ = reply.send(Some(Ok(())));
                self.stop_if_spent().await
            }
            ActorEvent::GatewayQuestionWithdrawn(question) => {
                self.on_gateway_question_withdrawn(&question).await?;
                Ok(Flow::Continue)
            }
            ActorEvent::InboxClosed => {
                self.close("Roost is shutting down").await?;
                Ok(Flow::End)
            }
            ActorEvent::Task(TaskEvent::Opened(opened)) => self.on_opened(opened).await,
            ActorEvent::Task(TaskEvent::Drafts(Some(drafts))) => self.on_drafts(drafts).await,
            ActorEvent::Task(TaskEvent::Drafts(None)) => {
                let end = TaskEnd::failed(FailureCode::Internal, "the runtime's adapter ended without a result");
                self.finish(end).await?;
                self.discard_runtime().await;
                self.start_next_or_close().await
            }
            ActorEvent::Task(TaskEvent::ExitDue) => {
                self.end(TaskEnd::failed(FailureCode::RuntimeExited, "the runtime exited without a result")).await
            }
            ActorEvent::Command(Command::Respond { response, reply }) => {
                let answered = self.respond(response).await;
                // If the log failed, the session ends.
                let failed = matches!(answered, Err(Error::Log(_)));
                let _ = reply.send(Some(answered));
                Ok(if failed { Flow::End } else { Flow::Continue })
            }
            ActorEvent::Command(Command::Amend { amendment, reply }) => {
                let amended = self.amend(amendment).await;
                let failed = matches!(amended, Err(Error::Log(_)));
                let _ = reply.send(Some(amended));
                Ok(if failed { Flow::End } else { Flow::Continue })
            }
            ActorEvent::Command(Command::RemoveQueued { prompt, reply }) => {
                let removed = self.remove_queued(&prompt).await;
                let failed = matches!(removed, Err(Error::Log(_)));
                let _ = reply.send(Some(removed));
                Ok(if failed { Flow::End } else { Flow::Continue })
            }
            ActorEvent::Task(TaskEvent::DecisionExpired(asked)) => {
                self.expire_decision(asked).await?;
                Ok(Flow::Continue)
            }
            ActorEvent::Task(TaskEvent::HostTool(done)) => {
                self.host_tool_done(done).await?;
                Ok(Flow::Continue)
            }
            ActorEvent::Task(TaskEvent::StopDue) => self.on_stop_timeout().await,
            ActorEvent::Linger(event) => self.on_linger_event(event).await,
            ActorEvent::RuntimeExited => self.on_runtime_exit().await,
            ActorEvent::IdleTimeout => self.release("no task for a while").await,
            ActorEvent::SlotNeeded => self.release("its place was needed for another session").await,
            ActorEvent::LogStalled => {
                self.kill_runtime();
                self.end(TaskEnd::Failed(Box::new(ending::storage_full()))).await
            }
        }
    }

    async fn prompt(&mut self, prompt: Prompt) -> Result<Accepted, Error> {
        if self.writer.is_stalled() {
            return Err(Error::DiskFull);
        }
        if self.is_mcp_client() {
            return Err(Error::NotPromptable(self.profile.id.clone()));
        }
        let Prompt { message, mode, model, approver, never_yolo, delivery, by } = prompt;
        let options = PromptOptions { mode, model, approver, never_yolo, by };
        if options.is_forbidden_in(self.mode) {
            return Err(Error::Yolo(self.profile.id.clone()));
        }
        if delivery == Delivery::Steer
            && let Some(task) = self.steer(&message, &options).await?
        {
            return Ok(Accepted::Steered(task));
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
            self.prompt_options.insert(prompt_id.clone(), options);
            let queue = Some(self.queue.clone());
            self.write(vec![SessionUpdatedPayload { queue, ..Default::default() }.into()]).await?.await?;
            let is_first = self.queue.iter().filter(|prompt| !prompt.held).count() == 1;
            if let Some(Task { phase: Phase::Running(running), .. }) = &self.task
                && is_first
            {
                // A runtime that does not take it in time goes on until its own end.
                let _ = timeout(CONTROL_TIMEOUT, running.control.prompt_waiting()).await;
            }
            return Ok(Accepted::Queued(prompt_id));
        }
        let queued = QueuedPrompt { prompt_id: PromptId::new(), message, held: false };
        self.begin(queued, options, Vec::new()).await.map(Accepted::Started)
    }

    /// Starts a task. The events of `before` are written together with the task's first one.
    async fn begin(
        &mut self,
        prompt: QueuedPrompt,
        options: PromptOptions,
        mut before: Vec<EventBody>,
    ) -> Result<TaskId, Error> {
        let out_of_budget = self.out_of_budget(options.approver).await;
        if let Some(runtime) = &mut self.runtime
            && (out_of_budget.is_some() || runtime.session.exited().now_or_never().is_some())
        {
            self.discard_runtime().await;
        }
        let model = options.model.filter(|model| self.profile.input.model.as_ref() != Some(model));
        let is_outdated = std::mem::take(&mut self.is_outdated) || model.is_some();
        let has_new_settings = std::mem::take(&mut self.has_new_settings);
        if let Some(runtime) = &self.runtime
            && (has_new_settings
                || is_outdated && !runtime.session.switches_model()
                || runtime.lacks_servers(&self.shared, &self.profile.id))
        {
            self.discard_runtime().await;
        }
        let slot = match self.runtime {
            _ if out_of_budget.is_some() => None,
            Some(_) => None,
            None => Some(self.shared.slots.claim()?),
        };
        self.mode = options.mode.unwrap_or(self.mode);
        let mut profile = self.profile.clone();
        if model.is_some() {
            profile.input.model.clone_from(&model);
        }
        self.choosing = model;
        let task_id = TaskId::new();
        if let Ok(status) = self.status.after(SessionStep::Prompt) {
            self.status = status;
        }
        let interaction_mode = match options.approver {
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
        self.writer.set_task(Some(task_id.clone()));
        self.writer.set_prompted_by(options.by);
        before.push(started.into());
        self.write(before).await?.await?;

        let opening = match (self.runtime.take(), slot) {
            (Some(runtime), _) => runtime::start(self.shared.clone(), runtime, profile.id, job),
            (None, Some(slot)) => {
                self.shell_folders = ShellFolders::new(profile.cwd.clone().into());
                runtime::open(self.shared.clone(), slot, profile, self.native.clone(), job)
            }
            // Without a runtime a slot was claimed above, unless there is no budget.
            (None, None) => Opening::failed(
                out_of_budget.unwrap_or_else(|| TaskError::new(FailureCode::Internal, "no place for a runtime")),
            ),
        };
        let ledger = Ledger::new(self.mode);
        self.task = Some(Task::new(task_id.clone(), self.mode, options.approver, ledger, Phase::Opening(opening)));
        Ok(task_id)
    }

    async fn on_opened(&mut self, opened: OpeningOutcome) -> Result<Flow, Error> {
        self.runtime = opened.runtime;
        let native = self.runtime.as_ref().and_then(|runtime| runtime.session.native_id());
        if native.is_some() && native != self.native {
            self.native.clone_from(&native);
            self.writer.runtime.runtime_session_id.clone_from(&native);
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
                    task.permissions =
                        self.runtime.as_ref().map(|runtime| runtime.session.permissions()).unwrap_or_default();
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
            events.push(self.stamp(now, body, None).await);
        }
        self.append(events).await
    }

    /// Queues events in the log. If a full disk blocks it, the runtime is ended, because it must not act unrecorded.
    async fn append(&mut self, events: Vec<NewEvent>) -> Result<Receipt, Error> {
        let taken = self.writer.append(events);
        let stalled = self.writer.stalled();
        tokio::pin!(taken, stalled);
        tokio::select! {
            biased;
            receipt = &mut taken => return receipt,
            () = &mut stalled => self.kill_runtime(),
        }
        taken.await
    }
}
