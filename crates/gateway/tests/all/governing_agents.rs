//! Calls of hosted agents, joined with what their runtimes say of them: one call, asked once, one record.

use roost_engine::adapter::{Fact, ToolOutcome};
use roost_engine::{Accepted, Approver, Prompt};
use roost_gateway::principal::Principal;
use roost_log::Log;
use roost_model::event::EventBody;
use roost_model::ids::{SessionId, TaskId};
use roost_model::payload::{ToolCallCompletedPayload, ToolCallRequestedPayload};
use roost_model::tool::{ToolCallIdentity, ToolExecutedBy};
use roost_policy::Effect;
use serde_json::{Value, json};
use testkit::fake::{EngineMessage, FakeSession, FakeTask};

use crate::governed::*;

/// A hosted agent that works while somebody watches.
struct Agent {
    session: SessionId,
    task: TaskId,
    agent: FakeTask,
    _runtime: FakeSession,
}

impl Agent {
    async fn start(governed: &mut Governed) -> Self {
        let session = governed.host.session().await;
        let prompt = Prompt { approver: Approver::Present, ..Prompt::text("search") };
        let Accepted::Started(task) = governed.host.engine.prompt(session.as_str(), prompt).await.unwrap() else {
            panic!("it is idle")
        };
        let (runtime, agent) = governed.host.runtimes().task().await;
        Self { session, task, agent, _runtime: runtime }
    }

    fn principal(&self) -> Principal {
        Principal::Session(self.session.clone())
    }

    /// Ends the task and returns the types of the session's events about tools.
    async fn end(self, governed: &Governed) -> Vec<String> {
        self.agent.finish().await;
        governed.host.wait_for_end(&self.session, &self.task).await;
        let about_tools = |name: &String| name.starts_with("tool.") || name.starts_with("approval.");
        governed.host.types(&self.session).await.into_iter().filter(about_tools).collect()
    }
}

/// A call of the tool as the runtime knows it.
fn request(call: &str, name: &str, input: &Value) -> ToolCallRequestedPayload {
    let first = ToolCallIdentity::first(Some(format!("native-{call}")), input);
    let identity = ToolCallIdentity { tool_call_id: call.into(), ..first };
    ToolCallRequestedPayload {
        identity,
        name: name.into(),
        input: input.clone(),
        input_ref: None,
        title: None,
        kind: None,
    }
}

fn completed_by_runtime(call: &str, is_error: bool) -> Fact {
    Fact::ToolCompleted(ToolOutcome::of_runtime(call.into(), Some("as the runtime read it".into()), is_error))
}

async fn completions(governed: &Governed, session: &SessionId) -> Vec<ToolCallCompletedPayload> {
    let completed = governed.host.events(session).await.into_iter().filter_map(|event| match event.body {
        EventBody::ToolCallCompleted(completed) => Some(completed),
        _ => None,
    });
    completed.collect()
}

const ONE_ASKED_CALL: [&str; 8] = [
    "tool.call.requested",
    "tool.call.policy_evaluated",
    "approval.requested",
    "tool.call.policy_evaluated",
    "approval.resolved",
    "tool.call.approved",
    "tool.call.started",
    "tool.call.completed",
];

