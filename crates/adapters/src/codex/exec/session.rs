//! A session without a process of its own: every task starts one.

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
use super::launch::Terms;
use super::map::{self, Mapper};
use super::totals::Totals;
use crate::codex::home::{self, CodexHome};
use crate::codex::launch::variable;
use crate::codex::sandbox::Sandbox;
use crate::codex::{history, notify};
use crate::host::waiting::not_pending;
use crate::host::{AgentCommand, ExitReport, Handle, Outbox, Process, Task, start};

/// How long Codex may take until it has a thread.
const START: Duration = Duration::from_secs(120);

/// A session by `codex exec`.
pub(in crate::codex) struct ExecSession {
    terms: Terms,
    home: PathBuf,
    version: String,
    thread: Option<String>,
    /// What the thread has used, as far as it is known.
    totals: Arc<Mutex<Totals>>,
    task: Option<Running>,
}

/// The process of the last task.
struct Running {
    handle: Handle<ExecConnection>,
    pump: JoinHandle<()>,
}

impl ExecSession {
    /// A session without a thread yet, with a Codex of this version.
    pub(in crate::codex) fn new(
        command: AgentCommand,
        holder: std::sync::Arc<roost_process::Holder>,
        open: roost_engine::adapter::OpenSession,
        settings: serde_json::Map<String, Value>,
        version: String,
    ) -> Result<Self, AdapterError> {
        let notify = notify::Settings::of(variable(&command, &open))?;
        let CodexHome(home) = CodexHome::of(&command, &open.env);
        let terms = Terms { command, holder, open, settings, notify };
        Ok(Self { terms, home, version, thread: None, totals: Arc::default(), task: None })
    }

    /// Goes on with a thread that Codex has on disk.
    pub(in crate::codex) async fn resume(mut self, native: &RuntimeSessionId) -> Result<Self, AdapterError> {
        let (home, id) = (self.home.clone(), native.as_str().to_owned());
        let found = tokio::task::spawn_blocking(move || match history::file(&home, &id)? {
            Some(file) => Totals::of_thread(&file).map(Some),
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

    /// The process of the last task is gone, and what it used is known.
    async fn settle(&mut self) {
        if let Some(Running { handle, pump }) = self.task.take() {
            handle.close().await;
            let _ = pump.await;
        }
    }

    async fn start(&mut self, input: &TaskInput) -> Result<(ExecConnection, Process), AdapterError> {
        let prompt = prompt(input);
        let source = notify::Source::open(&self.terms.notify).await;
        let (mut process, mut stdin) = self.terms.launch(input.mode, self.thread.as_deref()).await?;
        let totals = self.totals.clone();
        let mut out = Outbox::default();
        out.drafts.push(map::notice(NoticeLevel::Warning, &self.warning(input), None));
        let notify = source.unwrap_or_else(|error| {
            let message = format!("Codex's notify source cannot be opened: {error}");
            out.drafts.push(map::notice(NoticeLevel::Warning, &message, None));
            None
        });
        let turn = notify::Turn { prompt: prompt.clone(), ..notify::Turn::default() };
        let mapper = Mapper::new(input.task_id.to_string(), self.terms.open.env.cwd.clone(), *totals.lock());
        let idle = self.terms.notify.idle;
        let mut connection = ExecConnection { mapper, notify, turn, idle, out, totals, leaves: None };
        let begun = async {
            // A process that does not read its prompt says why on its way out.
            let (written, begun) = tokio::join!(
                async move { stdin.write_all(prompt.as_bytes()).await.map(|()| stdin.close()) },
                connection.begin(&mut process)
            );
            if let Err(error) = written {
                tracing::debug!(%error, "Codex did not read its prompt.");
            }
            begun
        };
        match tokio::time::timeout(START, begun).await {
            Ok(true) => Ok((connection, process)),
            Ok(false) => {
                let exit = process.control.stop().await;
                Err(ExitReport::new::<ExecConnection>(Some(exit), Some(&process.tail)).error("before it began"))
            }
            Err(_) => {
                process.control.stop().await;
                let message = format!("Codex did not begin within {} s", START.as_secs());
                Err(AdapterError::Runtime { message, raw: None })
            }
        }
    }

    /// What a person should know about every task of this kind.
    fn warning(&self, input: &TaskInput) -> String {
        let sandbox = match self.terms.settings.get("sandbox_mode").and_then(Value::as_str) {
            Some(own) => own,
            None => Sandbox::of(input.mode, false).label(),
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
        self.settle().await;
        let (mut connection, process) = self.start(&input).await?;
        self.thread.clone_from(&connection.mapper.thread);
        let (sender, drafts) = mpsc::channel(DRAFT_QUEUE);
        connection.out.turn = Some(Task::without_request(sender));
        let (handle, pump) = start(connection, Some(process), ());
        self.task = Some(Running { handle: handle.clone(), pump });
        let cwd = PathBuf::from(&self.terms.open.env.cwd);
        let told = TaskInput { tool_manifest: None, ..input };
        let mut sent = SentInput::of(&told, home::sources(&self.home, &cwd, &[]).await);
        let settings: Vec<_> = self.terms.settings.keys().collect();
        let sandbox = Sandbox::unless_set(self.terms.settings.keys(), told.mode, false).map(Sandbox::label);
        let model = &self.terms.open.input.model;
        sent.input["runtime_config"] =
            json!({ "interface": "exec", "model": model, "sandbox": sandbox, "settings": settings });
        Ok(StartedTask { input: sent, task: RuntimeTask { drafts, control: Box::new(ExecTask(handle)) } })
    }

    async fn exited(&mut self) {
        // There is nothing between tasks that could end.
        std::future::pending().await
    }

    async fn close(mut self: Box<Self>) {
        self.settle().await;
    }
}

/// The way back into a task that cannot be told anything.
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
        // One that is over needs not be told.
        let _ = self.0.tell(Stop).await;
        Ok(())
    }
}

/// The user's words; what was said before goes first, for a thread that does not remember it.
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
