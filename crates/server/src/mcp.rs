//! `/mcp`: the gateway's MCP server over HTTP, for clients of both eras.
//!
//! A request is answered with JSON. If something is said before the answer, or the answer takes long, it becomes a stream
//! of events. A modern client cancels by closing it; a legacy client can come back to it with `Last-Event-ID`.

mod detached;
mod local;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequest, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Extension, Json, Router};
use bytes::Bytes;
use roost_gateway::endpoint::{
    self, Endpoint, IncomingRequest, McpRefusal, Outlet, ReplayBuffer, Session, StreamBeginning, View, names_revision,
};
use roost_gateway::era::{LEGACY, MODERN};
use roost_gateway::jsonrpc::{self, ServerMessage};
use roost_gateway::namespace::Namespace;
use roost_gateway::principal::Principal;
use roost_gateway::trace_context::TRACEPARENT;
use roost_model::ids::DeviceId;
use roost_rpc::Scope;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use self::detached::DetachOnDrop;
pub(crate) use self::local::{AttachLine, LineConnection, serve_lines};
use self::stream::{ModernAnswer, legacy_events, modern_events, runtime_ended};
use crate::agents::Agent;
use crate::caller::{Caller, Door};
use crate::guard::AdmittedRequest;
use crate::host::Host;
use crate::message_budget::Meter;

/// The header that names a legacy client's session.
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const LAST_EVENT: &str = "last-event-id";
const EVENT_STREAM: &str = "text/event-stream";
/// An answer that takes longer than this becomes a stream, so that nothing on the way gives up.
const STREAM_AFTER: Duration = Duration::from_secs(5);
/// What a request says before its answer may wait here; beyond it the service is not read.
const QUEUE: usize = 16;

/// Stands for every client that came over the network without a token, where none is asked for.
const UNPAIRED: &str = "unpaired";

/// The methods of `GET /mcp` for clients that ask for JSON, as seed 003 names them.
const SUPPORTED_METHODS: [&str; 6] =
    ["initialize", "ping", "tools/list", "tools/call", "resources/list", "prompts/list"];

pub(crate) fn routes() -> Router<Arc<Host>> {
    let methods = || post(receive).get(open).delete(end);
    Router::new().route("/mcp", methods()).route("/mcp/{namespace}", methods())
}

/// Whether a client wants to see all tools, or to search for them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SurfaceKind {
    Whole,
    Lazy,
}

impl SurfaceKind {
    fn of(uri: &Uri) -> Self {
        match uri.query().is_some_and(|query| query.split('&').any(|pair| pair == "surface=lazy")) {
            true => Self::Lazy,
            false => Self::Whole,
        }
    }
}

/// Who asks, and what of the gateway they see.
struct Visitor {
    endpoint: Arc<Endpoint>,
    principal: Principal,
    view: View,
}

impl Visitor {
    /// Lets a caller in who may use tools, at an address that exists.
    fn admit(host: &Host, caller: &Caller, namespace: Option<&str>, surface: SurfaceKind) -> Result<Self, Rejection> {
        let endpoint = host.gateway.clone().ok_or_else(|| refuse(StatusCode::NOT_FOUND, "there is no MCP gateway"))?;
        let principal = principal(caller).ok_or_else(|| {
            refuse(StatusCode::FORBIDDEN, "tools need the scope operate, or the token of a session; pair again with it")
        })?;
        let view = match namespace {
            None if surface == SurfaceKind::Lazy => View::Lazy,
            None => View::All,
            Some(name) => View::One(Namespace::from_text(name)),
        };
        let is_known = match (&view, namespace) {
            (View::One(namespace), Some(name)) => namespace.as_str() == name && endpoint.knows(&view),
            _ => true,
        };
        if !is_known {
            let why = "there is no service with this namespace; `roost services list` shows them";
            return Err(refuse(StatusCode::NOT_FOUND, why));
        }
        Ok(Self { endpoint, principal, view })
    }

    /// The session that the headers name.
    fn session(&self, headers: &HeaderMap) -> Result<Arc<Session>, Rejection> {
        let Some(id) = text(headers, SESSION) else {
            return Err(refuse(StatusCode::BAD_REQUEST, "Mcp-Session-Id is missing; send initialize first"));
        };
        let ended =
            || refuse(StatusCode::NOT_FOUND, "there is no such session, or it has ended; send initialize again");
        self.endpoint.session(id, &self.principal, &self.view).ok_or_else(ended)
    }
}

