//! Agent runs on a real log: what is reported, what follows from it, and what a run may use up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use roost_engine::adapter::Fact;
use roost_engine::{Accepted, Approver, Prompt};
use roost_gateway::governance::{EngineGovernor, GovernanceOptions};
use roost_gateway::governor::Permit;
use roost_gateway::principal::Principal;
use roost_gateway::runs::{BudgetLimits, OnExceeded, RunBudgets, Runs};
use roost_log::{Log, Retention, RowKind, StreamId};
use roost_model::event::EventBody;
use roost_model::payload::{BudgetKind, UsageReportedPayload};
use roost_model::run::{AgentEvent, RunStatus, RunSummary};
use roost_model::time::Timestamp;
use roost_policy::Effect;
use serde_json::{Value, json};
use testkit::{Harness, facts};

use crate::governed::*;

fn runs(host: &Harness) -> Runs {
    Runs::new(Arc::new(host.log.clone()), None)
}

fn event(kind: &str, run: &str, more: &Value) -> AgentEvent {
    let mut document = json!({ "kind": kind, "run_id": run, "step_id": "s", "data": more });
    document["idempotency_key"] = more["key"].clone();
    AgentEvent::parse(&document).unwrap()
}

/// What the rows of runs must be by the events of the host's stream.
async fn replayed(host: &Harness) -> BTreeMap<String, RunSummary> {
    let mut runs = BTreeMap::new();
    let page = host.log.read(&StreamId::host(), 0, 100_000).await.unwrap();
    for entry in page.batch.iter() {
        let stored = entry.event().unwrap();
        let Some(event) = AgentEvent::from_body(&stored.body) else { continue };
        let Some(run) = event.run_id() else { continue };
        let before = runs.remove(run.as_str()).unwrap_or_else(|| RunSummary::new(run.clone(), stored.time));
        runs.insert(run.to_string(), before.after(&event, stored.time));
    }
    runs
}

async fn rows(host: &Harness) -> BTreeMap<String, RunSummary> {
    let rows = host.log.rows(RowKind::Run).await.unwrap();
    rows.into_iter().map(|(id, body)| (id, serde_json::from_str(&body).unwrap())).collect()
}

#[tokio::test]
async fn the_rows_of_runs_equal_a_replay_of_the_log_from_zero() {
    let host = Harness::start().await;
    let runs = Arc::new(runs(&host));
    let kinds =
        ["run_started", "step_started", "tool_called", "llm_called", "waiting", "step_completed", "run_completed"];
    let reports = (0..20).map(|report| {
        let runs = runs.clone();
        let events = (0..30).map(|at| {
            let kind = format!("agent.{}", kinds[(report + at) % kinds.len()]);
            event(&kind, &format!("run-{}", at % 7), &json!({ "inputTokens": at, "cost_usd": 0.5 }))
        });
        let events: Vec<_> = events.collect();
        async move { runs.report(events).await.unwrap() }
    });
    futures::future::join_all(reports).await;
    let replayed = replayed(&host).await;
    assert_eq!(replayed.len(), 7);
    assert_eq!(replayed.values().map(|run| run.event_count).sum::<u64>(), 600);
    assert_eq!(rows(&host).await, replayed);
}

