//! Calls of clients that are no hosted agents: a paired device, the user of this machine.

use std::time::Duration;

use roost_engine::{Decision, Error, Prompt};
use roost_gateway::governance::GovernanceOptions;
use roost_gateway::governor::Access;
use roost_gateway::principal::Principal;
use roost_log::Log;
use roost_model::approval::{ApprovalScope, PendingAsk};
use roost_model::event::NormalizedEventType;
use roost_model::ids::DeviceId;
use roost_model::mode::Mode;
use roost_model::runtime::RuntimeName;
use roost_model::tool::{PolicyResult, PolicySource};
use roost_policy::Effect;
use serde_json::json;
use testkit::soon;

use crate::governed::*;

fn device() -> Principal {
    Principal::Device(DeviceId::from("dev_1"))
}

#[tokio::test]
async fn a_call_that_a_rule_allows_costs_one_audit_event_and_no_session() {
    let governed = Governed::with_rule(Effect::Allow).await;
    let meta = json!({ "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" });
    let ticket = allowed(governed.judge(&device(), json!({ "q": "tides" }), meta).await);
    governed.finish(ticket, &json!({ "content": [] })).await;
    let records = governed.records().await;
    let [record] = &records[..] else { panic!("{records:?}") };
    assert_eq!((record.principal.as_str(), record.client.as_deref()), ("device:dev_1", Some("probe")));
    assert_eq!((record.tool.as_str(), record.routed_tool.as_str(), record.success), (TOOL, "search", true));
    assert_eq!((record.duration_us, record.request_bytes, record.response_bytes), (1500, 7, 11));
    assert_eq!(record.policy.rule.as_deref(), Some("rule:house"));
    assert_eq!(record.trace_id.as_deref(), Some("0af7651916cd43dd8448eb211c80319c"));
    assert_eq!(record.parent_span_id.as_deref(), Some("b7ad6b7169203331"));
    assert_eq!((&record.arguments, &record.session_id), (&None, &None));
    assert_eq!(governed.host.log.sessions(10).await.unwrap(), []);
    governed.host.stop().await;
}

#[tokio::test]
async fn arguments_are_recorded_only_where_that_is_configured() {
    let options = GovernanceOptions { record_arguments: true, ..GovernanceOptions::default() };
    let rules = Governed::with_rule(Effect::Deny).await;
    denied(rules.judge(&device(), json!({ "q": "tides" }), json!({})).await);
    assert_eq!(rules.records().await[0].arguments, None);
    rules.host.stop().await;
    let governed = Governed::start_with(|config| config.approval_timeout = Some(Duration::ZERO), options).await;
    denied(governed.judge(&device(), json!({ "q": "tides" }), json!({})).await);
    assert_eq!(governed.records().await[0].arguments, Some(json!({ "q": "tides" })));
    governed.host.stop().await;
}

#[tokio::test]
async fn a_call_that_a_rule_denies_is_denied_with_the_rule_and_recorded() {
    let governed = Governed::with_rule(Effect::Deny).await;
    let reason = denied(governed.judge(&Principal::Local, json!({}), json!({})).await);
    assert!(reason.contains("rule:house"), "{reason}");
    let records = governed.records().await;
    let [record] = &records[..] else { panic!("{records:?}") };
    assert_eq!((record.principal.as_str(), record.success), ("local", false));
    assert_eq!((record.policy.result, record.policy.rule.as_deref()), (PolicyResult::Deny, Some("rule:house")));
    assert!(record.error.as_deref().unwrap().starts_with("denied: "), "{record:?}");
    assert_eq!(governed.host.log.sessions(10).await.unwrap(), []);
    governed.host.stop().await;
}

#[tokio::test]
async fn a_rule_counts_at_every_address_of_the_gateway() {
    let governed = Governed::with_rule(Effect::Deny).await;
    // As `/mcp/docs` shows the tool.
    denied(judge(&governed.governor, &device(), "search", &json!({}), &json!({})).await);
    assert_eq!(governed.records().await[0].policy.rule.as_deref(), Some("rule:house"));
    governed.host.stop().await;
}

