//! A session by `codex exec`: it has no process of its own, every task starts one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roost_engine::adapter::{
    AdapterError, Answer, DRAFT_QUEUE, RuntimeSession, RuntimeTask, SentInput, StartedTask, TaskControl, TaskInput,
};
use roost_model::content::{TranscriptContentBlock, TranscriptMessage};
use roost_model::ids::{QuestionId, RuntimeSessionId};
use roost_model::payload::NoticeLevel;
use roost_model::tool::ToolCallIdentity;
use roost_model::transcript;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::connection::{ExecConnection, Stop};
use super::launch::ExecLauncher;
use super::map::{self, ExecMapper};
use super::totals::Totals;
use crate::codex::home::{self, CodexHome};
use crate::codex::launch::roost_variable;
use crate::codex::sandbox::Sandbox;
use crate::codex::{history, notify};
use crate::host::pending_decisions::not_pending;
use crate::host::{AgentCommand, ExitReport, Handle, Outbox, Process, Task, start};

/// How long Codex may take until it names its thread.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// A session with a Codex that is too old for its app server.
pub(in crate::codex) struct ExecSession {
    launcher: ExecLauncher,
    home: PathBuf,
    version: String,
    thread: Option<String>,
    /// The token totals of the thread, shared with the connection of the running task.
    totals: Arc<Mutex<Totals>>,
    task: Option<ExecProcess>,
}

/// The process of the last task, which may have exited.
struct ExecProcess {
    handle: Handle<ExecConnection>,
    pump: JoinHandle<()>,
}

impl ExecSession {
    /// A new session without a thread. `version` is the installed Codex, for the warning. An error if an `ACPLB_*`
    /// variable is invalid.
    pub(in crate::codex) fn new(
        command: AgentCommand,
        holder: std::sync::Arc<roost_process::Holder>,
        open: roost_engine::adapter::OpenSession,
        settings: serde_json::Map<String, Value>,
        version: String,
    ) -> Result<Self, AdapterError> {
        let notify = notify::NotifySettings::from_variables(roost_variable(&command, &open))?;
        let CodexHome(home) = CodexHome::from_env(&command, &open.env);
        let launcher = ExecLauncher { command, holder, open, settings, notify };
        Ok(Self { launcher, home, version, thread: None, totals: Arc::default(), task: None })
    }

    /// Resumes a thread that Codex has on disk; its token totals are read from there.
    pub(in crate::codex) async fn resume(mut self, native: &RuntimeSessionId) -> Result<Self, AdapterError> {
        let (home, id) = (self.home.clone(), native.as_str().to_owned());
        let found = tokio::task::spawn_blocking(move || match history::find_file(&home, &id)? {
            Some(file) => Totals::from_rollout(&file).map(Some),
            None => Ok(None),
        });
        match found.await.map_err(std::io::Error::other).flatten() {
            Ok(Some(totals)) => {
                (self.thread, self.totals) = (Some(native.as_str().to_owned()), Arc::new(Mutex::new(totals)));
                Ok(self)
            }
            Ok(None) => Err(AdapterError::UnknownSession(native.clone())),
            Err(error) => {
                let message = format!("Codex's sessions in {} cannot be read: {error}", self.home.display());
                Err(AdapterError::Runtime { message, raw: None })
            }
        }
    }

    /// Ends the process of the last task and waits until its token totals are known.
    async fn close_process(&mut self) {
        if let Some(ExecProcess { handle, pump }) = self.task.take() {
            handle.close().await;
            let _ = pump.await;
        }
    }

    /// Starts the process of a task, sends the prompt, and reads until the thread is known.
    async fn start(&mut self, input: &TaskInput) -> Result<(ExecConnection, Process), AdapterError> {
        let prompt = prompt(input);
        let source = notify::NotifySource::open(&self.launcher.notify).await;
        let (mut process, mut stdin) = self.launcher.launch(input.mode, self.thread.as_deref()).await?;
        let totals = self.totals.clone();
        let mut out = Outbox::default();
        out.drafts.push(map::notice(NoticeLevel::Warning, &self.fallback_warning(input), None));
        let notify = source.unwrap_or_else(|error| {
            let message = format!("Codex's notify source cannot be opened: {error}");
            out.drafts.push(map::notice(NoticeLevel::Warning, &message, None));
            None
        });
        let turn = notify::AwaitedTurn { prompt: prompt.clone(), ..notify::AwaitedTurn::default() };
        let mapper = ExecMapper::new(input.task_id.to_string(), self.launcher.open.env.cwd.clone(), *totals.lock());
        let idle = self.launcher.notify.idle;
        let mut connection = ExecConnection { mapper, notify, turn, idle, out, totals, exit_deadline: None };
        let begun = async {
            // A process that does not read its prompt reports the reason when it exits.
            let (written, begun) = tokio::join!(
                async move { stdin.write_all(prompt.as_bytes()).await.map(|()| stdin.close()) },
                connection.read_until_thread(&mut process)
            );
            if let Err(error) = written {
                tracing::debug!(%error, "Codex did not read its prompt.");
            }
            begun
        };
        match tokio::time::timeout(START_TIMEOUT, begun).await {
            Ok(true) => Ok((connection, process)),
            Ok(false) => {
                let exit = process.control.stop().await;
                Err(ExitReport::new::<ExecConnection>(Some(exit), Some(&process.tail)).error("before it began"))
            }
            Err(_) => {
                process.control.stop().await;
                let message = format!("Codex did not begin within {} s", START_TIMEOUT.as_secs());
                Err(AdapterError::Runtime { message, raw: None })
            }
        }
    }

