//! The token of a hosted agent at the TCP door: it opens `/mcp` while its runtime lives, and nothing else ever.

use std::sync::Arc;

use roost_engine::adapter::{McpServer, McpServerTransport};
use roost_model::ids::SessionId;
use serde_json::json;
use testkit::fake::{FakeSession, FakeTask, How};
use testkit::mcp_fixture::FixtureEra::Legacy;
use testkit::{Harness, Home, soon};

use crate::kit::Door;
use crate::mcp::client::McpClient;
use crate::mcp::fixture_gateway::FixtureGateway;

/// An engine that attaches a server to every runtime, with the token of its session.
async fn engine() -> Harness {
    Home::new()
        .start_with(|config| {
            config.mcp_servers = Arc::new(|_, token| {
                let headers = [("authorization".to_owned(), token.expose().to_owned())].into();
                let transport = McpServerTransport::Http { url: "http://127.0.0.1:1/mcp".into(), headers };
                vec![McpServer { name: "roost".into(), transport }]
            });
        })
        .await
}

async fn door(require_auth: bool) -> Door {
    Door::over(engine().await, |settings| settings.require_auth = require_auth).await
}

/// A session whose agent works, and the agent's token.
struct WorkingAgent {
    session: SessionId,
    token: String,
    task: FakeTask,
    _runtime: FakeSession,
}

impl WorkingAgent {
    async fn start(door: &mut Door) -> Self {
        let session = door.harness.session().await;
        door.harness.begin(&session, "go").await;
        let opening = door.runtimes().opening().await;
        let How::Create(open) = &opening.how else { panic!() };
        let McpServerTransport::Http { headers, .. } = &open.mcp_servers[0].transport else { panic!() };
        let token = headers["authorization"].clone();
        let mut runtime = opening.accept();
        let task = runtime.task().await;
        Self { session, token, task, _runtime: runtime }
    }
}

#[tokio::test]
async fn an_agents_token_opens_the_gateway_and_nothing_else_whether_tokens_are_asked_for_or_not() {
    for require_auth in [true, false] {
        let mut door = door(require_auth).await;
        let agent = WorkingAgent::start(&mut door).await;
        let token = Some(agent.token.as_str());
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        for path in ["/mcp", "/mcp/docs"] {
            let (status, answer) = door.post(path, token, &call).await;
            assert!(![401, 403].contains(&status), "{path}: {status} {answer}");
        }
        let answer_itself = json!({ "jsonrpc": "2.0", "id": 1, "method": "permission/respond", "params": {
            "session_id": agent.session, "decision": "allow" } });
        for path in ["/api/rpc", "/rpc", "/acp", "/api/services/apply", "/mcpx", "/api/auth/revoke", "/"] {
            let (status, answer) = door.post(path, token, &answer_itself).await;
            assert_eq!(status, 403, "{path}: {answer}");
        }
        for path in ["/api/status", "/api/sessions", "/health", "/api/events"] {
            assert_eq!(door.get(path, token).await.0, 403, "{path}");
        }
        assert!(door.connect(&agent.token).await.is_err(), "no WebSocket");
    }
}

#[tokio::test]
async fn an_agents_token_dies_with_its_runtime_and_is_of_no_use_to_a_device() {
    let mut door = door(true).await;
    let agent = WorkingAgent::start(&mut door).await;
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let refresh = json!({ "refresh_token": agent.token });
    let (status, _) = door.post("/api/auth/refresh", None, &refresh).await;
    assert!((400..500).contains(&status), "it is exchanged for nothing: {status}");
    let guessed = format!("roost_a_{}", "0".repeat(64));
    assert_eq!(door.post("/mcp", Some(&guessed), &call).await.0, 401);
    agent.task.finish().await;
    door.harness.engine.close(agent.session.as_str(), "over").await.unwrap();
    assert_eq!(door.post("/mcp", Some(&agent.token), &call).await.0, 401, "its runtime is gone");
}

#[tokio::test]
async fn what_an_agent_listens_to_ends_with_its_runtime() {
    let gateway = FixtureGateway::start(&[("old", Legacy)]).await;
    let mut door = Door::over_with_gateway(engine().await, gateway.endpoint.clone(), |_| {}).await;
    let agent = WorkingAgent::start(&mut door).await;
    let client = McpClient::with_token(&door, "/mcp", agent.token.clone());
    let wanted = json!({ "notifications": { "toolsListChanged": true } });
    let mut stream = client.request("subscriptions/listen", wanted).await;
    let acknowledged = stream.next().await.unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    agent.task.finish().await;
    door.harness.engine.close(agent.session.as_str(), "over").await.unwrap();
    assert_eq!(stream.next().await, None, "the stream ends");
}

#[tokio::test]
async fn a_session_of_an_agent_ends_with_its_runtime_and_so_does_what_a_service_asks_in_it() {
    let gateway = FixtureGateway::start(&[("old", Legacy)]).await;
    let mut door = Door::over_with_gateway(engine().await, gateway.endpoint.clone(), |_| {}).await;
    let agent = WorkingAgent::start(&mut door).await;
    let client = McpClient::with_token(&door, "/mcp", agent.token.clone()).initialize().await;
    let call = json!({ "name": "old__test_elicitation", "arguments": { "message": "Who?" } });
    let mut answer = client.request("tools/call", call).await;
    assert_eq!(answer.next().await.unwrap()["method"], "elicitation/create");
    assert!(gateway.governor.finished.lock().is_empty());
    agent.task.finish().await;
    door.harness.engine.close(agent.session.as_str(), "over").await.unwrap();
    soon("the call ends", async {
        while gateway.governor.finished.lock().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}
