//! Why a command could not be carried out, and what to do about it.

use std::io;
use std::path::PathBuf;

use roost_rpc::{Fault, FaultCode};

use crate::exit::Exit;

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each message says it")]
pub enum Error {
    #[error("neither a home directory nor XDG directories are known; set HOME, or name them with --state and --config")]
    NoHome,
    #[error("the current directory cannot be read: {0}; name another one with --cwd")]
    NoCwd(io::Error),
    #[error("{held}; wait for it, end it (`roost down` ends a daemon), or use another state directory with --state")]
    Held { held: roost_log::Error },
    #[error("runtime \"{0}\" needs a prompt: roost run --runtime {0} \"what to do\"")]
    NeedsPrompt(String),
    #[error("--approvals prompt needs a terminal to ask at, and no --json; use wait or deny")]
    NoTerminal,
    #[error("whether it may run is asked at a terminal; say it here with `roost approvals answer ID allow` or `deny`")]
    NoDecision,
    #[error("the prompt is longer than {0} bytes; put it into a file and name the file instead")]
    PromptTooLong(u64),
    #[error("the prompt could not be read from stdin: {0}")]
    Input(io::Error),
    #[error("no session of {} to continue; start one with `roost run`", .0.display())]
    NothingToContinue(PathBuf),
    #[error("no session \"{0}\"; `roost sessions` lists them")]
    UnknownSession(String),
    #[error("\"{id}\" is the beginning of several sessions; use more of one of these:\n  {}", found.join("\n  "))]
    AmbiguousSession { id: String, found: Vec<String> },
    #[error(
        "{} is no workspace and in none{}; `roost workspaces add FOLDER` adds one",
        named.display(),
        if known.is_empty() { String::new() } else { format!(" of these: {}", known.join(", ")) }
    )]
    NoWorkspace { named: PathBuf, known: Vec<String> },
    #[error("there is no folder {0:?} in the workspace; if it is a file, `roost files cat {0}` shows it")]
    NoFolder(String),
    #[error("{path:?} is {media_type} and no text; write it into a file: roost files cat {path} > FILE")]
    NotText { path: String, media_type: String },
    #[error("{} could not be written: {source}; name another file with --output", path.display())]
    Export { path: PathBuf, source: io::Error },
    #[error("{} could not be written: {source}; ACPLB_EVIDENCE_PATH names it", path.display())]
    Evidence { path: PathBuf, source: io::Error },
    #[error("{} cannot be used: {source}; make it writable, or name another directory with --state", path.display())]
    State { path: PathBuf, source: io::Error },
    #[error("{} is too long for a socket and XDG_RUNTIME_DIR is not set; name a shorter one with --state", .0.display())]
    LongState(PathBuf),
    #[error(
        "this command runs inside an agent (ROOST_RUN is set), and an agent neither starts nor ends a daemon; do it in a \
         terminal of your own"
    )]
    InsideAgent,
    #[error("no daemon runs here; `roost up` starts one")]
    NoDaemon,
    #[error("the daemon does not answer; `roost down` ends it")]
    Silent,
    #[error("the daemon has ended while it was waited for; `roost log {0}` shows what it recorded until then")]
    Lost(String),
    #[error("nothing can be recorded any more (the log {0}); `roost down`, then run `roost check`")]
    LogFailed(String),
    #[error("the daemon still runs (process {0}) and does not end; kill it, its agents end with it")]
    Undying(u32),
    #[error("some agents did not end with the daemon; the records in {} name them", .0.display())]
    Agents(PathBuf),
    #[error("{why}")]
    Daemon { why: String, exit: Exit },
    #[error("the pairing page could not be opened: {0}; open it by hand")]
    Open(io::Error),
    #[error("the daemon serves no port, so no device can reach it; `roost down`, then `roost up`")]
    NoPort,
    #[error("unknown runtime \"{id}\"; known are {}. A daemon that runs knows what roost.toml said when it was started", known.join(", "))]
    UnknownRuntime { id: String, known: Vec<String> },
    #[error("nobody is logged in to {id}; `roost login {id}` does it. {reason}")]
    NotLoggedIn { id: String, reason: String },
    #[error(
        "no agent is ready to work on this. Make one ready:\n  {}\nThe demo agent needs no login: roost run --runtime demo",
        .0.join("\n  ")
    )]
    NobodyLoggedIn(Vec<String>),
    #[error("{id} cannot be used: {reason}")]
    NotInstalled { id: String, reason: String },
    #[error(
        "sessions of {0} have a home of their own that is gone with them (isolation \"ephemeral\" in roost.toml), so a login would be lost; name a namespace, or set a key under [runtimes.{0}.env]"
    )]
    EphemeralLogin(String),
    #[error("nothing waits for an answer under \"{0}\"; `roost approvals` lists what does")]
    NotWaiting(String),
    #[error("{0} is a tool call, which is answered with allow or deny; only questions take --answer")]
    NotAQuestion(String),
    #[error("{what}: {why}")]
    WrongAnswer { what: String, why: String },
    #[error(
        "session {0} is only kept by its agent, which tells nobody what happens next; `roost run --resume {0} \"…\"` goes on with it under Roost"
    )]
    NotFollowed(String),
    #[error("\"{id}\" is the beginning of several; use more of one of these:\n  {}", found.join("\n  "))]
    AmbiguousAsk { id: String, found: Vec<String> },
    #[error("no device waits to be paired with the request {0}; `roost devices` lists those that wait")]
    NoDeviceWaits(String),
    #[error("an event cannot be read ({0}); run `roost check`")]
    Unreadable(String),
    #[error("the output could not be written: {0}")]
    Output(io::Error),
    #[error("Roost could not be started: {0}")]
    Start(io::Error),
    #[error(transparent)]
    Log(#[from] roost_log::Error),
    #[error(transparent)]
    Client(#[from] roost_client::Error),
}

impl Error {
    /// The exit code of the process for this error.
    pub fn exit(&self) -> Exit {
        match self {
            // Nobody reads any more, so nothing is wrong.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Completed,
            Self::NoHome
            | Self::NoCwd(_)
            | Self::NeedsPrompt(_)
            | Self::NoTerminal
            | Self::NoDecision
            | Self::PromptTooLong(_)
            | Self::NothingToContinue(_)
            | Self::UnknownSession(_)
            | Self::AmbiguousSession { .. }
            | Self::NoWorkspace { .. }
            | Self::NoFolder(_)
            | Self::NotText { .. }
            | Self::LongState(_)
            | Self::UnknownRuntime { .. }
            | Self::EphemeralLogin(_)
            | Self::NotWaiting(_)
            | Self::NotAQuestion(_)
            | Self::WrongAnswer { .. }
            | Self::NotFollowed(_)
            | Self::AmbiguousAsk { .. }
            | Self::NoDeviceWaits(_) => Exit::Usage,
            Self::Daemon { exit, .. } => *exit,
            Self::Client(roost_client::Error::Fault(fault)) => refused(fault),
            Self::Held { .. }
            | Self::NotInstalled { .. }
            | Self::NotLoggedIn { .. }
            | Self::NobodyLoggedIn(_)
            | Self::State { .. }
            | Self::InsideAgent
            | Self::NoDaemon
            | Self::Silent
            | Self::Lost(_)
            | Self::LogFailed(_)
            | Self::Undying(_)
            | Self::Agents(_)
            | Self::Open(_)
            | Self::NoPort
            | Self::Unreadable(_)
            | Self::Client(_)
            | Self::Export { .. }
            | Self::Evidence { .. }
            | Self::Input(_)
            | Self::Output(_)
            | Self::Start(_)
            | Self::Log(_) => Exit::Failed,
        }
    }
}

/// Whether the daemon refused what was asked, or could not do it.
fn refused(fault: &Fault) -> Exit {
    let is_disabled = fault.data.get("status").is_some_and(|status| status == "disabled");
    match fault.kind() {
        Some(
            FaultCode::InvalidParams
            | FaultCode::SessionNotFound
            | FaultCode::WorkspaceNotFound
            | FaultCode::FileNotFound
            | FaultCode::DirectoryNotFound
            | FaultCode::PathTraversal,
        ) => Exit::Usage,
        _ if is_disabled => Exit::Usage,
        _ => Exit::Failed,
    }
}
