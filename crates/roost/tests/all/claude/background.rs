//! What Claude Code does beside its turns: commands in the background, agents, and the turns that it begins by itself.

use roost_engine::adapter::{Fact, RuntimeSession, TaskEnd};
use roost_model::payload::NoticeLevel;

use super::live::{Done, LiveClaude, WatchedTask, input, run_allowing, start, wait_for, wait_for_end};

/// Starts a task that has answered and waits for a command in the background.
async fn waiting_task(session: &mut Box<dyn RuntimeSession>, prompt: &str) -> WatchedTask {
    let mut task = start(session, input(prompt)).await;
    let asks = wait_for(&mut task, "it asks", |fact| matches!(fact, Fact::ToolAsks(_))).await;
    let Fact::ToolAsks(call) = asks else { panic!() };
    task.control().send_tool_approved(&call.identity).await.unwrap();
    wait_for(&mut task, "it waits", says_that_it_waits).await;
    task
}

fn says_that_it_waits(fact: &Fact) -> bool {
    matches!(fact, Fact::Notice(notice) if notice.message.starts_with("waits for what runs in the background (sleep "))
}

fn warnings(done: &Done) -> Vec<&str> {
    let warnings = done.facts.iter().filter_map(|fact| match fact {
        Fact::Notice(notice) if notice.level != NoticeLevel::Info => Some(notice.message.as_str()),
        _ => None,
    });
    warnings.collect()
}

#[tokio::test]
async fn a_task_lasts_until_the_agent_has_heard_how_its_background_command_ended() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let done = run_allowing(&mut session, "SCRIPT:background RUN:sleep 1; echo hi > out.txt").await;
    assert!(matches!(done.end(), TaskEnd::Completed(_)), "{:?}", done.end());
    assert!(live.work().join("out.txt").exists());
    assert_eq!(done.text().matches("FINAL saw").count(), 2, "one answer before it ended, one after: {}", done.text());
    assert_eq!(done.usage().len(), 2, "each turn tells what it used");
    session.close().await;
}

#[tokio::test]
async fn the_work_of_an_agent_is_asked_about_and_done_before_the_task_ends() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let done = run_allowing(&mut session, "SCRIPT:agent").await;
    assert!(matches!(done.end(), TaskEnd::Completed(_)), "{:?}", done.end());
    assert!(live.work().join("out.txt").exists());
    assert_eq!(done.asking_tools(), ["Agent", "Bash"]);
    let failed = |fact: &&Fact| matches!(fact, Fact::ToolCompleted(outcome) if outcome.is_error);
    assert_eq!(done.facts.iter().find(failed), None);
    let completed = done.facts.iter().filter(|fact| matches!(fact, Fact::ToolCompleted(_))).count();
    assert_eq!(completed, 2, "{:?}", done.facts);
    session.close().await;
}

#[tokio::test]
async fn a_stop_ends_what_runs_in_the_background() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let mut task = waiting_task(&mut session, "SCRIPT:background RUN:sleep 60; echo hi").await;
    task.control().stop().await.unwrap();
    assert!(matches!(wait_for_end(&mut task).await, TaskEnd::Stopped(_)));
    live.until_nothing_runs("sleep").await;
    let next = run_allowing(&mut session, "SCRIPT:text").await;
    assert!(matches!(next.end(), TaskEnd::Completed(_)), "{:?}", next.end());
    session.close().await;
    live.is_empty().await;
}

#[tokio::test]
async fn another_prompt_ends_the_wait_and_the_next_task_waits_in_its_place() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let mut task = waiting_task(&mut session, "SCRIPT:background RUN:sleep 60; echo hi").await;
    task.control().prompt_waiting().await.unwrap();
    assert!(matches!(wait_for_end(&mut task).await, TaskEnd::Completed(_)));
    assert_eq!(live.running("sleep"), 1, "it goes on");
    let mut next = start(&mut session, input("SCRIPT:text")).await;
    wait_for(&mut next, "it waits", says_that_it_waits).await;
    next.control().stop().await.unwrap();
    assert!(matches!(wait_for_end(&mut next).await, TaskEnd::Stopped(_)));
    live.until_nothing_runs("sleep").await;
    session.close().await;
}

#[tokio::test]
async fn an_ordinary_turn_warns_of_nothing() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let done = run_allowing(&mut session, "SCRIPT:shell").await;
    assert_eq!(warnings(&done), [""; 0]);
    session.close().await;
}
