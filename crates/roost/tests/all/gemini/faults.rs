//! What can go wrong with Gemini, and how it ends.

use roost_engine::adapter::{AdapterError, Availability, Fact, RuntimeAdapter, TaskEnd};
use roost_model::failure::{FailureCode, TaskError};
use roost_model::payload::NoticeSource;
use rustix::process::{Signal, kill_process};
use testkit::agents::Agent;
use testkit::soon;

use super::Live;
use crate::codex::live::{Say, WatchedTask, assert_flood_arrives, completed, run};

#[tokio::test]
async fn errors_of_the_provider_fail_the_task_and_the_session_goes_on() {
    use FailureCode::{AuthError, RuntimeError};
    let live = Live::new();
    let mut session = live.session().await;
    let cases = [
        ("err400", RuntimeError, false),
        ("err401", AuthError, false),
        ("err429", RuntimeError, true),
        ("err500", RuntimeError, true),
        ("errstream", RuntimeError, true),
        ("cut", RuntimeError, true),
    ];
    for (script, code, retryable) in cases {
        let (end, _) = run(&mut session, &format!("SCRIPT:{script}"), Say::Yes).await;
        let TaskEnd::Failed(error) = end else { panic!("{script}: {end:?}") };
        assert_eq!((error.code, error.retryable), (code, retryable), "{script}: {error:?}");
    }
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
}

#[tokio::test]
async fn a_command_of_its_own_needs_no_model() {
    let live = Live::new();
    let mut session = live.session().await;
    let (end, _) = run(&mut session, "/memory list", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    session.close().await;
}

#[tokio::test]
async fn a_gemini_that_is_missing_is_said_to_be_missing() {
    let live = Live::with("no-such-gemini".into());
    let Availability::Missing { reason } = live.adapter.availability(&live.env()).await else { panic!() };
    assert!(reason.contains("no-such-gemini") && reason.contains("install"), "{reason}");
    let opened = live.adapter.create_session(live.open()).await.map(|_| ());
    assert!(matches!(opened, Err(AdapterError::Spawn(_))), "{opened:?}");
    live.is_empty();
}

#[tokio::test]
async fn a_gemini_that_is_too_old_is_not_used_and_says_what_to_do() {
    let (gemini, version) = (Agent::Gemini.program(), Agent::Gemini.version());
    let live = Live::script(&format!("{} \"$@\" | sed -u 's/{version}/0.20.1/'", gemini.display()));
    let Availability::Missing { reason } = live.adapter.availability(&live.env()).await else { panic!() };
    assert!(reason.contains("0.20.1 is too old") && reason.contains("npm install"), "{reason}");
    let opened = soon("it is refused", live.adapter.create_session(live.open())).await.map(|_| ());
    let Err(AdapterError::Spawn(message)) = opened else { panic!("{opened:?}") };
    assert_eq!(message, reason);
}

#[tokio::test]
async fn a_gemini_that_was_brought_up_to_date_is_used_at_once() {
    let live = Live::script("echo 0.20.1");
    assert!(matches!(live.adapter.availability(&live.env()).await, Availability::Missing { .. }));
    let program = live.sandbox.home().join("gemini");
    std::fs::remove_file(&program).unwrap();
    std::os::unix::fs::symlink(Agent::Gemini.program(), program).unwrap();
    let Availability::Installed { version } = live.adapter.availability(&live.env()).await else { panic!() };
    assert_eq!(version, Some(Agent::Gemini.version()));
}

#[tokio::test]
async fn a_missing_login_says_how_to_log_in() {
    let live = Live::new();
    let mut open = live.open();
    // Without a gateway too: it needs no key.
    open.env.env.retain(|name, _| !["GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"].contains(&name.as_str()));
    assert!(!live.adapter.auth_status(&open.env).await.logged_in);
    let how = live.adapter.ensure_login(&open.env).await.unwrap();
    let opened = soon("it is refused", live.adapter.create_session(open)).await.map(|_| ());
    let failure = TaskError::from(opened.unwrap_err());
    assert_eq!(failure.code, FailureCode::AuthError, "{failure:?}");
    assert!(failure.message.contains(&how), "{failure:?}");
}

#[tokio::test]
async fn a_gemini_that_dies_at_its_start_says_why() {
    let live = Live::script("echo no more room >&2; exit 7");
    let opened = soon("it fails", live.adapter.create_session(live.open())).await.map(|_| ());
    let Err(AdapterError::Exited { message, stderr_tail }) = opened else { panic!("{opened:?}") };
    assert!(message.contains("exited with code 7"), "{message}");
    assert!(stderr_tail.is_some_and(|tail| tail.contains("no more room")));
}

#[tokio::test]
async fn a_gemini_that_is_killed_fails_its_task_leaves_no_command_and_is_resumed() {
    let live = Live::new();
    let mut session = live.session().await;
    run(&mut session, "SCRIPT:text", Say::Yes).await;
    let native = session.native_id().unwrap();
    let mut task = WatchedTask::begin(&mut session, "SCRIPT:sleep").await;
    let call = task.asks().await;
    task.say(&call, Say::Yes).await;
    live.until_runs("sleep 60", true).await;
    kill_process(live.pid().await, Signal::KILL).unwrap();
    let TaskEnd::Failed(error) = task.end(Say::Yes).await else { panic!("{:#?}", task.seen) };
    assert_eq!((error.code, error.retryable), (FailureCode::RuntimeExited, true), "{error:?}");
    soon("it is gone", session.exited()).await;
    session.close().await;
    live.is_empty();
    let mut session = live.resume(&native).await.unwrap();
    let (_, task) = run(&mut session, "SCRIPT:recall", Say::Yes).await;
    assert!(task.text().contains("SCRIPT:text"), "{}", task.text());
    session.close().await;
}

#[tokio::test]
async fn a_flood_arrives_whole() {
    let live = Live::new();
    assert_flood_arrives(live.session().await).await;
}

#[tokio::test]
async fn noise_is_shown_and_breaks_nothing() {
    let gemini = Agent::Gemini.program();
    let unknown = r#"{"jsonrpc":"2.0","method":"brand/new","params":{"a":1}}"#;
    let live = Live::script(&format!("{} \"$@\" | sed -u 's|^|a banner\\n{unknown}\\n|'", gemini.display()));
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:text", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    let noise = |fact: &Fact| match fact {
        Fact::Notice(notice) => notice.source == NoticeSource::Stdout && notice.message == "a banner",
        _ => false,
    };
    assert!(task.facts().any(noise), "{:#?}", task.seen);
    assert!(task.seen.iter().any(|draft| draft.raw.as_ref().is_some_and(|raw| raw["a"] == 1)), "{:#?}", task.seen);
    session.close().await;
}
