//! Who watches a session sees what happens in it, each once, and nobody sees what is not theirs.

use std::collections::HashSet;

use roost_engine::adapter::TaskEnd;
use roost_rpc::notification;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use testkit::facts;
use testkit::fake::EngineMessage;

use crate::kit::Door;
use crate::stage::{Scene, events_named, names, unlimited};

#[tokio::test]
async fn a_turn_is_told_from_its_beginning_to_its_end_with_whose_it_is() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    scene.agent.say(facts::output("done")).await;
    scene.agent.finish().await;
    let events = client.until("stream_read_complete").await;
    for (name, params) in &events {
        let is_kept = !["session_watch_started", "session_joined", "pty_spinner"].contains(&name.as_str());
        if !is_kept || params["session_id"] != scene.session {
            continue;
        }
        assert_eq!(params["agent_type"], "fake", "{name}: {params}");
        assert_eq!(params["workspace_id"], scene.workspace, "{name}: {params}");
        assert!(params["timestamp"].is_string() && params["cursor"].is_string(), "{name}: {params}");
    }
    let all = names(&events);
    for expected in
        ["session_start", "claude_status", "pty_state", "session_id_resolved", "claude_session_info", "claude_log"]
    {
        assert!(all.contains(&expected), "{expected}: {all:?}");
    }
    let states: Vec<_> = events_named(&events, "claude_status").iter().map(|status| status["state"].clone()).collect();
    assert_eq!(json!(states), json!(["running", "idle"]));
    let states: Vec<_> = events_named(&events, "pty_state").iter().map(|status| status["state"].clone()).collect();
    assert_eq!(json!(states), json!(["thinking", "idle"]));
    let messages = events_named(&events, "claude_message");
    let roles: Vec<_> = messages.iter().map(|message| message["role"].clone()).collect();
    assert_eq!(json!(roles), json!(["user", "assistant", "assistant"]));
    assert_eq!(messages.last().unwrap()["stop_reason"], "end_turn");
    let uuids: HashSet<_> = messages.iter().map(|message| message["uuid"].as_str().unwrap()).collect();
    assert_eq!(uuids.len(), messages.len());
    let read = &events.last().unwrap().1;
    assert_eq!(read["file_offset"], read["file_size"]);
    assert!(read["file_offset"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn only_who_watches_is_sent_messages_and_everybody_the_state() {
    let mut door = Door::open().await;
    let (mut watcher, mut other) = (door.client().await, door.client().await);
    let scene = door.scene(&mut watcher).await;
    scene.agent.say(facts::output("for those who watch")).await;
    scene.agent.finish().await;
    let events = other.until("stream_read_complete").await;
    assert_eq!(events_named(&events, "claude_message"), Vec::<&Value>::new());
    assert_eq!(events_named(&events, "claude_status").len(), 2);
    assert_eq!(events_named(&watcher.until("stream_read_complete").await, "claude_message").len(), 3);
}

#[tokio::test]
async fn watching_twice_is_watching_once_and_unwatching_ends_it() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let mut scene = door.scene(&mut client).await;
    let params = json!({ "session_id": scene.session, "workspace_id": scene.workspace, "agent_type": "fake" });
    for method in ["session/watch", "workspace/session/watch"] {
        let watched = client.call(method, params.clone()).await.unwrap();
        let expected = json!({
            "status": "watching", "watching": true, "workspace_id": scene.workspace, "session_id": scene.session,
            "cursor": watched["cursor"],
        });
        assert_eq!(watched, expected);
    }
    scene.agent.say(facts::output("once")).await;
    scene.agent.finish().await;
    assert_eq!(events_named(&client.until("stream_read_complete").await, "claude_message").len(), 3);
    let unwatched = client.call("workspace/session/unwatch", params.clone()).await.unwrap();
    let expected = json!({
        "status": "unwatched", "watching": false, "workspace_id": scene.workspace, "session_id": scene.session,
    });
    assert_eq!(unwatched, expected);
    let told = client.event("session_watch_stopped").await;
    assert_eq!((&told["session_id"], &told["watching"]), (&json!(scene.session), &json!(false)));
    // Once more is no error.
    client.call("session/unwatch", json!({ "session_id": scene.session })).await.unwrap();
    client.call("session/send", json!({ "session_id": scene.session, "prompt": "more" })).await.unwrap();
    scene.runtime.task().await.finish().await;
    assert_eq!(events_named(&client.until("stream_read_complete").await, "claude_message").len(), 0);
}

#[tokio::test]
async fn unwatching_nothing_in_particular_ends_one_watch_always_the_same() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let first = door.scene(&mut client).await.session;
    let second = door.scene(&mut client).await.session;
    let lower = first.clone().min(second.clone());
    for expected in [json!(lower), json!(first.max(second)), Value::Null] {
        let unwatched = client.call("session/unwatch", json!({ "agent_type": "fake" })).await.unwrap();
        assert_eq!(unwatched.get("session_id").cloned().unwrap_or_default(), expected);
    }
}

