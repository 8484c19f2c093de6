//! Clients without a token that hold on to connections, and clients with one that hold on to memory.

use std::time::Duration;

use futures::SinkExt;
use roost_server::{Settings, Tls};
use serde_json::json;
use testkit::soon;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::MaybeTlsStream;
use tokio_tungstenite::tungstenite::Message;

use crate::kit::{Client, Door};

/// What a client may take for a request in these tests.
const SHORT: Duration = Duration::from_millis(200);
/// How often a client that trickles sends a byte: often enough that no pause between two bytes is long.
const TRICKLE: Duration = Duration::from_millis(10);

fn hurried(settings: &mut Settings) {
    settings.limits.request_time = SHORT;
}

/// Sends this, then one byte after the other for as long as it is let; what it was answered until it was cut off.
async fn trickle(mut stream: TcpStream, first: &str) -> String {
    stream.write_all(first.as_bytes()).await.unwrap();
    let (mut reader, mut writer) = stream.split();
    let mut answer = Vec::new();
    let sending = async {
        while writer.write_all(b"x").await.is_ok() {
            tokio::time::sleep(TRICKLE).await;
        }
        std::future::pending().await
    };
    let cut = async {
        // A reset is as good an end as any.
        let _ = reader.read_to_end(&mut answer).await;
    };
    let cut = async {
        tokio::select! { () = cut => {}, () = sending => {} }
    };
    soon("it is cut off", cut).await;
    String::from_utf8(answer).unwrap()
}

async fn connect_from(door: &Door, source: [u8; 4]) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((source, 0).into()).unwrap();
    socket.connect(door.address).await.unwrap()
}

/// The TCP stream below the WebSocket.
fn bytes(client: &mut Client) -> &mut TcpStream {
    match client.socket().get_mut() {
        MaybeTlsStream::Plain(stream) => stream,
        _ => panic!("it is encrypted"),
    }
}

/// The beginning of a text frame of so many bytes, with a mask that changes nothing.
fn frame_of(bytes: u64) -> Vec<u8> {
    [&[0x81, 0xff][..], &bytes.to_be_bytes(), &[0; 4]].concat()
}

async fn is_served(client: &mut Client) {
    assert_eq!(client.call("status/health", json!({})).await.unwrap()["status"], "ok");
}

#[tokio::test]
async fn a_head_that_trickles_and_a_connection_that_says_nothing_are_cut() {
    let door = Door::open_with(hurried).await;
    for first in ["", "GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: "] {
        trickle(TcpStream::connect(door.address).await.unwrap(), first).await;
    }
    let mut silent = TcpStream::connect(door.address).await.unwrap();
    soon("silence is cut", silent.read_to_end(&mut Vec::new())).await.unwrap();
    // One that has had an answer and is kept open for nothing, too.
    silent = TcpStream::connect(door.address).await.unwrap();
    silent.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    soon("rest is cut", silent.read_to_end(&mut Vec::new())).await.unwrap();
}

#[tokio::test]
async fn a_body_that_trickles_is_cut_with_and_without_a_token() {
    let door = Door::open_with(hurried).await;
    let token = door.token().await;
    for (path, authorization) in
        [("/api/auth/exchange", String::new()), ("/api/rpc", format!("Authorization: Bearer {token}\r\n"))]
    {
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\n{authorization}Content-Type: application/json\r\n\
             Content-Length: 10000\r\n\r\n{{"
        );
        let answer = trickle(TcpStream::connect(door.address).await.unwrap(), &head).await;
        assert!(answer.starts_with("HTTP/1.1 408 "), "{path}: {answer}");
    }
    assert_eq!(door.rpc(&token, "status/health", json!({})).await.0, 200);
}

#[tokio::test]
async fn a_tls_handshake_that_trickles_is_cut() {
    let door = Door::open_with(|settings| {
        hurried(settings);
        settings.tcp.as_mut().unwrap().tls = Some(Tls::SelfSigned);
    })
    .await;
    // The beginning of a record with a hello of 16000 bytes.
    trickle(TcpStream::connect(door.address).await.unwrap(), "\x16\x03\x01\x3e\x7f").await;
}

#[tokio::test]
async fn without_a_token_a_body_is_small() {
    let door = Door::open().await;
    let long = json!({ "pairing_token": "x".repeat(20_000) });
    assert_eq!(door.post("/api/auth/exchange", None, &long).await.0, 413);
}

#[tokio::test]
async fn an_address_that_shows_no_token_has_few_connections_and_keeps_no_device_out() {
    let door = Door::open_with(|settings| settings.limits.connections_per_address = 4).await;
    let token = door.token().await;
    let mut paired = door.connect(&token).await.unwrap();
    paired.hello().await;
    // The attackers come from the device's own address, as they do behind a proxy.
    let mut attackers = Vec::new();
    for _ in 0..20 {
        attackers.push(connect_from(&door, [127, 0, 0, 1]).await);
    }
    is_served(&mut paired).await;
    let mut again = door.connect(&token).await.unwrap();
    again.hello().await;
    for mut oldest in attackers.drain(..16) {
        // Closed, whichever way.
        let _ = soon("an old one is closed", oldest.read_to_end(&mut Vec::new())).await;
    }
}

/// A client in the middle of a message of a megabyte.
async fn holder_of(door: &Door, bytes_sent: usize) -> Client {
    let mut holder = door.client().await;
    // One that is closed in the middle may break off.
    let _ = bytes(&mut holder).write_all(&[frame_of(1 << 20), vec![b' '; bytes_sent]].concat()).await;
    holder
}

#[tokio::test]
async fn unfinished_messages_of_all_clients_share_a_budget() {
    let door = Door::open_with(|settings| {
        settings.limits.max_frame_bytes = 1 << 20;
        settings.limits.unfinished_bytes = 2 << 20;
    })
    .await;
    let mut honest = door.client().await;
    let mut holders = Vec::new();
    for _ in 0..3 {
        holders.push(holder_of(&door, 1_000_000).await);
    }
    let closed = futures::future::select_all(holders.iter_mut().map(|holder| Box::pin(holder.closed())));
    assert_eq!(closed.await.0.map(|(code, _)| code), Some(1013));
    is_served(&mut honest).await;
    drop(holders);
    let big = format!("{}{}", r#"{"jsonrpc":"2.0","id":1,"method":"status/health"}"#, " ".repeat(1_000_000));
    let served = async {
        loop {
            let mut client = door.client().await;
            if client.socket().send(Message::text(&big)).await.is_ok() && client.next_or_close().await.is_ok() {
                return;
            }
        }
    };
    soon("what they held is given back", served).await;
}

#[tokio::test]
async fn a_message_that_takes_memory_from_others_and_stops_coming_is_cut() {
    let door = Door::open_with(hurried).await;
    let mut holder = holder_of(&door, 66 << 10).await;
    let (code, reason) = holder.closed().await.unwrap();
    assert_eq!((code, reason.contains("slowly")), (1013, true), "{reason}");
}
