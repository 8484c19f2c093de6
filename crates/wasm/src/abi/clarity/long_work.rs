//! Host functions whose work may take long: it is done beside the threads on which everything else in the daemon runs.
//!
//! A module yields only in its own code, at loops and calls. So short work is done at once, is paid for by the byte, and is
//! the last one when the time of the call is up; what may take longer than a few milliseconds comes here.

use super::Guest;
use crate::outcome::HostTrap;

/// Work of fewer steps, each a few nanoseconds, is done at once.
const LONG: usize = 1 << 20;

/// Does work of about so many steps. One long work is done at a time, for all modules together; it goes on to its end when
/// its call is over, and the next one waits for that.
pub(super) async fn run<T: Send + 'static>(
    guest: &mut Guest<'_>,
    steps: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> wasmtime::Result<T> {
    if steps < LONG {
        return Ok(work());
    }
    let turns = guest.state().long_work.clone();
    let stopped = || HostTrap::fault("the daemon is shutting down");
    let turn = turns.acquire_owned().await.map_err(|_| stopped())?;
    let work = move || {
        let _turn = turn;
        work()
    };
    tokio::task::spawn_blocking(work).await.map_err(|_| stopped())
}
