//! How one `codex exec` is started.

use std::ffi::OsString;
use std::sync::Arc;

use roost_engine::adapter::{AdapterError, OpenSession};
use roost_process::{Holder, Launch, RunId, Running};
use roost_proto::mode::Mode;
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::acp::AgentCommand;
use crate::codex::launch::{arguments, environment, hasty};
use crate::codex::notify;
use crate::codex::sandbox::Sandbox;

/// Lines of stderr that may wait to be shown; the rest is only in the tail.
const STDERR_LINES: usize = 64;

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
    pub(super) async fn launch(
        &self,
        mode: Mode,
        thread: Option<&str>,
    ) -> Result<(Running, mpsc::Receiver<String>), AdapterError> {
        let mut env = environment(&self.command, &self.open.env);
        for (name, value) in self.notify.variables() {
            env.set(name, value);
        }
        let (stderr_lines, stderr) = mpsc::channel(STDERR_LINES);
        let launch = Launch {
            run: RunId::fresh(),
            label: self.open.session_id.to_string(),
            program: self.command.program.clone(),
            args: self.arguments(mode, thread)?,
            cwd: self.open.env.cwd.clone().into(),
            env,
            stderr_lines: Some(stderr_lines),
        };
        let running =
            hasty(&self.holder).spawn(launch).await.map_err(|error| AdapterError::Spawn(error.to_string()))?;
        Ok((running, stderr))
    }

    fn arguments(&self, mode: Mode, thread: Option<&str>) -> Result<Vec<OsString>, AdapterError> {
        let mut words = self.command.args.clone();
        let mut set = |key: &str, value: &str| words.extend(["-c".into(), format!("{key}={value}").into()]);
        // Nobody would answer.
        set("approval_policy", "\"never\"");
        if let Some(notify) = self.notify.notify(self.holder.program.as_os_str()) {
            set("notify", &notify);
        }
        // Those that somebody set by hand come after them.
        if let Some(sandbox) = Sandbox::unless_set(self.settings.keys(), mode, false) {
            words.extend(arguments(&sandbox.settings())?);
        }
        words.extend(arguments(&self.settings)?);
        words.extend(["exec", "--json", "--skip-git-repo-check"].map(OsString::from));
        if let Some(model) = &self.open.input.model {
            words.extend(["--model".into(), model.into()]);
        }
        if let Some(thread) = thread {
            words.extend(["resume".into(), thread.into()]);
        }
        words.push("-".into());
        Ok(words)
    }
}
