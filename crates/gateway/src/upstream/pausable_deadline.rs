//! How long a call may take. The clock stands still while a person answers a question of the server.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The time that one call has left.
pub(super) struct PausableDeadline {
    limit: Duration,
    clock: Mutex<Clock>,
    /// Told when the last open question was answered.
    resumed: Notify,
}

struct Clock {
    deadline: Instant,
    open_questions: u32,
    stopped_at: Instant,
}

impl PausableDeadline {
    pub(super) fn new(limit: Duration) -> Self {
        let now = Instant::now();
        let clock = Clock { deadline: now + limit, open_questions: 0, stopped_at: now };
        Self { limit, clock: Mutex::new(clock), resumed: Notify::new() }
    }

    /// The time that the call had in all, for the error.
    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Stops the clock until the guard is dropped.
    pub(super) fn pause(&self) -> Paused<'_> {
        let mut clock = self.clock.lock();
        if clock.open_questions == 0 {
            clock.stopped_at = Instant::now();
        }
        clock.open_questions += 1;
        Paused(self)
    }

    /// Returns when the time is over.
    pub(super) async fn is_over(&self) {
        loop {
            let deadline = {
                let clock = self.clock.lock();
                (clock.open_questions == 0).then_some(clock.deadline)
            };
            match deadline {
                Some(deadline) if deadline <= Instant::now() => return,
                Some(deadline) => sleep_until(deadline).await,
                None => self.resumed.notified().await,
            }
        }
    }
}

/// Keeps the clock of a call stopped.
#[must_use]
pub(super) struct Paused<'a>(&'a PausableDeadline);

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        let mut clock = self.0.clock.lock();
        clock.open_questions -= 1;
        if clock.open_questions == 0 {
            let stood_still = clock.stopped_at.elapsed();
            clock.deadline += stood_still;
            self.0.resumed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn the_time_of_questions_does_not_count() {
        let start = Instant::now();
        let deadline = PausableDeadline::new(3 * SECOND);
        let questions = async {
            tokio::time::sleep(SECOND).await;
            let first = deadline.pause();
            let second = deadline.pause();
            tokio::time::sleep(100 * SECOND).await;
            drop(first);
            tokio::time::sleep(10 * SECOND).await;
            drop(second);
        };
        tokio::join!(questions, deadline.is_over());
        assert_eq!(start.elapsed(), 113 * SECOND);
    }
}
