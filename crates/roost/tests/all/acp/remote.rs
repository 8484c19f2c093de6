//! `/acp`: an editor on another machine, over a WebSocket, with the rights of a paired device.

use std::fs;
use std::net::SocketAddr;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use testkit::acp_schema::AcpChecker;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::editor::code;
use crate::kit::{PATIENCE, RoostInstance};

/// A daemon on a port; the working directory that it is started in is its workspace.
pub(super) fn up(instance: &RoostInstance) -> SocketAddr {
    instance.run(&["up"]).ended(0);
    let file: Value = serde_json::from_slice(&fs::read(instance.state().join("daemon.json")).unwrap()).unwrap();
    file["address"].as_str().unwrap().parse().unwrap()
}

/// The token of a newly paired device with the usual scope.
pub(super) async fn paired(instance: &RoostInstance, door: SocketAddr) -> String {
    let pair: Value = serde_json::from_str(&instance.run(&["pair", "--json"]).ended(0).stdout).unwrap();
    let body = json!({ "pairing_token": pair["token"] }).to_string();
    let head = format!(
        "POST /api/auth/exchange HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(door).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let tokens: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    tokens["access_token"].as_str().unwrap().to_owned()
}

pub(super) struct RemoteEditor {
    socket: WebSocketStream<TcpStream>,
    checker: AcpChecker,
    seen: Vec<Value>,
    last_id: i64,
}

impl RemoteEditor {
    async fn connect(door: SocketAddr, token: Option<&str>) -> Result<Self, Error> {
        let mut request = format!("ws://{door}/acp").into_client_request().unwrap();
        if let Some(token) = token {
            request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        }
        let stream = TcpStream::connect(door).await.unwrap();
        let (socket, response) = tokio_tungstenite::client_async(request, stream).await?;
        assert!(response.headers().contains_key("acp-connection-id"));
        Ok(Self { socket, checker: AcpChecker::new(1), seen: Vec::new(), last_id: 0 })
    }

    /// Connects and says hello.
    pub(super) async fn open(door: SocketAddr, token: &str) -> Self {
        let mut editor = Self::connect(door, Some(token)).await.unwrap();
        editor.call("initialize", json!({ "protocolVersion": 1 })).await;
        editor
    }

    pub(super) async fn send(&mut self, message: Value) {
        let text = message.to_string();
        self.checker.client_sent(&text);
        self.socket.send(Message::text(text)).await.unwrap();
    }

    pub(super) async fn request(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        self.send(json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params })).await;
        self.last_id
    }

    pub(super) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        self.reply(id).await
    }

    pub(super) async fn reply(&mut self, id: i64) -> Value {
        self.wait(|message| message["id"] == id && message.get("method").is_none()).await
    }

    pub(super) async fn wait(&mut self, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(message) = self.seen.iter().find(|message| holds(message)) {
                return message.clone();
            }
            let next = tokio::time::timeout(PATIENCE, self.socket.next()).await;
            match next.unwrap_or_else(|_| panic!("waited in vain; received: {:#?}", self.seen)).unwrap().unwrap() {
                Message::Text(text) => {
                    self.checker.agent_sent(&text).unwrap_or_else(|problem| panic!("{problem}"));
                    self.seen.push(serde_json::from_str(&text).unwrap());
                }
                Message::Close(why) => panic!("closed: {why:?}"),
                _ => {}
            }
        }
    }

    async fn new_session(&mut self, instance: &RoostInstance) -> String {
        let reply = self.call("session/new", json!({ "cwd": instance.work(), "mcpServers": [] })).await;
        reply["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
    }

    pub(super) async fn prompt(&mut self, session: &str, text: &str) -> i64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.request("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await
    }
}

#[tokio::test]
async fn nobody_comes_in_without_a_token() {
    let instance = RoostInstance::new();
    let door = up(&instance);
    for token in [None, Some("nonsense")] {
        match RemoteEditor::connect(door, token).await {
            Err(Error::Http(response)) => assert_eq!(response.status(), 401, "{token:?}"),
            other => panic!("{token:?}: {:?}", other.err()),
        }
    }
}

