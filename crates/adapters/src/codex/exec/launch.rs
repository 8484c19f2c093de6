//! Starts the process of one task.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;

use roost_engine::adapter::{AdapterError, OpenSession};
use roost_model::mode::Mode;
use roost_process::{Holder, RunId, Stdin};
use serde_json::{Map, Value};

use super::home;
use crate::codex::home::CodexHome;
use crate::codex::launch::config_args;
use crate::codex::notify;
use crate::codex::sandbox::Sandbox;
use crate::host::{AgentCommand, Process, Start, without_grace};

/// Starts the processes of a session: everything about them that stays the same from task to task.
pub(super) struct ExecLauncher {
    pub(super) command: AgentCommand,
    pub(super) holder: Arc<Holder>,
    pub(super) open: OpenSession,
    pub(super) settings: Map<String, Value>,
    pub(super) notify: notify::NotifySettings,
}

impl ExecLauncher {
    /// Starts the process of one task, in a new thread or in `thread`. It reads its prompt from stdin, up to the end
    /// of the stream.
    pub(super) async fn launch(&self, mode: Mode, thread: Option<&str>) -> Result<(Process, Stdin), AdapterError> {
        let mut env = self.command.environment(&self.open.env);
        for (name, value) in self.notify.forwarder_variables() {
            env.set(name, value);
        }
        let run = RunId::fresh();
        let folder = self.holder.folder(&run);
        if !self.settings.is_empty() {
            let (own, settings) = (folder.clone(), self.settings.clone());
            let CodexHome(user) = CodexHome::from_env(&self.command, &self.open.env);
            let created = tokio::task::spawn_blocking(move || home::create(&own, &user, &settings)).await;
            if let Err(error) = created.map_err(io::Error::from).flatten() {
                let _ = tokio::fs::remove_dir_all(folder).await;
                return Err(AdapterError::Spawn(format!("Codex's settings cannot be laid over the user's: {error}")));
            }
            env.set("CODEX_HOME", &folder);
        }
        let args = self.arguments(mode, thread);
        let start = Start { run, command: &self.command, args, env, open: &self.open };
        // It does not watch its stdin once it has read the prompt, so closing that would not end it.
        let started = start.spawn(&without_grace(&self.holder)).await;
        if started.is_err() {
            // No run was recorded whose cleanup would remove the folder, which may not exist at all.
            let _ = tokio::fs::remove_dir_all(folder).await;
        }
        started
    }

    /// The arguments. The session's settings are not among them (see [`home`]), only Roost's own, unless the settings
    /// name the same key.
    fn arguments(&self, mode: Mode, thread: Option<&str>) -> Vec<OsString> {
        let is_set = |name: &str| self.settings.keys().any(|set| name.starts_with(set.as_str()));
        let mut words = self.command.args.clone();
        let mut set = |key: &str, value: &str| words.extend(["-c".into(), format!("{key}={value}").into()]);
        // Nobody could answer an approval request.
        set("approval_policy", "\"never\"");
        if let Some(notify) = self.notify.notify_value(self.holder.program.as_os_str())
            && !is_set("notify")
        {
            set("notify", &notify);
        }
        if let Some(sandbox) = Sandbox::for_mode_unless_set(self.settings.keys(), mode, false) {
            words.extend(config_args(sandbox.settings().iter().filter(|(name, _)| !is_set(name))));
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
