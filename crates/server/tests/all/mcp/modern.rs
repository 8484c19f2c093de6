//! Modern clients: requests that stand alone, input that a service needs, and subscriptions.

use serde_json::{Value, json};
use testkit::mcp_fixture::FixtureEra::{Legacy, Modern};
use testkit::mcp_fixture::McpFixture;
use testkit::soon;

use super::client::McpClient;
use super::fixture_gateway::FixtureGateway;
use crate::kit::Door;

async fn gateway() -> (FixtureGateway, Door) {
    let gateway = FixtureGateway::start(&[("old", Legacy), ("new", Modern)]).await;
    let door = Door::open_with_gateway(gateway.endpoint.clone(), |_| {}).await;
    (gateway, door)
}

fn call(name: &str) -> Value {
    json!({ "name": name, "arguments": {} })
}

/// The same call with an answer to everything that it needs.
fn continued(mut call: Value, required: &Value) -> Value {
    for key in required["inputRequests"].as_object().unwrap().keys() {
        call["inputResponses"][key] = json!({ "action": "accept", "content": { "name": "Ada" } });
    }
    if let Some(state) = required.get("requestState") {
        call["requestState"] = state.clone();
    }
    call
}

#[tokio::test]
async fn a_call_that_needs_input_is_taken_up_again_and_judged_once() {
    let (gateway, door) = gateway().await;
    for namespace in ["old", "new"] {
        let client = McpClient::new(&door, &format!("/mcp/{namespace}")).await;
        let call = call("test_input_required_result_elicitation");
        let required = client.call("tools/call", call.clone()).await;
        assert_eq!(required["resultType"], "input_required", "{namespace}");
        let result = client.call("tools/call", continued(call, &required)).await;
        assert_eq!(result["content"][0]["text"], "Hello, Ada!", "{namespace}");
        assert_eq!(result["resultType"], "complete");
    }
    assert_eq!(gateway.governor.judged.lock().len(), 2);
    let finished = gateway.governor.finished.lock();
    assert!(finished.len() == 2 && finished.iter().all(|(_, report)| report.success), "{finished:?}");
}

#[tokio::test]
async fn a_parked_call_is_for_its_own_client_and_its_own_arguments_and_once_only() {
    let (_gateway, door) = gateway().await;
    let client = McpClient::new(&door, "/mcp/old").await;
    let elicit = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
    let required = client.call("tools/call", elicit.clone()).await;
    let stranger = McpClient::new(&door, "/mcp/old").await;
    let error = stranger.error("tools/call", continued(elicit.clone(), &required)).await;
    assert_eq!(error["code"], -32602, "of another device: {error}");
    let other = json!({ "name": "test_elicitation", "arguments": { "message": "Else?" } });
    assert_eq!(client.error("tools/call", continued(other, &required)).await["code"], -32602, "for another call");
    let result = client.call("tools/call", continued(elicit.clone(), &required)).await;
    assert!(result["content"][0]["text"].as_str().unwrap().contains("Ada"), "{result}");
    let again = client.error("tools/call", continued(elicit, &required)).await;
    assert_eq!(again["code"], -32602, "a second time");
}

#[tokio::test]
async fn a_legacy_service_that_asks_forever_gets_no_more_answers_in_the_end() {
    let gateway = FixtureGateway::over(vec![("old", McpFixture::new(Legacy).asking_forever())]).await;
    let door = Door::open_with_gateway(gateway.endpoint.clone(), |_| {}).await;
    let client = McpClient::new(&door, "/mcp/old").await;
    let call = call("test_simple_text");
    let mut answer = client.request("tools/call", call.clone()).await.last().await;
    let mut asked = 0;
    while answer["result"]["resultType"] == "input_required" {
        asked += 1;
        answer = client.request("tools/call", continued(call.clone(), &answer["result"])).await.last().await;
    }
    assert_eq!((asked, &answer["error"]["code"]), (64, &json!(-32601)), "{answer}");
    assert_eq!(gateway.governor.finished.lock().len(), 1, "one call, one record");
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_not_asked() {
    let (_gateway, door) = gateway().await;
    let client = McpClient::new(&door, "/mcp/old").await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": super::client::MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" }, "_meta": meta });
    let answer = client.post(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })).await;
    assert_eq!(answer.last().await["error"]["code"], -32601);
}

#[tokio::test]
async fn progress_and_log_lines_come_before_the_answer_if_they_are_wanted() {
    let (_gateway, door) = gateway().await;
    for namespace in ["old", "new"] {
        let client = McpClient::new(&door, &format!("/mcp/{namespace}")).await;
        let params = json!({ "name": "test_tool_with_progress", "_meta": { "progressToken": "p" } });
        let mut answer = client.request("tools/call", params).await;
        for progress in [0, 50, 100] {
            let told = answer.next().await.unwrap();
            assert_eq!(
                (&told["params"]["progressToken"], &told["params"]["progress"]),
                (&json!("p"), &json!(progress))
            );
        }
        assert_eq!(answer.next().await.unwrap()["id"], 1);
        let level = json!({ "io.modelcontextprotocol/logLevel": "error" });
        let params = json!({ "name": "test_tool_with_logging", "_meta": level });
        let only = client.request("tools/call", params).await.next().await.unwrap();
        assert_eq!(only["id"], 1, "lines below the level are held back");
    }
}

#[tokio::test]
async fn a_listener_hears_of_what_it_asked_for_until_it_leaves() {
    let (gateway, door) = gateway().await;
    for namespace in ["old", "new"] {
        let client = McpClient::new(&door, &format!("/mcp/{namespace}")).await;
        let wanted = json!({ "promptsListChanged": true, "resourceSubscriptions": ["test://watched-resource"] });
        let mut stream = client.request("subscriptions/listen", json!({ "notifications": wanted })).await;
        let acknowledged = stream.next().await.unwrap();
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(acknowledged["params"]["notifications"], wanted);
        client.call("tools/call", call("test_trigger_tool_change")).await;
        client.call("tools/call", call("test_trigger_prompt_change")).await;
        let changed = stream.next().await.unwrap();
        assert_eq!(changed["method"], "notifications/prompts/list_changed", "tools were not asked for");
        assert_eq!(changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
        let fixture = gateway.backend.fixture(namespace).clone();
        let touching = async {
            loop {
                fixture.touch("test://watched-resource");
                tokio::task::yield_now().await;
            }
        };
        let told = tokio::select! { told = stream.next() => told.unwrap(), () = touching => unreachable!() };
        assert_eq!(told["params"]["uri"], "test://watched-resource", "{namespace}");
    }
}

#[tokio::test]
async fn a_client_that_hangs_up_cancels_its_call() {
    let (gateway, door) = gateway().await;
    let client = McpClient::new(&door, "/mcp/old").await;
    let params = json!({ "name": "test_tool_with_progress", "_meta": { "progressToken": "p" } });
    let mut answer = client.request("tools/call", params).await;
    answer.next().await.unwrap();
    drop(answer);
    soon("the report", async {
        while gateway.governor.finished.lock().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let finished = gateway.governor.finished.lock();
    assert_eq!(finished[0].1.error.as_deref(), Some("the client cancelled the call"));
}