/// On whose behalf a caller uses tools; `None` if it may not.
pub(crate) fn principal(caller: &Caller) -> Option<Principal> {
    match (&caller.agent, &caller.device) {
        (Some(Agent::Session(session)), _) => Some(Principal::Session(session.clone())),
        (Some(Agent::Stray | Agent::Unknown), _) => None,
        (None, _) if caller.scope < Scope::Operate => None,
        (None, Some(device)) => Some(Principal::Device(DeviceId::from(device.id.as_str()))),
        (None, None) if caller.door == Door::Local => Some(Principal::Local),
        // Nobody asked it for a token, so it is not the user of this machine.
        (None, None) => Some(Principal::Device(UNPAIRED.into())),
    }
}

/// Takes one message of a client.
async fn receive(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<AdmittedRequest>,
    Extension(meter): Extension<Arc<Meter>>,
    namespace: Option<Path<String>>,
    mut request: Request,
) -> Result<Response, Rejection> {
    let namespace = namespace.map(|Path(name)| name);
    let visitor = Visitor::admit(&host, &admitted.caller, namespace.as_deref(), SurfaceKind::of(request.uri()))?;
    let headers = std::mem::take(request.headers_mut());
    meter.start();
    let body = Bytes::from_request(request, &()).await;
    meter.stop();
    let body = body.map_err(|rejection| refuse(rejection.status(), &rejection.body_text()))?;
    let door = HttpDoor { host, admitted, visitor, headers };
    let Some(message) = jsonrpc::parse(&body) else {
        let is_json = serde_json::from_slice::<&RawValue>(&body).is_ok();
        let why = "the body must be one message of JSON-RPC 2.0";
        let refusal = if is_json { McpRefusal::invalid_request(why) } else { McpRefusal::no_json() };
        return Err(Rejection::new(StatusCode::BAD_REQUEST, RawValue::NULL, refusal));
    };
    match message {
        ServerMessage::Request { id, method, params } => {
            let incoming = IncomingRequest { id, method: &method, params, traceparent: None };
            door.answer(&incoming, &body).await
        }
        ServerMessage::Notification { method, params } => {
            if door.headers.contains_key(SESSION) {
                let session = door.visitor.session(&door.headers)?;
                door.visitor.endpoint.on_notification(&session, &method, params);
            }
            Ok(StatusCode::ACCEPTED.into_response())
        }
        ServerMessage::Response { id, answer } => {
            let session = door.visitor.session(&door.headers)?;
            let answer = answer.map(ToOwned::to_owned).map_err(ToOwned::to_owned);
            match door.visitor.endpoint.on_answer(&session, id, answer) {
                true => Ok(StatusCode::ACCEPTED.into_response()),
                false => Err(refuse(StatusCode::BAD_REQUEST, "nothing was asked under this id, or it is over")),
            }
        }
    }
}

/// One request over HTTP.
struct HttpDoor {
    host: Arc<Host>,
    admitted: AdmittedRequest,
    visitor: Visitor,
    headers: HeaderMap,
}

impl HttpDoor {
    async fn answer(self, incoming: &IncomingRequest<'_>, body: &Bytes) -> Result<Response, Rejection> {
        if !accepts(&self.headers, "application/json") && !accepts(&self.headers, EVENT_STREAM) {
            return Err(refuse(StatusCode::NOT_ACCEPTABLE, "send Accept: application/json, text/event-stream"));
        }
        let version = text(&self.headers, VERSION);
        let is_legacy = version.is_none_or(|version| LEGACY.contains(&version));
        if names_revision(incoming.params) || version == Some(MODERN) {
            return self.answer_modern(incoming, body).await;
        }
        if incoming.method == "initialize" {
            return Ok(self.initialize(incoming));
        }
        if !is_legacy {
            let refusal = McpRefusal::invalid_request("this MCP-Protocol-Version is not served; send initialize first");
            return Err(Rejection::new(StatusCode::BAD_REQUEST, incoming.id, refusal));
        }
        self.answer_legacy(incoming, body).await
    }

