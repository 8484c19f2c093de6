//! A legacy server over HTTP that does the handshake and answers calls of the tool `bad` with bytes of the test's choice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

pub(crate) struct ScriptedHttp {
    pub(crate) endpoint: String,
    sessions: Arc<Sessions>,
    _serving: AbortOnDropHandle<()>,
}

#[derive(Default)]
struct Sessions {
    /// Also the name of the newest.
    begun: AtomicU64,
    ended: AtomicU64,
    /// How often a client wanted to follow the server's own stream.
    stream_requests: AtomicU64,
    /// How often it was asked to report a resource.
    subscriptions: AtomicU64,
    /// Sessions up to this one are forgotten.
    forgotten: AtomicU64,
    /// So many requests are read and not answered: their connections are closed.
    dropped: AtomicU64,
    /// The method whose messages it never answers.
    silent_at: Mutex<Option<String>>,
    /// The last trace that a header named.
    trace: Mutex<Option<String>>,
    /// The methods of all requests.
    methods: Mutex<Vec<String>>,
}

/// A request of a client.
pub(crate) struct Request {
    pub(crate) method: String,
    session: Option<u64>,
    trace: Option<String>,
    pub(crate) body: Value,
}

impl ScriptedHttp {
    /// Starts the server; an empty response is never sent.
    pub(crate) async fn start(bad_response: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}/mcp", listener.local_addr().unwrap());
        let sessions = Arc::<Sessions>::default();
        let serving = {
            let sessions = sessions.clone();
            tokio::spawn(async move {
                let mut connections = JoinSet::new();
                while let Ok((stream, _)) = listener.accept().await {
                    connections.spawn(serve(stream, sessions.clone(), bad_response.clone()));
                }
            })
        };
        Self { endpoint, sessions, _serving: AbortOnDropHandle::new(serving) }
    }

    /// Makes the server forget the sessions that it has.
    pub(crate) fn forget_session(&self) {
        self.sessions.forgotten.store(self.sessions(), Ordering::SeqCst);
    }

    /// Never answers messages of this method.
    pub(crate) fn silent_at(&self, method: &str) {
        *self.sessions.silent_at.lock() = Some(method.to_owned());
    }

    /// Closes the connections of the next so many requests without an answer.
    pub(crate) fn drop_connections(&self, requests: u64) {
        self.sessions.dropped.store(requests, Ordering::SeqCst);
    }

    /// The last trace that a header named.
    pub(crate) fn trace(&self) -> Option<String> {
        self.sessions.trace.lock().clone()
    }

    /// How often this was asked.
    pub(crate) fn requests(&self, method: &str) -> usize {
        self.sessions.methods.lock().iter().filter(|asked| *asked == method).count()
    }

    /// How many sessions were begun.
    pub(crate) fn sessions(&self) -> u64 {
        self.sessions.begun.load(Ordering::SeqCst)
    }

    /// How often a client wanted to follow the server's own stream.
    pub(crate) fn stream_requests(&self) -> u64 {
        self.sessions.stream_requests.load(Ordering::SeqCst)
    }

    /// How often it was asked to report a resource.
    pub(crate) fn subscriptions(&self) -> u64 {
        self.sessions.subscriptions.load(Ordering::SeqCst)
    }

    /// How many sessions a client has ended.
    pub(crate) fn sessions_ended(&self) -> u64 {
        self.sessions.ended.load(Ordering::SeqCst)
    }
}

/// Answers one request per connection, which keeps the cases apart.
async fn serve(stream: TcpStream, sessions: Arc<Sessions>, bad_response: String) {
    let mut stream = BufReader::new(stream);
    let Some(request) = read_request(&mut stream).await else { return };
    sessions.methods.lock().push(request.body["method"].as_str().unwrap_or_default().to_owned());
    if let Some(trace) = &request.trace {
        *sessions.trace.lock() = Some(trace.clone());
    }
    let is_dropped = |left: u64| left.checked_sub(1);
    if sessions.dropped.fetch_update(Ordering::SeqCst, Ordering::SeqCst, is_dropped).is_ok() {
        return;
    }
    let is_silent =
        request.body["method"].as_str().is_some_and(|method| sessions.silent_at.lock().as_deref() == Some(method));
    let response = match respond(&request, &sessions, &bad_response).filter(|_| !is_silent) {
        Some(response) => response,
        // The client gives up first.
        None => return drop(stream.read_to_end(&mut Vec::new()).await),
    };
    let _ = stream.get_mut().write_all(response.as_bytes()).await;
}

fn respond(request: &Request, sessions: &Sessions, bad_response: &str) -> Option<String> {
    let empty = |status: &str| format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    let is_forgotten = request.session.is_some_and(|session| session <= sessions.forgotten.load(Ordering::SeqCst));
    let result = |result: Value, header: &str| {
        let body = json!({ "jsonrpc": "2.0", "id": request.body["id"], "result": result }).to_string();
        let length = body.len();
        format!(
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n{header}content-length: {length}\r\n\r\n{body}"
        )
    };
    Some(match (request.method.as_str(), request.body["method"].as_str().unwrap_or_default()) {
        ("DELETE", _) => {
            sessions.ended.fetch_add(1, Ordering::SeqCst);
            empty("200 OK")
        }
        ("GET", _) => {
            sessions.stream_requests.fetch_add(1, Ordering::SeqCst);
            empty("405 Method Not Allowed")
        }
        (_, "server/discover") => empty("400 Bad Request"),
        (_, "initialize") => {
            let session = sessions.begun.fetch_add(1, Ordering::SeqCst) + 1;
            let profile = json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} } });
            result(profile, &format!("mcp-session-id: {session}\r\n"))
        }
        _ if is_forgotten => empty("404 Not Found"),
        (_, "tools/call") if request.body["params"]["name"] == "bad" => {
            return (!bad_response.is_empty()).then(|| bad_response.replacen("\r\n", "\r\nconnection: close\r\n", 1));
        }
        _ if request.body["id"].is_null() => empty("202 Accepted"),
        (_, "resources/subscribe") => {
            sessions.subscriptions.fetch_add(1, Ordering::SeqCst);
            result(json!({}), "")
        }
        _ => result(json!({ "content": [] }), ""),
    })
}

pub(crate) async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let method = line.split(' ').next()?.to_owned();
    let (mut length, mut session, mut trace) = (0, None, None);
    loop {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
        match line.trim().split_once(": ") {
            None => break,
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().ok()?,
            Some((name, value)) if name.eq_ignore_ascii_case("mcp-session-id") => session = value.parse().ok(),
            Some(("traceparent", value)) => trace = Some(value.to_owned()),
            Some(_) => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Request { method, session, trace, body: serde_json::from_slice(&body).unwrap_or_default() })
}
