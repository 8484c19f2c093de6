//! Why a client's command to the engine can fail.

use roost_model::approval::Answerer;
use roost_model::ids::{PromptId, RuntimeSessionId, SessionId};

use crate::adapter::AdapterError;
use crate::artifacts::ArtifactError;

/// Why the engine refused or could not carry out a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No adapter is registered under this id.
    #[error("unknown runtime \"{id}\"; known are {}", known.join(", "))]
    UnknownRuntime {
        /// The id as the client sent it.
        id: String,
        /// The ids of all registered runtimes, in their order.
        known: Vec<String>,
    },
    /// The configuration sets the runtime's status to disabled.
    #[error("runtime \"{0}\" is disabled in roost.toml; set its status to \"active\" to use it")]
    RuntimeDisabled(String),
    /// No session has this id or alias.
    #[error("no session \"{0}\"; `roost sessions` lists them")]
    UnknownSession(String),
    /// A runtime failed to read, or took too long to read, a conversation that it stores.
    #[error("conversation {id} cannot be read: {source}")]
    Unreadable {
        /// The runtime's id for the conversation.
        id: RuntimeSessionId,
        /// The failure of the disk, of the runtime's own store, or a timeout.
        source: std::io::Error,
    },
    /// The working directory cannot be used.
    #[error("cannot use {cwd} as working directory: {reason}")]
    BadCwd {
        /// As the client sent it.
        cwd: String,
        /// For people: not absolute, not there, not a directory or not UTF-8.
        reason: String,
    },
    /// All slots for runtimes are taken, and [`crate::WhenFull::Reject`] is configured.
    #[error("{max} sessions run already, which is the limit; stop one, or raise max_sessions in roost.toml")]
    TooManySessions {
        /// The configured `max_sessions`.
        max: usize,
    },
    /// The session's queue has no room for another prompt.
    #[error("session {session} has {max} prompts waiting, which is the limit; wait for some, or stop it")]
    QueueFull {
        /// The session whose queue is full.
        session: SessionId,
        /// How many prompts may wait.
        max: usize,
    },
    /// With this prompt, the session's queue would not fit into one event.
    #[error("session {session} may have {max} bytes of prompts waiting; wait until its task has ended, or stop it")]
    QueueTooBig {
        /// The session whose queue is full.
        session: SessionId,
        /// Bytes of JSON that all waiting prompts may have together.
        max: usize,
    },
    /// A session may not set this environment variable.
    #[error("the variable \"{name}\" cannot be set for a session: {why}")]
    BadVariable {
        /// The variable's name; its value is never shown.
        name: String,
        /// Which rule it breaks, in words for people.
        why: String,
    },
    /// The runtime takes no images.
    #[error("runtime \"{0}\" takes no images; leave them out, or name their files in the prompt")]
    NoImages(String),
    /// A session cannot be forked while its task runs.
    #[error("session {0} is working; fork it when its task has ended, or stop that first")]
    Working(SessionId),
    /// The session is in `yolo` mode, which the sender of the prompt may not use.
    #[error(
        "session {0} works in the mode yolo, in which nothing is asked, and that is not allowed from afar; send with \
         another permission_mode (such as ask), or set policy.allow_yolo in roost.toml"
    )]
    Yolo(SessionId),
    /// The session belongs to a client of the MCP gateway, which runs elsewhere.
    #[error(
        "session {0} belongs to a client of the MCP gateway, so it takes no prompts; answer what it asks, or stop it"
    )]
    NotPromptable(SessionId),
    /// The runtime has no such level for how much its model thinks.
    #[error("the runtime has no thought level \"{level}\"; it has {}", known.join(", "))]
    UnknownThoughtLevel {
        /// As the client sent it.
        level: String,
        /// All levels of the runtime; empty if it cannot be chosen.
        known: &'static [&'static str],
    },
    /// Nothing runs that could be stopped.
    #[error("session {0} has no running task")]
    NothingToStop(SessionId),
    /// The prompt cannot be removed from the queue, because it is not in it.
    #[error("prompt {0} does not wait in the queue; it has begun, was removed or never existed")]
    NotQueued(PromptId),
    /// The session's actor failed while it carried out a command.
    #[error("session {0} failed while it was told something; look at its log, then try again")]
    SessionFailed(SessionId),
    /// No tool call or question of this id waits for an answer.
    #[error("{0} does not wait for an answer; it was answered, ended or never asked")]
    NotPending(String),
    /// Another client answered first. The first answer counts.
    #[error("{id} was answered already, by {}", named(by))]
    AlreadyAnswered {
        /// The tool call or question.
        id: String,
        /// Who gave the answer that counts.
        by: Answerer,
    },
    /// The tool call has been retried since the person looked at it.
    #[error("{0} is at another attempt than the one that was answered; look at it again")]
    AttemptMismatch(String),
    /// The tool call's input has changed since the person looked at it.
    #[error("{0} has another input than the one that was answered; look at it again")]
    InputHashMismatch(String),
    /// The policy offers no pattern for this call, so an answer can only count once.
    #[error("{0} can only be answered for this once")]
    OnlyOnce(String),
    /// The call's pattern is a path of this workspace, so an answer cannot count everywhere.
    #[error(
        "{0} is about a file of this workspace; it can be answered for the session or the workspace, not for always"
    )]
    OnlyHere(String),
    /// No remembered answer has this id.
    #[error("no remembered answer \"{0}\"; `roost rules` lists them")]
    UnknownRule(String),
    /// The log is stalled by a full disk; nothing is accepted until there is space again.
    #[error("the disk is full, so nothing can be recorded; free some space and try again")]
    DiskFull,
    /// The engine is going down.
    #[error("Roost is shutting down")]
    ShuttingDown,
    /// The runtime's environment could not be made.
    #[error(transparent)]
    Environment(#[from] roost_process::Error),
    /// The adapter or its runtime refused or failed.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
    /// The artifact store failed.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The log could not be written or read.
    #[error(transparent)]
    Log(#[from] roost_log::Error),
}

fn named(by: &Answerer) -> &str {
    let client = by.client_id.as_ref().map(|client| client.as_str());
    by.user_id.as_ref().map(|user| user.as_str()).or(client).or(by.from.as_deref()).unwrap_or("somebody")
}
