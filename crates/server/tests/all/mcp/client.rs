//! An MCP client over HTTP, as bytes: of either era, or of none.

use serde_json::{Value, json};
use testkit::soon;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::kit::Door;

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const LEGACY: &str = "2025-11-25";

/// A client at one address.
#[derive(Clone)]
pub(crate) struct McpClient {
    address: std::net::SocketAddr,
    path: String,
    token: String,
    session: Option<String>,
    /// What it says that it can do.
    capabilities: Value,
}

/// An answer that is being read.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    reader: BufReader<TcpStream>,
}

impl Answer {
    /// The next message; `None` at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        soon("an MCP message", async {
            loop {
                let mut line = String::new();
                if self.reader.read_line(&mut line).await.unwrap() == 0 {
                    return None;
                }
                let text = line.strip_prefix("data:").unwrap_or(&line).trim();
                if text.starts_with('{') {
                    return Some(serde_json::from_str(text).unwrap());
                }
            }
        })
        .await
    }

    /// The last message.
    pub(crate) async fn last(mut self) -> Value {
        let mut last = Value::Null;
        while let Some(message) = self.next().await {
            last = message;
        }
        last
    }

    /// The next line that begins so, without the beginning.
    pub(crate) async fn line(&mut self, prefix: &str) -> String {
        loop {
            let mut line = String::new();
            assert!(soon("a line", self.reader.read_line(&mut line)).await.unwrap() > 0, "no line {prefix}");
            if let Some(rest) = line.strip_prefix(prefix) {
                return rest.trim().to_owned();
            }
        }
    }

    /// A header of the answer.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl McpClient {
    /// A client of a new device.
    pub(crate) async fn new(door: &Door, path: &str) -> Self {
        Self::with_token(door, path, door.token().await)
    }

    /// Its token.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// A client with this token.
    pub(crate) fn with_token(door: &Door, path: &str, token: String) -> Self {
        let capabilities = json!({ "elicitation": {}, "sampling": {}, "roots": {} });
        Self { address: door.address, path: path.to_owned(), token, session: None, capabilities }
    }

    /// A legacy client that has a session.
    pub(crate) async fn legacy(door: &Door, path: &str) -> Self {
        let mut client = Self::new(door, path).await;
        let params = json!({
            "protocolVersion": LEGACY,
            "capabilities": client.capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = client.post(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })).await;
        assert_eq!(answer.status, 200, "{}", answer.head);
        client.session = answer.header("mcp-session-id").map(ToOwned::to_owned);
        client
    }

    /// The same modern client, which can do this, too.
    pub(crate) fn that_can(mut self, capability: &str, how: Value) -> Self {
        self.capabilities[capability] = how;
        self
    }

    /// The same address for another one's session.
    pub(crate) fn with_session_of(&self, other: &Self) -> Self {
        Self { session: other.session.clone(), ..self.clone() }
    }

    /// The same client at another address.
    pub(crate) fn at(&self, path: &str) -> Self {
        Self { path: path.to_owned(), ..self.clone() }
    }

    /// Sends a message; a modern one with the headers that it needs.
    pub(crate) async fn post(&self, message: Value) -> Answer {
        let mut headers = String::new();
        if message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string() {
            headers =
                format!("MCP-Protocol-Version: {MODERN}\r\nMcp-Method: {}\r\n", message["method"].as_str().unwrap());
            let name = message["params"]["name"].as_str().or(message["params"]["uri"].as_str());
            if let Some(name) = name {
                headers.push_str(&format!("Mcp-Name: {name}\r\n"));
            }
        }
        self.send("POST", &headers, &message.to_string()).await
    }

    /// Sends a request with headers as they are.
    pub(crate) async fn send(&self, method: &str, headers: &str, body: &str) -> Answer {
        let stream = self.write(method, headers, "application/json, text/event-stream", body).await;
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(soon("the head", reader.read_line(&mut head)).await.unwrap() > 0, "{head}");
        }
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_lowercase(), reader }
    }

    /// Writes a request; nothing of its answer is read.
    async fn write(&self, method: &str, headers: &str, accepted: &str, body: &str) -> TcpStream {
        let Self { path, token, .. } = self;
        let session = self.session.iter().map(|id| format!("Mcp-Session-Id: {id}\r\n")).collect::<String>();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n{session}{headers}\
             Accept: {accepted}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    /// Sends a legacy request whose answer may be no stream; nothing of it is read.
    pub(crate) async fn write_for_json(&self, method: &str, params: &Value) -> TcpStream {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        self.write("POST", "", "application/json", &body).await
    }

    /// Sends a request of the client's era; its answer is being read.
    pub(crate) async fn request(&self, method: &str, mut params: Value) -> Answer {
        if self.session.is_none() {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        self.post(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).await
    }

    /// The result of a request.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        let mut last = self.request(method, params).await.last().await;
        assert!(last["error"].is_null(), "{last}");
        last["result"].take()
    }

    /// The error of a request.
    pub(crate) async fn error(&self, method: &str, params: Value) -> Value {
        let mut last = self.request(method, params).await.last().await;
        assert!(last["result"].is_null(), "{last}");
        last["error"].take()
    }
}
