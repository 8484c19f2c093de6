//! The routes: JSON-RPC over WebSocket and HTTP, what the REST routes of seed 004 mean in its terms, metrics, and the
//! web app.

use std::sync::Arc;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router, middleware};
use bytes::Bytes;
use roost_model::time::Timestamp;
use roost_rpc::{self, Cost, Fault, FaultCode, Outcome, RpcFrame};
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use uuid::Uuid;

use crate::caller::{Caller, Door};
use crate::connection_limit::ConnectionSlot;
use crate::dispatch::{Context, PreparedCall, dispatch};
use crate::guard::{AdmittedRequest, PROTOCOL, guard};
use crate::host::Host;
use crate::message_budget::Meter;
use crate::response_frame::{bounded, encode_batch};
use crate::{acp, audit_stream, mcp, metrics, raw, rest, uploads, web_app, ws};

/// Bytes of a socket's buffers; a thousand watchers must be cheap.
const BUFFER: usize = 8 << 10;
/// Responses smaller than this, in bytes, are not compressed.
const COMPRESSED: u64 = 1 << 10;

/// Everything that is served over TCP.
pub(crate) fn router(host: Arc<Host>) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/metrics", get(scrape))
        .route("/ws", get(upgrade))
        .route("/acp", get(open_acp).post(acp::http::post).delete(acp::http::close))
        .route("/api/rpc", post(call))
        .route("/api/rpc/discover", get(discover))
        .merge(mcp::routes())
        .merge(web_app::routes())
        .merge(rest::routes())
        .merge(audit_stream::routes())
        .merge(raw::routes())
        .merge(uploads::routes(host.settings.limits.uploads.one))
        .fallback(async || (StatusCode::NOT_FOUND, Json(json!({ "error": "there is nothing here" }))))
        .with_state(host.clone())
        .merge(crate::auth::routes(host.auth.clone()))
        .layer(DefaultBodyLimit::max(host.settings.limits.max_body_bytes))
        .layer(middleware::from_fn_with_state(host, guard))
        .layer(CompressionLayer::new().compress_when(SizeAbove::new(COMPRESSED).and(NotForContentType::SSE)))
}

async fn health() -> Response {
    Json(json!({ "status": "ok", "time": Timestamp::now() })).into_response()
}

async fn scrape(State(host): State<Arc<Host>>) -> Response {
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], metrics::render(&host).await).into_response()
}

async fn discover(State(host): State<Arc<Host>>) -> Response {
    Json(roost_rpc::openrpc::document(&host.daemon.version)).into_response()
}

async fn upgrade(
    host: State<Arc<Host>>,
    admitted: Extension<AdmittedRequest>,
    slot: Extension<Arc<ConnectionSlot>>,
    meter: Extension<Arc<Meter>>,
    socket: WebSocketUpgrade,
) -> Response {
    open_socket(host, admitted, slot, meter, socket, SocketUse::Methods)
}

/// An editor, which speaks the Agent Client Protocol: over a WebSocket, or it opens a stream of its HTTP connection.
async fn open_acp(
    host: State<Arc<Host>>,
    admitted: Extension<AdmittedRequest>,
    slot: Extension<Arc<ConnectionSlot>>,
    meter: Extension<Arc<Meter>>,
    headers: HeaderMap,
    socket: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let socket = match socket {
        Ok(socket) => socket,
        Err(refused) if headers.contains_key(header::UPGRADE) => return refused.into_response(),
        Err(_) => return acp::http::stream(&host, &admitted, &headers).await.into_response(),
    };
    let mut response = open_socket(host, admitted, slot, meter, socket, SocketUse::Acp);
    if let Ok(id) = HeaderValue::try_from(Uuid::new_v4().to_string()) {
        response.headers_mut().insert(acp::http::CONNECTION, id);
    }
    response
}

/// What is spoken over a WebSocket.
enum SocketUse {
    /// The methods of the table.
    Methods,
    /// The Agent Client Protocol.
    Acp,
}

