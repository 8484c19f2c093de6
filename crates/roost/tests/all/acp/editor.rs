//! An editor that has started `roost acp` as its agent, message by message. Every message that it receives is checked
//! against the schema of the protocol.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};
use testkit::acp_schema::AcpChecker;

use crate::kit::{PATIENCE, RoostInstance, wait_for};

pub(super) struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<Value>,
    checker: AcpChecker,
    /// Everything that was received, in order.
    seen: Vec<Value>,
    last_id: i64,
}

impl Editor {
    /// Starts the agent, without a word to it yet.
    pub(super) fn start(instance: &RoostInstance, args: &[&str]) -> Self {
        Self::from_command(instance.command(&[&["acp"], args].concat()))
    }

    /// The same, for a connection that will speak this version of the protocol.
    pub(super) fn start_version(instance: &RoostInstance, args: &[&str], version: u8) -> Self {
        let mut editor = Self::start(instance, args);
        editor.checker = AcpChecker::new(version);
        editor
    }

    pub(super) fn from_command(mut command: Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = child.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let message: Value = serde_json::from_str(&line).expect("stdout has nothing but messages");
                assert_eq!(message["jsonrpc"], "2.0", "{line}");
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        Self { stdin: child.stdin.take(), child, lines, checker: AcpChecker::new(1), seen: Vec::new(), last_id: 0 }
    }

    /// Starts the agent and says hello.
    pub(super) fn open(instance: &RoostInstance, args: &[&str]) -> Self {
        let mut editor = Self::start(instance, args);
        editor.initialize();
        editor
    }

    pub(super) fn initialize(&mut self) -> Value {
        self.result("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }))
    }

    pub(super) fn send_text(&mut self, text: &str) {
        text.lines().for_each(|line| self.checker.client_sent(line));
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    pub(super) fn send(&mut self, message: Value) {
        self.send_text(&format!("{message}\n"));
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request; returns its id.
    pub(super) fn request(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        self.send(json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }));
        self.last_id
    }

    /// Sends a request and waits for its whole answer.
    #[track_caller]
    pub(super) fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.reply(id)
    }

    /// Sends a request and waits for its result.
    #[track_caller]
    pub(super) fn result(&mut self, method: &str, params: Value) -> Value {
        let reply = self.call(method, params);
        assert!(reply.get("error").is_none(), "{method}: {reply}");
        reply["result"].clone()
    }

    /// Waits for the answer to a request.
    #[track_caller]
    pub(super) fn reply(&mut self, id: i64) -> Value {
        self.wait(&format!("the answer to request {id}"), |message| {
            message["id"] == id && message.get("method").is_none()
        })
    }

    /// The first message, received or to come, of which this holds.
    #[track_caller]
    pub(super) fn wait(&mut self, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let mut at = 0;
        loop {
            if let Some(message) = self.seen[at..].iter().find(|message| holds(message)) {
                return message.clone();
            }
            at = self.seen.len();
            match self.lines.recv_timeout(PATIENCE) {
                Ok(message) => {
                    self.checker.agent_sent(&message.to_string()).unwrap_or_else(|problem| panic!("{problem}"));
                    self.seen.push(message);
                }
                Err(_) => panic!("waited in vain for {what}; received: {:#?}", self.seen),
            }
        }
    }

    /// Waits for the request of this method.
    #[track_caller]
    pub(super) fn asked(&mut self, method: &str) -> Value {
        self.wait(method, |message| message["method"] == method && message.get("id").is_some())
    }

    /// Waits for a piece of an answer that holds this text.
    #[track_caller]
    pub(super) fn chunk(&mut self, text: &str) {
        self.wait(text, |message| {
            let said = message["params"]["update"]["content"]["text"].as_str();
            said.is_some_and(|said| said.contains(text))
        });
    }

    /// Answers a request for permission with this option.
    pub(super) fn choose(&mut self, asked: &Value, option: &str) {
        let outcome = json!({ "outcome": { "outcome": "selected", "optionId": option } });
        self.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": outcome }));
    }

    /// Everything that was received and not forgotten.
    pub(super) fn seen(&self) -> &[Value] {
        &self.seen
    }

    /// Forgets what was received, so that only what comes is looked at.
    pub(super) fn forget(&mut self) {
        self.seen.clear();
    }

    /// The updates of a kind that were received.
    pub(super) fn updates(&self, kind: &str) -> Vec<Value> {
        let updates = self.seen.iter().map(|message| &message["params"]["update"]);
        updates.filter(|update| update["sessionUpdate"] == kind).cloned().collect()
    }

    /// The agent's answer, put together.
    pub(super) fn answer(&self) -> String {
        let chunks = self.updates("agent_message_chunk");
        chunks.iter().map(|update| update["content"]["text"].as_str().unwrap_or_default()).collect()
    }

    pub(super) fn new_session(&mut self, instance: &RoostInstance) -> String {
        let session = self.result("session/new", json!({ "cwd": instance.work(), "mcpServers": [] }));
        session["sessionId"].as_str().unwrap().to_owned()
    }

    /// Sends a prompt; returns the id of its request.
    pub(super) fn prompt(&mut self, session: &str, text: &str) -> i64 {
        let prompt = json!([{ "type": "text", "text": text }]);
        self.request("session/prompt", json!({ "sessionId": session, "prompt": prompt }))
    }

    /// Closes stdin and waits for the end of the process; tells its exit code.
    pub(super) fn leave(&mut self) -> Option<i32> {
        self.stdin = None;
        wait_for("the end of roost acp", || self.child.try_wait().unwrap()).code()
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The code of an answer that is an error.
pub(super) fn code(reply: &Value) -> i64 {
    reply["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {reply}"))
}

/// The number of updates of each kind.
pub(super) fn kinds(messages: &[Value]) -> HashMap<String, usize> {
    let mut kinds = HashMap::new();
    for message in messages {
        if let Some(kind) = message["params"]["update"]["sessionUpdate"].as_str() {
            *kinds.entry(kind.to_owned()).or_default() += 1;
        }
    }
    kinds
}
