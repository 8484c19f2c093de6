//! One connection over which messages of all calls pass side by side: a program's pipes, or the transport of 2024.
//!
//! Each call is answered or failed exactly once. Results pass as the bytes that came, so nothing that a server says is
//! lost or written in another way.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot, watch};

use super::call_limiter::CallQueue;
use super::limits::ServiceLimits;
use super::open_call::OpenCall;
use super::open_calls::OpenCalls;
use super::request_params::sent_params;
use super::{FromServer, ServerAnswer, UpstreamEnd, UpstreamError, UpstreamRequest, bypasses_queue};
use crate::client_profile::ClientProfile;
use crate::jsonrpc::{self, ServerMessage};

/// Notifications of a server that may wait to be taken; beyond it the server is not read.
const UNASKED: usize = 64;
/// Messages to a server that may wait until it reads them.
const OUTGOING: usize = 64;

/// The calls of one connection.
pub(super) struct ServerPeer {
    outgoing: mpsc::Sender<Vec<u8>>,
    unasked: mpsc::Sender<FromServer>,
    next_id: AtomicU64,
    calls: OpenCalls,
    answers: Mutex<Answers>,
    limits: ServiceLimits,
    queue: CallQueue,
    end: watch::Sender<Option<UpstreamEnd>>,
}

/// What a transport takes from its peer: the messages to the server, and what the server says outside of calls.
pub(super) struct PeerChannels {
    pub(super) outgoing: mpsc::Receiver<Vec<u8>>,
    pub(super) unasked: mpsc::Receiver<FromServer>,
}

/// Who waits for an answer, by the id of the call; after the end, why nobody does any more.
enum Answers {
    Awaited(HashMap<u64, oneshot::Sender<Result<ServerAnswer, UpstreamError>>>),
    Ended(Arc<str>),
}

/// What became of a message of the server.
pub(super) enum Received {
    /// It reached whom it was for, or nobody waits for it any more.
    Taken,
    /// It is a request; its answer is to be sent with [`ServerPeer::respond`].
    Question { id: Box<RawValue>, answer: BoxFuture<'static, ServerAnswer> },
    /// The server takes back one of its requests.
    QuestionWithdrawn(Box<RawValue>),
    /// It is no message of the protocol.
    NotProtocol,
}

impl ServerPeer {
    pub(super) fn new(limits: ServiceLimits, queue: CallQueue) -> (Arc<Self>, PeerChannels) {
        let (outgoing, to_server) = mpsc::channel(OUTGOING);
        let (unasked, from_server) = mpsc::channel(UNASKED);
        let peer = Self {
            outgoing,
            unasked,
            next_id: AtomicU64::new(1),
            calls: OpenCalls::default(),
            answers: Mutex::new(Answers::Awaited(HashMap::new())),
            limits,
            queue,
            end: watch::Sender::new(None),
        };
        (Arc::new(peer), PeerChannels { outgoing: to_server, unasked: from_server })
    }

    /// Whether the server has said that it reports the changes that we asked for.
    pub(super) fn acknowledged(&self) -> watch::Receiver<bool> {
        self.calls.acknowledged()
    }

    /// Takes what is said outside of calls.
    pub(super) fn unasked(&self) -> mpsc::Sender<FromServer> {
        self.unasked.clone()
    }

    /// Calls a method. If nobody waits for the answer any more, the server is told that it need not go on. A modern
    /// server is told who asks.
    pub(super) async fn call(
        &self,
        request: UpstreamRequest<'_>,
        modern_client: Option<&ClientProfile>,
    ) -> Result<ServerAnswer, UpstreamError> {
        let limit = self.limits.patience(request.patience);
        self.call_within(limit, request, modern_client).await
    }

    /// Calls a method that may take longer than the service's own limit, such as the first one of a program.
    pub(super) async fn call_within(
        &self,
        limit: Duration,
        request: UpstreamRequest<'_>,
        modern_client: Option<&ClientProfile>,
    ) -> Result<ServerAnswer, UpstreamError> {
        self.limits.check_request(request.params)?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let sent = sent_params(request.params, modern_client, id);
        let call = OpenCall::new(request.client, request.interjections, sent.progress_token, limit);
        let call = self.calls.open(id, call);
        let is_running = AtomicBool::new(false);
        let answered = async {
            if !bypasses_queue(request.method) {
                call.take_turn(&self.queue).await?;
            }
            is_running.store(true, Ordering::Relaxed);
            let mut pending = self.begin(id)?;
            let message = jsonrpc::request(Some(id), request.method, sent.params.as_deref());
            self.outgoing.send(message).await.map_err(|_| self.gone())?;
            let answer = (&mut pending.answer).await;
            pending.is_over = true;
            answer.unwrap_or_else(|_| Err(self.gone()))
        };
        tokio::select! {
            biased;
            answer = answered => answer,
            () = call.deadline.is_over() => match is_running.load(Ordering::Relaxed) {
                true => Err(UpstreamError::Timeout(call.deadline.limit())),
                false => Err(UpstreamError::QueueTimeout(call.deadline.limit())),
            },
        }
    }

