//! `clarityctl gateway serve --stdio` with a daemon at a URL: each line is a request to `/mcp`, each answer a line.
//!
//! The session of a client is the one that the daemon named when it was initialized. What the daemon says outside of an
//! answer comes over the session's own stream (`GET /mcp`). A client of the newest revision has no session: it subscribes
//! with a request, and cancels a request by closing it, which is done here for its `notifications/cancelled`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use parking_lot::Mutex;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;

use super::control_plane::DaemonUrl;
use crate::cmd::gateway;
use crate::error::Error;

const SESSION: &str = "mcp-session-id";
const REVISION: &str = "mcp-protocol-version";
const LAST_EVENT: &str = "last-event-id";
/// Where a request of the newest revision names its own.
const META_REVISION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
/// Requests that may be under way at once; the next line is read when one is over.
const AT_ONCE: usize = 32;
/// Answers that may wait to be written.
const QUEUE: usize = 64;

/// The answer to a line that is no JSON: nobody knows which request it was to be.
const NO_JSON: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"the line is no JSON"}}"#;

/// How long the session's stream stays closed after it broke off.
const REOPEN_AFTER: Duration = Duration::from_secs(1);

/// What the daemon said when the client was initialized.
#[derive(Clone, Default)]
struct BridgedSession {
    id: Option<HeaderValue>,
    revision: Option<HeaderValue>,
}

struct Bridge {
    daemon: DaemonUrl,
    session: Mutex<BridgedSession>,
    /// Requests that can be cancelled by closing them, by their ids as JSON.
    open: Mutex<HashMap<String, oneshot::Sender<()>>>,
    answers: mpsc::Sender<String>,
}

/// Carries messages until the client closes its side.
pub(super) async fn serve(daemon: DaemonUrl) -> Result<(), Error> {
    let (input, output) = gateway::protocol_stdio()?;
    let (answers, mut to_write) = mpsc::channel::<String>(QUEUE);
    let bridge = Arc::new(Bridge { daemon, session: Mutex::default(), open: Mutex::default(), answers });
    let writing = tokio::spawn(async move {
        let mut stdout = tokio::fs::File::from_std(output);
        while let Some(line) = to_write.recv().await {
            stdout.write_all(line.as_bytes()).await?;
            stdout.write_all(b"\n").await?;
            stdout.flush().await?;
        }
        Ok::<_, std::io::Error>(())
    });
    let mut lines = BufReader::new(tokio::fs::File::from_std(input)).lines();
    let (room, mut running) = (Arc::new(Semaphore::new(AT_ONCE)), JoinSet::new());
    let mut listener = JoinSet::new();
    while let Some(line) = lines.next_line().await.map_err(Error::Input)? {
        if line.trim().is_empty() {
            continue;
        }
        let Ok(message) = serde_json::from_str::<Value>(&line) else {
            bridge.say(NO_JSON).await;
            continue;
        };
        // The session must be known before anything is sent in it.
        if message["method"] == "initialize" {
            bridge.carry(line, &message).await;
            listener.abort_all();
            if bridge.session.lock().id.is_some() {
                listener.spawn(bridge.clone().listen());
            }
            continue;
        }
        if message["method"] == "notifications/cancelled" && bridge.close(&message["params"]["requestId"]) {
            continue;
        }
        let cancelled = bridge.opened(&message);
        let (bridge, permit) = (bridge.clone(), room.clone().acquire_owned().await);
        running.spawn(async move {
            tokio::select! {
                () = bridge.carry(line, &message) => {}
                // Dropping the request closes its connection, by which the daemon knows.
                Ok(()) = cancelled => {}
            }
            bridge.open.lock().remove(&message["id"].to_string());
            drop(permit);
        });
        while running.try_join_next().is_some() {}
    }
    while running.join_next().await.is_some() {}
    listener.shutdown().await;
    bridge.end_session().await;
    drop(bridge);
    writing.await.map_err(|error| Error::Start(error.into()))?.map_err(Error::Output)
}

impl Bridge {
    /// Notes a request that can be closed; the receiver gets a message when it is to be.
    fn opened(&self, message: &Value) -> oneshot::Receiver<()> {
        let (close, closed) = oneshot::channel();
        if message.pointer(META_REVISION).is_some()
            && let Some(id) = message.get("id")
        {
            self.open.lock().insert(id.to_string(), close);
        }
        closed
    }

    /// Closes the request of this id; false if there is none that can be closed.
    fn close(&self, id: &Value) -> bool {
        self.open.lock().remove(&id.to_string()).is_some_and(|close| close.send(()).is_ok())
    }

    /// Passes on what the daemon says in the session outside of answers, until the session has ended.
    async fn listen(self: Arc<Self>) {
        let mut events = EventData::default();
        loop {
            let mut headers = self.session_headers();
            if let Some(last) = events.last_id.as_deref().and_then(|last| HeaderValue::from_str(last).ok()) {
                headers.insert(LAST_EVENT, last);
            }
            match self.daemon.listen_mcp(headers).await {
                Ok(response) if response.status().is_success() => {
                    let mut pieces = response.bytes_stream();
                    while let Some(Ok(piece)) = pieces.next().await {
                        for data in events.feed(&piece) {
                            self.say(&data).await;
                        }
                    }
                    events.forget_unfinished();
                }
                // The session is over, or the daemon has no such stream.
                Ok(response) if response.status().is_client_error() => return,
                Ok(_) | Err(_) => {}
            }
            tokio::time::sleep(REOPEN_AFTER).await;
        }
    }

