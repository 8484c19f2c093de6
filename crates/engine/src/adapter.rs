//! The one adapter trait (seed 001): how the engine talks to any runtime.
//!
//! An adapter reports [`Fact`]s, not events: it cannot number, approve or end anything. The engine turns facts into
//! events and enforces their order (see [`crate::ledger`]), so no adapter can break the log.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use async_trait::async_trait;
use roost_model::content::TranscriptMessage;
use roost_model::failure::{FailureCode, TaskError};
use roost_model::ids::{QuestionId, RuntimeSessionId, SessionId, TaskId, ToolCallId};
use roost_model::mode::Mode;
use roost_model::payload::{
    ContextWindow, ModelOutputCompletedPayload, ModelOutputDeltaPayload, OutputStream, PlanUpdatedPayload,
    QuestionAskedPayload, RuntimeNoticePayload, RuntimeRequestCompletedPayload, RuntimeRequestStartedPayload,
    SessionUpdatedPayload, ToolCallRequestedPayload, UsageReportedPayload,
};
use roost_model::runtime::{
    AuthStatus, CreateSessionInput, InteractionMode, RuntimeCapabilities, RuntimeEnv, RuntimeName,
};
use roost_model::sources::ImplicitSources;
use roost_model::tool::{ToolCallIdentity, ToolExecutedBy, ToolExecutionEnv, ToolManifest, ToolSandboxSummary};
use roost_process::records::Record;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::facts::RuntimeFacts;
use crate::images::Images;
use crate::native_history::{NativeMessage, NativeSession};

/// Batches of drafts that may wait between a runtime and its session; beyond it the runtime's pipe blocks.
pub const DRAFT_QUEUE: usize = 16;

/// A runtime: what it can do, and how sessions of it are opened.
#[async_trait]
pub trait RuntimeAdapter: Send + Sync + 'static {
    /// The name that events carry.
    fn name(&self) -> RuntimeName;

    /// The name that people read.
    fn display_name(&self) -> &str;

    /// What the rest of Roost must know of it: what its tools do, which files steer it, whether it is preferred.
    fn facts(&self) -> &'static RuntimeFacts;

    /// What the runtime can do, as observed.
    fn capabilities(&self) -> RuntimeCapabilities;

    /// The runtime puts questions to its user.
    fn asks_questions(&self) -> bool;

    /// The runtime takes images in prompts, as far as is known before it runs.
    fn takes_images(&self) -> bool {
        false
    }

    /// Whether the runtime is on this machine, without starting a session.
    async fn availability(&self, env: &RuntimeEnv) -> Availability;

    /// Whether the runtime is logged in; needs no network and holds no secret.
    async fn auth_status(&self, env: &RuntimeEnv) -> AuthStatus;

    /// How a person logs in, where a login is needed.
    async fn ensure_login(&self, env: &RuntimeEnv) -> Option<String>;

    /// The runtime's own command by which a person logs in at a terminal, where it has one.
    fn login(&self, _env: &RuntimeEnv) -> Option<LoginCommand> {
        None
    }

    /// Starts the runtime with a new session.
    async fn create_session(&self, open: OpenSession) -> Result<Box<dyn RuntimeSession>, AdapterError>;

    /// Starts the runtime with a session that it knows.
    async fn resume_session(
        &self,
        open: OpenSession,
        native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError>;

    /// Starts the runtime with a new session that remembers all of one that it knows, and leaves that one as it is.
    async fn fork_session(
        &self,
        _open: OpenSession,
        _native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        Err(AdapterError::Unsupported("fork a session"))
    }

    /// The conversations that the runtime keeps for the environment's working directory, the last changed first.
    /// Looking changes nothing of them.
    async fn past_sessions(&self, _env: &RuntimeEnv) -> io::Result<Vec<NativeSession>> {
        Ok(Vec::new())
    }

    /// What was said in a conversation of the environment's working directory; `None` if the runtime does not know it.
    async fn past_messages(&self, _env: &RuntimeEnv, _id: &RuntimeSessionId) -> io::Result<Option<Vec<NativeMessage>>> {
        Ok(None)
    }

    /// A number that changes when a conversation does, told without reading it; `None` where that cannot be told.
    async fn past_stamp(&self, _env: &RuntimeEnv, _id: &RuntimeSessionId) -> Option<u64> {
        None
    }

    /// Takes over a process that outlived an earlier daemon. Most runtimes cannot be taken over; it is then ended.
    async fn reattach(&self, _record: &Record) -> Option<Reattached> {
        None
    }
}

