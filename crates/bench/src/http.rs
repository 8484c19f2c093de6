//! One HTTP request at a time, to a server on this machine.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::{Value, json};

use crate::Outcome;

/// The revision of MCP that the benches speak, with a handshake as most clients have it.
pub(crate) const MCP_VERSION: &str = "2025-06-18";

/// Posts JSON and returns the JSON that is answered.
pub(crate) fn post(address: SocketAddr, path: &str, token: Option<&str>, body: &Value) -> Outcome<Value> {
    read_json(path, &exchange(address, path, token, "", body)?)
}

/// A session of MCP at an address.
pub(crate) struct McpSession {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) id: String,
}

/// The header that names a session of MCP.
pub(crate) const MCP_SESSION: &str = "mcp-session-id";

impl McpSession {
    /// Opens a session; what the server said of itself comes with it.
    pub(crate) fn open(address: SocketAddr, token: &str) -> Outcome<(Self, Value)> {
        let params = json!({ "protocolVersion": MCP_VERSION, "capabilities": {},
            "clientInfo": { "name": "bench", "version": "0" } });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let response = exchange(address, "/mcp", Some(token), "", &body)?;
        let id = response.lines().take_while(|line| !line.is_empty()).find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case(MCP_SESSION).then(|| value.trim().to_owned())
        });
        let id = id.ok_or_else(|| format!("initialize was answered with: {response}"))?;
        Ok((Self { address, token: token.to_owned(), id }, read_json("/mcp", &response)?))
    }

    /// The answer to a request.
    pub(crate) fn request(&self, method: &str, params: &Value) -> Outcome<Value> {
        let headers = format!("{MCP_SESSION}: {}\r\nmcp-protocol-version: {MCP_VERSION}\r\n", self.id);
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        read_json("/mcp", &exchange(self.address, "/mcp", Some(&self.token), &headers, &body)?)
    }
}

/// Posts JSON with further headers and returns the whole response.
fn exchange(address: SocketAddr, path: &str, token: Option<&str>, headers: &str, body: &Value) -> Outcome<String> {
    let body = body.to_string();
    let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\n{authorization}{headers}Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    read_all(stream)
}

/// Gets the JSON at a path.
pub(crate) fn get(address: SocketAddr, path: &str, token: &str) -> Outcome<Value> {
    let mut stream = TcpStream::connect(address)?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
    )?;
    read_json(path, &read_all(stream)?)
}

fn read_all(mut stream: TcpStream) -> Outcome<String> {
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}

fn read_json(path: &str, response: &str) -> Outcome<Value> {
    let json = response.find("\r\n\r\n").and_then(|head| {
        let body = &response[head..];
        serde_json::from_str(&body[body.find('{')?..=body.rfind('}')?]).ok()
    });
    Ok(json.ok_or_else(|| format!("{path} was answered with: {response}"))?)
}
