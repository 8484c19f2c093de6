//! `session/fork` at the door.

use serde_json::{Value, json};
use testkit::facts;

use crate::kit::Door;
use crate::stage::unlimited;

fn texts(messages: &Value) -> Vec<&str> {
    let text = |one: &'_ Value| one["message"]["content"][0]["text"].as_str().is_some();
    let all = messages["messages"].as_array().unwrap();
    assert!(all.iter().all(text), "{messages}");
    all.iter().filter_map(|one| one["message"]["content"][0]["text"].as_str()).collect()
}

#[tokio::test]
async fn a_fork_shows_what_was_said_before_it_as_its_own_and_its_session_shows_nothing_of_it() {
    let mut door = Door::open_with(unlimited).await;
    let (mut client, workspace) = (door.client().await, door.workspace().await);
    let started = client.call("session/start", json!({ "workspace_id": workspace, "mode": "new" })).await.unwrap();
    let source = started["session_id"].as_str().unwrap().to_owned();
    client.call("session/watch", json!({ "session_id": source })).await.unwrap();
    client.call("session/send", json!({ "session_id": source, "prompt": "what is a hen" })).await.unwrap();
    let (runtime, agent) = door.runtimes().task().await;
    let busy = client.call("session/fork", json!({ "session_id": source })).await.unwrap_err();
    assert_eq!(busy["data"]["code"], "BUSY", "{busy}");
    agent.say(facts::output("a bird")).await;
    agent.finish().await;
    client.until("stream_read_complete").await;

    let params = json!({ "session_id": source, "workspace_id": workspace, "title": "eggs" });
    let forked = client.call("session/fork", params).await.unwrap();
    assert_eq!((&forked["outcome"], &forked["workspace_id"]), (&json!("forked"), &json!(workspace)));
    let fork = forked["session_id"].as_str().unwrap().to_owned();
    client.call("session/watch", json!({ "session_id": fork })).await.unwrap();
    client.call("session/send", json!({ "session_id": fork, "prompt": "and an egg" })).await.unwrap();
    let (_own, agent) = door.runtimes().task().await;
    agent.say(facts::output("a small bird")).await;
    agent.finish().await;
    client.until("stream_read_complete").await;

    let messages = client.call("session/messages", json!({ "session_id": fork })).await.unwrap();
    assert_eq!(texts(&messages), ["what is a hen", "a bird", "and an egg", "a small bird"]);
    let all = messages["messages"].as_array().unwrap();
    assert!(all.iter().all(|one| one["session_id"] == fork), "{messages}");
    assert!(all.is_sorted_by(|a, b| a["id"].as_u64() < b["id"].as_u64()), "{messages}");
    let elements = client.call("session/elements", json!({ "session_id": fork })).await.unwrap();
    assert_eq!(elements["pagination"]["total"], 4);
    let listed = client.call("session/get", json!({ "session_id": fork })).await.unwrap();
    assert_eq!((&listed["summary"], &listed["message_count"]), (&json!("eggs"), &json!(4)));
    assert_eq!(listed["record"]["forked"]["session_id"], source);
    let messages = client.call("session/messages", json!({ "session_id": source })).await.unwrap();
    assert_eq!(texts(&messages), ["what is a hen", "a bird"]);
    drop(runtime);
}