/// Whether a runtime is on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// It is there.
    Installed {
        /// Its version, when it tells.
        version: Option<String>,
    },
    /// It is not there.
    Missing {
        /// What to do about it.
        reason: String,
    },
}

/// A command by which a person logs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginCommand {
    /// The program.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: BTreeMap<String, String>,
}

/// What a session is opened with.
#[derive(Clone, Debug)]
pub struct OpenSession {
    /// Roost's id for it.
    pub session_id: SessionId,
    /// Where it runs and with what environment.
    pub env: RuntimeEnv,
    /// Title, model and the runtime's own configuration.
    pub input: CreateSessionInput,
    /// How much it may do unasked.
    pub mode: Mode,
    /// The tool servers it may use: the host's, and the session's own.
    pub mcp_servers: Vec<McpServer>,
}

/// A tool server that a session may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// How it is reached.
    pub transport: McpServerTransport,
}

/// How a tool server is reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpServerTransport {
    /// Over streamable HTTP.
    Http {
        /// Where.
        url: String,
        /// With what headers.
        headers: BTreeMap<String, String>,
    },
    /// As a child process of the runtime.
    Stdio {
        /// The program.
        command: PathBuf,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment.
        env: BTreeMap<String, String>,
    },
}

/// A session that outlived a daemon.
pub struct Reattached {
    /// The open session.
    pub session: Box<dyn RuntimeSession>,
    /// The task that still runs.
    pub task: Option<RuntimeTask>,
}

/// An open session: a runtime that is there and waits for tasks. Dropping it ends the runtime.
#[async_trait]
pub trait RuntimeSession: Send {
    /// The runtime's own id for the session.
    fn native_id(&self) -> Option<RuntimeSessionId>;

    /// A task may name another model than the one before; else the runtime is started anew for it.
    fn switches_model(&self) -> bool {
        false
    }

    /// Starts a task; one at a time.
    async fn start_task(&mut self, input: TaskInput) -> Result<StartedTask, AdapterError>;

    /// Returns when the runtime has ended by itself.
    async fn exited(&mut self);

    /// Ends the runtime and returns when nothing of it is left.
    async fn close(self: Box<Self>);
}

/// What a task is started with.
#[derive(Clone, Debug)]
pub struct TaskInput {
    /// Which task.
    pub task_id: TaskId,
    /// What was said before, for a runtime that does not remember it. Empty when it does.
    pub history: Vec<TranscriptMessage>,
    /// What is said now.
    pub messages: Vec<TranscriptMessage>,
    /// The images in what is said now.
    pub images: Images,
    /// What of the transcript that is.
    pub context_window: ContextWindow,
    /// The host's tools.
    pub tool_manifest: Option<ToolManifest>,
    /// How much it may do unasked.
    pub mode: Mode,
    /// The session's model, where one was named.
    pub model: Option<String>,
    /// Whether somebody may be asked.
    pub interaction_mode: InteractionMode,
}

/// A task that was started, and what the runtime was told for it.
pub struct StartedTask {
    /// The canonical input.
    pub input: SentInput,
    /// The task.
    pub task: RuntimeTask,
}

/// What went to a runtime; kept as an artifact, so that it can be shown and checked later.
#[derive(Clone, Debug, PartialEq)]
pub struct SentInput {
    /// `{messages, tool_manifest?, runtime_config?, context_window}`.
    pub input: Value,
    /// What of the transcript it holds.
    pub context_window: ContextWindow,
    /// What the runtime reads by itself.
    pub implicit_sources: ImplicitSources,
}

