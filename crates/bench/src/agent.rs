//! The bare demo agent, driven over its pipes without anything in between.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::{Outcome, stage};

/// An agent process with an open session.
pub(crate) struct BareAgent {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    session: String,
    next_id: u64,
    /// When `initialize` was answered.
    greeted: Instant,
}

impl BareAgent {
    /// Starts the agent and makes a session.
    pub(crate) fn start() -> Outcome<Self> {
        Self::start_in("/".as_ref())
    }

    /// Starts the agent and makes a session in this folder.
    pub(crate) fn start_in(cwd: &Path) -> Outcome<Self> {
        let mut command = Command::new(stage::roost()?);
        command.arg("demo-agent");
        Self::start_command(command, cwd)
    }

    /// Starts the agent that this command is, and makes a session in this folder.
    pub(crate) fn start_command(mut command: Command, cwd: &Path) -> Outcome<Self> {
        let started = Instant::now();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdin = child.stdin.take().ok_or("no stdin")?;
        let stdout = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        let mut agent = Self { child, stdin, stdout, session: String::new(), next_id: 0, greeted: started };
        agent.call("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }))?;
        agent.greeted = Instant::now();
        let made = agent.call("session/new", json!({ "cwd": cwd, "mcpServers": [] }))?;
        agent.session = made["sessionId"].as_str().ok_or("no session id")?.into();
        Ok(agent)
    }

    /// Prompts and returns when the first piece of the answer is there; [`BareAgent::read_response`] reads the rest.
    pub(crate) fn first_delta(&mut self, text: &str) -> Outcome {
        let params = json!({ "sessionId": self.session, "prompt": [{ "type": "text", "text": text }] });
        self.send("session/prompt", params)?;
        while !self.read()?.contains("agent_message_chunk") {}
        Ok(())
    }

    /// When the agent has answered `initialize`.
    pub(crate) fn greeted(&self) -> Instant {
        self.greeted
    }

    /// The id of its process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Runs a turn to its end; `on_line` sees every line of it.
    pub(crate) fn run_turn(&mut self, text: &str, mut on_line: impl FnMut(&str)) -> Outcome {
        let params = json!({ "sessionId": self.session, "prompt": [{ "type": "text", "text": text }] });
        self.send("session/prompt", params)?;
        let end = format!("\"id\":{},", self.next_id);
        loop {
            let line = self.read()?;
            on_line(&line);
            if line.contains(&end) && line.contains("\"stopReason\"") {
                return Ok(());
            }
        }
    }

    /// Runs a turn to its end and grants every request for permission.
    pub(crate) fn run_turn_granting(&mut self, text: &str) -> Outcome {
        let params = json!({ "sessionId": self.session, "prompt": [{ "type": "text", "text": text }] });
        self.send("session/prompt", params)?;
        loop {
            let message: Value = serde_json::from_str(&self.read()?)?;
            if message["method"] == "session/request_permission" {
                let outcome = json!({ "outcome": { "outcome": "selected", "optionId": "allow-once" } });
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": outcome });
                writeln!(self.stdin, "{answer}")?;
            } else if message["id"] == self.next_id && message.get("result").is_some() {
                return Ok(());
            }
        }
    }

    /// Reads up to the response to the last request and returns its result.
    pub(crate) fn read_response(&mut self) -> Outcome<Value> {
        loop {
            let line = self.read()?;
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == self.next_id {
                return Ok(message["result"].clone());
            }
        }
    }

    fn call(&mut self, method: &str, params: Value) -> Outcome<Value> {
        self.send(method, params)?;
        self.read_response()
    }

    fn send(&mut self, method: &str, params: Value) -> Outcome {
        self.next_id += 1;
        let request = json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params });
        Ok(writeln!(self.stdin, "{request}")?)
    }

    fn read(&mut self) -> Outcome<String> {
        let mut line = String::new();
        match self.stdout.read_line(&mut line)? {
            0 => Err("the agent ended".into()),
            _ => Ok(line),
        }
    }
}

impl Drop for BareAgent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
