//! Persons are asked and answer: the first answer counts, and only for what was seen.

use std::sync::Arc;
use std::time::Duration;

use roost_engine::{Decision, Error, Response, ResponseTo};
use roost_model::approval::ApprovalEnd;
use roost_model::event::{EventBody, NormalizedEvent, NormalizedEventType as Type};
use roost_model::tool::PolicyDecision;
use testkit::facts::{asks, attempt, completed, delta, failed, started};
use testkit::fake::EngineMessage;
use testkit::{Harness, Home, soon};

use crate::watched::*;

#[tokio::test]
async fn an_allowed_call_runs_and_the_log_says_who_allowed_it() {
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    respond(&host, &it.session, answer("a", ALLOW, "me")).await.unwrap();
    assert_eq!(it.agent.next_message().await, EngineMessage::Approved("a".into()));
    it.agent.say_all([started("a"), completed("a")]).await;
    it.agent.finish().await;
    host.wait_for_end(&it.session, &it.task).await;
    let types: Vec<_> = host.types(&it.session).await.into_iter().filter(|name| !name.starts_with("session")).collect();
    let expected = [
        "tool.call.requested",
        "tool.call.policy_evaluated",
        "approval.requested",
        "tool.call.policy_evaluated",
        "approval.resolved",
        "tool.call.approved",
        "tool.call.started",
        "tool.call.completed",
        "task.completed",
    ];
    let from = types.iter().position(|name| name == expected[0]).unwrap();
    assert_eq!(types[from..], expected);
    assert_eq!(resolved(&host, &it.session).await[0].answered_by, Some(by("me")));
    assert_eq!(pending(&host).await, []);
    host.stop().await;
}

#[tokio::test]
async fn a_denial_reaches_the_agent_with_its_reason() {
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    respond(&host, &it.session, answer("a", deny("too risky"), "me")).await.unwrap();
    assert_eq!(it.agent.next_message().await, EngineMessage::Denied("a".into(), "too risky".into()));
    it.agent.say(failed("a")).await;
    it.agent.finish().await;
    host.wait_for_end(&it.session, &it.task).await;
    ended_unrun(&host, &it.session, ApprovalEnd::Answered).await;
    host.stop().await;
}

#[tokio::test]
async fn what_a_person_needs_to_decide_is_in_one_event_and_one_row() {
    let mut host = Harness::start().await;
    let it = with_pending_call(&mut host).await;
    let asked = requests(&host, &it.session).await.pop().unwrap();
    assert_eq!((asked.name.as_str(), &asked.input["path"]), ("write", &"a".into()));
    assert_eq!(asked.rule.as_deref(), Some("permission_mode:dangerous"));
    assert!(asked.expires_at.is_some());
    let row = pending(&host).await.pop().unwrap();
    assert_eq!((&row.session_id, &row.task_id), (&it.session, &Some(it.task)));
    host.stop().await;
}

#[tokio::test]
async fn an_answer_to_an_unknown_approval_is_refused() {
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    let refused = respond(&host, &it.session, answer("b", ALLOW, "me")).await;
    assert!(matches!(refused, Err(Error::NotPending(id)) if id == "b"));
    let nobody = respond(&host, &"no session".into(), answer("a", ALLOW, "me")).await;
    assert!(matches!(nobody, Err(Error::UnknownSession(_))));
    let idle = host.session().await;
    assert!(matches!(respond(&host, &idle, answer("a", ALLOW, "me")).await, Err(Error::NotPending(_))));
    still_waits(&host, &mut it).await;
    host.stop().await;
}

#[tokio::test]
async fn an_answer_to_the_approval_of_another_session_is_refused() {
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    let other = watched_session(&mut host).await;
    let refused = respond(&host, &other.session, answer("a", ALLOW, "me")).await;
    assert!(matches!(refused, Err(Error::NotPending(_))));
    still_waits(&host, &mut it).await;
    host.stop().await;
}

#[tokio::test]
async fn the_same_call_id_in_two_sessions_is_two_approvals() {
    let mut host = Harness::start().await;
    let mut one = with_pending_call(&mut host).await;
    let mut other = with_pending_call(&mut host).await;
    respond(&host, &one.session, answer("a", ALLOW, "me")).await.unwrap();
    assert_eq!(one.agent.next_message().await, EngineMessage::Approved("a".into()));
    assert_eq!(pending(&host).await.iter().map(|row| &row.session_id).collect::<Vec<_>>(), [&other.session]);
    still_waits(&host, &mut other).await;
    host.stop().await;
}

