//! Writes the last messages to a client. It waits as long as the client reads, because that depends on how far behind
//! the client is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{sleep, timeout};

/// A client that reads nothing for this long gets no goodbye.
const STANDSTILL: Duration = Duration::from_secs(1);
/// The most that a goodbye may take: the daemon ends within five seconds, whoever is connected.
const MOST: Duration = Duration::from_secs(4);

/// Counts the messages that a client took.
#[derive(Default)]
pub(crate) struct WriteProgress(AtomicU64);

impl WriteProgress {
    /// Counts one message that the socket took.
    pub(crate) fn step(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Runs `last_words`, which sends and writes the last messages, until it ends or no progress is made.
    pub(crate) async fn drive(&self, last_words: impl Future) {
        let stands_still = async {
            let mut before = self.0.load(Ordering::Relaxed);
            loop {
                sleep(STANDSTILL).await;
                let now = self.0.load(Ordering::Relaxed);
                if std::mem::replace(&mut before, now) == now {
                    return;
                }
            }
        };
        let either = async {
            tokio::select! {
                _ = last_words => {}
                () = stands_still => {}
            }
        };
        // Whoever was too slow comes back to its cursor.
        let _ = timeout(MOST, either).await;
    }
}
