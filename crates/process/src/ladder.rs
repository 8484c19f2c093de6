//! How long each step of ending a runtime waits for the next.

use std::time::Duration;

/// The waiting times between closed stdin, SIGTERM and SIGKILL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// From the stop to SIGTERM: the time a runtime has to leave by itself.
    pub grace: Duration,
    /// From SIGTERM to SIGKILL.
    pub term: Duration,
    /// From SIGTERM to SIGKILL for what is left once the runtime itself has exited.
    pub leftover: Duration,
}

impl Default for Ladder {
    fn default() -> Self {
        Self { grace: Duration::from_secs(1), term: Duration::from_secs(2), leftover: Duration::from_millis(200) }
    }
}
