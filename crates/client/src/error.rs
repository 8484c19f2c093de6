//! Why a call to the daemon failed.

use std::io;
use std::path::PathBuf;

use roost_rpc::Fault;

/// Why a call to the daemon failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The daemon refused the call.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The daemon ended the connection, or was killed.
    #[error("the daemon has closed the connection")]
    Gone,
    /// The socket could not be connected to.
    #[error("cannot connect to {}: {source}", path.display())]
    Io {
        /// The path of the socket.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The daemon sent something that cannot be understood, such as one of another version might.
    #[error(
        "the daemon was not understood: {0}; `roost down` ends it, and the next command starts one of this version"
    )]
    Protocol(String),
}

impl Error {
    /// Whether no daemon listens at the path: there is no socket, or nobody accepts on it.
    pub fn is_nobody(&self) -> bool {
        use io::ErrorKind::{BrokenPipe, ConnectionRefused, ConnectionReset, NotFound};
        // A daemon that is being killed still takes connections, and drops them.
        let is_nobody = |kind| matches!(kind, BrokenPipe | ConnectionRefused | ConnectionReset | NotFound);
        matches!(self, Self::Io { source, .. } if is_nobody(source.kind()))
    }
}
