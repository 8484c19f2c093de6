//! `door`: what clients get from the daemon itself, over TCP and with a token, on the same two cores as they.
//!
//! The daemon is the release build of `roost serve` in a home of its own. How long an event takes to be delivered is
//! measured from the agent to the watcher: the demo agent's `drip` tells in each piece when it was sent, by the
//! machine's monotonic clock. So the way through holder, adapter, engine and log is part of it.

mod check;
pub(crate) mod client;
pub(crate) mod daemon;
mod flood;
mod frame;
mod health;
mod hello;
mod ready;
mod watch;
mod watchers;

use crate::figure::{Table, Target};
use crate::{Outcome, durable};

/// Events of the yardstick.
const EVENTS: u64 = 200_000;
/// Below this the machine is too busy for times to mean anything, as in `stream`.
const WEAK: f64 = 100_000.0;

/// Measures.
pub(crate) fn run(table: &mut Table) -> Outcome {
    for (name, part) in PARTS {
        eprintln!("bench door, {name} …");
        let yardstick = durable::rows(EVENTS)?;
        table.add("door", format!("yardstick (durable rows) before {name}"), yardstick, "events/s", Target::None);
        part(table, &|target| if yardstick < WEAK { Target::Void } else { target })?;
    }
    Ok(())
}

type Part = fn(&mut Table, Judge<'_>) -> Outcome;

const PARTS: [(&str, Part); 5] = [
    ("watch", watch::run),
    ("flood", flood::run),
    ("hello", hello::run),
    ("health", health::run),
    ("ready", ready::run),
];

/// Judges a figure that a busy machine would spoil.
type Judge<'a> = &'a dyn Fn(Target) -> Target;
