//! What can go wrong with Gemini, and how it ends.

use roost_engine::adapter::{AdapterError, Availability, Fact, RuntimeAdapter, TaskEnd};
use roost_proto::failure::FailureCode;
use roost_proto::ids::RuntimeSessionId;
use testkit::agents::Agent;
use testkit::soon;

use super::Live;
use crate::codex::live::{Say, Watched, completed, run};

/// How often the list of processes is looked at.
const POLL: std::time::Duration = std::time::Duration::from_millis(10);

fn stopped(end: &TaskEnd) -> bool {
    matches!(end, TaskEnd::Stopped(_))
}

#[tokio::test]
async fn an_interrupt_of_a_command_ends_the_command_too() {
    let live = Live::new();
    let mut session = live.session().await;
    let mut task = Watched::begin(&mut session, "SCRIPT:sleep").await;
    let call = task.asks().await;
    task.say(&call, Say::Yes).await;
    let sleeps = async || live.commands().await.iter().any(|command| command.contains("sleep 60"));
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
    let mut task = Watched::begin(&mut session, "SCRIPT:shell").await;
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
    for (script, retryable) in [("err400", false), ("err429", true), ("err500", true)] {
        let (end, _) = run(&mut session, &format!("SCRIPT:{script}"), Say::Yes).await;
        let TaskEnd::Failed(error) = end else { panic!("{script}: {end:?}") };
        assert_eq!((error.code, error.retryable), (FailureCode::RuntimeError, retryable), "{script}: {error:?}");
        assert!(error.raw.is_some(), "{script}: {error:?}");
    }
    assert!(completed(&run(&mut session, "SCRIPT:text", Say::Yes).await.0));
    session.close().await;
}

#[tokio::test]
async fn a_session_loaded_in_the_minute_of_its_creation_is_kept_and_its_replay_is_no_answer() {
    let live = Live::new();
    let mut session = live.session().await;
    for _ in 0..3 {
        run(&mut session, "SCRIPT:text", Say::Yes).await;
    }
    let native = session.native_id().unwrap();
    session.close().await;
    for prompts in [4, 5] {
        let mut session = live.resume(&native).await.unwrap();
        assert_eq!(session.native_id(), Some(native.clone()));
        let (end, task) = run(&mut session, "SCRIPT:recall", Say::Yes).await;
        assert!(completed(&end), "{end:?}");
        let start = format!("RECALL saw {prompts} prompt(s): SCRIPT:text");
        assert!(task.text().starts_with(&start), "{}", task.text());
        session.close().await;
    }
}

#[tokio::test]
async fn a_session_that_gemini_does_not_know_is_said_to_be_unknown() {
    let live = Live::new();
    for native in ["01a1df43-38e6-7283-ac34-000000000000", "1"] {
        let resumed = live.resume(&RuntimeSessionId::from(native)).await;
        assert!(matches!(resumed.map(|_| ()), Err(AdapterError::UnknownSession(_))), "{native}");
    }
}

#[tokio::test]
async fn a_gemini_that_is_missing_is_said_to_be_missing() {
    let live = Live::of("no-such-gemini".into());
    let Availability::Missing { reason } = live.adapter.availability(&live.env()).await else { panic!() };
    assert!(reason.contains("no-such-gemini") && reason.contains("install"), "{reason}");
    let opened = live.adapter.create_session(live.open()).await.map(|_| ());
    assert!(matches!(opened, Err(AdapterError::Spawn(_))), "{opened:?}");
}

#[tokio::test]
async fn the_pinned_version_is_told() {
    let live = Live::new();
    let Availability::Installed { version } = live.adapter.availability(&live.env()).await else { panic!() };
    assert_eq!(version, Some(Agent::Gemini.version()));
}

#[tokio::test]
async fn thoughts_are_told_apart_from_text() {
    let live = Live::new();
    let mut session = live.session().await;
    let (end, task) = run(&mut session, "SCRIPT:think", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert_eq!(task.text(), "Thought it through.");
    let settings = |path: &str| path.ends_with(".gemini/settings.json");
    let sent = task.sent.as_ref().unwrap();
    assert!(sent.implicit_sources.sources.iter().any(|source| settings(&source.path) && source.hash.is_some()));
    assert!(task.facts().any(|fact| matches!(fact, Fact::Usage(usage) if usage.output_tokens == Some(25))));
    session.close().await;
}
