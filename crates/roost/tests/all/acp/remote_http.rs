//! `/acp` over HTTP: an editor POSTs its messages and reads event streams, with the rights of a paired device.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::acp_schema::AcpChecker;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::remote::{paired, up};
use crate::kit::{PATIENCE, RoostInstance};

/// What an HTTP response says.
struct HttpResponse {
    status: u16,
    /// The head, in lower case.
    head: String,
    body: String,
}

impl HttpResponse {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// Sends the head and the body of a request. HTTP/1.0, because its bodies come in one piece and as they are.
async fn send(door: SocketAddr, method: &str, headers: &[(&str, &str)], body: &str) -> BufReader<TcpStream> {
    let mut head = format!("{method} /acp HTTP/1.0\r\n");
    let host = ("Host", "localhost");
    let default = (!headers.iter().any(|(name, _)| *name == host.0)).then_some(&host);
    for (name, value) in headers.iter().chain(default) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let mut stream = TcpStream::connect(door).await.unwrap();
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
    BufReader::new(stream)
}

/// Reads a response's status and head.
async fn read_head(stream: &mut BufReader<TcpStream>) -> (u16, String) {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let read = timeout(PATIENCE, stream.read_line(&mut head)).await.unwrap().unwrap();
        assert!(read > 0, "the response ended in its head: {head}");
    }
    (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_lowercase())
}

async fn request(door: SocketAddr, method: &str, headers: &[(&str, &str)], body: &str) -> HttpResponse {
    let mut stream = send(door, method, headers, body).await;
    let (status, head) = read_head(&mut stream).await;
    let mut body = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut body)).await.unwrap().unwrap();
    HttpResponse { status, head, body }
}

/// An event stream that is open.
struct EventStream(BufReader<TcpStream>);

impl EventStream {
    /// The next message; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if timeout(PATIENCE, self.0.read_line(&mut line)).await.expect("waited in vain").unwrap_or(0) == 0 {
                return None;
            }
            if let Some(message) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(message).unwrap());
            }
        }
    }

    /// The first message of which this holds; the others are checked and forgotten.
    async fn wait(&mut self, checker: &mut AcpChecker, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next().await.expect("the stream ended");
            checker.agent_sent(&message.to_string()).unwrap_or_else(|problem| panic!("{problem}"));
            if holds(&message) {
                return message;
            }
        }
    }
}

/// A connection that was made with `initialize`.
struct HttpEditor {
    door: SocketAddr,
    authorization: String,
    id: String,
    checker: AcpChecker,
}

const JSON: (&str, &str) = ("Content-Type", "application/json");
const EVENTS: (&str, &str) = ("Accept", "text/event-stream");
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#;

impl HttpEditor {
    async fn open(door: SocketAddr, token: &str) -> Self {
        let authorization = format!("Bearer {token}");
        let mut checker = AcpChecker::new(1);
        checker.client_sent(INITIALIZE);
        let reply = request(door, "POST", &[("Authorization", &authorization), JSON], INITIALIZE).await;
        assert_eq!(reply.status, 200, "{}", reply.body);
        checker.agent_sent(&reply.body).unwrap_or_else(|problem| panic!("{problem}"));
        let id = reply.header("acp-connection-id").unwrap().to_owned();
        Self { door, authorization, id, checker }
    }

    fn headers<'a>(&'a self, session: Option<&'a str>) -> Vec<(&'a str, &'a str)> {
        let mut headers = vec![("Authorization", self.authorization.as_str()), ("Acp-Connection-Id", &self.id), JSON];
        headers.extend(session.map(|session| ("Acp-Session-Id", session)));
        headers
    }

    async fn post(&mut self, session: Option<&str>, message: Value) -> HttpResponse {
        let text = message.to_string();
        self.checker.client_sent(&text);
        request(self.door, "POST", &self.headers(session), &text).await
    }

    async fn get(&self, session: Option<&str>) -> Result<EventStream, u16> {
        let headers = [self.headers(session), vec![EVENTS]].concat();
        let mut stream = send(self.door, "GET", &headers, "").await;
        match read_head(&mut stream).await {
            (200, head) => {
                assert!(head.contains("content-type: text/event-stream"), "{head}");
                Ok(EventStream(stream))
            }
            (status, _) => Err(status),
        }
    }

    /// Makes a session; its answer comes on the stream of the connection.
    async fn new_session(&mut self, instance: &RoostInstance, stream: &mut EventStream) -> String {
        let params = json!({ "cwd": instance.work(), "mcpServers": [] });
        let new = json!({ "jsonrpc": "2.0", "id": 1, "method": "session/new", "params": params });
        assert_eq!(self.post(None, new).await.status, 202);
        let reply = stream.wait(&mut self.checker, |message| message["id"] == 1).await;
        reply["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
    }
}

