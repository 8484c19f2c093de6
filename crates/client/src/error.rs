//! Why the daemon could not be talked to, or what it refused.

use std::io;
use std::path::PathBuf;

use roost_rpc::Fault;

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The daemon refused, and says why.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The connection has ended.
    #[error("the daemon has closed the connection")]
    Gone,
    /// There is no connection.
    #[error("cannot connect to {}: {source}", path.display())]
    Io {
        /// Where the socket was looked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What the daemon said makes no sense, as it would if it were of another version.
    #[error(
        "the daemon was not understood: {0}; `roost down` ends it, and the next command starts one of this version"
    )]
    Protocol(String),
}

impl Error {
    /// Nobody listens there.
    pub fn is_nobody(&self) -> bool {
        use io::ErrorKind::{ConnectionRefused, NotFound};
        matches!(self, Self::Io { source, .. } if matches!(source.kind(), ConnectionRefused | NotFound))
    }
}
