//! `/acp` over HTTP: the editor sends each message in a POST and reads what comes back from event streams.
//!
//! The first POST is `initialize`; its answer names the connection in `Acp-Connection-Id`. Every other POST is answered
//! with 202, and what follows from it comes on a stream: that of the session (GET with `Acp-Session-Id`) or that of the
//! connection (GET without it). DELETE ends the connection; its sessions go on.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, FromRequest, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Response, Sse};
use axum::{Extension, Json};
use bytes::Bytes;
use futures::StreamExt;
use roost_acp::{MAX_MESSAGE, Transport};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use super::http_connection::{AnswerStream, HttpConnection, MessageHead, QUEUE, StreamRefusal};
use super::serve_door;
use crate::guard::AdmittedRequest;
use crate::host::Host;
use crate::http::reserve_socket;
use crate::message_budget::Meter;
use crate::ws;

/// The header that names the connection.
pub(crate) const CONNECTION: &str = "acp-connection-id";
/// The header that names the session of a message or a stream.
const SESSION: &str = "acp-session-id";
const EVENT_STREAM: &str = "text/event-stream";
/// How often an open stream shows that it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// JSON-RPC's codes for what is no message at all, and for one that cannot be taken.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

/// Why a request is not taken: the status, and an error in the form of the protocol.
pub(crate) struct Refusal {
    status: StatusCode,
    code: i32,
    why: String,
}

impl Refusal {
    fn new(status: StatusCode, why: impl Into<String>) -> Self {
        Self { status, code: INVALID_REQUEST, why: why.into() }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let error = json!({ "code": self.code, "message": self.why });
        (self.status, Json(json!({ "jsonrpc": "2.0", "id": null, "error": error }))).into_response()
    }
}

impl From<BytesRejection> for Refusal {
    fn from(rejection: BytesRejection) -> Self {
        Self::new(rejection.status(), rejection.body_text())
    }
}

/// Takes one message of an editor.
pub(crate) async fn post(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<AdmittedRequest>,
    Extension(meter): Extension<Arc<Meter>>,
    mut request: Request,
) -> Result<Response, Refusal> {
    let headers = request.headers();
    let session = header_text(headers, SESSION).map(ToOwned::to_owned);
    let connection = match headers.contains_key(CONNECTION) {
        true => Some(find(&host, &admitted, headers)?),
        false => None,
    };
    let Some(connection) = connection else {
        DefaultBodyLimit::max(host.settings.limits.max_body_bytes).apply(&mut request);
        let body = read(request, &meter).await?;
        return match parse(&body)?.method.as_deref() {
            Some("initialize") => initialize(&host, admitted, body).await,
            _ => Err(Refusal::new(StatusCode::BAD_REQUEST, "Acp-Connection-Id is missing; POST initialize first")),
        };
    };
    let _used = connection.enter();
    let _permit = connection.may_read().await;
    DefaultBodyLimit::max(MAX_MESSAGE).apply(&mut request);
    let body = read(request, &meter).await?;
    forward(&host, &connection, session, &body).await?;
    Ok(StatusCode::ACCEPTED.into_response())
}

/// Passes a message of a connection on, after its session was compared with the header.
async fn forward(
    host: &Host,
    connection: &HttpConnection,
    session: Option<String>,
    body: &[u8],
) -> Result<(), Refusal> {
    let bad = |why: &str| Err(Refusal::new(StatusCode::BAD_REQUEST, why));
    let head = parse(body)?;
    match (head.session(), &session) {
        (Some(_), None) => return bad("Acp-Session-Id is missing; the message names a session"),
        (Some(named), Some(session)) if named != *session => {
            return bad("Acp-Session-Id and the message name different sessions");
        }
        _ => {}
    }
    let method = head.method.as_deref();
    if method == Some("initialize") {
        return bad("this connection is initialized; POST without Acp-Connection-Id for another one");
    }
    // A session that does not exist has no stream, so the error about it comes on that of the connection.
    if let (Some(method), Some(request), Some(session)) = (method, &head.id, session)
        && host.sessions.get(&session).await.is_ok()
    {
        let stream = match method {
            // As the draft has it: an editor may open the stream of a session when it is loaded.
            "session/load" => AnswerStream::ConnectionAfter(session),
            _ => AnswerStream::Session(session),
        };
        if !connection.expect_answer(request, stream) {
            return Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too many requests wait for their answers"));
        }
    }
    if connection.deliver(body.to_vec()).await { Ok(()) } else { Err(unknown_connection()) }
}

