//! What goes on beside the calls of a connection: the stream of a legacy server, and what it is told about calls.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::super::http_client::unreachable;
use super::super::sse_reader::SseReader;
use super::super::subscriptions::{LISTEN, LISTEN_LIMIT, ListenSubscriptions};
use super::super::{ServerAnswer, UpstreamEnd, UpstreamError, UpstreamRequest};
use super::answer_stream::RETRY;
use super::{HttpError, HttpLink, headers};
use crate::era::Era;
use crate::jsonrpc::{self, ServerMessage};
use crate::lifecycle::ServiceFault;

/// How long the end of a session may take to be told.
const GOODBYE: Duration = Duration::from_secs(2);
/// How often in a row the server may not be reachable before the connection counts as lost.
const MAX_FAILURES: u32 = 3;

impl HttpLink {
    /// Runs beside the calls until the connection is closed, then ends the session. Drops `stream_settled` once the
    /// server's own stream is open, or known not to exist.
    pub(super) async fn run(
        self: Arc<Self>,
        subscriptions: Arc<ListenSubscriptions>,
        cancellations: mpsc::Receiver<u64>,
        stream_settled: oneshot::Sender<()>,
        stop: CancellationToken,
    ) {
        let is_legacy = self.session.read().era != Era::Modern;
        let beside = async {
            if is_legacy {
                tokio::join!(self.follow_stream(stream_settled), self.send_cancellations(cancellations));
            } else {
                drop(stream_settled);
                let listen = |params: Box<RawValue>| {
                    let link = self.clone();
                    async move { link.listen(&params).await }
                };
                subscriptions.keep_open(listen, self.calls.acknowledged(), &self.unasked).await;
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            () = beside => stop.cancelled().await,
        }
        self.finish(UpstreamEnd::Closed);
        // A server that does not hear of it forgets the session by itself.
        let _ = tokio::time::timeout(GOODBYE, self.end_session()).await;
    }

    /// Sends a modern server the request that stays open.
    async fn listen(&self, params: &RawValue) -> Result<ServerAnswer, UpstreamError> {
        let (client, patience) = (&self.target.profile, LISTEN_LIMIT);
        let request = UpstreamRequest { method: LISTEN, params: Some(params), client, patience, interjections: None };
        self.call_within(LISTEN_LIMIT, request).await
    }

    async fn send_cancellations(&self, mut cancellations: mpsc::Receiver<u64>) {
        while let Some(id) = cancellations.recv().await {
            let params = RawValue::from_string(format!(r#"{{"requestId":{id}}}"#)).ok();
            let message = jsonrpc::request(None, "notifications/cancelled", params.as_deref());
            let session = self.session.read().clone();
            // If the server cannot be told, its answer is ignored.
            let _ = self.tell(&session, None, message).await;
        }
    }

    /// Follows the server's own stream, if it has one, and connects again when it ends.
    async fn follow_stream(&self, stream_settled: oneshot::Sender<()>) {
        let (mut last_id, mut retry, mut failures) = (None, RETRY, 0);
        let mut stream_settled = Some(stream_settled);
        loop {
            let session = self.session.read().clone();
            let opened = self.get_stream(&session, last_id.as_deref()).await;
            drop(stream_settled.take());
            match opened {
                Ok(response) => {
                    failures = 0;
                    let mut events = SseReader::new(response.bytes_stream().boxed(), self.target.limits.max_payload);
                    self.read_stream(&mut events).await;
                    last_id = events.last_id.or(last_id);
                    retry = events.retry.unwrap_or(retry);
                }
                Err(HttpError::SessionLost(lost)) => {
                    last_id = None;
                    if let Err(error) = self.renew_session(&lost).await {
                        return self.lost(&error);
                    }
                }
                Err(HttpError::Upstream(error @ UpstreamError::Failed(ServiceFault::Unreachable, _))) => {
                    failures += 1;
                    if failures >= MAX_FAILURES {
                        return self.lost(&error);
                    }
                }
                // It has no stream of its own.
                Err(_) => return,
            }
            tokio::time::sleep(retry).await;
        }
    }

    fn lost(&self, error: &UpstreamError) {
        let fault = match error {
            UpstreamError::Failed(fault, _) => *fault,
            UpstreamError::Timeout(_) => ServiceFault::Timeout,
            _ => ServiceFault::Unreachable,
        };
        self.finish(UpstreamEnd::Failed(fault, error.to_string().into()));
    }

    async fn read_stream<S, E>(&self, events: &mut SseReader<S>)
    where
        S: futures::Stream<Item = Result<bytes::Bytes, E>> + Unpin,
        E: std::fmt::Display,
    {
        let mut questions = FuturesUnordered::new();
        loop {
            let event = tokio::select! {
                Some((id, answer)) = questions.next(), if !questions.is_empty() => {
                    let id: Box<RawValue> = id;
                    let session = self.session.read().clone();
                    // A server that is gone needs no answer.
                    let _ = self.respond(&session, &id, &answer).await;
                    continue;
                }
                event = events.next() => event,
            };
            let Ok(Some(event)) = event else { return };
            match jsonrpc::parse(&event.data) {
                Some(ServerMessage::Notification { method, params }) => {
                    self.calls.on_notification(method.into_owned(), params, &self.unasked).await;
                }
                Some(ServerMessage::Request { id, method, params }) => {
                    let id = id.to_owned();
                    questions.push(self.calls.on_request(method.into_owned(), params).map(|answer| (id, answer)));
                }
                Some(ServerMessage::Response { .. }) | None => {}
            }
        }
    }

    async fn end_session(&self) -> Result<(), UpstreamError> {
        let session = self.session.read().clone();
        if session.id.is_none() {
            return Ok(());
        }
        let headers = headers::of_session(&session, true);
        let mut request = self.target.client.delete(self.target.endpoint.clone()).headers(headers);
        if let Some((name, value)) = self.target.auth.header().await? {
            request = request.header(name, value);
        }
        request.send().await.map(drop).map_err(|error| unreachable(&error))
    }
}
