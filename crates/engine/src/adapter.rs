//! The one adapter trait (seed 001): how the engine talks to any runtime.
//!
//! An adapter reports [`Fact`]s, not events: it cannot number, approve or end anything. The engine turns facts into
//! events and enforces their order (see [`crate::ledger`]), so no adapter can break the log.

mod fact;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use roost_model::content::TranscriptMessage;
use roost_model::failure::{FailureCode, TaskError};
use roost_model::ids::{QuestionId, RuntimeSessionId, SessionId, TaskId};
use roost_model::mode::Mode;
use roost_model::payload::ContextWindow;
use roost_model::runtime::{
    AuthStatus, CreateSessionInput, InteractionMode, RuntimeCapabilities, RuntimeEnv, RuntimeName, SlashCommand,
};
use roost_model::sources::ImplicitSources;
use roost_model::tool::{ToolCallIdentity, ToolManifest};
use roost_process::records::Record;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;

pub use fact::{Draft, Fact, TaskEnd, ToolOutcome};
pub use roost_policy::{Pattern, PermissionEffect, PermissionRule, PermissionScope, RuntimePermissions, ToolClass};

use crate::facts::RuntimeFacts;
use crate::images::Images;
use crate::native_history::{NativeMessage, NativeSession};

/// Batches of drafts that may wait between a runtime and its session; beyond it the runtime's pipe blocks.
pub const DRAFT_QUEUE: usize = 16;

/// A runtime: what it can do, and how sessions of it are opened.
#[async_trait]
pub trait RuntimeAdapter: Send + Sync + 'static {
    /// The runtime's stable name. It is in every event and record, so it must never change.
    fn name(&self) -> RuntimeName;

    /// The name that people see in lists and error messages.
    fn display_name(&self) -> &str;

    /// What the rest of Roost needs to know about this runtime: what its tools do, which files steer it, how preferred
    /// it is.
    fn facts(&self) -> &'static RuntimeFacts;

    /// What the runtime can do. Claim only what was observed: clients rely on it.
    fn capabilities(&self) -> RuntimeCapabilities;

    /// Whether the runtime can ask its user questions ([`Fact::Question`]).
    fn asks_questions(&self) -> bool;

    /// Whether prompts may hold images, as far as is known before the runtime starts. Prompts with images are refused
    /// otherwise.
    fn takes_images(&self) -> bool {
        false
    }

    /// Whether the runtime is installed on this machine. Must not start a session.
    async fn availability(&self, env: &RuntimeEnv) -> Availability;

    /// Whether the runtime is logged in. Must not use the network; the answer must hold no secret.
    async fn auth_status(&self, env: &RuntimeEnv) -> AuthStatus;

    /// What a person must do to log in; `None` if no login is needed.
    async fn ensure_login(&self, env: &RuntimeEnv) -> Option<String>;

    /// The runtime's own login command, to be run at a terminal; `None` if it has none.
    fn login(&self, _env: &RuntimeEnv) -> Option<LoginCommand> {
        None
    }

    /// Starts the runtime and opens a new session in it.
    async fn create_session(&self, open: OpenSession) -> Result<Box<dyn RuntimeSession>, AdapterError>;

    /// Starts the runtime and resumes one of its own sessions. [`AdapterError::UnknownSession`] if it no longer has it;
    /// the engine then opens a new session and passes the history along.
    async fn resume_session(
        &self,
        open: OpenSession,
        native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError>;

    /// Starts the runtime with a copy of one of its sessions and leaves the original unchanged. The engine falls back
    /// to a new session with the history if this is [`AdapterError::Unsupported`].
    async fn fork_session(
        &self,
        _open: OpenSession,
        _native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        Err(AdapterError::Unsupported("fork a session"))
    }

    /// The conversations that the runtime itself stores for the environment's working directory, the last changed
    /// first. Must not change them.
    async fn past_sessions(&self, _env: &RuntimeEnv) -> io::Result<Vec<NativeSession>> {
        Ok(Vec::new())
    }

    /// The messages of one stored conversation of the environment's working directory; `None` if there is no such one.
    async fn past_messages(&self, _env: &RuntimeEnv, _id: &RuntimeSessionId) -> io::Result<Option<Vec<NativeMessage>>> {
        Ok(None)
    }

    /// A number that changes whenever the conversation does (a file's time and size, say). It must be cheap: watchers
    /// poll it. `None` where the runtime offers nothing like it.
    async fn past_stamp(&self, _env: &RuntimeEnv, _id: &RuntimeSessionId) -> Option<u64> {
        None
    }

    /// The commands that a prompt may begin with in this environment, as far as its files tell. Must not start the
    /// runtime.
    async fn slash_commands(&self, _env: &RuntimeEnv) -> Vec<SlashCommand> {
        Vec::new()
    }

    /// Takes over a process that outlived an earlier daemon. `None` if that is not possible, as for most runtimes: the
    /// process is then ended.
    async fn reattach(&self, _record: &Record) -> Option<Reattached> {
        None
    }
}

