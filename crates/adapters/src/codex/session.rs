//! An open Codex session: the handshake, its thread, its tasks, and how a running task is controlled.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use roost_engine::Images;
use roost_engine::adapter::{
    AdapterError, Answer, DRAFT_QUEUE, OpenSession, Reattached, RuntimeSession, RuntimeTask, SentInput, StartedTask,
    TaskControl, TaskInput,
};
use roost_model::content::TranscriptMessage;
use roost_model::ids::{QuestionId, RuntimeSessionId};
use roost_model::mode::Mode;
use roost_model::tool::ToolCallIdentity;
use roost_model::tool::ToolManifest;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::connection::{CodexCommand, CodexConnection, ToolDecision};
use super::failure::from_rpc_error;
use super::history;
use super::home::{self, CodexHome};
use super::map::OPTED_OUT;
use super::prompt;
use super::resume_point::{ResumePoint, Thread};
use super::resume_result::PastTurnState;
use super::sandbox::{Sandbox, WorkspaceSettings};
use super::slash::SlashCommand;
use super::socket::Socket;
use super::thread;
use super::turn::{START_METHOD, TurnStart};
use crate::host::json_rpc::CallResult;
use crate::host::{Handle, Process, start};

/// How often `thread/resume` is tried while the end of a turn is not written down yet.
const CATCH_UP_TRIES: u32 = 10;
/// The pause between two of these tries.
const CATCH_UP_PAUSE: Duration = Duration::from_millis(100);

/// A started server that has no thread yet.
pub(super) struct Server {
    handle: Handle<CodexConnection>,
    socket: Socket,
    /// Where the link at `socket` leads; `None` if there was no link. Read at the start, because the link may be gone
    /// at the end.
    socket_target: Option<PathBuf>,
}

impl Server {
    /// Starts the pump of the connection and performs the `initialize` handshake.
    pub(super) async fn initialize(
        connection: CodexConnection,
        process: Process,
        socket: Socket,
    ) -> Result<Self, AdapterError> {
        let (handle, _) = start(connection, Some(process), ());
        let server = Self { handle, socket_target: socket.target().await, socket };
        let hello = json!({
            "clientInfo": { "name": "roost", "title": "Roost", "version": env!("CARGO_PKG_VERSION") },
            "capabilities": { "experimentalApi": true, "optOutNotificationMethods": OPTED_OUT },
        });
        server.call("initialize", hello).await?.map_err(from_rpc_error)?;
        server.handle.send(CodexCommand::Notify { method: "initialized" }).await?;
        Ok(server)
    }

    /// Takes over the session of a server that outlived an earlier daemon, and the task of `turn`, if that still runs
    /// or ended unheard. `since` is when the earlier daemon was lost, in milliseconds since 1970.
    pub(super) async fn reattach(
        self,
        point: ResumePoint,
        turn: Option<String>,
        since: u64,
    ) -> Result<Reattached, AdapterError> {
        let Some(Thread { id, .. }) = point.thread.clone() else { return Err(Handle::<CodexConnection>::gone()) };
        let task = match turn {
            Some(turn) => self.adopt(id, turn, since).await?,
            None => {
                let params = json!({ "threadId": id, "excludeTurns": true });
                self.call("thread/resume", params).await?.map_err(from_rpc_error)?;
                self.handle.send(CodexCommand::Bind { thread: id }).await?;
                None
            }
        };
        Ok(Reattached {
            session: Box::new(CodexSession { server: self, open: None, settings: Map::new(), point }),
            task,
        })
    }

    /// Subscribes to a turn again and fetches what it did since `since`; `None` if Codex does not know the turn.
    async fn adopt(&self, thread: String, turn: String, mut since: u64) -> Result<Option<RuntimeTask>, AdapterError> {
        let (sender, drafts) = mpsc::channel(DRAFT_QUEUE);
        self.handle.send(CodexCommand::Adopt { thread, turn, drafts: sender }).await?;
        for tries_left in (0..CATCH_UP_TRIES).rev() {
            let asked_at = now_ms();
            let state = self.handle.ask(|to| CodexCommand::CatchUp { since, last: tries_left == 0, to });
            match state.await? {
                None => return Ok(None),
                Some(PastTurnState::Running | PastTurnState::Ended) => break,
                Some(PastTurnState::Unsure) => tokio::time::sleep(CATCH_UP_PAUSE).await,
            }
            since = asked_at;
        }
        Ok(Some(RuntimeTask { drafts, control: Box::new(CodexTask(self.handle.clone())) }))
    }

    async fn call(&self, method: &'static str, params: Value) -> Result<CallResult, AdapterError> {
        self.handle.ask_with_timeout(method, |to| CodexCommand::Call { method, params, to }).await
    }
}

/// A session whose server waits for tasks. The first task starts the thread, because only then are the host's tools
/// known.
pub(super) struct CodexSession {
    server: Server,
    /// What the session was opened with. `None` for a session that was taken over, whose thread exists already.
    open: Option<OpenSession>,
    /// Codex's settings for the thread; empty for a session that was taken over.
    settings: Map<String, Value>,
    point: ResumePoint,
}