fn prompt(session: &str, text: &str) -> Value {
    let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
    json!({ "jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": params })
}

#[tokio::test]
async fn requests_that_are_not_in_order_are_refused_with_their_status() {
    let instance = RoostInstance::new();
    let door = up(&instance);
    let token = format!("Bearer {}", paired(&instance, door).await);
    let editor = HttpEditor::open(door, token.strip_prefix("Bearer ").unwrap()).await;
    let other = format!("Bearer {}", paired(&instance, door).await);
    let token = ("Authorization", token.as_str());
    let (ours, nobody) = (("Acp-Connection-Id", editor.id.as_str()), ("Acp-Connection-Id", "nobody"));
    let session = ("Acp-Session-Id", "nobody");
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}"#;
    let wrong = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":7}"#;
    let about = r#"{"jsonrpc":"2.0","id":1,"method":"session/close","params":{"sessionId":"x"}}"#;
    for (what, method, headers, body, status) in [
        ("no token", "POST", vec![JSON], INITIALIZE, 401),
        ("no token for a stream", "GET", vec![EVENTS, ours], "", 401),
        ("no token for the end", "DELETE", vec![ours], "", 401),
        ("another page's origin", "POST", vec![token, JSON, ("Origin", "https://evil.example")], INITIALIZE, 403),
        ("another host's name", "POST", vec![token, JSON, ("Host", "evil.example")], INITIALIZE, 403),
        ("a form", "POST", vec![token, ours, ("Content-Type", "text/plain")], list, 415),
        ("no connection", "POST", vec![token, JSON], list, 400),
        ("an unknown connection", "POST", vec![token, nobody, JSON], list, 404),
        ("another device's connection", "POST", vec![("Authorization", &other), ours, JSON], list, 404),
        ("another device's stream", "GET", vec![("Authorization", &other), ours, EVENTS], "", 404),
        ("the end of another device's connection", "DELETE", vec![("Authorization", &other), ours], "", 404),
        ("initialize again", "POST", vec![token, ours, JSON], INITIALIZE, 400),
        ("initialize that is wrong", "POST", vec![token, JSON], wrong, 400),
        ("no JSON", "POST", vec![token, ours, JSON], "{", 400),
        ("a batch", "POST", vec![token, ours, JSON], "[]", 400),
        ("no session in the headers", "POST", vec![token, ours, JSON], about, 400),
        ("another session in the headers", "POST", vec![token, ours, session, JSON], about, 400),
        ("a stream without its kind", "GET", vec![token, ours], "", 406),
        ("a stream of no connection", "GET", vec![token, EVENTS], "", 400),
        ("a stream of an unknown connection", "GET", vec![token, nobody, EVENTS], "", 404),
        ("a stream of an unknown session", "GET", vec![token, ours, session, EVENTS], "", 404),
        ("the end of an unknown connection", "DELETE", vec![token, nobody], "", 404),
    ] {
        let reply = request(door, method, &headers, body).await;
        assert_eq!(reply.status, status, "{what}: {}", reply.body);
    }
}

#[tokio::test]
async fn a_body_may_have_32_mib_and_no_more() {
    let instance = RoostInstance::new();
    let door = up(&instance);
    let editor = HttpEditor::open(door, &paired(&instance, door).await).await;
    let headers = editor.headers(None);
    let most = 32 << 20;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}"#;
    let padded = |bytes: usize| format!("{list}{}", " ".repeat(bytes - list.len()));
    assert_eq!(request(door, "POST", &headers, &padded(most)).await.status, 202);
    assert_eq!(request(door, "POST", &headers, &padded(most + 1)).await.status, 413);
}

#[tokio::test]
async fn an_editor_prompts_and_answers_what_is_asked_over_http() {
    let instance = RoostInstance::new();
    let door = up(&instance);
    let mut editor = HttpEditor::open(door, &paired(&instance, door).await).await;
    let mut connection = editor.get(None).await.unwrap_or_else(|status| panic!("{status}"));
    let session = editor.new_session(&instance, &mut connection).await;
    let mut stream = editor.get(Some(&session)).await.unwrap_or_else(|status| panic!("{status}"));
    assert_eq!(editor.post(Some(&session), prompt(&session, "edit notes.txt")).await.status, 202);
    let is_question = |message: &Value| message["method"] == "session/request_permission";
    let asked = stream.wait(&mut editor.checker, is_question).await;
    let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } });
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": outcome });
    assert_eq!(editor.post(Some(&session), answer).await.status, 202);
    let reply = stream.wait(&mut editor.checker, |message| message["id"] == 2 && message["method"].is_null()).await;
    assert_eq!(reply["result"]["stopReason"], "end_turn", "{reply}");
    assert!(instance.work().join("notes.txt").exists());
}

