//! How much later a turn is over for a client than for whoever drives the bare agent.

use std::time::Instant;

use super::Judge;
use super::daemon::Home;
use crate::Outcome;
use crate::agent::PipedAgent;
use crate::figure::{Table, Target, median, millis};

const TURNS: usize = 300;

/// Adds the median time from prompt to end of a short turn, bare and over a WebSocket.
pub(super) fn run(table: &mut Table, judge: Judge<'_>) -> Outcome {
    let mut agent = PipedAgent::start()?;
    let home = Home::new()?;
    let daemon = home.start()?;
    let mut client = daemon.client(&home.pair(&daemon)?)?;
    let session = client.session()?;
    client.follow(&session, &[])?;
    let (mut bare, mut ours) = (vec![], vec![]);
    // Taken in turns, so that a busy moment is everybody's; the first turn opens the session.
    for round in 0..=TURNS {
        let start = Instant::now();
        agent.run_turn_granting("hello")?;
        let bare_took = start.elapsed();
        let start = Instant::now();
        client.prompt(&session, "hello")?;
        client.task_end()?;
        if round > 0 {
            bare.push(millis(bare_took));
            ours.push(millis(start.elapsed()));
        }
    }
    daemon.stop()?;
    let (bare, ours) = (median(bare), median(ours));
    table.add("door", "hello, prompt to end: bare agent, p50", bare, "ms", Target::None);
    table.add("door", "hello, prompt to task.completed: WebSocket, p50", ours, "ms", Target::None);
    table.add("door", "hello: above bare", ours - bare, "ms", judge(Target::AtMost(2.0)));
    Ok(())
}
