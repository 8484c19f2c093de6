//! `clarityctl gateway serve --stdio` with a daemon at a URL: each line is a request to `/mcp`, each answer a line.
//!
//! The session of a client is the one that the daemon named when it was initialized. What a server says unasked outside of
//! an answer does not come through; a client that needs it speaks to `/mcp` itself.

use std::sync::Arc;

use futures::StreamExt;
use parking_lot::Mutex;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use super::control_plane::DaemonUrl;
use crate::cmd::gateway;
use crate::error::Error;

const SESSION: &str = "mcp-session-id";
const REVISION: &str = "mcp-protocol-version";
/// Where a request of the newest revision names its own.
const META_REVISION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
/// Requests that may be under way at once; the next line is read when one is over.
const AT_ONCE: usize = 32;
/// Answers that may wait to be written.
const QUEUE: usize = 64;

/// What the daemon said when the client was initialized.
#[derive(Clone, Default)]
struct BridgedSession {
    id: Option<HeaderValue>,
    revision: Option<HeaderValue>,
}

struct Bridge {
    daemon: DaemonUrl,
    session: Mutex<BridgedSession>,
    answers: mpsc::Sender<String>,
}

/// Carries messages until the client closes its side.
pub(super) async fn serve(daemon: DaemonUrl) -> Result<(), Error> {
    let (input, output) = gateway::protocol_stdio()?;
    let (answers, mut to_write) = mpsc::channel::<String>(QUEUE);
    let bridge = Arc::new(Bridge { daemon, session: Mutex::default(), answers });
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
    while let Some(line) = lines.next_line().await.map_err(Error::Input)? {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        // The session must be known before anything is sent in it.
        if message["method"] == "initialize" {
            bridge.carry(line, &message).await;
            continue;
        }
        let (bridge, permit) = (bridge.clone(), room.clone().acquire_owned().await);
        running.spawn(async move {
            bridge.carry(line, &message).await;
            drop(permit);
        });
        while running.try_join_next().is_some() {}
    }
    while running.join_next().await.is_some() {}
    drop(bridge);
    writing.await.map_err(|error| Error::Start(error.into()))?.map_err(Error::Output)
}

impl Bridge {
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
            self.say(json!({ "jsonrpc": "2.0", "id": id, "error": fault }).to_string()).await;
        }
    }

    fn headers(&self, message: &Value) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let mut put = |name: &'static str, value: Option<&str>| {
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
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
        let BridgedSession { id, revision } = self.session.lock().clone();
        let known = [(SESSION, id), (REVISION, revision)];
        headers.extend(
            known
                .into_iter()
                .filter_map(|(name, value)| Some((reqwest::header::HeaderName::from_static(name), value?))),
        );
        headers
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
                    self.say(data).await;
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
        self.say(answer.to_string()).await;
        Ok(())
    }

    async fn say(&self, line: String) {
        // Whoever has closed stdout does not want to know.
        let _ = self.answers.send(line).await;
    }
}

/// Reads the data of server-sent events from pieces of any length.
#[derive(Default)]
struct EventData {
    unread: Vec<u8>,
    data: Vec<String>,
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
            } else if line.is_empty() && !self.data.is_empty() {
                let data = std::mem::take(&mut self.data).join("\n");
                whole.extend((!data.is_empty()).then_some(data));
            }
        }
        whole
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
        }
    }
}