#[tokio::test]
async fn a_stream_is_open_once_and_each_has_its_own_messages() {
    let instance = RoostInstance::new();
    let door = up(&instance);
    let mut editor = HttpEditor::open(door, &paired(&instance, door).await).await;
    let mut connection = editor.get(None).await.unwrap_or_else(|status| panic!("{status}"));
    let session = editor.new_session(&instance, &mut connection).await;
    let mut stream = editor.get(Some(&session)).await.unwrap_or_else(|status| panic!("{status}"));
    assert_eq!(editor.get(None).await.err(), Some(409));
    assert_eq!(editor.get(Some(&session)).await.err(), Some(409));
    editor.post(Some(&session), prompt(&session, "hello")).await;
    stream.wait(&mut editor.checker, |message| message["result"]["stopReason"] == "end_turn").await;
    let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "session/list", "params": {} });
    editor.post(None, list).await;
    let next = connection.next().await.unwrap();
    assert_eq!(next["id"], 3, "nothing of the session came on the stream of the connection: {next}");
}

#[tokio::test]
async fn a_request_about_an_unknown_session_is_answered_on_the_stream_of_the_connection() {
    let instance = RoostInstance::new();
    let door = up(&instance);
    let mut editor = HttpEditor::open(door, &paired(&instance, door).await).await;
    let mut connection = editor.get(None).await.unwrap_or_else(|status| panic!("{status}"));
    assert_eq!(editor.post(Some("nobody"), prompt("nobody", "hello")).await.status, 202);
    let reply = connection.next().await.unwrap();
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&json!(2), &json!(-32002)), "{reply}");
}

#[tokio::test]
async fn an_editor_that_ends_its_connection_finds_its_session_with_the_next_one() {
    let instance = RoostInstance::new();
    let door = up(&instance);
    let token = paired(&instance, door).await;
    let mut editor = HttpEditor::open(door, &token).await;
    let mut connection = editor.get(None).await.unwrap_or_else(|status| panic!("{status}"));
    let session = editor.new_session(&instance, &mut connection).await;
    let mut stream = editor.get(Some(&session)).await.unwrap_or_else(|status| panic!("{status}"));
    editor.post(Some(&session), prompt(&session, "edit notes.txt")).await;
    stream.wait(&mut editor.checker, |message| message["method"] == "session/request_permission").await;
    assert_eq!(request(door, "DELETE", &editor.headers(None), "").await.status, 202);
    assert_eq!(connection.next().await, None);
    while stream.next().await.is_some() {}
    assert_eq!(editor.get(None).await.err(), Some(404));

    let mut editor = HttpEditor::open(door, &token).await;
    let mut stream = editor.get(Some(&session)).await.unwrap_or_else(|status| panic!("{status}"));
    let params = json!({ "sessionId": session, "cwd": instance.work(), "mcpServers": [] });
    let load = json!({ "jsonrpc": "2.0", "id": 1, "method": "session/load", "params": params });
    editor.post(Some(&session), load).await;
    stream.wait(&mut editor.checker, |message| message["method"] == "session/request_permission").await;
}

#[tokio::test]
async fn a_device_that_is_revoked_loses_its_streams_and_its_connection() {
    let instance = RoostInstance::new();
    let door = up(&instance);
    let editor = HttpEditor::open(door, &paired(&instance, door).await).await;
    let mut stream = editor.get(None).await.unwrap_or_else(|status| panic!("{status}"));
    let listed = instance.run(&["devices", "--json"]).ended(0).stdout;
    let device: Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    instance.run(&["devices", "revoke", device["device_id"].as_str().unwrap()]).ended(0);
    assert_eq!(timeout(Duration::from_secs(60), stream.next()).await.unwrap(), None);
    assert_eq!(editor.get(None).await.err(), Some(401));
}

#[tokio::test]
async fn a_daemon_that_stops_ends_the_streams() {
    let instance = RoostInstance::new();
    let door = up(&instance);
    let editor = HttpEditor::open(door, &paired(&instance, door).await).await;
    let mut stream = editor.get(None).await.unwrap_or_else(|status| panic!("{status}"));
    instance.run(&["down"]).ended(0);
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn a_connection_counts_as_one_of_the_sockets_of_its_device() {
    let instance = RoostInstance::new();
    instance.configure("[limits]\nsockets_per_token = 1\n");
    let door = up(&instance);
    let (token, other) = (paired(&instance, door).await, paired(&instance, door).await);
    let editor = HttpEditor::open(door, &token).await;
    let second = request(door, "POST", &[("Authorization", &editor.authorization), JSON], INITIALIZE).await;
    assert_eq!(second.status, 429, "{}", second.body);
    HttpEditor::open(door, &other).await;
}
