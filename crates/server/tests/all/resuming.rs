//! A client that comes back gets exactly what it missed.

use std::time::Duration;

use roost_log::Retention;
use roost_model::time::Timestamp;
use serde_json::{Value, json};
use testkit::fake::EngineMessage;
use testkit::{facts, soon};

use crate::kit::{Client, Door};
use crate::stage::{events_named, unlimited};

/// A turn with a tool call in it, and its session.
async fn turn(door: &mut Door, client: &mut Client) -> String {
    let mut scene = door.scene(client).await;
    scene.agent.say_all([facts::output("first"), facts::requested("call"), facts::asks("call")]).await;
    let allow = json!({ "tool_use_id": "call", "decision": "allow", "session_id": scene.session });
    let asked = async { while client.call("permission/respond", allow.clone()).await.is_err() {} };
    soon("the call is asked about", asked).await;
    assert_eq!(scene.agent.next_message().await, EngineMessage::Approved("call".into()));
    scene.agent.say_all([facts::started("call"), facts::completed("call"), facts::output("second")]).await;
    scene.agent.finish().await;
    scene.session
}

/// Removes everything that happened until now.
async fn forget(door: &Door) {
    let everything = Retention { max_age: Duration::ZERO, max_bytes: u64::MAX };
    let later = Timestamp::from_millis(Timestamp::now().as_millis() + 60_000);
    let removed = door.harness.log.retain(everything, later).await.unwrap();
    assert!(removed.events > 0);
}

#[tokio::test]
async fn after_each_notification_a_resumed_subscription_sends_exactly_the_rest() {
    let mut door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let session = turn(&mut door, &mut client).await;
    let from = |after: &Value| json!({ "after": after, "sessions": [session] });
    let mut reader = door.client().await;
    reader.events.clear();
    reader.call("events/subscribe", from(&json!("beginning"))).await.unwrap();
    let all = reader.until("stream_read_complete").await;
    assert!(all.len() > 20, "{all:?}");
    for (at, (_, seen)) in all.iter().enumerate().take(all.len() - 1) {
        let mut again = door.client().await;
        again.events.clear();
        again.call("events/subscribe", from(&seen["cursor"])).await.unwrap();
        assert_eq!(again.until("stream_read_complete").await, all[at + 1..], "after {seen}");
    }
}

#[tokio::test]
async fn a_watch_after_a_cursor_sends_what_was_missed_and_no_message_twice() {
    let mut door = Door::open().await;
    let mut first = door.client().await;
    let scene = door.scene(&mut first).await;
    scene.agent.say(facts::output("seen")).await;
    let mut seen = loop {
        let said = first.event("claude_message").await;
        if said["content"][0]["text"] == "seen" {
            break said;
        }
    };
    drop(first);
    scene.agent.say(facts::output("missed")).await;
    scene.agent.heard().await;
    let mut again = door.client().await;
    let watch = json!({ "session_id": scene.session, "after": seen["cursor"].take() });
    again.call("session/watch", watch).await.unwrap();
    scene.agent.say(facts::output("live")).await;
    scene.agent.finish().await;
    let events = again.until("stream_read_complete").await;
    let said = events_named(&events, "claude_message");
    let texts: Vec<_> = said.iter().filter_map(|message| message["content"][0]["text"].as_str()).collect();
    assert_eq!(texts, ["missed", "live"]);
    let page = again.call("session/messages", json!({ "session_id": scene.session })).await.unwrap();
    let history: Vec<_> = page["messages"].as_array().unwrap().iter().map(|message| &message["uuid"]).collect();
    assert!(said.iter().take(2).all(|message| history.contains(&&message["uuid"])));
}

