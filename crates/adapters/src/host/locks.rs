//! One process per session: most runtimes let two work on the same conversation, and both lose.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use roost_engine::adapter::AdapterError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a process of ours that is being ended may take to let go of its session.
const PATIENCE: Duration = Duration::from_secs(10);

/// The sessions that an adapter has open.
#[derive(Default)]
pub(crate) struct Locks(Mutex<HashMap<String, Arc<Semaphore>>>);

/// A session that nobody else of ours may open; dropping it lets go.
pub(crate) struct Lock {
    _permit: OwnedSemaphorePermit,
}

impl Locks {
    /// Takes a session, waiting a little for a process that is on its way out.
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

/// Somebody else has the session.
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
