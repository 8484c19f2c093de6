//! 1,000 watchers of one session.

use std::time::Duration;

use super::Judge;
use super::check::{CdevCheck, Check, NormalizedCheck};
use super::warm_session::WarmSession;
use super::watchers::Watchers;
use crate::Outcome;
use crate::figure::{Table, Target};

const WATCHERS: usize = 1000;
/// How long 10 s of events may take until the last watcher has given up.
const LIMIT: Duration = Duration::from_secs(40);

/// Adds lost events and delays of [`WATCHERS`] watchers, in the log's own form and in that of the cdev protocol.
pub(super) fn run(table: &mut Table, judge: Judge<'_>) -> Outcome {
    // A delta is one event, a message is two.
    watch(table, judge, "normalized", "drip 1000 100", || NormalizedCheck::until(2))?;
    watch(table, judge, "cdev", "drip 500 50 apart", || CdevCheck::until(500))
}

fn watch<C: Check>(table: &mut Table, judge: Judge<'_>, format: &str, prompt: &str, check: impl Fn() -> C) -> Outcome {
    let WarmSession { home: _home, daemon, token, mut control, session } = WarmSession::start()?;
    let mut watchers = Watchers::new()?;
    for _ in 0..WATCHERS {
        watchers.add(daemon.client(&token)?, &session, check())?;
    }
    watchers.settle()?;
    watchers.delays.reserve(2_000_000);

    control.prompt(&session, prompt)?;
    watchers.finish(LIMIT)?;
    let (lost, unfinished) = watchers.lost();
    let peak = daemon.peak()?;
    daemon.stop()?;
    let delays = &mut watchers.delays;
    delays.sort_unstable();
    let percentile =
        |of: usize| delays.get(delays.len() * of / 100).map_or(f64::NAN, |micros| f64::from(*micros) / 1e3);
    let what = |what: &str| format!("{WATCHERS} watchers, {format}, 100 events/s: {what}");
    table.add("door", what("lost"), lost as f64, "events", Target::AtMost(0.0));
    table.add("door", what("did not get to the end"), unfinished as f64, "clients", Target::AtMost(0.0));
    table.add("door", what("p50"), percentile(50), "ms", Target::None);
    table.add("door", what("p99"), percentile(99), "ms", judge(Target::AtMost(50.0)));
    table.add("door", what("daemon, peak"), peak, "MB", Target::AtMost(150.0));
    Ok(())
}
