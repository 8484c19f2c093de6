//! How much later the first piece of an answer reaches a client than whoever drives the bare CLI.

use std::time::Instant;

use super::bare::Bare;
use super::host::Host;
use super::{RUNTIMES, bare};
use crate::Outcome;
use crate::door::client::DoorClient;
use crate::figure::{Table, Target, median, millis};

const TURNS: usize = 15;

/// Adds, for each runtime, the median time to the first delta, bare and through the daemon.
pub(super) fn run(table: &mut Table, model: &str) -> Outcome {
    let host = Host::start(model)?;
    let mut client = host.client()?;
    for (name, agent) in RUNTIMES {
        let mut bare = bare::start(agent, model)?;
        let session = client.session_of(name, "yolo")?;
        client.follow(&session, &[])?;
        let (mut alone, mut ours) = (vec![], vec![]);
        // Taken in turns, so that a busy moment is everybody's; the first turn starts the CLI.
        for round in 0..=TURNS {
            let bare_took = bare_turn(bare.as_mut())?;
            let our_took = our_turn(&mut client, &session)?;
            if round > 0 {
                alone.push(bare_took);
                ours.push(our_took);
            }
        }
        client.call("session/stop", serde_json::json!({ "session_id": session }))?;
        let (alone, ours) = (median(alone), median(ours));
        table.add("agents", format!("{name}: first delta, bare CLI, p50"), alone, "ms", Target::None);
        table.add("agents", format!("{name}: first delta, WebSocket, p50"), ours, "ms", Target::None);
        table.add("agents", format!("{name}: first delta above bare"), ours - alone, "ms", Target::AtMost(10.0));
    }
    host.daemon.stop()
}

fn bare_turn(bare: &mut dyn Bare) -> Outcome<f64> {
    let start = Instant::now();
    bare.first_delta("SCRIPT:text")?;
    let took = millis(start.elapsed());
    bare.finish_turn()?;
    Ok(took)
}

fn our_turn(client: &mut DoorClient, session: &str) -> Outcome<f64> {
    let start = Instant::now();
    client.prompt(session, "SCRIPT:text")?;
    client.until("model.output.delta")?;
    let took = millis(start.elapsed());
    client.task()?;
    Ok(took)
}
