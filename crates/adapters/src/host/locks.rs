//! One process per session: most runtimes let two processes write the same conversation, which damages it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use roost_engine::adapter::AdapterError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long to wait for a process of ours that is stopping and still holds the session.
const PATIENCE: Duration = Duration::from_secs(10);

/// The native sessions that an adapter has open in this daemon, by the runtime's id.
#[derive(Default)]
pub(crate) struct Locks(Mutex<HashMap<String, Arc<Semaphore>>>);

/// Exclusive use of a session within this daemon; released on drop.
pub(crate) struct Lock {
    _permit: OwnedSemaphorePermit,
}

impl Locks {
    /// Locks a session; fails after [`PATIENCE`] if it is still open elsewhere in this daemon.
    pub(crate) async fn take(&self, session: &str) -> Result<Lock, AdapterError> {
        self.take_within(PATIENCE, session).await
    }

    async fn take_within(&self, patience: Duration, session: &str) -> Result<Lock, AdapterError> {
        let semaphore = {
            let mut open = self.0.lock();
            open.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
            open.entry(session.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(1))).clone()
        };
        match tokio::time::timeout(patience, semaphore.acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Lock { _permit: permit }),
            _ => Err(in_use(session, "Roost has it open already; go on with it there")),
        }
    }
}

/// The error for a session that is in use; `who` says by whom and what to do about it.
pub(crate) fn in_use(session: &str, who: &str) -> AdapterError {
    AdapterError::Runtime { message: format!("session {session} is in use: {who}"), raw: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_is_open_once_and_can_be_opened_again() {
        let locks = Locks::default();
        let first = locks.take("a").await.unwrap();
        let refused = locks.take_within(Duration::ZERO, "a").await.map(|_| ()).unwrap_err();
        assert!(refused.to_string().contains("open already"), "{refused}");
        locks.take("b").await.unwrap();
        drop(first);
        locks.take("a").await.unwrap();
    }
}
