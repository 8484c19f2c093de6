//! `door`: what clients get from the daemon itself, over TCP and with a token, on the same two cores as they.
//!
//! The daemon is the `dist` build of `roost serve` in a home of its own. How long an event takes to be delivered is
//! measured from the agent to the watcher: the demo agent's `drip` tells in each piece when it was sent, by the
//! machine's monotonic clock. So the way through holder, adapter, engine and log is part of it.

pub(crate) mod check;
pub(crate) mod client;
pub(crate) mod daemon;
mod flood;
mod health;
mod hello;
mod ready;
mod warm_session;
mod watch;
mod watchers;
mod ws_frame;

use crate::figure::{Table, Target};
use crate::{Outcome, durable};

/// Events that the yardstick writes before each part.
const EVENTS: u64 = 200_000;
/// Events per second of the yardstick below which the machine is too busy for times to mean anything, as in `stream`.
const WEAK: f64 = 100_000.0;

/// Runs every part after a yardstick of its own, so that a busy machine voids the targets of that part only.
pub(crate) fn run(table: &mut Table) -> Outcome {
    for (name, part) in PARTS {
        eprintln!("bench door, {name} …");
        let yardstick = durable::rows(EVENTS)?;
        table.add("door", format!("yardstick (durable rows) before {name}"), yardstick, "events/s", Target::None);
        part(table, &|target| if yardstick < WEAK { Target::Void } else { target })?;
    }
    Ok(())
}

type DoorPart = fn(&mut Table, Judge<'_>) -> Outcome;

const PARTS: [(&str, DoorPart); 5] = [
    ("watch", watch::run),
    ("flood", flood::run),
    ("hello", hello::run),
    ("health", health::run),
    ("ready", ready::run),
];

/// Turns a target into [`Target::Void`] if the machine is too busy to judge it.
type Judge<'a> = &'a dyn Fn(Target) -> Target;