impl CodexSession {
    /// A new session, without a thread.
    pub(super) fn new(server: Server, open: OpenSession, home: CodexHome, settings: Map<String, Value>) -> Self {
        let point = ResumePoint {
            cwd: open.env.cwd.clone().into(),
            home: home.0,
            model: open.input.model.clone(),
            settings: settings.keys().cloned().collect(),
            thread: None,
        };
        Self { server, open: Some(open), settings, point }
    }

    /// Resumes a thread that Codex has on disk.
    pub(super) async fn resume(self, native: &RuntimeSessionId) -> Result<Self, AdapterError> {
        self.open_thread("thread/resume", native).await
    }

    /// Starts a thread with a copy of the history of one that Codex has on disk.
    pub(super) async fn fork(self, native: &RuntimeSessionId) -> Result<Self, AdapterError> {
        self.open_thread("thread/fork", native).await
    }

    /// Sends `thread/resume` or `thread/fork` and binds the session to the resulting thread.
    async fn open_thread(mut self, method: &'static str, native: &RuntimeSessionId) -> Result<Self, AdapterError> {
        let Some(open) = &self.open else { return Err(Handle::<CodexConnection>::gone()) };
        let sandbox = self.sandbox_for(open.mode);
        let mut params = thread::thread_params(open, sandbox, &self.workspace_settings().await?, &self.settings);
        params.insert("threadId".into(), native.as_str().into());
        params.insert("excludeTurns".into(), true.into());
        match self.server.call(method, params.into()).await? {
            Ok(answered) => {
                // Codex takes host tools only when a thread starts; a resumed one keeps those.
                let (home, id) = (self.point.home.clone(), native.clone());
                let tools = tokio::task::spawn_blocking(move || history::host_tools(&home, id.as_str()));
                let tools = tools.await.ok().and_then(Result::ok).flatten();
                self.bind(&answered, sandbox, tools).await?;
                Ok(self)
            }
            Err(error) if is_unknown_thread(&error.message) => Err(AdapterError::UnknownSession(native.clone())),
            Err(error) => Err(from_rpc_error(error)),
        }
    }

    async fn begin_thread(&mut self, input: &TaskInput) -> Result<(), AdapterError> {
        let Some(open) = &self.open else { return Err(Handle::<CodexConnection>::gone()) };
        let sandbox = self.sandbox_for(input.mode);
        let mut params = thread::thread_params(open, sandbox, &self.workspace_settings().await?, &self.settings);
        // Only these tell whether a command asks to leave the sandbox. A resumed thread cannot have them.
        params.insert("experimentalRawEvents".into(), true.into());
        if let Some(manifest) = &input.tool_manifest {
            params.insert("dynamicTools".into(), thread::host_tools(manifest));
        }
        let answered = self.server.call("thread/start", params.into()).await?.map_err(from_rpc_error)?;
        self.bind(&answered, sandbox, input.tool_manifest.clone()).await
    }

    /// Takes the thread of a response as the session's own and saves the resume point.
    async fn bind(
        &mut self,
        answered: &Value,
        sandbox: Option<Sandbox>,
        tools: Option<ToolManifest>,
    ) -> Result<(), AdapterError> {
        let Some(id) = answered.pointer("/thread/id").and_then(Value::as_str).map(str::to_owned) else {
            let message = "Codex made a thread without an id".into();
            return Err(AdapterError::Runtime { message, raw: None });
        };
        let found = answered.get("instructionSources").and_then(Value::as_array).into_iter().flatten();
        let instructions = found.filter_map(|path| Some(path.as_str()?.to_owned())).collect();
        self.server.handle.send(CodexCommand::Bind { thread: id.clone() }).await?;
        let wanted = sandbox.and_then(Sandbox::profile_name);
        let active = answered.get("activePermissionProfile");
        let profiles = active.is_some_and(|active| wanted.is_none_or(|wanted| active["id"] == wanted));
        // A Codex without profiles hears of the sandbox with the first turn.
        let sandbox = sandbox.filter(|sandbox| profiles || sandbox.profile_name().is_none());
        self.point.thread = Some(Thread { id, sandbox, profiles, instructions, tools });
        self.point.write(self.server.socket.folder()).await;
        Ok(())
    }

    /// The sandbox that the settings name, else that of the mode. `None` if a session that was taken over has named one
    /// in its settings, whose values are unknown here: its thread keeps what it has.
    fn sandbox_for(&self, mode: Mode) -> Option<Sandbox> {
        let named = || self.settings.get("sandbox_mode").and_then(Value::as_str).and_then(Sandbox::from_name);
        Sandbox::for_mode_unless_set(&self.point.settings, mode, true).or_else(named)
    }

