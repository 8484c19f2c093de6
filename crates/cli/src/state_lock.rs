//! The right to write the state directory, which one process has at a time.

use roost_log::StateLock;

use crate::blocking::blocking;
use crate::error::Error;
use crate::paths::StateDir;

/// Takes the state directory for a command; [`Error::Held`] names who has it.
pub async fn lock(state: &StateDir, command: &str) -> Result<StateLock, Error> {
    let (dir, command) = (state.dir().to_owned(), command.to_owned());
    blocking(move || {
        roost_log::secure(&dir)?;
        match StateLock::acquire(&dir, &command) {
            Err(held @ roost_log::Error::Held { .. }) => Err(Error::Held { held }),
            answer => Ok(answer?),
        }
    })
    .await
}
