//! A stop, whatever Claude Code is at: the task ends, nothing runs on, and the next task finds the same process.

use roost_engine::adapter::{Fact, RuntimeSession, TaskEnd};

use super::live::{LiveClaude, POLL, WatchedTask, input, run_allowing, start, wait_for, wait_for_end};

async fn stops(live: &LiveClaude, mut session: Box<dyn RuntimeSession>, mut task: WatchedTask) {
    task.control().stop().await.unwrap();
    assert!(matches!(wait_for_end(&mut task).await, TaskEnd::Stopped(_)));
    let next = run_allowing(&mut session, "SCRIPT:text").await;
    assert!(matches!(next.end(), TaskEnd::Completed(_)), "{:?}", next.end());
    session.close().await;
    live.is_empty().await;
}

#[tokio::test]
async fn while_it_streams() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let mut task = start(&mut session, input("SCRIPT:slow")).await;
    wait_for(&mut task, "it streams", |fact| matches!(fact, Fact::Delta(_))).await;
    stops(&live, session, task).await;
}

#[tokio::test]
async fn while_a_tool_runs() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let mut task = start(&mut session, input("SCRIPT:shell RUN:tail -f /dev/null")).await;
    let asks = wait_for(&mut task, "it asks", |fact| matches!(fact, Fact::ToolAsks(_))).await;
    let Fact::ToolAsks(call) = asks else { panic!() };
    task.control().send_tool_approved(&call.identity).await.unwrap();
    let runs = async {
        while live.running("tail") == 0 {
            tokio::time::sleep(POLL).await;
        }
    };
    testkit::soon("the tool runs", runs).await;
    task.control().stop().await.unwrap();
    assert!(matches!(wait_for_end(&mut task).await, TaskEnd::Stopped(_)));
    live.until_nothing_runs("tail").await;
    let next = run_allowing(&mut session, "SCRIPT:text").await;
    assert!(matches!(next.end(), TaskEnd::Completed(_)), "{:?}", next.end());
    session.close().await;
    live.is_empty().await;
}

#[tokio::test]
async fn while_somebody_is_asked() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let mut task = start(&mut session, input("SCRIPT:shell")).await;
    wait_for(&mut task, "it asks", |fact| matches!(fact, Fact::ToolAsks(_))).await;
    stops(&live, session, task).await;
    assert!(!live.work().join("out.txt").exists());
}

#[tokio::test]
async fn while_a_question_is_open() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let mut task = start(&mut session, input("SCRIPT:ask")).await;
    wait_for(&mut task, "it asks", |fact| matches!(fact, Fact::Question(_))).await;
    stops(&live, session, task).await;
}

#[tokio::test]
async fn while_the_model_is_silent() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let task = start(&mut session, input("SCRIPT:hang")).await;
    live.model.requests_when("the model is asked", |requests| !requests.is_empty()).await;
    stops(&live, session, task).await;
}

#[tokio::test]
async fn a_close_in_the_middle_leaves_nothing() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let mut task = start(&mut session, input("SCRIPT:slow")).await;
    wait_for(&mut task, "it streams", |fact| matches!(fact, Fact::Delta(_))).await;
    session.close().await;
    live.is_empty().await;
}
