//! Runtimes that fail, and what is left of the session.

use roost_engine::adapter::{AdapterError, TaskEnd};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::failure::{FailureCode, TaskError};
use roost_model::mode::Mode;
use testkit::Harness;
use testkit::facts::{asks, delta, exited, requested, started};
use testkit::fake::EngineMessage;

fn failure(event: &NormalizedEvent) -> &TaskError {
    match &event.body {
        EventBody::TaskFailed(failed) => &failed.error,
        other => panic!("not a failure: {other:?}"),
    }
}

#[tokio::test]
async fn a_runtime_that_cannot_be_started_fails_the_task_by_name() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    host.runtimes().opening().await.refuse(AdapterError::Spawn("no such program".into()));
    let end = host.wait_for_end(&session, &task).await;
    let error = failure(&end);
    assert_eq!((error.code, error.message.as_str()), (FailureCode::SpawnFailed, "no such program"));
    assert_eq!(error.runtime.as_ref().map(|name| name.id()), Some("fake"));

    host.begin(&session, "two").await;
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "two");
    host.stop().await;
}

#[tokio::test]
async fn a_task_that_cannot_be_started_fails_and_keeps_the_runtime() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let mut runtime = host.runtimes().session().await;
    runtime.refuse_task(AdapterError::Runtime { message: "too long".into(), raw: None }).await;
    let end = host.wait_for_end(&session, &task).await;
    assert_eq!(failure(&end).code, FailureCode::RuntimeError);
    host.begin(&session, "two").await;
    runtime.task().await.finish().await;
    host.stop().await;
}

#[tokio::test]
async fn a_crash_fails_the_task_closes_what_was_open_and_leaves_the_session_usable() {
    let mut host = Harness::start().await;
    let session = host.session_in(Mode::Yolo).await;
    let task = host.begin(&session, "one").await;
    let (mut runtime, mut agent) = host.runtimes().task().await;
    agent.say_all([requested("running"), asks("running")]).await;
    assert_eq!(agent.next_message().await, EngineMessage::Approved("running".into()));
    agent.say_all([started("running"), requested("waiting")]).await;
    runtime.exit();
    agent.say(exited()).await;
    let end = host.wait_for_end(&session, &task).await;
    let error = failure(&end);
    assert_eq!((error.code, error.retryable), (FailureCode::RuntimeExited, true));
    runtime.gone().await;
    let types = host.types(&session).await;
    let at = types.iter().position(|name| name == "task.failed").unwrap();
    let closing = ["tool.call.completed", "tool.call.policy_evaluated", "tool.call.denied", "task.failed"];
    assert_eq!(types[at - 3..=at], closing);

    host.begin(&session, "two").await;
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "two");
    host.stop().await;
}

#[tokio::test]
async fn an_adapter_that_ends_without_a_result_fails_the_task_and_gets_no_further_one() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    host.queue(&session, "two").await;
    agent.say(delta("hi")).await;
    drop(agent);
    let end = host.wait_for_end(&session, &task).await;
    assert_eq!(failure(&end).code, FailureCode::Internal);
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "two");
    runtime.gone().await;
    host.stop().await;
}

#[tokio::test]
async fn a_failure_that_is_not_the_end_of_the_runtime_keeps_it() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    agent.end(TaskEnd::failed(FailureCode::RuntimeError, "overloaded")).await;
    host.wait_for_end(&session, &task).await;
    host.begin(&session, "two").await;
    runtime.task().await.finish().await;
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_exits_between_tasks_closes_the_session_until_the_next_prompt() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    agent.finish().await;
    host.wait_for_end(&session, &task).await;
    runtime.exit();
    runtime.gone().await;
    host.wait_until(&session, "session.closed", |event| matches!(event.body, EventBody::SessionClosed(_))).await;
    host.begin(&session, "two").await;
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "two");
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_exits_in_a_task_fails_it_even_if_its_adapter_says_nothing() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (mut runtime, _agent) = host.runtimes().task().await;
    runtime.exit();
    let end = host.wait_for_end(&session, &task).await;
    assert_eq!(failure(&end).code, FailureCode::RuntimeExited);
    runtime.gone().await;
    host.begin(&session, "two").await;
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "two");
    host.stop().await;
}

#[tokio::test]
async fn what_an_adapter_still_knows_of_a_runtime_that_exited_is_recorded() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (runtime, agent) = host.runtimes().task().await;
    runtime.exit();
    agent.say(delta("last words")).await;
    agent.finish().await;
    let end = host.wait_for_end(&session, &task).await;
    assert!(matches!(end.body, EventBody::TaskCompleted(_)), "{end:?}");
    assert!(host.types(&session).await.contains(&"model.output.delta".to_owned()));
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_finishes_and_exits_does_not_take_the_next_prompt_with_it() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    host.queue(&session, "two").await;
    runtime.exit();
    agent.finish().await;
    host.wait_for_end(&session, &task).await;
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "two");
    runtime.gone().await;
    host.stop().await;
}
