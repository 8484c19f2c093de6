//! What goes wrong: with the program, with its provider, with what it prints.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use roost_engine::adapter::{AdapterError, Availability, Fact, OpenSession, RuntimeAdapter, TaskEnd, TaskInput};
use roost_model::failure::FailureCode;
use roost_model::mode::Mode;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use testkit::agents::Agent;
use testkit::soon;

use super::live::{LiveClaude, input, run_allowing, start, wait_for, wait_for_end};

#[tokio::test]
async fn a_failing_provider_fails_the_task_and_says_whether_to_try_again() {
    use FailureCode::{AuthError, RuntimeError};
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let cases = [
        ("SCRIPT:err400", RuntimeError, false),
        ("SCRIPT:err401", AuthError, false),
        ("SCRIPT:err429", RuntimeError, true),
        ("SCRIPT:err500", RuntimeError, true),
        ("SCRIPT:cut", RuntimeError, true),
    ];
    for (prompt, code, retryable) in cases {
        let done = run_allowing(&mut session, prompt).await;
        let failure = done.failure();
        assert_eq!((failure.code, failure.retryable), (code, retryable), "{prompt}: {failure:?}");
    }
    let next = run_allowing(&mut session, "SCRIPT:text").await;
    assert!(matches!(next.end(), TaskEnd::Completed(_)), "{:?}", next.end());
    session.close().await;
}

#[tokio::test]
async fn a_missing_login_says_how_to_log_in() {
    let mut live = LiveClaude::new();
    live.env.remove("ANTHROPIC_API_KEY");
    assert!(!live.adapter.auth_status(&live.env()).await.logged_in);
    let how = live.adapter.ensure_login(&live.env()).await.unwrap();
    let mut session = live.session().await;
    let done = run_allowing(&mut session, "SCRIPT:text").await;
    assert_eq!(done.failure().code, FailureCode::AuthError);
    assert!(done.failure().message.contains(&how), "{:?}", done.failure());
    session.close().await;
}

#[tokio::test]
async fn a_flood_arrives_whole() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let done = run_allowing(&mut session, "SCRIPT:flood").await;
    assert_eq!(done.text().split_whitespace().count(), 5000);
    session.close().await;
}

#[tokio::test]
async fn a_process_that_is_killed_fails_its_task_and_leaves_no_tool() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let mut task = start(&mut session, input("SCRIPT:shell RUN:tail -f /dev/null")).await;
    let asks = wait_for(&mut task, "it asks", |fact| matches!(fact, Fact::ToolAsks(_))).await;
    let Fact::ToolAsks(call) = asks else { panic!() };
    task.control().send_tool_approved(&call.identity).await.unwrap();
    let records = roost_process::records::load(live.home().join("records")).await.unwrap();
    let pid = Pid::from_raw(i32::try_from(records[0].runtime.pid).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    let TaskEnd::Failed(failure) = wait_for_end(&mut task).await else { panic!() };
    assert_eq!((failure.code, failure.retryable), (FailureCode::RuntimeExited, true));
    soon("it is gone", session.exited()).await;
    session.close().await;
    live.is_empty().await;
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let live = LiveClaude::with("/nonexistent/claude".into());
    let Err(AdapterError::Spawn(message)) = live.adapter.create_session(live.open()).await else { panic!() };
    assert!(message.contains("/nonexistent/claude"), "{message}");
}

#[tokio::test]
async fn a_version_that_is_too_old_is_not_used_and_says_what_to_do() {
    let (claude, version) = (Agent::Claude.program(), Agent::Claude.version());
    let (_folder, program) = script(&format!("{} \"$@\" | sed -u 's/{version}/1.0.128/'", claude.display()));
    let live = LiveClaude::with(program);
    let Availability::Missing { reason } = live.adapter.availability(&live.env()).await else { panic!() };
    assert!(reason.contains("1.0.128 is too old") && reason.contains("claude update"), "{reason}");
    let Err(AdapterError::Spawn(message)) = live.adapter.create_session(live.open()).await else { panic!() };
    assert_eq!(message, reason);
}

