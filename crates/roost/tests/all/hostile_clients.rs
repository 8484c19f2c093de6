//! Clients that want to bring the daemon down, against the real binary with few files.

use std::fs;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::kit::{PATIENCE, RoostInstance};

const ATTACKERS: usize = 1100;
/// The addresses that they come from, besides the phones' own.
const ADDRESSES: usize = 10;
const FILES: u64 = 1024;
/// How often an attacker sends another byte, or comes back.
const TRICKLE: Duration = Duration::from_millis(500);

/// Half a body, of which one byte after the other follows, and never the end.
const BODY: &[u8] = b"POST /api/auth/exchange HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
    Content-Length: 16000\r\n\r\n{\"pairing_token\":\"";
/// Nothing, half a head, half a WebSocket's handshake, and a frame of 15 MB after a handshake without a token.
const OTHERS: [&[u8]; 4] = [
    b"",
    b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: ",
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: ",
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
      Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n\
      \x81\xff\x00\x00\x00\x00\x00\xf0\x00\x00\x00\x00\x00\x00xxxxxxxx",
];
/// Of so many attackers in a row the first ones begin with those, and the rest with a body: more than there are files.
const ROW: usize = 80;

/// Comes again and again, and holds on to its connection for as long as it is let.
async fn attack(number: usize, door: SocketAddr, connected: Arc<Semaphore>) {
    let source = [127, 0, 0, 2 + (number % ADDRESSES) as u8];
    let mut is_first = true;
    loop {
        let socket = TcpSocket::new_v4().unwrap();
        let bound = socket.bind((source, 0).into());
        if let (Ok(()), Ok(mut stream)) = (bound, socket.connect(door).await) {
            let _ = stream.write_all(OTHERS.get(number % ROW).unwrap_or(&BODY)).await;
            if std::mem::take(&mut is_first) {
                connected.add_permits(1);
            }
            while stream.write_all(b"x").await.is_ok() {
                tokio::time::sleep(TRICKLE).await;
            }
        }
        tokio::time::sleep(TRICKLE).await;
    }
}

/// What is answered to JSON without a token.
async fn post(door: SocketAddr, path: &str, body: &Value) -> Value {
    let (mut stream, body) = (TcpStream::connect(door).await.unwrap(), body.to_string());
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// A paired device over a WebSocket.
struct Phone(WebSocketStream<TcpStream>);

impl Phone {
    async fn connect(door: SocketAddr, token: &str) -> Self {
        let mut request = format!("ws://{door}/ws").into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        let stream = TcpStream::connect(door).await.unwrap();
        Self(tokio_tungstenite::client_async(request, stream).await.unwrap().0)
    }

    async fn is_answered(&mut self) {
        let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {} });
        self.0.send(Message::text(call.to_string())).await.unwrap();
        loop {
            let message = self.0.next().await.unwrap().unwrap().into_text().unwrap();
            let answer: Value = serde_json::from_str(&message).unwrap_or_default();
            if answer["id"] == 7 {
                assert!(answer.get("result").is_some(), "{answer}");
                return;
            }
        }
    }
}

/// The daemon in the background with few files, and where it listens.
fn up_with_few_files(instance: &RoostInstance) -> SocketAddr {
    let mut command = Command::new("sh");
    let script = format!("ulimit -n {FILES}; exec \"$0\" up");
    instance.clear(&mut command).args(["-c", &script, env!("CARGO_BIN_EXE_roost")]);
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
    let file: Value = serde_json::from_slice(&fs::read(instance.state().join("daemon.json")).unwrap()).unwrap();
    file["address"].as_str().unwrap().parse().unwrap()
}

