//! An open Codex session: the handshake, its tasks, and the way back into them.

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

use super::connection::{CodexConnection, Command, Decision};
use super::failure::rejected;
use super::history;
use super::home::{self, CodexHome};
use super::map::UNWANTED;
use super::note::{Note, Thread};
use super::past::PastState;
use super::prompt;
use super::sandbox::Sandbox;
use super::socket::Socket;
use super::thread;
use crate::host::json_rpc::CallResult;
use crate::host::{Handle, Process, start};

/// How often Codex is asked about a turn whose end it has not written down yet, and the pause in between.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(100);

/// A started server before it has a thread.
pub(super) struct Server {
    handle: Handle<CodexConnection>,
    socket: Socket,
    /// Where the socket really is.
    real: Option<PathBuf>,
}

impl Server {
    /// Introduces us to the server.
    pub(super) async fn initialize(
        connection: CodexConnection,
        process: Process,
        socket: Socket,
    ) -> Result<Self, AdapterError> {
        let (handle, _) = start(connection, Some(process), ());
        let server = Self { handle, real: socket.real().await, socket };
        let hello = json!({
            "clientInfo": { "name": "roost", "title": "Roost", "version": env!("CARGO_PKG_VERSION") },
            "capabilities": { "experimentalApi": true, "optOutNotificationMethods": UNWANTED },
        });
        server.call("initialize", hello).await?.map_err(rejected)?;
        server.handle.tell(Command::Notify { method: "initialized" }).await?;
        Ok(server)
    }

    /// Goes on with the session of a server that outlived an earlier daemon, and with its task, if one still runs or has
    /// ended unheard.
    pub(super) async fn reattach(
        self,
        note: Note,
        turn: Option<String>,
        since: u64,
    ) -> Result<Reattached, AdapterError> {
        let Some(Thread { id, .. }) = note.thread.clone() else { return Err(Handle::<CodexConnection>::gone()) };
        let task = match turn {
            Some(turn) => self.adopt(id, turn, since).await?,
            None => {
                let terms = json!({ "threadId": id, "excludeTurns": true });
                self.call("thread/resume", terms).await?.map_err(rejected)?;
                self.handle.tell(Command::Bind { thread: id }).await?;
                None
            }
        };
        Ok(Reattached {
            session: Box::new(CodexSession { server: self, open: None, settings: Map::new(), note }),
            task,
        })
    }

    /// Listens to a turn again.
    async fn adopt(&self, thread: String, turn: String, mut since: u64) -> Result<Option<RuntimeTask>, AdapterError> {
        let (sender, drafts) = mpsc::channel(DRAFT_QUEUE);
        self.handle.tell(Command::Adopt { thread, turn, drafts: sender }).await?;
        for tries_left in (0..TRIES).rev() {
            let asked_at = now();
            let heard = self.handle.ask(|to| Command::CatchUp { since, last: tries_left == 0, to });
            match heard.await? {
                None => return Ok(None),
                Some(PastState::GoesOn | PastState::Ended) => break,
                Some(PastState::Unsure) => tokio::time::sleep(PAUSE).await,
            }
            since = asked_at;
        }
        Ok(Some(RuntimeTask { drafts, control: Box::new(CodexTask(self.handle.clone())) }))
    }

    async fn call(&self, method: &'static str, params: Value) -> Result<CallResult, AdapterError> {
        self.handle.shake(method, |to| Command::Call { method, params, to }).await
    }
}

/// A session with a server that waits for tasks. Its thread is begun with the first task, which brings the host's tools.
pub(super) struct CodexSession {
    server: Server,
    /// What it was opened with, for a thread that is still to be begun.
    open: Option<OpenSession>,
    /// Codex's own settings, for the same.
    settings: Map<String, Value>,
    note: Note,
}

impl CodexSession {
    /// A session without a thread yet.
    pub(super) fn new(server: Server, open: OpenSession, home: CodexHome, settings: Map<String, Value>) -> Self {
        let note = Note {
            cwd: open.env.cwd.clone().into(),
            home: home.0,
            model: open.input.model.clone(),
            settings: settings.keys().cloned().collect(),
            thread: None,
        };
        Self { server, open: Some(open), settings, note }
    }

    /// Goes on with a thread that Codex has on disk.
    pub(super) async fn resume(self, native: &RuntimeSessionId) -> Result<Self, AdapterError> {
        self.known("thread/resume", native).await
    }

    /// Begins a thread that remembers all of one that Codex has on disk.
    pub(super) async fn fork(self, native: &RuntimeSessionId) -> Result<Self, AdapterError> {
        self.known("thread/fork", native).await
    }

    async fn known(mut self, method: &'static str, native: &RuntimeSessionId) -> Result<Self, AdapterError> {
        let Some(open) = &self.open else { return Err(Handle::<CodexConnection>::gone()) };
        let sandbox = self.sandbox_of(open.mode);
        let mut terms = thread::terms(open, sandbox, &self.settings);
        terms.insert("threadId".into(), native.as_str().into());
        terms.insert("excludeTurns".into(), true.into());
        match self.server.call(method, terms.into()).await? {
            Ok(answered) => {
                // Only a thread that begins takes the host's tools; it keeps those.
                let (home, id) = (self.note.home.clone(), native.clone());
                let tools = tokio::task::spawn_blocking(move || history::tools(&home, id.as_str()));
                let tools = tools.await.ok().and_then(Result::ok).flatten();
                self.bind(&answered, sandbox, tools).await?;
                Ok(self)
            }
            Err(error) if is_unknown(&error.message) => Err(AdapterError::UnknownSession(native.clone())),
            Err(error) => Err(rejected(error)),
        }
    }