/// Opens a connection. It is there for as long as its editor uses it and its token is valid.
async fn initialize(host: &Arc<Host>, admitted: AdmittedRequest, body: Bytes) -> Result<Response, Refusal> {
    let AdmittedRequest { caller, client, .. } = admitted;
    let permit = reserve_socket(host, &caller).map_err(|why| Refusal::new(StatusCode::TOO_MANY_REQUESTS, why))?;
    let (received, incoming) = roost_acp::message_queue(QUEUE);
    let (outgoing, mut messages) = mpsc::channel(QUEUE);
    let (initialized, answer) = oneshot::channel::<String>();
    let Some(connection) = host.http_editors.open(&caller, received) else {
        let why = "too many editors are connected over HTTP; try again later";
        return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, why));
    };
    let serving = {
        let (host, connection) = (host.clone(), connection.clone());
        async move {
            let routing = async {
                // The door answers `initialize` before it sends anything else.
                if let Some(first) = messages.recv().await {
                    let _ = initialized.send(first);
                    connection.route(messages).await;
                }
            };
            tokio::select! {
                () = serve_door(&host, &caller, Transport { incoming, outgoing }) => {}
                () = routing => {}
                () = connection.abandoned() => {}
                () = connection.ended() => {}
                _ = ws::dismissed(&host, client) => {}
            }
            connection.end();
            host.http_editors.remove(&connection);
            drop(permit);
        }
    };
    host.daemon.spawn(serving);
    let _used = connection.enter();
    connection.deliver(body.to_vec()).await;
    let stopping = || Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "the daemon is stopping");
    let answer = answer.await.map_err(|_| stopping())?;
    let kind = [(header::CONTENT_TYPE, "application/json")];
    if is_error(&answer) {
        connection.end();
        return Ok((StatusCode::BAD_REQUEST, kind, answer).into_response());
    }
    Ok((kind, [(CONNECTION, connection.id.clone())], answer).into_response())
}

/// Opens a stream of messages to the editor.
pub(crate) async fn stream(host: &Host, admitted: &AdmittedRequest, headers: &HeaderMap) -> Result<Response, Refusal> {
    let mut accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    if !accepted.any(|kinds| kinds.to_ascii_lowercase().contains(EVENT_STREAM)) {
        let why = "GET opens a stream with Accept: text/event-stream, or a WebSocket with Upgrade: websocket";
        return Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, why));
    }
    let connection = find(host, admitted, headers)?;
    let session = header_text(headers, SESSION).map(ToOwned::to_owned);
    if let Some(session) = &session
        && host.sessions.get(session).await.is_err()
    {
        return Err(Refusal::new(StatusCode::NOT_FOUND, format!("there is no session \"{session}\"")));
    }
    let messages = connection.open_stream(&session).map_err(|refusal| match refusal {
        StreamRefusal::AlreadyOpen => Refusal::new(StatusCode::CONFLICT, "this stream is open already; close it first"),
        StreamRefusal::TooMany => {
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, "this connection has too many streams; close one first")
        }
    })?;
    let events = messages.map(|message| Ok::<_, Infallible>(Event::default().data(message)));
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

/// Ends a connection and its streams. The sessions go on.
pub(crate) async fn close(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<AdmittedRequest>,
    headers: HeaderMap,
) -> Result<StatusCode, Refusal> {
    find(&host, &admitted, &headers)?.end();
    Ok(StatusCode::ACCEPTED)
}

/// The connection that the headers name.
fn find(host: &Host, admitted: &AdmittedRequest, headers: &HeaderMap) -> Result<Arc<HttpConnection>, Refusal> {
    let Some(id) = header_text(headers, CONNECTION) else {
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "Acp-Connection-Id is missing"));
    };
    host.http_editors.get(id, &admitted.caller).ok_or_else(unknown_connection)
}

fn unknown_connection() -> Refusal {
    let why = "there is no such connection, or it has ended; POST initialize, then load your sessions";
    Refusal::new(StatusCode::NOT_FOUND, why)
}

/// Reads a body, which counts as an unfinished message while it comes.
async fn read(request: Request, meter: &Meter) -> Result<Bytes, Refusal> {
    meter.start();
    let body = Bytes::from_request(request, &()).await;
    meter.stop();
    Ok(body?)
}

fn parse(body: &[u8]) -> Result<MessageHead<'_>, Refusal> {
    if body.trim_ascii_start().starts_with(b"[") {
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "batches are not supported; send single messages"));
    }
    MessageHead::parse(body).map_err(|error| {
        let code = if error.is_data() { INVALID_REQUEST } else { PARSE_ERROR };
        Refusal { status: StatusCode::BAD_REQUEST, code, why: format!("no JSON-RPC message: {error}") }
    })
}

fn is_error(answer: &str) -> bool {
    #[derive(Deserialize)]
    struct Outcome {
        error: Option<IgnoredAny>,
    }
    serde_json::from_str::<Outcome>(answer).is_ok_and(|outcome| outcome.error.is_some())
}

fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