    /// The warning that every task begins with: that nothing but the sandbox restricts Codex.
    fn fallback_warning(&self, input: &TaskInput) -> String {
        let sandbox = match self.launcher.settings.get("sandbox_mode").and_then(Value::as_str) {
            Some(own) => own,
            None => Sandbox::for_mode(input.mode, false).label(),
        };
        format!(
            "Codex {} is too old to ask about its tool calls and runs by `codex exec`; its sandbox ({sandbox}) is all \
             that holds it; `npm install -g @openai/codex` brings a newer one",
            self.version
        )
    }
}

#[async_trait]
impl RuntimeSession for ExecSession {
    fn native_id(&self) -> Option<RuntimeSessionId> {
        self.thread.as_deref().map(Into::into)
    }

    async fn start_task(&mut self, input: TaskInput) -> Result<StartedTask, AdapterError> {
        if !input.images.is_empty() {
            return Err(AdapterError::Unsupported("take images"));
        }
        self.close_process().await;
        let (mut connection, process) = self.start(&input).await?;
        self.thread.clone_from(&connection.mapper.thread);
        let (sender, drafts) = mpsc::channel(DRAFT_QUEUE);
        connection.out.turn = Some(Task::without_request(sender));
        let (handle, pump) = start(connection, Some(process), ());
        self.task = Some(ExecProcess { handle: handle.clone(), pump });
        let cwd = PathBuf::from(&self.launcher.open.env.cwd);
        let sent_input = TaskInput { tool_manifest: None, ..input };
        let mut sent = SentInput::from_task(&sent_input, home::sources(&self.home, &cwd, &[]).await);
        let settings: Vec<_> = self.launcher.settings.keys().collect();
        let sandbox =
            Sandbox::for_mode_unless_set(self.launcher.settings.keys(), sent_input.mode, false).map(Sandbox::label);
        let model = &self.launcher.open.input.model;
        sent.input["runtime_config"] =
            json!({ "interface": "exec", "model": model, "sandbox": sandbox, "settings": settings });
        Ok(StartedTask { input: sent, task: RuntimeTask { drafts, control: Box::new(ExecTask(handle)) } })
    }

    async fn exited(&mut self) {
        // Between tasks there is no process that could exit.
        std::future::pending().await
    }

    async fn close(mut self: Box<Self>) {
        self.close_process().await;
    }
}

/// Controls a running task, which can only be stopped.
struct ExecTask(Handle<ExecConnection>);

#[async_trait]
impl TaskControl for ExecTask {
    async fn send_tool_result(&self, _: &ToolCallIdentity, _: Value) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("take results of tools that the host runs"))
    }

    async fn send_tool_approved(&self, call: &ToolCallIdentity) -> Result<(), AdapterError> {
        Err(not_pending(call))
    }

    async fn send_tool_denied(&self, call: &ToolCallIdentity, _: &str) -> Result<(), AdapterError> {
        Err(not_pending(call))
    }

    async fn send_answer(&self, question: &QuestionId, _: Answer) -> Result<(), AdapterError> {
        Err(AdapterError::NotPending(format!("an answer to {question}")))
    }

    async fn steer(&self, _: TranscriptMessage) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("be steered while it works"))
    }

    async fn stop(&self) -> Result<(), AdapterError> {
        // A task that is over needs no stop.
        let _ = self.0.send(Stop).await;
        Ok(())
    }
}

/// The prompt as text. A transcript of earlier messages (`history`) goes first, for a thread that does not remember
/// them.
fn prompt(input: &TaskInput) -> String {
    let mut parts = Vec::new();
    if !input.history.is_empty() {
        let history = transcript::flatten(&input.history);
        parts.push(format!("This conversation was interrupted. What was said and done before:\n\n{history}"));
    }
    for block in input.messages.iter().flat_map(|message| &message.content) {
        match block {
            TranscriptContentBlock::Text { text } => parts.push(text.clone()),
            TranscriptContentBlock::Code { code, .. } => parts.push(code.clone()),
            TranscriptContentBlock::FileRef { path } => parts.push(format!("@{path}")),
            _ => {}
        }
    }
    parts.join("\n\n")
}