    async fn begin_thread(&mut self, input: &TaskInput) -> Result<(), AdapterError> {
        let Some(open) = &self.open else { return Err(Handle::<CodexConnection>::gone()) };
        let sandbox = self.sandbox_of(input.mode);
        let mut terms = thread::terms(open, sandbox, &self.settings);
        if let Some(manifest) = &input.tool_manifest {
            terms.insert("dynamicTools".into(), thread::host_tools(manifest));
        }
        let answered = self.server.call("thread/start", terms.into()).await?.map_err(rejected)?;
        self.bind(&answered, sandbox, input.tool_manifest.clone()).await
    }

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
        self.server.handle.tell(Command::Bind { thread: id.clone() }).await?;
        self.note.thread = Some(Thread { id, sandbox, instructions, tools });
        self.note.write(self.server.socket.folder()).await;
        Ok(())
    }

    /// The sandbox of a mode, unless the settings name one.
    fn sandbox_of(&self, mode: Mode) -> Option<Sandbox> {
        Sandbox::unless_set(&self.note.settings, mode, true)
    }
}

#[async_trait]
impl RuntimeSession for CodexSession {
    fn native_id(&self) -> Option<RuntimeSessionId> {
        self.note.thread.as_ref().map(|thread| thread.id.as_str().into())
    }

    fn switches_model(&self) -> bool {
        true
    }

    async fn start_task(&mut self, input: TaskInput) -> Result<StartedTask, AdapterError> {
        if self.note.thread.is_none() {
            self.begin_thread(&input).await?;
        }
        let sandbox = self.sandbox_of(input.mode);
        let Some(thread) = &mut self.note.thread else { return Err(Handle::<CodexConnection>::gone()) };
        let changed = sandbox.filter(|_| sandbox != thread.sandbox);
        let prompt = prompt::prompt(&input, &self.note.cwd).await;
        let mut params = thread::turn(&thread.id, prompt, changed);
        let model = input.model.clone().filter(|model| self.note.model.as_ref() != Some(model));
        if let Some(model) = &model {
            params["model"] = model.as_str().into();
        }
        let (sender, drafts) = mpsc::channel(DRAFT_QUEUE);
        self.server.handle.ask(|to| Command::Begin { params, drafts: sender, to }).await?;
        thread.sandbox = sandbox;
        let sources = home::sources(&self.note.home, &self.note.cwd, &thread.instructions).await;
        let tool_manifest = thread.tools.clone();
        let is_noted = changed.is_none() && model.is_none();
        self.note.model = model.or(self.note.model.take());
        if !is_noted {
            self.note.write(self.server.socket.folder()).await;
        }
        let told = TaskInput { tool_manifest, ..input };
        let mut sent = SentInput::of(&told, sources);
        let Note { model, settings, .. } = &self.note;
        let told = json!({ "model": model, "sandbox": sandbox.map(Sandbox::label), "settings": settings });
        sent.input["runtime_config"] = told;
        let control = Box::new(CodexTask(self.server.handle.clone()));
        Ok(StartedTask { input: sent, task: RuntimeTask { drafts, control } })
    }

    async fn exited(&mut self) {
        self.server.handle.exited().await;
    }

    async fn close(self: Box<Self>) {
        let Server { handle, real, .. } = self.server;
        handle.close().await;
        if let Some(real) = real {
            Socket::remove_leftovers(real).await;
        }
    }
}

/// The way back into a running task.
struct CodexTask(Handle<CodexConnection>);

impl CodexTask {
    async fn decide(&self, call: &ToolCallIdentity, decision: Decision) -> Result<(), AdapterError> {
        let call = call.clone();
        self.0.ask(|to| Command::Decide { call, decision, to }).await
    }
}

#[async_trait]
impl TaskControl for CodexTask {
    async fn send_tool_result(&self, call: &ToolCallIdentity, result: Value) -> Result<(), AdapterError> {
        self.decide(call, Decision::Result(result)).await
    }

    async fn send_tool_approved(&self, call: &ToolCallIdentity) -> Result<(), AdapterError> {
        self.decide(call, Decision::Allow).await
    }

    async fn send_tool_denied(&self, call: &ToolCallIdentity, reason: &str) -> Result<(), AdapterError> {
        self.decide(call, Decision::Deny { reason: reason.into() }).await
    }

    async fn send_answer(&self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError> {
        let question = question.clone();
        self.0.ask(|to| Command::Answer { question, answer, to }).await
    }

    async fn steer(&self, message: TranscriptMessage) -> Result<(), AdapterError> {
        let input = prompt::words(&message, &Images::new(), Path::new("")).await.into();
        self.0.ask(|to| Command::Steer { input, to }).await?.map_err(rejected)?;
        Ok(())
    }

    async fn stop(&self) -> Result<(), AdapterError> {
        self.0.ask(|to| Command::Cancel { to }).await
    }
}

/// In milliseconds since 1970, as Codex counts.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Codex has one code for every refusal; only its words tell a thread that it does not know.
fn is_unknown(message: &str) -> bool {
    ["no rollout found", "invalid session id", "invalid thread id"].iter().any(|words| message.contains(words))
}
