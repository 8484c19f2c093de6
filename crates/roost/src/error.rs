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
    #[error("a daemon is already running (process {pid}, {at}); `roost pair` connects a device, `roost down` stops it")]
    AlreadyRuns { pid: u32, at: String },
    #[error(
        "a daemon is already running (process {pid}); a command started it, so no device can reach it, and it is busy \
         with a task. Try again when the task has ended, or stop both with `roost down`"
    )]
    Busy { pid: u32 },
    #[error(
        "other machines can reach {0}, and without encryption everybody on the network can read your sessions and steal \
         the tokens of your devices; add --tls self-signed (server.tls in roost.toml), or --allow-insecure \
         (server.allow_insecure) if a tunnel or VPN encrypts"
    )]
    Insecure(IpAddr),
    #[error(transparent)]
    Rules(#[from] roost_policy::Error),
    #[error(transparent)]
    Engine(#[from] roost_engine::Error),
    #[error(transparent)]
    Connector(#[from] roost_gateway::upstream::ConnectError),
    #[error(transparent)]
    Server(#[from] roost_server::Error),
    #[error("the MCP gateway cannot start: {0}")]
    Gateway(String),
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
            Self::AlreadyRuns { .. }
            | Self::Busy { .. }
            | Self::Engine(_)
            | Self::Connector(_)
            | Self::Server(_)
            | Self::Gateway(_) => Exit::Failed,
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