#[tokio::test]
async fn a_call_that_the_runtime_asked_about_is_not_asked_again_and_recorded_once() {
    // By the id that Claude Code or Codex names, and by tool and input alone.
    for meta in [json!({ "claudecode/toolUseId": "native-a" }), json!({ "callId": "native-a" }), json!({})] {
        let mut governed = Governed::start().await;
        let mut it = Agent::start(&mut governed).await;
        let input = json!({ "q": "tides" });
        it.agent
            .say_all([Fact::ToolRequested(request("a", NAME, &input)), Fact::ToolAsks(request("a", NAME, &input))])
            .await;
        let asked = governed.asked().await;
        governed.answer(&asked, ALLOW).await.unwrap();
        assert_eq!(it.agent.next_message().await, EngineMessage::Approved("a".into()));
        it.agent.say(Fact::ToolStarted("a".into())).await;
        let ticket = allowed(governed.judge(&it.principal(), input, meta.clone()).await);
        governed.finish(ticket, &json!({ "content": "at noon" })).await;
        it.agent.say(completed_by_runtime("a", false)).await;
        let session = it.session.clone();
        assert_eq!(it.end(&governed).await, ONE_ASKED_CALL, "{meta}");
        let completed = completions(&governed, &session).await.remove(0);
        assert_eq!((completed.executed_by, completed.name.as_str()), (ToolExecutedBy::Codesdk, NAME));
        assert_eq!(completed.result_preview, Some(json!({ "content": "at noon" })));
        let records = governed.records().await;
        assert_eq!(records.len(), 1);
        assert_eq!(records[0].tool_call_id.as_ref().map(|id| id.as_str()), Some("a"));
        assert_eq!(records[0].policy.rule.as_deref(), Some("user_approved"));
        governed.host.stop().await;
    }
}

#[tokio::test]
async fn one_approval_counts_for_one_request_with_that_very_input() {
    let mut governed = Governed::start().await;
    let mut it = Agent::start(&mut governed).await;
    let (input, meta) = (json!({ "q": "tides" }), json!({ "claudecode/toolUseId": "native-a" }));
    it.agent.say(Fact::ToolAsks(request("a", NAME, &input))).await;
    let asked = governed.asked().await;
    governed.answer(&asked, ALLOW).await.unwrap();
    it.agent.next_message().await;

    // Another input under the id of the approved call.
    let lie = governed.spawn_judge(&it.principal(), json!({ "q": "secrets" }), meta.clone());
    let asked = governed.asked().await;
    governed.answer(&asked, deny("not that one")).await.unwrap();
    assert_eq!(denied(lie.await.unwrap()), "not that one");

    let ticket = allowed(governed.judge(&it.principal(), input.clone(), meta.clone()).await);
    governed.finish(ticket, &json!({})).await;

    // The same request again.
    let again = governed.spawn_judge(&it.principal(), input, meta);
    let asked = governed.asked().await;
    governed.answer(&asked, deny("once is enough")).await.unwrap();
    assert_eq!(denied(again.await.unwrap()), "once is enough");
    governed.host.stop().await;
}

