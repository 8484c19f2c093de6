//! A tool server with one tool, over stdio, and the few lines of MCP that call it.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::WEATHER;

/// The version of MCP that both sides speak.
const VERSION: &str = "2025-06-18";

/// Serves stdin and stdout until stdin ends; never returns.
pub fn main() -> ! {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": VERSION, "capabilities": { "tools": {} },
                "serverInfo": { "name": "weather", "version": "1.0.0" },
            }),
            Some("tools/list") => {
                let tool = json!({ "name": "weather", "inputSchema": { "type": "object", "properties": {} } });
                json!({ "tools": [tool] })
            }
            Some("ping") => json!({}),
            Some("tools/call") => json!({ "content": [{ "type": "text", "text": WEATHER }] }),
            _ => continue,
        };
        println!("{}", json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
    }
    std::process::exit(0)
}

/// Starts a server as ACP describes it, calls its tool and ends it; what the tool says.
pub(super) fn call(server: &Value) -> String {
    let texts = |value: &Value| value.as_array().map(Vec::as_slice).unwrap_or_default().to_vec();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let env = texts(&server["env"]);
    let mut child = Command::new(text(&server["command"]))
        .args(texts(&server["args"]).iter().map(text))
        .envs(env.iter().map(|variable| (text(&variable["name"]), text(&variable["value"]))))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let client = json!({ "name": "scripted", "version": "1.0.0" });
    let hello = json!({ "protocolVersion": VERSION, "capabilities": {}, "clientInfo": client });
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "weather", "arguments": {} } }),
    ] {
        writeln!(stdin, "{message}").unwrap();
    }
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let messages = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
    let answer = messages.into_iter().find(|message| message["id"] == 2).unwrap_or_default();
    drop(stdin);
    child.wait().unwrap();
    text(&answer["result"]["content"][0]["text"])
}
