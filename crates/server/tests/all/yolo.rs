//! No client grants itself the mode in which nothing is asked.

use roost_model::event::NormalizedEventType;
use roost_model::mode::Mode;
use roost_server::Settings;
use serde_json::{Value, json};
use testkit::fake::FakeSession;

use crate::kit::{Client, Door};
use crate::stage::unlimited;

/// Every way to ask for it.
fn ways() -> Vec<Value> {
    let modes = ["yolo", "bypassPermissions", "bypass-permissions", "danger", "danger-full-access"];
    let modes = modes.map(|mode| json!({ "permission_mode": mode }));
    modes
        .into_iter()
        .chain([json!({ "yolo_mode": true }), json!({ "yolo_mode": true, "permission_mode": "plan" })])
        .collect()
}

fn calls(workspace: &str) -> Vec<(&'static str, Value)> {
    let calls = [
        ("session/start", json!({ "workspace_id": workspace, "mode": "new" })),
        ("session/send", json!({ "workspace_id": workspace, "prompt": "hi" })),
        ("agent/run", json!({ "workspace_id": workspace, "prompt": "hi" })),
    ];
    let with = |(method, call): &(&'static str, Value), way: &Value| {
        let mut call = call.clone();
        call.as_object_mut().unwrap().extend(way.as_object().unwrap().clone());
        (*method, call)
    };
    calls.iter().flat_map(|call| ways().iter().map(|way| with(call, way)).collect::<Vec<_>>()).collect()
}

#[tokio::test]
async fn a_client_from_afar_is_refused_and_nothing_begins() {
    let door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let token = door.token().await;
    for (method, call) in calls(&door.workspace().await) {
        let over_http = door.rpc(&token, method, call.clone()).await.1["error"].clone();
        for fault in [client.call(method, call.clone()).await.unwrap_err(), over_http] {
            assert_eq!((&fault["code"], &fault["data"]["permission_mode"]), (&json!(-32602), &json!("yolo")), "{call}");
            assert!(fault["message"].as_str().unwrap().contains("policy.allow_yolo"), "{fault}");
        }
    }
    assert_eq!(client.call("session/list", json!({})).await.unwrap()["total"], 0);
}

#[tokio::test]
async fn a_session_that_asks_cannot_be_talked_into_it() {
    let mut door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    for way in ways() {
        let mut call = json!({ "session_id": scene.session, "prompt": "and now everything" });
        call.as_object_mut().unwrap().extend(way.as_object().unwrap().clone());
        assert_eq!(client.call("session/send", call).await.unwrap_err()["code"], -32602, "{way}");
    }
    assert_eq!(client.call("session/state", json!({ "session_id": scene.session })).await.unwrap()["mode"], "ask");
}

async fn is_granted(client: &mut Client, workspace: &str) {
    for way in ways() {
        let mut call = json!({ "workspace_id": workspace, "mode": "new" });
        call.as_object_mut().unwrap().extend(way.as_object().unwrap().clone());
        let started = client.call("session/start", call).await.unwrap();
        let state = client.call("session/state", json!({ "session_id": started["session_id"] })).await.unwrap();
        assert_eq!(state["mode"], "yolo", "{way}");
    }
}

#[tokio::test]
async fn the_local_door_is_granted_it() {
    let door = Door::open().await;
    is_granted(&mut door.local().await, &door.workspace().await).await;
}

#[tokio::test]
async fn where_the_server_allows_it_everybody_is_granted_it() {
    let allow = |settings: &mut Settings| {
        unlimited(settings);
        settings.allow_yolo = true;
    };
    let door = Door::open_with(allow).await;
    is_granted(&mut door.client().await, &door.workspace().await).await;
}

#[tokio::test]
async fn a_mode_that_nobody_knows_is_refused_with_those_that_there_are() {
    let door = Door::open().await;
    let mut client = door.client().await;
    let call = json!({ "workspace_id": door.workspace().await, "permission_mode": "wild" });
    let fault = client.call("session/start", call).await.unwrap_err();
    assert_eq!(fault["code"], -32602);
    assert!(fault["message"].as_str().unwrap().contains("accept-edits"), "{fault}");
}

#[tokio::test]
async fn an_exclamation_mark_runs_nothing_on_the_host() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let workspace = door.workspace().await;
    client.call("session/send", json!({ "workspace_id": workspace, "prompt": "!touch pwned" })).await.unwrap();
    let (_runtime, agent) = door.runtimes().task().await;
    assert_eq!(agent.prompt(), "!touch pwned");
    assert!(!door.harness.home.path().join("repo/pwned").exists());
}

