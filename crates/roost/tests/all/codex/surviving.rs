//! A daemon that is killed, and the next one: Codex goes on in between.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use roost_engine::adapter::{Fact, Reattached, TaskEnd};
use roost_engine::{
    Approver, Config, Decision, Engine, Environments, NewSession, Prompt, Response, ResponseTo, Runtimes,
};
use roost_log::{Filter, Log, LogOptions, SqliteLog, Start, StateLock, StreamId};
use roost_model::approval::{Answerer, ApprovalScope, PendingAsk};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::registry::RuntimeStatus;
use roost_process::{Environment, Isolation};
use serde::{Deserialize, Serialize};
use testkit::agents::Agent;
use testkit::model::End;
use testkit::soon;
use tokio::runtime::{Builder, Runtime};

use super::MODEL;
use super::live::{Live, Say, WatchedTask, adapter, completed, run};
use crate::kit::{kill_a_daemon_that_asks, killed_daemon_setup, print_session_of_killed_daemon};

fn daemon() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// What a daemon does until it is killed: nothing of it says goodbye.
fn killed<T>(work: impl Future<Output = T>) -> T {
    let daemon = daemon();
    let left = daemon.block_on(work);
    daemon.shutdown_timeout(Duration::ZERO);
    left
}

#[test]
fn a_turn_that_streams_goes_on_and_can_be_stopped() {
    let live = Live::new();
    killed(async {
        let mut session = live.session().await;
        let mut task = WatchedTask::begin(&mut session, "SCRIPT:slow").await;
        task.until(|fact| matches!(fact, Fact::Delta(_)).then_some(())).await;
        std::mem::forget((session, task));
    });
    daemon().block_on(async {
        let Reattached { mut session, task } = live.reattach().await;
        let mut task = WatchedTask::from_task(task.unwrap());
        task.until(|fact| matches!(fact, Fact::Delta(_)).then_some(())).await;
        task.stop().await;
        let end = task.end(Say::Yes).await;
        assert!(matches!(end, TaskEnd::Stopped(_)), "{end:?}");
        assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
        session.close().await;
    });
    assert_eq!(live.left().len(), 0);
}

#[test]
fn a_turn_that_ended_unheard_is_told_to_its_end() {
    let live = Live::new();
    killed(async {
        let mut session = live.session().await;
        let task = WatchedTask::begin(&mut session, "SCRIPT:text").await;
        std::mem::forget((session, task));
    });
    daemon().block_on(async {
        let answered = |requests: &Vec<testkit::model::RecordedRequest>| {
            requests.iter().any(|request| request.script.is_some() && request.end == End::Answered(200))
        };
        MODEL.requests_when("the model has answered", answered).await;
        let Reattached { mut session, task } = live.reattach().await;
        let mut task = WatchedTask::from_task(task.unwrap());
        let end = task.end(Say::Yes).await;
        assert!(completed(&end), "{end:?}: {:#?}", task.seen);
        assert_eq!(task.text(), "Hello from the scripted model, streaming in several deltas.");
        let (_, task) = run(&mut session, "SCRIPT:recall", Say::Yes).await;
        assert!(task.text().contains("2 prompt(s)"), "{}", task.text());
        session.close().await;
    });
}