    fn initialize(self, incoming: &IncomingRequest<'_>) -> Response {
        let Visitor { endpoint, principal, view } = self.visitor;
        let general = Outlet::Stream(Arc::new(ReplayBuffer::default()));
        let (session, result) = match endpoint.initialize(principal, view, incoming.params, general) {
            Ok((session, result)) => {
                if let Some(runtime) = self.admitted.runtime {
                    endpoint.spawn(end_with_runtime(endpoint.clone(), session.clone(), runtime));
                }
                (Some(session), Ok(result))
            }
            Err(refusal) => (None, Err(refusal)),
        };
        let mut response = answer(StatusCode::OK, &endpoint::response(incoming.id, &result));
        if let Some(id) = session.and_then(|session| HeaderValue::try_from(&session.id).ok()) {
            response.headers_mut().insert(SESSION, id);
        }
        response
    }

    /// A legacy request runs on if its connection breaks, so that its client can come back to it.
    async fn answer_legacy(self, incoming: &IncomingRequest<'_>, body: &Bytes) -> Result<Response, Rejection> {
        let session = self.visitor.session(&self.headers)?;
        let Some((number, stream)) = session.open_stream() else {
            let why = "too many requests of this session run already; wait for some of them";
            let refusal = McpRefusal::invalid_request(why);
            return Err(Rejection::new(StatusCode::TOO_MANY_REQUESTS, incoming.id, refusal));
        };
        let id = incoming.id.to_owned();
        let work = {
            let (endpoint, session, stream) = (self.visitor.endpoint.clone(), session.clone(), stream.clone());
            let (body, trace) = (body.clone(), trace_of(&self.headers));
            async move {
                let answer = match jsonrpc::parse(&body) {
                    Some(ServerMessage::Request { id, method, params }) => {
                        let incoming = IncomingRequest { id, method: &method, params, traceparent: trace.as_deref() };
                        let outlet = Outlet::Stream(stream.clone());
                        let answer = endpoint.answer_legacy(&session, incoming, &outlet).await;
                        answer.map(|answer| endpoint::response(id, &answer))
                    }
                    // It was read as a request before.
                    _ => None,
                };
                stream.end(answer);
                // Here, because nobody else may be left: its client may be gone already.
                session.retire_stream(number);
            }
        };
        let mut work = DetachOnDrop::new(self.visitor.endpoint.clone(), work);
        let beginning = match accepts(&self.headers, EVENT_STREAM) {
            true => {
                tokio::select! {
                    biased;
                    () = &mut work => {}
                    _ = stream.after(0) => {}
                    () = sleep(STREAM_AFTER) => {}
                }
                stream.beginning()
            }
            false => {
                work.await;
                stream.last().await.map_or(StreamBeginning::Empty, StreamBeginning::Only)
            }
        };
        let message = match beginning {
            StreamBeginning::Only(message) => message,
            StreamBeginning::Empty => {
                endpoint::response(&id, &Err(McpRefusal::invalid_request("the request was cancelled")))
            }
            StreamBeginning::More => {
                return Ok(legacy_events(self.host, self.admitted, &session, number, stream, 0));
            }
        };
        session.forget_stream(number);
        Ok(answer(StatusCode::OK, &message))
    }

    /// A modern request ends with its connection.
    async fn answer_modern(self, incoming: &IncomingRequest<'_>, body: &Bytes) -> Result<Response, Rejection> {
        let Visitor { endpoint, principal, view } = self.visitor;
        if let Err(refusal) = endpoint.check_headers(&view, incoming, |name| text(&self.headers, name)) {
            return Err(Rejection::new(StatusCode::BAD_REQUEST, incoming.id, refusal));
        }
        let (outlet, mut said) = mpsc::channel(QUEUE);
        let (body, trace) = (body.clone(), trace_of(&self.headers));
        let mut answering: ModernAnswer = Box::pin(async move {
            let Some(ServerMessage::Request { id, method, params }) = jsonrpc::parse(&body) else {
                // It was read as a request before.
                return (StatusCode::BAD_REQUEST, "".into());
            };
            let incoming = IncomingRequest { id, method: &method, params, traceparent: trace.as_deref() };
            let answer = endpoint.answer_modern(&principal, &view, incoming, &Outlet::Queue(outlet)).await;
            let status = answer.as_ref().err().map_or(200, McpRefusal::http_status);
            (StatusCode::from_u16(status).unwrap_or(StatusCode::OK), endpoint::response(id, &answer))
        });
        let is_streamed = accepts(&self.headers, EVENT_STREAM);
        let first = loop {
            tokio::select! {
                biased;
                Some(first) = said.recv() => if is_streamed { break Some(first) },
                (status, message) = &mut answering => return Ok(answer(status, &message)),
                () = sleep(STREAM_AFTER), if is_streamed => break None,
            }
        };
        Ok(modern_events(self.host, self.admitted, first, said, answering))
    }
}

