//! The real OpenCode through its adapter, against the scripted model.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use roost_adapters::acp::AgentCommand;
use roost_adapters::opencode::{self, OpencodeAdapter};
use roost_engine::adapter::{AdapterError, Availability, Fact, OpenSession, RuntimeAdapter, RuntimeSession, TaskEnd};
use roost_process::{Holder, Ladder, records, tree};
use roost_proto::failure::FailureCode;
use roost_proto::ids::{RuntimeSessionId, SessionId};
use roost_proto::mode::Mode;
use roost_proto::payload::NoticeSource;
use roost_proto::runtime::{CreateSessionInput, RuntimeEnv};
use serde_json::{Map, Value};
use tempfile::TempDir;
use testkit::agents::{Agent, Sandbox, opencode_config, variables};
use testkit::soon;

use crate::codex::MODEL;
use crate::codex::live::{Say, Watched, completed, run};

/// How often the list of processes is looked at.
const POLL: std::time::Duration = std::time::Duration::from_millis(10);

/// OpenCode's command.
pub(crate) fn command() -> AgentCommand {
    AgentCommand { program: Agent::OpenCode.program().into(), args: Vec::new(), env: Vec::new() }
}

/// The settings with which OpenCode uses the model at this address.
pub(crate) fn config(model: &str) -> Map<String, Value> {
    let mut config = opencode_config(model, "ask").as_object().cloned().unwrap();
    config.remove("permission");
    config
}

/// An OpenCode that can be used.
struct Live {
    adapter: OpencodeAdapter,
    sandbox: Sandbox,
    records: TempDir,
}

impl Live {
    fn new() -> Self {
        Self::of(Agent::OpenCode.program())
    }

    /// One that is started by another program.
    fn of(program: PathBuf) -> Self {
        let (sandbox, records) = (Sandbox::new(&MODEL.url()), TempDir::new().unwrap());
        Self { adapter: adapter(program, records.path()), sandbox, records }
    }

    /// One that is a shell script.
    fn script(text: &str) -> Self {
        let live = Self::of("placeholder".into());
        let program = live.sandbox.home().join("opencode");
        std::fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self { adapter: adapter(program, live.records.path()), ..live }
    }

    fn env(&self) -> RuntimeEnv {
        let env = variables(Agent::OpenCode, &self.sandbox.home(), &MODEL.url());
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
            input: CreateSessionInput::default(),
            mode: Mode::Ask,
            mcp_servers: Vec::new(),
        }
    }

    async fn session(&self) -> Box<dyn RuntimeSession> {
        soon("OpenCode starts", self.adapter.create_session(self.open())).await.unwrap()
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

    async fn until_sleeps(&self, wanted: bool) {
        let sleeps = async || self.commands().await.iter().any(|command| command.starts_with("sleep 60"));
        soon("the command comes or goes", async {
            while sleeps().await != wanted {
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
    };
    let command = AgentCommand { program: program.into(), args: Vec::new(), env: Vec::new() };
    opencode::adapter(command, Map::new(), Arc::new(holder))
}

fn stopped(end: &TaskEnd) -> bool {
    matches!(end, TaskEnd::Stopped(_))
}

#[tokio::test]
async fn an_interrupt_of_a_stream_ends_the_turn_and_keeps_what_was_said() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = Watched::begin(&mut session, "SCRIPT:slow").await;
    task.until(|fact| matches!(fact, Fact::Delta(_)).then_some(())).await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    assert!(task.text().starts_with("tick0 "), "{}", task.text());
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
}

#[tokio::test]
async fn an_interrupt_right_after_the_start_is_not_lost() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = Watched::begin(&mut session, "SCRIPT:slow").await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
}

#[tokio::test]
async fn an_interrupt_of_a_command_ends_the_command_too() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = Watched::begin(&mut session, "SCRIPT:sleep").await;
    let call = task.asks().await;
    task.say(&call, Say::Yes).await;
    live.until_sleeps(true).await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    live.until_sleeps(false).await;
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
}

