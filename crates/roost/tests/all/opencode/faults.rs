//! What goes wrong: with the program, with its provider, with what it prints.

use roost_engine::adapter::{AdapterError, Availability, Fact, RuntimeAdapter, TaskEnd};
use roost_model::failure::FailureCode;
use roost_model::payload::NoticeSource;
use rustix::process::Signal;
use testkit::agents::Agent;
use testkit::soon;

use super::live::Live;
use crate::codex::live::{Say, WatchedTask, assert_flood_arrives, completed, run};

/// Each row in one session: a server takes seconds to start, and whatever fails, the session goes on.
async fn fails(rows: &[(&str, FailureCode, bool)]) {
    let live = Live::new();
    let mut session = live.session().await;
    for &(script, code, retryable) in rows {
        // OpenCode tries five times whatever it takes for a passing failure, for the better part of a minute.
        let (end, task) = run(&mut session, &format!("SCRIPT:{script}"), Say::Yes).await;
        let TaskEnd::Failed(error) = end else { panic!("{script}: {end:?}: {:#?}", task.seen) };
        assert_eq!((error.code, error.retryable), (code, retryable), "{script}: {error:?}");
        assert!(error.raw.is_some(), "{script}: {error:?}");
        assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0), "{script}");
    }
    session.close().await;
}

#[tokio::test]
async fn a_provider_that_refuses_fails_the_task_for_good_or_until_later() {
    let rows = [
        ("err400", FailureCode::RuntimeError, false),
        ("err401", FailureCode::AuthError, false),
        ("err429", FailureCode::RuntimeError, true),
    ];
    fails(&rows).await;
}

#[tokio::test]
async fn a_provider_that_is_broken_fails_the_task_for_now() {
    fails(&[("err500", FailureCode::RuntimeError, true)]).await;
}

#[tokio::test]
async fn a_provider_that_fails_in_its_answer_fails_the_task_for_now() {
    fails(&[("errstream", FailureCode::RuntimeError, true)]).await;
}

#[tokio::test]
async fn a_provider_that_hangs_up_in_its_answer_fails_the_task_for_now() {
    fails(&[("cut", FailureCode::RuntimeError, true)]).await;
}

#[tokio::test]
async fn a_missing_login_is_told_and_says_how_to_log_in() {
    let mut live = Live::new();
    live.env.insert("OPENCODE_CONFIG_CONTENT".into(), r#"{"model":"anthropic/claude-sonnet-4-5"}"#.into());
    assert!(!live.adapter.auth_status(&live.env()).await.logged_in);
    let how = live.adapter.ensure_login(&live.env()).await.unwrap();
    assert!(how.contains("auth login"), "{how}");
    let mut session = live.session().await;
    let (end, _) = run(&mut session, "SCRIPT:text", Say::Yes).await;
    let TaskEnd::Failed(error) = end else { panic!("{end:?}") };
    assert!(!error.retryable && error.message.contains("opencode auth login"), "{error:?}");
    session.close().await;
}

#[tokio::test]
async fn a_flood_arrives_whole() {
    let live = Live::new();
    assert_flood_arrives(live.session().await).await;
}

#[tokio::test]
async fn a_server_that_is_killed_fails_its_task_and_leaves_no_tool() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:sleep").await;
    let call = task.asks().await;
    task.say(&call, Say::Yes).await;
    live.until_runs("sleep 60", true).await;
    live.signal(Signal::KILL).await;
    let TaskEnd::Failed(error) = task.end(Say::Yes).await else { panic!("{:#?}", task.seen) };
    assert_eq!((error.code, error.retryable), (FailureCode::RuntimeExited, true));
    soon("it is gone", session.exited()).await;
    let native = session.native_id().unwrap();
    session.close().await;
    live.until_nothing_is_left().await;
    let mut session = live.resume(&native).await.unwrap();
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
}

#[tokio::test]
async fn a_server_that_hangs_is_ended_all_the_same() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:slow").await;
    task.until(|fact| matches!(fact, Fact::Delta(_)).then_some(())).await;
    live.signal(Signal::STOP).await;
    let native = session.native_id().unwrap();
    soon("it is ended", session.close()).await;
    live.until_nothing_is_left().await;
    let mut session = live.resume(&native).await.unwrap();
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
}

#[tokio::test]
async fn a_program_that_hangs_at_its_start_is_ended_when_nobody_waits_any_more() {
    let live = Live::script("exec sleep 600");
    tokio::select! {
        _ = live.adapter.create_session(live.open()) => panic!("it never listens"),
        () = live.until_runs("sleep 600", true) => {}
    }
    live.until_nothing_is_left().await;
}

#[tokio::test]
async fn a_version_that_is_too_old_is_not_used_and_says_what_to_do_until_it_is_brought_up_to_date() {
    let (opencode, version) = (Agent::OpenCode.program(), Agent::OpenCode.version());
    let live = Live::script(&format!("{} \"$@\" | sed -u 's/{version}/1.2.27/'", opencode.display()));
    let Availability::Missing { reason } = live.adapter.availability(&live.env()).await else { panic!() };
    assert!(reason.contains("1.2.27 is too old") && reason.contains("npm install"), "{reason}");
    let opened = soon("it is refused", live.adapter.create_session(live.open())).await.map(|_| ());
    let Err(AdapterError::Spawn(message)) = opened else { panic!("{opened:?}") };
    assert_eq!(message, reason);
    let program = live.sandbox.home().join("opencode");
    std::fs::remove_file(&program).unwrap();
    std::os::unix::fs::symlink(opencode, program).unwrap();
    let Availability::Installed { version: now } = live.adapter.availability(&live.env()).await else { panic!() };
    assert_eq!(now, Some(version));
}

#[tokio::test]
async fn an_opencode_that_is_missing_is_said_to_be_missing() {
    let live = Live::with("no-such-opencode".into());
    let Availability::Missing { reason } = live.adapter.availability(&live.env()).await else { panic!() };
    assert!(reason.contains("no-such-opencode") && reason.contains("install"), "{reason}");
    let opened = live.adapter.create_session(live.open()).await.map(|_| ());
    assert!(matches!(opened, Err(AdapterError::Spawn(_))), "{opened:?}");
}

#[tokio::test]
async fn an_opencode_that_dies_at_its_start_says_why() {
    let live = Live::script("echo no more room >&2; exit 7");
    let opened = live.adapter.create_session(live.open()).await.map(|_| ());
    let Err(AdapterError::Spawn(message)) = opened else { panic!("{opened:?}") };
    assert!(message.contains("exit code 7") && message.contains("no more room"), "{message}");
}

#[tokio::test]
async fn noise_is_shown_and_breaks_nothing() {
    let opencode = Agent::OpenCode.program();
    let live = Live::script(&format!("echo loading; printf '\\377\\n'; exec {} \"$@\"", opencode.display()));
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