#[tokio::test]
async fn a_client_that_comes_and_goes_during_a_flood_misses_nothing() {
    let mut door = Door::open_with(unlimited).await;
    let mut driver = door.client().await;
    let scene = door.scene(&mut driver).await;
    let flood = async {
        for k in 0..3000 {
            scene.agent.say(facts::delta(&k.to_string())).await;
        }
        scene.agent.finish().await;
    };
    let read = async {
        let (mut events, mut cursor) = (Vec::new(), json!("beginning"));
        loop {
            let mut client = door.client().await;
            let subscribe = json!({ "format": "normalized", "after": cursor, "sessions": [scene.session] });
            client.call("events/subscribe", subscribe).await.unwrap();
            for _ in 0..7 {
                let batch = client.event("batch").await;
                events.extend(batch["events"].as_array().unwrap().clone());
                cursor = batch["cursor"].clone();
                if events.last().unwrap()["type"] == "task.completed" {
                    return events;
                }
            }
        }
    };
    let ((), events) = tokio::join!(flood, read);
    let (mut stored, mut after) = (Vec::new(), json!(0));
    loop {
        let page = driver.call("log/read", json!({ "session_id": scene.session, "after_seq": after })).await.unwrap();
        stored.extend(page["events"].as_array().unwrap().clone());
        after = page["last_seq"].clone();
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(events.len(), stored.len());
    assert!(events == stored, "the same events in the same order");
}

#[tokio::test]
async fn what_is_no_cursor_of_this_log_is_refused() {
    let door = Door::open().await;
    let mut client = door.client().await;
    for format in ["cdev", "normalized"] {
        for after in ["", "yesterday", "12", "b", "b1.x", "b999999999", "b999999999.5"] {
            let fault = client.call("events/subscribe", json!({ "format": format, "after": after })).await.unwrap_err();
            assert_eq!(fault["code"], -32602, "{after}: {fault}");
        }
    }
    let fault = client.call("events/subscribe", json!({ "format": "xml" })).await.unwrap_err();
    assert_eq!(fault["code"], -32602);
    let fault =
        client.call("events/subscribe", json!({ "format": "normalized", "types": ["no.such"] })).await.unwrap_err();
    assert_eq!(fault["code"], -32602);
}

#[tokio::test]
async fn a_cursor_behind_retention_is_an_error_that_says_where_to_go_on() {
    let mut door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    client.events.clear();
    let session = turn(&mut door, &mut client).await;
    let early = client.event("session_start").await["cursor"].clone();
    client.until("stream_read_complete").await;
    forget(&door).await;
    let mut late = door.client().await;
    for (method, params) in [
        ("events/subscribe", json!({ "after": early })),
        ("events/subscribe", json!({ "format": "normalized", "after": early })),
        ("session/watch", json!({ "session_id": session, "after": early })),
        ("log/read", json!({ "session_id": session })),
    ] {
        let fault = late.call(method, params.clone()).await.unwrap_err();
        assert_eq!((&fault["code"], &fault["data"]["code"]), (&json!(-32053), &json!("CURSOR_TRUNCATED")), "{method}");
        let resume_at = fault["data"]["resume_at"].as_u64().unwrap();
        let mut resumed = params;
        if method == "log/read" {
            resumed["after_seq"] = json!(resume_at - 1);
        } else {
            resumed["after"] = fault["data"]["resume_cursor"].clone();
        }
        late.call(method, resumed).await.unwrap();
    }
    // The session itself is still there, without what was removed.
    assert_eq!(late.call("session/messages", json!({ "session_id": session })).await.unwrap()["messages"], json!([]));
}

#[tokio::test]
async fn a_named_reader_goes_on_where_it_said_that_it_was_and_no_other_does() {
    let mut door = Door::open_with(unlimited).await;
    let token = door.token().await;
    let mut client = door.connect(&token).await.unwrap();
    client.hello().await;
    client.events.clear();
    client.call("events/subscribe", json!({ "after": "beginning", "name": "page" })).await.unwrap();
    let session = turn(&mut door, &mut client).await;
    let mut all = client.until("stream_read_complete").await;
    // Not kept, and not sent again.
    all.retain(|(name, _)| name != "pty_spinner");
    let (_, read) = &all[all.len() / 2];
    let acked = client.call("events/ack", json!({ "name": "page", "cursor": read["cursor"] })).await.unwrap();
    assert_eq!(acked, json!({ "name": "page", "cursor": read["cursor"] }));
    drop(client);
    let mut again = door.connect(&token).await.unwrap();
    again.hello().await;
    again.events.clear();
    again.call("events/subscribe", json!({ "name": "page", "sessions": [session] })).await.unwrap();
    let rest = again.until("stream_read_complete").await;
    assert_eq!(rest, all[all.len() / 2 + 1..]);
    // Another device's reader of the same name begins now.
    let mut other = door.client().await;
    other.events.clear();
    other.call("events/subscribe", json!({ "name": "page" })).await.unwrap();
    let fresh =
        other.call("session/start", json!({ "workspace_id": door.workspace().await, "mode": "new" })).await.unwrap();
    assert_eq!(other.event("session_start").await["session_id"], fresh["session_id"]);
    let fault = other.call("events/ack", json!({ "name": "", "cursor": "b1" })).await.unwrap_err();
    assert_eq!(fault["code"], -32602);
}

#[tokio::test]
async fn events_are_read_page_by_page_and_there_is_nothing_beyond_the_last() {
    let mut door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let session = turn(&mut door, &mut client).await;
    client.until("stream_read_complete").await;
    let whole = client.call("log/read", json!({ "session_id": session })).await.unwrap();
    let whole = whole["events"].as_array().unwrap();
    let (mut paged, mut after) = (Vec::new(), 0);
    loop {
        let page =
            client.call("log/read", json!({ "session_id": session, "after_seq": after, "limit": 3 })).await.unwrap();
        let events = page["events"].as_array().unwrap();
        assert!(events.len() <= 3);
        paged.extend(events.clone());
        after = page["last_seq"].as_u64().unwrap();
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(&paged, whole);
    let seqs: Vec<_> = paged.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=after).collect::<Vec<_>>());
    let end = client.call("log/read", json!({ "session_id": session, "after_seq": after })).await.unwrap();
    assert_eq!((&end["events"], &end["has_more"]), (&json!([]), &json!(false)));
    let fault = client.call("log/read", json!({ "session_id": session, "after_seq": after + 1 })).await.unwrap_err();
    assert_eq!(fault["code"], -32602);
}

