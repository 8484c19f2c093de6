//! Decisions about tools and questions.

use roost_engine::Response;
use roost_engine::adapter::Answer;
use roost_model::event::{EventBody, NormalizedEvent, NormalizedEventType as Type};
use roost_model::mode::Mode;
use roost_model::payload::QuestionOutcome;
use roost_model::tool::{PolicyDecision, ToolClass};
use testkit::Harness;
use testkit::facts::{asks, attempt, completed, failed, question, requested, started};
use testkit::fake::EngineMessage;

use crate::watched::{ALLOW, answer, pending, requests, respond, with_pending_call};

#[tokio::test]
async fn yolo_allows_a_tool() {
    let mut host = Harness::start().await;
    let session = host.session_in(Mode::Yolo).await;
    let task = host.begin(&session, "one").await;
    let (_runtime, mut agent) = host.runtimes().task().await;
    agent.say_all([requested("a"), asks("a")]).await;
    assert_eq!(agent.next_message().await, EngineMessage::Approved("a".into()));
    agent.say_all([started("a"), completed("a")]).await;
    agent.finish().await;
    host.wait_for_end(&session, &task).await;
    let types: Vec<_> = host.types(&session).await.into_iter().filter(|name| name.starts_with("tool.")).collect();
    let expected = [
        "tool.call.requested",
        "tool.call.policy_evaluated",
        "tool.call.approved",
        "tool.call.started",
        "tool.call.completed",
    ];
    assert_eq!(types, expected);
    host.stop().await;
}

#[tokio::test]
async fn a_tool_that_nobody_can_approve_is_denied_and_never_runs() {
    let mut host = Harness::start().await;
    let session = host.session_in(Mode::Ask).await;
    let task = host.begin(&session, "one").await;
    let (_runtime, mut agent) = host.runtimes().task().await;
    agent.say_all([requested("a"), asks("a")]).await;
    let reason = match agent.next_message().await {
        EngineMessage::Denied(call, reason) if call == "a".into() => reason,
        other => panic!("{other:?}"),
    };
    agent.say(failed("a")).await;
    agent.finish().await;
    host.wait_for_end(&session, &task).await;
    let types = host.types(&session).await;
    for never in ["tool.call.approved", "tool.call.started", "tool.call.completed"] {
        assert!(!types.contains(&never.to_owned()), "{types:?}");
    }
    let denied = host.wait_for(&session, Type::ToolCallDenied).await;
    let EventBody::ToolCallDenied(denied) = denied.body else { panic!() };
    assert_eq!((denied.reason, denied.policy_snapshot.decision), (reason, PolicyDecision::Deny));
    let rule = denied.policy_snapshot.sources.last().and_then(|word| word.rule.clone());
    assert_eq!(rule.as_deref(), Some("no_approver"));
    host.stop().await;
}

#[tokio::test]
async fn what_a_person_is_asked_about_says_how_much_harm_it_can_do() {
    let mut host = Harness::start().await;
    let watched = with_pending_call(&mut host).await;
    let classes: Vec<_> = requests(&host, &watched.session).await.iter().map(|asked| asked.class).collect();
    assert_eq!(classes, [Some(ToolClass::Dangerous)], "nothing is known of the fake runtime's tool");
    host.stop().await;
}

#[tokio::test]
async fn a_decision_is_in_the_log_before_the_runtime_hears_of_it() {
    for (mode, written) in [(Mode::Yolo, "tool.call.approved"), (Mode::Ask, "tool.call.denied")] {
        let mut host = Harness::start().await;
        let session = host.session_in(mode).await;
        host.begin(&session, "one").await;
        let (_runtime, mut agent) = host.runtimes().task().await;
        agent.say_all([requested("a"), asks("a")]).await;
        agent.next_message().await;
        assert_eq!(host.types(&session).await.last().unwrap(), written);
        host.stop().await;
    }
}

#[tokio::test]
async fn asking_again_about_the_same_is_a_request_with_a_decision_of_its_own() {
    let mut host = Harness::start().await;
    let session = host.session_in(Mode::Yolo).await;
    let task = host.begin(&session, "one").await;
    let (_runtime, mut agent) = host.runtimes().task().await;
    agent.say_all([requested("a"), asks("a"), asks("a")]).await;
    assert_eq!(agent.next_message().await, EngineMessage::Approved("a".into()));
    assert_eq!(agent.next_message().await, EngineMessage::Approved("a".into()));
    agent.finish().await;
    host.wait_for_end(&session, &task).await;
    let approved = host.events(&session).await.into_iter().filter_map(|event| match event.body {
        EventBody::ToolCallApproved(call) => Some(call.identity.attempt),
        _ => None,
    });
    assert_eq!(approved.collect::<Vec<_>>(), [1, 2]);
    host.stop().await;
}

#[tokio::test]
async fn a_question_that_nobody_can_answer_is_declined() {
    let mut host = Harness::start().await;
    let session = host.session().await;
    let task = host.begin(&session, "one").await;
    let (_runtime, mut agent) = host.runtimes().task().await;
    agent.say(question("q")).await;
    assert_eq!(agent.next_message().await, EngineMessage::Answer("q".into(), Answer::Declined));
    let resolved = host.wait_for(&session, Type::QuestionResolved).await;
    let EventBody::QuestionResolved(resolved) = resolved.body else { panic!() };
    assert_eq!((resolved.outcome, resolved.reason.as_deref()), (QuestionOutcome::Declined, Some("no_approver")));
    agent.finish().await;
    host.wait_for_end(&session, &task).await;
    host.stop().await;
}

#[tokio::test]
async fn a_decision_that_the_runtime_does_not_take_is_noted_and_the_task_goes_on() {
    let mut host = Harness::start().await;
    let session = host.session_in(Mode::Yolo).await;
    let task = host.begin(&session, "one").await;
    let (_runtime, agent) = host.runtimes().task().await;
    agent.stop_reading();
    agent.say_all([requested("a"), asks("a")]).await;
    host.wait_for(&session, Type::RuntimeNotice).await;
    agent.finish().await;
    host.wait_for_end(&session, &task).await;
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_reads_nothing_holds_up_its_session_once_and_not_for_every_message() {
    let mut host = Harness::start().await;
    let session = host.session_in(Mode::Yolo).await;
    let task = host.begin(&session, "one").await;
    let (_runtime, agent) = host.runtimes().task().await;
    agent.stop_reading();
    // At a second each, these would take longer than the test may.
    let calls: Vec<_> = (0..60).map(|at| format!("call {at}")).collect();
    agent.say_all(calls.iter().flat_map(|call| [requested(call), asks(call)])).await;
    agent.finish().await;
    host.wait_for_end(&session, &task).await;
    host.stop().await;
}

#[tokio::test]
async fn an_old_answer_that_is_sent_again_does_not_answer_the_next_attempt() {
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    let first = Response { key: Some("one click".into()), ..answer("a", ALLOW, "me") };
    respond(&host, &it.session, first.clone()).await.unwrap();
    assert_eq!(it.agent.next_message().await, EngineMessage::Approved("a".into()));
    it.agent.say_all([started("a"), failed("a"), attempt("a", 2), asks("a")]).await;
    let second = |event: &NormalizedEvent| matches!(&event.body, EventBody::ApprovalRequested(asked) if asked.identity.attempt == 2);
    host.wait_until(&it.session, "the second attempt is asked about", second).await;
    respond(&host, &it.session, first).await.unwrap();
    assert_eq!(pending(&host).await.len(), 1, "the second attempt still waits");
    host.stop().await;
}
