//! The pipe to the runtime's stdin.

use tokio::{io::AsyncWriteExt, net::unix::pipe::Sender};

use crate::Error;

/// Writes to the runtime's stdin; dropping it closes the pipe, which asks most runtimes to leave.
#[derive(Debug)]
pub struct Stdin(pub(crate) Sender);

impl Stdin {
    /// Writes all bytes, waiting while the runtime is behind.
    ///
    /// Not cancel safe: a dropped call may have written a part, so give it a task of its own rather
    /// than a branch of `select!`.
    pub async fn write_all(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.0.write_all(bytes).await.map_err(Error::StdinClosed)
    }

    /// Closes the pipe: the runtime reads end of file.
    pub fn close(self) {}
}
