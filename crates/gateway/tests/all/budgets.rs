//! What a run may use up: a hosted session, which the engine stops or asks about, and a client's run at the gateway.

use std::sync::Arc;

use roost_engine::adapter::{Fact, TaskEnd};
use roost_engine::{Accepted, Approver, Engine, Prompt, SessionBudgets};
use roost_gateway::governance::{EngineGovernor, GovernanceOptions};
use roost_gateway::principal::Principal;
use roost_gateway::runs::{BudgetLimits, OnExceeded, RunBudgets};
use roost_log::{Log, LogOptions, SqliteLog, StreamId};
use roost_model::approval::PendingAsk;
use roost_model::event::{EventBody, NormalizedEventType};
use roost_model::failure::FailureCode;
use roost_model::ids::{SessionId, TaskId};
use roost_model::mode::Mode;
use roost_model::payload::{BudgetKind, UsageReportedPayload};
use roost_policy::{Effect, Rule, RuleSet};
use serde_json::json;
use testkit::facts::{asks, completed, requested, started};
use testkit::fake::EngineMessage;
use testkit::{Harness, Home};

use crate::governed::*;

const STOP: BudgetLimits = BudgetLimits { calls: None, tokens: None, cost_usd: None, on_exceeded: OnExceeded::Deny };
const ASK: BudgetLimits = BudgetLimits { on_exceeded: OnExceeded::Ask, ..STOP };

/// A daemon whose sessions and clients share these budgets, and whose rules allow the tool, and would allow to raise budgets.
async fn start(home: Home, limits: BudgetLimits, options: GovernanceOptions) -> Governed {
    let log = SqliteLog::open(&home.lock().await, LogOptions::default()).unwrap();
    let shared: Arc<dyn Log> = Arc::new(log.clone());
    let budgets = RunBudgets::new(limits, shared.clone());
    let rules = [NAME, "mcp__roost__raise_budget"].map(|tool| Rule {
        tool: Some(tool.into()),
        name: Some("house".into()),
        ..Rule::new(Effect::Allow)
    });
    let config = home.config(|config| {
        config.rules = Arc::new(RuleSet::new(&rules).unwrap());
        config.budgets = budgets.clone().map(|budgets| budgets as Arc<dyn SessionBudgets>);
    });
    let engine = Arc::new(Engine::start(shared.clone(), home.runtimes(), config).await.unwrap());
    let governor = EngineGovernor::new(engine.clone(), shared, options).with_budgets(budgets);
    Governed { host: Harness { engine, log, home }, governor: Arc::new(governor) }
}

async fn daemon(limits: BudgetLimits) -> Governed {
    start(Home::new(), limits, GovernanceOptions::default()).await
}

/// The same state directory under the next daemon.
async fn restarted(governed: Governed, limits: BudgetLimits) -> Governed {
    let Governed { host, governor } = governed;
    governor.close().await;
    // It has the log open, which the next daemon must be able to open.
    drop(governor);
    start(host.stop().await, limits, GovernanceOptions::default()).await
}

fn usage(tokens: u64, cost_usd: f64) -> Fact {
    Fact::Usage(UsageReportedPayload {
        input_tokens: Some(tokens),
        output_tokens: None,
        cost_usd: Some(cost_usd),
        cached_input_tokens: None,
        reasoning_tokens: None,
        context: None,
    })
}

/// Prompts a session in a mode that asks about nothing, with a person who could be asked.
async fn begin(host: &Harness, session: &SessionId) -> TaskId {
    let prompt = Prompt { approver: Approver::Present, ..Prompt::text("go on") };
    match host.engine.prompt(session.as_str(), prompt).await.unwrap() {
        Accepted::Started(task) => task,
        other => panic!("the session is busy: {other:?}"),
    }
}

async fn assert_over_budget(host: &Harness, session: &SessionId, task: &TaskId, what: &str) {
    let end = host.wait_for_end(session, task).await;
    let EventBody::TaskFailed(failed) = &end.body else { panic!("it did not fail: {end:?}") };
    assert_eq!(failed.error.code, FailureCode::BudgetExceeded);
    assert!(failed.error.message.contains(what), "{}", failed.error.message);
}

/// What is recorded of budgets: what was used up, and whether a person gave more.
async fn recorded(host: &Harness) -> Vec<(BudgetKind, f64, bool)> {
    let page = host.log.read(&StreamId::host(), 0, 4096).await.unwrap();
    let recorded = page.batch.iter().filter_map(|entry| match &entry.event().unwrap().body {
        EventBody::McpBudgetExceeded(exceeded) => Some((exceeded.budget, exceeded.limit, exceeded.raised)),
        _ => None,
    });
    recorded.collect()
}