/// The soft limit of open files of this process, as the kernel tells it.
fn soft_limit(pid: &str) -> u64 {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let line = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    line.split_whitespace().nth(3).unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_1100_hostile_connections_at_1024_files_status_and_a_paired_phone_are_answered() {
    // The attackers are ours, and need files too.
    let own = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: own.maximum, maximum: own.maximum }).unwrap();
    let instance = RoostInstance::new();
    let door = up_with_few_files(&instance);
    let pair: Value = serde_json::from_str(&instance.run(&["pair", "--json"]).ended(0).stdout).unwrap();
    let tokens = post(door, "/api/auth/exchange", &json!({ "pairing_token": pair["token"] })).await;
    let token = tokens["access_token"].as_str().unwrap();
    let mut early = Phone::connect(door, token).await;
    early.is_answered().await;

    let connected = Arc::new(Semaphore::new(0));
    let mut attackers = tokio::task::JoinSet::new();
    for number in 0..ATTACKERS {
        attackers.spawn(attack(number, door, connected.clone()));
    }
    let all = connected.acquire_many(ATTACKERS as u32);
    drop(tokio::time::timeout(PATIENCE, all).await.expect("the attackers connect").unwrap());

    for _ in 0..5 {
        let answered = async {
            early.is_answered().await;
            Phone::connect(door, token).await.is_answered().await;
        };
        tokio::time::timeout(PATIENCE, answered).await.expect("a paired phone is answered");
        let status: Value = serde_json::from_str(&instance.run(&["status", "--json"]).ended(0).stdout).unwrap();
        assert_eq!(status["running"], true);
    }
    instance.run(&["run", "hello"]).ended(0);
    let files = fs::read_dir(format!("/proc/{}/fd", instance.daemon().as_raw_nonzero())).unwrap().count();
    assert!(files < 800, "descriptors are kept back, but {files} are open");
    attackers.shutdown().await;
    instance.assert_nothing_left();
}

#[test]
fn the_daemon_raises_its_limit_of_open_files_and_its_agents_keep_the_old_one() {
    let instance = RoostInstance::new();
    let mut command = Command::new("sh");
    // The hard limit stays as it is.
    let script = "ulimit -Sn 256; exec \"$0\" up";
    instance.clear(&mut command).args(["-c", script, env!("CARGO_BIN_EXE_roost")]);
    assert!(command.stdout(Stdio::null()).status().unwrap().success());
    assert!(soft_limit(&instance.daemon().as_raw_nonzero().to_string()) > 256);
    let mut run = instance.start(&["run", "--json", "stubborn"]);
    run.lines_to("only SIGKILL");
    let agents = instance.pids().into_iter().filter(|pid| {
        let line = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.contains("demo-agent")
    });
    let limits: Vec<_> = agents.map(|pid| soft_limit(&pid)).collect();
    assert!(!limits.is_empty() && limits.iter().all(|limit| *limit == 256), "{limits:?}");
    instance.run(&["down"]).ended(0);
    run.finish().ended(1);
    instance.assert_nothing_left();
}

#[tokio::test]
async fn an_address_that_was_locked_after_wrong_pairing_codes_is_shown_by_status_and_in_the_log() {
    let instance = RoostInstance::new();
    let door = up_with_few_files(&instance);
    let pair: Value = serde_json::from_str(&instance.run(&["pair", "--json"]).ended(0).stdout).unwrap();
    assert!(!instance.run(&["status"]).ended(0).stdout.contains("pairing"));
    let wrong = if pair["code"] == "000000" { "000001" } else { "000000" };
    for _ in 0..5 {
        post(door, "/api/pair/code", &json!({ "code": wrong })).await;
    }
    let refused = post(door, "/api/pair/code", &json!({ "code": pair["code"] })).await;
    assert!(refused["error"].as_str().unwrap().contains("roost pair"), "{refused}");
    let status = instance.run(&["status"]).ended(0).stdout;
    assert!(status.contains("locked for 127.0.0.1") && status.contains("`roost pair`"), "{status}");
    let log = fs::read_to_string(instance.state().join("daemon.log")).unwrap();
    assert!(log.contains("locked after wrong pairing codes") && log.contains("127.0.0.1"), "{log}");
    // A new code is good for everybody.
    let pair: Value = serde_json::from_str(&instance.run(&["pair", "--json"]).ended(0).stdout).unwrap();
    let paired = post(door, "/api/pair/code", &json!({ "code": pair["code"] })).await;
    assert!(paired["pairing_token"].is_string(), "{paired}");
}
