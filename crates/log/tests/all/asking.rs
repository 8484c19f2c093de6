//! What waits for a person, and what persons said for longer than once.

use std::time::Duration;

use roost_log::{Log, Retention, StateLock, check, rebuild};
use roost_model::approval::{Answerer, ApprovalEnd, ApprovalScope};
use roost_model::event::NewEvent;
use roost_model::ids::SessionId;
use roost_model::pattern::{CallPattern, RememberedRule, Touches};
use roost_model::payload::{
    ApprovalRequestedPayload, ApprovalResolvedPayload, QuestionAskedPayload, RuleRemovedPayload,
};
use roost_model::time::Timestamp;
use roost_model::tool::{PolicyDecision, ToolCallIdentity};
use serde_json::json;

use crate::kit::*;

fn identity(call: &str) -> ToolCallIdentity {
    ToolCallIdentity {
        tool_call_id: call.into(),
        runtime_tool_call_id: None,
        attempt: 1,
        input_hash: "sha256:0".into(),
    }
}

fn approval_requested(session: &str, call: &str) -> NewEvent {
    let asked = ApprovalRequestedPayload {
        identity: identity(call),
        name: "write".into(),
        title: None,
        kind: None,
        input: json!({ "path": "a.txt" }),
        input_ref: None,
        class: None,
        rule: Some("permission_mode:ask".into()),
        offer: None,
        expires_at: None,
    };
    event(session, asked)
}

fn resolved(session: &str, call: &str, remembered: Option<RememberedRule>) -> NewEvent {
    let resolved = ApprovalResolvedPayload {
        identity: identity(call),
        decision: PolicyDecision::Allow,
        end: ApprovalEnd::Answered,
        scope: ApprovalScope::Always,
        reason: None,
        answered_by: None,
        edited_input: None,
        remembered,
        still_waits_for: None,
    };
    event(session, resolved)
}

fn rule(decision: PolicyDecision) -> RememberedRule {
    RememberedRule {
        scope: ApprovalScope::Always,
        decision,
        pattern: CallPattern {
            runtime: None,
            tool: Some("shell".into()),
            touches: Some(Touches::Command(vec!["git".into(), "status".into()])),
        },
        session_id: None,
        workspace: None,
        by: None,
    }
}

fn removed(rule: RememberedRule) -> NewEvent {
    let removed_by = Answerer::default();
    NewEvent::for_host(Timestamp::from_millis(NOW), RuleRemovedPayload { rule_id: rule.id(), rule, removed_by })
}

async fn remembered(log: &dyn Log) -> Vec<RememberedRule> {
    log.remembered().await.unwrap().into_iter().map(|dated| dated.rule).collect()
}

async fn waiting(log: &dyn Log, session: Option<&str>) -> Vec<String> {
    let session = session.map(SessionId::from);
    let pending = log.pending(session.as_ref()).await.unwrap();
    pending.iter().map(|pending| pending.id().to_owned()).collect()
}

#[tokio::test]
async fn what_waits_is_listed_until_it_is_resolved() {
    let Home { log, dir } = Home::new();
    let question = QuestionAskedPayload {
        question_id: "q_1".into(),
        message: "Which bird?".into(),
        fields: Vec::new(),
        tool_call_id: None,
    };
    store(&log, "a", vec![created("a"), approval_requested("a", "tc_1"), at(NOW + 1, event("a", question))]).await;
    store(&log, "b", vec![created("b"), at(NOW + 2, approval_requested("b", "tc_2"))]).await;
    assert_eq!(waiting(&log, None).await, ["tc_1", "q_1", "tc_2"]);
    assert_eq!(waiting(&log, Some("b")).await, ["tc_2"]);
    store(&log, "a", vec![resolved("a", "tc_1", None)]).await;
    assert_eq!(waiting(&log, None).await, ["q_1", "tc_2"]);
    log.close().await;
    drop(log);
    let log = open(dir.path(), Default::default());
    assert_eq!(waiting(&log, None).await, ["q_1", "tc_2"]);
}

