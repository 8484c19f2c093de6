//! CLIs that speak JSON lines over their pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use testkit::agents::{Agent, Sandbox};

use super::Bare;
use crate::Outcome;

/// A running CLI with an open session, and how to speak its protocol.
pub(super) struct JsonLinesCli {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    session: String,
    protocol: CliProtocol,
    _home: Sandbox,
}

struct CliProtocol {
    /// Builds the message that sends a prompt to a session.
    prompt: fn(session: &str, text: &str) -> Value,
    /// Whether a message is a piece of the answer.
    is_delta: fn(&Value) -> bool,
    /// Whether a message ends the turn.
    is_end: fn(&Value) -> bool,
}

/// Starts Claude Code, whose session begins with its first prompt.
pub(super) fn claude(home: Sandbox) -> Outcome<JsonLinesCli> {
    let args = "-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages \
                --permission-prompt-tool stdio --setting-sources=";
    let protocol = CliProtocol {
        prompt: |_, text| {
            let content = json!([{ "type": "text", "text": text }]);
            json!({ "type": "user", "message": { "role": "user", "content": content } })
        },
        is_delta: |message| message["event"]["delta"]["type"] == "text_delta",
        is_end: |message| message["type"] == "result",
    };
    JsonLinesCli::start(home, Agent::Claude, args, protocol)
}

/// Starts Codex's app server and a thread in it that never asks.
pub(super) fn codex(home: Sandbox) -> Outcome<JsonLinesCli> {
    let protocol = CliProtocol {
        prompt: |thread, text| {
            let input = json!([{ "type": "text", "text": text }]);
            json!({ "id": 9, "method": "turn/start", "params": { "threadId": thread, "input": input } })
        },
        is_delta: |message| message["method"] == "item/agentMessage/delta",
        is_end: |message| message["method"] == "turn/completed",
    };
    let work = home.work();
    let mut codex = JsonLinesCli::start(home, Agent::Codex, "app-server", protocol)?;
    let client = json!({ "name": "bench", "title": "bench", "version": "1" });
    codex.call("initialize", json!({ "clientInfo": client, "capabilities": { "experimentalApi": true } }))?;
    codex.send(&json!({ "method": "initialized" }))?;
    let started = codex.call("thread/start", json!({ "cwd": work, "approvalPolicy": "never" }))?;
    codex.session = started["thread"]["id"].as_str().ok_or("no thread")?.into();
    Ok(codex)
}

/// Starts the Gemini CLI over ACP and a session in it.
pub(super) fn gemini(home: Sandbox) -> Outcome<JsonLinesCli> {
    let protocol = CliProtocol {
        prompt: |session, text| {
            let prompt = json!([{ "type": "text", "text": text }]);
            json!({ "jsonrpc": "2.0", "id": 9, "method": "session/prompt",
                "params": { "sessionId": session, "prompt": prompt } })
        },
        is_delta: |message| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk",
        is_end: |message| message["id"] == 9,
    };
    let work = home.work();
    let mut gemini = JsonLinesCli::start(home, Agent::Gemini, "-m gemini-2.5-pro --acp", protocol)?;
    gemini.call("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }))?;
    let made = gemini.call("session/new", json!({ "cwd": work, "mcpServers": [] }))?;
    gemini.session = made["sessionId"].as_str().ok_or("no session")?.into();
    Ok(gemini)
}

impl JsonLinesCli {
    fn start(home: Sandbox, agent: Agent, args: &str, protocol: CliProtocol) -> Outcome<Self> {
        let mut command = home.command(agent);
        command.args(args.split_whitespace()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let stdin = child.stdin.take().ok_or("no stdin")?;
        let stdout = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        Ok(Self { child, stdin, stdout, session: String::new(), protocol, _home: home })
    }

    fn send(&mut self, message: &Value) -> Outcome {
        Ok(writeln!(self.stdin, "{message}")?)
    }

    fn call(&mut self, method: &str, params: Value) -> Outcome<Value> {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))?;
        self.until(|message| message["id"] == 1).map(|mut answer| answer["result"].take())
    }

    fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Outcome<Value> {
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line)? == 0 {
                return Err("the bare CLI ended".into());
            }
            // Some print lines that are no protocol.
            let Ok(message) = serde_json::from_str(&line) else { continue };
            if is_it(&message) {
                return Ok(message);
            }
        }
    }
}

impl Bare for JsonLinesCli {
    fn first_delta(&mut self, prompt: &str) -> Outcome {
        let message = (self.protocol.prompt)(&self.session, prompt);
        self.send(&message)?;
        self.until(self.protocol.is_delta).map(drop)
    }

    fn finish_turn(&mut self) -> Outcome {
        self.until(self.protocol.is_end).map(drop)
    }
}

impl Drop for JsonLinesCli {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
