//! A daemon that is killed, and a Gemini that hangs: the task ends honestly, and the session goes on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use roost_engine::{Approver, Config, Engine, Environments, NewSession, Prompt, Runtimes};
use roost_log::{Filter, Log, LogOptions, SqliteLog, Start, StateLock, StreamId};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::failure::FailureCode;
use roost_model::ids::{SessionId, TaskId};
use roost_model::mode::Mode;
use roost_model::registry::RuntimeStatus;
use roost_model::runtime::CreateSessionInput;
use roost_model::session::TaskOutcome;
use roost_process::{Environment, Isolation};
use rustix::process::{Signal, kill_process};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;
use testkit::agents::Agent;
use testkit::soon;
use tokio::runtime::{Builder, Runtime};

use super::{Live, adapter};
use crate::kit::{kill_a_daemon_that_asks, killed_daemon_setup, print_session_of_killed_daemon};

/// What a daemon is started with.
#[derive(Deserialize, Serialize)]
struct DaemonSetup {
    env: BTreeMap<String, String>,
    cwd: PathBuf,
    records: PathBuf,
    state: PathBuf,
}

impl DaemonSetup {
    fn new(live: &Live, state: &TempDir) -> Self {
        let (cwd, records) = (live.sandbox.work(), live.records.path().to_owned());
        Self { env: live.env().env, cwd, records, state: state.path().into() }
    }
}

fn daemon() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// An engine over Gemini, and its log.
struct Daemon {
    engine: Engine,
    log: SqliteLog,
}

impl Daemon {
    /// One in the folders of an earlier one.
    async fn start(setup: &DaemonSetup) -> Self {
        let lock = StateLock::acquire(&setup.state, "test").unwrap();
        let log = SqliteLog::open(&lock, LogOptions::default()).unwrap();
        let mut base = Environment::default();
        for (name, value) in &setup.env {
            base.set(name, value);
        }
        let namespaces = setup.state.join("namespaces");
        let environments = Environments { base, namespaces, isolation: Isolation::Shared };
        let mut runtimes = Runtimes::default();
        runtimes.register(Arc::new(adapter(Agent::Gemini.program(), &setup.records)), RuntimeStatus::Active);
        let config = Config::new(environments, setup.records.clone(), setup.state.join("artifacts"));
        Self { engine: Engine::start(Arc::new(log.clone()), runtimes, config).await.unwrap(), log }
    }

    async fn session(&self, setup: &DaemonSetup) -> SessionId {
        let input = CreateSessionInput { model: Some("gemini-2.5-pro".into()), ..Default::default() };
        let new = NewSession { mode: Mode::Ask, input, ..NewSession::within(setup.cwd.clone()) };
        self.engine.create_session(new).await.unwrap()
    }

    async fn prompt(&self, session: &SessionId, text: &str) -> TaskId {
        let prompt = Prompt { approver: Approver::Present, ..Prompt::text(text) };
        self.engine.prompt(session.as_str(), prompt).await.unwrap();
        let started = |event: &NormalizedEvent| match &event.body {
            EventBody::TaskStarted(started) => format!("{:?}", started.messages).contains(text),
            _ => false,
        };
        self.wait_for(session, started).await.trace.task_id.unwrap()
    }

    async fn wait_for(&self, session: &SessionId, fits: impl Fn(&NormalizedEvent) -> bool) -> NormalizedEvent {
        let stream = StreamId::from(session);
        let mut follower = self.log.follow(Filter::stream(stream.clone()), Start::AfterSeq(stream, 0)).await.unwrap();
        let found = async {
            loop {
                let batch = follower.next().await.unwrap();
                if let Some(found) = batch.iter().map(|entry| entry.event().unwrap()).find(|event| fits(event)) {
                    return found.clone();
                }
            }
        };
        soon("an event", found).await
    }

    async fn end_of(&self, session: &SessionId, task: &TaskId) -> EventBody {
        let ends = |event: &NormalizedEvent| event.trace.task_id.as_ref() == Some(task) && event.body.ends_task();
        self.wait_for(session, ends).await.body
    }

