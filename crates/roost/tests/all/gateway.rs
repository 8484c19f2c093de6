//! The real agents use a tool of the gateway in a scripted turn: one call, asked once, one record.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use roost_engine::adapter::{McpServer, McpServerTransport};
use roost_engine::{
    Accepted, Approver, Config, Decision, Engine, Environments, GATEWAY_SERVER, NewSession, Prompt, Response,
    ResponseTo, Runtimes,
};
use roost_gateway::governance::{EngineGovernor, GovernanceOptions};
use roost_gateway::governor::{CallReport, GatewayCall, Governor, Permit};
use roost_gateway::namespace::Namespace;
use roost_gateway::principal::Principal;
use roost_log::{Log, LogOptions, SqliteLog, StateLock, StreamId};
use roost_model::approval::{Answerer, ApprovalScope};
use roost_model::event::EventBody;
use roost_model::ids::ServiceId;
use roost_model::payload::{McpToolCalledPayload, ToolCallCompletedPayload};
use roost_model::registry::RuntimeStatus;
use roost_model::tool::{PolicyResult, PolicySource, ToolExecutedBy};
use roost_process::{Environment, Isolation};
use serde_json::value::to_raw_value;
use tempfile::TempDir;
use testkit::contract::Subject;
use testkit::mcp_server::{McpHttpServer, McpToolCall};
use testkit::scripted_agent::WEATHER;
use testkit::{Harness, soon};

use crate::contract::{make_claude, make_codex, make_gemini, make_opencode};

/// The tool as the gateway names it.
const TOOL: &str = "docs__weather";
const PROMPT: &str = "SCRIPT:mcp TOOL:weather";

/// A gateway with one tool in front of the governor, and an engine whose agent it is attached to.
struct Stage {
    host: Harness<TempDir>,
    governor: Arc<EngineGovernor>,
    _gateway: McpHttpServer,
}

impl Stage {
    async fn open(make: fn(PathBuf) -> Subject) -> Self {
        let dir = TempDir::new().unwrap();
        let folder = |name: &str| dir.path().join(name);
        for name in ["work", "home", "state"] {
            std::fs::create_dir(folder(name)).unwrap();
        }
        let mut base = Environment::default();
        base.set("HOME", folder("home")).set("PATH", std::env::var_os("PATH").unwrap_or_default());
        let environments = Environments { base, namespaces: folder("namespaces"), isolation: Isolation::Shared };
        let mut config = Config::new(environments, folder("records"), folder("artifacts"));

        let governor: Arc<tokio::sync::OnceCell<(Arc<Engine>, Arc<EngineGovernor>)>> = Arc::default();
        let judges = governor.clone();
        let run = move |call| -> futures::future::BoxFuture<'static, _> {
            let judges = judges.clone();
            Box::pin(async move {
                let (engine, governor) = judges.get().expect("the engine runs").clone();
                run_tool(&engine, &governor, call).await
            })
        };
        let gateway = McpHttpServer::start(TOOL, Arc::new(run)).await;
        let url = gateway.url.clone();
        config.mcp_servers = Arc::new(move |_, token| {
            let headers = [("Authorization".to_owned(), format!("Bearer {}", token.expose()))].into();
            let transport = McpServerTransport::Http { url: url.clone(), headers };
            vec![McpServer { name: GATEWAY_SERVER.into(), transport }]
        });

        let mut runtimes = Runtimes::default();
        runtimes.register(make(folder("records")).adapter, RuntimeStatus::Active);
        let lock = StateLock::acquire(&folder("state"), "test").unwrap();
        let log = SqliteLog::open(&lock, LogOptions::default()).unwrap();
        let engine = Arc::new(Engine::start(Arc::new(log.clone()), runtimes, config).await.unwrap());
        let options = GovernanceOptions::default();
        let judge = Arc::new(EngineGovernor::new(engine.clone(), Arc::new(log.clone()), options));
        assert!(governor.set((engine.clone(), judge.clone())).is_ok());
        Self { host: Harness { engine, log, home: dir }, governor: judge, _gateway: gateway }
    }

    /// Everything that is recorded of calls.
    async fn records(&self) -> Vec<McpToolCalledPayload> {
        self.governor.close().await;
        let page = self.host.log.read(&StreamId::host(), 0, 4096).await.unwrap();
        let recorded = page.batch.iter().filter_map(|entry| match &entry.event().unwrap().body {
            EventBody::McpToolCalled(called) => Some(called.clone()),
            _ => None,
        });
        recorded.collect()
    }
}

