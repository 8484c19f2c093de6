//! How one `codex exec` is started.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use roost_engine::adapter::{AdapterError, OpenSession};
use roost_model::mode::Mode;
use roost_process::{Holder, RunId, Stdin};
use serde_json::{Map, Value};

use super::home;
use crate::codex::home::CodexHome;
use crate::codex::launch::arguments;
use crate::codex::notify;
use crate::codex::sandbox::Sandbox;
use crate::host::{AgentCommand, Process, Start, without_grace};

/// What every process of a session is started with.
pub(super) struct Terms {
    pub(super) command: AgentCommand,
    pub(super) holder: Arc<Holder>,
    pub(super) open: OpenSession,
    pub(super) settings: Map<String, Value>,
    pub(super) notify: notify::Settings,
}

impl Terms {
    /// Starts the process of one task: with a new thread, or with this one. It reads its prompt from its stdin.
    pub(super) async fn launch(&self, mode: Mode, thread: Option<&str>) -> Result<(Process, Stdin), AdapterError> {
        let mut env = self.command.environment(&self.open.env);
        for (name, value) in self.notify.variables() {
            env.set(name, value);
        }
        let run = RunId::fresh();
        let folder = self.holder.folder(&run);
        if !self.settings.is_empty() {
            let (own, settings) = (folder.clone(), self.settings.clone());
            let CodexHome(user) = CodexHome::of(&self.command, &self.open.env);
            let furnished = tokio::task::spawn_blocking(move || home::furnish(&own, &user, &settings)).await;
            if let Err(error) = furnished.map_err(io::Error::from).flatten() {
                let _ = tokio::fs::remove_dir_all(folder).await;
                return Err(AdapterError::Spawn(format!("Codex's settings cannot be laid over the user's: {error}")));
            }
            env.set("CODEX_HOME", &folder);
        }
        let args = self.arguments(mode, thread);
        let start = Start { run, command: &self.command, args, env, open: &self.open };
        // Once it has read its prompt, it does not watch its stdin.
        let started = start.spawn(&without_grace(&self.holder)).await;
        if started.is_err() {
            // There is no run that would take it along; it may not be there at all.
            let _ = tokio::fs::remove_dir_all(folder).await;
        }
        started
    }

    /// Its arguments. Of the settings only ours are among them, unless somebody set the same by hand.
    fn arguments(&self, mode: Mode, thread: Option<&str>) -> Vec<OsString> {
        let is_set = |name: &str| self.settings.keys().any(|set| name.starts_with(set.as_str()));
        let mut words = self.command.args.clone();
        let mut set = |key: &str, value: &str| words.extend(["-c".into(), format!("{key}={value}").into()]);
        // Nobody would answer.
        set("approval_policy", "\"never\"");
        if let Some(notify) = self.notify.notify(self.holder.program.as_os_str())
            && !is_set("notify")
        {
            set("notify", &notify);
        }
        if let Some(sandbox) = Sandbox::unless_set(self.settings.keys(), mode, false) {
            words.extend(arguments(sandbox.settings().iter().filter(|(name, _)| !is_set(name))));
        }
        words.extend(["exec", "--json", "--skip-git-repo-check"].map(OsString::from));
        if let Some(model) = &self.open.input.model {
            words.extend(["--model".into(), model.into()]);
        }
        if let Some(thread) = thread {
            words.extend(["resume".into(), thread.into()]);
        }
        words.push("-".into());
        words
    }
}