    /// What is remembered of the conversation.
    async fn recalls(&self, session: &SessionId, proof: &str) {
        let task = self.prompt(session, "SCRIPT:recall").await;
        let end = self.end_of(session, &task).await;
        assert!(matches!(end, EventBody::TaskCompleted(_)), "{end:?}");
        let said = |event: &NormalizedEvent| match &event.body {
            EventBody::ModelOutputCompleted(output) => {
                event.trace.task_id.as_ref() == Some(&task) && format!("{output:?}").contains(proof)
            }
            _ => false,
        };
        self.wait_for(session, said).await;
    }

    async fn stop(self) {
        soon("the engine stops", self.engine.shutdown("the test is over")).await;
        self.log.close().await;
    }
}

#[test]
#[ignore = "not a test: a daemon that a test kills"]
fn first_daemon() {
    let setup: DaemonSetup = killed_daemon_setup();
    daemon().block_on(async {
        let daemon = Daemon::start(&setup).await;
        let session = daemon.session(&setup).await;
        let task = daemon.prompt(&session, "SCRIPT:text").await;
        daemon.end_of(&session, &task).await;
        daemon.prompt(&session, "SCRIPT:shell").await;
        daemon.wait_for(&session, |event| matches!(event.body, EventBody::ApprovalRequested(_))).await;
        print_session_of_killed_daemon(&session);
        std::future::pending::<()>().await;
    });
}

#[test]
fn a_task_of_a_daemon_that_was_killed_has_failed_and_its_session_goes_on() {
    let (live, state) = (Live::new(), TempDir::new().unwrap());
    let setup = DaemonSetup::new(&live, &state);
    let session = kill_a_daemon_that_asks("gemini::surviving::first_daemon", &setup);
    daemon().block_on(async {
        let daemon = Daemon::start(&setup).await;
        let failed = daemon.wait_for(&session, |event| matches!(event.body, EventBody::TaskFailed(_))).await;
        let EventBody::TaskFailed(failed) = failed.body else { panic!() };
        assert_eq!(failed.error.code, FailureCode::HostRestarted, "{failed:?}");
        assert_eq!(daemon.log.pending(Some(&session)).await.unwrap(), []);
        daemon.recalls(&session, "SCRIPT:text").await;
        daemon.stop().await;
    });
    assert!(!live.sandbox.work().join("out.txt").exists(), "nobody allowed it");
    live.is_empty();
}

#[test]
fn a_gemini_that_hangs_is_ended_by_a_stop_and_its_session_goes_on() {
    let (live, state) = (Live::new(), TempDir::new().unwrap());
    let setup = DaemonSetup::new(&live, &state);
    daemon().block_on(async {
        let daemon = Daemon::start(&setup).await;
        let session = daemon.session(&setup).await;
        let task = daemon.prompt(&session, "SCRIPT:text").await;
        daemon.end_of(&session, &task).await;
        let task = daemon.prompt(&session, "SCRIPT:slow").await;
        let streams = |event: &NormalizedEvent| {
            event.trace.task_id.as_ref() == Some(&task) && matches!(event.body, EventBody::ModelOutputDelta(_))
        };
        daemon.wait_for(&session, streams).await;
        kill_process(live.pid().await, Signal::STOP).unwrap();
        let stopped = soon("a stop", daemon.engine.stop(session.as_str(), "it hangs")).await.unwrap();
        assert_eq!(stopped, TaskOutcome::Stopped);
        daemon.recalls(&session, "SCRIPT:text").await;
        daemon.stop().await;
    });
    live.is_empty();
}

#[test]
fn a_task_of_a_gemini_that_was_killed_has_failed_and_its_session_goes_on() {
    let (live, state) = (Live::new(), TempDir::new().unwrap());
    let setup = DaemonSetup::new(&live, &state);
    daemon().block_on(async {
        let daemon = Daemon::start(&setup).await;
        let session = daemon.session(&setup).await;
        let task = daemon.prompt(&session, "SCRIPT:slow").await;
        daemon.wait_for(&session, |event| matches!(event.body, EventBody::ModelOutputDelta(_))).await;
        kill_process(live.pid().await, Signal::KILL).unwrap();
        let EventBody::TaskFailed(failed) = daemon.end_of(&session, &task).await else { panic!() };
        assert_eq!((failed.error.code, failed.error.retryable), (FailureCode::RuntimeExited, true));
        daemon.recalls(&session, "SCRIPT:slow").await;
        daemon.stop().await;
    });
    live.is_empty();
}
