//! Messages while they are written: pieces for who asks for them, thinking and spinners for all who watch.

use roost_engine::adapter::Fact;
use roost_model::payload::{ModelOutputDeltaKind, ModelOutputDeltaPayload};
use serde_json::{Value, json};
use testkit::facts;

use crate::kit::{Client, Door};
use crate::stage::{events_named, names};

/// A piece of thinking.
fn thought(text: &str) -> Fact {
    let (kind, block_id) = (ModelOutputDeltaKind::ReasoningDelta, "thinking".into());
    Fact::Delta(ModelOutputDeltaPayload { kind, block_id, delta: text.into(), tool_call_id: None, language: None })
}

/// A client that can take messages piece by piece.
async fn reader_of_pieces(door: &Door) -> Client {
    let mut client = door.connect(&door.token().await).await.unwrap();
    let capabilities = json!({ "notifications": ["claude_message", "agent_message_delta"] });
    client.call("initialize", json!({ "capabilities": capabilities })).await.unwrap();
    client
}

/// The pieces of each message put together, by uuid in the order in which they began.
fn put_together(events: &[(String, Value)]) -> Vec<(Value, Value, String)> {
    let mut messages: Vec<(Value, Value, String)> = Vec::new();
    for piece in events_named(events, "agent_message_delta") {
        let (uuid, text) = (&piece["uuid"], piece["delta"].as_str().unwrap());
        match messages.iter_mut().find(|(known, ..)| known == uuid) {
            Some((.., so_far)) => so_far.push_str(text),
            None => messages.push((uuid.clone(), piece["type"].clone(), text.into())),
        }
    }
    messages
}

#[tokio::test]
async fn whoever_asks_for_pieces_gets_them_before_the_message_of_the_same_uuid() {
    let mut door = Door::open().await;
    let mut client = reader_of_pieces(&door).await;
    let scene = door.scene(&mut client).await;
    scene.agent.say_all([thought("let me "), thought("see"), facts::delta("do"), facts::delta("ne")]).await;
    scene.agent.say(facts::output("done")).await;
    scene.agent.finish().await;
    let events = client.until("stream_read_complete").await;
    let messages = events_named(&events, "claude_message");
    let is_own = |said: &&&Value, kind: &str| said["content"][0]["type"] == kind && said["role"] == "assistant";
    let find = |kind: &str| messages.iter().find(|said| is_own(said, kind)).unwrap();
    let (thinking, answer) = (find("thinking"), find("text"));
    let expected = [
        (thinking["uuid"].clone(), json!("thinking"), "let me see".to_owned()),
        (answer["uuid"].clone(), json!("text"), "done".to_owned()),
    ];
    assert_eq!(put_together(&events), expected);
    let all = names(&events);
    let last_piece = all.iter().rposition(|name| *name == "agent_message_delta").unwrap();
    let first_whole = events.iter().position(|(name, said)| name == "claude_message" && said == *thinking).unwrap();
    assert!(last_piece < first_whole, "{all:?}");
    for piece in events_named(&events, "agent_message_delta") {
        assert!(piece.get("cursor").is_none() && piece["session_id"] == scene.session, "{piece}");
    }
}

#[tokio::test]
async fn a_burst_of_pieces_comes_as_few() {
    let mut door = Door::open().await;
    let mut client = reader_of_pieces(&door).await;
    let scene = door.scene(&mut client).await;
    let words: Vec<_> = (0..500).map(|number| format!("{number} ")).collect();
    scene.agent.say_all(words.iter().map(|word| facts::delta(word))).await;
    scene.agent.say(facts::output(&words.concat())).await;
    scene.agent.finish().await;
    let events = client.until("stream_read_complete").await;
    let [(_, _, text)] = put_together(&events).try_into().unwrap();
    assert_eq!(text, words.concat());
    let pieces = events_named(&events, "agent_message_delta").len();
    assert!(pieces < words.len(), "{pieces} pieces for {} words", words.len());
}

#[tokio::test]
async fn whoever_does_not_ask_or_watch_gets_no_pieces() {
    let mut door = Door::open().await;
    let (mut watcher, mut reader) = (door.client().await, reader_of_pieces(&door).await);
    let scene = door.scene(&mut watcher).await;
    scene.agent.say_all([facts::delta("se"), facts::delta("cret"), facts::output("secret")]).await;
    scene.agent.finish().await;
    for client in [&mut watcher, &mut reader] {
        let events = client.until("stream_read_complete").await;
        assert_eq!(events_named(&events, "agent_message_delta"), Vec::<&Value>::new());
    }
}

#[tokio::test]
async fn a_subscription_that_names_pieces_gets_them() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let types = json!(["agent_message_delta", "stream_read_complete"]);
    client.call("events/subscribe", json!({ "types": types })).await.unwrap();
    let scene = door.scene(&mut client).await;
    scene.agent.say_all([facts::delta("yes"), facts::output("yes")]).await;
    scene.agent.finish().await;
    let events = client.until("stream_read_complete").await;
    let [(_, kind, text)] = put_together(&events).try_into().unwrap();
    assert_eq!((kind, text.as_str()), (json!("text"), "yes"));
}

#[tokio::test]
async fn what_the_agent_thought_is_in_the_messages_as_it_was_told() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    scene.agent.say_all([thought("first "), thought("this"), facts::requested("call"), facts::completed("call")]).await;
    scene.agent.finish().await;
    let events = client.until("stream_read_complete").await;
    let told: Vec<_> = events_named(&events, "claude_message").iter().map(|said| said["uuid"].clone()).collect();
    let params = json!({ "session_id": scene.session });
    let page = client.call("session/messages", params).await.unwrap();
    let stored = page["messages"].as_array().unwrap();
    let uuids: Vec<_> = stored.iter().map(|message| message["uuid"].clone()).collect();
    // The last one only ends the turn.
    assert_eq!(told[..told.len() - 1], uuids);
    assert_eq!(stored[1]["message"]["content"], json!([{ "type": "thinking", "text": "first this" }]));
    let ids: Vec<_> = stored.iter().map(|message| message["id"].as_u64().unwrap()).collect();
    assert!(ids.is_sorted() && page["total"] == ids.len(), "{page}");
}

#[tokio::test]
async fn an_agent_spins_while_it_works_and_not_while_something_waits() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    scene.agent.say(facts::requested("one")).await;
    for expected in ["Working…", "write…"] {
        let spinner = client.event("pty_spinner").await;
        assert_eq!(spinner["message"], expected);
        assert!(spinner.get("cursor").is_none() && spinner["symbol"].is_string(), "{spinner}");
    }
    scene.agent.say(facts::asks("one")).await;
    client.event("pty_permission").await;
    scene.agent.say(facts::requested("two")).await;
    client.event("claude_log").await;
    client.call("permission/respond", json!({ "tool_use_id": "one", "decision": "allow" })).await.unwrap();
    let waiting = client.until("pty_permission_resolved").await;
    assert_eq!(events_named(&waiting, "pty_spinner"), Vec::<&Value>::new());
    assert_eq!(client.event("pty_spinner").await["message"], "Working…");
}
