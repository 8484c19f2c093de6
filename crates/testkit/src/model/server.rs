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

use super::dialect::Api;
use super::model_request::text;
use super::route::{ModelEndpoint, Route, route};
use super::script::{Reply, reply};
use super::sse::{Ids, SseFrame};
use crate::soon;

/// The time between two pieces of an answer, unless a test wants another.
const GAP: Duration = Duration::from_millis(2);
/// The name of the model in the lists that clients ask for.
const MODEL: &str = "scripted-1";

/// A scripted model on a port of its own; it ends when this is dropped.
pub struct ModelServer {
    address: SocketAddr,
    log: watch::Sender<Vec<RecordedRequest>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// A request that the server received, as tests look at it.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// The API of a request for an answer; `None` for every other request.
    pub api: Option<Api>,
    /// The method and the path, such as `POST /v1/messages`.
    pub line: String,
    /// The name of the model that it asks for; empty if it is no request for an answer.
    pub model: String,
    /// How much the model is asked to think, as OpenAI's API has it.
    pub effort: Option<String>,
    /// The script that its latest prompt names.
    pub script: Option<String>,
    /// The beginning of each tool result since its latest prompt.
    pub results: Vec<String>,
    /// The names of the tools that it offers.
    pub tools: Vec<String>,
    /// What became of it by now.
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

    /// Its URL without a path: `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far, oldest first.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.log.borrow().clone()
    }

    /// Waits until the condition holds for all requests so far, and returns them. `what` names it if it never does.
    pub async fn requests_when(
        &self,
        what: &str,
        they_are: impl FnMut(&Vec<RecordedRequest>) -> bool,
    ) -> Vec<RecordedRequest> {
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

/// The state that all handlers share.
struct Model {
    gap: Duration,
    log: watch::Sender<Vec<RecordedRequest>>,
}

impl Model {
    fn record(&self, request: RecordedRequest) -> OpenRequest {
        let mut at = 0;
        self.log.send_modify(|log| {
            at = log.len();
            log.push(request);
        });
        OpenRequest { log: self.log.clone(), at, end: End::Left }
    }
}

/// A recorded request that is being answered. If it is dropped before [`OpenRequest::finish`], its client has left.
struct OpenRequest {
    log: watch::Sender<Vec<RecordedRequest>>,
    at: usize,
    end: End,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.log.send_modify(|log| log[self.at].end = self.end);
    }
}

impl OpenRequest {
    fn finish(mut self, end: End) {
        self.end = end;
    }
}

async fn answer(State(model): State<Arc<Model>>, method: Method, uri: Uri, body: Bytes) -> Response {
    let line = format!("{method} {}", uri.path());
    let plain = RecordedRequest {
        api: None,
        line,
        model: String::new(),
        effort: None,
        script: None,
        results: Vec::new(),
        tools: Vec::new(),
        end: End::Open,
    };
    let (status, document) = match route(&method, uri.path()) {
        Route::Ask(endpoint) => return ask(&model, plain, &endpoint, &body).await,
        Route::Hello => (StatusCode::OK, Value::Null),
        Route::Models => (StatusCode::OK, models()),
        Route::Tokens => (StatusCode::OK, json!({ "input_tokens": 42, "totalTokens": 42 })),
        Route::Unknown => {
            let message = format!("the scripted model has no {}", plain.line);
            (StatusCode::NOT_FOUND, json!({ "error": { "type": "not_found_error", "message": message } }))
        }
    };
    model.record(plain).finish(End::Answered(status.as_u16()));
    (status, Json(document)).into_response()
}

/// One document in which the clients of every API find their list of models.
fn models() -> Value {
    let openai = json!({
        "id": MODEL, "object": "model", "type": "model", "display_name": MODEL, "created_at": "2025-01-01T00:00:00Z",
    });
    let gemini = json!({ "name": "models/gemini-2.5-pro", "supportedGenerationMethods": ["generateContent"] });
    json!({ "object": "list", "data": [openai], "has_more": false, "models": [gemini] })
}

async fn ask(model: &Model, plain: RecordedRequest, endpoint: &ModelEndpoint, body: &[u8]) -> Response {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let dialect = endpoint.api.dialect();
    let request = dialect.parse_request(&body);
    let wants = endpoint.model.clone().unwrap_or_else(|| text(&body["model"]));
    let open = model.record(RecordedRequest {
        api: Some(endpoint.api),
        model: wants.clone(),
        effort: body["reasoning"]["effort"].as_str().map(ToOwned::to_owned),
        script: request.script.clone(),
        results: request.results.clone(),
        tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
        ..plain
    });
    let streams = endpoint.streams.unwrap_or(body["stream"] == true);
    let mut ids = Ids::for_answer(&Uuid::new_v4().simple().to_string()[..12]);
    let refuse = |open: OpenRequest, status: u16| {
        open.finish(End::Answered(status));
        let code = StatusCode::from_u16(status).unwrap();
        (code, [(header::RETRY_AFTER, "1")], Json(dialect.refusal(status))).into_response()
    };
    match reply(&request) {
        Reply::Acts(acts, pace) if streams => {
            let frames = dialect.stream(&acts, &wants, &mut ids);
            stream_response(frames, pace.gap(model.gap), Ending::Complete, open)
        }
        Reply::Acts(acts, _) => {
            open.finish(End::Answered(200));
            Json(dialect.document(&acts, &wants, &mut ids)).into_response()
        }
        Reply::Refusal(status) => refuse(open, status),
        Reply::Failure if streams => {
            let frames = dialect.failing(&wants, &mut ids);
            stream_response(frames, model.gap, Ending::Complete, open)
        }
        Reply::Cut if streams => {
            let mut frames = dialect.failing(&wants, &mut ids);
            frames.pop();
            stream_response(frames, model.gap, Ending::Cut, open)
        }
        // Who retries without a stream meets the same broken provider.
        Reply::Failure | Reply::Cut => refuse(open, 500),
        Reply::Silence => {
            let _left = open;
            std::future::pending().await
        }
    }
}

/// How a streamed answer ends: after its last event, or with a broken connection.
#[derive(Clone, Copy)]
enum Ending {
    Complete,
    Cut,
}

fn stream_response(frames: Vec<SseFrame>, gap: Duration, ending: Ending, open: OpenRequest) -> Response {
    let pieces =
        stream::unfold((frames.into_iter(), Some(open), Duration::ZERO), move |(mut frames, open, wait)| async move {
            let open = open?;
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            if let Some(frame) = frames.next() {
                let wait = if frame.is_piece { gap } else { Duration::ZERO };
                return Some((Ok(frame.bytes), (frames, Some(open), wait)));
            }
            match ending {
                Ending::Complete => {
                    open.finish(End::Answered(200));
                    None
                }
                Ending::Cut => {
                    open.finish(End::Broken);
                    Some((Err(std::io::Error::other("the script cuts the stream")), (frames, None, Duration::ZERO)))
                }
            }
        });
    ([(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")], Body::from_stream(pieces))
        .into_response()
}
