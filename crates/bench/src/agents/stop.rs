//! How fast a stop ends a task, and that no process of the agent is left: while it streams, while a tool runs, and while an
//! approval is pending.

use std::time::{Duration, Instant};

use serde_json::json;

use super::RUNTIMES;
use super::host::Host;
use super::processes::processes_with_home;
use crate::Outcome;
use crate::figure::{Table, Target, millis};

/// How long the processes of an agent may outlive its task.
const EXIT_DEADLINE: Duration = Duration::from_secs(2);
/// How often the list of processes is read while waiting.
const POLL: Duration = Duration::from_millis(5);

/// The moments at which agents are stopped: a name, the session's mode, the prompt, and the event to wait for.
const MOMENTS: [(&str, &str, &str, &str); 3] = [
    ("streaming", "yolo", "SCRIPT:slow", "model.output.delta"),
    ("a tool runs", "yolo", "SCRIPT:sleep", "tool.call.started"),
    ("approval pending", "ask", "SCRIPT:shell", "approval.requested"),
];

/// Adds, for each runtime and each of [`MOMENTS`], the time from the stop to the task's end and the processes left.
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
            let left = left_after(&host, EXIT_DEADLINE)?;
            let what = format!("{name}: stop to task end, {moment}");
            table.add("agents", what, took, "ms", Target::AtMost(250.0));
            let what = format!("{name}: processes left 2 s later, {moment}");
            table.add("agents", what, left as f64, "processes", Target::AtMost(0.0));
        }
    }
    host.daemon.stop()
}

/// The number of agent processes left after this time; returns 0 as soon as all have ended.
fn left_after(host: &Host, time: Duration) -> Outcome<usize> {
    let end = Instant::now() + time;
    loop {
        let left = processes_with_home(host.home.path(), &[host.daemon.id()])?.len();
        if left == 0 || Instant::now() > end {
            return Ok(left);
        }
        std::thread::sleep(POLL);
    }
}
