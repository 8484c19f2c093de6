//! Finds out how a server speaks, and does the handshake of a legacy one.

use std::sync::Arc;
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use super::super::connector::{ConnectError, KnownEra};
use super::super::handshake::{
    DISCOVER, Discovered, INITIALIZE, INITIALIZED, discovered, initialize_params, initialized,
};
use super::super::open_call::OpenCall;
use super::super::peer_upstream::Transport;
use super::super::request_params::sent_params;
use super::super::subscriptions::ListenSubscriptions;
use super::super::{FromServer, ServerAnswer, ServerProfile, Upstream, UpstreamError};
use super::{HttpError, HttpLink, HttpSession, HttpTarget, HttpUpstream};
use crate::era::{Era, NEWEST_LEGACY};
use crate::jsonrpc;
use crate::lifecycle::ServiceFault;
use crate::raw_object::{RawObject, to_raw};

/// How long a server may take to say that it is no modern one.
const PROBE: Duration = Duration::from_secs(10);
/// By which a legacy server is asked to report a resource.
const SUBSCRIBE: &str = "resources/subscribe";
/// How long a server's own stream may take to open before calls are made without it: some servers send no headers before
/// the first event.
const STREAM_WAIT: Duration = Duration::from_secs(5);

/// What became of an attempt to connect.
pub(crate) enum HttpConnected {
    /// The server speaks streamable HTTP.
    Connected { upstream: Arc<dyn Upstream>, unasked: mpsc::Receiver<FromServer> },
    /// It does not; it may be one of 2024.
    NotStreamable(ConnectError, Box<HttpTarget>),
}

/// Connects to a server whose era may be known.
pub(crate) async fn connect(target: HttpTarget, era: Option<KnownEra>) -> Result<HttpConnected, ConnectError> {
    let (link, unasked, cancellations) = HttpLink::new(target);
    let modern = match era {
        Some(KnownEra::Legacy) => None,
        Some(KnownEra::Modern) | None => link.discover().await?,
    };
    let introduced = match modern {
        Some(profile) => Ok(profile),
        None => link.initialize().await,
    };
    let profile = match introduced {
        Ok(profile) => profile,
        Err(HttpError::Status(
            status @ (StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED),
            _,
        )) => {
            let message = format!("it answered the handshake with HTTP status {status}");
            let error = ConnectError { fault: ServiceFault::Broken, message };
            // Nobody else has the link yet.
            let target = Arc::into_inner(link).map(|link| Box::new(link.target));
            return target.map(|target| HttpConnected::NotStreamable(error.clone(), target)).ok_or(error);
        }
        Err(error) => return Err(link.refused(error)),
    };
    let subscriptions = Arc::new(ListenSubscriptions::new(&profile.capabilities));
    let (stream_settled, settled) = oneshot::channel();
    let background =
        Transport::spawn(|stop| link.clone().run(subscriptions.clone(), cancellations, stream_settled, stop));
    // A legacy server loses what it asks of its client while its own stream is not open, so no call comes before that.
    let _ = tokio::time::timeout(STREAM_WAIT, settled).await;
    if profile.era == Era::Modern {
        subscriptions.settled(link.calls.acknowledged()).await;
    }
    let upstream: Arc<dyn Upstream> = Arc::new(HttpUpstream { link, profile, subscriptions, background });
    Ok(HttpConnected::Connected { upstream, unasked })
}

impl HttpLink {
    /// Asks a modern server about itself; `None` if it may be a legacy one.
    async fn discover(&self) -> Result<Option<ServerProfile>, ConnectError> {
        let session = self.session.read().clone();
        match self.ask(&session, DISCOVER, None, PROBE.min(self.target.limits.timeout)).await {
            Ok(answer) => match discovered(&answer) {
                Discovered::Modern(profile) => Ok(Some(profile)),
                Discovered::Unknown(error) => Err(error),
                Discovered::Legacy => Ok(None),
            },
            Err(HttpError::Status(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN, _)) => {
                Err(self.refused(HttpError::Status(StatusCode::UNAUTHORIZED, None)))
            }
            Err(HttpError::Status(_, Some(error))) => match discovered(&Err(error)) {
                Discovered::Unknown(error) => Err(error),
                Discovered::Modern(_) | Discovered::Legacy => Ok(None),
            },
            Err(HttpError::Upstream(error @ UpstreamError::Failed(ServiceFault::Unreachable, _))) => {
                Err(ConnectError::from(error))
            }
            // Servers of old answer in many ways to what they do not know.
            Err(_) => Ok(None),
        }
    }

