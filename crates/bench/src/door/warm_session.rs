//! A daemon with a session that has run a task before, so that no start is part of a measurement.

use super::client::{DoorClient, TASKS};
use super::daemon::{Daemon, Home};
use crate::Outcome;

/// A daemon, and a session of the demo agent whose first task is over.
pub(super) struct WarmSession {
    /// Must outlive the daemon.
    pub(super) home: Home,
    pub(super) daemon: Daemon,
    /// For more clients of the same daemon.
    pub(super) token: String,
    /// Subscribed to the starts and ends of the session's tasks.
    pub(super) control: DoorClient,
    pub(super) session: String,
}

impl WarmSession {
    pub(super) fn start() -> Outcome<Self> {
        let home = Home::new()?;
        let daemon = home.start()?;
        let token = home.pair(&daemon)?;
        let mut control = daemon.client(&token)?;
        let session = control.session()?;
        control.follow(&session, TASKS)?;
        control.prompt(&session, "hello")?;
        control.task_end()?;
        Ok(Self { home, daemon, token, control, session })
    }
}