fn open_socket(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<AdmittedRequest>,
    Extension(slot): Extension<Arc<ConnectionSlot>>,
    Extension(meter): Extension<Arc<Meter>>,
    socket: WebSocketUpgrade,
    what: SocketUse,
) -> Response {
    let AdmittedRequest { caller, client, .. } = admitted;
    let permit = match reserve_socket(&host, &caller) {
        Ok(permit) => permit,
        Err(why) => return (StatusCode::TOO_MANY_REQUESTS, Json(json!({ "error": why }))).into_response(),
    };
    let caller = Caller { door: Door::WebSocket, ..caller };
    let max = host.settings.limits.max_frame_bytes;
    socket
        .protocols([PROTOCOL])
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER)
        .max_message_size(max)
        .max_frame_size(max)
        .on_upgrade(move |socket| {
            let tasks = host.daemon.tasks.clone();
            tasks.track_future(async move {
                match what {
                    SocketUse::Methods => ws::serve(socket, host, caller, client, &meter).await,
                    SocketUse::Acp => acp::serve(socket, host, caller, client, &meter).await,
                }
                drop((permit, slot));
            })
        })
}

/// Reserves one of the sockets of the caller's device until the permit is dropped; `None` where there is no limit. An
/// editor's connection over HTTP counts as a socket.
pub(crate) fn reserve_socket(host: &Host, caller: &Caller) -> Result<Option<OwnedSemaphorePermit>, String> {
    let most = host.settings.limits.sockets_per_token as usize;
    match &caller.device {
        Some(device) if most > 0 => match host.presence.reserve_socket(&device.id, most) {
            None => Err(format!("this device has {most} open sockets, which is the limit; close one first")),
            permit => Ok(permit),
        },
        _ => Ok(None),
    }
}

/// JSON-RPC over HTTP: one request or a batch, answered in one response.
async fn call(State(host): State<Arc<Host>>, Extension(admitted): Extension<AdmittedRequest>, body: Bytes) -> Response {
    let caller = admitted.caller;
    match RpcFrame::read(&body) {
        Err(refused) | Ok(RpcFrame::One(Err(refused))) => answer(StatusCode::BAD_REQUEST, refused.encode()),
        Ok(RpcFrame::One(Ok(one))) => match run(&host, &caller, one).await {
            None => StatusCode::NO_CONTENT.into_response(),
            Some(response) => {
                let response = bounded(response);
                match &response.outcome {
                    Outcome::Error(fault) if fault.kind() == Some(FaultCode::RateLimited) => {
                        limited(fault, response.encode())
                    }
                    _ => answer(StatusCode::OK, response.encode()),
                }
            }
        },
        Ok(RpcFrame::Batch(members)) => {
            let running = members.into_iter().map(|member| async {
                match member {
                    Ok(one) => run(&host, &caller, one).await,
                    Err(refused) => Some(*refused),
                }
            });
            match encode_batch(futures::future::join_all(running).await.into_iter().flatten()) {
                Some(batch) => answer(StatusCode::OK, batch),
                None => StatusCode::NO_CONTENT.into_response(),
            }
        }
    }
}

/// Carries out one call. A client that hangs up cancels what only reads; the rest is carried out all the same.
pub(crate) async fn run(host: &Arc<Host>, caller: &Caller, call: roost_rpc::RpcCall) -> Option<roost_rpc::Response> {
    let roost_rpc::RpcCall { id, method, params } = call;
    let call = PreparedCall::read(method, params);
    let outcome = match call.cost() {
        Cost::Change | Cost::Start => {
            let (host, caller) = (host.clone(), caller.clone());
            let tasks = host.daemon.tasks.clone();
            let work = tasks.spawn(async move { dispatch(&Context::single(&host, &caller), call).await });
            work.await.unwrap_or_else(|_| Err(Fault::new(FaultCode::InternalError, "the call failed inside Roost")))
        }
        Cost::Read => dispatch(&Context::single(host, caller), call).await,
    };
    id.map(|id| roost_rpc::Response::new(id, outcome))
}

fn answer(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}

/// The response 429 with `Retry-After`, for a call beyond the rate limit.
pub(crate) fn limited(fault: &Fault, body: String) -> Response {
    let seconds = fault.data.get("retry_after").and_then(serde_json::Value::as_u64).unwrap_or(1);
    let mut headers = HeaderMap::new();
    headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    (headers, answer(StatusCode::TOO_MANY_REQUESTS, body)).into_response()
}
