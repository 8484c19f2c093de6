//! Events over a connection of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use roost_client::{Client, Error, Subscription};
use roost_rpc::{NoParams, SubscribeParams, method};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::daemon::{Daemon, Peer};

/// A subscription, its request and the daemon's end of its connection.
async fn subscribed(daemon: &Daemon, client: &Client, params: SubscribeParams) -> (Subscription, Value, Peer) {
    let serve = async {
        let mut peer = daemon.accept().await;
        let request = peer.request().await.unwrap();
        peer.answer(&request, json!({ "format": "normalized", "cursor": "b1" })).await;
        (request, peer)
    };
    let (subscription, (request, peer)) = tokio::join!(client.subscribe(params), serve);
    (subscription.unwrap(), request, peer)
}

fn batch(events: &str, cursor: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"event/batch","params":{{"events":[{events}],"cursor":"{cursor}"}}}}"#)
}

#[tokio::test]
async fn events_come_exactly_as_they_are_stored_and_move_the_cursor() {
    let daemon = Daemon::new();
    let (client, _peer) = daemon.client().await;
    let params = SubscribeParams { after: Some("beginning".into()), ..SubscribeParams::default() };
    let (mut events, request, mut peer) = subscribed(&daemon, &client, params).await;
    assert_eq!(request["params"], json!({ "format": "normalized", "after": "beginning" }));
    assert_eq!(events.cursor(), "b1");
    peer.say(r#"{"event":"heartbeat"}"#).await;
    peer.say(&batch(r#"{"b": 1.50,"a":"\u00e9"},{}"#, "b2.7")).await;
    let got = events.next().await.unwrap();
    let lines: Vec<_> = got.events.iter().map(|event| event.get()).collect();
    assert_eq!(lines, [r#"{"b": 1.50,"a":"\u00e9"}"#, "{}"]);
    assert_eq!(events.cursor(), "b2.7");
    drop(peer);
    assert!(matches!(events.next().await, Err(Error::Gone)));
}

#[tokio::test]
async fn what_comes_before_the_answer_is_kept() {
    let daemon = Daemon::new();
    let (client, _peer) = daemon.client().await;
    let serve = async {
        let mut peer = daemon.accept().await;
        let request = peer.request().await.unwrap();
        peer.say(&batch("1", "b5")).await;
        peer.answer(&request, json!({ "format": "normalized", "cursor": "b4" })).await;
        peer
    };
    let (events, _peer) = tokio::join!(client.subscribe(SubscribeParams::default()), serve);
    assert_eq!(events.unwrap().next().await.unwrap().cursor, "b5");
}

#[tokio::test]
async fn what_is_told_besides_events_is_handed_to_the_caller_the_last_of_it() {
    let daemon = Daemon::new();
    let (client, _peer) = daemon.client().await;
    let (mut events, _, mut peer) = subscribed(&daemon, &client, SubscribeParams::default()).await;
    for k in 0..70 {
        peer.say(&json!({ "jsonrpc": "2.0", "method": "event/something_new", "params": { "k": k } }).to_string()).await;
    }
    peer.say(&batch("1", "b2")).await;
    assert_eq!(events.next().await.unwrap().cursor, "b2");
    let told: Vec<_> = events.notifications().map(|one| (one.event, one.params.get().to_owned())).collect();
    assert_eq!(told.len(), 64);
    assert_eq!(told[63], ("something_new".to_owned(), r#"{"k":69}"#.to_owned()));
    assert_eq!(events.notifications().count(), 0, "each is handed over once");
}

#[tokio::test]
async fn a_refused_subscription_says_why() {
    let daemon = Daemon::new();
    let (client, _peer) = daemon.client().await;
    let serve = async {
        let mut peer = daemon.accept().await;
        let request = peer.request().await.unwrap();
        let error = json!({ "code": -32053, "message": "gone", "data": { "code": "CURSOR_TRUNCATED" } });
        peer.say(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": error }).to_string()).await;
    };
    let (events, ()) = tokio::join!(client.subscribe(SubscribeParams::default()), serve);
    assert!(matches!(events.err(), Some(Error::Fault(fault)) if fault.message == "gone"));
}

#[tokio::test]
async fn who_does_not_read_makes_the_daemon_wait_and_calls_are_answered_all_the_same() {
    const BATCHES: usize = 2000;
    let daemon = Daemon::new();
    let (client, mut calls) = daemon.client().await;
    let (mut events, _, mut peer) = subscribed(&daemon, &client, SubscribeParams::default()).await;
    let line = batch(&format!("\"{}\"", "x".repeat(10_000)), "b9") + "\n";
    let written = Arc::new(AtomicUsize::new(0));
    let count = written.clone();
    let flood = tokio::spawn(async move {
        for _ in 0..BATCHES {
            peer.write.write_all(line.as_bytes()).await.unwrap();
            count.fetch_add(1, Ordering::Relaxed);
        }
        peer
    });
    for _ in 0..200 {
        let answer = async {
            let request = calls.request().await.unwrap();
            calls.answer(&request, json!({ "success": true })).await;
        };
        let (called, ()) = tokio::join!(client.call::<method::DaemonStop>(NoParams {}), answer);
        called.unwrap();
    }
    assert!(written.load(Ordering::Relaxed) < BATCHES / 2, "nobody reads, so most of it must still wait");
    for _ in 0..BATCHES {
        assert_eq!(events.next().await.unwrap().events.len(), 1);
    }
    flood.await.unwrap();
}
