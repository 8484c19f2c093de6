//! A runtime that says one thing and asks for another: a decision is about exactly one input.

use roost_engine::adapter::Fact;
use roost_engine::{Decision, Error, Response, ResponseTo};
use roost_model::approval::{ApprovalEnd, ApprovalScope};
use roost_model::canonical;
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::failure::FailureCode;
use roost_model::payload::{ApprovalRequestedPayload, ToolCallRequestedPayload, ToolKind};
use roost_model::tool::PolicyResult;
use serde_json::json;
use testkit::Harness;
use testkit::facts::{completed, delta, request, started};
use testkit::fake::EngineMessage;

use crate::watched::*;

/// The call `a` as a command of this attempt, as its adapter counts.
fn command(attempt: u32, line: &str) -> ToolCallRequestedPayload {
    let kind = Some(ToolKind::Execute);
    ToolCallRequestedPayload { kind, ..request("execute", "a", attempt, json!({ "command": line })) }
}

/// Waits until a person is asked about this attempt at the call.
async fn asked_about(host: &Harness, it: &WatchedSession, attempt: u32) -> ApprovalRequestedPayload {
    let is_it = |event: &NormalizedEvent| matches!(&event.body, EventBody::ApprovalRequested(asked) if asked.identity.attempt == attempt);
    let event = host.wait_until(&it.session, "a person is asked", is_it).await;
    let EventBody::ApprovalRequested(asked) = event.body else { panic!("{event:?}") };
    asked
}

/// The attempts with their commands, and what was decided about each.
async fn story(host: &Harness, it: &WatchedSession) -> Vec<(u32, String, &'static str)> {
    let (mut story, events) = (Vec::new(), host.events(&it.session).await);
    for event in &events {
        let (attempt, what) = match &event.body {
            EventBody::ToolCallRequested(call) => {
                assert_eq!(call.identity.input_hash, canonical::hash(&call.input));
                story.push((call.identity.attempt, call.input["command"].as_str().unwrap().to_owned(), "undecided"));
                continue;
            }
            EventBody::ToolCallApproved(call) => (call.identity.attempt, "approved"),
            EventBody::ToolCallDenied(call) => (call.identity.attempt, "denied"),
            _ => continue,
        };
        story.iter_mut().find(|(known, ..)| *known == attempt).unwrap().2 = what;
    }
    story
}

fn answer_to(attempt: u32, decision: Decision) -> Response {
    let to = ResponseTo::Approval { call: "a".into(), attempt: Some(attempt), input_hash: None, decision };
    Response { to, by: by("me"), key: None }
}

#[tokio::test]
async fn what_is_asked_about_is_judged_and_not_what_was_announced() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    it.agent.say_all([Fact::ToolRequested(command(1, "ls")), Fact::ToolAsks(command(1, "rm -rf /"))]).await;
    let asked = asked_about(&host, &it, 2).await;
    assert_eq!(asked.input, json!({ "command": "rm -rf /" }));
    let expected = [(1, "ls".to_owned(), "denied"), (2, "rm -rf /".to_owned(), "undecided")];
    assert_eq!(story(&host, &it).await, expected);
    assert_eq!(it.agent.messages_so_far(), []);
    host.stop().await;
}

#[tokio::test]
async fn what_was_announced_can_only_make_the_judgement_stricter() {
    let mut host = Harness::start().await;
    let it = watched_session(&mut host).await;
    it.agent.say_all([Fact::ToolRequested(command(1, "rm -rf /")), Fact::ToolAsks(command(1, "ls"))]).await;
    let asked = asked_about(&host, &it, 2).await;
    assert_eq!((asked.input, asked.offer), (json!({ "command": "ls" }), None));
    let words = host.events(&it.session).await.into_iter().filter_map(|event| match event.body {
        EventBody::ToolCallPolicyEvaluated(word) if word.identity.attempt == 2 => Some(word.result),
        _ => None,
    });
    assert_eq!(words.collect::<Vec<_>>(), [PolicyResult::Allow, PolicyResult::Ask]);
    host.stop().await;
}

