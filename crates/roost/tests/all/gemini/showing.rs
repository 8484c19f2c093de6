//! Whether what Gemini does is told as what it is: commands, refusals, retries, its own slash commands and hooks.

use std::fs;
use std::path::Path;

use roost_engine::adapter::{Fact, RuntimeAdapter, RuntimeSession, TaskEnd};
use roost_model::payload::{NoticeLevel, ToolCallRequestedPayload};
use serde_json::{Value, json};
use testkit::soon;

use super::Live;
use crate::codex::live::{Say, WatchedTask, completed, run};

/// Writes a file and the folders above it.
fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The one call of a task.
fn only_call(task: &WatchedTask) -> &ToolCallRequestedPayload {
    let calls: Vec<_> = task
        .facts()
        .filter_map(|fact| match fact {
            Fact::ToolAsks(call) | Fact::ToolRequested(call) => Some(call),
            _ => None,
        })
        .collect();
    let [call] = calls.as_slice() else { panic!("{:#?}", task.seen) };
    call
}

fn printed(task: &WatchedTask) -> String {
    let deltas = task.facts().filter_map(|fact| match fact {
        Fact::ToolOutputDelta { delta, .. } => Some(delta.as_str()),
        _ => None,
    });
    deltas.collect()
}

/// Whether a warning with this text was told.
fn warns(task: &WatchedTask, text: &str) -> bool {
    task.facts().any(|fact| match fact {
        Fact::Notice(notice) => notice.level == NoticeLevel::Warning && notice.message.contains(text),
        _ => false,
    })
}

async fn session_with(live: &Live, settings: Value) -> Box<dyn RuntimeSession> {
    let mut open = live.open();
    open.input.runtime_config = settings.as_object().cloned();
    soon("Gemini starts", live.adapter.create_session(open)).await.unwrap()
}

#[tokio::test]
async fn a_command_is_told_as_a_command_asked_about_or_not_with_what_it_prints_and_how_it_fails() {
    let live = Live::new();
    fs::write(live.sandbox.work().join("in.txt"), "").unwrap();
    let mut session = live.session().await;
    for (script, command, output, fails) in [
        ("SCRIPT:shell RUN:touch a; seq 1 3", "touch a; seq 1 3", "1\n2\n3", false),
        ("SCRIPT:ls", "ls", "in.txt", false),
        ("SCRIPT:shell RUN:exit 3", "exit 3", "Command exited with code: 3", true),
        ("SCRIPT:shell RUN:echo no; exit 4", "echo no; exit 4", "no", true),
    ] {
        let (end, task) = run(&mut session, script, Say::Yes).await;
        assert!(completed(&end), "{script}: {end:?}");
        let call = only_call(&task);
        assert_eq!((call.name.as_str(), &call.input["command"]), ("run_shell_command", &json!(command)), "{call:?}");
        assert!(printed(&task).contains(output), "{script}: {:#?}", task.seen);
        assert!(!printed(&task).contains("current working directory"), "{script}: {:#?}", task.seen);
        let failed = |fact: &Fact| {
            matches!(fact, Fact::ToolCompleted(outcome) if outcome.is_error
            && outcome.result.as_ref().is_some_and(|result| result["exit_code"].is_i64()))
        };
        assert_eq!(task.facts().any(failed), fails, "{script}: {:#?}", task.seen);
    }
    session.close().await;
}

#[tokio::test]
async fn a_todo_list_is_asked_about_by_its_own_name_and_told_as_a_plan() {
    let live = Live::new();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:plan", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert_eq!(only_call(&task).name, "write_todos");
    let plan = |fact: &Fact| matches!(fact, Fact::Plan(plan) if !plan.entries.is_empty());
    assert!(task.facts().any(plan), "{:#?}", task.seen);
    session.close().await;
}

