//! One OpenCode in a home of its own.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use roost_adapters::AgentCommand;
use roost_adapters::opencode::{self, OpencodeAdapter};
use roost_engine::adapter::{AdapterError, OpenSession, RuntimeAdapter, RuntimeSession, TaskEnd};
use roost_model::ids::{RuntimeSessionId, SessionId};
use roost_model::mode::Mode;
use roost_model::runtime::{CreateSessionInput, RuntimeEnv};
use roost_process::{Holder, Ladder, records, tree};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Map;
use tempfile::TempDir;
use testkit::agents::{Agent, Sandbox, variables};
use testkit::soon;

use crate::codex::MODEL;

/// How often the list of processes is looked at.
const POLL: Duration = Duration::from_millis(10);

/// An OpenCode that can be used.
pub(super) struct Live {
    pub(super) adapter: OpencodeAdapter,
    pub(super) sandbox: Sandbox,
    pub(super) env: BTreeMap<String, String>,
    pub(super) records: TempDir,
}

impl Live {
    pub(super) fn new() -> Self {
        Self::with(Agent::OpenCode.program())
    }

    /// One that is started by another program.
    pub(super) fn with(program: PathBuf) -> Self {
        let (sandbox, records) = (Sandbox::new(&MODEL.url()), TempDir::new().unwrap());
        let env = variables(Agent::OpenCode, &sandbox.home(), &MODEL.url());
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { adapter: adapter(program, records.path()), sandbox, env, records }
    }

    /// One that is a shell script.
    pub(super) fn script(text: &str) -> Self {
        let live = Self::with("placeholder".into());
        let program = live.sandbox.home().join("opencode");
        std::fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { adapter: adapter(program, live.records.path()), ..live }
    }

    pub(super) fn env(&self) -> RuntimeEnv {
        RuntimeEnv {
            cwd: self.sandbox.work().display().to_string(),
            env: self.env.clone(),
            credential_namespace: "default".into(),
            isolation: None,
        }
    }

    pub(super) fn open(&self) -> OpenSession {
        OpenSession {
            session_id: SessionId::new(),
            env: self.env(),
            input: CreateSessionInput::default(),
            mode: Mode::Ask,
            mcp_servers: Vec::new(),
        }
    }

    pub(super) async fn session(&self) -> Box<dyn RuntimeSession> {
        soon("OpenCode starts", self.adapter.create_session(self.open())).await.unwrap()
    }

    pub(super) async fn resume(&self, native: &RuntimeSessionId) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        soon("OpenCode starts again", self.adapter.resume_session(self.open(), native.clone())).await
    }

    /// The server's process, which must be the only one.
    pub(super) async fn signal(&self, signal: Signal) {
        let records = records::load(self.records.path().into()).await.unwrap();
        let [record] = records.as_slice() else { panic!("{records:?}") };
        kill_process(Pid::from_raw(i32::try_from(record.runtime.pid).unwrap()).unwrap(), signal).unwrap();
    }

    /// The command lines of what OpenCode started.
    async fn commands(&self) -> Vec<String> {
        let runs = records::load(self.records.path().into()).await.unwrap();
        let pids = runs.iter().flat_map(|record| tree::alive(&record.run));
        let command = |pid: u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ")
        };
        pids.map(command).collect()
    }

    /// Waits until a command that begins with this runs, or does not.
    pub(super) async fn until_runs(&self, command: &str, wanted: bool) {
        let runs = async || self.commands().await.iter().any(|running| running.starts_with(command));
        soon("the command comes or goes", async {
            while runs().await != wanted {
                tokio::time::sleep(POLL).await;
            }
        })
        .await;
    }

    /// Waits until nothing of a run is left, neither a process nor a record.
    pub(super) async fn until_nothing_is_left(&self) {
        let left = || std::fs::read_dir(self.records.path()).unwrap().count();
        soon("every run is gone", async {
            while left() > 0 {
                tokio::time::sleep(POLL).await;
            }
        })
        .await;
    }
}

fn adapter(program: PathBuf, records: &Path) -> OpencodeAdapter {
    let holder = Holder {
        program: env!("CARGO_BIN_EXE_roost").into(),
        args: vec!["hold".into()],
        records: records.into(),
        ladder: Ladder::default(),
        wall: None,
    };
    let command = AgentCommand { program: program.into(), args: Vec::new(), env: Vec::new() };
    opencode::adapter(command, Map::new(), Arc::new(holder))
}

pub(super) fn stopped(end: &TaskEnd) -> bool {
    matches!(end, TaskEnd::Stopped(_))
}
