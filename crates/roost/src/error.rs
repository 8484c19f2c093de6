//! Why a command could not be carried out, and what to do about it.

use std::io;
use std::path::PathBuf;

use crate::config;
use crate::exit::Exit;

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Config(#[from] config::Error),
    #[error("neither a home directory nor XDG directories are known; set HOME, or name them with --state and --config")]
    NoHome,
    #[error("the current directory cannot be read: {0}; name another one with --cwd")]
    NoCwd(io::Error),
    #[error("{held}; wait for it or stop it, or use another state directory with --state")]
    Held { held: roost_log::Error },
    #[error("runtime \"{0}\" needs a prompt: roost run --runtime {0} \"what to do\"")]
    NeedsPrompt(String),
    #[error("--approvals prompt needs a terminal to ask at, and no --json; use wait or deny")]
    NoTerminal,
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
    #[error("{} could not be written: {source}; name another file with --output", path.display())]
    Export { path: PathBuf, source: io::Error },
    #[error("the output could not be written: {0}")]
    Output(io::Error),
    #[error("Roost could not be started: {0}")]
    Start(io::Error),
    #[error(transparent)]
    Rules(#[from] roost_policy::Error),
    #[error(transparent)]
    Engine(#[from] roost_engine::Error),
    #[error(transparent)]
    Log(#[from] roost_log::Error),
}

impl Error {
    /// What the process ends with.
    pub(crate) fn exit(&self) -> Exit {
        use roost_engine::Error as Engine;
        match self {
            // Nobody reads any more, so nothing is wrong.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Completed,
            Self::Config(_)
            | Self::Rules(_)
            | Self::NoHome
            | Self::NoCwd(_)
            | Self::NeedsPrompt(_)
            | Self::NoTerminal
            | Self::PromptTooLong(_)
            | Self::NothingToContinue(_)
            | Self::UnknownSession(_)
            | Self::AmbiguousSession { .. }
            | Self::Engine(
                Engine::UnknownRuntime { .. }
                | Engine::RuntimeDisabled(_)
                | Engine::UnknownSession(_)
                | Engine::BadCwd { .. },
            ) => Exit::Usage,
            Self::Held { .. }
            | Self::Export { .. }
            | Self::Input(_)
            | Self::Output(_)
            | Self::Start(_)
            | Self::Engine(_)
            | Self::Log(_) => Exit::Failed,
        }
    }
}