    /// Tells the daemon that the client is gone.
    async fn end_session(&self) {
        if self.session.lock().id.is_some() {
            self.daemon.end_mcp(self.session_headers()).await;
        }
    }

    fn session_headers(&self) -> HeaderMap {
        let BridgedSession { id, revision } = self.session.lock().clone();
        let known = [(SESSION, id), (REVISION, revision)];
        let known = known.into_iter().filter_map(|(name, value)| Some((HeaderName::from_static(name), value?)));
        known.collect()
    }

    /// Sends one message, and passes on what comes back.
    async fn carry(&self, line: String, message: &Value) {
        let answered = async {
            let response = self.daemon.post_mcp(line, self.headers(message)).await?;
            self.pass_on(response, message).await
        };
        if let Err(error) = answered.await
            && let Some(id) = message.get("id")
        {
            let fault = json!({ "code": -32000, "message": error.to_string() });
            self.say(&json!({ "jsonrpc": "2.0", "id": id, "error": fault }).to_string()).await;
        }
    }

    fn headers(&self, message: &Value) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut put = |name: &'static str, value: Option<&str>| {
            if let Some(value) = value.and_then(header_value) {
                headers.insert(name, value);
            }
        };
        if let Some(revision) = message.pointer(META_REVISION).and_then(Value::as_str) {
            // A request that stands for itself says in its head what it is.
            put(REVISION, Some(revision));
            put("mcp-method", message["method"].as_str());
            put("mcp-name", message["params"]["name"].as_str().or_else(|| message["params"]["uri"].as_str()));
            return headers;
        }
        self.session_headers()
    }

    async fn pass_on(&self, response: Response, message: &Value) -> Result<(), Error> {
        let url = self.daemon.url.clone();
        let failed = |why: String| Error::DaemonUrl { url: url.clone(), why };
        if response.status() == StatusCode::UNAUTHORIZED {
            return Err(failed("wants another token".into()));
        }
        if let Some(id) = response.headers().get(SESSION) {
            self.session.lock().id = Some(id.clone());
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.starts_with("text/event-stream") {
            let mut pieces = response.bytes_stream();
            let mut events = EventData::default();
            while let Some(piece) = pieces.next().await {
                let piece = piece.map_err(|error| failed(format!("broke off: {error}")))?;
                for data in events.feed(&piece) {
                    self.say(&data).await;
                }
            }
            return Ok(());
        }
        let text = response.text().await.map_err(|error| failed(format!("broke off: {error}")))?;
        if text.trim().is_empty() {
            return Ok(());
        }
        let answer: Value = serde_json::from_str(&text).map_err(|_| failed(format!("refused it: {}", text.trim())))?;
        if message["method"] == "initialize"
            && let Some(revision) = answer["result"]["protocolVersion"].as_str()
        {
            self.session.lock().revision = HeaderValue::from_str(revision).ok();
        }
        self.say(&text).await;
        Ok(())
    }

    /// Writes a message as it came. Only line breaks go, which JSON has between its tokens alone.
    async fn say(&self, message: &str) {
        // Whoever has closed stdout does not want to know.
        let _ = self.answers.send(message.trim().replace(['\r', '\n'], " ")).await;
    }
}

/// A text as the value of a header. What a header cannot carry as it is, or what could be mistaken, is encoded as MCP says.
fn header_value(text: &str) -> Option<HeaderValue> {
    let is_plain = text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && text.trim_matches(' ') == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    match is_plain {
        true => HeaderValue::from_str(text).ok(),
        false => HeaderValue::from_str(&format!("=?base64?{}?=", STANDARD.encode(text))).ok(),
    }
}

/// Reads the data of server-sent events from pieces of any length.
#[derive(Default)]
struct EventData {
    unread: Vec<u8>,
    data: Vec<String>,
    /// The id of the event that came last, by which a stream goes on.
    last_id: Option<String>,
}

impl EventData {
    /// The data of every event that this piece completes.
    fn feed(&mut self, piece: &[u8]) -> Vec<String> {
        self.unread.extend_from_slice(piece);
        let mut whole = Vec::new();
        while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.unread.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\r', '\n']);
            if let Some(data) = line.strip_prefix("data:") {
                self.data.push(data.strip_prefix(' ').unwrap_or(data).to_owned());
            } else if let Some(id) = line.strip_prefix("id:") {
                self.last_id = Some(id.trim().to_owned());
            } else if line.is_empty() && !self.data.is_empty() {
                let data = std::mem::take(&mut self.data).join("\n");
                whole.extend((!data.is_empty()).then_some(data));
            }
        }
        whole
    }

    /// Forgets the beginning of an event whose stream broke off.
    fn forget_unfinished(&mut self) {
        self.unread.clear();
        self.data.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_from_pieces_of_any_length() {
        let stream = b": ping\n\nid: 1\nevent: message\r\ndata: {\"a\":1}\r\n\r\ndata: x\ndata: y\n\n";
        for length in [1, 3, stream.len()] {
            let mut events = EventData::default();
            let data: Vec<_> = stream.chunks(length).flat_map(|piece| events.feed(piece)).collect();
            assert_eq!(data, ["{\"a\":1}", "x\ny"], "in pieces of {length}");
            assert_eq!(events.last_id.as_deref(), Some("1"));
        }
    }

    #[test]
    fn what_no_header_can_carry_is_encoded() {
        for (text, expected) in [
            ("notes__jot", "notes__jot"),
            ("münchen", "=?base64?bcO8bmNoZW4=?="),
            (" a", "=?base64?IGE=?="),
            ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
        ] {
            assert_eq!(header_value(text).unwrap(), expected, "{text}");
        }
    }
}
