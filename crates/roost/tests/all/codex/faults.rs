//! What can go wrong with Codex, and how it ends.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use roost_engine::adapter::{AdapterError, Availability, Fact, RuntimeAdapter, TaskEnd};
use roost_model::failure::FailureCode;
use roost_model::ids::RuntimeSessionId;
use roost_model::payload::NoticeSource;
use rustix::process::Signal;
use serde_json::json;
use testkit::agents::Agent;
use testkit::soon;

use super::live::{Live, Say, WatchedTask, assert_flood_arrives, completed, run};

/// How often the list of processes is looked at.
const POLL: std::time::Duration = std::time::Duration::from_millis(10);

fn stopped(end: &TaskEnd) -> bool {
    matches!(end, TaskEnd::Stopped(_))
}

#[tokio::test]
async fn an_interrupt_of_a_stream_ends_the_turn_and_keeps_what_was_said() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:slow").await;
    task.until(|fact| matches!(fact, Fact::Delta(_)).then_some(())).await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    assert!(task.text().starts_with("tick0 "), "{}", task.text());
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
}

#[tokio::test]
async fn an_interrupt_of_a_command_ends_the_command_too() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:sleep").await;
    let call = task.asks().await;
    task.say(&call, Say::Yes).await;
    let sleeps = async || live.commands().await.iter().any(|command| command.starts_with("sleep 60"));
    soon("the command runs", async {
        while !sleeps().await {
            tokio::time::sleep(POLL).await;
        }
    })
    .await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    soon("the command is gone", async {
        while sleeps().await {
            tokio::time::sleep(POLL).await;
        }
    })
    .await;
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
}

#[tokio::test]
async fn an_interrupt_of_a_question_about_a_tool_lets_nothing_run() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:shell").await;
    task.asks().await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    assert!(!live.sandbox.work().join("out.txt").exists());
    session.close().await;
}

#[tokio::test]
async fn errors_of_the_provider_fail_the_task_and_the_session_goes_on() {
    let live = Live::new();
    let mut session = live.session().await;
    let cases = [("err400", false), ("err429", true), ("err500", true), ("errstream", true), ("cut", true)];
    for (script, retryable) in cases {
        let (end, _) = run(&mut session, &format!("SCRIPT:{script}"), Say::Yes).await;
        let TaskEnd::Failed(error) = end else { panic!("{script}: {end:?}") };
        assert_eq!((error.code, error.retryable), (FailureCode::RuntimeError, retryable), "{script}: {error:?}");
        assert!(error.raw.is_some(), "{script}: {error:?}");
    }
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_is_told_while_codex_tries_again() {
    let live = Live::new();
    let mut open = live.open();
    // Nobody listens there.
    let settings = json!({ "model_providers.scripted.base_url": "http://127.0.0.1:1/v1" });
    open.input.runtime_config = settings.as_object().cloned();
    let mut session = soon("Codex starts", live.adapter.create_session(open)).await.unwrap();
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:text").await;
    task.until(|fact| match fact {
        Fact::Notice(notice) => notice.message.contains("the network is down").then_some(()),
        _ => None,
    })
    .await;
    task.stop().await;
    let end = task.end(Say::Yes).await;
    assert!(stopped(&end), "{end:?}");
    session.close().await;
}

#[tokio::test]
async fn a_session_that_codex_does_not_know_is_said_to_be_unknown() {
    let live = Live::new();
    for native in ["01a1df43-38e6-7283-ac34-000000000000", "nonsense"] {
        let resumed = live.resume(&RuntimeSessionId::from(native)).await;
        assert!(matches!(resumed.map(|_| ()), Err(AdapterError::UnknownSession(_))), "{native}");
    }
}

#[tokio::test]
async fn a_session_of_another_folder_is_unknown_here() {
    let live = Live::new();
    let mut session = live.session().await;
    run(&mut session, "SCRIPT:text", Say::Yes).await;
    let native = session.native_id().unwrap();
    session.close().await;
    let mut elsewhere = live.open();
    elsewhere.env.cwd = live.sandbox.home().display().to_string();
    assert_eq!(live.adapter.past_messages(&elsewhere.env, &native).await.unwrap(), None);
    let resumed = soon("Codex says no", live.adapter.resume_session(elsewhere, native.clone())).await.map(|_| ());
    assert!(matches!(resumed, Err(AdapterError::UnknownSession(_))), "{resumed:?}");
    assert_eq!(live.left(), [""; 0].map(PathBuf::from));
    let session = live.resume(&native).await.unwrap();
    session.close().await;
}

#[tokio::test]
async fn a_session_that_is_open_elsewhere_is_not_opened_twice() {
    let live = Live::new();
    let mut session = live.session().await;
    run(&mut session, "SCRIPT:text", Say::Yes).await;
    let second = live.resume(&session.native_id().unwrap()).await.map(|_| ());
    let Err(AdapterError::Runtime { message, .. }) = second else { panic!("{second:?}") };
    assert!(message.contains("active writer"), "{message}");
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
}

#[tokio::test]
async fn a_codex_that_is_missing_is_said_to_be_missing() {
    let live = Live::with("no-such-codex".into());
    let Availability::Missing { reason } = live.adapter.availability(&live.env()).await else { panic!() };
    assert!(reason.contains("no-such-codex") && reason.contains("install"), "{reason}");
    let opened = live.adapter.create_session(live.open()).await.map(|_| ());
    assert!(matches!(opened, Err(AdapterError::Spawn(_))), "{opened:?}");
    assert_eq!(live.left(), [""; 0].map(PathBuf::from));
}

#[tokio::test]
async fn a_codex_that_is_killed_fails_its_task_leaves_no_command_and_is_resumed() {
    let live = Live::new();
    let mut session = live.session().await;
    run(&mut session, "SCRIPT:text", Say::Yes).await;
    let native = session.native_id().unwrap();
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:sleep").await;
    let call = task.asks().await;
    task.say(&call, Say::Yes).await;
    live.signal(Signal::KILL).await;
    let TaskEnd::Failed(error) = task.end(Say::Yes).await else { panic!("{:#?}", task.seen) };
    assert_eq!((error.code, error.retryable), (FailureCode::RuntimeExited, true), "{error:?}");
    soon("it is gone", session.exited()).await;
    session.close().await;
    assert_eq!(live.left(), [""; 0].map(PathBuf::from));
    let mut session = live.resume(&native).await.unwrap();
    let (_, task) = run(&mut session, "SCRIPT:recall", Say::Yes).await;
    assert!(task.text().contains("SCRIPT:text"), "{}", task.text());
    session.close().await;
}

#[tokio::test]
async fn a_codex_that_hangs_is_ended_all_the_same() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:slow").await;
    task.until(|fact| matches!(fact, Fact::Delta(_)).then_some(())).await;
    live.signal(Signal::STOP).await;
    soon("it is ended", session.close()).await;
    assert_eq!(live.left(), [""; 0].map(PathBuf::from));
}