#[tokio::test]
async fn a_hosted_agent_beyond_its_calls_is_stopped_also_in_yolo_and_after_a_restart() {
    let limits = BudgetLimits { calls: Some(2), ..STOP };
    let mut daemon = daemon(limits).await;
    let host = &mut daemon.host;
    let session = host.session_in(Mode::Yolo).await;
    let task = begin(host, &session).await;
    let (_runtime, mut agent) = host.runtimes().task().await;
    for call in ["a", "b"] {
        agent.say_all([requested(call), asks(call)]).await;
        assert_eq!(agent.next_message().await, EngineMessage::Approved(call.into()));
        agent.say_all([started(call), completed(call)]).await;
    }
    agent.say_all([requested("c"), asks("c")]).await;
    let EngineMessage::Denied(call, reason) = agent.next_message().await else { panic!("it was allowed") };
    assert_eq!(call.as_str(), "c");
    assert!(reason.contains("2 of 2 tool calls"), "{reason}");
    assert_eq!(agent.next_message().await, EngineMessage::Stop);
    agent.end(TaskEnd::Stopped("interrupted".into())).await;
    assert_over_budget(host, &session, &task, "2 of 2 tool calls").await;
    let next = begin(host, &session).await;
    assert_over_budget(host, &session, &next, "2 of 2 tool calls").await;
    assert_eq!(recorded(host).await, [(BudgetKind::Calls, 2.0, false)], "it is recorded once");
    let daemon = restarted(daemon, limits).await;
    let next = begin(&daemon.host, &session).await;
    assert_over_budget(&daemon.host, &session, &next, "2 of 2 tool calls").await;
    assert_eq!(recorded(&daemon.host).await.len(), 1);
}

#[tokio::test]
async fn a_hosted_agent_that_calls_tools_unasked_is_stopped_at_its_calls() {
    let mut daemon = daemon(BudgetLimits { calls: Some(1), ..STOP }).await;
    let host = &mut daemon.host;
    let session = host.session_in(Mode::Yolo).await;
    let task = begin(host, &session).await;
    let (_runtime, mut agent) = host.runtimes().task().await;
    agent.say_all([requested("a"), started("a"), completed("a"), requested("b"), started("b")]).await;
    assert_eq!(agent.next_message().await, EngineMessage::Stop);
    agent.end(TaskEnd::Stopped("interrupted".into())).await;
    assert_over_budget(host, &session, &task, "1 of 1 tool calls").await;
}

#[tokio::test]
async fn a_hosted_agent_beyond_its_tokens_or_its_cost_is_stopped_without_any_call() {
    for (limits, what) in [
        (BudgetLimits { tokens: Some(100), ..STOP }, "120 of 100 tokens"),
        (BudgetLimits { cost_usd: Some(0.5), ..STOP }, "$0.75 of $0.50"),
    ] {
        let mut daemon = daemon(limits).await;
        let host = &mut daemon.host;
        let session = host.session().await;
        let task = begin(host, &session).await;
        let (_runtime, mut agent) = host.runtimes().task().await;
        agent.say(usage(60, 0.375)).await;
        agent.say(usage(60, 0.375)).await;
        assert_eq!(agent.next_message().await, EngineMessage::Stop);
        agent.end(TaskEnd::Stopped("interrupted".into())).await;
        assert_over_budget(host, &session, &task, what).await;
    }
}

#[tokio::test]
async fn a_hosted_agent_at_its_limit_asks_for_its_next_call_and_what_a_person_gave_outlives_the_daemon() {
    let limits = BudgetLimits { tokens: Some(100), ..ASK };
    let mut daemon = daemon(limits).await;
    let session = daemon.host.session_in(Mode::Yolo).await;
    begin(&daemon.host, &session).await;
    let (_runtime, mut agent) = daemon.host.runtimes().task().await;
    agent.say_all([usage(150, 0.0), requested("a"), asks("a")]).await;
    let asked = daemon.asked().await;
    let PendingAsk::Approval(approval) = &asked.ask else { panic!("{asked:?}") };
    assert_eq!((approval.rule.as_deref(), &approval.offer), (Some("budget"), &None));
    daemon.host.wait_for(&session, NormalizedEventType::RuntimeNotice).await;
    daemon.answer(&asked, ALLOW).await.unwrap();
    assert_eq!(agent.next_message().await, EngineMessage::Approved("a".into()));
    agent.say_all([requested("b"), asks("b")]).await;
    assert_eq!(agent.next_message().await, EngineMessage::Approved("b".into()), "150 of 200 are left");
    agent.finish().await;
    assert_eq!(recorded(&daemon.host).await, [(BudgetKind::Tokens, 100.0, false), (BudgetKind::Tokens, 100.0, true)]);

    let mut daemon = restarted(daemon, limits).await;
    begin(&daemon.host, &session).await;
    let (_runtime, mut agent) = daemon.host.runtimes().task().await;
    agent.say_all([requested("c"), asks("c")]).await;
    assert_eq!(agent.next_message().await, EngineMessage::Approved("c".into()));
    agent.say_all([usage(50, 0.0), requested("d"), asks("d")]).await;
    let asked = daemon.asked().await;
    daemon.answer(&asked, deny("enough")).await.unwrap();
    assert_eq!(agent.next_message().await, EngineMessage::Denied("d".into(), "enough".into()));
}