#[tokio::test]
async fn nobody_answering_in_time_denies_and_a_later_answer_is_refused() {
    let short = Some(Duration::from_millis(20));
    let mut host = Home::new().start_with(|config| config.approval_timeout = short).await;
    let mut it = with_pending_call(&mut host).await;
    assert_eq!(it.agent.next_message().await, EngineMessage::Denied("a".into(), "nobody answered in time".into()));
    ended_unrun(&host, &it.session, ApprovalEnd::Expired).await;
    let late = respond(&host, &it.session, answer("a", ALLOW, "me")).await;
    assert!(matches!(late, Err(Error::NotPending(_))));
    host.stop().await;
}

#[tokio::test]
async fn without_a_time_limit_an_approval_waits_until_it_is_answered() {
    let mut host = Home::new().start_with(|config| config.approval_timeout = None).await;
    let mut it = with_pending_call(&mut host).await;
    assert_eq!(requests(&host, &it.session).await[0].expires_at, None);
    still_waits(&host, &mut it).await;
    host.stop().await;
}

#[tokio::test]
async fn a_call_that_a_person_edits_runs_with_the_edited_input_and_the_log_says_so() {
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    let input = serde_json::json!({ "path": "safer.txt" });
    let edited = Decision::AllowEdited { input: input.clone() };
    respond(&host, &it.session, answer("a", edited, "me")).await.unwrap();
    assert_eq!(it.agent.next_message().await, EngineMessage::Edited("a".into(), input.clone()));
    assert_eq!(resolved(&host, &it.session).await[0].edited_input, Some(input));
    host.stop().await;
}

#[tokio::test]
async fn a_second_answer_is_refused_with_the_name_of_the_first() {
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    respond(&host, &it.session, answer("a", deny("no"), "first")).await.unwrap();
    let refused = respond(&host, &it.session, answer("a", ALLOW, "second")).await;
    assert!(matches!(refused, Err(Error::AlreadyAnswered { by: winner, .. }) if winner == by("first")));
    assert_eq!(it.agent.next_message().await, EngineMessage::Denied("a".into(), "no".into()));
    ended_unrun(&host, &it.session, ApprovalEnd::Answered).await;
    host.stop().await;
}

#[tokio::test]
async fn of_many_answers_in_the_same_instant_exactly_one_counts() {
    const RACERS: usize = 32;
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    let gate = Arc::new(tokio::sync::Barrier::new(RACERS));
    let racers: Vec<_> = (0..RACERS)
        .map(|racer| {
            let (engine, session, gate) = (host.engine.clone(), it.session.clone(), gate.clone());
            let decision = if racer % 2 == 0 { ALLOW } else { deny("no") };
            let response = answer("a", decision, &format!("racer {racer}"));
            tokio::spawn(async move {
                gate.wait().await;
                (by(&format!("racer {racer}")), engine.respond(session.as_str(), response).await)
            })
        })
        .collect();
    let mut winners = Vec::new();
    let mut losers_to = Vec::new();
    for racer in racers {
        match soon("a racer ends", racer).await.unwrap() {
            (me, Ok(())) => winners.push(me),
            (_, Err(Error::AlreadyAnswered { by, .. })) => losers_to.push(by),
            (_, Err(error)) => panic!("{error}"),
        }
    }
    assert_eq!((winners.len(), losers_to.len()), (1, RACERS - 1));
    assert!(losers_to.iter().all(|winner| *winner == winners[0]), "everybody learns by whom");
    let resolved = resolved(&host, &it.session).await;
    assert_eq!(resolved.len(), 1);
    assert_eq!(resolved[0].answered_by.as_ref(), Some(&winners[0]));
    let told = it.agent.next_message().await;
    assert_eq!(matches!(told, EngineMessage::Approved(_)), resolved[0].decision == PolicyDecision::Allow);
    host.engine.stop(it.session.as_str(), "done").await.unwrap();
    assert_eq!(it.agent.messages_until_gone().await, [EngineMessage::Stop], "it was told once");
    host.stop().await;
}

#[tokio::test]
async fn the_same_answer_sent_again_is_acknowledged_and_changes_nothing() {
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    let keyed = |key: &str| Response { key: Some(key.into()), ..answer("a", ALLOW, "me") };
    respond(&host, &it.session, keyed("k")).await.unwrap();
    let before = host.types(&it.session).await;
    respond(&host, &it.session, keyed("k")).await.unwrap();
    let other = respond(&host, &it.session, keyed("another")).await;
    assert!(matches!(other, Err(Error::AlreadyAnswered { .. })));
    assert_eq!(host.types(&it.session).await, before);
    assert_eq!(it.agent.next_message().await, EngineMessage::Approved("a".into()));
    it.agent.say(delta("x")).await;
    host.engine.stop(it.session.as_str(), "done").await.unwrap();
    assert_eq!(it.agent.messages_until_gone().await, [EngineMessage::Stop], "it was told once");
    host.stop().await;
}

