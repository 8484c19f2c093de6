//! What survives the end of a door, and of a daemon.

use std::sync::Arc;

use roost_engine::Engine;
use roost_log::{LogOptions, SqliteLog};
use roost_model::ids::SessionId;
use serde_json::json;
use testkit::fake::{EngineMessage, How};
use testkit::{Harness, facts, soon};

use crate::kit::Door;
use crate::stage::unlimited;

#[tokio::test]
async fn sessions_workspaces_devices_and_named_cursors_survive_a_restart() {
    let mut door = Door::open_with(unlimited).await;
    let token = door.token().await;
    let mut client = door.connect(&token).await.unwrap();
    client.hello().await;
    let folder = door.harness.home.path().join("second");
    client.call("workspace/add", json!({ "path": folder, "name": "Second", "create_if_missing": true })).await.unwrap();
    let scene = door.scene(&mut client).await;
    let activate = json!({ "workspace_id": scene.workspace, "session_id": scene.session });
    client.call("workspace/session/activate", activate).await.unwrap();
    scene.agent.say(facts::output("before")).await;
    scene.agent.finish().await;
    let told = client.until("stream_read_complete").await;
    let (_, last) = told.last().unwrap();
    client.call("events/ack", json!({ "name": "phone", "cursor": last["cursor"] })).await.unwrap();
    let messages = client.call("session/messages", json!({ "session_id": scene.session })).await.unwrap();
    let mut door = door.restarted().await;
    let mut client = door.connect(&token).await.unwrap();
    client.hello().await;
    client.events.clear();
    let names = |list: serde_json::Value| -> Vec<_> {
        list["workspaces"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect()
    };
    assert_eq!(names(client.call("workspace/list", json!({})).await.unwrap()), [json!("repo"), json!("Second")]);
    let listed = client.call("session/list", json!({})).await.unwrap();
    assert_eq!((&listed["total"], &listed["sessions"][0]["session_id"]), (&json!(1), &json!(scene.session)));
    assert_eq!(listed["sessions"][0]["status"], "historical");
    let after = client.call("session/messages", json!({ "session_id": scene.session })).await.unwrap();
    assert_eq!(after["messages"], messages["messages"]);
    // The reader goes on after what it read: the end of the session is what it missed.
    client.call("events/subscribe", json!({ "name": "phone", "sessions": [scene.session] })).await.unwrap();
    assert_eq!(client.event("session_end").await["session_id"], json!(scene.session));
    // And the session goes on under the same id.
    let attached = client.call("session/start", json!({ "workspace_id": scene.workspace })).await.unwrap();
    assert_eq!((&attached["session_id"], &attached["source"]), (&json!(scene.session), &json!("history")));
    client.call("session/send", json!({ "session_id": scene.session, "prompt": "go on" })).await.unwrap();
    let opening = door.runtimes().opening().await;
    assert!(matches!(&opening.how, How::Resume(..)));
    assert_eq!(opening.accept().task().await.prompt(), "go on");
}

#[tokio::test]
async fn an_approval_survives_the_door_that_asked() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let mut scene = door.scene(&mut client).await;
    scene.agent.say_all([facts::requested("call"), facts::asks("call")]).await;
    client.event("pty_permission").await;
    let door = door.reopened().await;
    let mut client = door.client().await;
    client.call("session/watch", json!({ "session_id": scene.session })).await.unwrap();
    assert_eq!(client.event("pty_permission").await["tool_use_id"], "call");
    client.call("permission/respond", json!({ "tool_use_id": "call", "decision": "allow" })).await.unwrap();
    assert_eq!(scene.agent.next_message().await, EngineMessage::Approved("call".into()));
}

#[tokio::test]
async fn an_approval_survives_a_crash_where_its_agent_does() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    scene.agent.say_all([facts::requested("call"), facts::asks("call")]).await;
    client.event("pty_permission").await;
    let mut home = door.close().await.crash().await;
    home.adapter.offer_survivors();
    home.leave_process(&SessionId::from(scene.session.as_str()));
    let log = SqliteLog::open(&home.lock().await, LogOptions::default()).unwrap();
    let starting = Engine::start(Arc::new(log.clone()), home.runtimes(), home.config(|_| {}));
    let survive = async { home.runtimes.opening().await.accept_running("native") };
    let (engine, (_runtime, mut agent)) = soon("the engine starts", async { tokio::join!(starting, survive) }).await;
    let door = Door::over(Harness { engine: Arc::new(engine.unwrap()), log, home }, |_| {}).await;
    let mut client = door.client().await;
    client.call("session/watch", json!({ "session_id": scene.session })).await.unwrap();
    assert_eq!(client.event("pty_permission").await["tool_use_id"], "call");
    client.call("permission/respond", json!({ "tool_use_id": "call", "decision": "allow" })).await.unwrap();
    assert_eq!(agent.next_message().await, EngineMessage::Approved("call".into()));
}

#[tokio::test]
async fn what_was_asked_by_an_agent_that_is_gone_waits_no_more() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    scene.agent.say_all([facts::requested("call"), facts::asks("call")]).await;
    client.event("pty_permission").await;
    let home = door.close().await.crash().await;
    let door = Door::over(home.start().await, |_| {}).await;
    let mut client = door.client().await;
    assert_eq!(client.call("permission/pending", json!({})).await.unwrap(), json!({ "requests": [], "count": 0 }));
    let late =
        client.call("permission/respond", json!({ "tool_use_id": "call", "decision": "allow" })).await.unwrap_err();
    assert_eq!(late["code"], -32603);
    let state = client.call("session/state", json!({ "session_id": scene.session })).await.unwrap();
    assert_eq!((&state["claude_state"], &state["is_running"]), (&json!("idle"), &json!(false)));
}

#[tokio::test]
async fn a_revoked_device_stays_out_after_a_restart() {
    let door = Door::open().await;
    let pair = door.pair(None).await;
    let token = pair["access_token"].as_str().unwrap();
    door.local().await.call("device/revoke", json!({ "device_id": pair["device_id"] })).await.unwrap();
    let door = door.restarted().await;
    assert!(door.connect(token).await.is_err());
    assert_eq!(door.local().await.call("device/list", json!({})).await.unwrap(), json!({ "devices": [] }));
}