#[tokio::test]
async fn a_report_that_is_sent_again_is_recorded_once_also_after_a_restart() {
    let host = Harness::start().await;
    let keyed = |run: &str| event("agent.tool_called", run, &json!({ "key": "k1" }));
    let first = runs(&host);
    first.report(vec![keyed("a"), keyed("a")]).await.unwrap();
    first.report(vec![keyed("a")]).await.unwrap();
    first.close().await;
    let second = runs(&host);
    second.report(vec![keyed("a"), keyed("b")]).await.unwrap();
    let counts: Vec<_> =
        second.list(10).await.unwrap().into_iter().map(|run| (run.run_id, run.tool_call_count)).collect();
    assert_eq!(counts.len(), 2, "a key counts within its run");
    assert!(counts.iter().all(|(_, count)| *count == 1), "{counts:?}");
    assert_eq!(second.events(Some(&"a".into()), 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_report_that_is_sent_again_is_recorded_once_also_after_retention_removed_what_was_before_it() {
    let host = Harness::start().await;
    let keyed = |run: &str| event("agent.tool_called", run, &json!({ "key": "k1" }));
    let first = runs(&host);
    first.report(vec![keyed("old")]).await.unwrap();
    let everything = Retention { max_age: Duration::ZERO, max_bytes: u64::MAX };
    let later = Timestamp::from_millis(Timestamp::now().as_millis() + 60_000);
    assert!(host.log.retain(everything, later).await.unwrap().events > 0);
    first.report(vec![keyed("new")]).await.unwrap();
    first.close().await;
    let second = runs(&host);
    second.report(vec![keyed("new")]).await.unwrap();
    assert_eq!(second.events(Some(&"new".into()), 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_keys_of_a_big_report_are_all_known_after_a_restart() {
    let host = Harness::start().await;
    let report = || -> Vec<_> {
        (0..10_000).map(|at| event("agent.tool_called", "a", &json!({ "key": format!("k/{at}") }))).collect()
    };
    let first = runs(&host);
    first.report(report()).await.unwrap();
    first.close().await;
    let second = runs(&host);
    second.report(report()).await.unwrap();
    assert_eq!(rows(&host).await["a"].tool_call_count, 10_000);
}

#[tokio::test]
async fn a_report_with_a_service_needs_that_agent() {
    let host = Harness::start().await;
    let document = json!({ "kind": "agent.run_created", "run_id": "r", "service_id": "svc_000000000000" });
    let refused = runs(&host).report(vec![AgentEvent::parse(&document).unwrap()]).await.unwrap_err();
    assert_eq!(refused.to_string(), "there is no service svc_000000000000");
    assert_eq!(rows(&host).await.len(), 0);
}

#[tokio::test]
async fn a_hosted_session_is_a_run_with_its_calls_its_tokens_and_what_it_waits_for() {
    let mut host = Harness::start().await;
    let runs = runs(&host);
    let session = host.session().await;
    let prompt = Prompt { approver: Approver::Present, ..Prompt::text("write it down") };
    let Accepted::Started(task) = host.engine.prompt(session.as_str(), prompt).await.unwrap() else { panic!("idle") };
    let (_runtime, agent) = host.runtimes().task().await;
    let usage = UsageReportedPayload {
        input_tokens: Some(100),
        output_tokens: Some(20),
        cost_usd: Some(0.25),
        cached_input_tokens: None,
        reasoning_tokens: None,
        context: None,
    };
    agent.say_all([Fact::Usage(usage), facts::requested("a"), facts::asks("a")]).await;
    host.wait_for(&session, roost_model::event::NormalizedEventType::ApprovalRequested).await;
    let [run] = &runs.list(10).await.unwrap()[..] else { panic!("one run") };
    assert_eq!(run.run_id.as_str(), session.as_str());
    assert_eq!(run.status, RunStatus::Waiting);
    assert!(run.waiting_reason.as_ref().unwrap().starts_with("approval of "), "{run:?}");
    let used = (run.tool_call_count, run.llm_call_count, run.input_tokens, run.output_tokens, run.cost_usd);
    assert_eq!(used, (1, 1, 100, 20, 0.25));
    // What its agent reports of itself is joined with what Roost sees.
    runs.report(vec![event("agent.handoff", session.as_str(), &json!({}))]).await.unwrap();
    let [run] = &runs.list(10).await.unwrap()[..] else { panic!("still one run") };
    assert_eq!((run.handoff_count, run.status), (1, RunStatus::Waiting));
    let kinds: Vec<_> =
        runs.events(Some(&run.run_id), 100).await.unwrap().into_iter().map(|event| event.event.kind).collect();
    let expected = ["run_created", "run_started", "llm_called", "tool_called", "waiting", "handoff"];
    assert_eq!(kinds, expected.map(|action| format!("agent.{action}")));
    agent.finish().await;
    host.wait_for_end(&session, &task).await;
    let [run] = &runs.list(10).await.unwrap()[..] else { panic!("one run") };
    assert_eq!((run.status, run.waiting_reason.clone()), (RunStatus::Completed, None));
}

/// A governor that lets the tool be called, within these limits.
async fn governed(limits: BudgetLimits) -> Governed {
    let governed = Governed::with_rule(Effect::Allow).await;
    let log: Arc<dyn Log> = Arc::new(governed.host.log.clone());
    let governor = EngineGovernor::new(governed.host.engine.clone(), log.clone(), GovernanceOptions::default());
    Governed { governor: Arc::new(governor.with_budgets(RunBudgets::new(limits, log))), ..governed }
}

async fn exceeded(governed: &Governed) -> Vec<(BudgetKind, f64)> {
    governed.governor.close().await;
    let page = governed.host.log.read(&StreamId::host(), 0, 4096).await.unwrap();
    let recorded = page.batch.iter().filter_map(|entry| match &entry.event().unwrap().body {
        EventBody::McpBudgetExceeded(exceeded) => Some((exceeded.budget, exceeded.spent)),
        _ => None,
    });
    recorded.collect()
}

fn denied(permit: Permit) -> String {
    match permit {
        Permit::Denied { reason } => reason,
        Permit::Allowed(_) => panic!("it was allowed"),
    }
}

#[tokio::test]
async fn a_run_that_used_up_its_calls_is_denied_more_and_others_are_not() {
    let governed = governed(BudgetLimits { calls: Some(2), ..BudgetLimits::default() }).await;
    let call = |run: &'static str| governed.judge(&Principal::Local, json!({}), json!({ "runId": run }));
    allowed(call("a").await);
    allowed(call("a").await);
    for _ in 0..2 {
        let reason = denied(call("a").await);
        assert!(reason.contains("2 of 2 tool calls"), "{reason}");
    }
    allowed(call("b").await);
    allowed(governed.judge(&Principal::Local, json!({}), json!({})).await);
    assert_eq!(exceeded(&governed).await, [(BudgetKind::Calls, 2.0)], "it is recorded once");
}

#[tokio::test]
async fn a_run_that_used_up_its_tokens_is_denied_calls() {
    let governed = governed(BudgetLimits { tokens: Some(100), ..BudgetLimits::default() }).await;
    let tokens = json!({ "inputTokens": 90, "outputTokens": 10 });
    runs(&governed.host).report(vec![event("agent.llm_called", "a", &tokens)]).await.unwrap();
    let reason = denied(governed.judge(&Principal::Local, json!({}), json!({ "runId": "a" })).await);
    assert!(reason.contains("100 of 100 tokens"), "{reason}");
}

#[tokio::test]
async fn a_person_who_is_asked_gives_a_run_as_much_again() {
    let limits = BudgetLimits { calls: Some(1), on_exceeded: OnExceeded::Ask, ..BudgetLimits::default() };
    let governed = governed(limits).await;
    let meta = json!({ "runId": "a" });
    allowed(governed.judge(&Principal::Local, json!({}), meta.clone()).await);
    let waiting = governed.spawn_judge(&Principal::Local, json!({}), meta.clone());
    let asked = governed.asked().await;
    governed.answer(&asked, ALLOW).await.unwrap();
    allowed(waiting.await.unwrap());
    let waiting = governed.spawn_judge(&Principal::Local, json!({}), meta);
    let asked = governed.asked().await;
    governed.answer(&asked, deny("enough")).await.unwrap();
    assert!(denied(waiting.await.unwrap()).contains("2 of 2 tool calls"));
}
