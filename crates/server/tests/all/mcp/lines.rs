//! MCP over the local socket, which `roost gateway serve --stdio` uses.

use serde_json::{Value, json};
use testkit::mcp_fixture::FixtureEra::{Legacy, Modern};
use testkit::soon;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use super::client::LEGACY;
use super::fixture_gateway::FixtureGateway;
use crate::kit::Door;

struct LineClient(BufReader<UnixStream>);

impl LineClient {
    async fn attach(door: &Door, attach: Value) -> Self {
        let mut client = Self(BufReader::new(UnixStream::connect(door.server.socket()).await.unwrap()));
        client.send(attach).await;
        client
    }

    async fn initialize(&mut self) {
        let params = json!({ "protocolVersion": LEGACY, "capabilities": { "elicitation": {} } });
        self.send(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })).await;
        assert_eq!(self.next().await.unwrap()["result"]["protocolVersion"], LEGACY);
    }

    async fn send(&mut self, message: Value) {
        self.0.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn call(&mut self, id: u64, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
    }

    async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        soon("a line", self.0.read_line(&mut line)).await.unwrap();
        serde_json::from_str(&line).ok()
    }
}

async fn door() -> (FixtureGateway, Door) {
    let gateway = FixtureGateway::start(&[("old", Legacy), ("new", Modern)]).await;
    let door = Door::open_with_gateway(gateway.endpoint.clone(), |_| {}).await;
    (gateway, door)
}

#[tokio::test]
async fn a_slow_call_does_not_hold_up_others_and_its_questions_and_notifications_come_between() {
    let (_gateway, door) = door().await;
    let mut client = LineClient::attach(&door, json!({ "mcp_namespace": "old" })).await;
    client.initialize().await;
    client.call(1, "tools/call", json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } })).await;
    let question = client.next().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    client.call(2, "ping", json!({})).await;
    assert_eq!(client.next().await.unwrap()["id"], 2);
    client.call(3, "tools/call", json!({ "name": "test_trigger_tool_change" })).await;
    let methods = [client.next().await.unwrap(), client.next().await.unwrap()];
    assert!(methods.iter().any(|message| message["method"] == "notifications/tools/list_changed"), "{methods:?}");
    client.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } })).await;
    assert_eq!(client.next().await.unwrap()["id"], 1);
}

#[tokio::test]
async fn both_eras_are_spoken_over_one_connection() {
    let (_gateway, door) = door().await;
    let mut client = LineClient::attach(&door, json!({ "mcp_namespace": null })).await;
    client.call(1, "tools/list", json!({})).await;
    assert_eq!(client.next().await.unwrap()["error"]["code"], -32600, "neither a session nor a revision");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    client.call(2, "server/discover", json!({ "_meta": meta })).await;
    assert_eq!(client.next().await.unwrap()["result"]["supportedVersions"], json!(["2026-07-28"]));
    client.call(3, "subscriptions/listen", json!({ "_meta": meta, "notifications": {} })).await;
    assert_eq!(client.next().await.unwrap()["method"], "notifications/subscriptions/acknowledged");
    client.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 3 } })).await;
    client.initialize().await;
    client.send(json!([])).await;
    assert_eq!(client.next().await.unwrap()["error"]["code"], -32600);
}

#[tokio::test]
async fn answers_still_come_after_the_client_has_closed_its_side() {
    let (_gateway, door) = door().await;
    let mut client = LineClient::attach(&door, json!({ "mcp_namespace": "new" })).await;
    client.initialize().await;
    client.call(1, "tools/call", json!({ "name": "test_tool_with_progress" })).await;
    client.0.get_mut().shutdown().await.unwrap();
    assert_eq!(client.next().await.unwrap()["id"], 1);
    assert_eq!(client.next().await, None);
}

#[tokio::test]
async fn a_namespace_that_nobody_has_is_refused_in_a_line() {
    let (_gateway, door) = door().await;
    let mut client = LineClient::attach(&door, json!({ "mcp_namespace": "nobody" })).await;
    assert_eq!(client.next().await.unwrap()["error"]["code"], -32600);
    assert_eq!(client.next().await, None);
}
