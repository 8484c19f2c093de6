//! An open Codex session: the handshake, its tasks, and the way back into them.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use roost_engine::adapter::{
    AdapterError, Answer, DRAFT_QUEUE, OpenSession, RuntimeSession, RuntimeTask, SentInput, StartedTask, TaskControl,
    TaskInput,
};
use roost_process::Control;
use roost_proto::content::TranscriptMessage;
use roost_proto::ids::{QuestionId, RuntimeSessionId, ToolCallId};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};

use super::calls::{CallResult, Reply};
use super::connection::{Command, Decision, Parts, start};
use super::failure::rejected;
use super::home::{self, CodexHome};
use super::map::UNWANTED;
use super::socket::Socket;
use super::thread::{self, Sandbox};

/// How long Codex may take for one step of the handshake; tool servers start with a thread.
const HANDSHAKE: Duration = Duration::from_secs(120);

/// A started server before it has a thread.
pub(super) struct Server {
    commands: mpsc::Sender<Command>,
    control: Control,
    socket: Option<PathBuf>,
}

impl Server {
    /// Introduces us to the server.
    pub(super) async fn initialize(parts: Parts, socket: &Socket) -> Result<Self, AdapterError> {
        let control = parts.control.clone();
        let server = Self { commands: start(parts), control, socket: socket.real().await };
        let hello = json!({
            "clientInfo": { "name": "roost", "title": "Roost", "version": env!("CARGO_PKG_VERSION") },
            "capabilities": { "experimentalApi": true, "optOutNotificationMethods": UNWANTED },
        });
        server.call("initialize", hello).await?.map_err(rejected)?;
        let told = server.commands.send(Command::Notify { method: "initialized" });
        told.await.map_err(|_| gone())?;
        Ok(server)
    }

    async fn call(&self, method: &'static str, params: Value) -> Result<CallResult, AdapterError> {
        let answered = request(&self.commands, |to| Command::Call { method, params, to });
        match tokio::time::timeout(HANDSHAKE, answered).await {
            Ok(answered) => answered,
            Err(_) => {
                let message = format!("Codex did not answer {method} within {} s", HANDSHAKE.as_secs());
                Err(AdapterError::Runtime { message, raw: None })
            }
        }
    }
}

/// A session with a server that waits for tasks. Its thread is begun with the first task, which brings the host's tools.
pub(super) struct CodexSession {
    server: Server,
    open: OpenSession,
    home: CodexHome,
    settings: Map<String, Value>,
    thread: Option<Thread>,
}

/// A thread that Codex knows.
struct Thread {
    id: String,
    /// The sandbox that the next turn runs in, where it is ours to choose.
    sandbox: Option<Sandbox>,
    /// Files with instructions that Codex found.
    instructions: Vec<String>,
}

impl CodexSession {
    /// A session without a thread yet.
    pub(super) fn new(server: Server, open: OpenSession, home: CodexHome, settings: Map<String, Value>) -> Self {
        Self { server, open, home, settings, thread: None }
    }

    /// Goes on with a thread that Codex has on disk.
    pub(super) async fn resume(mut self, native: &RuntimeSessionId) -> Result<Self, AdapterError> {
        let sandbox = self.sandbox_of(self.open.mode);
        let mut terms = thread::terms(&self.open, sandbox);
        terms.insert("threadId".into(), native.as_str().into());
        terms.insert("excludeTurns".into(), true.into());
        match self.server.call("thread/resume", terms.into()).await? {
            Ok(answered) => {
                self.bind(&answered, sandbox).await?;
                Ok(self)
            }
            Err(error) if is_unknown(&error.message) => Err(AdapterError::UnknownSession(native.clone())),
            Err(error) => Err(rejected(error)),
        }
    }

    async fn begin_thread(&mut self, input: &TaskInput) -> Result<(), AdapterError> {
        let sandbox = self.sandbox_of(input.mode);
        let mut terms = thread::terms(&self.open, sandbox);
        if let Some(manifest) = &input.tool_manifest {
            terms.insert("dynamicTools".into(), thread::host_tools(manifest));
        }
        let answered = self.server.call("thread/start", terms.into()).await?.map_err(rejected)?;
        self.bind(&answered, sandbox).await
    }

    async fn bind(&mut self, answered: &Value, sandbox: Option<Sandbox>) -> Result<(), AdapterError> {
        let Some(id) = answered.pointer("/thread/id").and_then(Value::as_str).map(str::to_owned) else {
            let message = "Codex made a thread without an id".into();
            return Err(AdapterError::Runtime { message, raw: None });
        };
        let found = answered.get("instructionSources").and_then(Value::as_array).into_iter().flatten();
        let instructions = found.filter_map(|path| Some(path.as_str()?.to_owned())).collect();
        let bound = self.server.commands.send(Command::Bind { thread: id.clone() });
        bound.await.map_err(|_| gone())?;
        self.thread = Some(Thread { id, sandbox, instructions });
        Ok(())
    }

