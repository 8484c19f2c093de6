//! `agents`: what Roost adds to the real agents, beside the bare CLI in the same run.
//!
//! Both sides ask the same scripted model on loopback, from homes of their own. The daemon is the `dist` build of
//! `roost serve`; a client of it is a WebSocket on the same machine, as in `door`. The CLIs are the pinned ones.

mod bare;
mod first;
mod host;
mod many;
mod processes;
mod stop;
mod work;

use testkit::agents::Agent;
use testkit::model::ModelServer;

use crate::Outcome;
use crate::figure::Table;

/// The runtimes that are measured, by the names that clients use.
const RUNTIMES: [(&str, Agent); 4] =
    [("claude", Agent::Claude), ("codex", Agent::Codex), ("gemini", Agent::Gemini), ("opencode", Agent::OpenCode)];

/// Measures every runtime: first delta, processor time, many sessions at once, and stopping.
pub(crate) fn run(table: &mut Table) -> Outcome {
    for (name, agent) in RUNTIMES {
        println!("{name} {}", agent.version());
    }
    let model = ModelServer::start();
    for (name, part) in PARTS {
        eprintln!("bench agents, {name} …");
        part(table, &model.url())?;
    }
    Ok(())
}

type AgentsPart = fn(&mut Table, &str) -> Outcome;

const PARTS: [(&str, AgentsPart); 4] =
    [("first delta", first::run), ("work", work::run), ("many", many::run), ("stop", stop::run)];
