//! What can go wrong between a client's command and the engine.

use roost_model::approval::Answerer;
use roost_model::ids::{RuntimeSessionId, SessionId};

use crate::adapter::AdapterError;
use crate::artifacts::ArtifactError;

/// Why the engine refused or could not carry out a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No adapter is registered under this id.
    #[error("unknown runtime \"{id}\"; known are {}", known.join(", "))]
    UnknownRuntime {
        /// What was asked for.
        id: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The server's policy forbids the runtime.
    #[error("runtime \"{0}\" is disabled in roost.toml; set its status to \"active\" to use it")]
    RuntimeDisabled(String),
    /// No session has this id or alias.
    #[error("no session \"{0}\"; `roost sessions` lists them")]
    UnknownSession(String),
    /// A runtime could not read what it keeps.
    #[error("conversation {id} cannot be read: {source}")]
    Unreadable {
        /// The runtime's id for it.
        id: RuntimeSessionId,
        /// Why.
        source: std::io::Error,
    },
    /// The working directory cannot be used.
    #[error("cannot use {cwd} as working directory: {reason}")]
    BadCwd {
        /// The directory.
        cwd: String,
        /// Why not.
        reason: String,
    },
    /// As many sessions run as may.
    #[error("{max} sessions run already, which is the limit; stop one, or raise max_sessions in roost.toml")]
    TooManySessions {
        /// The limit.
        max: usize,
    },
    /// As many prompts wait as may.
    #[error("session {session} has {max} prompts waiting, which is the limit; wait for some, or stop it")]
    QueueFull {
        /// The session.
        session: SessionId,
        /// The limit.
        max: usize,
    },
    /// What waits is as big as it may be.
    #[error("session {session} may have {max} bytes of prompts waiting; wait until its task has ended, or stop it")]
    QueueTooBig {
        /// The session.
        session: SessionId,
        /// The limit.
        max: usize,
    },
    /// The session may not set this variable.
    #[error("the variable \"{name}\" cannot be set for a session: {why}")]
    BadVariable {
        /// Its name.
        name: String,
        /// Why not.
        why: String,
    },
    /// The runtime takes no images.
    #[error("runtime \"{0}\" takes no images; leave them out, or name their files in the prompt")]
    NoImages(String),
    /// What is being said cannot be forked.
    #[error("session {0} is working; fork it when its task has ended, or stop that first")]
    Working(SessionId),
    /// The session works in a mode that the sender may not use.
    #[error(
        "session {0} works in the mode yolo, in which nothing is asked, and that is not allowed from afar; send with \
         another permission_mode (such as ask), or set policy.allow_yolo in roost.toml"
    )]
    Yolo(SessionId),
    /// Nothing runs that could be stopped.
    #[error("session {0} has no running task")]
    NothingToStop(SessionId),
    /// The session's actor failed while it carried out a command.
    #[error("session {0} failed while it was told something; look at its log, then try again")]
    SessionFailed(SessionId),
    /// Nobody is asked this.
    #[error("{0} does not wait for an answer; it was answered, ended or never asked")]
    NotPending(String),
    /// Somebody was faster.
    #[error("{id} was answered already, by {}", named(by))]
    AlreadyAnswered {
        /// What was asked.
        id: String,
        /// Who answered.
        by: Answerer,
    },
    /// The answer is about another attempt.
    #[error("{0} is at another attempt than the one that was answered; look at it again")]
    AttemptMismatch(String),
    /// The answer is about another input.
    #[error("{0} has another input than the one that was answered; look at it again")]
    InputHashMismatch(String),
    /// The answer cannot count for longer.
    #[error("{0} can only be answered for this once")]
    OnlyOnce(String),
    /// The answer means nothing elsewhere.
    #[error(
        "{0} is about a file of this workspace; it can be answered for the session or the workspace, not for always"
    )]
    OnlyHere(String),
    /// Nothing can be written to the log at the moment.
    #[error("the disk is full, so nothing can be recorded; free some space and try again")]
    DiskFull,
    /// The engine is going down.
    #[error("Roost is shutting down")]
    ShuttingDown,
    /// The runtime's environment could not be made.
    #[error(transparent)]
    Environment(#[from] roost_process::Error),
    /// The runtime could not do it.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
    /// The artifact store failed.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The log could not keep or find something.
    #[error(transparent)]
    Log(#[from] roost_log::Error),
}

fn named(by: &Answerer) -> &str {
    let client = by.client_id.as_ref().map(|client| client.as_str());
    by.user_id.as_ref().map(|user| user.as_str()).or(client).or(by.from.as_deref()).unwrap_or("somebody")
}