#[tokio::test]
async fn an_input_that_is_filled_in_before_the_question_is_judged_as_it_is_asked_about() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    let empty = ToolCallRequestedPayload { input: json!({}), ..command(1, "") };
    it.agent.say_all([Fact::ToolRequested(empty), Fact::ToolAsks(command(1, "ls"))]).await;
    assert_eq!(it.agent.next_message().await, EngineMessage::Approved("a".into()));
    assert_eq!(requests(&host, &it.session).await, []);
    host.stop().await;
}

#[tokio::test]
async fn a_call_that_changes_after_it_was_allowed_is_asked_about_and_may_not_go_on() {
    for allowed_by_a_person in [false, true] {
        let mut host = Harness::start().await;
        let mut it = watched_session(&mut host).await;
        let first = if allowed_by_a_person { "make" } else { "ls" };
        it.agent.say(Fact::ToolAsks(command(1, first))).await;
        if allowed_by_a_person {
            asked_about(&host, &it, 1).await;
            respond(&host, &it.session, answer_to(1, ALLOW)).await.unwrap();
        }
        assert_eq!(it.agent.next_message().await, EngineMessage::Approved("a".into()));
        it.agent.say_all([started("a"), Fact::ToolRequested(command(2, "rm -rf /"))]).await;
        assert_eq!(asked_about(&host, &it, 2).await.input, json!({ "command": "rm -rf /" }));
        it.agent.say(completed("a")).await;
        let end = host.wait_for_end(&it.session, &it.task).await;
        let EventBody::TaskFailed(failed) = end.body else { panic!("{end:?}") };
        assert_eq!(failed.error.code, FailureCode::PolicyViolation);
        let expected = [(1, first.to_owned(), "approved"), (2, "rm -rf /".to_owned(), "denied")];
        assert_eq!(story(&host, &it).await, expected);
        assert!(it.runtime.gone().await);
        host.stop().await;
    }
}

#[tokio::test]
async fn a_change_that_a_person_allows_goes_on() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    it.agent.say(Fact::ToolAsks(command(1, "ls"))).await;
    assert_eq!(it.agent.next_message().await, EngineMessage::Approved("a".into()));
    it.agent.say_all([started("a"), Fact::ToolRequested(command(2, "make"))]).await;
    asked_about(&host, &it, 2).await;
    respond(&host, &it.session, answer_to(2, ALLOW)).await.unwrap();
    it.agent.say(completed("a")).await;
    it.agent.finish().await;
    let end = host.wait_for_end(&it.session, &it.task).await;
    assert!(matches!(end.body, EventBody::TaskCompleted(_)), "{end:?}");
    assert_eq!(it.agent.messages_so_far(), [], "it did not ask about the change, so it is told nothing");
    host.stop().await;
}

#[tokio::test]
async fn one_yes_is_for_one_question_also_if_the_next_one_is_the_same() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    for attempt in [1, 2] {
        it.agent.say(Fact::ToolAsks(command(attempt, "make"))).await;
        asked_about(&host, &it, attempt).await;
        assert_eq!(it.agent.messages_so_far(), []);
        respond(&host, &it.session, answer_to(attempt, ALLOW)).await.unwrap();
        assert_eq!(it.agent.next_message().await, EngineMessage::Approved("a".into()));
    }
    host.stop().await;
}

#[tokio::test]
async fn an_answer_to_what_a_person_saw_is_no_answer_to_what_took_its_place() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    it.agent.say(Fact::ToolAsks(command(1, "make"))).await;
    asked_about(&host, &it, 1).await;
    it.agent.say(Fact::ToolAsks(command(2, "rm -rf /"))).await;
    asked_about(&host, &it, 2).await;
    let late = respond(&host, &it.session, answer_to(1, ALLOW)).await;
    assert!(matches!(late, Err(Error::AttemptMismatch(_))), "{late:?}");
    assert_eq!(resolved(&host, &it.session).await[0].end, ApprovalEnd::Withdrawn);
    let no = Decision::Deny { scope: ApprovalScope::Once, reason: Some("no".into()) };
    respond(&host, &it.session, answer_to(2, no)).await.unwrap();
    assert_eq!(it.agent.messages_so_far(), [EngineMessage::Denied("a".into(), "no".into())]);
    host.stop().await;
}

