//! Calls that run as tasks: on the aggregate their ids name the service, at a service's own address they are its own.

use serde_json::{Value, json};
use testkit::mcp_fixture::FixtureEra::{self, Legacy, Modern};
use testkit::mcp_fixture::McpFixture;
use testkit::soon;

use super::client::McpClient;
use super::fixture_gateway::FixtureGateway;
use crate::kit::Door;

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// A door before a service with tasks, `lab`, and one without, `old`.
async fn gateway(era: FixtureEra) -> (FixtureGateway, Door) {
    let services = vec![("lab", McpFixture::new(era).with_tasks()), ("old", McpFixture::new(era))];
    let gateway = FixtureGateway::over(services).await;
    let door = Door::open_with_gateway(gateway.endpoint.clone(), |_| {}).await;
    (gateway, door)
}

fn call(name: &str) -> Value {
    json!({ "name": name, "arguments": {}, "task": { "ttl": 60000 } })
}

#[tokio::test]
async fn a_task_of_a_legacy_client_is_found_cancelled_and_told_of_under_the_name_that_the_aggregate_gave_it() {
    let (_gateway, door) = gateway(Legacy).await;
    let client = McpClient::legacy(&door, "/mcp").await;
    let mut stream = client.send("GET", "", "").await;
    let begun = client.call("tools/call", call("lab__test_simple_text")).await;
    assert_eq!((&begun["task"]["taskId"], &begun["task"]["status"]), (&json!("lab/task/1"), &json!("working")));
    let id = json!({ "taskId": "lab/task/1" });
    assert_eq!(client.call("tasks/get", id.clone()).await["taskId"], "lab/task/1");
    let result = client.call("tasks/result", id.clone()).await;
    assert_eq!(result["content"][0]["text"], "It is done.");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/related-task"], id);
    assert_eq!(client.call("tasks/cancel", id).await["status"], "cancelled");
    let told = stream.next().await.unwrap();
    assert_eq!(
        (&told["method"], &told["params"]["taskId"]),
        (&json!("notifications/tasks/status"), &json!("lab/task/1"))
    );
    for unknown in ["task/1", "old/task/1", "none/task/1", "lab/other"] {
        let error = client.error("tasks/get", json!({ "taskId": unknown })).await;
        assert_eq!(error["code"], -32602, "{unknown}: {error}");
    }
    assert_eq!(client.error("tasks/list", json!({})).await["code"], -32601, "there is no list of all tasks");
}

#[tokio::test]
async fn a_task_of_a_modern_client_is_found_under_the_name_that_the_aggregate_gave_it() {
    let (gateway, door) = gateway(Modern).await;
    let client = McpClient::new(&door, "/mcp").await.that_can("extensions", json!({ EXTENSION: {} }));
    let discovered = client.call("server/discover", json!({})).await;
    assert_eq!(discovered["capabilities"]["extensions"], json!({ EXTENSION: {} }));
    let begun = client.call("tools/call", call("lab__test_simple_text")).await;
    assert_eq!((&begun["resultType"], &begun["taskId"]), (&json!("task"), &json!("lab/task/1")));
    let found = client.call("tasks/get", json!({ "taskId": "lab/task/1" })).await;
    assert_eq!((&found["taskId"], &found["status"]), (&json!("lab/task/1"), &json!("working")));
    assert!(gateway.governor.finished.lock().is_empty(), "the call is recorded when its task ends");
    assert_eq!(client.call("tasks/cancel", json!({ "taskId": "lab/task/1" })).await["status"], "cancelled");
    assert_eq!(errors(&gateway), [Some("the task was cancelled".to_owned())]);
}

/// What the record says of each call that is over.
fn errors(gateway: &FixtureGateway) -> Vec<Option<String>> {
    gateway.governor.finished.lock().iter().map(|(_, report)| report.error.clone()).collect()
}

#[tokio::test]
async fn a_task_is_known_to_whoever_made_its_call_and_to_nobody_else() {
    for (era, can) in [(Legacy, "tasks"), (Modern, "extensions")] {
        let (gateway, door) = gateway(era).await;
        let client = async || {
            let client = McpClient::new(&door, "/mcp/lab").await.that_can(can, json!({ EXTENSION: {} }));
            match era {
                Legacy => client.initialize().await,
                Modern => client,
            }
        };
        let (owner, stranger) = (client().await, client().await);
        owner.call("tools/call", call("test_simple_text")).await;
        let id = json!({ "taskId": "task/1" });
        gateway.backend.called.lock().clear();
        for method in ["tasks/get", "tasks/update", "tasks/result", "tasks/cancel"] {
            let refused = stranger.error(method, id.clone()).await;
            assert_eq!(refused["code"], -32602, "{method}: {refused}");
            assert!(refused["message"].as_str().unwrap().contains("no call of yours became this task"), "{refused}");
        }
        assert!(gateway.backend.called.lock().is_empty(), "the service hears of none of it");
        let mine = owner.call("tasks/list", json!({})).await;
        let theirs = stranger.call("tasks/list", json!({})).await;
        assert_eq!((mine["tasks"].as_array().unwrap().len(), &theirs["tasks"]), (1, &json!([])));
        assert!(errors(&gateway).is_empty());
        assert_eq!(owner.call("tasks/get", id).await["status"], "working");
    }
}

#[tokio::test]
async fn the_record_of_a_call_says_how_its_task_ended_or_that_nobody_saw_it() {
    let (gateway, door) = gateway(Legacy).await;
    let client = McpClient::legacy(&door, "/mcp/lab").await;
    let id = json!({ "taskId": "task/1" });
    client.call("tools/call", call("test_simple_text")).await;
    client.call("tasks/get", id.clone()).await;
    assert!(errors(&gateway).is_empty(), "it goes on");
    client.call("tasks/result", id.clone()).await;
    client.call("tasks/cancel", id).await;
    assert_eq!(errors(&gateway), [None], "its end is recorded once");
    client.call("tools/call", call("test_simple_text")).await;
    soon("the end", gateway.endpoint.close()).await;
    assert_eq!(errors(&gateway), [None, Some("the end of its task was not seen".to_owned())]);
}

#[tokio::test]
async fn tasks_keep_their_ids_at_the_address_of_their_service_and_are_unknown_to_clients_of_the_other_era() {
    let (_gateway, door) = gateway(Legacy).await;
    let client = McpClient::legacy(&door, "/mcp/lab").await;
    let begun = client.call("tools/call", call("test_simple_text")).await;
    assert_eq!(begun["task"]["taskId"], "task/1");
    assert_eq!(client.call("tasks/get", json!({ "taskId": "task/1" })).await["taskId"], "task/1");
    for path in ["/mcp", "/mcp/lab"] {
        let modern = McpClient::new(&door, path).await;
        let discovered = modern.call("server/discover", json!({})).await;
        assert!(discovered["capabilities"]["tasks"].is_null(), "{discovered}");
        assert_eq!(modern.error("tasks/get", json!({ "taskId": "lab/task/1" })).await["code"], -32601, "{path}");
    }
}
