//! `stream`: a flood through holder, adapter, engine, log and a follower that looks at every event.

use std::time::{Duration, Instant};

use crate::figure::{Table, Target, median};
use crate::stage::Stage;
use crate::{Outcome, durable, follow, run_json, sandbox_agent};

const EVENTS: u64 = 200_000;
const FLOOD: &str = "flood 200000 200";
const ROUNDS: usize = 5;
/// Below this the machine is too busy for the comparison to mean anything.
const WEAK: f64 = 100_000.0;

/// Adds the rates of the pipe, of the durable yardstick, of Roost and of the peer, and what each of them loses.
pub(crate) fn run(table: &mut Table) -> Outcome {
    let runtime = tokio::runtime::Runtime::new()?;
    let (mut pipe, mut rows, mut ours, mut theirs, mut their_loss) = (vec![], vec![], vec![], vec![], vec![]);
    let (mut deltas, mut lost) = (u64::MAX, 0);
    let (daemon, mut json) = (run_json::Daemon::start()?, vec![]);
    // Taken in turns, so that a busy minute is everybody's.
    for _ in 0..ROUNDS {
        pipe.push(durable::pipe(EVENTS)?);
        rows.push(durable::rows(EVENTS)?);
        let (seen, took) = runtime.block_on(flood(None))?;
        ours.push(EVENTS as f64 / took.as_secs_f64());
        deltas = deltas.min(seen.deltas);
        lost += seen.lost;
        json.push(daemon.rate(FLOOD)?);
        let other = sandbox_agent::flood(FLOOD)?;
        theirs.push(other.rate);
        their_loss.push(100.0 * (EVENTS - other.delivered) as f64 / EVENTS as f64);
    }
    drop(daemon);
    let (rows, ours, theirs, json) = (median(rows), median(ours), median(theirs), median(json));
    let judged = |target| if rows < WEAK { Target::Void } else { target };
    table.add("stream", "bare pipe (durable count)", median(pipe), "events/s", Target::None);
    table.add("stream", "yardstick (durable rows)", rows, "events/s", Target::None);
    table.add("stream", "Roost, seen by a follower", ours, "events/s", Target::None);
    table.add("stream", "Roost / yardstick", ours / rows, "x", judged(Target::AtLeast(0.6)));
    table.add("stream", "Roost, seen by `roost run --json`", json, "events/s", Target::None);
    table.add("stream", "`roost run --json` / follower", json / ours, "x", judged(Target::AtLeast(0.6)));
    table.add("stream", "deltas seen", deltas as f64, "events", Target::AtLeast(EVENTS as f64));
    table.add("stream", "lost", lost as f64, "events", Target::AtMost(0.0));
    table.add("stream", "sandbox-agent 0.4.2, delivered", theirs, "events/s", Target::None);
    table.add("stream", "sandbox-agent 0.4.2, lost", median(their_loss), "%", Target::None);
    table.add("stream", "Roost / sandbox-agent", ours / theirs, "x", Target::AtLeast(1.3));

    let (seen, took) = runtime.block_on(flood(Some(Duration::from_secs(2))))?;
    table.add("stream", "lost by a follower that slept 2 s", seen.lost as f64, "events", Target::AtMost(0.0));
    let others = EVENTS as f64 / took.as_secs_f64();
    // Half: one follower more has to be fed on the same two cores; a flood that waited for the sleeper would be far below.
    table.add("stream", "rate of the others meanwhile / without it", others / ours, "x", Target::AtLeast(0.5));
    Ok(())
}

/// One flood: what the last follower saw, and how long the first one took to see the end.
async fn flood(pause: Option<Duration>) -> Outcome<(follow::FollowerReport, Duration)> {
    let stage = Stage::start(4).await?;
    let session = stage.session().await?;
    stage.prompt(&session, "hello").await?;
    let warm = tokio::task::spawn_blocking({
        let follower = follow::until_end(stage.log.clone(), &session, 0, None);
        move || follow::join(follower)
    });
    warm.await??;
    let after = stage.log.read(&(&session).into(), 0, 1).await?.last_seq;

    let start = Instant::now();
    let first = follow::until_end(stage.log.clone(), &session, after, None);
    let sleeper = pause.map(|length| follow::until_end(stage.log.clone(), &session, after, Some((EVENTS / 2, length))));
    stage.prompt(&session, FLOOD).await?;
    let seen = tokio::task::spawn_blocking(move || -> Outcome<_> {
        let first = follow::join(first)?;
        let took = first.end - start;
        let last = match sleeper {
            Some(sleeper) => follow::join(sleeper)?,
            None => first,
        };
        Ok((last, took))
    });
    let seen = seen.await??;
    stage.engine.shutdown("bench").await;
    Ok(seen)
}