#[test]
fn a_session_that_waited_for_a_task_still_does() {
    let live = Live::new();
    let native = killed(async {
        let mut session = live.session().await;
        run(&mut session, "SCRIPT:text", Say::Yes).await;
        let noted = || live.left().iter().any(|path| path.join("turn").exists());
        soon("the turn's end is known to be told", async {
            while noted() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        let native = session.native_id();
        std::mem::forget(session);
        native
    });
    daemon().block_on(async {
        let Reattached { mut session, task } = live.reattach().await;
        assert!(task.is_none());
        assert_eq!(session.native_id(), native);
        let (_, task) = run(&mut session, "SCRIPT:recall", Say::Yes).await;
        assert!(task.text().contains("2 prompt(s)"), "{}", task.text());
        session.close().await;
    });
}

/// What a daemon is started with.
#[derive(Deserialize, Serialize)]
struct DaemonSetup {
    env: BTreeMap<String, String>,
    cwd: PathBuf,
    records: PathBuf,
    state: PathBuf,
    isolation: Option<Isolation>,
}

impl DaemonSetup {
    fn new(live: &Live, state: &tempfile::TempDir, isolation: Option<Isolation>) -> Self {
        let (cwd, records) = (live.sandbox.work(), live.records().to_owned());
        Self { env: live.env().env, cwd, records, state: state.path().into(), isolation }
    }

    fn namespaces(&self) -> PathBuf {
        self.state.join("namespaces")
    }
}

/// An engine over Codex, in the folders of an earlier one.
async fn engine(setup: &DaemonSetup) -> (Engine, SqliteLog) {
    let lock = StateLock::acquire(&setup.state, "test").unwrap();
    let log = SqliteLog::open(&lock, LogOptions::default()).unwrap();
    let mut base = Environment::default();
    for (name, value) in &setup.env {
        base.set(name, value);
    }
    let environments = Environments { base, namespaces: setup.namespaces(), isolation: Isolation::Shared };
    let mut runtimes = Runtimes::default();
    runtimes.register(Arc::new(adapter(Agent::Codex.program(), &setup.records)), RuntimeStatus::Active);
    let config = Config::new(environments, setup.records.clone(), setup.state.join("artifacts"));
    (Engine::start(Arc::new(log.clone()), runtimes, config).await.unwrap(), log)
}

async fn wait_for(log: &SqliteLog, session: &SessionId, fits: impl Fn(&NormalizedEvent) -> bool) -> NormalizedEvent {
    let stream = StreamId::from(session);
    let mut follower = log.follow(Filter::stream(stream.clone()), Start::AfterSeq(stream, 0)).await.unwrap();
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

#[test]
#[ignore = "not a test: a daemon that a test kills"]
fn first_daemon() {
    let setup: DaemonSetup = killed_daemon_setup();
    daemon().block_on(async {
        let (engine, log) = engine(&setup).await;
        let new = NewSession { mode: Mode::Ask, isolation: setup.isolation, ..NewSession::within(setup.cwd.clone()) };
        let session = engine.create_session(new).await.unwrap();
        let prompt = Prompt { approver: Approver::Present, ..Prompt::text("SCRIPT:shell") };
        engine.prompt(session.as_str(), prompt).await.unwrap();
        wait_for(&log, &session, |event| matches!(event.body, EventBody::ApprovalRequested(_))).await;
        print_session_of_killed_daemon(&session);
        std::future::pending::<()>().await;
    });
}

#[test]
fn an_approval_that_waited_for_an_answer_is_answered_to_the_next_daemon() {
    let live = Live::new();
    let state = tempfile::TempDir::new().unwrap();
    let setup = DaemonSetup::new(&live, &state, None);
    let session = kill_a_daemon_that_asks("codex::surviving::first_daemon", &setup);
    daemon().block_on(async {
        let (engine, log) = engine(&setup).await;
        let waiting = log.pending(Some(&session)).await.unwrap();
        let [waiting] = waiting.as_slice() else { panic!("{waiting:?}") };
        let PendingAsk::Approval(asked) = &waiting.ask else { panic!("{waiting:?}") };
        let to = ResponseTo::Approval {
            call: asked.identity.tool_call_id.clone(),
            attempt: Some(asked.identity.attempt),
            input_hash: Some(asked.identity.input_hash.clone()),
            decision: Decision::Allow { scope: ApprovalScope::Once },
        };
        // Codex asks again in its own time.
        wait_for(&log, &session, |event| match &event.body {
            EventBody::RuntimeNotice(notice) => notice.message.contains("asks again"),
            _ => false,
        })
        .await;
        let response = Response { to, by: Answerer::default(), key: None };
        soon("the answer is taken", engine.respond(session.as_str(), response)).await.unwrap();
        let end = wait_for(&log, &session, |event| event.body.ends_task()).await;
        assert!(matches!(end.body, EventBody::TaskCompleted(_)), "{end:?}");
        assert_eq!(std::fs::read_to_string(live.sandbox.work().join("out.txt")).unwrap(), "hi\n");
        soon("the engine stops", engine.shutdown("the test is over")).await;
        log.close().await;
    });
    assert_eq!(live.left().len(), 0);
}

#[test]
fn the_home_of_an_ephemeral_session_lives_through_a_restart_and_goes_with_the_session() {
    let live = Live::new();
    let state = tempfile::TempDir::new().unwrap();
    let setup = DaemonSetup::new(&live, &state, Some(Isolation::Ephemeral));
    let session = kill_a_daemon_that_asks("codex::surviving::first_daemon", &setup);
    let own = setup.namespaces().join("default").join(format!("session-{session}"));
    let forgotten = own.with_file_name("session-forgotten");
    std::fs::create_dir_all(&forgotten).unwrap();
    assert!(own.join("home").is_dir(), "{}", own.display());
    daemon().block_on(async {
        let (engine, log) = engine(&setup).await;
        assert!(own.join("home").is_dir(), "the agent lives in it");
        assert!(!forgotten.exists(), "nobody lives in it");
        soon("the engine stops", engine.shutdown("the test is over")).await;
        log.close().await;
    });
    assert!(!own.exists(), "{} is left", own.display());
    assert_eq!(live.left().len(), 0);
}