#[tokio::test]
async fn a_person_is_asked_in_a_session_of_the_client_and_the_call_runs_once_allowed() {
    let governed = Governed::start().await;
    let judging = governed.spawn_judge(&device(), json!({ "q": "tides" }), json!({}));
    let asked = governed.asked().await;
    let PendingAsk::Approval(approval) = &asked.ask else { panic!("{asked:?}") };
    assert_eq!((approval.name.as_str(), &approval.input), (NAME, &json!({ "q": "tides" })));
    let session = governed.host.record(&asked.session_id).await;
    assert_eq!(session.runtime, RuntimeName::McpClient);
    assert_eq!(session.title.as_deref(), Some("probe (MCP client, device:dev_1)"));
    governed.answer(&asked, ALLOW).await.unwrap();
    let ticket = allowed(judging.await.unwrap());
    governed.finish(ticket, &json!({ "content": [{ "type": "text", "text": "at noon" }] })).await;
    governed.host.wait_for(&asked.session_id, NormalizedEventType::TaskCompleted).await;
    let types = governed.host.types(&asked.session_id).await;
    let expected = [
        "session.created",
        "task.started",
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
    assert_eq!(types, expected);
    let records = governed.records().await;
    let [record] = &records[..] else { panic!("{records:?}") };
    assert_eq!((record.policy.source, record.policy.result), (PolicySource::User, PolicyResult::Allow));
    assert_eq!(record.session_id.as_ref(), Some(&asked.session_id));
    assert_eq!(record.tool_call_id.as_ref().map(|id| id.as_str()), Some(asked.id()));
    governed.host.stop().await;
}

#[tokio::test]
async fn a_denial_reaches_the_client_with_its_reason_and_a_second_answer_is_refused() {
    let governed = Governed::start().await;
    let judging = governed.spawn_judge(&device(), json!({}), json!({}));
    let asked = governed.asked().await;
    governed.answer(&asked, deny("not today")).await.unwrap();
    assert_eq!(denied(judging.await.unwrap()), "not today");
    let late = governed.answer(&asked, ALLOW).await;
    assert!(matches!(late, Err(Error::NotPending(_) | Error::AlreadyAnswered { .. })), "{late:?}");
    assert_eq!(governed.records().await[0].error.as_deref(), Some("denied: not today"));
    governed.host.stop().await;
}

#[tokio::test]
async fn an_answer_for_the_session_counts_for_later_calls_of_that_client_only() {
    let governed = Governed::start().await;
    let judging = governed.spawn_judge(&device(), json!({ "q": 1 }), json!({}));
    let asked = governed.asked().await;
    governed.answer(&asked, Decision::Allow { scope: ApprovalScope::Session }).await.unwrap();
    let first = allowed(judging.await.unwrap());
    governed.finish(first, &json!({})).await;
    let second = allowed(governed.judge(&device(), json!({ "q": 2 }), json!({})).await);
    governed.finish(second, &json!({})).await;
    let other = governed.spawn_judge(&Principal::Local, json!({ "q": 2 }), json!({}));
    let asked_again = governed.asked().await;
    assert_ne!(asked_again.session_id, asked.session_id);
    governed.answer(&asked_again, deny("no")).await.unwrap();
    denied(other.await.unwrap());
    governed.host.stop().await;
}

#[tokio::test]
async fn a_call_that_nobody_answers_expires() {
    let short = Some(Duration::from_millis(20));
    let governed = Governed::start_with(|config| config.approval_timeout = short, GovernanceOptions::default()).await;
    let reason = denied(governed.judge(&device(), json!({}), json!({})).await);
    assert_eq!(reason, "nobody answered in time");
    governed.host.stop().await;
}

#[tokio::test]
async fn a_client_that_goes_away_withdraws_its_question_and_is_recorded() {
    let governed = Governed::start().await;
    let judging = governed.spawn_judge(&device(), json!({}), json!({}));
    let asked = governed.asked().await;
    judging.abort();
    let withdrawn = async {
        while !governed.host.log.pending(None).await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    soon("the question is withdrawn", withdrawn).await;
    let late = governed.answer(&asked, ALLOW).await;
    assert!(matches!(late, Err(Error::NotPending(_))), "{late:?}");
    assert_eq!(governed.records().await[0].policy.rule.as_deref(), Some("gateway:withdrawn"));
    governed.host.stop().await;
}

#[tokio::test]
async fn a_second_call_of_a_client_joins_its_session_while_the_first_waits() {
    let governed = Governed::start().await;
    let one = governed.spawn_judge(&device(), json!({ "q": 1 }), json!({}));
    let first = governed.asked().await;
    let other = governed.spawn_judge(&device(), json!({ "q": 1 }), json!({}));
    let both = async {
        while governed.host.log.pending(None).await.unwrap().len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    soon("both wait", both).await;
    for asked in governed.host.log.pending(None).await.unwrap() {
        assert_eq!(asked.session_id, first.session_id);
        governed.answer(&asked, ALLOW).await.unwrap();
    }
    allowed(one.await.unwrap());
    allowed(other.await.unwrap());
    governed.host.stop().await;
}

#[tokio::test]
async fn the_session_of_a_client_takes_no_prompts() {
    let governed = Governed::start().await;
    let judging = governed.spawn_judge(&device(), json!({}), json!({}));
    let asked = governed.asked().await;
    let refused = governed.host.engine.prompt(asked.session_id.as_str(), Prompt::text("do it")).await;
    assert!(matches!(refused, Err(Error::NotPromptable(_))), "{refused:?}");
    soon("it is stopped", governed.host.engine.stop(asked.session_id.as_str(), "enough")).await.unwrap();
    assert!(denied(judging.await.unwrap()).contains("stopped"));
    soon("it is closed", governed.host.engine.close(asked.session_id.as_str(), "enough")).await.unwrap();
    let again = governed.spawn_judge(&device(), json!({}), json!({}));
    assert_eq!(governed.asked().await.session_id, asked.session_id, "its session goes on with the next question");
    again.abort();
    governed.host.stop().await;
}

#[tokio::test]
async fn what_a_service_lists_is_read_unasked_in_every_mode_unless_a_rule_denies_it() {
    let uri = raw(&json!({ "uri": "docs://tides" }));
    for mode in [Mode::Plan, Mode::Ask, Mode::Auto] {
        let options = GovernanceOptions { client_mode: mode, ..GovernanceOptions::default() };
        let governed = Governed::start_with(|_| {}, options).await;
        let permit = judge_raw(&governed.governor, &device(), Access::Read, TOOL, &uri, &json!({})).await;
        governed.finish(allowed(permit), &json!({ "contents": [] })).await;
        assert_eq!(governed.records().await.len(), 1, "{mode:?}");
        governed.host.stop().await;
    }
    let governed = Governed::with_rule(Effect::Deny).await;
    denied(judge_raw(&governed.governor, &device(), Access::Read, TOOL, &uri, &json!({})).await);
    governed.host.stop().await;
}

#[tokio::test]
async fn arguments_that_parsers_read_differently_are_denied_before_anybody_is_asked() {
    let governed = Governed::with_rule(Effect::Allow).await;
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    for text in [r#"{"path":"notes","path":"/etc/shadow"}"#, r#"{"in":{"a":1,"a":2}}"#, &deep] {
        let arguments = serde_json::value::RawValue::from_string(text.into()).unwrap();
        let permit = judge_raw(&governed.governor, &device(), Access::Call, TOOL, &arguments, &json!({})).await;
        assert!(denied(permit).starts_with("the arguments cannot be judged"), "{text}");
    }
    governed.host.stop().await;
}