#[tokio::test]
async fn events_are_read_back_from_the_end_page_by_page_and_by_type() {
    let mut door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let session = turn(&mut door, &mut client).await;
    client.until("stream_read_complete").await;
    let whole = client.call("log/read", json!({ "session_id": session })).await.unwrap();
    let whole = whole["events"].as_array().unwrap();
    let (mut paged, mut before) = (Vec::new(), 9_007_199_254_740_991_u64);
    loop {
        let read = json!({ "session_id": session, "before_seq": before, "limit": 3 });
        let page = client.call("log/read", read).await.unwrap();
        let events = page["events"].as_array().unwrap();
        assert!(events.len() <= 3);
        paged.splice(0..0, events.clone());
        before = events[0]["seq"].as_u64().unwrap();
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(&paged, whole);
    let types = ["task.started", "task.completed"];
    let read = json!({ "session_id": session, "before_seq": whole.len() + 1, "types": types });
    let some = client.call("log/read", read).await.unwrap();
    let wanted: Vec<_> = whole.iter().filter(|event| types.iter().any(|name| event["type"] == *name)).collect();
    assert_eq!(some["events"].as_array().unwrap().iter().collect::<Vec<_>>(), wanted);
    assert_eq!(some["has_more"], false);
    for refused in [json!({ "types": types }), json!({ "before_seq": 9, "types": ["no.such.type"] })] {
        let mut read = refused.clone();
        read["session_id"] = json!(session);
        assert_eq!(client.call("log/read", read).await.unwrap_err()["code"], -32602, "{refused}");
    }
}

#[tokio::test]
async fn nothing_comes_any_more_after_unsubscribing() {
    let mut door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    client.call("events/subscribe", json!({ "format": "normalized" })).await.unwrap();
    client.call("events/unsubscribe", json!({})).await.unwrap();
    scene.agent.finish().await;
    let mut other = door.client().await;
    let end = async {
        while other.call("session/state", json!({ "session_id": scene.session })).await.unwrap()["is_running"] == true {
        }
    };
    soon("the task ends", end).await;
    client.events.clear();
    client.call("status/health", json!({})).await.unwrap();
    assert_eq!(client.events, Vec::<Value>::new());
}
