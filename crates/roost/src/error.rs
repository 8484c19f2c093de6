//! Why the parts could not be put together or did not do what they should.

use std::net::IpAddr;

use roost_cli::Exit;

use crate::config;

/// Why a daemon could not be composed, started or asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Command(#[from] roost_cli::Error),
    #[error(transparent)]
    Config(#[from] config::Error),
    #[error("a daemon runs already (process {pid}, {at}); `roost pair` shows how to connect, `roost down` ends it")]
    AlreadyRuns { pid: u32, at: String },
    #[error(
        "{0} can be reached from other machines, and without encryption everybody on the way can read what you say and \
         take over your devices' tokens; add --tls self-signed, or --allow-insecure if a tunnel or a VPN protects it"
    )]
    Insecure(IpAddr),
    #[error(transparent)]
    Rules(#[from] roost_policy::Error),
    #[error(transparent)]
    Engine(#[from] roost_engine::Error),
    #[error(transparent)]
    Server(#[from] roost_server::Error),
}

impl Error {
    /// The exit code of the process for this error.
    fn exit(&self) -> Exit {
        use roost_engine::Error as Engine;
        match self {
            Self::Command(error) => error.exit(),
            Self::Config(_)
            | Self::Rules(_)
            | Self::Insecure(_)
            | Self::Engine(
                Engine::UnknownRuntime { .. }
                | Engine::RuntimeDisabled(_)
                | Engine::UnknownSession(_)
                | Engine::BadCwd { .. },
            ) => Exit::Usage,
            Self::AlreadyRuns { .. } | Self::Engine(_) | Self::Server(_) => Exit::Failed,
        }
    }
}

impl From<Error> for roost_cli::Error {
    fn from(error: Error) -> Self {
        let exit = error.exit();
        match error {
            Error::Command(error) => error,
            other => Self::Daemon { why: other.to_string(), exit },
        }
    }
}

impl From<roost_log::Error> for Error {
    fn from(error: roost_log::Error) -> Self {
        Self::Command(error.into())
    }
}
