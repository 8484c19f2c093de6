//! Questions of an agent to its user.

use std::time::Duration;

use roost_engine::adapter::{Answer, Fact};
use roost_engine::{Error, Response, ResponseTo};
use roost_model::event::{EventBody, NormalizedEventType as Type};
use roost_model::ids::SessionId;
use roost_model::payload::{QuestionOutcome, QuestionResolvedPayload};
use testkit::facts::question;
use testkit::fake::EngineMessage;
use testkit::{Harness, Home};

use crate::watched::*;

fn reply(answer: Answer, who: &str) -> Response {
    Response { to: ResponseTo::Question { question: "q".into(), answer }, by: by(who), key: None }
}

async fn outcome(host: &Harness, session: &SessionId) -> QuestionResolvedPayload {
    let event = host.wait_for(session, Type::QuestionResolved).await;
    assert_eq!(count(host, session, "question.resolved").await, 1);
    assert_eq!(pending(host).await, []);
    let EventBody::QuestionResolved(resolved) = event.body else { panic!() };
    resolved
}

async fn questioned(host: &mut Harness) -> WatchedSession {
    let watched = watched_session(host).await;
    watched.agent.say(question("q")).await;
    host.wait_for(&watched.session, Type::QuestionAsked).await;
    watched
}

#[tokio::test]
async fn the_first_answer_to_a_question_counts() {
    let mut host = Harness::start().await;
    let mut it = questioned(&mut host).await;
    assert_eq!(pending(&host).await.iter().map(|row| row.id()).collect::<Vec<_>>(), ["q"]);
    let given = Answer::Given([("bird".to_owned(), vec!["owl".to_owned()])].into());
    respond(&host, &it.session, reply(given.clone(), "first")).await.unwrap();
    let late = respond(&host, &it.session, reply(Answer::Declined, "second")).await;
    assert!(matches!(late, Err(Error::AlreadyAnswered { by: winner, .. }) if winner == by("first")));
    assert_eq!(it.agent.next_message().await, EngineMessage::Answer("q".into(), given));
    let resolved = outcome(&host, &it.session).await;
    assert_eq!((resolved.outcome, resolved.answered_by), (QuestionOutcome::Answered, Some(by("first"))));
    host.stop().await;
}

#[tokio::test]
async fn a_question_that_nobody_answers_in_time_is_declined() {
    let short = Some(Duration::from_millis(20));
    let mut host = Home::new().start_with(|config| config.approval_timeout = short).await;
    let mut it = questioned(&mut host).await;
    assert_eq!(it.agent.next_message().await, EngineMessage::Answer("q".into(), Answer::Declined));
    assert_eq!(outcome(&host, &it.session).await.outcome, QuestionOutcome::Declined);
    host.stop().await;
}

#[tokio::test]
async fn a_question_that_the_agent_takes_back_waits_no_longer() {
    let mut host = Harness::start().await;
    let it = questioned(&mut host).await;
    it.agent.say(Fact::QuestionWithdrawn("q".into())).await;
    assert_eq!(outcome(&host, &it.session).await.outcome, QuestionOutcome::Cancelled);
    let late = respond(&host, &it.session, reply(Answer::Declined, "me")).await;
    assert!(matches!(late, Err(Error::NotPending(_))));
    host.stop().await;
}