#[tokio::test]
async fn who_joins_and_who_leaves_a_session_is_told_to_the_others() {
    let mut door = Door::open().await;
    let (mut first, mut second) = (door.client().await, door.client().await);
    let (first_id, second_id) = (first.id().await, second.id().await);
    let scene = door.scene(&mut first).await;
    second.call("session/watch", json!({ "session_id": scene.session })).await.unwrap();
    let joined = first.event("session_joined").await;
    assert_eq!((&joined["joining_client_id"], &joined["viewer_count"]), (&json!(second_id), &json!(2)));
    assert_eq!(joined["other_viewers"], json!([second_id]));
    told_of(&joined, &scene);
    let state = first.call("session/state", json!({ "session_id": scene.session })).await.unwrap();
    assert_eq!(state["viewers"].as_array().unwrap().len(), 2);
    drop(second);
    let left = first.event("session_left").await;
    assert_eq!((&left["leaving_client_id"], &left["viewer_count"]), (&json!(second_id), &json!(1)));
    assert_eq!(left["remaining_viewers"], json!([first_id]));
    told_of(&left, &scene);
}

/// The event names the session, its workspace and its runtime; and the rest once more by itself, where a phone reads it,
/// which takes fields beside a `session_id` for another event.
fn told_of(event: &Value, scene: &Scene) {
    let named = json!([event["session_id"], event["workspace_id"], event["agent_type"]]);
    assert_eq!(named, json!([scene.session, scene.workspace, "fake"]));
    assert!(event["timestamp"].is_string(), "{event}");
    let payload = event["payload"].as_object().unwrap();
    assert!(!payload.contains_key("session_id") && payload.len() == 3, "{event}");
    for (name, value) in payload {
        assert_eq!(event[name], *value, "{name}");
    }
}

#[tokio::test]
async fn of_a_crowd_some_are_named_and_all_are_counted() {
    let mut door = Door::open().await;
    let mut first = door.client().await;
    let scene = door.scene(&mut first).await;
    let token = door.token().await;
    let mut others = Vec::new();
    for count in 2..=20 {
        let mut other = door.connect(&token).await.unwrap();
        other.hello().await;
        other.call("session/watch", json!({ "session_id": scene.session })).await.unwrap();
        let joined = first.event("session_joined").await;
        let named = joined["other_viewers"].as_array().unwrap().len();
        assert_eq!((&joined["viewer_count"], named), (&json!(count), 16.min(count - 1)));
        others.push(other);
    }
    others.pop();
    let left = first.event("session_left").await;
    assert_eq!((&left["viewer_count"], left["remaining_viewers"].as_array().unwrap().len()), (&json!(19), 16));
}