#[tokio::test]
async fn a_flood_arrives_whole() {
    let live = Live::new();
    assert_flood_arrives(live.session().await).await;
}

#[tokio::test]
async fn a_missing_login_fails_the_task_and_says_so() {
    let live = Live::new();
    let mut open = live.open();
    open.env.env.remove("SCRIPTED_KEY");
    let mut session = soon("Codex starts", live.adapter.create_session(open)).await.unwrap();
    let (end, task) = run(&mut session, "SCRIPT:text", Say::Yes).await;
    let TaskEnd::Failed(error) = end else { panic!("{:#?}", task.seen) };
    assert_eq!(error.code, FailureCode::AuthError, "{error:?}");
    assert!(error.message.contains("SCRIPTED_KEY"), "{error:?}");
    session.close().await;
}

#[tokio::test]
async fn a_codex_that_dies_at_its_start_says_why() {
    let live = script("echo no more room >&2; exit 7");
    let opened = live.adapter.create_session(live.open()).await.map(|_| ());
    let Err(AdapterError::Spawn(message)) = opened else { panic!("{opened:?}") };
    assert!(message.contains("exit code 7") && message.contains("no more room"), "{message}");
    assert_eq!(live.left(), [""; 0].map(PathBuf::from));
}

#[tokio::test]
async fn noise_is_shown_and_breaks_nothing() {
    let codex = Agent::Codex.program();
    let live = script(&format!("echo loading; printf '\\377\\n'; exec {} \"$@\"", codex.display()));
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:text", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    let noise = |fact: &&Fact| match fact {
        Fact::Notice(notice) => notice.source == NoticeSource::Stdout && notice.message == "loading",
        _ => false,
    };
    assert_eq!(task.facts().filter(noise).count(), 1, "{:#?}", task.seen);
    session.close().await;
}

#[tokio::test]
async fn a_codex_that_was_brought_up_to_date_is_used_at_once() {
    let live = script("echo codex-cli 0.44.0");
    let version = async || match live.adapter.availability(&live.env()).await {
        Availability::Installed { version } => version,
        Availability::Missing { reason } => panic!("{reason}"),
    };
    assert_eq!(version().await.as_deref(), Some("0.44.0"));
    assert!(!live.adapter.capabilities().supports_streaming, "it runs by `codex exec`");
    let program = live.sandbox.home().join("codex");
    std::fs::remove_file(&program).unwrap();
    std::os::unix::fs::symlink(Agent::Codex.program(), program).unwrap();
    assert_eq!(version().await, Some(Agent::Codex.version()));
    assert!(live.adapter.capabilities().supports_streaming);
}

/// A Codex that is a shell script.
fn script(text: &str) -> Live {
    let live = Live::with("placeholder".into());
    let program = live.sandbox.home().join("codex");
    std::fs::write(&program, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    live.with_program(program)
}
