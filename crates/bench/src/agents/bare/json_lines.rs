//! CLIs that speak JSON lines over their pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use testkit::agents::{Agent, Sandbox};

use super::Bare;
use crate::Outcome;

/// A CLI, and the words of its protocol.
pub(super) struct Lines {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    session: String,
    words: Words,
    _home: Sandbox,
}

struct Words {
    /// The message that says something in a session.
    prompt: fn(session: &str, text: &str) -> Value,
    /// A message is a piece of an answer.
    is_delta: fn(&Value) -> bool,
    /// A message ends a turn.
    is_end: fn(&Value) -> bool,
}

/// Claude Code.
pub(super) fn claude(home: Sandbox) -> Outcome<Lines> {
    let args = "-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages \
                --permission-prompt-tool stdio --setting-sources=";
    let words = Words {
        prompt: |_, text| {
            let content = json!([{ "type": "text", "text": text }]);
            json!({ "type": "user", "message": { "role": "user", "content": content } })
        },
        is_delta: |message| message["event"]["delta"]["type"] == "text_delta",
        is_end: |message| message["type"] == "result",
    };
    Lines::start(home, Agent::Claude, args, words)
}

/// Codex's app server.
pub(super) fn codex(home: Sandbox) -> Outcome<Lines> {
    let words = Words {
        prompt: |thread, text| {
            let input = json!([{ "type": "text", "text": text }]);
            json!({ "id": 9, "method": "turn/start", "params": { "threadId": thread, "input": input } })
        },
        is_delta: |message| message["method"] == "item/agentMessage/delta",
        is_end: |message| message["method"] == "turn/completed",
    };
    let work = home.work();
    let mut codex = Lines::start(home, Agent::Codex, "app-server", words)?;
    let client = json!({ "name": "bench", "title": "bench", "version": "1" });
    codex.call("initialize", json!({ "clientInfo": client, "capabilities": { "experimentalApi": true } }))?;
    codex.send(&json!({ "method": "initialized" }))?;
    let started = codex.call("thread/start", json!({ "cwd": work, "approvalPolicy": "never" }))?;
    codex.session = started["thread"]["id"].as_str().ok_or("no thread")?.into();
    Ok(codex)
}

/// The Gemini CLI.
pub(super) fn gemini(home: Sandbox) -> Outcome<Lines> {
    let words = Words {
        prompt: |session, text| {
            let prompt = json!([{ "type": "text", "text": text }]);
            json!({ "jsonrpc": "2.0", "id": 9, "method": "session/prompt",
                "params": { "sessionId": session, "prompt": prompt } })
        },
        is_delta: |message| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk",
        is_end: |message| message["id"] == 9,
    };
    let work = home.work();
    let mut gemini = Lines::start(home, Agent::Gemini, "-m gemini-2.5-pro --acp", words)?;
    gemini.call("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }))?;
    let made = gemini.call("session/new", json!({ "cwd": work, "mcpServers": [] }))?;
    gemini.session = made["sessionId"].as_str().ok_or("no session")?.into();
    Ok(gemini)
}

impl Lines {
    fn start(home: Sandbox, agent: Agent, args: &str, words: Words) -> Outcome<Self> {
        let mut command = home.command(agent);
        command.args(args.split_whitespace()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let stdin = child.stdin.take().ok_or("no stdin")?;
        let stdout = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        Ok(Self { child, stdin, stdout, session: String::new(), words, _home: home })
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
            // Some say more than their protocol.
            let Ok(message) = serde_json::from_str(&line) else { continue };
            if is_it(&message) {
                return Ok(message);
            }
        }
    }
}

impl Bare for Lines {
    fn first_delta(&mut self, prompt: &str) -> Outcome {
        let message = (self.words.prompt)(&self.session, prompt);
        self.send(&message)?;
        self.until(self.words.is_delta).map(drop)
    }

    fn rest(&mut self) -> Outcome {
        self.until(self.words.is_end).map(drop)
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
