//! Calls overtake each other, except those that change the same session; a client that goes takes its reads with it.

use roost_engine::adapter::Availability;
use serde_json::{Value, json};
use testkit::fake::EngineMessage;
use testkit::{facts, soon};

use crate::kit::{Client, Door};
use crate::stage::{Scene, unlimited};

/// A session whose runtime asks for leave and then takes no answer.
async fn deaf(door: &mut Door, client: &mut Client) -> Scene {
    let scene = door.scene(client).await;
    scene.agent.say_all([facts::requested("call"), facts::asks("call")]).await;
    client.event("pty_permission").await;
    scene.agent.stop_reading();
    scene
}

fn allow(scene: &Scene) -> Value {
    json!({ "tool_use_id": "call", "decision": "allow", "session_id": scene.session })
}

#[tokio::test]
async fn a_slow_call_keeps_no_other_waiting() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let mut scene = deaf(&mut door, &mut client).await;
    let slow = client.ask("permission/respond", allow(&scene)).await;
    client.event("pty_permission_resolved").await;
    client.call("status/health", json!({})).await.unwrap();
    client.call("session/state", json!({ "session_id": scene.session })).await.unwrap();
    let elsewhere = json!({ "workspace_id": scene.workspace, "prompt": "meanwhile" });
    client.call("session/send", elsewhere).await.unwrap();
    scene.agent.read_again();
    client.answer(slow).await.unwrap();
    assert_eq!(scene.agent.next_message().await, EngineMessage::Approved("call".into()));
}

#[tokio::test]
async fn what_changes_one_session_happens_in_the_order_in_which_it_was_said() {
    let mut door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    let native =
        client.call("session/state", json!({ "session_id": scene.session })).await.unwrap()["claude_session_id"]
            .clone();
    let mut calls = Vec::new();
    for k in 0..40 {
        // Whichever of its names it is called by.
        let id = if k % 2 == 0 { json!(scene.session) } else { native.clone() };
        calls.push(client.ask("session/send", json!({ "session_id": id, "prompt": k.to_string() })).await);
    }
    for call in calls {
        client.answer(call).await.unwrap();
    }
    let state = client.call("session/state", json!({ "session_id": scene.session })).await.unwrap();
    let texts: Vec<_> =
        state["queue"].as_array().unwrap().iter().map(|one| one["message"]["content"][0]["text"].clone()).collect();
    assert_eq!(json!(texts), json!((0..40).map(|k| k.to_string()).collect::<Vec<_>>()));
}

#[tokio::test]
async fn a_batch_keeps_the_order_of_its_session_too() {
    let mut door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    let send = |k: usize| {
        let params = json!({ "session_id": scene.session, "prompt": k.to_string() });
        json!({ "jsonrpc": "2.0", "id": k, "method": "session/send", "params": params })
    };
    client.send(&json!((0..40).map(send).collect::<Vec<_>>()).to_string()).await;
    assert_eq!(client.reply().await.as_array().unwrap().len(), 40);
    let state = client.call("session/state", json!({ "session_id": scene.session })).await.unwrap();
    let texts: Vec<_> =
        state["queue"].as_array().unwrap().iter().map(|one| one["message"]["content"][0]["text"].clone()).collect();
    assert_eq!(json!(texts), json!((0..40).map(|k| k.to_string()).collect::<Vec<_>>()));
}

#[tokio::test]
async fn more_calls_than_run_at_once_are_all_answered() {
    let door = Door::open().await;
    let mut client = door.client().await;
    let mut calls = Vec::new();
    for _ in 0..500 {
        calls.push(client.ask("status/get", json!({})).await);
    }
    for call in calls {
        client.answer(call).await.unwrap();
    }
}

#[tokio::test]
async fn a_command_whose_client_is_gone_is_carried_out() {
    let mut door = Door::open().await;
    let (mut client, mut other) = (door.client().await, door.client().await);
    let mut scene = deaf(&mut door, &mut client).await;
    client.ask("permission/respond", allow(&scene)).await;
    other.event("pty_permission_resolved").await;
    drop(client);
    let state = json!({ "session_id": scene.session });
    let gone = async { while other.call("session/state", state.clone()).await.unwrap()["viewers"] != json!([]) {} };
    soon("the client is gone", gone).await;
    scene.agent.read_again();
    assert_eq!(scene.agent.next_message().await, EngineMessage::Approved("call".into()));
}

