//! One connection to a server: many calls at once, each answered or failed exactly once.
//!
//! The transport below brings the server's messages and takes ours; it may be a program's pipes or HTTP. Results pass as
//! the bytes that came, so nothing that a server says is lost or written in another way.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;

use crate::jsonrpc::{self, ServerMessage};

/// Notifications and requests of a server that may wait; beyond it the server is not read.
const INBOX: usize = 64;

/// What a server answered: its result or its error object, as it wrote them.
pub type ServerAnswer = Result<Box<RawValue>, Box<RawValue>>;

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// It took too long.
    #[error("the service did not answer within {0:?}")]
    Timeout(Duration),
    /// The connection has ended, and why.
    #[error("the service is gone: {0}")]
    Gone(Arc<str>),
    /// Too many calls are waiting for their turn.
    #[error("{0} calls are waiting for the service already; try again later")]
    Busy(usize),
}

/// What a server says unasked.
#[derive(Debug)]
pub struct FromServer {
    /// The id to answer under; `None` if no answer is wanted.
    pub id: Option<Box<RawValue>>,
    /// What it is about.
    pub method: String,
    /// Its parameters, if it has some.
    pub params: Option<Box<RawValue>>,
}

/// The way to one server; clones share it.
#[derive(Clone)]
pub struct UpstreamPeer(Arc<Shared>);

struct Shared {
    outgoing: mpsc::Sender<Vec<u8>>,
    inbox: mpsc::Sender<FromServer>,
    next_id: AtomicU64,
    calls: Mutex<OpenCalls>,
    /// One permit for each call that may be under way.
    running: Semaphore,
    /// One permit for each call that runs or waits.
    admitted: Semaphore,
    max_waiting: usize,
}

/// The calls that are not answered yet; after the end, why there are no more.
enum OpenCalls {
    Open(HashMap<u64, oneshot::Sender<ServerAnswer>>),
    Ended(Arc<str>),
}

impl UpstreamPeer {
    /// A connection whose transport takes messages from the first receiver; what the server says unasked is in the second.
    /// At most `max_running` calls are under way, and `max_waiting` more wait for their turn.
    pub fn new(max_running: usize, max_waiting: usize) -> (Self, mpsc::Receiver<Vec<u8>>, mpsc::Receiver<FromServer>) {
        let (outgoing, to_transport) = mpsc::channel(max_running.max(1));
        let (inbox, from_server) = mpsc::channel(INBOX);
        let shared = Shared {
            outgoing,
            inbox,
            next_id: AtomicU64::new(1),
            calls: Mutex::new(OpenCalls::Open(HashMap::new())),
            running: Semaphore::new(max_running),
            admitted: Semaphore::new(max_running + max_waiting),
            max_waiting,
        };
        (Self(Arc::new(shared)), to_transport, from_server)
    }

    /// Calls a method. If nobody waits for the answer any more, the server is told that it need not go on.
    pub async fn call(
        &self,
        method: &str,
        params: Option<&RawValue>,
        patience: Duration,
    ) -> Result<ServerAnswer, UpstreamError> {
        let shared = &self.0;
        let _admitted = shared.admitted.try_acquire().map_err(|_| UpstreamError::Busy(shared.max_waiting))?;
        let answered = timeout(patience, async {
            // The semaphore is never closed.
            let _running = shared.running.acquire().await;
            let mut call = self.begin()?;
            let request = jsonrpc::request(Some(call.id), method, params);
            if shared.outgoing.send(request).await.is_err() {
                return Err(self.gone());
            }
            let answer = (&mut call.answer).await;
            call.is_over = true;
            answer.map_err(|_| self.gone())
        });
        answered.await.unwrap_or(Err(UpstreamError::Timeout(patience)))
    }

    /// Tells the server something that it does not answer.
    pub async fn notify(&self, method: &str, params: Option<&RawValue>) -> Result<(), UpstreamError> {
        let sent = self.0.outgoing.send(jsonrpc::request(None, method, params)).await;
        sent.map_err(|_| self.gone())
    }

