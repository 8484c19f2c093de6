//! Interrupts: whatever OpenCode does, it stops, and the session goes on.

use roost_engine::adapter::{Fact, RuntimeSession};

use super::live::{Live, stopped};
use crate::codex::live::{Say, WatchedTask, completed, run};

/// What the model says to `SCRIPT:text`.
const HELLO: &str = "Hello from the scripted model, streaming in several deltas.";

type Session = Box<dyn RuntimeSession>;

/// All in one session: a server takes seconds to start, and a session that goes on after one interrupt must after six.
#[tokio::test]
async fn whatever_opencode_does_an_interrupt_ends_it_and_the_session_goes_on() {
    let live = Live::new();
    let mut session = live.session().await;
    an_interrupt_of_a_model_that_never_answers_is_heard(&mut session).await;
    an_interrupt_of_a_stream_ends_the_turn_and_keeps_what_was_said(&mut session).await;
    an_interrupt_right_after_the_start_is_not_lost(&mut session).await;
    an_interrupt_of_a_command_ends_the_command_too(&live, &mut session).await;
    an_interrupt_of_a_question_about_a_tool_lets_nothing_run(&live, &mut session).await;
    an_interrupt_of_a_question_ends_the_turn_and_it_is_not_asked_again(&mut session).await;
    session.close().await;
    live.until_nothing_is_left().await;
}

async fn an_interrupt_of_a_stream_ends_the_turn_and_keeps_what_was_said(session: &mut Session) {
    let mut task = WatchedTask::begin(session, "SCRIPT:slow").await;
    task.until(|fact| matches!(fact, Fact::Delta(_)).then_some(())).await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    assert!(task.text().starts_with("tick0 "), "{}", task.text());
    // OpenCode says twice that it is idle after a stop; the second time must not end the next turn.
    let (end, next) = run(session, "SCRIPT:text", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert_eq!(next.text(), HELLO);
}

async fn an_interrupt_right_after_the_start_is_not_lost(session: &mut Session) {
    let mut task = WatchedTask::begin(session, "SCRIPT:slow").await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    assert!(completed(&run(session, "SCRIPT:text", Say::Yes).await.0));
}

async fn an_interrupt_of_a_command_ends_the_command_too(live: &Live, session: &mut Session) {
    let mut task = WatchedTask::begin(session, "SCRIPT:sleep").await;
    let call = task.asks().await;
    task.say(&call, Say::Yes).await;
    live.until_runs("sleep 60", true).await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    live.until_runs("sleep 60", false).await;
    assert!(completed(&run(session, "SCRIPT:text", Say::Yes).await.0));
}

async fn an_interrupt_of_a_question_about_a_tool_lets_nothing_run(live: &Live, session: &mut Session) {
    let mut task = WatchedTask::begin(session, "SCRIPT:shell").await;
    task.asks().await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    assert!(completed(&run(session, "SCRIPT:text", Say::Yes).await.0));
    assert!(!live.sandbox.work().join("out.txt").exists());
}

async fn an_interrupt_of_a_question_ends_the_turn_and_it_is_not_asked_again(session: &mut Session) {
    let mut task = WatchedTask::begin(session, "SCRIPT:ask").await;
    task.until(|fact| matches!(fact, Fact::Question(_)).then_some(())).await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    let (end, task) = run(session, "SCRIPT:text", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert!(!task.facts().any(|fact| matches!(fact, Fact::Question(_))), "{:#?}", task.seen);
}

async fn an_interrupt_of_a_model_that_never_answers_is_heard(session: &mut Session) {
    let mut task = WatchedTask::begin(session, "SCRIPT:hang").await;
    crate::codex::MODEL.requests_when("the model is asked", |requests| !requests.is_empty()).await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    assert!(!task.facts().any(|fact| matches!(fact, Fact::Output(_))));
    assert!(completed(&run(session, "SCRIPT:text", Say::Yes).await.0));
}
