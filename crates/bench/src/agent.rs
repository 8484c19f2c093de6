//! An ACP agent, driven over its pipes: the bare demo agent, or `roost acp` with the daemon behind it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use memchr::memmem;
use serde_json::{Value, json};

use crate::{Outcome, stage};

/// Bytes that are read from the agent at once.
const BUFFER: usize = 256 << 10;
/// The id of an answer is among this many first bytes.
const HEAD: usize = 60;

/// An agent process with an open session.
pub(crate) struct PipedAgent {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    session: String,
    next_id: u64,
    /// How long after its start `initialize` was answered.
    pub(crate) greeted_after: Duration,
}

impl PipedAgent {
    /// Starts the agent and makes a session.
    pub(crate) fn start() -> Outcome<Self> {
        Self::start_in("/".as_ref())
    }

    /// Starts the demo agent and makes a session in this folder.
    pub(crate) fn start_in(cwd: &Path) -> Outcome<Self> {
        let mut agent = Command::new(stage::roost()?);
        agent.arg("demo-agent");
        Self::launch(agent, cwd)
    }

    /// Starts an agent by this command and makes a session in this folder.
    pub(crate) fn launch(mut agent: Command, cwd: &Path) -> Outcome<Self> {
        let began = Instant::now();
        let mut child = agent.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let stdin = child.stdin.take().ok_or("no stdin")?;
        let stdout = BufReader::with_capacity(BUFFER, child.stdout.take().ok_or("no stdout")?);
        let mut agent =
            Self { child, stdin, stdout, session: String::new(), next_id: 0, greeted_after: Duration::ZERO };
        agent.call("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }))?;
        agent.greeted_after = began.elapsed();
        let made = agent.call("session/new", json!({ "cwd": cwd, "mcpServers": [] }))?;
        agent.session = made["sessionId"].as_str().ok_or("no session id")?.into();
        Ok(agent)
    }

    /// Prompts and returns when the first piece of the answer is there; [`PipedAgent::read_response`] reads the rest.
    pub(crate) fn first_delta(&mut self, text: &str) -> Outcome {
        let params = json!({ "sessionId": self.session, "prompt": [{ "type": "text", "text": text }] });
        self.send("session/prompt", params)?;
        while !self.read()?.contains("agent_message_chunk") {}
        Ok(())
    }

    /// Runs a turn to its end and shows every line of its updates to `look`.
    pub(crate) fn run_turn(&mut self, text: &str, mut look: impl FnMut(&[u8])) -> Outcome {
        let params = json!({ "sessionId": self.session, "prompt": [{ "type": "text", "text": text }] });
        self.send("session/prompt", params)?;
        let (answer, mut line) = (format!("\"id\":{},", self.next_id), Vec::new());
        loop {
            line.clear();
            if self.stdout.read_until(b'\n', &mut line)? == 0 {
                return Err("the agent ended".into());
            }
            // An update has no id of its own: only the answer has one before its result.
            let head = &line[..line.len().min(HEAD)];
            if memmem::find(head, answer.as_bytes()).is_some() {
                return match memmem::find(head, b"\"error\"") {
                    None => Ok(()),
                    Some(_) => Err(format!("the turn failed: {}", String::from_utf8_lossy(&line)).into()),
                };
            }
            look(&line);
        }
    }

    /// The id of the agent's process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
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

impl Drop for PipedAgent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
