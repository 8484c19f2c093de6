//! A message for the task that runs.

use roost_engine::{Accepted, Delivery, Error, Prompt};
use roost_model::approval::Answerer;
use roost_model::content::TranscriptMessage;
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use testkit::Harness;
use testkit::fake::EngineMessage;

fn steering(text: &str) -> Prompt {
    Prompt { delivery: Delivery::Steer, ..Prompt::text(text) }
}

async fn steer(host: &Harness, session: &SessionId, prompt: Prompt) -> Accepted {
    host.engine.prompt(session.as_str(), prompt).await.unwrap()
}

#[tokio::test]
async fn a_running_task_gets_the_message_and_the_record_says_who_sent_it() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (_runtime, mut agent) = host.runtimes().task().await;
    let by = Answerer { client_id: Some("phone".into()), ..Answerer::default() };
    let accepted = steer(&host, &session, Prompt { by, ..steering("only the tests") }).await;
    assert_eq!(accepted, Accepted::Steered(task.clone()));
    assert_eq!(agent.messages_so_far(), [EngineMessage::Steer(TranscriptMessage::user("only the tests"))]);
    let is_steered = |event: &NormalizedEvent| matches!(event.body, EventBody::TaskSteered(_));
    let event = host.wait_until(&session, "it is recorded", is_steered).await;
    assert_eq!((event.trace.task_id, event.trace.client_id), (Some(task), Some("phone".into())));
    assert_eq!(host.record(&session).await.messages, 2);
    host.stop().await;
}

#[tokio::test]
async fn what_cannot_reach_the_running_task_waits_for_its_end() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    host.begin(&session, "one").await;
    let (_runtime, mut agent) = host.runtimes().task().await;
    for prompt in [
        steering("/compact"),
        Prompt { mode: Some(Mode::Plan), ..steering("plan it") },
        Prompt { model: Some("another".into()), ..steering("think more") },
    ] {
        let text = prompt.message.text();
        assert!(matches!(steer(&host, &session, prompt).await, Accepted::Queued(_)), "{text}");
    }
    assert_eq!(agent.messages_so_far(), [EngineMessage::PromptWaiting]);
    host.stop().await;
}

#[tokio::test]
async fn a_message_for_an_idle_session_starts_a_task() {
    let host = Harness::start().await;
    let session = host.session().await;
    assert!(matches!(steer(&host, &session, steering("begin")).await, Accepted::Started(_)));
    host.stop().await;
}

#[tokio::test]
async fn whoever_may_not_use_yolo_cannot_steer_a_task_that_asks_nobody() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let yolo = Prompt { mode: Some(Mode::Yolo), ..Prompt::text("one") };
    assert!(matches!(steer(&host, &session, yolo).await, Accepted::Started(_)));
    let (_runtime, mut agent) = host.runtimes().task().await;
    let sent = Prompt { never_yolo: true, ..steering("delete it all") };
    let refused = host.engine.prompt(session.as_str(), sent.clone()).await;
    assert!(matches!(refused, Err(Error::Yolo(_))), "{refused:?}");
    let other_mode = Prompt { mode: Some(Mode::Ask), ..sent };
    assert!(matches!(steer(&host, &session, other_mode).await, Accepted::Queued(_)));
    assert_eq!(agent.messages_so_far(), [EngineMessage::PromptWaiting]);
    host.stop().await;
}
