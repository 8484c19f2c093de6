//! The start time and idle memory of a daemon with a large log.

use std::time::Duration;

use super::Judge;
use super::daemon::Home;
use crate::figure::{Table, Target, median, millis};
use crate::{Outcome, log};

const EVENTS: u64 = 1_000_000;
const SESSIONS: usize = 1000;
const STARTS: usize = 7;
/// After this a daemon that was just started has done what it does by itself.
const REST: Duration = Duration::from_secs(2);

/// Adds the start time and the idle memory of a daemon whose log holds [`EVENTS`] events.
pub(super) fn run(table: &mut Table, judge: Judge<'_>) -> Outcome {
    let home = Home::new()?;
    log::fill(&home.state(), SESSIONS, EVENTS)?;
    let first = home.start()?;
    let token = home.pair(&first)?;
    first.stop()?;
    let mut starts = vec![];
    for _ in 0..STARTS {
        let daemon = home.start()?;
        starts.push(millis(daemon.ready(&token)?));
        daemon.stop()?;
    }
    let daemon = home.start()?;
    daemon.ready(&token)?;
    std::thread::sleep(REST);
    let idle = daemon.resident()?;
    daemon.stop()?;
    table.add(
        "door",
        "10^6 events stored: exec to first answer, p50",
        median(starts),
        "ms",
        judge(Target::AtMost(150.0)),
    );
    table.add("door", "10^6 events stored: idle", idle, "MB", Target::AtMost(30.0));
    Ok(())
}
