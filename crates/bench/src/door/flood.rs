//! 100 watchers of a flood, and what it costs the agent that they are there.

use std::time::Duration;

use super::Judge;
use super::check::NormalizedCheck;
use super::warm_session::WarmSession;
use super::watchers::Watchers;
use crate::Outcome;
use crate::figure::{Table, Target, median, millis};

const FLOOD: &str = "flood 200000 200";
const WATCHERS: usize = 100;
const LIMIT: Duration = Duration::from_secs(120);

/// The measurements of one flood.
struct FloodResult {
    /// The duration of the agent's turn, by the timestamps of its events.
    turn: Duration,
    /// The time until the last watcher had received everything.
    all_done: Duration,
    lost: u64,
    unfinished: usize,
    peak: f64,
}

/// Adds what watchers lose of a flood, and how much slower the agent's turn is with them than without.
pub(super) fn run(table: &mut Table, judge: Judge<'_>) -> Outcome {
    let before = flood(0)?;
    let watched = flood(WATCHERS)?;
    let after = flood(0)?;
    let alone = median(vec![millis(before.turn), millis(after.turn)]);
    let ratio = millis(watched.turn) / alone;
    let what = |what: &str| format!("flood, {WATCHERS} watchers: {what}");
    table.add("door", what("lost"), watched.lost as f64, "events", Target::AtMost(0.0));
    table.add("door", what("did not get to the end"), watched.unfinished as f64, "clients", Target::AtMost(0.0));
    let limit = judge(Target::AtMost(LIMIT.as_secs_f64()));
    table.add("door", what("all done"), watched.all_done.as_secs_f64(), "s", limit);
    table.add("door", what("daemon, peak"), watched.peak, "MB", Target::None);
    table.add("door", "flood, no watchers: the agent's turn", alone, "ms", Target::None);
    table.add("door", what("the agent's turn"), millis(watched.turn), "ms", Target::None);
    table.add("door", what("turn / turn without them"), ratio, "x", judge(Target::AtMost(1.2)));
    Ok(())
}

/// Floods a new daemon while this many watchers read.
fn flood(count: usize) -> Outcome<FloodResult> {
    let WarmSession { home: _home, daemon, token, mut control, session } = WarmSession::start()?;
    let mut watchers = Watchers::new()?;
    for _ in 0..count {
        watchers.add(daemon.client(&token)?, &session, NormalizedCheck::until(2))?;
    }
    watchers.settle()?;
    control.prompt(&session, FLOOD)?;
    let all_done = watchers.finish(LIMIT)?;
    let turn = control.task_end()?;
    let (lost, unfinished) = watchers.lost();
    let peak = daemon.peak()?;
    daemon.stop()?;
    Ok(FloodResult { turn, all_done, lost, unfinished, peak })
}