/// Ends the session of an agent when its token dies: nobody could answer what is asked in it any more.
async fn end_with_runtime(endpoint: Arc<Endpoint>, session: Arc<Session>, runtime: watch::Receiver<()>) {
    tokio::select! {
        () = runtime_ended(runtime) => endpoint.end_session(&session),
        () = session.ended.cancelled() => {}
    }
}

/// Opens the stream of a legacy client, or comes back to one; tells others what is here.
async fn open(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<AdmittedRequest>,
    namespace: Option<Path<String>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Rejection> {
    let namespace = namespace.map(|Path(name)| name);
    let visitor = Visitor::admit(&host, &admitted.caller, namespace.as_deref(), SurfaceKind::of(&uri))?;
    if !accepts_exactly(&headers, EVENT_STREAM) {
        let versions: Vec<_> = std::iter::once(MODERN).chain(LEGACY).collect();
        let metadata = json!({
            "name": "roost gateway",
            "protocol": "jsonrpc-2.0",
            "supportedMethods": SUPPORTED_METHODS,
            "protocolVersions": versions,
        });
        return Ok(Json(metadata).into_response());
    }
    if !headers.contains_key(SESSION) || text(&headers, VERSION) == Some(MODERN) {
        return Err(refuse(StatusCode::METHOD_NOT_ALLOWED, "only a session has a stream; send requests with POST"));
    }
    let session = visitor.session(&headers)?;
    let gone = || refuse(StatusCode::NOT_FOUND, "there is no such stream any more; send the request again");
    let (number, after) = match text(&headers, LAST_EVENT) {
        Some(id) => stream::read_event_id(id).ok_or_else(gone)?,
        None => (0, session.stream(0).ok_or_else(gone)?.last_read()),
    };
    let events = session.stream(number).ok_or_else(gone)?;
    if number == 0 {
        let Ok(reader) = session.general_reader.clone().try_lock_owned() else {
            return Err(refuse(StatusCode::CONFLICT, "this session has a stream already; close it first"));
        };
        return Ok(stream::general_events(host, admitted, session, reader, events, after));
    }
    Ok(legacy_events(host, admitted, &session, number, events, after))
}

/// Ends the session of a legacy client.
async fn end(
    State(host): State<Arc<Host>>,
    Extension(admitted): Extension<AdmittedRequest>,
    namespace: Option<Path<String>>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Rejection> {
    let namespace = namespace.map(|Path(name)| name);
    let visitor = Visitor::admit(&host, &admitted.caller, namespace.as_deref(), SurfaceKind::of(&uri))?;
    if !headers.contains_key(SESSION) {
        return Err(refuse(StatusCode::METHOD_NOT_ALLOWED, "only a session can be ended; name it in Mcp-Session-Id"));
    }
    let session = visitor.session(&headers)?;
    visitor.endpoint.end_session(&session);
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn trace_of(headers: &HeaderMap) -> Option<String> {
    text(headers, TRACEPARENT).map(ToOwned::to_owned)
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Whether a client takes this kind of answer; one that says nothing takes all.
fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    !headers.contains_key(header::ACCEPT) || accepts_exactly(headers, kind) || accepts_exactly(headers, "*/*")
}

fn accepts_exactly(headers: &HeaderMap, kind: &str) -> bool {
    let mut accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted.any(|kinds| {
        kinds.split(',').any(|one| one.split(';').next().is_some_and(|one| one.trim().eq_ignore_ascii_case(kind)))
    })
}

fn answer(status: StatusCode, message: &Arc<str>) -> Response {
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (status, kind, String::from(&**message)).into_response()
}

/// Why a request is not taken: the status, and an error in the form of the protocol.
struct Rejection {
    status: StatusCode,
    message: Arc<str>,
}

impl Rejection {
    fn new(status: StatusCode, id: &RawValue, refusal: McpRefusal) -> Self {
        Self { status, message: endpoint::response(id, &Err(refusal)) }
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let mut response = answer(self.status, &self.message);
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        }
        response
    }
}

/// Refuses a request before anybody knows its id.
fn refuse(status: StatusCode, why: &str) -> Rejection {
    Rejection::new(status, RawValue::NULL, McpRefusal::invalid_request(why))
}
