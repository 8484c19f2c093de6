//! Going on with a session whose runtime is gone.

use std::time::Duration;

use roost_engine::adapter::AdapterError;
use roost_engine::{Accepted, Error, NewSession, Prompt};
use roost_log::{Log, Retention, RowKind};
use roost_model::content::{TranscriptContentBlock as Block, TranscriptMessage, TranscriptRole as Role};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::failure::FailureCode;
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::registry::RuntimeStatus;
use roost_model::runtime::{CreateSessionInput, IsolationLevel, ResumeModel};
use roost_model::time::Timestamp;
use testkit::facts::{asks, completed, output, requested, started};
use testkit::fake::How;
use testkit::{Harness, Home};

/// A closed session in which a tool ran.
async fn closed(host: &mut Harness) -> SessionId {
    let session = host.session_in(Mode::Yolo).await;
    let task = host.begin(&session, "one").await;
    let (_runtime, mut agent) = host.runtimes().task().await;
    agent.say_all([requested("a"), asks("a")]).await;
    agent.next_message().await;
    agent.say_all([started("a"), completed("a"), output("done")]).await;
    agent.finish().await;
    host.wait_for_end(&session, &task).await;
    host.engine.close(session.as_str(), "the test says so").await.unwrap();
    session
}

fn shape(history: &[TranscriptMessage]) -> Vec<(Role, &'static str)> {
    let kind = |message: &TranscriptMessage| match &message.content[0] {
        Block::Text { .. } => "text",
        Block::ToolUse { .. } => "tool_use",
        Block::ToolResult { .. } => "tool_result",
        _ => "other",
    };
    history.iter().map(|message| (message.role, kind(message))).collect()
}

const TRANSCRIPT: [(Role, &str); 4] =
    [(Role::User, "text"), (Role::Assistant, "tool_use"), (Role::Tool, "tool_result"), (Role::Assistant, "text")];

