//! Servers over streamable HTTP: one POST per request, answered at once or as a stream of events.
//!
//! A modern server keeps nothing between requests. A legacy one has a session, which is renewed when the server has
//! forgotten it, and a stream of its own for what belongs to no request.

mod answer_stream;
mod background;
mod connect;
mod headers;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::{Mutex, RwLock};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, StatusCode};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, watch};
use url::Url;

use super::call_limiter::CallQueue;
use super::handshake::DISCOVER;
use super::http_auth::HttpAuth;
use super::http_client::{BodyError, read_body, redirected, unreachable};
use super::limits::ServiceLimits;
use super::open_call::OpenCall;
use super::open_calls::OpenCalls;
use super::param_headers::ParamHeaders;
use super::peer_upstream::Transport;
use super::request_params::sent_params;
use super::service_log::ServiceLog;
use super::subscriptions::ListenSubscriptions;
use super::{
    FromServer, ServerAnswer, ServerProfile, Upstream, UpstreamEnd, UpstreamError, UpstreamRequest, bypasses_queue,
};
use crate::client_profile::ClientProfile;
use crate::era::Era;
use crate::jsonrpc::{self, ServerMessage};
use crate::lifecycle::ServiceFault;

pub(super) use connect::{HttpConnected, connect};

/// The most of an error page that is read.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// Calls whose cancellation may wait to be sent; of further ones a server does not hear.
const CANCELLATIONS: usize = 64;

/// What a link to a server needs.
pub(super) struct HttpTarget {
    pub(super) client: Client,
    pub(super) endpoint: Url,
    pub(super) auth: HttpAuth,
    pub(super) limits: ServiceLimits,
    pub(super) queue: CallQueue,
    pub(super) param_headers: Arc<ParamHeaders>,
    /// On whose behalf the connection is; a legacy server is told at the handshake.
    pub(super) profile: ClientProfile,
    pub(super) log: Arc<dyn ServiceLog>,
}

/// The way to one server on behalf of one principal.
struct HttpLink {
    target: HttpTarget,
    session: RwLock<HttpSession>,
    /// Held while a session is renewed, so that calls that fail together renew it once.
    renewal: tokio::sync::Mutex<()>,
    /// The resources that a legacy server was asked to report, which it forgets with the session.
    subscribed: Mutex<BTreeSet<String>>,
    calls: OpenCalls,
    next_id: AtomicU64,
    unasked: mpsc::Sender<FromServer>,
    /// The ids of calls that a legacy server is to be told to stop.
    cancelled: mpsc::Sender<u64>,
    end: watch::Sender<Option<UpstreamEnd>>,
}

/// How the server is spoken to.
#[derive(Clone, Debug, PartialEq)]
struct HttpSession {
    era: Era,
    /// The name that a legacy server gave to its session.
    id: Option<HeaderValue>,
}

/// Why a request has no answer of the protocol.
enum HttpError {
    /// The server answered with this status, and with an error object of the protocol if it is one of the protocol.
    Status(StatusCode, Option<Box<RawValue>>),
    /// The server does not know our session any more.
    SessionLost(HttpSession),
    /// No response came, or one that is none of the protocol.
    Upstream(UpstreamError),
}

impl From<UpstreamError> for HttpError {
    fn from(error: UpstreamError) -> Self {
        Self::Upstream(error)
    }
}

impl HttpLink {
    fn new(target: HttpTarget) -> (Arc<Self>, mpsc::Receiver<FromServer>, mpsc::Receiver<u64>) {
        let (unasked, from_server) = mpsc::channel(CANCELLATIONS);
        let (cancelled, cancellations) = mpsc::channel(CANCELLATIONS);
        let link = Self {
            target,
            session: RwLock::new(HttpSession { era: Era::Modern, id: None }),
            renewal: tokio::sync::Mutex::new(()),
            subscribed: Mutex::default(),
            calls: OpenCalls::default(),
            next_id: AtomicU64::new(1),
            unasked,
            cancelled,
            end: watch::Sender::new(None),
        };
        (Arc::new(link), from_server, cancellations)
    }

    /// Calls a method, in a new session if the server has forgotten the old one.
    async fn call(&self, request: UpstreamRequest<'_>) -> Result<ServerAnswer, UpstreamError> {
        let limit = self.target.limits.patience(request.patience);
        self.call_within(limit, request).await
    }

