//! An open session of Gemini's: an ACP session, whose mode follows Roost's, with a record of the files that Gemini
//! reads by itself.

use std::path::PathBuf;

use async_trait::async_trait;
use roost_engine::adapter::{AdapterError, Draft, OpenSession, RuntimeSession, StartedTask, TaskInput};
use roost_model::ids::RuntimeSessionId;
use roost_model::mode::Mode;
use serde_json::{Map, Value, json};

use super::record_details::{self, RecordLocation};
use super::{auth, commands, hooks, launch, project_files, sources};
use crate::acp::AcpSession;
use crate::host::AgentCommand;
use crate::host::locks::Lock;

/// An open session with a Gemini process.
pub(super) struct GeminiSession {
    acp: AcpSession,
    /// The Gemini mode that was set last.
    mode: &'static str,
    home: PathBuf,
    cwd: PathBuf,
    /// The files with machine-wide settings.
    system: Vec<PathBuf>,
    /// Notices about hooks and the project's files, until the first task has told them.
    notices: Vec<Draft>,
    /// Held until the process is gone.
    _lock: Lock,
    /// Recorded with every task. Settings are recorded by name only, because their values can be secrets.
    runtime_config: Value,
}

impl GeminiSession {
    /// Sets the mode of a session that was just created or loaded.
    pub(super) async fn open(
        acp: AcpSession,
        lock: Lock,
        command: &AgentCommand,
        open: &OpenSession,
        settings: &Map<String, Value>,
    ) -> Result<Self, AdapterError> {
        let mode = native_mode(open.mode);
        acp.set_mode(mode).await?;
        let variables = launch::variables(command, &open.env);
        let (home, system) = (auth::home(&variables), sources::system(&variables));
        let hooks = hooks::notice(home.clone(), open.env.cwd.clone().into(), settings).await;
        let project_files = project_files::notice(home.clone(), open.env.cwd.clone().into()).await;
        let notices = hooks.into_iter().chain(project_files).collect();
        let settings: Vec<_> = settings.keys().collect();
        let runtime_config = json!({ "model": open.input.model, "settings": settings });
        Ok(Self { acp, mode, home, cwd: open.env.cwd.clone().into(), system, notices, runtime_config, _lock: lock })
    }
}

/// Gemini's mode for one of Roost's. The host decides about every call that Gemini asks about, so only `plan` differs.
fn native_mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "plan",
        Mode::Ask | Mode::AcceptEdits | Mode::Auto | Mode::Yolo => "default",
    }
}

#[async_trait]
impl RuntimeSession for GeminiSession {
    fn native_id(&self) -> Option<RuntimeSessionId> {
        self.acp.native_id()
    }

    async fn start_task(&mut self, mut input: TaskInput) -> Result<StartedTask, AdapterError> {
        let told = commands::expand(&mut input, self.home.clone(), self.cwd.clone()).await;
        self.acp.tell(told.into_iter().chain(self.notices.drain(..)).collect()).await?;
        let mode = native_mode(input.mode);
        if mode != self.mode {
            self.acp.set_mode(mode).await?;
            self.mode = mode;
        }
        let mut started = self.acp.start_task(input).await?;
        if let Some(id) = self.native_id() {
            let (home, cwd, id) = (self.home.clone(), self.cwd.clone(), id.to_string());
            started.task = record_details::add_recorded_details(started.task, RecordLocation { home, cwd, id });
        }
        started.input.implicit_sources = sources::read(self.home.clone(), self.cwd.clone(), self.system.clone()).await;
        started.input.input["runtime_config"] = self.runtime_config.clone();
        started.input.input["runtime_config"]["mode"] = mode.into();
        Ok(started)
    }

    async fn exited(&mut self) {
        self.acp.exited().await;
    }

    async fn close(self: Box<Self>) {
        let Self { acp, _lock, .. } = *self;
        Box::new(acp).close().await;
    }
}
