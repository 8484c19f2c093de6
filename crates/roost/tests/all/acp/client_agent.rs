//! An ACP agent that asks its client for whatever the prompt says: a list of requests, whose answers it says, and updates.
//! `$terminal` is the terminal that was created last.

// An agent talks over its own streams, which are no terminal of ours.
#![allow(clippy::disallowed_methods)]

use std::io::{BufRead, Write};

use serde_json::{Value, json};

use crate::contract::this_binary;
use crate::kit::RoostInstance;

/// An instance where `--runtime asking` starts this agent.
pub(super) fn instance() -> RoostInstance {
    let instance = RoostInstance::new();
    let args = ["--exact", "--ignored", "--nocapture", "acp::client_agent::agent"];
    instance.configure(&format!("[runtimes.asking]\ncommand = {:?}\nargs = {args:?}\n", this_binary()));
    instance
}

#[test]
#[ignore = "not a test: an agent that the tests start"]
fn agent() {
    let mut lines = std::io::stdin().lock().lines().map_while(Result::ok);
    let mut next = || lines.next().and_then(|line| serde_json::from_str::<Value>(&line).ok());
    let mut offered = Value::Null;
    while let Some(message) = next() {
        let (Some(method), id) = (message["method"].as_str(), &message["id"]) else { continue };
        match method {
            "initialize" => {
                offered = message["params"]["clientCapabilities"].clone();
                send(&json!({ "id": id, "result": { "protocolVersion": 1, "agentCapabilities": {} } }));
            }
            "session/new" => send(&json!({ "id": id, "result": { "sessionId": "asking" } })),
            "session/prompt" => {
                let prompt = message["params"]["prompt"][0]["text"].as_str().unwrap_or_default();
                let requests: Vec<Value> = serde_json::from_str(prompt).unwrap_or_default();
                let mut answers = vec![json!({ "fs": offered["fs"], "terminal": offered["terminal"] })];
                let mut terminal = String::new();
                for (number, request) in requests.iter().enumerate() {
                    let answer = ask(number, request, &terminal, &mut next);
                    if let Some(created) = answer["terminalId"].as_str() {
                        created.clone_into(&mut terminal);
                    }
                    answers.push(answer);
                }
                let content = json!({ "type": "text", "text": Value::Array(answers).to_string() });
                let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
                send(&json!({ "method": "session/update", "params": { "sessionId": "asking", "update": update } }));
                send(&json!({ "id": id, "result": { "stopReason": "end_turn" } }));
            }
            _ => {}
        }
    }
}

/// The client's answer: its result, or the error's message; null to an update, which is not answered.
fn ask(number: usize, request: &Value, terminal: &str, next: &mut impl FnMut() -> Option<Value>) -> Value {
    let text = request.to_string().replace("$terminal", terminal);
    let mut request: Value = serde_json::from_str(&text).unwrap();
    request["params"]["sessionId"] = "asking".into();
    if request["method"] == "session/update" {
        send(&request);
        return Value::Null;
    }
    request["id"] = json!(number);
    send(&request);
    while let Some(message) = next() {
        if message["id"] == number && message.get("method").is_none() {
            return message.get("result").cloned().unwrap_or_else(|| message["error"]["message"].clone());
        }
    }
    Value::Null
}

fn send(message: &Value) {
    let mut message = message.clone();
    message["jsonrpc"] = "2.0".into();
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{message}").and_then(|()| stdout.flush()).unwrap();
}
