//! One process per session: Claude Code lets two write to the same conversation, and both lose.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use roost_engine::adapter::AdapterError;
use roost_process::Process;
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a process of ours that is being ended may take to let go of its session.
const PATIENCE: Duration = Duration::from_secs(10);

/// The sessions that this adapter has open.
#[derive(Default)]
pub(super) struct Locks(Mutex<HashMap<String, Arc<Semaphore>>>);

/// A session that nobody else of ours may open; dropping it lets go.
pub(super) struct Lock {
    _permit: OwnedSemaphorePermit,
}

impl Locks {
    /// Takes a session, waiting a little for a process that is on its way out.
    pub(super) async fn take(&self, session: &str) -> Result<Lock, AdapterError> {
        self.take_within(PATIENCE, session).await
    }

    async fn take_within(&self, patience: Duration, session: &str) -> Result<Lock, AdapterError> {
        let semaphore = {
            let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            open.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
            open.entry(session.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(1))).clone()
        };
        match tokio::time::timeout(patience, semaphore.acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Lock { _permit: permit }),
            _ => Err(in_use(session, "Roost has it open already")),
        }
    }
}

/// The CLI's note about a process of its own.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Note {
    pid: u32,
    session_id: String,
    proc_start: String,
}

/// Refuses a session that a process outside of Roost has open, as far as the CLI keeps book of it.
pub(super) async fn refuse_if_open_elsewhere(config: PathBuf, session: &str) -> Result<(), AdapterError> {
    let wanted = session.to_owned();
    let open = tokio::task::spawn_blocking(move || open_in(&config, &wanted)).await;
    match open.ok().flatten() {
        Some(pid) => Err(in_use(session, &format!("process {pid} has it open; close it there first"))),
        None => Ok(()),
    }
}

fn open_in(config: &Path, session: &str) -> Option<u32> {
    let notes = std::fs::read_dir(config.join("sessions")).ok()?.flatten();
    let notes = notes.filter_map(|entry| serde_json::from_slice::<Note>(&std::fs::read(entry.path()).ok()?).ok());
    let lives = |note: &Note| {
        let start_time = note.proc_start.parse().unwrap_or(0);
        Process { pid: note.pid, start_time }.is_alive()
    };
    notes.filter(|note| note.session_id == session).find(lives).map(|note| note.pid)
}

fn in_use(session: &str, who: &str) -> AdapterError {
    let message = format!("session {session} of Claude Code is in use: {who}");
    AdapterError::Runtime { message, raw: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_is_open_once() {
        let locks = Locks::default();
        let first = locks.take("a").await.unwrap();
        locks.take("b").await.unwrap();
        assert!(locks.take_within(Duration::ZERO, "a").await.is_err());
        drop(first);
        locks.take("a").await.unwrap();
    }

    #[test]
    fn only_a_process_that_lives_has_a_session_open() {
        let config = tempfile::TempDir::new().unwrap();
        std::fs::create_dir(config.path().join("sessions")).unwrap();
        let own = Process::of(std::process::id()).unwrap();
        let note = |start: u64| {
            let note = format!(r#"{{"pid":{},"sessionId":"s","procStart":"{start}"}}"#, own.pid);
            std::fs::write(config.path().join("sessions/1.json"), note).unwrap();
            (open_in(config.path(), "s"), open_in(config.path(), "other"))
        };
        assert_eq!(note(own.start_time), (Some(own.pid), None));
        assert_eq!(note(own.start_time + 1), (None, None));
    }
}
