//! A stop, whatever Gemini is at: the task ends, nothing runs on, and the next task finds the same process.

use roost_engine::adapter::{Fact, RuntimeSession, TaskEnd};

use super::Live;
use crate::codex::MODEL;
use crate::codex::live::{Say, WatchedTask, completed, run};

/// The task ends as stopped, the session goes on, and its end leaves nothing.
async fn stops(live: &Live, mut session: Box<dyn RuntimeSession>, mut task: WatchedTask) -> WatchedTask {
    let process = live.pid().await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(matches!(end, TaskEnd::Stopped(_)), "{end:?}");
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    assert_eq!(live.pid().await, process);
    session.close().await;
    live.is_empty();
    task
}

#[tokio::test]
async fn while_it_streams_keeps_what_was_said() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:slow").await;
    task.until(|fact| matches!(fact, Fact::Delta(_)).then_some(())).await;
    let task = stops(&live, session, task).await;
    assert!(task.text().starts_with("tick0 "), "{}", task.text());
}

#[tokio::test]
async fn while_a_command_runs_ends_the_command_too() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:sleep").await;
    let call = task.asks().await;
    task.say(&call, Say::Yes).await;
    live.until_runs("sleep 60", true).await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(matches!(end, TaskEnd::Stopped(_)), "{end:?}");
    live.until_runs("sleep 60", false).await;
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
    live.is_empty();
}

#[tokio::test]
async fn while_somebody_is_asked_lets_nothing_run() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:shell").await;
    task.asks().await;
    stops(&live, session, task).await;
    assert!(!live.sandbox.work().join("out.txt").exists());
}

#[tokio::test]
async fn while_the_model_is_silent() {
    let live = Live::new();
    let mut session = live.session().await;
    let task = WatchedTask::begin(&mut session, "SCRIPT:hang").await;
    MODEL.requests_when("the model is asked", |requests| !requests.is_empty()).await;
    stops(&live, session, task).await;
}

#[tokio::test]
async fn a_close_in_the_middle_leaves_nothing() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:slow").await;
    task.until(|fact| matches!(fact, Fact::Delta(_)).then_some(())).await;
    session.close().await;
    live.is_empty();
}
