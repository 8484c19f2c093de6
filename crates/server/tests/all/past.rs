//! Sessions that began outside of Roost: listed, read, tailed and taken over at the door.

use std::sync::Arc;

use roost_engine::Engine;
use roost_log::{Log, LogOptions, SqliteLog};
use roost_model::registry::RuntimeStatus;
use roost_model::runtime::ResumeModel;
use serde_json::{Value, json};
use testkit::fake::{FakeAdapter, FakePast, How};
use testkit::{Harness, Home, facts, soon};

use crate::kit::{Client, Door};
use crate::stage::{events_named, unlimited};

const OLD: &str = "019a0000-0000-7000-8000-000000000001";
const NEW: &str = "019a0000-0000-7000-8000-000000000002";

/// A door to a runtime that keeps a conversation in the default workspace.
async fn door() -> Door {
    let door = Door::open_with(unlimited).await;
    keep(&door, OLD, 1, &["what is a hen", "a bird"]);
    door
}

fn past(door: &Door) -> &FakePast {
    &door.harness.home.adapter.past
}

fn keep(door: &Door, id: &str, minute: i64, said: &[&str]) {
    past(door).keep(&door.harness.home.path().join("repo"), id, minute, said);
}

/// The ids and sources of listed sessions.
fn rows(list: &Value) -> Vec<(String, String)> {
    let row = |one: &Value| (one["session_id"].as_str().unwrap().into(), one["source"].as_str().unwrap().into());
    list["sessions"].as_array().unwrap().iter().map(row).collect()
}

