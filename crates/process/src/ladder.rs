//! The timeouts between the steps of ending a runtime.

use std::time::Duration;

/// The timeouts between closed stdin, SIGTERM and SIGKILL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ladder {
    /// From the stop to SIGTERM: how long a runtime has to exit by itself; 1 second by default.
    pub grace: Duration,
    /// From SIGTERM to SIGKILL; 2 seconds by default.
    pub term: Duration,
    /// From SIGTERM to SIGKILL for what the runtime leaves behind when it exits; 200 ms by default.
    pub leftover: Duration,
}

impl Default for Ladder {
    fn default() -> Self {
        Self { grace: Duration::from_secs(1), term: Duration::from_secs(2), leftover: Duration::from_millis(200) }
    }
}