#[tokio::test]
async fn a_command_over_http_whose_client_is_gone_is_carried_out() {
    use tokio::io::AsyncWriteExt;
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let token = door.token().await;
    let mut scene = deaf(&mut door, &mut client).await;
    let body =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "permission/respond", "params": allow(&scene) }).to_string();
    let mut stream = tokio::net::TcpStream::connect(door.address).await.unwrap();
    let head = format!(
        "POST /api/rpc HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    client.event("pty_permission_resolved").await;
    drop(stream);
    scene.agent.read_again();
    assert_eq!(scene.agent.next_message().await, EngineMessage::Approved("call".into()));
}

#[tokio::test]
async fn a_read_whose_client_is_gone_is_given_up() {
    // Whoever pairs has said hello before, and what a look found counts for a while.
    let door = Door::open_with(|settings| settings.require_auth = false).await;
    let adapter = door.harness.home.adapter.clone();
    adapter.is_found(None);
    let (mut client, _) = door.upgrade("/ws", &[]).await.ok().unwrap();
    client.ask("initialize", json!({})).await;
    adapter.looked_for().await;
    drop(client);
    adapter.given_up().await;
    adapter.is_found(Some(Availability::Installed { version: None }));
    door.client().await;
}

#[tokio::test]
async fn a_prompt_for_an_agent_that_is_busy_elsewhere_is_refused_and_not_kept() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let folder = door.harness.home.path().join("other");
    let other = client.call("workspace/add", json!({ "path": folder, "create_if_missing": true })).await.unwrap();
    let sent = client.call("session/send", json!({ "workspace_id": other["id"], "prompt": "work" })).await.unwrap();
    let (_runtime, agent) = door.runtimes().task().await;
    // The default workspace is free, the session that is named is not.
    let run = json!({ "prompt": "too", "mode": "continue", "session_id": sent["session_id"] });
    let fault = client.call("agent/run", run).await.unwrap_err();
    assert_eq!((&fault["code"], &fault["data"]["session_id"]), (&json!(-32001), &sent["session_id"]));
    let state = client.call("session/state", json!({ "session_id": sent["session_id"] })).await.unwrap();
    assert_eq!(state["queue"], json!([]));
    agent.finish().await;
}

#[tokio::test]
async fn a_second_run_of_a_busy_agent_is_refused_until_it_is_stopped() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let ran = client.call("agent/run", json!({ "prompt": "one" })).await.unwrap();
    assert_eq!((&ran["status"], &ran["mode"], &ran["agent_type"]), (&json!("started"), &json!("new"), &json!("fake")));
    let (mut runtime, mut agent) = door.runtimes().task().await;
    let fault = client.call("agent/run", json!({ "prompt": "two" })).await.unwrap_err();
    assert_eq!((&fault["code"], &fault["data"]["code"]), (&json!(-32001), &json!("CLAUDE_ALREADY_RUNNING")));
    assert_eq!(fault["data"]["details"]["current_state"], "running");
    let stop = client.ask("agent/stop", json!({})).await;
    assert_eq!(agent.next_message().await, EngineMessage::Stop);
    agent.finish().await;
    assert_eq!(client.answer(stop).await.unwrap()["status"], "stopped");
    let fault = client.call("agent/stop", json!({})).await.unwrap_err();
    assert_eq!((&fault["code"], &fault["data"]["code"]), (&json!(-32002), &json!("CLAUDE_NOT_RUNNING")));
    let again = json!({ "prompt": "three", "mode": "continue", "session_id": ran["session_id"] });
    assert_eq!(client.call("agent/run", again).await.unwrap()["session_id"], ran["session_id"]);
    assert_eq!(runtime.task().await.prompt(), "three");
}