#[tokio::test]
async fn an_answer_about_another_attempt_or_input_is_refused() {
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    let seen = |attempt, input_hash: Option<&str>| {
        let (call, input_hash) = ("a".into(), input_hash.map(str::to_owned));
        let to = ResponseTo::Approval { call, attempt, input_hash, decision: ALLOW };
        Response { to, by: by("me"), key: None }
    };
    let wrong_attempt = respond(&host, &it.session, seen(Some(2), None)).await;
    assert!(matches!(wrong_attempt, Err(Error::AttemptMismatch(_))));
    let wrong_input = respond(&host, &it.session, seen(Some(1), Some("sha256:other"))).await;
    assert!(matches!(wrong_input, Err(Error::InputHashMismatch(_))));
    let hash = requests(&host, &it.session).await[0].identity.input_hash.clone();
    respond(&host, &it.session, seen(Some(1), Some(&hash))).await.unwrap();
    assert_eq!(it.agent.next_message().await, EngineMessage::Approved("a".into()));
    host.stop().await;
}

#[tokio::test]
async fn another_attempt_at_a_denied_call_is_asked_about_again() {
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    respond(&host, &it.session, answer("a", deny("no"), "me")).await.unwrap();
    it.agent.next_message().await;
    it.agent.say_all([failed("a"), attempt("a", 2), asks("a")]).await;
    let second = |event: &NormalizedEvent| matches!(&event.body, EventBody::ApprovalRequested(asked) if asked.identity.attempt == 2);
    host.wait_until(&it.session, "the second attempt is asked about", second).await;
    respond(&host, &it.session, answer("a", ALLOW, "me")).await.unwrap();
    assert_eq!(it.agent.next_message().await, EngineMessage::Approved("a".into()));
    host.stop().await;
}

#[tokio::test]
async fn a_denial_of_a_tool_that_already_runs_is_refused() {
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    respond(&host, &it.session, answer("a", ALLOW, "first")).await.unwrap();
    it.agent.next_message().await;
    it.agent.say(started("a")).await;
    host.wait_for(&it.session, Type::ToolCallStarted).await;
    let late = respond(&host, &it.session, answer("a", deny("stop it"), "second")).await;
    assert!(matches!(late, Err(Error::AlreadyAnswered { by: winner, .. }) if winner == by("first")));
    it.agent.say(completed("a")).await;
    it.agent.finish().await;
    host.wait_for_end(&it.session, &it.task).await;
    assert_eq!(count(&host, &it.session, "tool.call.completed").await, 1);
    assert_eq!(count(&host, &it.session, "tool.call.denied").await, 0);
    host.stop().await;
}

#[tokio::test]
async fn an_answer_is_in_the_log_before_the_runtime_hears_of_it() {
    for (decision, written) in [(ALLOW, "tool.call.approved"), (deny("no"), "tool.call.denied")] {
        let mut host = Harness::start().await;
        let mut it = with_pending_call(&mut host).await;
        let (engine, session) = (host.engine.clone(), it.session.clone());
        let response = answer("a", decision, "me");
        let responding = tokio::spawn(async move { engine.respond(session.as_str(), response).await });
        it.agent.next_message().await;
        assert_eq!(host.types(&it.session).await.last().unwrap(), written);
        soon("the answer is acknowledged", responding).await.unwrap().unwrap();
        host.stop().await;
    }
}

#[tokio::test]
async fn an_answer_that_the_runtime_does_not_take_is_not_acknowledged_until_it_does() {
    let mut host = Harness::start().await;
    let mut it = with_pending_call(&mut host).await;
    let keyed = || Response { key: Some("k".into()), ..answer("a", ALLOW, "me") };
    it.agent.stop_reading();
    assert!(matches!(respond(&host, &it.session, keyed()).await, Err(Error::Adapter(_))));
    assert_eq!(resolved(&host, &it.session).await.len(), 1, "what was said is kept");
    assert!(matches!(respond(&host, &it.session, keyed()).await, Err(Error::Adapter(_))), "it has still not taken it");
    it.agent.read_again();
    respond(&host, &it.session, keyed()).await.unwrap();
    assert_eq!(it.agent.next_message().await, EngineMessage::Approved("a".into()), "an allow is never lost");
    assert_eq!(resolved(&host, &it.session).await.len(), 1);
    host.stop().await;
}