#[tokio::test]
async fn a_question_is_not_answered_as_the_harmless_thing_that_its_call_becomes() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    it.agent.say(Fact::ToolAsks(command(1, "rm -rf /"))).await;
    asked_about(&host, &it, 1).await;
    it.agent.say(Fact::ToolRequested(command(2, "ls"))).await;
    assert!(
        matches!(it.agent.next_message().await, EngineMessage::Denied(..)),
        "its question was about something else"
    );
    it.agent.say_all([delta("x")]).await;
    host.wait_until(&it.session, "it was heard", |event| matches!(event.body, EventBody::ModelOutputDelta(_))).await;
    assert_eq!(it.agent.messages_so_far(), []);
    assert_eq!(resolved(&host, &it.session).await[0].end, ApprovalEnd::Withdrawn);
    host.stop().await;
}

#[tokio::test]
async fn a_question_whose_call_is_filled_in_while_it_waits_is_answered_as_the_whole() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    let blind = ToolCallRequestedPayload { kind: None, input: json!({}), ..command(1, "") };
    it.agent.say(Fact::ToolAsks(blind)).await;
    asked_about(&host, &it, 1).await;
    it.agent.say(Fact::ToolRequested(command(2, "make"))).await;
    assert_eq!(asked_about(&host, &it, 2).await.input, json!({ "command": "make" }));
    respond(&host, &it.session, answer_to(2, ALLOW)).await.unwrap();
    assert_eq!(it.agent.messages_so_far(), [EngineMessage::Approved("a".into())]);
    host.stop().await;
}

#[tokio::test]
async fn a_call_that_ran_unasked_and_turns_out_to_have_been_something_else_is_recorded_again() {
    let mut host = Harness::start().await;
    let it = watched_session(&mut host).await;
    let other = Fact::ToolRequested(command(2, "rm -rf /"));
    it.agent.say_all([Fact::ToolRequested(command(1, "ls")), completed("a"), other, completed("a")]).await;
    it.agent.finish().await;
    host.wait_for_end(&it.session, &it.task).await;
    let expected = [(1, "ls".to_owned(), "approved"), (2, "rm -rf /".to_owned(), "approved")];
    assert_eq!(story(&host, &it).await, expected);
    assert_eq!(requests(&host, &it.session).await, [], "nobody can be asked about what is done");
    host.stop().await;
}

#[tokio::test]
async fn a_name_or_a_kind_that_changes_is_another_attempt_and_a_title_is_not() {
    let read = || ToolCallRequestedPayload { kind: Some(ToolKind::Read), name: "look".into(), ..command(1, "ls") };
    let cases = [
        (ToolCallRequestedPayload { name: "other".into(), ..read() }, 2),
        (ToolCallRequestedPayload { kind: Some(ToolKind::Delete), ..read() }, 2),
        (ToolCallRequestedPayload { title: Some("another title".into()), ..read() }, 1),
    ];
    for (change, attempts) in cases {
        let mut host = Harness::start().await;
        let mut it = watched_session(&mut host).await;
        it.agent.say(Fact::ToolAsks(read())).await;
        assert_eq!(it.agent.next_message().await, EngineMessage::Approved("a".into()));
        it.agent.say_all([Fact::ToolRequested(change.clone()), delta("x")]).await;
        host.wait_until(&it.session, "it was heard", |event| matches!(event.body, EventBody::ModelOutputDelta(_)))
            .await;
        assert_eq!(story(&host, &it).await.len(), attempts, "{change:?}");
        host.stop().await;
    }
}

#[tokio::test]
async fn a_hash_that_an_adapter_makes_up_is_not_believed() {
    let mut host = Harness::start().await;
    let mut it = watched_session(&mut host).await;
    let mut lie = command(1, "rm -rf /");
    it.agent.say(Fact::ToolAsks(command(1, "ls"))).await;
    assert_eq!(it.agent.next_message().await, EngineMessage::Approved("a".into()));
    lie.identity.input_hash = command(1, "ls").identity.input_hash;
    it.agent.say(Fact::ToolRequested(lie)).await;
    asked_about(&host, &it, 2).await;
    host.stop().await;
}