#[tokio::test]
async fn a_hosted_agent_whom_nobody_watches_is_stopped_where_a_person_would_be_asked() {
    let mut daemon = daemon(BudgetLimits { tokens: Some(100), ..ASK }).await;
    let host = &mut daemon.host;
    let session = host.session_in(Mode::Yolo).await;
    let prompt = Prompt { approver: Approver::Nobody, ..Prompt::text("go on") };
    let Accepted::Started(task) = host.engine.prompt(session.as_str(), prompt).await.unwrap() else { panic!("busy") };
    let (_runtime, mut agent) = host.runtimes().task().await;
    agent.say(usage(150, 0.0)).await;
    assert_eq!(agent.next_message().await, EngineMessage::Stop);
    agent.end(TaskEnd::Stopped("interrupted".into())).await;
    assert_over_budget(host, &session, &task, "150 of 100 tokens").await;
}

#[tokio::test]
async fn a_hosted_agents_calls_through_the_gateway_and_its_own_are_one_budget() {
    let mut daemon = daemon(BudgetLimits { calls: Some(2), ..STOP }).await;
    let session = daemon.host.session_in(Mode::Yolo).await;
    let task = begin(&daemon.host, &session).await;
    let (_runtime, mut agent) = daemon.host.runtimes().task().await;
    agent.say_all([requested("a"), asks("a")]).await;
    assert_eq!(agent.next_message().await, EngineMessage::Approved("a".into()));
    agent.say_all([started("a"), completed("a")]).await;
    let principal = Principal::Session(session.clone());
    let ticket = allowed(daemon.judge(&principal, json!({ "query": "one" }), json!({})).await);
    daemon.finish(ticket, &json!({ "content": [] })).await;
    let reason = denied(daemon.judge(&principal, json!({ "query": "two" }), json!({})).await);
    assert!(reason.contains("2 of 2 tool calls"), "{reason}");
    assert_eq!(agent.next_message().await, EngineMessage::Stop);
    agent.end(TaskEnd::Stopped("interrupted".into())).await;
    assert_over_budget(&daemon.host, &session, &task, "2 of 2 tool calls").await;
}

#[tokio::test]
async fn the_calls_of_a_clients_run_are_counted_on_after_a_restart() {
    let limits = BudgetLimits { calls: Some(2), ..STOP };
    let daemon = daemon(limits).await;
    let call = |run: &'static str| json!({ "runId": run });
    for run in ["a", "a", "b"] {
        let ticket = allowed(daemon.judge(&Principal::Local, json!({}), call(run)).await);
        daemon.finish(ticket, &json!({})).await;
    }
    denied(daemon.judge(&Principal::Local, json!({}), call("a")).await);
    let daemon = restarted(daemon, limits).await;
    assert!(denied(daemon.judge(&Principal::Local, json!({}), call("a")).await).contains("2 of 2 tool calls"));
    allowed(daemon.judge(&Principal::Local, json!({}), call("b")).await);
    assert!(denied(daemon.judge(&Principal::Local, json!({}), call("b")).await).contains("2 of 2 tool calls"));
    let exceeded: Vec<_> = recorded(&daemon.host).await.into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(exceeded, [BudgetKind::Calls, BudgetKind::Calls], "once for each run");
}

#[tokio::test]
async fn no_mode_and_no_rule_raises_a_budget() {
    let limits = BudgetLimits { calls: Some(1), ..ASK };
    let options = GovernanceOptions { client_mode: Mode::Yolo, ..GovernanceOptions::default() };
    let meta = json!({ "runId": "a" });
    let daemon = start(Home::new(), limits, options).await;
    allowed(daemon.judge(&Principal::Local, json!({}), meta.clone()).await);
    let waiting = daemon.spawn_judge(&Principal::Local, json!({}), meta.clone());
    let asked = daemon.asked().await;
    daemon.answer(&asked, deny("enough")).await.unwrap();
    assert!(denied(waiting.await.unwrap()).contains("1 of 1 tool calls"));

    // Nobody is asked where nobody watches.
    let options = GovernanceOptions { unattended: true, ..options };
    let unattended = start(Home::new(), limits, options).await;
    allowed(unattended.judge(&Principal::Local, json!({}), meta.clone()).await);
    assert!(denied(unattended.judge(&Principal::Local, json!({}), meta).await).contains("1 of 1 tool calls"));
}
