//! Why a command could not be carried out, and what to do about it.

use std::io;
use std::path::PathBuf;

use roost_rpc::{Fault, FaultCode};

use crate::exit::Exit;

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "each message says it")]
pub enum Error {
    #[error("there is no home directory; set HOME, or give --state and --config")]
    NoHome,
    #[error("the current folder cannot be read: {0}; change to another folder")]
    NoCwd(io::Error),
    #[error("{} cannot be made: {source}", link.display())]
    Link { link: PathBuf, source: io::Error },
    #[error(
        "{held}; wait for it, stop it (`roost down` stops a daemon), or choose another state directory with --state"
    )]
    Held { held: roost_log::Error },
    #[error("runtime \"{0}\" needs a prompt: roost run --runtime {0} \"what to do\"")]
    NeedsPrompt(String),
    #[error("`--approvals prompt` needs a terminal and does not work with --json; use `wait` or `deny`")]
    NoTerminal,
    #[error("without a terminal the decision must be given: `roost approvals answer ID allow` or `deny`")]
    NoDecision,
    #[error("the prompt is longer than {0} bytes; write it to a file and attach that with --file")]
    PromptTooLong(u64),
    #[error("the prompt could not be read from stdin: {0}")]
    Input(io::Error),
    #[error("there is no session in {} to continue; start one with `roost run`", .0.display())]
    NothingToContinue(PathBuf),
    #[error("there are no sessions yet; `roost run` starts one")]
    NoSessions,
    #[error(
        "`roost attach` needs a terminal; `roost log --follow {0}` shows what happens, `roost run --session {0}` sends a prompt"
    )]
    AttachWithoutTerminal(String),
    #[error("no session \"{0}\"; `roost sessions` lists them")]
    UnknownSession(String),
    #[error("\"{id}\" is the beginning of several sessions; use more of one of these:\n  {}", found.join("\n  "))]
    AmbiguousSession { id: String, found: Vec<String> },
    #[error("there is no workspace \"{name}\"{}; `roost workspaces add FOLDER` adds one", list_of(known))]
    UnknownWorkspace { name: String, known: Vec<String> },
    #[error(
        "{folder} is not in a workspace{}. A workspace is a folder whose files and changes Roost shows, here and to \
         paired devices; `roost run` works in any folder. To make it one: roost workspaces add {folder}",
        list_of(known)
    )]
    NoWorkspace { folder: String, known: Vec<String> },
    #[error("there is no service \"{name}\"{}; `roost services` lists them", list_of(known))]
    UnknownService { name: String, known: Vec<String> },
    #[error("{0}")]
    BadManifest(String),
    #[error("{} could not be compiled: {why}", source_file.display())]
    Compiler { source_file: PathBuf, why: String },
    #[error("the daemon at {url} {why}")]
    DaemonUrl { url: String, why: String },
    #[error("the arguments cannot be used: {0}; write them as one JSON object, such as '{{\"city\": \"Bonn\"}}'")]
    BadToolArguments(String),
    #[error("the tool was not called: {0}")]
    ToolFailed(String),
    #[error("there is no folder {0:?} in the workspace; if it is a file, `roost files cat {0}` shows it")]
    NoFolder(String),
    #[error("{path:?} is {media_type}, not text; save it instead: roost files cat {path} > FILE")]
    NotText { path: String, media_type: String },
    #[error("{} exists already and is not replaced; remove it, or choose another file with --output", .0.display())]
    ExportExists(PathBuf),
    #[error("{} could not be written: {source}; choose another file with --output", path.display())]
    Export { path: PathBuf, source: io::Error },
    #[error("{} could not be written: {source}; ACPLB_EVIDENCE_PATH names it", path.display())]
    Evidence { path: PathBuf, source: io::Error },
    #[error("{} cannot be used: {source}; make it writable, or choose another directory with --state", path.display())]
    State { path: PathBuf, source: io::Error },
    #[error("the path {} is too long for a socket, and XDG_RUNTIME_DIR is not set; choose a shorter one with --state", .0.display())]
    LongState(PathBuf),
    #[error(
        "this command runs inside an agent (ROOST_RUN is set), and an agent may not start or stop a daemon; run it in \
         your own terminal"
    )]
    InsideAgent,
    #[error("no daemon is running; `roost up` starts one")]
    NoDaemon,
    #[error("the daemon does not answer; `roost down` stops it")]
    Silent,
    #[error("the daemon has ended before the task did; `roost log {0}` shows what was recorded until then")]
    Lost(String),
    #[error("nothing can be recorded any more (the log {0}); run `roost down`, then `roost check`")]
    LogFailed(String),
    #[error("the daemon (process {0}) does not stop; kill it, and its agents end with it")]
    Undying(u32),
    #[error("some agents did not end with the daemon; the records in {} name their processes", .0.display())]
    Agents(PathBuf),
    #[error("{why}")]
    Daemon { why: String, exit: Exit },
    #[error("no browser could be started: {source}; open this page yourself: {page}")]
    Open { page: String, source: io::Error },
    #[error("no temporary folder could be made for the demo agent: {0}; name a writable one with TMPDIR")]
    DemoFolder(io::Error),
    #[error("unknown agent \"{id}\"; known: {}. A running daemon uses roost.toml as it was when the daemon started", known.join(", "))]
    UnknownRuntime { id: String, known: Vec<String> },
    #[error("not logged in to {id}: run `roost login {id}`. {reason}")]
    NotLoggedIn { id: String, reason: String },
    #[error(
        "no agent is ready. Install one, or log in:\n  {}\nThe demo agent needs neither: roost demo",
        .0.join("\n  ")
    )]
    NobodyLoggedIn(Vec<String>),
    #[error("{id} cannot be used: {reason}")]
    NotInstalled { id: String, reason: String },
    #[error(
        "sessions of {0} use a temporary home (isolation \"ephemeral\" in roost.toml), so a login would be lost; give a --namespace, or set an API key under [runtimes.{0}.env]"
    )]
    EphemeralLogin(String),
    #[error("nothing is waiting under \"{0}\"; `roost approvals` lists what is")]
    NotWaiting(String),
    #[error("{0} is a tool call: answer it with `allow` or `deny`; --answer is for questions")]
    NotAQuestion(String),
    #[error("{what}: {why}")]
    WrongAnswer { what: String, why: String },
    #[error(
        "session {0} belongs to its agent alone, so Roost cannot follow it; `roost run --resume {0} \"…\"` resumes it under Roost"
    )]
    NotFollowed(String),
    #[error("\"{id}\" is the beginning of several; use more of one of these:\n  {}", found.join("\n  "))]
    AmbiguousAsk { id: String, found: Vec<String> },
    #[error("no device is waiting under the request {0}; `roost devices` lists those that are")]
    NoDeviceWaits(String),
    #[error("an event cannot be read ({0}); run `roost check`")]
    Unreadable(String),
    #[error("{file} was not changed: {why}; add what is printed above yourself")]
    EditorSettings { file: String, why: String },
    #[error("the output could not be written: {0}")]
    Output(io::Error),
    #[error("no address on this machine could be opened for the browser to come back to: {0}")]
    LoginAddress(io::Error),
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
            | Self::NoSessions
            | Self::AttachWithoutTerminal(_)
            | Self::AmbiguousSession { .. }
            | Self::UnknownWorkspace { .. }
            | Self::UnknownService { .. }
            | Self::BadManifest(_)
            | Self::BadToolArguments(_)
            | Self::NoWorkspace { .. }
            | Self::NoFolder(_)
            | Self::NotText { .. }
            | Self::ExportExists(_)
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
            | Self::Link { .. }
            | Self::Compiler { .. }
            | Self::DaemonUrl { .. }
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
            | Self::Open { .. }
            | Self::DemoFolder(_)
            | Self::Unreadable(_)
            | Self::Client(_)
            | Self::Export { .. }
            | Self::EditorSettings { .. }
            | Self::Evidence { .. }
            | Self::Input(_)
            | Self::Output(_)
            | Self::LoginAddress(_)
            | Self::ToolFailed(_)
            | Self::Start(_)
            | Self::Log(_) => Exit::Failed,
        }
    }
}

/// The names of workspaces, for a message.
fn list_of(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!(" (there are: {})", known.join(", ")) }
}

/// Whether the daemon refused what was asked, or could not do it.
fn refused(fault: &Fault) -> Exit {
    let is_disabled = fault.data.get("status").is_some_and(|status| status == "disabled");
    match fault.kind() {
        Some(
            FaultCode::InvalidParams
            | FaultCode::SessionNotFound
            | FaultCode::WorkspaceNotFound
            | FaultCode::ServiceNotFound
            | FaultCode::FileNotFound
            | FaultCode::DirectoryNotFound
            | FaultCode::PathTraversal,
        ) => Exit::Usage,
        _ if is_disabled => Exit::Usage,
        _ => Exit::Failed,
    }
}
