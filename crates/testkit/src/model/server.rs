//! The scripted model behind a port of this machine.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Json, Response};
use futures::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use uuid::Uuid;

use super::asked::text;
use super::dialect::Api;
use super::frame::{Frame, Ids};
use super::route::{Question, Route, route};
use super::script::{Reply, reply};
use crate::soon;

/// The time between two pieces of an answer, unless a test wants another.
const GAP: Duration = Duration::from_millis(2);
/// What the models call themselves in lists.
const MODEL: &str = "scripted-1";

/// A scripted model on a port of its own; it ends when this is dropped.
pub struct ModelServer {
    address: SocketAddr,
    log: watch::Sender<Vec<Request>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A request that the model was sent.
#[derive(Clone, Debug)]
pub struct Request {
    /// The API it came by; `None` for what is no question to a model.
    pub api: Option<Api>,
    /// Its method and path.
    pub line: String,
    /// The model it wants.
    pub model: String,
    /// The script it asks for.
    pub script: Option<String>,
    /// The beginning of each tool result that it brings.
    pub results: Vec<String>,
    /// The names of the tools that it offers.
    pub tools: Vec<String>,
    /// What became of it.
    pub end: End,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It is still being answered.
    Open,
    /// It was answered to the end, with this HTTP status.
    Answered(u16),
    /// The answer was broken off, as the script wants.
    Broken,
    /// The client left before the end.
    Left,
}

impl ModelServer {
    /// Starts a model on a free port.
    pub fn start() -> Self {
        Self::start_with(0, GAP)
    }

    /// Starts a model on this port, 0 for a free one, that pauses this long between two pieces of an answer.
    pub fn start_with(port: u16, gap: Duration) -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .unwrap_or_else(|error| panic!("the model cannot have port {port} of 127.0.0.1: {error}"));
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let log = watch::Sender::new(Vec::new());
        let (stop, stopped) = oneshot::channel();
        let model = Arc::new(Model { gap, log: log.clone() });
        // A runtime of its own: it serves tests that have none, and takes every connection with it when it ends.
        let serve = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                let app = Router::new().fallback(answer).layer(DefaultBodyLimit::disable()).with_state(model);
                tokio::select! {
                    served = axum::serve(listener, app) => served.unwrap(),
                    _ = stopped => {}
                }
            });
        };
        let thread = std::thread::Builder::new().name("scripted model".into()).spawn(serve).unwrap();
        Self { address, log, stop: Some(stop), thread: Some(thread) }
    }

    /// Where it is, without a path: `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.log.borrow().clone()
    }

    /// Waits until the requests are as told, and returns them.
    pub async fn requests_when(&self, what: &str, they_are: impl FnMut(&Vec<Request>) -> bool) -> Vec<Request> {
        let mut log = self.log.subscribe();
        soon(what, log.wait_for(they_are)).await.unwrap().clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().map(JoinHandle::join);
    }
}

/// What the handlers share.
struct Model {
    gap: Duration,
    log: watch::Sender<Vec<Request>>,
}

impl Model {
    fn note(&self, request: Request) -> Noted {
        let mut at = 0;
        self.log.send_modify(|log| {
            at = log.len();
            log.push(request);
        });
        Noted { log: self.log.clone(), at, end: End::Left }
    }
}

/// A request in the log. Whoever drops it early was left by its client.
struct Noted {
    log: watch::Sender<Vec<Request>>,
    at: usize,
    end: End,
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.log.send_modify(|log| log[self.at].end = self.end);
    }
}

impl Noted {
    fn ends(mut self, end: End) {
        self.end = end;
    }
}