impl SentInput {
    /// The input of a runtime that gets messages and nothing else of ours.
    pub fn of(input: &TaskInput, implicit_sources: ImplicitSources) -> Self {
        let messages: Vec<_> = input.history.iter().chain(&input.messages).collect();
        let mut sent = json!({ "messages": messages, "context_window": input.context_window });
        if let Some(manifest) = &input.tool_manifest {
            sent["tool_manifest"] = json!(manifest);
        }
        Self { input: sent, context_window: input.context_window.clone(), implicit_sources }
    }
}

/// A running task, both ways: drafts out, commands in.
pub struct RuntimeTask {
    /// What the runtime does. The last draft is [`Fact::Ended`]; a channel that closes without one means the adapter
    /// failed.
    pub drafts: mpsc::Receiver<Vec<Draft>>,
    /// What the runtime is told.
    pub control: Box<dyn TaskControl>,
}

/// The way back into a running task. Each call returns when the runtime's side has taken the message. What is decided is
/// decided about one question, named as the adapter named it in [`Fact::ToolAsks`]: an adapter whose runtime has asked
/// again meanwhile answers [`AdapterError::NotPending`].
#[async_trait]
pub trait TaskControl: Send + Sync {
    /// The host ran a tool; this is what it said.
    async fn send_tool_result(&self, call: &ToolCallIdentity, result: Value) -> Result<(), AdapterError>;

    /// The tool may run.
    async fn send_tool_approved(&self, call: &ToolCallIdentity) -> Result<(), AdapterError>;

    /// The runtime can be made to run a tool with another input than it asked for.
    fn takes_edited_input(&self) -> bool {
        false
    }

    /// The tool may run, with this input instead of its own; only asked of a runtime that takes it.
    async fn send_tool_edited(&self, _call: &ToolCallIdentity, _input: Value) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("take an edited input"))
    }

    /// The tool may not run, and why.
    async fn send_tool_denied(&self, call: &ToolCallIdentity, reason: &str) -> Result<(), AdapterError>;

    /// What the user says to a question.
    async fn send_answer(&self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError>;

    /// More from the user while the task runs.
    async fn steer(&self, message: TranscriptMessage) -> Result<(), AdapterError>;

    /// Asks the runtime to stop; [`Fact::Ended`] follows if it listens.
    async fn stop(&self) -> Result<(), AdapterError>;
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The answers by field.
    Given(BTreeMap<String, Vec<String>>),
    /// Nobody will answer.
    Declined,
    /// The task is being stopped.
    Cancelled,
}

/// One thing a runtime did, with the native message where ours says less.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// What happened.
    pub fact: Fact,
    /// The native message.
    pub raw: Option<Value>,
}

impl From<Fact> for Draft {
    fn from(fact: Fact) -> Self {
        Self { fact, raw: None }
    }
}

/// What a runtime can do within a task.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A request went out.
    RequestStarted(RuntimeRequestStartedPayload),
    /// A request was answered.
    RequestCompleted(RuntimeRequestCompletedPayload),
    /// A piece of output.
    Delta(ModelOutputDeltaPayload),
    /// A finished answer.
    Output(ModelOutputCompletedPayload),
    /// It wants a tool to run, or says that a call which it announced is another by now. The attempt and the hash are
    /// the engine's to count and to make; a higher attempt only says that this is a new one.
    ToolRequested(ToolCallRequestedPayload),
    /// It waits for a decision about exactly this, announced before or not. Every question is one of its own: what was
    /// decided about an earlier one does not count for it.
    ToolAsks(ToolCallRequestedPayload),
    /// It waits for the host to run exactly this, if it may run.
    HostToolAsks(ToolCallRequestedPayload),
    /// A tool runs.
    ToolStarted(ToolCallId),
    /// A piece of a tool's output.
    ToolOutputDelta {
        /// Which call.
        call: ToolCallId,
        /// Which stream.
        stream: OutputStream,
        /// The piece.
        delta: String,
    },
    /// A tool's whole output.
    ToolOutput {
        /// Which call.
        call: ToolCallId,
        /// Standard output.
        stdout: Option<String>,
        /// Standard error.
        stderr: Option<String>,
    },
    /// A tool is done.
    ToolCompleted(ToolOutcome),
    /// It asks the user.
    Question(QuestionAskedPayload),
    /// It no longer waits for an answer.
    QuestionWithdrawn(QuestionId),
    /// Tokens and cost.
    Usage(UsageReportedPayload),
    /// Its plan.
    Plan(PlanUpdatedPayload),
    /// Noise, or something that means nothing to us.
    Notice(RuntimeNoticePayload),
    /// Title, model or native id changed.
    Session(SessionUpdatedPayload),
    /// The task is over.
    Ended(TaskEnd),
}

