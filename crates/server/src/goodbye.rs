//! The last words to a client: written as long as the client takes them, because how long that is depends on how far
//! behind it is.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::{sleep, timeout};

/// How long a client may take nothing before it gets no goodbye.
const STANDSTILL: Duration = Duration::from_secs(1);
/// How long a goodbye may take in all: the daemon ends within five seconds, whoever listens.
const MOST: Duration = Duration::from_secs(4);

/// How much was written to a client.
#[derive(Default)]
pub(crate) struct Progress(AtomicU64);

impl Progress {
    /// Something more was written.
    pub(crate) fn step(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Runs the last words and the writing of them until they are done or no longer move.
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