fn texts(messages: &Value) -> Vec<String> {
    let text = |one: &Value| one["message"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    messages["messages"].as_array().unwrap().iter().map(text).collect()
}

/// The texts of the next messages that a watching client is told.
async fn next_texts(client: &mut Client, count: usize) -> Vec<String> {
    let mut all = Vec::new();
    while all.len() < count {
        let message = client.event("claude_message").await;
        all.extend(message["content"][0]["text"].as_str().map(ToOwned::to_owned));
    }
    all
}

#[tokio::test]
async fn past_sessions_are_listed_beside_hosted_ones_the_latest_first_and_page_by_page() {
    let door = door().await;
    keep(&door, NEW, 2, &["what is an egg"]);
    let (mut client, workspace) = (door.client().await, door.workspace().await);
    let hosted = client.call("session/start", json!({ "workspace_id": workspace, "mode": "new" })).await.unwrap();
    let hosted = hosted["session_id"].as_str().unwrap();
    let expected = [(hosted, "managed"), (NEW, "history"), (OLD, "history")];
    let expected: Vec<_> = expected.into_iter().map(|(id, source)| (id.to_owned(), source.to_owned())).collect();
    for (method, params) in [
        ("session/list", json!({})),
        ("session/list", json!({ "workspace_id": workspace, "agent_type": "fake" })),
        ("workspace/session/history", json!({ "workspace_id": workspace })),
    ] {
        let list = client.call(method, params).await.unwrap();
        assert_eq!((rows(&list), &list["total"]), (expected.clone(), &json!(3)), "{method}");
    }
    let page = client.call("session/list", json!({ "offset": 1, "limit": 1 })).await.unwrap();
    assert_eq!((rows(&page), &page["total"]), (expected[1..2].to_vec(), &json!(3)));
    let managed = client.call("session/list", json!({ "source": "managed" })).await.unwrap();
    assert_eq!(rows(&managed), expected[..1]);
    let past = client.call("session/list", json!({ "source": "history" })).await.unwrap();
    assert_eq!(rows(&past), expected[1..]);
    let row = &past["sessions"][1];
    assert_eq!((&row["summary"], &row["status"]), (&json!("what is a hen"), &json!("historical")));
    assert_eq!((&row["workspace_id"], &row["agent_type"]), (&json!(workspace), &json!("fake")));
    assert_eq!(client.call("session/get", json!({ "session_id": OLD })).await.unwrap(), *row);
}

#[tokio::test]
async fn a_folder_outside_of_the_workspaces_is_shown_to_the_local_door_only() {
    let door = door().await;
    let elsewhere = door.harness.home.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    past(&door).keep(&elsewhere, NEW, 1, &["a secret"]);
    let params = json!({ "cwd": elsewhere });
    let list = door.local().await.call("session/list", params.clone()).await.unwrap();
    assert_eq!(rows(&list).len(), 1);
    let mut client = door.client().await;
    let refused = client.call("session/list", params).await.unwrap_err();
    assert_eq!((&refused["code"], &refused["data"]["field"]), (&json!(-32051), &json!("cwd")));
    let refused = client.call("session/messages", json!({ "session_id": NEW })).await.unwrap_err();
    assert_eq!(refused["code"], -32010);
}

#[tokio::test]
async fn what_was_said_in_a_past_session_is_read_as_messages_and_as_elements() {
    let door = door().await;
    let (mut client, workspace) = (door.client().await, door.workspace().await);
    for method in ["session/messages", "workspace/session/messages"] {
        let params = json!({ "session_id": OLD, "workspace_id": workspace });
        let messages = client.call(method, params).await.unwrap();
        assert_eq!(texts(&messages), ["what is a hen", "a bird"]);
        assert_eq!((&messages["total"], &messages["messages"][1]["type"]), (&json!(2), &json!("assistant")));
    }
    let newest = client.call("session/messages", json!({ "session_id": OLD, "order": "desc", "limit": 1 })).await;
    assert_eq!(texts(&newest.unwrap()), ["a bird"]);
    let elements = client.call("session/elements", json!({ "session_id": OLD })).await.unwrap();
    let types: Vec<_> = elements["elements"].as_array().unwrap().iter().map(|one| one["type"].clone()).collect();
    assert_eq!(types, [json!("user_input"), json!("assistant_text")]);
    let state = client.call("session/state", json!({ "session_id": OLD })).await.unwrap();
    assert_eq!((&state["status"], &state["is_running"]), (&json!("stopped"), &json!(false)));
}

#[tokio::test]
async fn a_past_session_that_is_prompted_is_resumed_natively_under_its_own_id_with_what_was_said_before() {
    let mut door = door().await;
    let mut client = door.client().await;
    client.call("session/watch", json!({ "session_id": OLD })).await.unwrap();
    let sent = client.call("session/send", json!({ "session_id": OLD, "prompt": "and an egg" })).await.unwrap();
    assert_eq!(sent["session_id"], OLD);
    let opening = door.runtimes().opening().await;
    let How::Resume(open, native) = &opening.how else { panic!("{:?}", opening.how) };
    assert_eq!((native.as_str(), open.session_id.as_str()), (OLD, OLD));
    assert!(open.env.cwd.ends_with("/repo"), "{}", open.env.cwd);
    let mut runtime = opening.accept();
    let agent = runtime.task().await;
    agent.say(facts::output("a small bird")).await;
    agent.finish().await;
    let events = client.until("stream_read_complete").await;
    let said: Vec<_> =
        events_named(&events, "claude_message").iter().map(|message| message["content"].clone()).collect();
    assert_eq!(said[0][0]["text"], "and an egg");

    let messages = client.call("session/messages", json!({ "session_id": OLD })).await.unwrap();
    assert_eq!(texts(&messages), ["what is a hen", "a bird", "and an egg", "a small bird"]);
    let ids: Vec<_> = messages["messages"].as_array().unwrap().iter().map(|one| one["id"].as_u64().unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    let elements = client.call("session/elements", json!({ "session_id": OLD })).await.unwrap();
    assert_eq!(elements["pagination"]["total"], 4);
    let list = client.call("session/list", json!({})).await.unwrap();
    assert_eq!(rows(&list), [(OLD.to_owned(), "managed".to_owned())], "one row for one session");
    let record = &list["sessions"][0]["record"];
    assert_eq!(record["adopted"], json!({ "runtime_session_id": OLD, "messages": 2 }));
    assert_eq!(list["sessions"][0]["message_count"], 4);
}

#[tokio::test]
async fn an_id_that_is_no_uuid_stays_an_alias_of_one_that_never_changes() {
    let mut door = door().await;
    keep(&door, "ses_7", 2, &["hello"]);
    let mut client = door.client().await;
    let before = client.call("session/get", json!({ "session_id": "ses_7" })).await.unwrap();
    let id = before["session_id"].as_str().unwrap().to_owned();
    assert_eq!(id.len(), 36);
    let sent = client.call("session/send", json!({ "session_id": "ses_7", "prompt": "go on" })).await.unwrap();
    assert_eq!(sent["session_id"], id);
    let opening = door.runtimes().opening().await;
    assert!(matches!(&opening.how, How::Resume(_, native) if native.as_str() == "ses_7"));
    for name in ["ses_7", &id] {
        let found = client.call("session/get", json!({ "session_id": name })).await.unwrap();
        assert_eq!((&found["session_id"], &found["source"]), (&json!(id), &json!("managed")));
    }
}

#[tokio::test]
async fn two_who_take_a_session_over_at_once_have_the_same_one() {
    let door = door().await;
    let (mut one, mut other) = (door.client().await, door.client().await);
    let params = json!({ "session_id": OLD, "workspace_id": door.workspace().await });
    let (a, b) = tokio::join!(one.call("session/start", params.clone()), other.call("session/start", params));
    assert_eq!((&a.unwrap()["session_id"], &b.unwrap()["session_id"]), (&json!(OLD), &json!(OLD)));
    assert_eq!(door.harness.log.sessions(10).await.unwrap().len(), 1);
    let types = door.harness.types(&OLD.into()).await;
    assert_eq!(types, ["session.created"]);
}

#[tokio::test]
async fn an_unknown_session_is_refused_as_before() {
    let door = door().await;
    let mut client = door.client().await;
    for method in ["session/get", "session/messages", "session/elements", "session/watch", "session/start"] {
        let refused = client.call(method, json!({ "session_id": "nobody" })).await.unwrap_err();
        assert_eq!((&refused["code"], &refused["data"]["session_id"]), (&json!(-32010), &json!("nobody")), "{method}");
    }
}

#[tokio::test]
async fn whoever_watches_a_past_session_is_told_what_is_said_in_it_from_then_on() {
    let door = door().await;
    let (mut one, mut other) = (door.client().await, door.client().await);
    let params = json!({ "session_id": OLD, "workspace_id": door.workspace().await, "agent_type": "fake" });
    one.call("workspace/session/watch", params.clone()).await.unwrap();
    other.call("session/watch", json!({ "session_id": OLD })).await.unwrap();
    past(&door).add(OLD, "and an egg");
    past(&door).add(OLD, "a small bird");
    for client in [&mut one, &mut other] {
        assert_eq!(next_texts(client, 2).await, ["and an egg", "a small bird"]);
    }
    // Watching it again changes nothing; what was told is not told again.
    one.call("workspace/session/watch", params).await.unwrap();
    past(&door).cut(OLD, 3);
    past(&door).add(OLD, "a round thing");
    assert_eq!(next_texts(&mut one, 1).await, ["a round thing"]);
    let history = one.call("session/messages", json!({ "session_id": OLD })).await.unwrap();
    assert_eq!(texts(&history), ["what is a hen", "a bird", "and an egg", "a round thing"]);
}

#[tokio::test]
async fn a_live_message_has_the_id_that_it_has_in_the_history() {
    let door = door().await;
    let mut client = door.client().await;
    client.call("session/watch", json!({ "session_id": OLD })).await.unwrap();
    past(&door).add(OLD, "and an egg");
    let live = client.event("claude_message").await;
    let history = client.call("session/messages", json!({ "session_id": OLD })).await.unwrap();
    assert_eq!(live["uuid"], history["messages"][2]["uuid"]);
    assert_eq!((&live["session_id"], &live["agent_type"]), (&json!(OLD), &json!("fake")));
}

#[tokio::test]
async fn a_subscription_to_a_past_session_tails_it_too() {
    let door = door().await;
    let mut client = door.client().await;
    let params = json!({ "format": "cdev", "sessions": [OLD], "types": ["agent_message"], "neutral_names": true });
    client.call("events/subscribe", params).await.unwrap();
    past(&door).add(OLD, "and an egg");
    assert_eq!(client.event("agent_message").await["content"][0]["text"], "and an egg");
}

#[tokio::test]
async fn nothing_is_read_of_a_session_that_nobody_watches_or_that_does_not_change() {
    let door = door().await;
    keep(&door, NEW, 2, &["something else"]);
    let (mut client, mut other) = (door.client().await, door.client().await);
    client.call("session/watch", json!({ "session_id": OLD })).await.unwrap();
    client.call("session/unwatch", json!({ "session_id": OLD })).await.unwrap();
    let focus = json!({ "session_id": OLD, "workspace_id": door.workspace().await });
    client.call("client/session/focus", focus).await.unwrap();
    other.call("session/watch", json!({ "session_id": OLD })).await.unwrap();
    drop(other);
    client.event("session_left").await;
    client.call("session/watch", json!({ "session_id": NEW })).await.unwrap();
    past(&door).add(OLD, "said to nobody");
    let reads = past(&door).reads();
    // Two rounds of looks: each tells of one change.
    for text in ["one", "two"] {
        past(&door).add(NEW, text);
        assert_eq!(next_texts(&mut client, 1).await, [text]);
    }
    assert_eq!(past(&door).reads(), reads + 2, "only what changed was read");
}

#[tokio::test]
async fn a_session_that_becomes_hosted_is_tailed_no_more() {
    let mut door = door().await;
    let mut client = door.client().await;
    client.call("session/watch", json!({ "session_id": OLD })).await.unwrap();
    client.call("session/send", json!({ "session_id": OLD, "prompt": "and an egg" })).await.unwrap();
    let (_runtime, agent) = door.runtimes().task().await;
    // The runtime writes down what it is told, as real ones do.
    past(&door).add(OLD, "and an egg");
    keep(&door, NEW, 2, &["something else"]);
    client.call("session/watch", json!({ "session_id": NEW })).await.unwrap();
    past(&door).add(NEW, "of the other");
    let mut said = next_texts(&mut client, 2).await;
    agent.say(facts::output("a small bird")).await;
    agent.finish().await;
    said.extend(next_texts(&mut client, 1).await);
    assert_eq!(said, ["and an egg", "of the other", "a small bird"], "each once");
}

#[tokio::test]
async fn a_past_session_that_is_deleted_is_off_the_lists_and_its_runtime_keeps_it() {
    let door = door().await;
    let mut client = door.client().await;
    client.call("session/delete", json!({ "session_id": OLD })).await.unwrap();
    assert_eq!(rows(&client.call("session/list", json!({})).await.unwrap()), []);
    assert_eq!(texts(&client.call("session/messages", json!({ "session_id": OLD })).await.unwrap()).len(), 2);
}

#[tokio::test]
async fn a_runtime_that_fails_is_told_of_and_hides_no_other_and_a_disabled_one_is_not_asked() {
    let home = Home::new();
    let (failing, _failing) = FakeAdapter::named("failing", ResumeModel::Native);
    let (disabled, _disabled) = FakeAdapter::named("disabled", ResumeModel::Native);
    failing.past.break_down("its disk is gone");
    disabled.past.keep(&home.path().join("repo"), NEW, 1, &["hidden"]);
    let mut runtimes = home.runtimes();
    runtimes.register(failing, RuntimeStatus::Active);
    runtimes.register(disabled, RuntimeStatus::Disabled);
    let log = SqliteLog::open(&home.lock().await, LogOptions::default()).unwrap();
    let engine = Engine::start(Arc::new(log.clone()), runtimes, home.config(|_| {})).await.unwrap();
    let door = Door::over(Harness { engine: Arc::new(engine), log, home }, unlimited).await;
    keep(&door, OLD, 1, &["what is a hen"]);
    let list = door.local().await.call("session/list", json!({})).await.unwrap();
    assert_eq!(rows(&list), [(OLD.to_owned(), "history".to_owned())]);
    let notices: Vec<_> = list["notices"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(matches!(notices[..], [one] if one.contains("its disk is gone")), "{notices:?}");
}

#[tokio::test]
async fn five_hundred_past_sessions_are_one_page() {
    let door = door().await;
    for at in 0..499 {
        keep(&door, &format!("019a0000-0000-7000-8000-1000000{at:05}"), at, &["something"]);
    }
    let list =
        soon("the list", async { door.local().await.call("session/list", json!({ "limit": 500 })).await.unwrap() })
            .await;
    assert_eq!((rows(&list).len(), &list["total"]), (500, &json!(500)));
    assert_eq!(past(&door).reads(), 0, "a list reads no conversation");
}