    /// Tells the server something that it does not answer.
    pub(super) async fn notify(&self, method: &str, params: Option<&RawValue>) -> Result<(), UpstreamError> {
        self.limits.check_request(params)?;
        self.outgoing.send(jsonrpc::request(None, method, params)).await.map_err(|_| self.gone())
    }

    /// Answers a request of the server.
    pub(super) async fn respond(&self, id: &RawValue, answer: &ServerAnswer) {
        let answer = answer.as_deref().map_err(|error| &**error);
        // A server that is gone needs no answer.
        let _ = self.outgoing.send(jsonrpc::response(id, answer)).await;
    }

    /// Takes a message of the server from the transport.
    pub(super) async fn on_message(&self, text: &[u8]) -> Received {
        match jsonrpc::parse(text) {
            None => Received::NotProtocol,
            Some(ServerMessage::Response { id, answer }) => {
                let answer = answer.map(ToOwned::to_owned).map_err(ToOwned::to_owned);
                self.finish(id, Ok(answer));
                Received::Taken
            }
            Some(ServerMessage::Notification { method, params }) => {
                if method == "notifications/cancelled"
                    && let Some(id) = jsonrpc::cancelled_id(params)
                {
                    return Received::QuestionWithdrawn(id);
                }
                self.calls.on_notification(method.into_owned(), params, &self.unasked).await;
                Received::Taken
            }
            Some(ServerMessage::Request { id, method, params }) => {
                Received::Question { id: id.to_owned(), answer: self.calls.on_request(method.into_owned(), params) }
            }
        }
    }

    /// Takes note of an answer that was too long to be read. False if no call can be told from its ends.
    pub(super) fn on_oversized(&self, bytes: u64, start: &[u8], end: &[u8]) -> bool {
        let id = jsonrpc::id_at_start(start).or_else(|| jsonrpc::id_at_end(end));
        id.is_some_and(|id| self.finish(id, Err(self.limits.too_long(bytes))))
    }

    /// Fails a call whose request did not reach the server; nothing happens if it is over.
    pub(super) fn fail(&self, id: u64, error: UpstreamError) {
        self.finish(id, Err(error));
    }

    /// Ends the connection: every open call fails with the reason, and every later one.
    pub(super) fn end(&self, end: UpstreamEnd) {
        let reason: Arc<str> = match &end {
            UpstreamEnd::Closed => "its connection was closed".into(),
            UpstreamEnd::Exited => "its program has ended".into(),
            UpstreamEnd::Failed(_, reason) => reason.clone(),
        };
        let awaited = {
            let mut answers = self.answers.lock();
            match &*answers {
                Answers::Awaited(_) => std::mem::replace(&mut *answers, Answers::Ended(reason)),
                Answers::Ended(_) => return,
            }
        };
        self.end.send_replace(Some(end));
        // Whoever waits for an answer learns of the end when its sender is dropped.
        drop(awaited);
    }

    /// Returns when the connection has ended, and why.
    pub(super) async fn ended(&self) -> UpstreamEnd {
        let mut end = self.end.subscribe();
        // The sender lives as long as we do.
        end.wait_for(Option::is_some).await.ok().and_then(|end| end.clone()).unwrap_or(UpstreamEnd::Closed)
    }

    /// Gives a call its outcome. False if nobody waits for it.
    fn finish(&self, id: u64, outcome: Result<ServerAnswer, UpstreamError>) -> bool {
        let waiting = match &mut *self.answers.lock() {
            Answers::Awaited(answers) => answers.remove(&id),
            Answers::Ended(_) => None,
        };
        waiting.is_some_and(|waiting| waiting.send(outcome).is_ok())
    }

    fn begin(&self, id: u64) -> Result<PendingAnswer<'_>, UpstreamError> {
        let (waiting, answer) = oneshot::channel();
        match &mut *self.answers.lock() {
            Answers::Awaited(answers) => answers.insert(id, waiting),
            Answers::Ended(reason) => return Err(UpstreamError::Gone(reason.clone())),
        };
        Ok(PendingAnswer { peer: self, id, answer, is_over: false })
    }

    fn gone(&self) -> UpstreamError {
        match &*self.answers.lock() {
            Answers::Ended(reason) => UpstreamError::Gone(reason.clone()),
            Answers::Awaited(_) => UpstreamError::Gone("its connection was closed".into()),
        }
    }
}

/// The answer that a call waits for. Dropping it before the answer came cancels the call.
struct PendingAnswer<'a> {
    peer: &'a ServerPeer,
    id: u64,
    answer: oneshot::Receiver<Result<ServerAnswer, UpstreamError>>,
    is_over: bool,
}

impl Drop for PendingAnswer<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        if let Answers::Awaited(answers) = &mut *self.peer.answers.lock() {
            answers.remove(&self.id);
        }
        let params = RawValue::from_string(format!(r#"{{"requestId":{}}}"#, self.id)).ok();
        let note = jsonrpc::request(None, "notifications/cancelled", params.as_deref());
        // A server that takes no messages now does not hear of it; its answer is then ignored.
        let _ = self.peer.outgoing.try_send(note);
    }
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
