//! An act whose pieces carry the time at which they were sent, so that a reader can measure the delay.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::time::interval;

use super::{DemoTurn, Interrupt};

/// Sends pieces at a steady rate. Each tells its number and when it was sent in nanoseconds of the machine's monotonic
/// clock, which a reader on the same machine shares.
pub(super) async fn drip(turn: &DemoTurn, pieces: u64, rate: f64, apart: bool) -> Result<(), Interrupt> {
    let mut tick = interval(Duration::from_secs_f64(1.0 / rate));
    for number in 0..pieces {
        tick.tick().await;
        let now = clock_gettime(ClockId::Monotonic);
        turn.say(format!("drip {number} at {}{:09} ns\n", now.tv_sec, now.tv_nsec)).await?;
        if apart {
            // A thought, even an empty one, ends the message before it, so that a host has it whole at once.
            turn.think("").await?;
        }
    }
    Ok(())
}