#[tokio::test]
async fn settings_that_switch_off_hooks_are_refused_wherever_they_are() {
    let refused = async |live: &LiveClaude, open: OpenSession| {
        let opened = soon("it is refused", live.adapter.create_session(open)).await.map(|_| ());
        let Err(AdapterError::Spawn(message)) = opened else { panic!("{opened:?}") };
        assert!(message.contains("disableAllHooks"), "{message}");
        message
    };
    let live = LiveClaude::new();
    let off = json!({ "disableAllHooks": true });
    let mut open = live.open();
    open.input.runtime_config = off.as_object().cloned();
    refused(&live, open).await;
    let file = live.work().join(".claude/settings.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, off.to_string()).unwrap();
    let message = refused(&live, live.open()).await;
    assert!(message.contains(file.to_str().unwrap()) && message.contains("--setting-sources"), "{message}");
    live.is_empty().await;
}

#[tokio::test]
async fn a_mode_that_the_cli_does_not_take_fails_the_task_before_it_begins() {
    let deaf = "sed -u 's/set_permission_mode/set_nonsense/'";
    let (_folder, program) = script(&format!("{deaf} | {} \"$@\"", Agent::Claude.program().display()));
    let live = LiveClaude::with(program);
    let mut session = live.session().await;
    let planned = TaskInput { mode: Mode::Plan, ..input("SCRIPT:text") };
    let started = soon("it is refused", session.start_task(planned)).await.map(|_| ());
    let Err(AdapterError::Runtime { message, .. }) = started else { panic!("{started:?}") };
    assert!(message.contains("refused set_permission_mode"), "{message}");
    let next = run_allowing(&mut session, "SCRIPT:text").await;
    assert!(matches!(next.end(), TaskEnd::Completed(_)), "{:?}", next.end());
    session.close().await;
}

#[tokio::test]
async fn a_process_that_hangs_is_ended_all_the_same() {
    let live = LiveClaude::new();
    let mut session = live.session().await;
    let mut task = start(&mut session, input("SCRIPT:slow")).await;
    wait_for(&mut task, "it streams", |fact| matches!(fact, Fact::Delta(_))).await;
    let records = roost_process::records::load(live.home().join("records")).await.unwrap();
    let pid = Pid::from_raw(i32::try_from(records[0].runtime.pid).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    soon("it is ended", session.close()).await;
    live.is_empty().await;
}

#[tokio::test]
async fn a_program_that_dies_at_the_start_is_quoted() {
    let (folder, program) = script("echo 'this machine is too old' >&2; exit 3");
    let live = LiveClaude::with(program);
    let failed = soon("it fails", live.adapter.create_session(live.open())).await;
    let Err(AdapterError::Exited { message, stderr_tail }) = failed else { panic!() };
    assert!(message.contains("exited with code 3"), "{message}");
    assert!(stderr_tail.is_none_or(|tail| tail.contains("too old")));
    live.is_empty().await;
    drop(folder);
}

#[tokio::test]
async fn noise_is_shown_and_an_unknown_message_is_kept() {
    let unknown = r#"{"type":"brand_new","a":1}"#;
    let mix = format!("sed -u 's/^/a banner\\n{unknown}\\n/'");
    let (folder, program) =
        script(&format!("echo 'a warning' >&2\n{} \"$@\" | {mix}", Agent::Claude.program().display()));
    let live = LiveClaude::with(program);
    let mut session = live.session().await;
    let done = run_allowing(&mut session, "SCRIPT:text").await;
    assert!(matches!(done.end(), TaskEnd::Completed(_)), "{:?}", done.end());
    let noticed = |text: &str| {
        done.facts.iter().any(|fact| matches!(fact, Fact::Notice(notice) if notice.message.contains(text)))
    };
    assert!(noticed("a banner") && noticed("brand_new"), "{:?}", done.facts);
    assert!(done.raw.contains(&serde_json::from_str(unknown).unwrap()), "{:?}", done.raw);
    session.close().await;
    live.is_empty().await;
    drop(folder);
}

/// A shell script in a folder of its own.
fn script(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::TempDir::new().unwrap();
    let program = folder.path().join("claude");
    std::fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    (folder, program)
}
