//! Tools that the host runs for a runtime.

use roost_engine::{Approver, Decision, Error, Prompt, Response, ResponseTo};
use roost_model::approval::{Answerer, ApprovalScope};
use roost_model::canonical;
use roost_model::event::{EventBody, NormalizedEventType as Type};
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::payload::ToolCallCompletedPayload;
use roost_model::session::TaskOutcome;
use roost_model::tool::{ToolExecutedBy, ToolExecutionEnv};
use serde_json::json;
use testkit::facts::{asks_host, completed, requested_of, started};
use testkit::fake::{EngineMessage, FakeSession, FakeTask};
use testkit::host_tools::{FakeTools, HostCalls};
use testkit::{Harness, Home, soon};

async fn start() -> (Harness, HostCalls) {
    let (tools, calls) = FakeTools::new();
    (Home::new().start_with(|config| config.host_tools = Some(tools)).await, calls)
}

/// A session in which an agent works that has asked the host for `lookup` calls of these ids.
async fn asking(host: &mut Harness, mode: Mode, calls: &[&str]) -> (SessionId, FakeSession, FakeTask) {
    let session = host.session_in(mode).await;
    let prompt = Prompt { approver: Approver::Present, ..Prompt::text("one") };
    host.engine.prompt(session.as_str(), prompt).await.unwrap();
    let (runtime, agent) = host.runtimes().task().await;
    agent.say_all(calls.iter().flat_map(|call| [requested_of("lookup", call), asks_host("lookup", call)])).await;
    (session, runtime, agent)
}

fn answer(call: &str, decision: Decision) -> Response {
    let to = ResponseTo::Approval { call: call.into(), attempt: Some(1), input_hash: None, decision };
    Response { to, by: Answerer::default(), key: None }
}

fn allow(call: &str) -> Response {
    answer(call, Decision::Allow { scope: ApprovalScope::Once })
}

