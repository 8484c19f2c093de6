//! The CLI's registry of running processes, `sessions/*.json` in its config folder: shows which sessions are open
//! outside of Roost.

use std::path::{Path, PathBuf};

use roost_engine::adapter::AdapterError;
use roost_process::Process;
use serde::Deserialize;

use crate::host::locks::in_use;

/// The CLI's entry about one of its processes. `proc_start` is the start time, so that a reused pid is recognised.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RegistryEntry {
    pid: u32,
    session_id: String,
    proc_start: String,
}

/// The error if a living process outside of Roost has the session open. Without a registry nothing is refused.
pub(super) async fn refuse_if_open_elsewhere(config: PathBuf, session: &str) -> Result<(), AdapterError> {
    let wanted = session.to_owned();
    let open = tokio::task::spawn_blocking(move || find_owner(&config, &wanted)).await;
    match open.ok().flatten() {
        Some(pid) => Err(in_use(session, &format!("process {pid} has it open; close it there first"))),
        None => Ok(()),
    }
}

/// The pid of a living process that has this session open.
fn find_owner(config: &Path, session: &str) -> Option<u32> {
    let entries = std::fs::read_dir(config.join("sessions")).ok()?.flatten();
    let entries =
        entries.filter_map(|entry| serde_json::from_slice::<RegistryEntry>(&std::fs::read(entry.path()).ok()?).ok());
    let lives = |entry: &RegistryEntry| {
        let start_time = entry.proc_start.parse().unwrap_or(0);
        Process { pid: entry.pid, start_time }.is_alive()
    };
    entries.filter(|entry| entry.session_id == session).find(lives).map(|entry| entry.pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_that_lives_has_a_session_open() {
        let config = tempfile::TempDir::new().unwrap();
        std::fs::create_dir(config.path().join("sessions")).unwrap();
        let own = Process::from_pid(std::process::id()).unwrap();
        let write_entry = |start: u64| {
            let entry = format!(r#"{{"pid":{},"sessionId":"s","procStart":"{start}"}}"#, own.pid);
            std::fs::write(config.path().join("sessions/1.json"), entry).unwrap();
            (find_owner(config.path(), "s"), find_owner(config.path(), "other"))
        };
        assert_eq!(write_entry(own.start_time), (Some(own.pid), None));
        assert_eq!(write_entry(own.start_time + 1), (None, None));
    }
}