#[tokio::test]
async fn of_two_answers_about_the_same_calls_the_later_counts() {
    let Home { log, dir } = Home::new();
    let late = at(NOW + 5, resolved("a", "tc_1", Some(rule(PolicyDecision::Deny))));
    store(&log, "b", vec![created("b")]).await;
    store(&log, "a", vec![created("a"), late]).await;
    store(&log, "b", vec![resolved("b", "tc_2", Some(rule(PolicyDecision::Allow)))]).await;
    assert_eq!(remembered(&log).await, [rule(PolicyDecision::Deny)]);
    log.close().await;
    assert_eq!(check(dir.path()).unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn a_rebuild_mends_what_waits_and_what_is_remembered() {
    let Home { log, dir } = Home::new();
    store(&log, "a", vec![created("a"), approval_requested("a", "tc_1")]).await;
    store(&log, "a", vec![resolved("a", "tc_0", Some(rule(PolicyDecision::Allow)))]).await;
    log.close().await;
    drop(log);
    let db = rusqlite::Connection::open(dir.path().join("roost.db")).unwrap();
    db.execute_batch("DELETE FROM pending; DELETE FROM remembered;").unwrap();
    drop(db);
    assert_eq!(check(dir.path()).unwrap().problems.len(), 2);
    let rebuilt = rebuild(&StateLock::acquire(dir.path(), "test").unwrap()).unwrap();
    assert_eq!((rebuilt.mended.len(), rebuilt.remaining.len()), (2, 0));
    let log = open(dir.path(), Default::default());
    assert_eq!(waiting(&log, None).await, ["tc_1"]);
    assert_eq!(remembered(&log).await, [rule(PolicyDecision::Allow)]);
}

#[tokio::test]
async fn what_is_remembered_outlives_the_event_that_said_it() {
    let Home { log, dir } = Home::new();
    let day = 24 * 60 * 60 * 1000;
    let old = at(NOW - 40 * day, resolved("a", "tc_1", Some(rule(PolicyDecision::Allow))));
    store(&log, "a", vec![at(NOW - 40 * day, created("a")), old]).await;
    store(&log, "a", deltas("a", 3)).await;
    let rules = Retention { max_age: Duration::from_hours(30 * 24), ..Retention::default() };
    let removed = log.retain(rules, Timestamp::from_millis(NOW)).await.unwrap();
    assert_eq!(removed.blocks, 1);
    log.close().await;
    drop(log);
    let rebuilt = rebuild(&StateLock::acquire(dir.path(), "test").unwrap()).unwrap();
    assert_eq!(rebuilt, Default::default());
    let log = open(dir.path(), Default::default());
    assert_eq!(remembered(&log).await, [rule(PolicyDecision::Allow)]);
}

#[tokio::test]
async fn a_removed_answer_stays_removed_after_a_rebuild_until_it_is_given_again() {
    let Home { log, dir } = Home::new();
    let made = |time| at(time, resolved("a", "tc_1", Some(rule(PolicyDecision::Allow))));
    store(&log, "a", vec![created("a"), made(NOW - 5)]).await;
    log.keep(Vec::new(), vec![removed(rule(PolicyDecision::Allow))]).await.unwrap();
    assert_eq!(remembered(&log).await, []);
    log.close().await;
    drop(log);
    assert_eq!(check(dir.path()).unwrap().problems, [""; 0]);
    let db = rusqlite::Connection::open(dir.path().join("roost.db")).unwrap();
    db.execute_batch("DELETE FROM remembered;").unwrap();
    drop(db);
    rebuild(&StateLock::acquire(dir.path(), "test").unwrap()).unwrap();
    let log = open(dir.path(), Default::default());
    assert_eq!(remembered(&log).await, []);
    store(&log, "a", vec![made(NOW + 5)]).await;
    assert_eq!(remembered(&log).await, [rule(PolicyDecision::Allow)]);
}