#[tokio::test]
async fn a_request_that_no_call_of_the_runtime_matches_is_asked_about_in_the_session() {
    let mut governed = Governed::start().await;
    let it = Agent::start(&mut governed).await;
    let judging = governed.spawn_judge(&it.principal(), json!({ "q": "tides" }), json!({}));
    let asked = governed.asked().await;
    assert_eq!(asked.session_id, it.session);
    governed.answer(&asked, ALLOW).await.unwrap();
    let ticket = allowed(judging.await.unwrap());
    governed.finish(ticket, &json!({})).await;
    let session = it.session.clone();
    assert_eq!(it.end(&governed).await, ONE_ASKED_CALL);
    assert_eq!(completions(&governed, &session).await[0].executed_by, ToolExecutedBy::Codesdk);
    governed.host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_announces_its_call_after_the_request_makes_no_second_record() {
    let mut governed = Governed::with_rule(Effect::Allow).await;
    let it = Agent::start(&mut governed).await;
    let input = json!({ "q": "tides" });
    let ticket = allowed(governed.judge(&it.principal(), input.clone(), json!({})).await);
    it.agent.say_all([Fact::ToolRequested(request("late", NAME, &input)), Fact::ToolStarted("late".into())]).await;
    governed.finish(ticket, &json!({ "content": "at noon" })).await;
    it.agent.say(completed_by_runtime("late", false)).await;
    let expected = [
        "tool.call.requested",
        "tool.call.policy_evaluated",
        "tool.call.approved",
        "tool.call.started",
        "tool.call.completed",
    ];
    assert_eq!(it.end(&governed).await, expected);
    governed.host.stop().await;
}

#[tokio::test]
async fn a_runtime_that_runs_the_call_unasked_has_not_allowed_it() {
    let mut governed = Governed::start().await;
    let it = Agent::start(&mut governed).await;
    let input = json!({ "q": "tides" });
    it.agent.say_all([Fact::ToolRequested(request("a", NAME, &input)), Fact::ToolStarted("a".into())]).await;
    let judging = governed.spawn_judge(&it.principal(), input, json!({}));
    let asked = governed.asked().await;
    governed.answer(&asked, deny("ask me first")).await.unwrap();
    assert_eq!(denied(judging.await.unwrap()), "ask me first");
    it.agent.say(completed_by_runtime("a", true)).await;
    let types = it.end(&governed).await;
    assert!(types.contains(&"tool.call.denied".into()) && !types.contains(&"tool.call.started".into()), "{types:?}");
    governed.host.stop().await;
}

#[tokio::test]
async fn a_call_that_a_person_denied_stays_denied_when_the_runtime_sends_it_anyway() {
    let mut governed = Governed::start().await;
    let mut it = Agent::start(&mut governed).await;
    let (input, meta) = (json!({ "q": "tides" }), json!({ "claudecode/toolUseId": "native-a" }));
    it.agent.say(Fact::ToolAsks(request("a", NAME, &input))).await;
    let asked = governed.asked().await;
    governed.answer(&asked, deny("not today")).await.unwrap();
    it.agent.next_message().await;
    assert_eq!(denied(governed.judge(&it.principal(), input, meta).await), "not today");
    assert!(governed.host.log.pending(None).await.unwrap().is_empty(), "nobody is asked again");
    governed.host.stop().await;
}

#[tokio::test]
async fn an_agent_whose_task_has_ended_may_call_nothing() {
    let mut governed = Governed::with_rule(Effect::Allow).await;
    let it = Agent::start(&mut governed).await;
    let principal = it.principal();
    it.end(&governed).await;
    let reason = denied(governed.judge(&principal, json!({}), json!({})).await);
    assert!(reason.contains("no task runs"), "{reason}");
    governed.host.engine.close(&principal.to_string().replace("session:", ""), "over").await.unwrap();
    let reason = denied(governed.judge(&principal, json!({}), json!({})).await);
    assert!(reason.contains("no task runs"), "{reason}");
    let unknown = Principal::Session("no such session".into());
    denied(governed.judge(&unknown, json!({}), json!({})).await);
    assert_eq!(governed.records().await.len(), 3, "each is recorded");
    governed.host.stop().await;
}

#[tokio::test]
async fn a_stop_withdraws_what_the_gateway_asked_and_denies_the_request() {
    let mut governed = Governed::start().await;
    let it = Agent::start(&mut governed).await;
    let judging = governed.spawn_judge(&it.principal(), json!({}), json!({}));
    governed.asked().await;
    let stopping = governed.host.engine.stop(it.session.as_str(), "enough");
    testkit::soon("it is stopped", stopping).await.unwrap();
    assert!(denied(judging.await.unwrap()).contains("stopped"));
    governed.host.stop().await;
}

#[tokio::test]
async fn a_call_that_still_runs_when_its_task_ends_is_closed_in_the_session_and_recorded_when_it_is_over() {
    let mut governed = Governed::with_rule(Effect::Allow).await;
    let it = Agent::start(&mut governed).await;
    let session = it.session.clone();
    let ticket = allowed(governed.judge(&it.principal(), json!({}), json!({})).await);
    it.end(&governed).await;
    governed.finish(ticket, &json!({})).await;
    let completed = completions(&governed, &session).await;
    assert_eq!(completed.iter().map(|one| one.is_error).collect::<Vec<_>>(), [Some(true)]);
    assert_eq!(governed.records().await.len(), 1);
    governed.host.stop().await;
}