async fn answer(State(model): State<Arc<Model>>, method: Method, uri: Uri, body: Bytes) -> Response {
    let line = format!("{method} {}", uri.path());
    let plain = Request {
        api: None,
        line,
        model: String::new(),
        script: None,
        results: Vec::new(),
        tools: Vec::new(),
        end: End::Open,
    };
    let (status, document) = match route(&method, uri.path()) {
        Route::Ask(question) => return ask(&model, plain, &question, &body).await,
        Route::Hello => (StatusCode::OK, Value::Null),
        Route::Models => (StatusCode::OK, models()),
        Route::Tokens => (StatusCode::OK, json!({ "input_tokens": 42, "totalTokens": 42 })),
        Route::Unknown => {
            let message = format!("the scripted model has no {}", plain.line);
            (StatusCode::NOT_FOUND, json!({ "error": { "type": "not_found_error", "message": message } }))
        }
    };
    model.note(plain).ends(End::Answered(status.as_u16()));
    (status, Json(document)).into_response()
}

/// One document that every client finds its list in.
fn models() -> Value {
    let openai = json!({
        "id": MODEL, "object": "model", "type": "model", "display_name": MODEL, "created_at": "2025-01-01T00:00:00Z",
    });
    let gemini = json!({ "name": "models/gemini-2.5-pro", "supportedGenerationMethods": ["generateContent"] });
    json!({ "object": "list", "data": [openai], "has_more": false, "models": [gemini] })
}

async fn ask(model: &Model, plain: Request, question: &Question, body: &[u8]) -> Response {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let dialect = question.api.dialect();
    let asked = dialect.asked(&body);
    let wants = question.model.clone().unwrap_or_else(|| text(&body["model"]));
    let noted = model.note(Request {
        api: Some(question.api),
        model: wants.clone(),
        script: asked.script.clone(),
        results: asked.results.clone(),
        tools: asked.tools.iter().map(|tool| tool.name.clone()).collect(),
        ..plain
    });
    let streams = question.streams.unwrap_or(body["stream"] == true);
    let mut ids = Ids::of(&Uuid::new_v4().simple().to_string()[..12]);
    let refuse = |noted: Noted, status: u16| {
        noted.ends(End::Answered(status));
        let code = StatusCode::from_u16(status).unwrap();
        (code, [(header::RETRY_AFTER, "1")], Json(dialect.refusal(status))).into_response()
    };
    match reply(&asked) {
        Reply::Acts(acts, pace) if streams => {
            let frames = dialect.stream(&acts, &wants, &mut ids);
            stream_of(frames, pace.gap(model.gap), Ending::Whole, noted)
        }
        Reply::Acts(acts, _) => {
            noted.ends(End::Answered(200));
            Json(dialect.whole(&acts, &wants, &mut ids)).into_response()
        }
        Reply::Refusal(status) => refuse(noted, status),
        Reply::Failure if streams => {
            let frames = dialect.failing(&wants, &mut ids);
            stream_of(frames, model.gap, Ending::Whole, noted)
        }
        Reply::Cut if streams => {
            let mut frames = dialect.failing(&wants, &mut ids);
            frames.pop();
            stream_of(frames, model.gap, Ending::Cut, noted)
        }
        // Who retries without a stream meets the same broken provider.
        Reply::Failure | Reply::Cut => refuse(noted, 500),
        Reply::Silence => {
            let _left = noted;
            std::future::pending().await
        }
    }
}

/// How a stream ends.
#[derive(Clone, Copy)]
enum Ending {
    Whole,
    Cut,
}

fn stream_of(frames: Vec<Frame>, gap: Duration, ending: Ending, noted: Noted) -> Response {
    let pieces = stream::unfold(
        (frames.into_iter(), Some(noted), Duration::ZERO),
        move |(mut frames, noted, wait)| async move {
            let noted = noted?;
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            if let Some(frame) = frames.next() {
                let wait = if frame.is_piece { gap } else { Duration::ZERO };
                return Some((Ok(frame.bytes), (frames, Some(noted), wait)));
            }
            match ending {
                Ending::Whole => {
                    noted.ends(End::Answered(200));
                    None
                }
                Ending::Cut => {
                    noted.ends(End::Broken);
                    Some((Err(std::io::Error::other("the script cuts the stream")), (frames, None, Duration::ZERO)))
                }
            }
        },
    );
    ([(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")], Body::from_stream(pieces))
        .into_response()
}