    /// Answers a request of the server.
    pub async fn respond(&self, id: &RawValue, answer: Result<&RawValue, &RawValue>) -> Result<(), UpstreamError> {
        let sent = self.0.outgoing.send(jsonrpc::response(id, answer)).await;
        sent.map_err(|_| self.gone())
    }

    /// Takes a message of the server from the transport. False if it is no message of the protocol.
    pub async fn on_message(&self, text: &[u8]) -> bool {
        let copied = |params: Option<&RawValue>| params.map(ToOwned::to_owned);
        let unasked = match jsonrpc::parse(text) {
            None => return false,
            Some(ServerMessage::Response { id, answer }) => {
                let answer = answer.map(ToOwned::to_owned).map_err(ToOwned::to_owned);
                if let OpenCalls::Open(calls) = &mut *self.0.calls.lock()
                    && let Some(waiting) = calls.remove(&id)
                {
                    // Whoever waits no longer does not mind.
                    let _ = waiting.send(answer);
                }
                return true;
            }
            Some(ServerMessage::Notification { method, params }) => {
                FromServer { id: None, method: method.into_owned(), params: copied(params) }
            }
            Some(ServerMessage::Request { id, method, params }) => {
                FromServer { id: Some(id.to_owned()), method: method.into_owned(), params: copied(params) }
            }
        };
        // Nobody listens any more when the connection is being closed.
        let _ = self.0.inbox.send(unasked).await;
        true
    }

    /// Ends the connection: every open call fails with the reason, and every later one.
    pub fn end(&self, reason: impl Into<Arc<str>>) {
        let mut calls = self.0.calls.lock();
        if let OpenCalls::Open(_) = &*calls {
            *calls = OpenCalls::Ended(reason.into());
        }
    }

    fn begin(&self) -> Result<OpenCall<'_>, UpstreamError> {
        let id = self.0.next_id.fetch_add(1, Ordering::Relaxed);
        let (waiting, answer) = oneshot::channel();
        match &mut *self.0.calls.lock() {
            OpenCalls::Open(calls) => calls.insert(id, waiting),
            OpenCalls::Ended(reason) => return Err(UpstreamError::Gone(reason.clone())),
        };
        Ok(OpenCall { peer: self, id, answer, is_over: false })
    }

    fn gone(&self) -> UpstreamError {
        match &*self.0.calls.lock() {
            OpenCalls::Ended(reason) => UpstreamError::Gone(reason.clone()),
            OpenCalls::Open(_) => UpstreamError::Gone("its connection was closed".into()),
        }
    }
}

/// A call that is under way. Dropping it before its answer came cancels it.
struct OpenCall<'a> {
    peer: &'a UpstreamPeer,
    id: u64,
    answer: oneshot::Receiver<ServerAnswer>,
    is_over: bool,
}