#[tokio::test]
async fn whoever_stops_watching_looks_at_the_session_no_more() {
    let mut door = Door::open().await;
    let (mut first, mut second) = (door.client().await, door.client().await);
    let second_id = second.id().await;
    let scene = door.scene(&mut first).await;
    second.call("session/watch", json!({ "session_id": scene.session })).await.unwrap();
    second.call("session/unwatch", json!({ "session_id": scene.session })).await.unwrap();
    assert_eq!(first.event("session_left").await["leaving_client_id"], json!(second_id));
    let state = first.call("session/state", json!({ "session_id": scene.session })).await.unwrap();
    assert_eq!(state["viewers"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_client_that_goes_leaves_every_session_that_it_watched() {
    let mut door = Door::open().await;
    let (mut first, mut second) = (door.client().await, door.client().await);
    let second_id = second.id().await;
    let scene = door.scene(&mut first).await;
    second.call("session/watch", json!({ "session_id": scene.session })).await.unwrap();
    first.event("session_joined").await;
    // It looks at another one by now and still watches the first.
    let elsewhere = door.scene(&mut second).await;
    assert_ne!(elsewhere.session, scene.session);
    drop(second);
    assert_eq!(first.event("session_left").await["leaving_client_id"], json!(second_id));
}

#[tokio::test]
async fn a_client_says_what_it_looks_at_and_learns_who_else_does() {
    let mut door = Door::open().await;
    let (mut first, mut second) = (door.client().await, door.client().await);
    let (first_id, second_id) = (first.id().await, second.id().await);
    let scene = door.scene(&mut first).await;
    let params = json!({ "workspace_id": scene.workspace, "session_id": scene.session });
    let focus = second.call("client/session/focus", params).await.unwrap();
    let expected = json!({
        "workspace_id": scene.workspace, "session_id": scene.session, "other_viewers": [first_id], "viewer_count": 2,
        "success": true,
    });
    assert_eq!(focus, expected);
    assert_eq!(first.event("session_joined").await["joining_client_id"], json!(second_id));
    let elsewhere =
        second.call("session/start", json!({ "workspace_id": scene.workspace, "mode": "new" })).await.unwrap();
    let params = json!({ "workspace_id": scene.workspace, "session_id": elsewhere["session_id"] });
    let focus = second.call("client/session/focus", params).await.unwrap();
    assert_eq!((&focus["other_viewers"], &focus["viewer_count"]), (&json!([]), &json!(1)));
    assert_eq!(first.event("session_left").await["leaving_client_id"], json!(second_id));
}

#[tokio::test]
async fn a_subscription_to_a_workspace_makes_the_others_silent_until_all_are_followed_again() {
    let door = Door::open_with(unlimited).await;
    let (mut client, mut driver) = (door.client().await, door.client().await);
    let folder = door.harness.home.path().join("quiet");
    let quiet = driver.call("workspace/add", json!({ "path": folder, "create_if_missing": true })).await.unwrap();
    let none = json!({ "workspaces": [], "is_filtering": false, "count": 0 });
    assert_eq!(client.call("workspace/subscriptions", json!({})).await.unwrap(), none);
    let subscribed = client.call("workspace/subscribe", json!({ "workspace_id": quiet["id"] })).await.unwrap();
    assert_eq!(subscribed, json!({ "success": true, "workspace_id": quiet["id"], "subscribed": [quiet["id"]] }));
    let one = json!({ "workspaces": [quiet["id"]], "is_filtering": true, "count": 1 });
    assert_eq!(client.call("workspace/subscriptions", json!({})).await.unwrap(), one);
    // What is told of the default workspace, and after it of the quiet one, by one log: the first must be missing.
    let default = door.workspace().await;
    driver.call("session/start", json!({ "workspace_id": default, "mode": "new" })).await.unwrap();
    driver.call("session/start", json!({ "workspace_id": quiet["id"], "mode": "new" })).await.unwrap();
    client.events.clear();
    assert_eq!(client.event("session_start").await["workspace_id"], quiet["id"]);
    let all = client.call("workspace/subscribeAll", json!({})).await.unwrap();
    assert_eq!(all, json!({ "success": true, "is_filtering": false }));
    driver.call("session/start", json!({ "workspace_id": default, "mode": "new" })).await.unwrap();
    assert_eq!(client.event("session_start").await["workspace_id"], json!(default));
    let gone = client.call("workspace/unsubscribe", json!({ "workspace_id": quiet["id"] })).await.unwrap();
    assert_eq!(gone["subscribed"], json!([]));
    let fault = client.call("workspace/subscribe", json!({ "workspace_id": "no such" })).await.unwrap_err();
    assert_eq!(fault["data"]["code"], "WORKSPACE_NOT_FOUND");
}

#[tokio::test]
async fn events_are_chosen_by_type_session_and_workspace_and_named_as_asked() {
    let mut door = Door::open_with(unlimited).await;
    let (mut client, mut driver) = (door.client().await, door.client().await);
    let scene = door.scene(&mut driver).await;
    let subscribe =
        json!({ "types": ["claude_message", "agent_status"], "sessions": [scene.session], "neutral_names": true });
    let subscribed = client.call("events/subscribe", subscribe).await.unwrap();
    assert_eq!(subscribed["format"], "cdev");
    let other = door.scene(&mut driver).await;
    other.agent.finish().await;
    driver.until("stream_read_complete").await;
    scene.agent.say(facts::output("chosen")).await;
    scene.agent.finish().await;
    client.events.clear();
    let events = client.until("agent_status").await;
    assert_eq!(names(&events), ["agent_message", "agent_message", "agent_status"]);
    assert!(events.iter().all(|(_, params)| params["session_id"] == scene.session));
    let subscribe = json!({ "workspaces": [scene.workspace], "types": ["session_start"] });
    client.call("events/subscribe", subscribe).await.unwrap();
    let folder = door.harness.home.path().join("elsewhere");
    let elsewhere = driver.call("workspace/add", json!({ "path": folder, "create_if_missing": true })).await.unwrap();
    driver.call("session/start", json!({ "workspace_id": elsewhere["id"] })).await.unwrap();
    driver.call("session/start", json!({ "workspace_id": scene.workspace, "mode": "new" })).await.unwrap();
    assert_eq!(client.event("session_start").await["workspace_id"], json!(scene.workspace));
}

#[tokio::test]
async fn a_session_that_is_stopped_is_told_as_stopped_and_idle_once() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    let Scene { session, mut agent, runtime: _runtime, .. } = scene;
    let id = client.ask("session/stop", json!({ "session_id": session })).await;
    assert_eq!(agent.next_message().await, EngineMessage::Stop);
    agent.end(TaskEnd::Stopped("stopped".into())).await;
    let stopped = client.answer(id).await.unwrap();
    assert_eq!((&stopped["success"], &stopped["message"]), (&json!(true), &json!("Session stopped")));
    let events = client.until("session_stopped").await;
    assert!(events_named(&events, "claude_status").iter().any(|status| status["state"] == "stopped"), "{events:?}");
    let idle = events_named(&events, "pty_state").into_iter().filter(|state| state["state"] == "idle").count();
    assert_eq!(idle, 1, "{events:?}");
    // Once more is no error either.
    client.call("session/stop", json!({ "session_id": session })).await.unwrap();
}

#[tokio::test]
async fn what_is_told_besides_the_log_has_every_field_that_is_promised() {
    fn is<T: DeserializeOwned>(told: Value) {
        assert!(serde_json::from_value::<T>(told.clone()).is_ok(), "{told}");
    }
    let mut door = Door::open().await;
    let (mut first, mut second) = (door.client().await, door.client().await);
    is::<notification::SessionStart>(first.event("session_start").await);
    let scene = door.scene(&mut first).await;
    is::<notification::SessionWatchStarted>(first.event("session_watch_started").await);
    second.call("session/watch", json!({ "session_id": scene.session })).await.unwrap();
    is::<notification::SessionJoined>(first.event("session_joined").await);
    second.call("session/unwatch", json!({ "session_id": scene.session })).await.unwrap();
    is::<notification::SessionLeft>(first.event("session_left").await);
    is::<notification::SessionWatchStopped>(second.event("session_watch_stopped").await);
    door.close().await;
    is::<notification::SessionEnd>(first.event("session_end").await);
}

#[tokio::test]
async fn a_task_that_fails_is_told_as_an_error_in_every_way_that_clients_look_for() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    scene.agent.say(facts::exited()).await;
    let events = client.until("stream_read_complete").await;
    let error = events_named(&events, "error")[0];
    assert_eq!((&error["code"], &error["session_id"]), (&json!("RUNTIME_EXITED"), &json!(scene.session)));
    assert!(error["message"].is_string() && error["details"]["retryable"].is_boolean(), "{error}");
    assert_eq!(events_named(&events, "claude_status").last().unwrap()["state"], "error");
    assert_eq!(events_named(&events, "pty_state").last().unwrap()["state"], "error");
    assert_eq!(events_named(&events, "claude_message").last().unwrap()["stop_reason"], "error");
    let state = client.call("session/state", json!({ "session_id": scene.session })).await.unwrap();
    assert_eq!((&state["is_running"], &state["claude_state"]), (&json!(false), &json!("idle")));
}

#[tokio::test]
async fn every_event_is_one_that_hello_names() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let named = client.hello().await["capabilities"]["notifications"].clone();
    let scene = door.scene(&mut client).await;
    scene
        .agent
        .say_all([facts::output("text"), facts::requested("call"), facts::asks("call"), facts::question("q")])
        .await;
    scene.agent.finish().await;
    for (name, _) in client.until("stream_read_complete").await {
        assert!(named.as_array().unwrap().contains(&json!(name)), "{name}");
    }
}
