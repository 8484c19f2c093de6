//! The real Gemini CLI through its adapter, against the scripted model.

mod faults;
mod remembering;
mod showing;
mod stopping;
mod surviving;
mod talking;
mod trusting;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use roost_adapters::AgentCommand;
use roost_adapters::gemini::{self, GeminiAdapter};
use roost_engine::adapter::{AdapterError, OpenSession, RuntimeAdapter, RuntimeSession};
use roost_model::ids::{RuntimeSessionId, SessionId};
use roost_model::mode::Mode;
use roost_model::runtime::{CreateSessionInput, RuntimeEnv};
use roost_process::{Holder, Ladder, records, tree};
use rustix::process::Pid;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use testkit::agents::{Agent, Sandbox, variables};
use testkit::soon;

use crate::codex::MODEL;

/// Gemini's command in a home that is not furnished: with an address and without a key it takes it for a gateway.
pub(crate) fn command(model: &str) -> AgentCommand {
    let env = vec![("GOOGLE_GEMINI_BASE_URL".to_owned(), model.to_owned())];
    AgentCommand { program: Agent::Gemini.program().into(), args: Vec::new(), env }
}

/// The settings with which Gemini speaks to nobody but its model.
pub(crate) fn config() -> Map<String, Value> {
    let config = json!({
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 1 },
        "model": { "name": "gemini-2.5-pro" },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
    });
    config.as_object().cloned().unwrap()
}

/// How often the list of processes is looked at.
const POLL: Duration = Duration::from_millis(10);

/// A Gemini in a home of its own.
struct Live {
    adapter: GeminiAdapter,
    sandbox: Sandbox,
    records: TempDir,
}

impl Live {
    fn new() -> Self {
        Self::with(Agent::Gemini.program())
    }

    /// One that is started by another program.
    fn with(program: PathBuf) -> Self {
        let (sandbox, records) = (Sandbox::new(&MODEL.url()), TempDir::new().unwrap());
        Self { adapter: adapter(program, records.path()), sandbox, records }
    }

    /// One that is a shell script.
    fn script(text: &str) -> Self {
        let live = Self::with("placeholder".into());
        let program = live.sandbox.home().join("gemini");
        std::fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { adapter: adapter(program, live.records.path()), ..live }
    }

    fn env(&self) -> RuntimeEnv {
        let env = variables(Agent::Gemini, &self.sandbox.home(), &MODEL.url());
        RuntimeEnv {
            cwd: self.sandbox.work().display().to_string(),
            env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            credential_namespace: "default".into(),
            isolation: None,
        }
    }

    fn open(&self) -> OpenSession {
        OpenSession {
            session_id: SessionId::new(),
            env: self.env(),
            input: CreateSessionInput { model: Some("gemini-2.5-pro".into()), ..Default::default() },
            mode: Mode::Ask,
            mcp_servers: Vec::new(),
        }
    }

    async fn session(&self) -> Box<dyn RuntimeSession> {
        soon("Gemini starts", self.adapter.create_session(self.open())).await.unwrap()
    }

    async fn resume(&self, native: &RuntimeSessionId) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        soon("Gemini starts again", self.adapter.resume_session(self.open(), native.clone())).await
    }

    /// The process of the one Gemini that runs.
    async fn pid(&self) -> Pid {
        let runs = records::load(self.records.path().into()).await.unwrap();
        let [run] = runs.as_slice() else { panic!("{runs:?}") };
        Pid::from_raw(i32::try_from(run.runtime.pid).unwrap()).unwrap()
    }

    /// The command lines of what Gemini started.
    async fn commands(&self) -> Vec<String> {
        let runs = records::load(self.records.path().into()).await.unwrap();
        let pids = runs.iter().flat_map(|record| tree::alive(&record.run));
        let command = |pid: u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ")
        };
        pids.map(command).collect()
    }

    /// Waits until a command runs, or none does.
    async fn until_runs(&self, command: &str, runs: bool) {
        let happens = async {
            while self.commands().await.iter().any(|line| line.contains(command)) != runs {
                tokio::time::sleep(POLL).await;
            }
        };
        soon("the command begins or ends", happens).await;
    }

    /// Nothing runs, and nothing is kept of what ran.
    fn is_empty(&self) {
        let here = self.sandbox.home();
        let mine = |pid: &i32| {
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(here.to_str().unwrap())
        };
        let pids = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        assert_eq!(pids.filter(mine).collect::<Vec<_>>(), [0; 0], "processes are left");
        assert_eq!(std::fs::read_dir(self.records.path()).unwrap().count(), 0, "records are left");
    }
}

fn adapter(program: PathBuf, records: &Path) -> GeminiAdapter {
    let holder = Holder {
        program: env!("CARGO_BIN_EXE_roost").into(),
        args: vec!["hold".into()],
        records: records.into(),
        ladder: Ladder::default(),
        wall: None,
    };
    let command = AgentCommand { program: program.into(), args: Vec::new(), env: Vec::new() };
    gemini::adapter(command, Map::new(), Arc::new(holder))
}