    /// Calls a method that may take longer than the service's own limit.
    async fn call_within(&self, limit: Duration, request: UpstreamRequest<'_>) -> Result<ServerAnswer, UpstreamError> {
        self.target.limits.check_request(request.params)?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let mut session = self.session.read().clone();
        let modern_client = (session.era == Era::Modern).then_some(request.client);
        let sent = sent_params(request.params, modern_client, id);
        let call = OpenCall::new(request.client, request.interjections, sent.progress_token, limit);
        let call = self.calls.open(id, call);
        let is_running = AtomicBool::new(false);
        let answered = async {
            if !bypasses_queue(request.method) {
                call.take_turn(&self.target.queue).await?;
            }
            is_running.store(true, Ordering::Relaxed);
            let mut cancellation = CancelOnDrop { link: self, id: (session.era != Era::Modern).then_some(id) };
            let mut answer = self.exchange(&session, id, request.method, sent.params.as_deref(), &call).await;
            if let Err(HttpError::SessionLost(lost)) = answer {
                session = self.renew_session(&lost).await?;
                answer = self.exchange(&session, id, request.method, sent.params.as_deref(), &call).await;
            }
            // Another server may stand there by now, or the connection was an old one.
            if is_repeatable(request.method) && is_unreachable(&answer) {
                answer = self.exchange(&session, id, request.method, sent.params.as_deref(), &call).await;
            }
            cancellation.id = None;
            answer.or_else(|error| self.without_answer(error))
        };
        let answer = tokio::select! {
            biased;
            answer = answered => answer?,
            () = call.deadline.is_over() => match is_running.load(Ordering::Relaxed) {
                true => return Err(UpstreamError::Timeout(call.deadline.limit())),
                false => return Err(UpstreamError::QueueTimeout(call.deadline.limit())),
            },
        };
        if let ("tools/list", Ok(result)) = (request.method, &answer)
            && let Some(kept) = self.target.param_headers.learn(result)
        {
            return Ok(Ok(kept));
        }
        Ok(answer)
    }

    /// What a call ends with that got no answer of the protocol.
    fn without_answer(&self, error: HttpError) -> Result<ServerAnswer, UpstreamError> {
        let failed = |fault, message: String| Err(UpstreamError::Failed(fault, message.into()));
        match error {
            HttpError::Upstream(error) => Err(error),
            HttpError::SessionLost(_) => failed(ServiceFault::Broken, "it forgets its sessions at once".into()),
            HttpError::Status(status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN), _) => {
                failed(ServiceFault::Unauthorized, self.target.auth.refused(status))
            }
            HttpError::Status(_, Some(error)) => Ok(Err(error)),
            HttpError::Status(status, None) => {
                let fault = match status.as_u16() {
                    502..=504 => ServiceFault::Unreachable,
                    _ => ServiceFault::Broken,
                };
                failed(fault, format!("it answered with HTTP status {status}"))
            }
        }
    }

    /// Sends a request and reads its answer.
    async fn exchange(
        &self,
        session: &HttpSession,
        id: u64,
        method: &str,
        params: Option<&RawValue>,
        call: &OpenCall,
    ) -> Result<ServerAnswer, HttpError> {
        let body = jsonrpc::request(Some(id), method, params);
        let mut headers = headers::of_session(session, method != super::handshake::INITIALIZE);
        if session.era == Era::Modern {
            headers::add_of_request(&mut headers, method, params, &self.target.param_headers);
        }
        headers::add_trace(&mut headers, params);
        let response = self.post(session, headers, body).await?;
        if method == super::handshake::INITIALIZE {
            self.session.write().id = response.headers().get(headers::SESSION_ID).cloned();
        }
        match headers::media_type(&response).as_str() {
            "application/json" => self.json_answer(response, id).await,
            "text/event-stream" => self.stream_answer(session, response, id, call).await,
            other => {
                let message = format!("it answered with {other:?}, which is neither JSON nor a stream of events");
                Err(UpstreamError::Failed(ServiceFault::Broken, message.into()).into())
            }
        }
    }

    /// Tells the server something, which it takes within the time of a call or not at all.
    async fn tell(&self, session: &HttpSession, method: Option<&str>, message: Vec<u8>) -> Result<(), HttpError> {
        let mut headers = headers::of_session(session, true);
        if let (Era::Modern, Some(method)) = (&session.era, method) {
            headers::add_of_request(&mut headers, method, None, &self.target.param_headers);
        }
        let limit = self.target.limits.timeout;
        match tokio::time::timeout(limit, self.post(session, headers, message)).await {
            Ok(told) => told.map(drop),
            Err(_) => Err(UpstreamError::Timeout(limit).into()),
        }
    }

    /// Posts a message. Credentials that have expired are renewed once.
    async fn post(&self, session: &HttpSession, headers: HeaderMap, body: Vec<u8>) -> Result<Response, HttpError> {
        let mut is_retry = false;
        loop {
            let mut request = self.target.client.post(self.target.endpoint.clone()).headers(headers.clone());
            if let Some((name, value)) = self.target.auth.header().await? {
                request = request.header(name, value);
            }
            let response = request.header(CONTENT_TYPE, "application/json").body(body.clone()).send().await;
            let response = response.map_err(|error| unreachable(&error))?;
            let status = response.status();
            let challenge = headers::challenge(&response);
            let error = match self.checked(session, response).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            let is_refusal = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
            if !is_refusal || is_retry || !self.target.auth.on_refusal(status, challenge).await {
                return Err(error);
            }
            is_retry = true;
        }
    }

    /// Lets a response through that is no refusal.
    async fn checked(&self, session: &HttpSession, response: Response) -> Result<Response, HttpError> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if let Some(redirected) = redirected(&response) {
            return Err(redirected.into());
        }
        if status == StatusCode::NOT_FOUND && session.id.is_some() {
            return Err(HttpError::SessionLost(session.clone()));
        }
        let body = match headers::media_type(&response) == "application/json" {
            true => read_body(response, MAX_ERROR_BODY).await.unwrap_or_default(),
            false => Vec::new(),
        };
        Err(HttpError::Status(status, jsonrpc::error_object(&body)))
    }

    async fn json_answer(&self, response: Response, id: u64) -> Result<ServerAnswer, HttpError> {
        let body = read_body(response, self.target.limits.max_payload).await.map_err(|error| match error {
            BodyError::TooLong(bytes) => self.target.limits.too_long(bytes),
            BodyError::Broken(reason) => UpstreamError::Failed(ServiceFault::Unreachable, reason.into()),
        })?;
        match jsonrpc::parse(&body) {
            Some(ServerMessage::Response { id: answered, answer }) if answered == id => {
                Ok(answer.map(ToOwned::to_owned).map_err(ToOwned::to_owned))
            }
            _ => {
                let message = "it answered with something that is no answer to the request";
                Err(UpstreamError::Failed(ServiceFault::Broken, message.into()).into())
            }
        }
    }
}