    /// Does the handshake of a legacy server.
    async fn initialize(&self) -> Result<ServerProfile, HttpError> {
        *self.session.write() = HttpSession { era: Era::Legacy(NEWEST_LEGACY.into()), id: None };
        let session = self.session.read().clone();
        let params = initialize_params(&self.target.profile);
        let answer = self.ask(&session, INITIALIZE, params.as_deref(), self.target.limits.timeout).await?;
        let profile = initialized(&answer).map_err(|error| UpstreamError::Failed(error.fault, error.message.into()))?;
        let session = {
            let mut session = self.session.write();
            session.era = profile.era.clone();
            session.clone()
        };
        self.tell(&session, Some(INITIALIZED), jsonrpc::request(None, INITIALIZED, None)).await?;
        Ok(profile)
    }

    /// Makes a new session, unless another call has done so already, and returns the current one.
    pub(super) async fn renew_session(&self, lost: &HttpSession) -> Result<HttpSession, UpstreamError> {
        let _renewal = self.renewal.lock().await;
        if *self.session.read() != *lost {
            return Ok(self.session.read().clone());
        }
        let profile = self.initialize().await.map_err(|error| UpstreamError::from(self.refused(error)))?;
        let session = self.session.read().clone();
        self.catch_up(&session, &profile).await;
        Ok(session)
    }

    /// Subscribes again, and says that everything may have changed: a server forgets its sessions when it is restarted, too.
    async fn catch_up(&self, session: &HttpSession, profile: &ServerProfile) {
        let lists =
            ["tools", "prompts", "resources"].into_iter().filter(|list| profile.capabilities.contains_key(*list));
        let mut changes: Vec<_> = lists.map(FromServer::list_changed).collect();
        let subscribed = self.subscribed.lock().clone();
        for uri in &subscribed {
            let params = to_raw(&json!({ "uri": uri }));
            // What the server does not report any more, it does not report.
            let _ = self.ask(session, SUBSCRIBE, Some(&params), self.target.limits.timeout).await;
            changes.push(FromServer::resource_updated(uri));
        }
        for change in changes {
            // Nobody listens any more when the connection is being closed.
            let _ = self.unasked.send(change).await;
        }
    }

    /// Remembers what a legacy server was asked to report.
    pub(super) fn note_subscription(&self, method: &str, params: Option<&RawValue>) {
        let uri = || params.and_then(RawObject::parse)?.text("uri");
        match method {
            SUBSCRIBE => self.subscribed.lock().extend(uri()),
            "resources/unsubscribe" => drop(uri().map(|uri| self.subscribed.lock().remove(&uri))),
            _ => {}
        }
    }

    /// One request of our own.
    async fn ask(
        &self,
        session: &HttpSession,
        method: &str,
        params: Option<&RawValue>,
        patience: Duration,
    ) -> Result<ServerAnswer, HttpError> {
        let client = &self.target.profile;
        let id = self.next_id.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let modern_client = (session.era == Era::Modern).then_some(client);
        let sent = sent_params(params, modern_client, id);
        let call = OpenCall::new(client, None, None, patience);
        let answered = self.exchange(session, id, method, sent.params.as_deref(), &call);
        match tokio::time::timeout(patience, answered).await {
            Ok(answer) => answer,
            Err(_) => Err(UpstreamError::Timeout(patience).into()),
        }
    }

    /// Why there is no connection.
    fn refused(&self, error: HttpError) -> ConnectError {
        match self.without_answer(error) {
            Err(error) => error.into(),
            Ok(Err(error)) => {
                let message = format!("it refused the handshake: {}", super::super::handshake::message(&error));
                ConnectError { fault: ServiceFault::Broken, message }
            }
            Ok(Ok(_)) => ConnectError { fault: ServiceFault::Broken, message: "it refused the handshake".into() },
        }
    }
}