/// How a tool call ended.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutcome {
    /// Which call.
    pub call: ToolCallId,
    /// Who ran it.
    pub executed_by: ToolExecutedBy,
    /// Where it ran.
    pub execution_env: ToolExecutionEnv,
    /// What its sandbox allowed.
    pub sandbox: Option<ToolSandboxSummary>,
    /// What it said.
    pub result: Option<Value>,
    /// It failed.
    pub is_error: bool,
}

impl ToolOutcome {
    /// The outcome of a tool that the runtime ran itself.
    pub fn of_runtime(call: ToolCallId, result: Option<Value>, is_error: bool) -> Self {
        Self {
            call,
            executed_by: ToolExecutedBy::Runtime,
            execution_env: ToolExecutionEnv::RuntimeInternal,
            sandbox: None,
            result,
            is_error,
        }
    }

    /// The outcome of a tool that the host ran.
    pub fn of_host(call: ToolCallId, result: Option<Value>, is_error: bool) -> Self {
        let (executed_by, execution_env) = (ToolExecutedBy::Codesdk, ToolExecutionEnv::CodesdkHost);
        Self { executed_by, execution_env, ..Self::of_runtime(call, result, is_error) }
    }
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskEnd {
    /// The agent finished, for this reason.
    Completed(String),
    /// It was stopped, for this reason.
    Stopped(String),
    /// It failed.
    Failed(Box<TaskError>),
}

impl TaskEnd {
    /// A failure of this kind.
    pub fn failed(code: FailureCode, message: impl Into<String>) -> Self {
        Self::Failed(Box::new(TaskError::new(code, message)))
    }
}

/// Why an adapter could not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AdapterError {
    /// The runtime could not be started.
    #[error("{0}")]
    Spawn(String),
    /// The runtime is not logged in.
    #[error("{0}")]
    NotLoggedIn(String),
    /// The runtime does not know the session; its context can be rebuilt from the log.
    #[error("the runtime does not know session {0}")]
    UnknownSession(RuntimeSessionId),
    /// The runtime is gone.
    #[error("{message}")]
    Exited {
        /// How it ended.
        message: String,
        /// The last lines of its stderr.
        stderr_tail: Option<String>,
    },
    /// The runtime answered with an error.
    #[error("{message}")]
    Runtime {
        /// What it said.
        message: String,
        /// Its own error.
        raw: Option<Value>,
    },
    /// The runtime cannot do this.
    #[error("this runtime cannot {0}")]
    Unsupported(&'static str),
    /// The runtime does not wait for this.
    #[error("the runtime does not wait for {0}")]
    NotPending(String),
}

impl From<AdapterError> for TaskError {
    fn from(error: AdapterError) -> Self {
        let code = match &error {
            AdapterError::Spawn(_) => FailureCode::SpawnFailed,
            AdapterError::NotLoggedIn(_) => FailureCode::AuthError,
            AdapterError::Exited { .. } => FailureCode::RuntimeExited,
            AdapterError::UnknownSession(_)
            | AdapterError::Runtime { .. }
            | AdapterError::Unsupported(_)
            | AdapterError::NotPending(_) => FailureCode::RuntimeError,
        };
        let mut failure = Self::new(code, error.to_string());
        match error {
            AdapterError::Exited { stderr_tail, .. } => failure.stderr_tail = stderr_tail,
            AdapterError::Runtime { raw, .. } => failure.raw = raw,
            _ => {}
        }
        failure
    }
}