/// Whether a request changes nothing at the server, so that it can be sent twice.
fn is_repeatable(method: &str) -> bool {
    method.ends_with("/list") || matches!(method, "resources/read" | "prompts/get" | "ping" | DISCOVER)
}

/// Whether nothing came back, or not all of it.
fn is_unreachable(answer: &Result<ServerAnswer, HttpError>) -> bool {
    matches!(answer, Err(HttpError::Upstream(UpstreamError::Failed(ServiceFault::Unreachable, _))))
}

/// Tells a legacy server to stop working on a call for whose answer nobody waits any more. A modern one sees that its
/// response is not read.
struct CancelOnDrop<'a> {
    link: &'a HttpLink,
    id: Option<u64>,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            // A server that has many to hear of already does not hear of it.
            let _ = self.link.cancelled.try_send(id);
        }
    }
}

/// A connection over streamable HTTP. Dropping it ends its background task, which ends the session.
struct HttpUpstream {
    link: Arc<HttpLink>,
    profile: ServerProfile,
    subscriptions: Arc<ListenSubscriptions>,
    background: Transport,
}

#[async_trait]
impl Upstream for HttpUpstream {
    fn profile(&self) -> &ServerProfile {
        &self.profile
    }

    async fn call(&self, request: UpstreamRequest<'_>) -> Result<ServerAnswer, UpstreamError> {
        if self.profile.era == Era::Modern
            && let Some(answer) = self.subscriptions.on_call(request.method, request.params)
        {
            return Ok(answer);
        }
        if self.link.end.borrow().is_some() {
            return Err(UpstreamError::Gone("its connection was closed".into()));
        }
        let (method, params) = (request.method, request.params);
        tokio::select! {
            biased;
            answer = self.link.call(request) => {
                if let Ok(Ok(_)) = answer {
                    self.link.note_subscription(method, params);
                }
                answer
            }
            end = self.ended() => Err(UpstreamError::Gone(match end {
                UpstreamEnd::Failed(_, reason) => reason,
                UpstreamEnd::Closed | UpstreamEnd::Exited => "its connection was closed".into(),
            })),
        }
    }

    async fn notify(&self, method: &str, params: Option<&RawValue>) -> Result<(), UpstreamError> {
        self.link.target.limits.check_request(params)?;
        let session = self.link.session.read().clone();
        let told = self.link.tell(&session, Some(method), jsonrpc::request(None, method, params)).await;
        match told {
            Ok(()) => Ok(()),
            Err(error) => self.link.without_answer(error).map(drop),
        }
    }

    async fn ended(&self) -> UpstreamEnd {
        let mut end = self.link.end.subscribe();
        // The sender lives as long as we do.
        end.wait_for(Option::is_some).await.ok().and_then(|end| end.clone()).unwrap_or(UpstreamEnd::Closed)
    }

    async fn close(&self) {
        self.link.finish(UpstreamEnd::Closed);
        self.background.close().await;
    }
}

impl HttpLink {
    /// Ends the connection, unless it has ended already.
    fn finish(&self, end: UpstreamEnd) {
        self.end.send_if_modified(|current| match current {
            Some(_) => false,
            None => {
                *current = Some(end);
                true
            }
        });
    }
}
