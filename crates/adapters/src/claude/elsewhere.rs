//! Sessions that a process outside of Roost has open, as far as the CLI keeps book of it.

use std::path::{Path, PathBuf};

use roost_engine::adapter::AdapterError;
use roost_process::Process;
use serde::Deserialize;

use crate::host::locks::in_use;

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

#[cfg(test)]
mod tests {
    use super::*;

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