#[tokio::test]
async fn a_remote_editor_prompts_and_answers_what_is_asked() {
    let instance = RoostInstance::new();
    let door = up(&instance);
    let token = paired(&instance, door).await;
    let mut editor = RemoteEditor::open(door, &token).await;
    let session = editor.new_session(&instance).await;
    let prompt = editor.prompt(&session, "edit notes.txt").await;
    let asked = editor.wait(|message| message["method"] == "session/request_permission").await;
    let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "allow_once" } });
    editor.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": outcome })).await;
    assert_eq!(editor.reply(prompt).await["result"]["stopReason"], "end_turn");
    assert!(instance.work().join("notes.txt").exists());
    let log = instance.run(&["log", &session, "--json"]).ended(0).stdout;
    assert!(log.contains(r#""from":"websocket""#), "the record says how it was answered: {log}");
}

#[tokio::test]
async fn a_prompt_of_a_device_names_the_device_to_people_and_to_editors() {
    let instance = RoostInstance::new();
    let door = up(&instance);
    let token = paired(&instance, door).await;
    let mut editor = RemoteEditor::open(door, &token).await;
    let session = editor.new_session(&instance).await;
    let prompt = editor.prompt(&session, "hello").await;
    editor.reply(prompt).await;
    let listed = instance.run(&["devices", "--json"]).ended(0).stdout;
    let device: Value = serde_json::from_str(listed.lines().next().unwrap()).unwrap();
    let name = device["name"].as_str().unwrap_or_else(|| panic!("{device}"));
    let log = instance.run(&["log", &session]).ended(0).stdout;
    assert!(log.contains(&format!("from {name}")), "{log}");
    let mut other = RemoteEditor::open(door, &token).await;
    other.call("session/load", json!({ "sessionId": session, "cwd": instance.work(), "mcpServers": [] })).await;
    let shown = other.wait(|message| message["params"]["update"]["sessionUpdate"] == "user_message_chunk").await;
    assert_eq!(shown["params"]["update"]["_meta"]["roost"]["promptedBy"]["userId"], name);
}

#[tokio::test]
async fn a_remote_editor_may_do_no_more_than_its_device() {
    let instance = RoostInstance::new();
    let door = up(&instance);
    let token = paired(&instance, door).await;
    let mut editor = RemoteEditor::open(door, &token).await;
    let work = instance.work();
    for (what, params) in [
        ("yolo", json!({ "cwd": work, "mcpServers": [], "permission_mode": "yolo" })),
        ("settings", json!({ "cwd": work, "mcpServers": [], "config": { "hooks": { "x": 1 } } })),
        (
            "a tool server",
            json!({ "cwd": work, "mcpServers": [{ "name": "x", "command": "/bin/sh", "args": [], "env": [] }] }),
        ),
    ] {
        let reply = editor.call("session/new", params).await;
        assert_eq!(code(&reply), -32602, "{what}: {reply}");
    }
    let session = editor.new_session(&instance).await;
    let reply = editor.call("session/set_mode", json!({ "sessionId": session, "modeId": "yolo" })).await;
    assert_eq!(code(&reply), -32602, "{reply}");
}

#[tokio::test]
async fn a_remote_editor_works_beneath_the_roots_and_nowhere_else() {
    let instance = RoostInstance::new();
    let (projects, outside) = (instance.home().join("projects"), instance.home().join("outside"));
    for folder in [projects.join("api"), projects.join(".hidden"), outside.clone()] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(projects.join("file"), "").unwrap();
    std::os::unix::fs::symlink(&outside, projects.join("link")).unwrap();
    instance.configure(&format!("[workspaces]\nroots = [{projects:?}]\n"));
    let door = up(&instance);
    let token = paired(&instance, door).await;
    let mut editor = RemoteEditor::open(door, &token).await;
    for (folder, works) in [
        (projects.join("api"), true),
        (instance.work(), true),
        (projects.join(".hidden"), false),
        (projects.join("link"), false),
        (projects.join("file"), false),
        (projects.join("missing"), false),
        (projects.join("../outside"), false),
        (outside, false),
        (instance.home(), false),
        (instance.state(), false),
    ] {
        let reply = editor.call("session/new", json!({ "cwd": folder, "mcpServers": [] })).await;
        assert_eq!(reply.get("result").is_some(), works, "{}: {reply}", folder.display());
    }
}

#[tokio::test]
async fn a_session_goes_on_after_its_remote_editor_is_gone() {
    let instance = RoostInstance::new();
    let door = up(&instance);
    let token = paired(&instance, door).await;
    let mut editor = RemoteEditor::open(door, &token).await;
    let session = editor.new_session(&instance).await;
    editor.prompt(&session, "edit notes.txt").await;
    editor.wait(|message| message["method"] == "session/request_permission").await;
    drop(editor);
    let mut editor = RemoteEditor::open(door, &token).await;
    editor.call("session/load", json!({ "sessionId": session, "cwd": instance.work(), "mcpServers": [] })).await;
    let asked = editor.wait(|message| message["method"] == "session/request_permission").await;
    assert_eq!(asked["params"]["sessionId"], session);
}

#[tokio::test]
async fn a_device_that_is_revoked_loses_its_editor() {
    let instance = RoostInstance::new();
    let door = up(&instance);
    let token = paired(&instance, door).await;
    let mut editor = RemoteEditor::open(door, &token).await;
    let devices: Value = {
        let listed = instance.run(&["devices", "--json"]).ended(0).stdout;
        serde_json::from_str(listed.lines().next().unwrap()).unwrap()
    };
    instance.run(&["devices", "revoke", devices["device_id"].as_str().unwrap_or_else(|| panic!("{devices}"))]).ended(0);
    let closed = tokio::time::timeout(Duration::from_secs(60), async {
        while let Some(Ok(message)) = editor.socket.next().await {
            if let Message::Close(why) = message {
                return why;
            }
        }
        None
    });
    let why = closed.await.unwrap().expect("a reason");
    assert!(why.reason.contains("revoked"), "{why:?}");
}
