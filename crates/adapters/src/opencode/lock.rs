//! One server per session: OpenCode lets two work on the same conversation, and neither hears of the other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use roost_engine::adapter::AdapterError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a server of ours that is being ended may take to let go of its session.
const PATIENCE: Duration = Duration::from_secs(10);

/// The sessions that this adapter has open.
#[derive(Default)]
pub(super) struct Locks(Mutex<HashMap<String, Arc<Semaphore>>>);

/// A session that nobody else of ours may open; dropping it lets go.
pub(super) struct Lock {
    _permit: OwnedSemaphorePermit,
}

impl Locks {
    /// Takes a session, waiting a little for a server that is on its way out.
    pub(super) async fn take(&self, session: &str) -> Result<Lock, AdapterError> {
        let semaphore = {
            let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            open.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
            open.entry(session.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(1))).clone()
        };
        match tokio::time::timeout(PATIENCE, semaphore.acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Lock { _permit: permit }),
            _ => {
                let message = format!("OpenCode's session {session} is open in Roost already; go on with it there");
                Err(AdapterError::Runtime { message, raw: None })
            }
        }
    }
}