/// Whether a runtime is installed on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Its program was found.
    Installed {
        /// The version that the program reports; `None` if it reports none.
        version: Option<String>,
    },
    /// Its program was not found.
    Missing {
        /// Why, and what to do about it; shown to people.
        reason: String,
    },
}

/// A command that a person runs at a terminal to log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginCommand {
    /// A path, or a name to be found in the `PATH` of `env`.
    pub program: OsString,
    /// The arguments after the program's name.
    pub args: Vec<OsString>,
    /// The command's whole environment; nothing is inherited.
    pub env: BTreeMap<String, String>,
}

/// What a session is opened with.
#[derive(Clone, Debug)]
pub struct OpenSession {
    /// Roost's id, which is not the runtime's own.
    pub session_id: SessionId,
    /// The working directory and the environment variables.
    pub env: RuntimeEnv,
    /// Title, model and the runtime's own configuration.
    pub input: CreateSessionInput,
    /// The permission mode. The policy enforces it; an adapter only passes it on where its runtime has such a mode too.
    pub mode: Mode,
    /// The MCP servers of the host and of the session, in which the session's own win by name.
    pub mcp_servers: Vec<McpServer>,
}

/// An MCP server that a session may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct McpServer {
    /// Unique within a session; runtimes make it part of the names of the server's tools.
    pub name: String,
    /// Over HTTP, or as a child process.
    pub transport: McpServerTransport,
}

/// How the runtime reaches an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum McpServerTransport {
    /// Over MCP's "streamable HTTP" transport.
    Http {
        /// The endpoint, with its path.
        url: String,
        /// Sent with every request; they may hold a token, so they are never logged.
        headers: BTreeMap<String, String>,
    },
    /// As a child process of the runtime.
    Stdio {
        /// The program that speaks MCP on its stdin and stdout.
        command: PathBuf,
        /// The arguments after the program's name.
        args: Vec<String>,
        /// Variables to set for the child, as the runtime's own configuration takes them.
        env: BTreeMap<String, String>,
    },
}

/// What [`RuntimeAdapter::reattach`] took over.
pub struct Reattached {
    /// The session, ready for tasks once `task` has ended.
    pub session: Box<dyn RuntimeSession>,
    /// The task that still runs; `None` if none does.
    pub task: Option<RuntimeTask>,
}

/// An open session: a running runtime that waits for tasks. Dropping it ends the runtime.
#[async_trait]
pub trait RuntimeSession: Send {
    /// The runtime's own id for the session; `None` until the runtime has told it.
    fn native_id(&self) -> Option<RuntimeSessionId>;

    /// Whether a task may use another model than the task before it. If not, the engine restarts the runtime for that.
    fn switches_model(&self) -> bool {
        false
    }

    /// The rules of the runtime's own settings, for the task that was started last: one more layer of the policy.
    fn permissions(&self) -> Arc<RuntimePermissions> {
        Arc::default()
    }

    /// Starts a task. The engine never starts one while another runs.
    async fn start_task(&mut self, input: TaskInput) -> Result<StartedTask, AdapterError>;

    /// Returns when the runtime's process has exited by itself. Cancel safe.
    async fn exited(&mut self);

    /// Ends the runtime and returns when nothing of it is left.
    async fn close(self: Box<Self>);
}

/// What a task is started with.
#[derive(Clone, Debug)]
pub struct TaskInput {
    /// The same id as in the task's events; new for every prompt.
    pub task_id: TaskId,
    /// The conversation so far, for a runtime that does not remember it. Empty if the runtime resumed its own session.
    pub history: Vec<TranscriptMessage>,
    /// The new prompt.
    pub messages: Vec<TranscriptMessage>,
    /// The bytes of the images that `messages` refers to.
    pub images: Images,
    /// Whether, and which, old messages were left out of `history` because of their size.
    pub context_window: ContextWindow,
    /// The tools that the host runs ([`Fact::HostToolAsks`]); `None` if it has none.
    pub tool_manifest: Option<ToolManifest>,
    /// The permission mode of this task.
    pub mode: Mode,
    /// The session's model; `None` means the runtime's default.
    pub model: Option<String>,
    /// Whether a person may be asked while the task runs.
    pub interaction_mode: InteractionMode,
}

