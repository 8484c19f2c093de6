//! A tool server with one tool, over stdio or HTTP, and the few lines of MCP that call it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json};
use axum::routing::post;
use serde_json::{Value, json};

use super::WEATHER;

/// The version of MCP that both sides speak.
const VERSION: &str = "2025-06-18";
/// The path of the server over HTTP.
const PATH: &str = "/mcp";

/// The server's response to a message; `None` for a notification.
pub fn answer(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": VERSION, "capabilities": { "tools": {} },
            "serverInfo": { "name": "weather", "version": "1.0.0" },
        }),
        "tools/list" => {
            let tool = json!({ "name": "weather", "inputSchema": { "type": "object", "properties": {} } });
            json!({ "tools": [tool] })
        }
        "ping" => json!({}),
        // Some servers repeat what they were given.
        "tools/call" if message["params"]["arguments"].get("fails").is_some() => {
            let words = format!("no weather for {}", message["params"]["arguments"]);
            let error = json!({ "code": -32000, "message": words });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
        "tools/call" => json!({ "content": [{ "type": "text", "text": WEATHER }] }),
        _ => {
            let error = json!({ "code": -32601, "message": "Method not found" });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}

/// Serves stdin and stdout until stdin ends; never returns.
pub fn main() -> ! {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        if let Some(answer) = serde_json::from_str(&line).ok().as_ref().and_then(answer) {
            println!("{answer}");
        }
    }
    std::process::exit(0)
}

/// The URL of the same server over HTTP. It is started at the first call and serves until this process ends.
pub fn url() -> &'static str {
    static URL: LazyLock<String> = LazyLock::new(|| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}{PATH}", listener.local_addr().unwrap());
        std::thread::Builder::new().name("tool server".into()).spawn(move || serve(listener)).unwrap();
        url
    });
    &URL
}

fn serve(listener: TcpListener) {
    listener.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        axum::serve(listener, Router::new().route(PATH, post(posted))).await.unwrap();
    });
}

async fn posted(body: Bytes) -> impl IntoResponse {
    match serde_json::from_slice(&body).ok().as_ref().and_then(answer) {
        Some(answer) => Json(answer).into_response(),
        None => StatusCode::ACCEPTED.into_response(),
    }
}

/// Calls the tool of a server that is given in ACP's form, and returns the tool's text.
pub(super) fn call(server: &Value) -> String {
    let answer = if server["type"] == "http" { ask(server) } else { start(server) };
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// The message that calls the tool.
fn tool_call() -> Value {
    json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "weather", "arguments": {} } })
}

fn ask(server: &Value) -> Value {
    let url = server["url"].as_str().unwrap_or_default();
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let body = tool_call().to_string();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(
        stream,
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split_once("\r\n\r\n").and_then(|(_, body)| serde_json::from_str(body).ok()).unwrap_or_default()
}

fn start(server: &Value) -> Value {
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
        tool_call(),
    ] {
        writeln!(stdin, "{message}").unwrap();
    }
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let messages = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
    let answer = messages.into_iter().find(|message| message["id"] == 2).unwrap_or_default();
    drop(stdin);
    child.wait().unwrap();
    answer
}
