//! Stopping a task, whatever its runtime makes of it.

use roost_engine::Error;
use roost_engine::adapter::TaskEnd;
use roost_model::event::{EventBody, NormalizedEventType as Type};
use roost_model::failure::FailureCode;
use roost_model::mode::Mode;
use roost_model::session::{SessionStatus, TaskOutcome};
use testkit::facts::{asks, delta, exited, requested};
use testkit::fake::EngineMessage;
use testkit::{Harness, soon};

#[tokio::test]
async fn a_stop_ends_the_task_with_its_reason_and_keeps_the_runtime() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (mut runtime, mut agent) = host.runtimes().task().await;
    agent.say(delta("hi")).await;
    host.wait_for(&session, Type::ModelOutputDelta).await;

    let (outcome, ()) = tokio::join!(host.engine.stop(session.as_str(), "enough"), async {
        assert_eq!(agent.next_message().await, EngineMessage::Stop);
        agent.end(TaskEnd::Stopped("cancelled".into())).await;
    });
    assert_eq!(outcome.unwrap(), TaskOutcome::Stopped);
    let end = host.wait_for_end(&session, &task).await;
    assert!(matches!(&end.body, EventBody::TaskStopped(stopped) if stopped.reason == "enough"), "{end:?}");
    assert_eq!(host.record(&session).await.status, SessionStatus::Active);

    host.begin(&session, "two").await;
    runtime.task().await.finish().await;
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_never_confirms_a_stop_is_ended_and_its_words_are_not_recorded() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    agent.say(delta("hi")).await;
    let outcome = soon("the stop", host.engine.stop(session.as_str(), "enough")).await;
    assert_eq!(outcome.unwrap(), TaskOutcome::Stopped);
    let end = host.wait_for_end(&session, &task).await;
    // Said after the end: heard by nobody.
    agent.say(delta("still here")).await;
    host.prompt(&session, "two").await.unwrap();
    assert!(runtime.gone().await);

    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "two");
    let events = host.events(&session).await;
    let late = events.iter().filter(|event| event.seq > end.seq && event.trace.task_id == end.trace.task_id);
    assert_eq!(late.count(), 0);
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_does_not_read_is_stopped_all_the_same() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (_runtime, agent) = host.runtimes().task().await;
    agent.stop_reading();
    let outcome = soon("the stop", host.engine.stop(session.as_str(), "enough")).await;
    assert_eq!(outcome.unwrap(), TaskOutcome::Stopped);
    host.stop().await;
}

#[tokio::test]
async fn a_stop_before_the_runtime_is_there_does_not_wait_for_it() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let mut opening = host.runtimes().opening().await;
    let outcome = soon("the stop", host.engine.stop(session.as_str(), "enough")).await;
    assert_eq!(outcome.unwrap(), TaskOutcome::Stopped);
    opening.abandoned().await;

    host.begin(&session, "two").await;
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "two");
    host.stop().await;
}

#[tokio::test]
async fn a_stop_while_a_task_is_being_started_does_not_wait_for_it() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let mut runtime = host.runtimes().session().await;
    runtime.hang_on_task().await;
    let outcome = soon("the stop", host.engine.stop(session.as_str(), "enough")).await;
    assert_eq!(outcome.unwrap(), TaskOutcome::Stopped);
    runtime.gone().await;
    host.stop().await;
}

#[tokio::test]
async fn everybody_who_asked_for_the_stop_learns_of_it() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (_runtime, _agent) = host.runtimes().task().await;
    let stop = |reason| host.engine.stop(session.as_str(), reason);
    let (one, other) = soon("both stops", async { tokio::join!(stop("one"), stop("other")) }).await;
    assert_eq!((one.unwrap(), other.unwrap()), (TaskOutcome::Stopped, TaskOutcome::Stopped));
    let stopped = host.types(&session).await.into_iter().filter(|name| name == "task.stopped");
    assert_eq!(stopped.count(), 1);
    host.stop().await;
}

#[tokio::test]
async fn there_is_nothing_to_stop_in_a_session_without_a_task() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let before = host.engine.stop(session.as_str(), "enough").await;
    assert!(matches!(before, Err(Error::NothingToStop(_))), "{before:?}");
    let task = host.begin(&session, "one").await;
    let (_runtime, agent) = host.runtimes().task().await;
    agent.finish().await;
    host.wait_for_end(&session, &task).await;
    let after = host.engine.stop(session.as_str(), "enough").await;
    assert!(matches!(after, Err(Error::NothingToStop(_))), "{after:?}");
    host.stop().await;
}

#[tokio::test]
async fn no_tool_is_approved_once_a_stop_was_asked_for() {
    let mut host = Harness::start().await;
    let session = host.session_in(Mode::Yolo).await;
    let task = host.begin(&session, "one").await;
    let (_runtime, mut agent) = host.runtimes().task().await;
    let (outcome, ()) = tokio::join!(host.engine.stop(session.as_str(), "enough"), async {
        assert_eq!(agent.next_message().await, EngineMessage::Stop);
        agent.say_all([requested("a"), asks("a")]).await;
        assert!(matches!(agent.next_message().await, EngineMessage::Denied(..)));
        agent.end(TaskEnd::Stopped("cancelled".into())).await;
    });
    assert_eq!(outcome.unwrap(), TaskOutcome::Stopped);
    host.wait_for_end(&session, &task).await;
    assert!(!host.types(&session).await.contains(&"tool.call.approved".to_owned()));
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_exits_when_it_is_stopped_gets_no_further_task() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (mut runtime, mut agent) = host.runtimes().task().await;
    host.queue(&session, "two").await;
    let (outcome, ()) = tokio::join!(host.engine.stop(session.as_str(), "enough"), async {
        assert_eq!(agent.next_message().await, EngineMessage::PromptWaiting);
        assert_eq!(agent.next_message().await, EngineMessage::Stop);
        runtime.exit();
        agent.say(exited()).await;
    });
    assert_eq!(outcome.unwrap(), TaskOutcome::Stopped);
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "two");
    runtime.gone().await;
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_exits_after_it_was_stopped_gets_no_further_task() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    host.engine.stop(session.as_str(), "enough").await.unwrap();
    host.prompt(&session, "two").await.unwrap();
    runtime.exit();
    drop(agent);
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "two");
    runtime.gone().await;
    host.stop().await;
}

#[tokio::test]
async fn a_task_that_was_finished_already_is_not_a_stopped_one() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (_runtime, mut agent) = host.runtimes().task().await;
    let (outcome, ()) = tokio::join!(host.engine.stop(session.as_str(), "enough"), async {
        assert_eq!(agent.next_message().await, EngineMessage::Stop);
        agent.finish().await;
    });
    assert_eq!(outcome.unwrap(), TaskOutcome::Completed);
    host.stop().await;
}

#[tokio::test]
async fn a_stop_wins_over_whatever_failure_it_causes() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (_runtime, mut agent) = host.runtimes().task().await;
    let (outcome, ()) = tokio::join!(host.engine.stop(session.as_str(), "enough"), async {
        assert_eq!(agent.next_message().await, EngineMessage::Stop);
        agent.end(TaskEnd::failed(FailureCode::RuntimeError, "interrupted")).await;
    });
    assert_eq!(outcome.unwrap(), TaskOutcome::Stopped);
    let end = host.wait_for_end(&session, &task).await;
    assert!(matches!(end.body, EventBody::TaskStopped(_)), "{end:?}");
    host.stop().await;
}
