//! Servers of 2024: one stream of events from the server, and a second address to which messages are posted.

use std::sync::Arc;

use futures::FutureExt;
use futures::stream::{BoxStream, FuturesUnordered, StreamExt};
use reqwest::Response;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::connector::{ConnectError, Connected, KnownEra, introduce};
use super::http::HttpTarget;
use super::http_client::{redirected, unreachable};
use super::peer::{PeerChannels, Received, ServerPeer};
use super::peer_upstream::{PeerUpstream, Transport};
use super::service_log::LogSource;
use super::sse_reader::SseReader;
use super::{UpstreamEnd, UpstreamError};
use crate::jsonrpc::{self, ServerMessage};
use crate::lifecycle::ServiceFault;

/// Requests that may be on their way to the server at once.
const MAX_POSTS: usize = 64;

type Events = SseReader<BoxStream<'static, reqwest::Result<bytes::Bytes>>>;

/// Connects to a server and does the handshake.
pub(super) async fn connect(target: HttpTarget) -> Result<Connected, ConnectError> {
    let limits = target.limits;
    let opened = timeout(limits.timeout, open(&target)).await;
    let (events, post_address) = opened.unwrap_or(Err(UpstreamError::Timeout(limits.timeout)))?;
    let (peer, PeerChannels { outgoing, unasked }) = ServerPeer::new(limits, target.queue.clone());
    let client = target.profile.clone();
    let transport = Transport::spawn(|stop| run(target, peer.clone(), events, post_address, outgoing, stop));
    let profile = introduce(&peer, &client, Some(KnownEra::Legacy)).await.map_err(|error| error.into_inner())?;
    let upstream = PeerUpstream::new(peer, profile, &client, transport).await;
    Ok(Connected { upstream: Arc::new(upstream), unasked })
}

/// Opens the stream and waits for the address to which messages are posted.
async fn open(target: &HttpTarget) -> Result<(Events, Url), UpstreamError> {
    let broken = |message: String| UpstreamError::Failed(ServiceFault::Broken, message.into());
    let mut request = target.client.get(target.endpoint.clone()).header(ACCEPT, "text/event-stream");
    if let Some((name, value)) = target.auth.header().await? {
        request = request.header(name, value);
    }
    let response = request.send().await.map_err(|error| unreachable(&error))?;
    let response = checked(target, response)?;
    let mut events = SseReader::new(response.bytes_stream().boxed(), target.limits.max_payload);
    let first = events.next().await.ok().flatten().filter(|event| event.name == "endpoint");
    let Some(first) = first else {
        return Err(broken("its stream does not begin with the address for messages".into()));
    };
    let address = String::from_utf8_lossy(&first.data);
    let address = target.endpoint.join(address.trim()).map_err(|error| broken(format!("{address:?}: {error}")))?;
    match address.origin() == target.endpoint.origin() {
        true => Ok((events, address)),
        false => Err(broken(format!(
            "it wants messages to be sent to another server: {}",
            address.origin().ascii_serialization()
        ))),
    }
}

fn checked(target: &HttpTarget, response: Response) -> Result<Response, UpstreamError> {
    let status = response.status();
    if let Some(redirected) = redirected(&response) {
        return Err(redirected);
    }
    match status.as_u16() {
        200..=299 => Ok(response),
        401 | 403 => Err(UpstreamError::Failed(ServiceFault::Unauthorized, target.auth.refused(status).into())),
        502..=504 => Err(UpstreamError::Failed(
            ServiceFault::Unreachable,
            format!("it answered with HTTP status {status}").into(),
        )),
        _ => Err(UpstreamError::Failed(ServiceFault::Broken, format!("it answered with HTTP status {status}").into())),
    }
}

/// Carries the messages of a peer until the stream ends or the transport is closed.
async fn run(
    target: HttpTarget,
    peer: Arc<ServerPeer>,
    events: Events,
    post_address: Url,
    outgoing: mpsc::Receiver<Vec<u8>>,
    stop: CancellationToken,
) {
    let end = tokio::select! {
        () = stop.cancelled() => UpstreamEnd::Closed,
        reason = post(&target, &peer, post_address, outgoing) => UpstreamEnd::Failed(ServiceFault::Unreachable, reason.into()),
        reason = read(&target, &peer, events) => UpstreamEnd::Failed(ServiceFault::Unreachable, reason.into()),
    };
    peer.end(end);
}

/// Posts messages until the connection is closed, and says so. What cannot be posted fails its own call only.
async fn post(target: &HttpTarget, peer: &ServerPeer, address: Url, mut outgoing: mpsc::Receiver<Vec<u8>>) -> String {
    let (mut posts, address) = (FuturesUnordered::new(), &address);
    loop {
        let message = tokio::select! {
            Some(()) = posts.next(), if !posts.is_empty() => continue,
            message = outgoing.recv(), if posts.len() < MAX_POSTS => message,
        };
        let Some(message) = message else { return "its connection was closed".into() };
        let request = match jsonrpc::parse(&message) {
            Some(ServerMessage::Request { id, .. }) => id.get().parse().ok(),
            _ => None,
        };
        let posting = async move {
            if let Err(error) = post_one(target, address, message).await {
                match request {
                    Some(id) => peer.fail(id, error),
                    None => target.log.line(LogSource::Gateway, &format!("did not take a message: {error}")),
                }
            }
        };
        if request.is_some() {
            posts.push(posting);
            continue;
        }
        // What is no request keeps its place before what follows: servers want to hear first that the handshake is over.
        let mut posting = std::pin::pin!(posting);
        loop {
            tokio::select! {
                () = &mut posting => break,
                Some(()) = posts.next(), if !posts.is_empty() => {}
            }
        }
    }
}

async fn post_one(target: &HttpTarget, address: &Url, message: Vec<u8>) -> Result<(), UpstreamError> {
    let mut request = target.client.post(address.clone()).header(CONTENT_TYPE, "application/json").body(message);
    if let Some((name, value)) = target.auth.header().await? {
        request = request.header(name, value);
    }
    match timeout(target.limits.timeout, request.send()).await {
        Ok(Ok(response)) => checked(target, response).map(drop),
        Ok(Err(error)) => Err(unreachable(&error)),
        Err(_) => Err(UpstreamError::Timeout(target.limits.timeout)),
    }
}

/// Reads messages until the stream ends, and says why.
async fn read(target: &HttpTarget, peer: &ServerPeer, mut events: Events) -> String {
    let mut questions = FuturesUnordered::new();
    loop {
        let event = tokio::select! {
            Some((id, answer)) = questions.next(), if !questions.is_empty() => {
                let id: Box<RawValue> = id;
                peer.respond(&id, &answer).await;
                continue;
            }
            event = events.next() => event,
        };
        match event {
            Ok(Some(event)) => match peer.on_message(&event.data).await {
                Received::Question { id, answer } => questions.push(answer.map(|answer| (id, answer))),
                Received::Taken | Received::QuestionWithdrawn(_) => {}
                Received::NotProtocol => {
                    target.log.line(LogSource::Gateway, "skipped an event that is no message of MCP");
                }
            },
            Ok(None) => return "it closed its stream".into(),
            Err(error) => return format!("its stream cannot be read: {error:?}"),
        }
    }
}
