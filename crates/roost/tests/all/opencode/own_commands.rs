//! OpenCode's slash commands, what it refuses by itself, and a provider that cannot be reached.

use std::fs;

use roost_engine::adapter::{Fact, RuntimeAdapter, TaskEnd};
use roost_model::payload::NoticeLevel;
use testkit::agents::opencode_config;
use testkit::soon;

use super::live::Live;
use crate::codex::live::{Say, WatchedTask, completed, run};

/// Whether a warning with this text was told.
fn warns(task: &WatchedTask, text: &str) -> bool {
    task.facts().any(|fact| match fact {
        Fact::Notice(notice) => notice.level == NoticeLevel::Warning && notice.message.contains(text),
        _ => false,
    })
}

#[tokio::test]
async fn a_slash_command_is_its_text_runs_nothing_and_one_of_the_terminal_says_what_to_do() {
    let live = Live::new();
    let file = live.sandbox.work().join(".opencode/command/own.md");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, "---\ndescription: Mine\n---\nSCRIPT:recall for $ARGUMENTS !`touch ran` end\n").unwrap();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "/own the wall", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    let expected =
        "SCRIPT:recall for the wall [Run this with your shell tool and use its output here: `touch ran`] end";
    assert!(task.text().contains(expected), "{}", task.text());
    assert!(warns(&task, "`touch ran`"), "{:#?}", task.seen);
    assert!(!live.sandbox.work().join("ran").exists());

    let (end, task) = run(&mut session, "/undo", Say::Yes).await;
    assert!(completed(&end) && warns(&task, "/undo is a command of OpenCode's own terminal"), "{:#?}", task.seen);
    session.close().await;
}

#[tokio::test]
async fn a_network_that_is_down_is_called_that_with_each_retry() {
    let mut live = Live::new();
    // Nothing listens on the port for discarded bytes.
    live.env.insert("OPENCODE_CONFIG_CONTENT".into(), opencode_config("http://127.0.0.1:9", "ask").to_string());
    let mut session = soon("OpenCode starts", live.adapter.create_session(live.open())).await.unwrap();
    let (end, task) = run(&mut session, "SCRIPT:text", Say::Yes).await;
    assert!(warns(&task, "the provider cannot be reached: the network is down"), "{:#?}", task.seen);
    let TaskEnd::Failed(error) = end else { panic!("{end:?}") };
    assert!(error.message.contains("the provider cannot be reached"), "{error:?}");
    session.close().await;
}