async fn completion(host: &Harness, session: &SessionId) -> ToolCallCompletedPayload {
    match host.wait_for(session, Type::ToolCallCompleted).await.body {
        EventBody::ToolCallCompleted(completed) => completed,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_runtime_is_shown_the_hosts_tools_with_the_hashes_of_their_schemas() {
    let (mut host, _calls) = start().await;
    let (_session, _runtime, agent) = asking(&mut host, Mode::Yolo, &[]).await;
    let manifest = agent.input().tool_manifest.clone().unwrap();
    assert_eq!(manifest.tools[0].name, "lookup");
    assert_eq!(manifest.tools[0].schema_hash, Some(canonical::hash(&FakeTools::schema())));
    host.stop().await;
}

#[tokio::test]
async fn a_host_without_tools_shows_none() {
    let mut host = Harness::start().await;
    let (_session, _runtime, agent) = asking(&mut host, Mode::Yolo, &[]).await;
    assert_eq!(agent.input().tool_manifest, None);
    host.stop().await;
}

#[tokio::test]
async fn an_allowed_tool_runs_on_the_host_and_its_result_reaches_the_runtime() {
    let (mut host, mut calls) = start().await;
    let (session, _runtime, mut agent) = asking(&mut host, Mode::Yolo, &["a"]).await;
    let call = calls.next().await;
    assert_eq!(call.input, json!({ "path": "a" }));
    call.succeed("found");
    assert_eq!(agent.next_message().await, EngineMessage::Result("a".into(), "found".into()));
    let types: Vec<_> = host.types(&session).await.into_iter().filter(|name| name.starts_with("tool.")).collect();
    let expected = [
        "tool.call.requested",
        "tool.call.policy_evaluated",
        "tool.call.approved",
        "tool.call.started",
        "tool.call.completed",
    ];
    assert_eq!(types, expected);
    let done = completion(&host, &session).await;
    assert_eq!((done.executed_by, done.execution_env), (ToolExecutedBy::Codesdk, ToolExecutionEnv::CodesdkHost));
    assert_eq!((done.result_preview, done.is_error), (Some("found".into()), None));
    host.stop().await;
}

#[tokio::test]
async fn a_tool_that_a_person_must_allow_runs_only_after_the_answer() {
    let (mut host, mut calls) = start().await;
    let (session, _runtime, mut agent) = asking(&mut host, Mode::Ask, &["a"]).await;
    host.wait_for(&session, Type::ApprovalRequested).await;
    assert!(calls.is_idle());
    soon("an answer", host.engine.respond(session.as_str(), allow("a"))).await.unwrap();
    calls.next().await.succeed(1);
    assert_eq!(agent.next_message().await, EngineMessage::Result("a".into(), 1.into()));
    host.stop().await;
}

#[tokio::test]
async fn a_denied_tool_never_runs_and_the_runtime_hears_why() {
    let (mut host, calls) = start().await;
    let (session, _runtime, mut agent) = asking(&mut host, Mode::Ask, &["a"]).await;
    host.wait_for(&session, Type::ApprovalRequested).await;
    let no = Decision::Deny { scope: ApprovalScope::Once, reason: Some("not today".into()) };
    soon("an answer", host.engine.respond(session.as_str(), answer("a", no))).await.unwrap();
    assert_eq!(agent.next_message().await, EngineMessage::Denied("a".into(), "not today".into()));
    assert!(calls.is_idle());
    host.stop().await;
}

#[tokio::test]
async fn tools_run_beside_each_other_and_the_session_listens_meanwhile() {
    let (mut host, mut calls) = start().await;
    let (_session, _runtime, mut agent) = asking(&mut host, Mode::Yolo, &["a", "b"]).await;
    let (first, second) = (calls.next().await, calls.next().await);
    second.succeed("second");
    assert_eq!(agent.next_message().await, EngineMessage::Result("b".into(), "second".into()));
    first.succeed("first");
    assert_eq!(agent.next_message().await, EngineMessage::Result("a".into(), "first".into()));
    host.stop().await;
}

#[tokio::test]
async fn a_tool_that_fails_is_recorded_and_its_error_reaches_the_runtime() {
    let (mut host, mut calls) = start().await;
    let (session, _runtime, mut agent) = asking(&mut host, Mode::Yolo, &["a"]).await;
    calls.next().await.fail("no such thing");
    assert_eq!(agent.next_message().await, EngineMessage::Result("a".into(), "no such thing".into()));
    let done = completion(&host, &session).await;
    assert_eq!((done.result_preview, done.is_error), (Some("no such thing".into()), Some(true)));
    host.stop().await;
}

#[tokio::test]
async fn a_tool_that_the_host_does_not_have_or_that_breaks_down_is_an_error_for_the_runtime() {
    for (tool, error) in [("nonsense", "the host has no tool \"nonsense\""), ("panic", "panic broke down while it ran")]
    {
        let (mut host, _calls) = start().await;
        let (session, _runtime, mut agent) = asking(&mut host, Mode::Yolo, &[]).await;
        agent.say_all([requested_of(tool, "a"), asks_host(tool, "a")]).await;
        assert_eq!(agent.next_message().await, EngineMessage::Result("a".into(), error.into()));
        assert_eq!(completion(&host, &session).await.is_error, Some(true));
        host.stop().await;
    }
}

#[tokio::test]
async fn a_stop_cancels_the_hosts_tools_and_closes_their_calls() {
    let (mut host, mut calls) = start().await;
    let (session, _runtime, _agent) = asking(&mut host, Mode::Yolo, &["a"]).await;
    let mut call = calls.next().await;
    let stopped = soon("a stop", host.engine.stop(session.as_str(), "enough")).await.unwrap();
    assert_eq!(stopped, TaskOutcome::Stopped);
    call.cancelled().await;
    let done = completion(&host, &session).await;
    assert_eq!((done.executed_by, done.is_error), (ToolExecutedBy::Codesdk, Some(true)));
    host.stop().await;
}

#[tokio::test]
async fn nothing_begins_in_a_task_that_is_being_stopped() {
    let (mut host, calls) = start().await;
    let (session, _runtime, mut agent) = asking(&mut host, Mode::Ask, &["a"]).await;
    host.wait_for(&session, Type::ApprovalRequested).await;
    let engine = host.engine.clone();
    let id = session.clone();
    let stopping = tokio::spawn(async move { engine.stop(id.as_str(), "enough").await });
    assert_eq!(agent.next_message().await, EngineMessage::Stop);
    let late = soon("an answer", host.engine.respond(session.as_str(), allow("a"))).await;
    assert!(matches!(late, Err(Error::NotPending(_))), "{late:?}");
    soon("the stop", stopping).await.unwrap().unwrap();
    assert!(calls.is_idle());
    assert!(!host.types(&session).await.contains(&"tool.call.started".into()));
    host.stop().await;
}

#[tokio::test]
async fn a_runtime_cannot_report_on_a_tool_that_the_host_runs() {
    let (mut host, mut calls) = start().await;
    let (session, _runtime, mut agent) = asking(&mut host, Mode::Yolo, &["a"]).await;
    let call = calls.next().await;
    agent.say_all([started("a"), completed("a")]).await;
    agent.heard().await;
    call.succeed("found");
    assert_eq!(agent.next_message().await, EngineMessage::Result("a".into(), "found".into()));
    assert_eq!(completion(&host, &session).await.result_preview, Some("found".into()));
    host.stop().await;
}

#[tokio::test]
async fn a_tool_that_is_asked_for_again_is_decided_and_run_again_and_only_the_last_result_is_told() {
    let (mut host, mut calls) = start().await;
    let (session, _runtime, mut agent) = asking(&mut host, Mode::Yolo, &["a"]).await;
    let first = calls.next().await;
    agent.say(asks_host("lookup", "a")).await;
    let second = calls.next().await;
    first.succeed("late");
    second.succeed("found");
    assert_eq!(agent.next_message().await, EngineMessage::Result("a".into(), "found".into()));
    agent.finish().await;
    host.wait_until(&session, "the end", |event| event.body.ends_task()).await;
    assert_eq!(agent.messages_so_far(), []);
    for name in ["tool.call.approved", "tool.call.started", "tool.call.completed"] {
        assert_eq!(host.types(&session).await.into_iter().filter(|known| known == name).count(), 2, "{name}");
    }
    host.stop().await;
}