#[tokio::test]
async fn a_call_that_geminis_own_rules_refuse_is_told_as_refused() {
    let live = Live::new();
    let rule =
        "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"echo\"\ndecision = \"deny\"\npriority = 900\n";
    write(&live.sandbox.home().join(".gemini/policies/mine.toml"), rule);
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:shell", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    let refused = |fact: &Fact| matches!(fact, Fact::ToolRefused { reason, .. } if reason.contains("denied by policy"));
    assert!(task.facts().any(refused), "{:#?}", task.seen);
    assert!(!live.sandbox.work().join("out.txt").exists());
    session.close().await;
}

#[tokio::test]
async fn a_slash_command_of_a_file_is_its_text_and_runs_nothing() {
    let live = Live::new();
    let command = "prompt = \"SCRIPT:recall for {{args}} !{touch ran} end\"";
    write(&live.sandbox.work().join(".gemini/commands/my/own.toml"), command);
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "/my:own the wall", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    let expected =
        "SCRIPT:recall for the wall [Run this with your shell tool and use its output here: `touch ran`] end";
    assert!(task.text().contains(expected), "{}", task.text());
    let sent = &task.sent.as_ref().unwrap().input["messages"][0]["content"][0]["text"];
    assert_eq!(sent, expected);
    assert!(warns(&task, "`touch ran`"), "{:#?}", task.seen);
    assert!(!live.sandbox.work().join("ran").exists());
    session.close().await;
}

#[tokio::test]
async fn hooks_that_gemini_leaves_out_are_told_once_and_the_others_run() {
    let live = Live::new();
    let settings = live.sandbox.home().join(".gemini/settings.json");
    let mut all: Value = serde_json::from_slice(&fs::read(&settings).unwrap()).unwrap();
    for event in ["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool"] {
        let command = format!("touch {}", live.sandbox.home().join(event).display());
        all["hooks"][event] = json!([{ "hooks": [{ "type": "command", "command": command }] }]);
    }
    fs::write(&settings, all.to_string()).unwrap();
    let mut session = live.session().await;
    let told = "hooks for AfterTool, BeforeTool, SessionStart do not run";
    for (script, is_told) in [("SCRIPT:shell", true), ("SCRIPT:text", false)] {
        let (end, task) = run(&mut session, script, Say::Yes).await;
        assert!(completed(&end), "{end:?}");
        assert_eq!(warns(&task, told), is_told, "{script}: {:#?}", task.seen);
    }
    session.close().await;
    let ran = |event: &str| live.sandbox.home().join(event).exists();
    assert_eq!(["SessionStart", "BeforeAgent", "BeforeTool", "AfterTool"].map(ran), [false, true, false, false]);
}

#[tokio::test]
async fn a_provider_that_is_asked_again_is_told_as_it_happens() {
    let live = Live::new();
    let mut session = session_with(&live, json!({ "general": { "maxAttempts": 2 } })).await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:err429").await;
    let retry = |fact: &Fact| match fact {
        Fact::Notice(notice) if notice.message.contains("Gemini tries again") => Some(notice.clone()),
        _ => None,
    };
    let told = task.until(retry).await;
    assert!(told.message.contains("HTTP 429") && told.message.contains("stop the task"), "{told:?}");
    assert_eq!(told.level, NoticeLevel::Warning);
    task.stop().await;
    task.end(Say::Yes).await;
    session.close().await;
}

#[tokio::test]
async fn a_network_that_is_down_is_called_that() {
    let live = Live::new();
    let mut open = live.open();
    // Nothing listens on the port for discarded bytes.
    open.env.env.insert("GOOGLE_GEMINI_BASE_URL".into(), "http://127.0.0.1:9".into());
    open.input.runtime_config = json!({ "general": { "maxAttempts": 2 } }).as_object().cloned();
    let mut session = soon("Gemini starts", live.adapter.create_session(open)).await.unwrap();
    let (end, task) = run(&mut session, "SCRIPT:text", Say::Yes).await;
    assert!(warns(&task, "the provider cannot be reached: the network is down"), "{:#?}", task.seen);
    let TaskEnd::Failed(error) = end else { panic!("{end:?}") };
    assert!(error.message.contains("the provider cannot be reached"), "{error:?}");
    session.close().await;
}
