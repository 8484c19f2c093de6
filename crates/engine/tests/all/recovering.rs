//! What a start makes of what a crash left.

use std::sync::Arc;

use roost_engine::Engine;
use roost_log::{LogOptions, SqliteLog};
use roost_model::event::{EventBody, NormalizedEventType as Type};
use roost_model::failure::FailureCode;
use roost_model::ids::{SessionId, TaskId};
use roost_model::mode::Mode;
use roost_model::session::SessionStatus;
use testkit::facts::{asks, completed, delta, question, requested, started};
use testkit::fake::{FakeSession, FakeTask, How};
use testkit::{Harness, Home, soon};

/// A session in the middle of a task, with a tool that runs, one that waits, and a prompt in the queue.
async fn busy(host: &mut Harness) -> (SessionId, TaskId, FakeSession, FakeTask) {
    let session = host.session_in(Mode::Yolo).await;
    let task = host.begin(&session, "one").await;
    let (runtime, mut agent) = host.runtimes().task().await;
    agent.say_all([requested("running"), asks("running")]).await;
    agent.next_message().await;
    agent.say_all([started("running"), requested("waiting"), delta("hi")]).await;
    host.wait_for(&session, Type::ModelOutputDelta).await;
    host.queue(&session, "two").await;
    (session, task, runtime, agent)
}

/// Starts an engine while the test answers what it asks of the runtime.
pub(crate) async fn start_with<T>(mut home: Home, answer: impl AsyncFnOnce(&mut Home) -> T) -> (Harness, T) {
    let log = SqliteLog::open(&home.lock().await, LogOptions::default()).unwrap();
    let starting = Engine::start(Arc::new(log.clone()), home.runtimes(), home.config(|config| config.max_sessions = 1));
    let (engine, answered) = soon("the engine starts", async { tokio::join!(starting, answer(&mut home)) }).await;
    (Harness { engine: Arc::new(engine.unwrap()), log, home }, answered)
}

#[tokio::test]
async fn a_cut_task_is_failed_with_everything_in_it_closed() {
    let mut host = Harness::start().await;
    let (session, task, _runtime, _agent) = busy(&mut host).await;
    let seen = host.types(&session).await;
    let host = host.crash().await.start().await;

    let types = host.types(&session).await;
    assert_eq!(types[..seen.len()], seen, "what was seen stays");
    let expected = [
        "tool.call.completed",
        "tool.call.policy_evaluated",
        "tool.call.denied",
        "task.failed",
        "session.updated",
        "session.closed",
    ];
    assert_eq!(types[seen.len()..], expected);
    let end = host.wait_for_end(&session, &task).await;
    let EventBody::TaskFailed(failed) = end.body else { panic!() };
    assert_eq!((failed.error.code, failed.error.retryable), (FailureCode::HostRestarted, true));
    let record = host.record(&session).await;
    assert_eq!((record.status, record.open_task), (SessionStatus::Closed, None));
    host.stop().await;
}

#[tokio::test]
async fn prompts_that_waited_are_held_and_a_new_one_works() {
    let mut host = Harness::start().await;
    let (session, _task, _runtime, _agent) = busy(&mut host).await;
    let mut host = host.crash().await.start().await;
    let queue = host.record(&session).await.queue;
    assert_eq!(
        queue.iter().map(|prompt| (prompt.message.text(), prompt.held)).collect::<Vec<_>>(),
        [("two".into(), true)]
    );
    host.begin(&session, "three").await;
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "three");
    agent.finish().await;
    host.wait_for_end(&session, &agent.input().task_id).await;
    host.stop().await;
}

#[tokio::test]
async fn a_second_restart_finds_nothing_to_do() {
    let mut host = Harness::start().await;
    let (session, _task, _runtime, _agent) = busy(&mut host).await;
    let host = host.crash().await.start().await;
    let after_first = host.types(&session).await;
    let host = host.crash().await.start().await;
    assert_eq!(host.types(&session).await, after_first);
    host.stop().await;
}

#[tokio::test]
async fn an_open_question_is_closed_with_its_task() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (_runtime, agent) = host.runtimes().task().await;
    agent.stop_reading();
    agent.say(question("q")).await;
    host.wait_for(&session, Type::QuestionAsked).await;
    let host = host.crash().await.start().await;
    let types = host.types(&session).await;
    let resolved = types.iter().filter(|name| *name == "question.resolved");
    assert_eq!(resolved.count(), 1, "{types:?}");
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_went_on_is_taken_over_with_its_task() {
    let mut host = Harness::start().await;
    let (session, task, _runtime, _agent) = busy(&mut host).await;
    let home = host.crash().await;
    home.adapter.offer_survivors();
    home.leave_process(&session);
    let (mut host, (_runtime, agent)) = start_with(home, async |home| {
        let opening = home.runtimes.opening().await;
        assert!(matches!(&opening.how, How::Reattach(record) if record.label == session.as_str()));
        opening.accept_running("native")
    })
    .await;
    agent.say_all([completed("running"), delta("still here")]).await;
    agent.finish().await;
    let end = host.wait_for_end(&session, &task).await;
    assert!(matches!(end.body, EventBody::TaskCompleted(_)), "{end:?}");
    let types = host.types(&session).await;
    for once in ["tool.call.started", "tool.call.completed", "tool.call.denied", "task.completed"] {
        assert_eq!(types.iter().filter(|name| *name == once).count(), 1, "{once}: {types:?}");
    }
    assert!(host.record(&session).await.queue[0].held);
    assert!(host.runtimes().is_idle());
    host.stop().await;
}

#[tokio::test]
async fn a_task_that_ended_while_nobody_listened_is_failed_and_its_runtime_kept() {
    let mut host = Harness::start().await;
    let (session, task, _runtime, _agent) = busy(&mut host).await;
    let home = host.crash().await;
    home.adapter.offer_survivors();
    home.leave_process(&session);
    let (host, mut runtime) = start_with(home, async |home| home.runtimes.opening().await.accept_as("native")).await;
    let end = host.wait_for_end(&session, &task).await;
    let EventBody::TaskFailed(failed) = end.body else { panic!() };
    assert_eq!(failed.error.code, FailureCode::HostRestarted);
    host.begin(&session, "three").await;
    assert_eq!(runtime.task().await.prompt(), "three");
    host.stop().await;
}

#[tokio::test]
async fn more_survivors_than_may_run_do_not_hold_up_the_start() {
    let mut host = Harness::start().await;
    let (one, _one_task, _one_runtime, _one_agent) = busy(&mut host).await;
    let (other, _other_task, _other_runtime, _other_agent) = busy(&mut host).await;
    let home = host.crash().await;
    home.adapter.offer_survivors();
    home.leave_process(&one);
    home.leave_process(&other);
    let (host, survivors) = start_with(home, async |home| {
        let mut survivors = Vec::new();
        for _ in 0..2 {
            survivors.push(home.runtimes.opening().await.accept_running("native"));
        }
        survivors
    })
    .await;
    assert_eq!(survivors.len(), 2);
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_cannot_be_taken_over_is_ended() {
    let mut host = Harness::start().await;
    let (session, task, _runtime, _agent) = busy(&mut host).await;
    let home = host.crash().await;
    home.leave_process(&session);
    let host = home.start().await;
    let end = host.wait_for_end(&session, &task).await;
    assert!(matches!(end.body, EventBody::TaskFailed(_)), "{end:?}");
    host.stop().await;
}