/// A session that somebody at the machine made in `yolo`, with a task that ended.
async fn yolo_session(door: &mut Door, local: &mut Client) -> (String, FakeSession) {
    let start = json!({ "workspace_id": door.workspace().await, "mode": "new", "permission_mode": "yolo" });
    let started = local.call("session/start", start).await.unwrap();
    let session = started["session_id"].as_str().unwrap().to_owned();
    local.call("session/send", json!({ "session_id": session, "prompt": "go" })).await.unwrap();
    let (runtime, agent) = door.runtimes().task().await;
    agent.finish().await;
    door.harness.wait_for(&session.as_str().into(), NormalizedEventType::TaskCompleted).await;
    (session, runtime)
}

#[tokio::test]
async fn a_session_that_works_in_it_takes_no_prompt_from_afar_and_is_not_forked_into_it() {
    let mut door = Door::open_with(unlimited).await;
    let (mut client, mut local) = (door.client().await, door.local().await);
    let (token, workspace) = (door.token().await, door.workspace().await);
    let (session, mut runtime) = yolo_session(&mut door, &mut local).await;
    let calls = [
        ("session/send", json!({ "session_id": session, "prompt": "x" })),
        ("session/send", json!({ "workspace_id": workspace, "mode": "continue", "prompt": "x" })),
        ("agent/run", json!({ "session_id": session, "mode": "continue", "prompt": "x" })),
        ("session/input", json!({ "session_id": session, "input": "x" })),
        ("agent/input", json!({ "session_id": session, "input": "x" })),
        ("session/fork", json!({ "session_id": session })),
    ];
    for (method, call) in calls {
        let over_http = door.rpc(&token, method, call.clone()).await.1["error"].clone();
        for fault in [client.call(method, call.clone()).await.unwrap_err(), over_http] {
            let told = (&fault["code"], &fault["data"]["permission_mode"]);
            assert_eq!(told, (&json!(-32602), &json!("yolo")), "{method}: {fault}");
            let message = fault["message"].as_str().unwrap();
            assert!(message.contains("mode yolo") && message.contains("another permission_mode"), "{message}");
        }
    }
    let run = json!({ "session_id": session, "mode": "continue", "prompt": "x" });
    for path in ["/api/agent/run", "/api/claude/run"] {
        assert_eq!(door.post(path, Some(&token), &run).await.0, 400, "{path}");
    }
    // It may be looked at, and be told another mode.
    client.call("session/start", json!({ "session_id": session })).await.unwrap();
    let forked = json!({ "session_id": session, "permission_mode": "ask" });
    let forked = client.call("session/fork", forked).await.unwrap();
    let state = client.call("session/state", json!({ "session_id": forked["session_id"] })).await.unwrap();
    assert_eq!(state["mode"], "ask");
    let send = json!({ "session_id": session, "prompt": "x", "permission_mode": "ask" });
    client.call("session/send", send).await.unwrap();
    assert_eq!(runtime.task().await.input().mode, Mode::Ask);
}

#[tokio::test]
async fn a_prompt_from_afar_that_waited_is_held_when_the_session_came_into_it_meanwhile() {
    let mut door = Door::open_with(unlimited).await;
    let (mut client, mut local) = (door.client().await, door.local().await);
    let mut scene = door.scene(&mut client).await;
    let send = |words: &str| json!({ "session_id": scene.session, "prompt": words });
    // Queued: the owner's prompt in `yolo` first, then the device's, which names no mode.
    let mut owners = send("everything");
    owners["permission_mode"] = json!("yolo");
    local.call("session/send", owners).await.unwrap();
    client.call("session/send", send("from afar")).await.unwrap();
    scene.agent.finish().await;
    let agent = scene.runtime.task().await;
    assert_eq!((agent.prompt().as_str(), agent.input().mode), ("everything", Mode::Yolo));
    agent.finish().await;
    local.call("session/send", send("the owner's")).await.unwrap();
    let agent = scene.runtime.task().await;
    assert_eq!(agent.prompt(), "the owner's", "what came from afar is not run");
    let state = client.call("session/state", json!({ "session_id": scene.session })).await.unwrap();
    assert_eq!((&state["queue"][0]["held"], state["queue"].as_array().unwrap().len()), (&json!(true), 1), "{state}");
}