    /// The sandbox of a mode, unless the settings name one.
    fn sandbox_of(&self, mode: roost_proto::mode::Mode) -> Option<Sandbox> {
        (!self.settings.contains_key("sandbox_mode")).then(|| Sandbox::of(mode))
    }

    /// What Codex is told besides messages; of its settings only the names, because values can be secrets.
    fn told(&self, sandbox: Option<Sandbox>) -> Value {
        let settings: Vec<_> = self.settings.keys().collect();
        json!({ "model": self.open.input.model, "sandbox": sandbox.map(Sandbox::name), "settings": settings })
    }
}

#[async_trait]
impl RuntimeSession for CodexSession {
    fn native_id(&self) -> Option<RuntimeSessionId> {
        self.thread.as_ref().map(|thread| thread.id.as_str().into())
    }

    async fn start_task(&mut self, input: TaskInput) -> Result<StartedTask, AdapterError> {
        if self.thread.is_none() {
            self.begin_thread(&input).await?;
        }
        let wanted = self.sandbox_of(input.mode);
        let told = self.told(wanted);
        let Some(thread) = &mut self.thread else { return Err(gone()) };
        let changed = wanted.filter(|_| wanted != thread.sandbox);
        let params = thread::turn(&thread.id, &input, changed);
        let (sender, drafts) = mpsc::channel(DRAFT_QUEUE);
        request(&self.server.commands, |to| Command::Begin { params, drafts: sender, to }).await?;
        thread.sandbox = wanted;
        let sources = home::sources(self.home.clone(), self.open.env.cwd.clone().into(), thread.instructions.clone());
        let mut sent = SentInput::of(&input, sources.await);
        sent.input["runtime_config"] = told;
        let control = Box::new(CodexTask(self.server.commands.clone()));
        Ok(StartedTask { input: sent, task: RuntimeTask { drafts, control } })
    }

    async fn exited(&mut self) {
        tokio::select! {
            // The pump ends when the server hangs up, even if its process lives on.
            () = self.server.commands.closed() => {}
            _ = self.server.control.wait_exit() => {}
        }
    }

    async fn close(self: Box<Self>) {
        let Server { commands, control, socket } = self.server;
        // The pump ends with its last command sender and hangs up.
        drop(commands);
        control.stop().await;
        if let Some(socket) = socket {
            Socket::remove_leftovers(socket).await;
        }
    }
}

/// The way back into a running task.
struct CodexTask(mpsc::Sender<Command>);

impl CodexTask {
    async fn decide(&self, call: &ToolCallId, decision: Decision) -> Result<(), AdapterError> {
        let call = call.clone();
        request(&self.0, |to| Command::Decide { call, decision, to }).await
    }
}

#[async_trait]
impl TaskControl for CodexTask {
    async fn send_tool_result(&self, call: &ToolCallId, result: Value) -> Result<(), AdapterError> {
        self.decide(call, Decision::Result(result)).await
    }

    async fn send_tool_approved(&self, call: &ToolCallId) -> Result<(), AdapterError> {
        self.decide(call, Decision::Allow).await
    }

    async fn send_tool_denied(&self, call: &ToolCallId, reason: &str) -> Result<(), AdapterError> {
        self.decide(call, Decision::Deny { reason: reason.into() }).await
    }

    async fn send_answer(&self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError> {
        let question = question.clone();
        request(&self.0, |to| Command::Answer { question, answer, to }).await
    }

    async fn steer(&self, message: TranscriptMessage) -> Result<(), AdapterError> {
        let input = thread::words(&message).into();
        request(&self.0, |to| Command::Steer { input, to }).await?.map_err(rejected)?;
        Ok(())
    }

    async fn stop(&self) -> Result<(), AdapterError> {
        request(&self.0, |to| Command::Cancel { to }).await
    }
}

async fn request<T>(
    commands: &mpsc::Sender<Command>,
    command: impl FnOnce(Reply<T>) -> Command,
) -> Result<T, AdapterError> {
    let (to, answer) = oneshot::channel();
    commands.send(command(to)).await.map_err(|_| gone())?;
    answer.await.map_err(|_| gone())?
}

fn gone() -> AdapterError {
    AdapterError::Exited { message: "Codex is gone".into(), stderr_tail: None }
}

/// Codex has one code for every refusal; only its words tell a thread that it does not know.
fn is_unknown(message: &str) -> bool {
    ["no rollout found", "invalid session id", "invalid thread id"].iter().any(|words| message.contains(words))
}
