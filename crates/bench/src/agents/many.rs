//! Ten sessions of four runtimes at once: nothing is lost, and what a session takes beside its CLI.

use serde_json::{Value, json};

use super::RUNTIMES;
use super::host::Host;
use super::processes::{megabytes, roost_processes};
use crate::Outcome;
use crate::figure::{Table, Target};

const SESSIONS: usize = 10;

/// Adds how many of [`SESSIONS`] concurrent sessions lost events, and the memory that each costs beside its CLI.
pub(super) fn run(table: &mut Table, model: &str) -> Outcome {
    let host = Host::start(model)?;
    let idle = megabytes(&roost_processes(host.daemon.id())?);
    let mut sessions = Vec::new();
    for (name, _) in RUNTIMES.into_iter().cycle().take(SESSIONS) {
        let mut client = host.client()?;
        let session = client.session_of(name, "yolo")?;
        client.follow(&session, &[])?;
        sessions.push((client, session));
    }
    for (client, session) in &mut sessions {
        client.prompt(session, "SCRIPT:work")?;
    }
    let mut lost = 0;
    for (client, _) in &mut sessions {
        lost += usize::from(!is_complete(&client.task()?));
    }
    let each = (megabytes(&roost_processes(host.daemon.id())?) - idle) / SESSIONS as f64;
    for (client, session) in &mut sessions {
        client.call("session/stop", json!({ "session_id": session }))?;
    }
    table.add(
        "agents",
        format!("{SESSIONS} sessions at once: incomplete"),
        lost as f64,
        "sessions",
        Target::AtMost(0.0),
    );
    table.add("agents", "per session beside the CLI: daemon and holder", each, "MB", Target::AtMost(10.0));
    host.daemon.stop()
}

/// True if the events of a task have no gap and hold everything that the model streamed in its two rounds.
fn is_complete(events: &[Value]) -> bool {
    let numbers: Vec<_> = events.iter().filter_map(|event| event["seq"].as_u64()).collect();
    let gapless = numbers.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let deltas = events.iter().filter(|event| event["type"] == "model.output.delta");
    let text: String = deltas.filter_map(|event| event["payload"]["delta"].as_str()).collect();
    let ticks: String = (0..50).map(|at| format!("tick{at} ")).collect();
    let completed = events.last().is_some_and(|event| event["type"] == "task.completed");
    gapless && completed && text.matches(&ticks).count() == 2
}