#[tokio::test]
async fn an_interrupt_of_a_question_about_a_tool_lets_nothing_run() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = Watched::begin(&mut session, "SCRIPT:shell").await;
    task.asks().await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    assert!(!live.sandbox.work().join("out.txt").exists());
    session.close().await;
}

#[tokio::test]
async fn errors_of_the_provider_fail_the_task_and_the_session_goes_on() {
    let live = Live::new();
    let mut session = live.session().await;
    for (script, retryable) in [("err400", false), ("err429", true), ("err500", true)] {
        let (end, _) = run(&mut session, &format!("SCRIPT:{script}"), Say::Yes).await;
        let TaskEnd::Failed(error) = end else { panic!("{script}: {end:?}") };
        assert_eq!((error.code, error.retryable), (FailureCode::RuntimeError, retryable), "{script}: {error:?}");
        assert!(error.raw.is_some(), "{script}: {error:?}");
    }
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
}

#[tokio::test]
async fn a_project_that_allows_everything_is_asked_about_all_the_same() {
    let live = Live::new();
    let allows = r#"{ "permission": { "*": "allow", "bash": "allow" } }"#;
    std::fs::write(live.sandbox.work().join("opencode.json"), allows).unwrap();
    let mut session = live.session().await;
    let mut task = Watched::begin(&mut session, "SCRIPT:shell").await;
    let call = task.asks().await;
    task.say(&call, Say::No("not today")).await;
    assert!(completed(&task.end(Say::No("not today")).await));
    assert!(task.text().contains("not today"), "{}", task.text());
    let sources = &task.sent.as_ref().unwrap().implicit_sources.sources;
    assert!(sources.iter().any(|source| source.path.ends_with("work/opencode.json")), "{sources:?}");
    session.close().await;
}

#[tokio::test]
async fn a_session_that_opencode_does_not_know_is_said_to_be_unknown() {
    let live = Live::new();
    for native in ["ses_e21fcc793ffetO7HG5iCldQoOa", "nonsense"] {
        let resumed = live.adapter.resume_session(live.open(), RuntimeSessionId::from(native));
        let resumed = soon("OpenCode starts again", resumed).await;
        assert!(matches!(resumed.map(|_| ()), Err(AdapterError::UnknownSession(_))), "{native}");
    }
}

#[tokio::test]
async fn an_opencode_that_is_missing_is_said_to_be_missing() {
    let live = Live::of("no-such-opencode".into());
    let Availability::Missing { reason } = live.adapter.availability(&live.env()).await else { panic!() };
    assert!(reason.contains("no-such-opencode") && reason.contains("install"), "{reason}");
    let opened = live.adapter.create_session(live.open()).await.map(|_| ());
    assert!(matches!(opened, Err(AdapterError::Spawn(_))), "{opened:?}");
}

#[tokio::test]
async fn the_version_of_opencode_is_told() {
    let live = Live::new();
    let Availability::Installed { version } = live.adapter.availability(&live.env()).await else { panic!() };
    assert_eq!(version, Some(Agent::OpenCode.version()));
}

#[tokio::test]
async fn an_opencode_that_dies_at_its_start_says_why() {
    let live = Live::script("echo no more room >&2; exit 7");
    let opened = live.adapter.create_session(live.open()).await.map(|_| ());
    let Err(AdapterError::Spawn(message)) = opened else { panic!("{opened:?}") };
    assert!(message.contains("exit code 7") && message.contains("no more room"), "{message}");
}

#[tokio::test]
async fn noise_is_shown_and_breaks_nothing() {
    let opencode = Agent::OpenCode.program();
    let live = Live::script(&format!("echo loading; printf '\\377\\n'; exec {} \"$@\"", opencode.display()));
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:text", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    let noise = |fact: &&Fact| match fact {
        Fact::Notice(notice) => notice.source == NoticeSource::Stdout && notice.message == "loading",
        _ => false,
    };
    assert_eq!(task.facts().filter(noise).count(), 1, "{:#?}", task.seen);
    session.close().await;
}