/// A task that was started, and what was sent to the runtime for it.
pub struct StartedTask {
    /// Recorded in the task's `model.input` event.
    pub input: SentInput,
    /// The channels to and from the running task.
    pub task: RuntimeTask,
}

/// The input of a task as it was sent to the runtime. It is stored as an artifact, so that it can be audited later.
#[derive(Clone, Debug, PartialEq)]
pub struct SentInput {
    /// `{messages, tool_manifest?, runtime_config?, context_window}`.
    pub input: Value,
    /// Whether, and which, old messages were left out.
    pub context_window: ContextWindow,
    /// The files and settings that the runtime reads by itself, beyond what it was sent.
    pub implicit_sources: ImplicitSources,
}

impl SentInput {
    /// The input of a runtime that gets messages and the tool manifest, but no configuration of ours.
    pub fn from_task(input: &TaskInput, implicit_sources: ImplicitSources) -> Self {
        let messages: Vec<_> = input.history.iter().chain(&input.messages).collect();
        let mut sent = json!({ "messages": messages, "context_window": input.context_window });
        if let Some(manifest) = &input.tool_manifest {
            sent["tool_manifest"] = json!(manifest);
        }
        Self { input: sent, context_window: input.context_window.clone(), implicit_sources }
    }
}

/// A running task: drafts come out, commands go in.
pub struct RuntimeTask {
    /// What the runtime does, in order. The last draft is [`Fact::Ended`]; if the channel closes without it, the
    /// adapter has failed and so has the task.
    pub drafts: mpsc::Receiver<Vec<Draft>>,
    /// Sends decisions, answers and the stop to the runtime.
    pub control: Box<dyn TaskControl>,
}

/// Sends messages to a running task. Each call returns when the runtime's side has taken the message. A decision
/// belongs to one question, identified as the adapter did in [`Fact::ToolAsks`]: an adapter whose runtime has asked
/// again meanwhile answers [`AdapterError::NotPending`].
#[async_trait]
pub trait TaskControl: Send + Sync {
    /// Sends the result of a tool that the host ran.
    async fn send_tool_result(&self, call: &ToolCallIdentity, result: Value) -> Result<(), AdapterError>;

    /// Allows the tool to run as asked.
    async fn send_tool_approved(&self, call: &ToolCallIdentity) -> Result<(), AdapterError>;

    /// Whether [`TaskControl::send_tool_edited`] works with this runtime.
    fn takes_edited_input(&self) -> bool {
        false
    }

    /// Allows the tool to run, but with this input. Called only if [`TaskControl::takes_edited_input`] says so.
    async fn send_tool_edited(&self, _call: &ToolCallIdentity, _input: Value) -> Result<(), AdapterError> {
        Err(AdapterError::Unsupported("take an edited input"))
    }

    /// Denies the tool; the agent reads the reason.
    async fn send_tool_denied(&self, call: &ToolCallIdentity, reason: &str) -> Result<(), AdapterError>;

    /// Answers a question of the runtime, or says that nobody will.
    async fn send_answer(&self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError>;

    /// Passes on a further message of the user while the task runs.
    async fn steer(&self, message: TranscriptMessage) -> Result<(), AdapterError>;

    /// Another prompt waits for the end of this task. A runtime that has answered and only waits for what it started in
    /// the background should end the task now; others ignore it.
    async fn prompt_waiting(&self) -> Result<(), AdapterError> {
        Ok(())
    }

    /// Asks the runtime to stop. [`Fact::Ended`] follows if it obeys; if not, its process is ended.
    async fn stop(&self) -> Result<(), AdapterError>;
}

/// The outcome of a question that a runtime asked its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// What the user chose or typed, by the id of the form's field.
    Given(BTreeMap<String, Vec<String>>),
    /// The user refused, or nobody answered in time.
    Declined,
    /// The task is being stopped, so no answer will come.
    Cancelled,
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
        /// Its exit code or signal, in words for people.
        message: String,
        /// The last lines that it wrote to stderr, if any.
        stderr_tail: Option<String>,
    },
    /// The runtime answered with an error.
    #[error("{message}")]
    Runtime {
        /// The error in words for people.
        message: String,
        /// The error as the runtime sent it, if it sent JSON.
        raw: Option<Value>,
    },
    /// The runtime cannot do this; the text completes "this runtime cannot …".
    #[error("this runtime cannot {0}")]
    Unsupported(&'static str),
    /// The runtime does not wait for this decision or answer any more.
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
