//! A daemon whose workspaces are the generated trees, and a client that asks it.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Outcome;
use crate::door::client::DoorClient;
use crate::door::daemon::{Daemon, Home};
use crate::figure::millis;

/// A running daemon, its home and one connected client.
pub(super) struct WorkspaceDaemon {
    _home: Home,
    pub(super) daemon: Daemon,
    pub(super) client: DoorClient,
}

impl WorkspaceDaemon {
    pub(super) fn start() -> Outcome<Self> {
        let home = Home::new()?;
        let daemon = home.start()?;
        let client = daemon.client(&home.pair(&daemon)?)?;
        Ok(Self { _home: home, daemon, client })
    }

    /// Adds a folder as a workspace and returns its id.
    pub(super) fn add(&mut self, folder: &Path) -> Outcome<String> {
        let added = self.client.call("workspace/add", json!({ "path": folder }))?;
        Ok(added["id"].as_str().ok_or_else(|| format!("no workspace: {added}"))?.into())
    }

    /// Removes a workspace, and its index with it.
    pub(super) fn remove(&mut self, id: &str) -> Outcome {
        self.client.call("workspace/remove", json!({ "workspace_id": id })).map(drop)
    }

    /// Subscribes to a workspace; changes are seen from when this returns.
    pub(super) fn follow(&mut self, id: &str) -> Outcome {
        self.client.call("workspace/subscribe", json!({ "workspace_id": id })).map(drop)
    }

    /// Calls a method of a workspace. Returns the milliseconds until the answer was complete, and the answer.
    pub(super) fn ask(&mut self, method: &str, id: &str, mut params: Value) -> Outcome<(f64, Value)> {
        params["workspace_id"] = id.into();
        let (took, answer) = self.client.timed(method, params)?;
        Ok((millis(took), answer))
    }

    /// Milliseconds of processor time that the daemon uses during this time, which this sleeps through.
    pub(super) fn cpu_time_over(&self, over: Duration) -> Outcome<f64> {
        let before = self.cpu_time()?;
        std::thread::sleep(over);
        Ok(self.cpu_time()? - before)
    }

    /// Milliseconds of processor time of the daemon so far, in ticks of ten; threads that have ended count too.
    fn cpu_time(&self) -> Outcome<f64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.daemon.id()))?;
        // The name, which may hold anything, ends with the last bracket; the times are the 14th and 15th field.
        let after = stat.rsplit_once(')').ok_or("no stat")?.1;
        let ticks = after.split_whitespace().skip(11).take(2).map(str::parse::<f64>).sum::<Result<f64, _>>()?;
        Ok(ticks * 10.0)
    }
}
