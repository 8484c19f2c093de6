//! Why the server could not be started.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why the server could not be started.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another process listens on the address.
    #[error(
        "{address} is in use; stop what is listening there, or choose another port: `roost up --port N`, or server.port in roost.toml"
    )]
    PortInUse {
        /// The address that was to be listened on.
        address: SocketAddr,
    },
    /// The address cannot be bound, for another reason than that it is in use.
    #[error(
        "cannot listen on {address}: {source}; choose another address: `roost up --host IP`, or server.host in roost.toml"
    )]
    Listen {
        /// The address that was to be listened on.
        address: SocketAddr,
        /// The operating system's error.
        source: io::Error,
    },
    /// The local socket cannot be created.
    #[error("cannot listen on {}: {source}", path.display())]
    Socket {
        /// The path of the socket.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The certificate cannot be read, created or used.
    #[error("TLS cannot be set up: {0}")]
    Tls(io::Error),
    /// The threads of the background runtime cannot be started.
    #[error("threads for watchers cannot be started: {0}")]
    Threads(io::Error),
    /// The local secret cannot be written to the state directory.
    #[error("the local secret cannot be written: {0}")]
    Secret(io::Error),
    /// The paired devices cannot be read from the log.
    #[error(transparent)]
    Auth(#[from] crate::auth::AuthError),
    /// The workspaces cannot be read from the log.
    #[error(transparent)]
    Log(#[from] roost_log::Error),
    /// The folder of the default workspace cannot be resolved.
    #[error("cannot use {} as a workspace: {reason}", path.display())]
    Repo {
        /// The folder that the daemon was to be started in.
        path: PathBuf,
        /// The operating system's error, as text.
        reason: String,
    },
}
