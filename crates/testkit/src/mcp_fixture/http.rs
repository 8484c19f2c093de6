//! The server over streamable HTTP.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{collections::HashMap, pin::Pin};

use async_trait::async_trait;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response, Sse};
use axum::routing::post;
use futures::{Stream, StreamExt, stream};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};

use super::{FixtureClient, FixtureEra, McpFixture, SUBSCRIPTION};

const SESSION: &str = "mcp-session-id";

type Questions = Arc<Mutex<HashMap<u64, oneshot::Sender<Result<Value, Value>>>>>;

#[derive(Clone)]
struct HttpServer {
    fixture: Arc<McpFixture>,
    /// What legacy clients were asked and have not answered.
    asked: Questions,
    next: Arc<AtomicU64>,
}

/// The client of one POST, which reads its stream.
struct HttpClient {
    outgoing: mpsc::Sender<Value>,
    server: HttpServer,
}

#[async_trait]
impl FixtureClient for HttpClient {
    async fn notify(&self, method: &str, params: Value) {
        let _ = self.outgoing.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.server.next.fetch_add(1, Ordering::Relaxed);
        let (answered, answer) = oneshot::channel();
        self.server.asked.lock().insert(id, answered);
        let _ = self.outgoing.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        answer.await.unwrap_or_else(|_| Err(super::error(-32603, "the client is gone")))
    }
}

/// Serves the fixture at `/mcp` of this address for as long as the future is polled; says the real address first.
pub async fn serve(
    fixture: Arc<McpFixture>,
    address: SocketAddr,
    listening: impl FnOnce(SocketAddr),
) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    listening(listener.local_addr()?);
    let server = HttpServer { fixture, asked: Arc::default(), next: Arc::new(AtomicU64::new(1)) };
    let router = Router::new().route("/mcp", post(receive).get(open).delete(end)).with_state(server);
    axum::serve(listener, router).await
}

async fn receive(State(server): State<HttpServer>, body: String) -> Response {
    let Ok(mut message) = serde_json::from_str::<Value>(&body) else { return StatusCode::BAD_REQUEST.into_response() };
    let id = message["id"].clone();
    let Some(method) = message["method"].as_str().map(ToOwned::to_owned) else {
        let answer = match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].take()),
        };
        let asked = id.as_u64().and_then(|id| server.asked.lock().remove(&id));
        if let Some(asked) = asked {
            let _ = asked.send(answer);
        }
        return StatusCode::ACCEPTED.into_response();
    };
    if id.is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let mut params = message["params"].take();
    if method == "subscriptions/listen" {
        params["_meta"][SUBSCRIPTION] = id.clone();
    }
    let is_initialize = method == "initialize";
    let (outgoing, said) = mpsc::channel(64);
    let client = HttpClient { outgoing, server: server.clone() };
    let answering = async move {
        match server.fixture.answer(&method, &params, &client).await {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(error) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        }
    };
    let mut response = Sse::new(messages(said, Box::pin(answering)).map(event)).into_response();
    if is_initialize {
        response.headers_mut().insert(SESSION, axum::http::HeaderValue::from_static("the-session"));
    }
    response
}

type Answering = Pin<Box<dyn Future<Output = Value> + Send>>;

/// What is said, and then the response.
fn messages(said: mpsc::Receiver<Value>, answering: Answering) -> impl Stream<Item = Value> {
    stream::unfold(Some((said, answering)), async |state| {
        let (mut said, mut answering) = state?;
        tokio::select! {
            biased;
            Some(message) = said.recv() => Some((message, Some((said, answering)))),
            response = &mut answering => Some((response, None)),
        }
    })
}

fn event(message: Value) -> Result<Event, Infallible> {
    Ok(Event::default().data(message.to_string()))
}

/// The stream of a legacy client for what belongs to no request.
async fn open(State(server): State<HttpServer>, headers: HeaderMap) -> Response {
    if server.fixture.era() == FixtureEra::Modern || !server.fixture.has_stream || !headers.contains_key(SESSION) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let said = stream::unfold(server.fixture.said(), async |mut said| {
        let (method, params) = said.recv().await.ok()?;
        Some((json!({ "jsonrpc": "2.0", "method": method, "params": params }), said))
    });
    Sse::new(said.map(event)).into_response()
}

async fn end() -> StatusCode {
    StatusCode::NO_CONTENT
}