/// What the gateway does with a call: it finds the session by its token, asks the governor, and answers.
async fn run_tool(engine: &Engine, governor: &EngineGovernor, call: McpToolCall) -> Result<String, String> {
    let session = engine.session_of_token(&call.token).ok_or("no session has this token")?;
    let (arguments, meta) = (to_raw_value(&call.arguments).unwrap(), to_raw_value(&call.meta).unwrap());
    let call = GatewayCall {
        principal: &Principal::Session(session),
        client_name: None,
        service: Some(&ServiceId::from("svc_0123456789ab")),
        namespace: Some(&Namespace::from_text("docs")),
        tool: &call.tool,
        routed_tool: "weather",
        arguments: Some(&arguments),
        meta: Some(&meta),
        annotations: None,
    };
    let ticket = match governor.judge(&call).await {
        Permit::Allowed(ticket) => ticket,
        Permit::Denied { reason } => return Err(reason),
    };
    let (duration, error) = (Duration::from_millis(1), None);
    let report = CallReport { success: true, error, duration, request_bytes: 2, response_bytes: 9 };
    governor.finish(ticket, report, Some(&to_raw_value(WEATHER).unwrap())).await;
    Ok(WEATHER.into())
}

/// The agent calls the tool; the one person who is asked allows it.
async fn uses_the_gateway(make: fn(PathBuf) -> Subject) {
    let stage = Stage::open(make).await;
    let host = &stage.host;
    let session = host.engine.create_session(NewSession::within(host.home.path().join("work"))).await.unwrap();
    let prompt = Prompt { approver: Approver::Present, ..Prompt::text(PROMPT) };
    let Accepted::Started(task) = host.engine.prompt(session.as_str(), prompt).await.unwrap() else { panic!() };
    let answering = async {
        loop {
            for asked in host.log.pending(Some(&session)).await.unwrap() {
                let decision = Decision::Allow { scope: ApprovalScope::Once };
                let to = ResponseTo::Approval { call: asked.id().into(), attempt: None, input_hash: None, decision };
                let response = Response { to, by: Answerer::default(), key: None };
                // Whoever is shown an approval a second time was too fast.
                let _ = host.engine.respond(session.as_str(), response).await;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = answering => {}
        _ = soon("the turn ends", host.wait_for_end(&session, &task)) => {}
    }

    let events = host.events(&session).await;
    let all = serde_json::to_string_pretty(&events).unwrap();
    let is_tool = |name: &str| name.starts_with("tool.call.") || name.starts_with("approval.");
    let types: Vec<_> = events.iter().map(|event| event.body.name()).filter(|name| is_tool(name)).collect();
    let expected = [
        "tool.call.requested",
        "tool.call.policy_evaluated",
        "approval.requested",
        "tool.call.policy_evaluated",
        "approval.resolved",
        "tool.call.approved",
        "tool.call.started",
        "tool.call.completed",
    ];
    assert_eq!(types, expected, "{all}");
    let completed = events.iter().find_map(|event| match &event.body {
        EventBody::ToolCallCompleted(completed) => Some(completed.clone()),
        _ => None,
    });
    let ToolCallCompletedPayload { identity, executed_by, is_error, .. } = completed.unwrap();
    assert_eq!((executed_by, is_error), (ToolExecutedBy::Codesdk, None), "{all}");
    let answers = events.iter().filter(|event| matches!(event.body, EventBody::ModelOutputCompleted(_)));
    let answers: String = answers.map(|event| serde_json::to_string(event).unwrap()).collect();
    assert!(answers.contains(WEATHER), "the model reads what the tool said: {all}");

    let records = stage.records().await;
    let [record] = &records[..] else { panic!("{records:?}") };
    assert_eq!((&record.principal, record.success), (&format!("session:{session}"), true));
    assert_eq!((record.policy.source, record.policy.result), (PolicySource::User, PolicyResult::Allow));
    assert_eq!(record.tool_call_id, Some(identity.tool_call_id));
    stage.host.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claude_uses_a_tool_of_the_gateway() {
    uses_the_gateway(make_claude).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codex_uses_a_tool_of_the_gateway() {
    uses_the_gateway(make_codex).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gemini_uses_a_tool_of_the_gateway() {
    uses_the_gateway(make_gemini).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opencode_uses_a_tool_of_the_gateway() {
    uses_the_gateway(make_opencode).await;
}
