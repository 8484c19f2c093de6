//! A client runs an agent, answers it, and sees everything.

use serde_json::json;
use testkit::facts;
use testkit::fake::EngineMessage;

use crate::kit::Door;

#[tokio::test]
async fn hello_tells_the_versions_the_capabilities_and_the_runtimes() {
    let door = Door::open().await;
    let mut client = door.connect(&door.token().await).await.unwrap();
    let hello = client.hello().await;
    assert_eq!(hello["protocolVersion"], "1.0");
    assert_eq!(hello["serverInfo"], hello["server_info"]);
    assert!(hello["clientId"].as_str().unwrap().len() == 36);
    let registry = &hello["capabilities"]["runtimeRegistry"];
    assert_eq!(registry["routing"]["defaultAgentType"], registry["defaultRuntime"]);
    let supported = hello["capabilities"]["supportedAgents"].as_array().unwrap();
    assert_eq!(registry["runtimes"].as_array().unwrap().len(), supported.len());
}

#[tokio::test]
async fn a_prompt_over_the_socket_runs_and_its_message_arrives_once_with_the_uuid_of_the_history() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let workspace = door.workspace().await;
    let started = client.call("session/start", json!({ "workspace_id": workspace, "mode": "new" })).await.unwrap();
    let session = started["session_id"].as_str().unwrap();
    client.call("workspace/session/watch", json!({ "workspace_id": workspace, "session_id": session })).await.unwrap();
    let send = json!({ "session_id": session, "prompt": "hello", "permission_mode": "interactive" });
    let sent = client.call("session/send", send).await.unwrap();
    assert_eq!((&sent["status"], &sent["delivery"]), (&json!("sent"), &json!("started")));
    let (_runtime, task) = door.runtimes().task().await;
    task.say(facts::output("done")).await;
    task.finish().await;
    let asked = client.event("claude_message").await;
    assert_eq!(asked["role"], "user");
    let said = client.event("claude_message").await;
    assert_eq!(said["content"][0]["text"], "done");
    assert_eq!((&said["session_id"], &said["workspace_id"]), (&json!(session), &json!(workspace)));
    client.event("stream_read_complete").await;
    let page = client.call("session/messages", json!({ "session_id": session })).await.unwrap();
    assert_eq!(page["messages"][1]["uuid"], said["uuid"]);
    assert_eq!(page["total"], 2);
}

#[tokio::test]
async fn a_prompt_that_comes_again_with_its_key_starts_nothing_twice() {
    let door = Door::open().await;
    let (mut client, mut other) = (door.client().await, door.client().await);
    let workspace = door.workspace().await;
    let send = |key: &str| json!({ "workspace_id": workspace, "prompt": "write", "mode": "new", "key": key });
    let sent = client.call("session/send", send("k1")).await.unwrap();
    assert_eq!(client.call("session/send", send("k1")).await.unwrap(), sent);
    assert_eq!(client.call("session/list", json!({})).await.unwrap()["total"], 1);
    let next = client.call("session/send", send("k2")).await.unwrap();
    assert_ne!(next["session_id"], sent["session_id"]);
    // The keys of one device say nothing to another.
    let of_other = other.call("session/send", send("k1")).await.unwrap();
    assert_ne!(of_other["session_id"], sent["session_id"]);
}

#[tokio::test]
async fn an_approval_asked_of_one_client_is_given_by_another_and_resolved_for_both() {
    let mut door = Door::open().await;
    let (mut first, mut second) = (door.client().await, door.client().await);
    let workspace = door.workspace().await;
    let send = json!({ "workspace_id": workspace, "prompt": "write", "mode": "new" });
    let sent = first.call("session/send", send).await.unwrap();
    assert_eq!(sent["auto_created"], true);
    let session = &sent["session_id"];
    let (_runtime, mut task) = door.runtimes().task().await;
    task.say_all([facts::requested("call-1"), facts::asks("call-1")]).await;
    let asked = first.event("pty_permission").await;
    assert_eq!(asked["tool_use_id"], "call-1");
    let pending = second.call("permission/pending", json!({})).await.unwrap();
    assert_eq!(pending["requests"][0]["session_id"], *session);
    let allow = json!({ "tool_use_id": asked["tool_use_id"], "decision": "allow" });
    second.call("permission/respond", allow.clone()).await.unwrap();
    assert!(matches!(task.next_message().await, EngineMessage::Approved(_)));
    for client in [&mut first, &mut second] {
        let resolved = client.event("pty_permission_resolved").await;
        assert_eq!((&resolved["decision"], &resolved["tool_use_id"]), (&json!("allow"), &asked["tool_use_id"]));
    }
    let late = first.call("permission/respond", allow).await.unwrap_err();
    assert_eq!(late["code"], -32603);
}

#[tokio::test]
async fn normalized_events_resume_after_a_cursor_without_a_gap_or_a_repetition() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let workspace = door.workspace().await;
    client.call("events/subscribe", json!({ "format": "normalized", "after": "beginning" })).await.unwrap();
    let sent = client.call("session/send", json!({ "workspace_id": workspace, "prompt": "hi" })).await.unwrap();
    let (_runtime, task) = door.runtimes().task().await;
    let (mut seen, cursor) = client.events_until("model.input").await;
    drop(client);
    task.say(facts::output("while you were away")).await;
    task.finish().await;
    let mut again = door.client().await;
    again.call("events/subscribe", json!({ "format": "normalized", "after": cursor })).await.unwrap();
    seen.extend(again.events_until("task.completed").await.0);
    seen.retain(|event| event["trace"]["session_id"] == sent["session_id"]);
    let read = again.call("log/read", json!({ "session_id": sent["session_id"] })).await.unwrap();
    assert_eq!(json!(seen), read["events"]);
}
