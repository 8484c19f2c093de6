//! How fast a stop is felt, and that nothing of the agent is left: while it speaks, while its tool runs, while it asks.

use std::time::{Duration, Instant};

use serde_json::json;

use super::RUNTIMES;
use super::host::Host;
use super::processes::at_home;
use crate::Outcome;
use crate::figure::{Table, Target, millis};

/// How long the processes of an agent may outlive its task.
const GONE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);

/// What an agent does when it is stopped: the session's mode, the prompt, and the event that tells it does it.
const MOMENTS: [(&str, &str, &str, &str); 3] = [
    ("streaming", "yolo", "SCRIPT:slow", "model.output.delta"),
    ("a tool runs", "yolo", "SCRIPT:sleep", "tool.call.started"),
    ("approval pending", "ask", "SCRIPT:shell", "approval.requested"),
];

/// Measures.
pub(super) fn run(table: &mut Table, model: &str) -> Outcome {
    let host = Host::start(model)?;
    let mut client = host.client()?;
    for (name, _) in RUNTIMES {
        for (moment, mode, prompt, sign) in MOMENTS {
            let session = client.session_of(name, mode)?;
            client.follow(&session, &[])?;
            client.prompt(&session, prompt)?;
            client.until(sign)?;
            let start = Instant::now();
            client.send("session/stop", json!({ "session_id": session }))?;
            client.until("task.stopped")?;
            let took = millis(start.elapsed());
            let left = left_after(&host, GONE)?;
            let what = format!("{name}: stop to task end, {moment}");
            table.add("agents", what, took, "ms", Target::AtMost(250.0));
            let what = format!("{name}: processes left 2 s later, {moment}");
            table.add("agents", what, left as f64, "processes", Target::AtMost(0.0));
        }
    }
    host.daemon.stop()
}

/// How many processes of agents are there after this time; none as soon as they are gone.
fn left_after(host: &Host, time: Duration) -> Outcome<usize> {
    let end = Instant::now() + time;
    loop {
        let left = at_home(host.home.path(), &[host.daemon.id()])?.len();
        if left == 0 || Instant::now() > end {
            return Ok(left);
        }
        std::thread::sleep(LOOK);
    }
}
