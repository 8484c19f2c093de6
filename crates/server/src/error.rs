//! Why the door could not be opened.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why the door could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Somebody listens there already.
    #[error("{address} is in use; stop what listens there, or take another port with --port")]
    PortInUse {
        /// The address that was to be listened on.
        address: SocketAddr,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address that was to be listened on.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The local socket cannot be made.
    #[error("cannot listen on {}: {source}", path.display())]
    Socket {
        /// Where the socket was to be.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The certificate cannot be used.
    #[error("TLS cannot be set up: {0}")]
    Tls(io::Error),
    /// No threads can be started.
    #[error("threads for watchers cannot be started: {0}")]
    Threads(io::Error),
    /// The local secret cannot be written.
    #[error("the local secret cannot be written: {0}")]
    Secret(io::Error),
    /// What is known of devices cannot be read.
    #[error(transparent)]
    Auth(#[from] crate::auth::AuthError),
    /// What is known of workspaces cannot be read.
    #[error(transparent)]
    Log(#[from] roost_log::Error),
    /// The default workspace cannot be used.
    #[error("cannot use {} as a workspace: {reason}", path.display())]
    Repo {
        /// The folder that the daemon was to be started in.
        path: PathBuf,
        /// Why it cannot be used.
        reason: String,
    },
}