#[tokio::test]
async fn a_runtime_that_knows_the_session_resumes_it_by_its_own_id() {
    let mut host = Harness::start().await;
    let session = closed(&mut host).await;
    host.begin(&session, "two").await;
    let opening = host.runtimes().opening().await;
    match &opening.how {
        How::Resume(open, native) => {
            assert_eq!((&open.session_id, native.as_str()), (&session, format!("native-{session}").as_str()));
        }
        other => panic!("{other:?}"),
    }
    let agent = opening.accept().task().await;
    assert_eq!((agent.input().history.len(), agent.prompt().as_str()), (0, "two"));
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_has_forgotten_the_session_gets_its_transcript() {
    let mut host = Harness::start().await;
    let session = closed(&mut host).await;
    host.begin(&session, "two").await;
    let opening = host.runtimes().opening().await;
    let How::Resume(_, native) = opening.how.clone() else { panic!() };
    opening.refuse(AdapterError::UnknownSession(native));
    let opening = host.runtimes().opening().await;
    assert!(matches!(opening.how, How::Create(_)));
    let mut runtime = opening.accept_as("new-native");
    let agent = runtime.task().await;
    assert_eq!(shape(&agent.input().history), TRANSCRIPT);
    assert_eq!(agent.prompt(), "two");
    agent.finish().await;
    host.wait_for_end(&session, &agent.input().task_id).await;
    assert_eq!(host.record(&session).await.runtime_session_id, Some("new-native".into()));
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_cannot_resume_gets_the_transcript_and_runs_no_tool_again() {
    let mut host = Home::with(ResumeModel::Reconstruct).start().await;
    let session = closed(&mut host).await;
    host.begin(&session, "two").await;
    let opening = host.runtimes().opening().await;
    assert!(matches!(opening.how, How::Create(_)));
    let mut agent = opening.accept().task().await;
    assert_eq!(shape(&agent.input().history), TRANSCRIPT);
    agent.finish().await;
    host.wait_for_end(&session, &agent.input().task_id).await;
    let started = host.types(&session).await.into_iter().filter(|name| name == "tool.call.started");
    assert_eq!(started.count(), 1);
    host.stop().await;
    assert_eq!(agent.messages_until_gone().await, []);
}

#[tokio::test]
async fn of_a_long_conversation_the_latest_that_fits_is_told_and_a_prompt_that_does_not_fit_is_refused() {
    let mut host = Home::with(ResumeModel::Reconstruct).start_with(|config| config.max_context_chars = Some(8)).await;
    let session = closed(&mut host).await;
    host.begin(&session, "two").await;
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(shape(&agent.input().history), TRANSCRIPT[3..]);
    assert_eq!(agent.input().context_window.omitted_indices, Some(vec![0, 1, 2]));
    agent.finish().await;
    host.wait_for_end(&session, &agent.input().task_id).await;
    let long = host.begin(&session, "far too long").await;
    let end = host.wait_for_end(&session, &long).await;
    let EventBody::TaskFailed(failed) = end.body else { panic!("{end:?}") };
    assert_eq!(failed.error.code, FailureCode::ContextTooLarge);
    host.stop().await;
}

#[tokio::test]
async fn a_session_is_found_by_its_native_id_too() {
    let mut host = Harness::start().await;
    let session = closed(&mut host).await;
    host.begin(&format!("native-{session}").as_str().into(), "two").await;
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!(agent.prompt(), "two");
    host.stop().await;
}

#[tokio::test]
async fn a_disabled_runtime_is_refused_even_for_a_session_that_exists() {
    let mut host = Harness::start().await;
    let session = closed(&mut host).await;
    let mut home = host.stop().await;
    home.status = RuntimeStatus::Disabled;
    let host = home.start().await;
    let refused = host.prompt(&session, "two").await;
    assert!(matches!(refused, Err(Error::RuntimeDisabled(_))), "{refused:?}");
    let refused = host.engine.create_session(host.new_session(Mode::Ask)).await;
    assert!(matches!(refused, Err(Error::RuntimeDisabled(_))), "{refused:?}");
    host.stop().await;
}

#[tokio::test]
async fn a_session_whose_beginning_was_removed_goes_on_with_the_rest() {
    let mut host = Home::with(ResumeModel::Reconstruct).start().await;
    let session = closed(&mut host).await;
    let everything = Retention { max_age: Duration::ZERO, max_bytes: u64::MAX };
    let removed =
        host.log.retain(everything, Timestamp::from_millis(Timestamp::now().as_millis() + 1000)).await.unwrap();
    assert!(removed.blocks > 0, "{removed:?}");
    host.begin(&session, "two").await;
    let (_runtime, agent) = host.runtimes().task().await;
    assert_eq!((agent.input().history.len(), agent.prompt().as_str()), (0, "two"));
    host.stop().await;
}

#[tokio::test]
async fn a_session_that_goes_on_has_the_configuration_and_workspace_that_it_was_made_with() {
    let mut host = Harness::start().await;
    let config = serde_json::json!({ "sandbox": { "strict": true } }).as_object().cloned();
    let mut new = host.new_session(Mode::Ask);
    new.input.runtime_config = config.clone();
    new.workspace_id = Some("w1".into());
    let session = host.engine.create_session(new).await.unwrap();
    let task = host.begin(&session, "one").await;
    let (_runtime, agent) = host.runtimes().task().await;
    agent.finish().await;
    host.wait_for_end(&session, &task).await;
    let mut host = host.stop().await.start().await;
    host.begin(&session, "two").await;
    let opening = host.runtimes().opening().await;
    let How::Resume(open, _) = &opening.how else { panic!("{:?}", opening.how) };
    assert_eq!(open.input.runtime_config, config);
    assert_eq!(host.record(&session).await.workspace_id, Some("w1".into()));
    drop(opening);
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_cannot_change_its_model_is_started_anew_with_it() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (mut runtime, agent) = host.runtimes().task().await;
    agent.finish().await;
    host.wait_for_end(&session, &task).await;
    let other = Prompt { model: Some("bigger".into()), ..Prompt::text("two") };
    host.engine.prompt(session.as_str(), other).await.unwrap();
    assert!(runtime.gone().await);
    let opening = host.runtimes().opening().await;
    let How::Resume(open, _) = &opening.how else { panic!("{:?}", opening.how) };
    assert_eq!(open.input.model.as_deref(), Some("bigger"));
    let mut runtime = opening.accept();
    let agent = runtime.task().await;
    assert_eq!(agent.input().model.as_deref(), Some("bigger"));
    host.wait_until(&session, "the model is the session's", names_model("bigger")).await;
    assert_eq!(host.record(&session).await.model.as_deref(), Some("bigger"));
    host.stop().await;
}

fn names_model(model: &'static str) -> impl Fn(&NormalizedEvent) -> bool {
    move |event| matches!(&event.body, EventBody::SessionUpdated(update) if update.model.as_deref() == Some(model))
}

#[tokio::test]
async fn a_model_that_the_runtime_refuses_does_not_become_the_sessions() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let wrong = Prompt { model: Some("wrong".into()), ..Prompt::text("one") };
    let Accepted::Started(task) = host.engine.prompt(session.as_str(), wrong).await.unwrap() else { panic!() };
    let mut runtime = host.runtimes().session().await;
    runtime.refuse_task(AdapterError::Unsupported("choose a model")).await;
    host.wait_for_end(&session, &task).await;
    assert!(!host.events(&session).await.iter().any(names_model("wrong")));
    assert_eq!(host.record(&session).await.model, None);
    host.stop().await;
}

#[tokio::test]
async fn what_a_session_sets_is_there_again_after_a_restart_until_the_session_is_deleted() {
    let host = Harness::start().await;
    let env = [("TOKEN".to_owned(), "secret".into())].into();
    let config = serde_json::json!({ "api_key": "not-to-be-told" }).as_object().cloned();
    let usual = host.new_session(Mode::Ask);
    let input = CreateSessionInput { runtime_config: config.clone(), ..usual.input };
    let isolation = Some(IsolationLevel::Ephemeral);
    let session = host.engine.create_session(NewSession { env, input, isolation, ..host.new_session(Mode::Ask) }).await;
    let session = session.unwrap();
    let record = host.record(&session).await;
    assert_eq!(record.env, ["TOKEN"]);
    assert!(!format!("{record:?}{:?}", host.events(&session).await).contains("not-to-be-told"), "{record:?}");
    let mut host = host.stop().await.start().await;
    host.begin(&session, "one").await;
    let opening = host.runtimes().opening().await;
    let How::Create(open) = &opening.how else { panic!("{:?}", opening.how) };
    assert_eq!((open.env.env["TOKEN"].as_str(), &open.input.runtime_config), ("secret", &config));
    assert!(open.env.isolation.is_some());
    drop(opening);
    host.engine.hide(session.as_str()).await.unwrap();
    assert!(host.log.rows(RowKind::Session).await.unwrap().is_empty());
    host.stop().await;
}
