//! What a turn of 100 pieces and two tool calls costs Roost in processor time.

use super::RUNTIMES;
use super::host::Host;
use super::processes::{roost_processes, seconds};
use crate::Outcome;
use crate::figure::{Table, Target};

const TURNS: usize = 10;

/// Adds, for each runtime, the daemon's and its holder's processor time for a turn with tool calls.
pub(super) fn run(table: &mut Table, model: &str) -> Outcome {
    let host = Host::start(model)?;
    let mut client = host.client()?;
    for (name, _) in RUNTIMES {
        let session = client.session_of(name, "yolo")?;
        client.follow(&session, &[])?;
        client.prompt(&session, "SCRIPT:work")?;
        client.task_end()?;
        let processes = roost_processes(host.daemon.id())?;
        let before = seconds(&processes);
        for _ in 0..TURNS {
            client.prompt(&session, "SCRIPT:work")?;
            client.task_end()?;
        }
        let each = (seconds(&processes) - before) * 1000.0 / TURNS as f64;
        client.call("session/stop", serde_json::json!({ "session_id": session }))?;
        let what = format!("{name}: our CPU, turn of 100 deltas and 2 tool calls");
        table.add("agents", what, each, "ms", Target::AtMost(50.0));
    }
    host.daemon.stop()
}