    /// What the user set for the workspace's sandbox, in Codex's own files and for this session.
    async fn workspace_settings(&self) -> Result<WorkspaceSettings, AdapterError> {
        let params = json!({ "includeLayers": false, "cwd": self.point.cwd });
        let read = self.server.call("config/read", params).await?.unwrap_or_default();
        Ok(WorkspaceSettings::new(&read, &self.settings).with_missing_in(&self.point.cwd).await)
    }
}

#[async_trait]
impl RuntimeSession for CodexSession {
    fn native_id(&self) -> Option<RuntimeSessionId> {
        self.point.thread.as_ref().map(|thread| thread.id.as_str().into())
    }

    fn switches_model(&self) -> bool {
        true
    }

    async fn start_task(&mut self, input: TaskInput) -> Result<StartedTask, AdapterError> {
        if self.point.thread.is_none() {
            self.begin_thread(&input).await?;
        }
        let sandbox = self.sandbox_for(input.mode);
        let Some(thread) = &mut self.point.thread else { return Err(Handle::<CodexConnection>::gone()) };
        let changed = sandbox.filter(|_| sandbox != thread.sandbox);
        let prompt = prompt::prompt(&input, &self.point.cwd).await;
        let mut params = thread::turn_params(&thread.id, prompt, changed, thread.profiles);
        let model = input.model.clone().filter(|model| self.point.model.as_ref() != Some(model));
        if let Some(model) = &model {
            params["model"] = model.as_str().into();
        }
        let start = match SlashCommand::from_input(&input) {
            Some(SlashCommand::Compact) => TurnStart::compact(&thread.id),
            Some(SlashCommand::Unavailable(warning)) => TurnStart::prompt(params, Some(warning)),
            None => TurnStart::prompt(params, None),
        };
        let takes_settings = start.method == START_METHOD;
        let (sender, drafts) = mpsc::channel(DRAFT_QUEUE);
        self.server.handle.ask(|to| CodexCommand::Begin { start, drafts: sender, to }).await?;
        let (changed, model) = (changed.filter(|_| takes_settings), model.filter(|_| takes_settings));
        if takes_settings {
            thread.sandbox = sandbox;
        }
        let sources = home::sources(&self.point.home, &self.point.cwd, &thread.instructions).await;
        let tool_manifest = thread.tools.clone();
        let is_saved = changed.is_none() && model.is_none();
        self.point.model = model.or(self.point.model.take());
        if !is_saved {
            self.point.write(self.server.socket.folder()).await;
        }
        let sent_input = TaskInput { tool_manifest, ..input };
        let mut sent = SentInput::from_task(&sent_input, sources);
        let ResumePoint { model, settings, .. } = &self.point;
        let config = json!({ "model": model, "sandbox": sandbox.map(Sandbox::label), "settings": settings });
        sent.input["runtime_config"] = config;
        let control = Box::new(CodexTask(self.server.handle.clone()));
        Ok(StartedTask { input: sent, task: RuntimeTask { drafts, control } })
    }

    async fn exited(&mut self) {
        self.server.handle.exited().await;
    }

    async fn close(self: Box<Self>) {
        let Server { handle, socket_target, .. } = self.server;
        handle.close().await;
        if let Some(socket_target) = socket_target {
            Socket::remove_leftovers(socket_target).await;
        }
    }
}

/// Controls a running task.
struct CodexTask(Handle<CodexConnection>);

impl CodexTask {
    async fn decide(&self, call: &ToolCallIdentity, decision: ToolDecision) -> Result<(), AdapterError> {
        let call = call.clone();
        self.0.ask(|to| CodexCommand::Decide { call, decision, to }).await
    }
}

#[async_trait]
impl TaskControl for CodexTask {
    async fn send_tool_result(&self, call: &ToolCallIdentity, result: Value) -> Result<(), AdapterError> {
        self.decide(call, ToolDecision::Result(result)).await
    }

    async fn send_tool_approved(&self, call: &ToolCallIdentity) -> Result<(), AdapterError> {
        self.decide(call, ToolDecision::Allow).await
    }

    async fn send_tool_denied(&self, call: &ToolCallIdentity, reason: &str) -> Result<(), AdapterError> {
        self.decide(call, ToolDecision::Deny { reason: reason.into() }).await
    }

    async fn send_answer(&self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError> {
        let question = question.clone();
        self.0.ask(|to| CodexCommand::Answer { question, answer, to }).await
    }

    async fn steer(&self, message: TranscriptMessage) -> Result<(), AdapterError> {
        let input = prompt::message_items(&message, &Images::new(), Path::new("")).await.into();
        self.0.ask(|to| CodexCommand::Steer { input, to }).await?.map_err(from_rpc_error)?;
        Ok(())
    }

    async fn stop(&self) -> Result<(), AdapterError> {
        self.0.ask(|to| CodexCommand::Cancel { to }).await
    }
}

/// The time in milliseconds since 1970, as Codex counts.
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Whether an error says that the thread is unknown. Codex has one code for every refusal, so the text decides.
fn is_unknown_thread(message: &str) -> bool {
    ["no rollout found", "invalid session id", "invalid thread id"].iter().any(|words| message.contains(words))
}
