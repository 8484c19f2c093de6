//! Work that waits for the disk, away from the threads that serve everything else.

use crate::error::Error;

/// Runs work that waits for the disk on tokio's blocking threads; a panic in it becomes an error.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Error::Start(error.into()))?
}
