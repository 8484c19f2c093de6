//! A client that does not read costs nobody anything, and loses nothing.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{facts, soon};

use crate::kit::{Client, Door};
use crate::stage::unlimited;

/// More than the buffers between two sockets hold.
const PIECES: usize = 2500;
const PIECE: usize = 8000;

async fn follow(client: &mut Client, session: &str, after: &Value) {
    let subscribe = json!({ "format": "normalized", "after": after, "sessions": [session] });
    client.call("events/subscribe", subscribe).await.unwrap();
}

/// Everything up to the end of the task or of the connection, and the place after it.
async fn read(client: &mut Client, mut cursor: Value) -> (Vec<Value>, Value) {
    let mut events: Vec<Value> = Vec::new();
    loop {
        let message = match client.events.is_empty() {
            false => client.events.remove(0),
            true => match soon("a message", client.next_or_close()).await {
                Ok(message) => message,
                Err(_) => return (events, cursor),
            },
        };
        if message["method"] == "event/batch" {
            events.extend(message["params"]["events"].as_array().unwrap().clone());
            cursor = message["params"]["cursor"].clone();
            if events.last().unwrap()["type"] == "task.completed" {
                return (events, cursor);
            }
        }
    }
}

#[tokio::test]
async fn a_client_that_never_reads_is_let_go_and_resumes_by_its_cursor() {
    let mut door = Door::open_with(unlimited).await;
    let (mut driver, mut quick, mut slow) = (door.client().await, door.client().await, door.client().await);
    let scene = door.scene(&mut driver).await;
    let beginning = json!("beginning");
    follow(&mut quick, &scene.session, &beginning).await;
    follow(&mut slow, &scene.session, &beginning).await;
    let flood = async {
        for _ in 0..PIECES {
            scene.agent.say(facts::delta(&"x".repeat(PIECE))).await;
        }
        scene.agent.finish().await;
    };
    // Neither the agent nor the other client waits for the one that does not read.
    let ((), (all, _)) = tokio::join!(flood, read(&mut quick, beginning.clone()));
    assert!(all.len() > PIECES);
    let mut local = door.local().await;
    let before = local.call("daemon/status", json!({})).await.unwrap()["clients"].as_u64().unwrap();
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(16)).await;
    tokio::time::resume();
    let gone =
        async { while local.call("daemon/status", json!({})).await.unwrap()["clients"].as_u64().unwrap() >= before {} };
    soon("the client is let go", gone).await;
    let (mut seen, cursor) = read(&mut slow, beginning).await;
    assert!(seen.len() < all.len(), "the buffers hold more than the whole flood; make it bigger");
    let mut again = door.client().await;
    follow(&mut again, &scene.session, &cursor).await;
    seen.extend(read(&mut again, cursor).await.0);
    assert!(seen == all, "the same events in the same order");
}

#[tokio::test]
async fn a_client_that_reads_late_is_answered_everything_that_it_asked() {
    let door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    // Answers of more bytes than are buffered, none of which is read while it asks.
    let mut calls = Vec::new();
    for _ in 0..300 {
        calls.push(client.ask("initialize", json!({})).await);
    }
    for call in calls {
        client.answer(call).await.unwrap();
    }
}
