//! What clients are told of the lists of services with connections of their own: how long they are good, when they
//! change, and what is missing.

use std::sync::Arc;

use roost_gateway::lifecycle::ServiceFault;
use roost_model::ids::ServiceId;
use serde_json::{Value, json};
use testkit::Home;
use testkit::mcp_servers::Behaviour;

use super::client::McpClient;
use super::fixture_gateway::RecordingGovernor;
use crate::control::manifest;
use crate::kit::Door;

async fn door() -> Door {
    let governor = Arc::new(RecordingGovernor::default());
    Door::over_with_own_tools(Home::new().start_with(|_| {}).await, governor, |_| {}).await
}

/// Declares a service and starts it; what came of it is not looked at.
async fn start(door: &Door, module: &str) -> ServiceId {
    let id = door.services.apply(&manifest(module)).await.unwrap().id.clone();
    door.services.start_service(&id).await.unwrap();
    id
}

#[tokio::test]
async fn lists_are_good_for_as_long_as_every_service_promises_and_no_longer_when_one_is_missing() {
    let door = door().await;
    let client = McpClient::new(&door, "/mcp").await;
    let good_for = async || {
        let listed = client.call("tools/list", json!({})).await;
        assert_eq!(listed["cacheScope"], "private");
        assert_eq!(client.call("server/discover", json!({})).await["ttlMs"] == 0, listed["ttlMs"] == 0);
        listed["ttlMs"].as_u64().unwrap()
    };
    door.servers.at("notes-mcp").promise(3_600_000);
    start(&door, "notes").await;
    assert!((1..=3_600_000).contains(&good_for().await));
    door.servers.at("maps-mcp").promise(60_000);
    let maps = start(&door, "maps").await;
    assert!((1..=60_000).contains(&good_for().await), "the shortest promise counts");
    door.services.stop_service(&maps).await.unwrap();
    assert_eq!(good_for().await, 0, "a service that is missing may come back at any time");
    door.services.remove(&maps).await.unwrap();
    start(&door, "silent").await;
    assert_eq!(good_for().await, 0, "a service that promises nothing");
}

#[tokio::test]
async fn a_client_hears_of_changes_that_its_own_connection_tells_of_and_others_do_not() {
    let door = door().await;
    let notes = start(&door, "notes").await;
    let (user, other) = (McpClient::new(&door, "/mcp").await, McpClient::new(&door, "/mcp").await);
    let listen = async |client: &McpClient| {
        let wanted = json!({ "toolsListChanged": true, "promptsListChanged": true });
        let mut stream = client.request("subscriptions/listen", json!({ "notifications": wanted })).await;
        assert_eq!(stream.next().await.unwrap()["method"], "notifications/subscriptions/acknowledged");
        stream
    };
    let (mut heard, unheard) = (listen(&user).await, listen(&other).await);
    user.call("tools/call", json!({ "name": "notes__echo", "arguments": {} })).await;
    door.servers.at("notes-mcp").say("notifications/prompts/list_changed").await;
    assert_eq!(heard.next().await.unwrap()["method"], "notifications/prompts/list_changed");
    door.services.stop_service(&notes).await.unwrap();
    for mut stream in [heard, unheard] {
        assert_eq!(stream.next().await.unwrap()["method"], "notifications/tools/list_changed");
    }
}

#[tokio::test]
async fn what_cannot_be_used_is_named_in_lists_in_instructions_and_in_the_status() {
    let door = door().await;
    door.servers.at("broken-mcp").on_connect(Behaviour::Fails(ServiceFault::Unreachable));
    start(&door, "broken").await;
    start(&door, "notes").await;
    let client = McpClient::new(&door, "/mcp").await;
    let listed = client.call("tools/list", json!({})).await;
    let missing = &listed["_meta"]["dev.roost/missing"];
    assert_eq!((&missing[0]["namespace"], &missing[0]["health"]), (&json!("broken"), &json!("UNREACHABLE")));
    assert_eq!(missing.as_array().unwrap().len(), 1, "{missing}");
    let discovered = client.call("server/discover", json!({})).await;
    assert!(discovered["instructions"].as_str().unwrap().contains("broken cannot be used now"), "{discovered}");
    let status: Value = door.local().await.call("status/get", json!({})).await.unwrap();
    assert_eq!(status["gateway"]["healthy"], false);
    assert_eq!(status["gateway"]["degraded"], json!(["broken"]));
    door.servers.at("broken-mcp").on_connect(Behaviour::Answers);
    let broken = missing[0]["service"].as_str().unwrap().into();
    door.services.start_service(&broken).await.unwrap();
    let status: Value = door.local().await.call("status/get", json!({})).await.unwrap();
    assert_eq!((&status["gateway"]["healthy"], &status["gateway"]["degraded"]), (&json!(true), &json!([])));
}
