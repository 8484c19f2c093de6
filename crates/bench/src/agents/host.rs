//! A daemon that hosts the real agents.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use testkit::agents::{bin, opencode_config, variables, write_settings};

use super::RUNTIMES;
use crate::Outcome;
use crate::door::client::DoorClient;
use crate::door::daemon::{Daemon, Home};

/// A running daemon with the real agents configured, and a token for clients.
pub(super) struct Host {
    pub(super) home: Home,
    pub(super) daemon: Daemon,
    token: String,
}

impl Host {
    /// Starts a daemon whose agents ask the model at this URL.
    pub(super) fn start(model: &str) -> Outcome<Self> {
        let home = Home::with(&config(model)?, bin().into())?;
        write_settings(home.path(), model);
        let daemon = home.start()?;
        let token = home.pair(&daemon)?;
        Ok(Self { home, daemon, token })
    }

    /// Connects a new client.
    pub(super) fn client(&self) -> Outcome<DoorClient> {
        self.daemon.client(&self.token)
    }
}

/// The `roost.toml` that points every runtime at the model at this URL.
fn config(model: &str) -> Outcome<String> {
    let mut runtimes = Map::new();
    for (name, agent) in RUNTIMES {
        // What the daemon passes on by itself, and what differs from home to home.
        let own = ["PATH", "HOME", "TMPDIR", "CODEX_HOME", "OPENCODE_CONFIG_CONTENT"];
        let env: BTreeMap<_, _> = variables(agent, "/".as_ref(), model).into_iter().collect();
        let env: BTreeMap<_, _> = env.into_iter().filter(|(name, _)| !own.contains(name)).collect();
        runtimes.insert(name.into(), json!({ "env": env }));
    }
    let mut opencode = opencode_config(model, "ask");
    opencode.as_object_mut().map(|document| document.remove("permission"));
    runtimes["opencode"]["config"] = opencode;
    runtimes["gemini"]["model"] = "gemini-2.5-pro".into();
    Ok(toml::to_string(&json!({ "policy": { "allow_yolo": true }, "runtimes": Value::Object(runtimes) }))?)
}