impl Drop for OpenCall<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        if let OpenCalls::Open(calls) = &mut *self.peer.0.calls.lock() {
            calls.remove(&self.id);
        }
        let params = RawValue::from_string(format!(r#"{{"requestId":{}}}"#, self.id)).ok();
        let note = jsonrpc::request(None, "notifications/cancelled", params.as_deref());
        // A server that takes no messages now does not hear of it; its answer is then ignored.
        let _ = self.peer.0.outgoing.try_send(note);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn raw(value: &Value) -> Box<RawValue> {
        serde_json::value::to_raw_value(value).unwrap()
    }

    async fn sent(transport: &mut mpsc::Receiver<Vec<u8>>) -> Value {
        serde_json::from_slice(&transport.recv().await.unwrap()).unwrap()
    }

    #[tokio::test]
    async fn answers_reach_their_calls_in_any_order_and_as_they_were_written() {
        let (peer, mut transport, _) = UpstreamPeer::new(8, 0);
        let one = tokio::spawn({
            let peer = peer.clone();
            async move { peer.call("one", None, PATIENCE).await }
        });
        let first = sent(&mut transport).await;
        let other = tokio::spawn({
            let peer = peer.clone();
            async move { peer.call("other", Some(&raw(&json!({ "a": 1 }))), PATIENCE).await }
        });
        let second = sent(&mut transport).await;
        assert_eq!(second, json!({ "jsonrpc": "2.0", "id": second["id"], "method": "other", "params": { "a": 1 } }));
        assert!(peer.on_message(format!(r#"{{"id":{},"result":{{"z": 1.50}} }}"#, second["id"]).as_bytes()).await);
        assert!(peer.on_message(format!(r#"{{"id":{},"error":{{"code":-1}}}}"#, first["id"]).as_bytes()).await);
        assert_eq!(other.await.unwrap().unwrap().unwrap().get(), r#"{"z": 1.50}"#);
        assert_eq!(one.await.unwrap().unwrap().unwrap_err().get(), r#"{"code":-1}"#);
    }

    #[tokio::test]
    async fn an_end_fails_every_open_and_later_call_with_its_reason() {
        let (peer, mut transport, _) = UpstreamPeer::new(8, 0);
        let open = tokio::spawn({
            let peer = peer.clone();
            async move { peer.call("a", None, PATIENCE).await }
        });
        sent(&mut transport).await;
        peer.end("it crashed");
        peer.end("a second reason");
        let gone = UpstreamError::Gone("it crashed".into());
        assert_eq!(open.await.unwrap().unwrap_err(), gone);
        assert_eq!(peer.call("b", None, PATIENCE).await.unwrap_err(), gone);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_takes_too_long_fails_and_is_cancelled() {
        let (peer, mut transport, _) = UpstreamPeer::new(8, 0);
        let failed = peer.call("slow", None, Duration::from_secs(1)).await.unwrap_err();
        assert_eq!(failed, UpstreamError::Timeout(Duration::from_secs(1)));
        let id = sent(&mut transport).await["id"].clone();
        let note = sent(&mut transport).await;
        assert_eq!((&note["method"], &note["params"]["requestId"]), (&json!("notifications/cancelled"), &id));
        assert!(peer.on_message(format!(r#"{{"id":{id},"result":1}}"#).as_bytes()).await, "a late answer is ignored");
    }

    #[tokio::test]
    async fn calls_wait_for_their_turn_and_too_many_are_refused() {
        let (peer, mut transport, _) = UpstreamPeer::new(1, 1);
        let call = |method: &'static str| {
            let peer = peer.clone();
            tokio::spawn(async move { peer.call(method, None, PATIENCE).await })
        };
        let first = call("first");
        let id = sent(&mut transport).await["id"].clone();
        let second = call("second");
        tokio::task::yield_now().await;
        assert_eq!(peer.call("third", None, PATIENCE).await.unwrap_err(), UpstreamError::Busy(1));
        assert!(transport.try_recv().is_err(), "the second waits");
        peer.on_message(format!(r#"{{"id":{id},"result":1}}"#).as_bytes()).await;
        first.await.unwrap().unwrap().unwrap();
        assert_eq!(sent(&mut transport).await["method"], "second");
        second.abort();
    }

    #[tokio::test]
    async fn what_the_server_says_unasked_is_passed_on_and_can_be_answered() {
        let (peer, mut transport, mut inbox) = UpstreamPeer::new(1, 0);
        assert!(peer.on_message(br#"{"method":"notifications/progress","params":{"x":1}}"#).await);
        assert!(peer.on_message(br#"{"id":"q","method":"roots/list"}"#).await);
        assert!(!peer.on_message(b"listening on port 3000").await);
        let note = inbox.recv().await.unwrap();
        assert_eq!((note.method.as_str(), note.params.unwrap().get()), ("notifications/progress", r#"{"x":1}"#));
        let request = inbox.recv().await.unwrap();
        peer.respond(&request.id.unwrap(), Ok(&raw(&json!({ "roots": [] })))).await.unwrap();
        assert_eq!(sent(&mut transport).await, json!({ "jsonrpc": "2.0", "id": "q", "result": { "roots": [] } }));
    }
}
