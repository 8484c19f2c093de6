//! One connection of an editor over HTTP: its requests come in by POST, and what Roost sends waits in one queue for each
//! stream that the editor can open with GET.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::{Stream, StreamExt, stream};
use parking_lot::Mutex;
use roost_acp::{MessageSender, ReceivedMessage};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, SemaphorePermit, mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::caller::Caller;

/// Messages that may wait in each queue; beyond it their senders wait.
pub(super) const QUEUE: usize = 64;
/// Connections over HTTP of all editors together.
const MAX_CONNECTIONS: usize = 1024;
/// Streams of one connection: its own and one for each session. The door has at most 128 sessions open.
const MAX_STREAMS: usize = 256;
/// Requests of sessions that are not answered yet.
const MAX_UNANSWERED: usize = 1024;
/// Bodies of one connection that are read at once, because each may have 32 MiB.
const MAX_BODIES: usize = 4;
/// A connection without an open stream or a request for this long is ended: its editor is gone.
const IDLE: Duration = Duration::from_secs(60);
/// A connection whose editor has not read a full queue for this long is ended.
const STALL: Duration = Duration::from_secs(60);

/// A stream of messages to the editor: that of a session, or that of the connection (`None`).
pub(super) type StreamName = Option<String>;

/// The open connections, by their ids.
#[derive(Default)]
pub(crate) struct HttpConnections(Mutex<HashMap<String, Arc<HttpConnection>>>);

impl HttpConnections {
    /// A new connection for this caller; `None` if there are too many.
    pub(super) fn open(&self, caller: &Caller, received: MessageSender) -> Option<Arc<HttpConnection>> {
        let mut all = self.0.lock();
        if all.len() >= MAX_CONNECTIONS {
            return None;
        }
        let connection = Arc::new(HttpConnection::new(caller.account(), received));
        all.insert(connection.id.clone(), connection.clone());
        Some(connection)
    }

    /// The connection of this id, if this caller's device opened it and it has not ended.
    pub(super) fn get(&self, id: &str, caller: &Caller) -> Option<Arc<HttpConnection>> {
        let connection = self.0.lock().get(id).cloned()?;
        (connection.account == caller.account() && !connection.ended.is_cancelled()).then_some(connection)
    }

    pub(super) fn remove(&self, connection: &HttpConnection) {
        self.0.lock().remove(&connection.id);
    }
}

pub(crate) struct HttpConnection {
    /// Random, so nobody can guess it; it counts only together with a token of the same device.
    pub(super) id: String,
    /// Whose connection it is: see [`Caller::account`].
    account: String,
    received: MessageSender,
    bodies: Semaphore,
    streams: Mutex<HashMap<StreamName, MessageQueue>>,
    /// Where requests about a session are answered, by the ids of the requests.
    unanswered: Mutex<HashMap<String, AnswerStream>>,
    /// The number of open streams and of requests that are being read.
    users: watch::Sender<usize>,
    ended: CancellationToken,
}

/// The stream on which a request about a session is answered.
pub(super) enum AnswerStream {
    /// That of the session.
    Session(String),
    /// That of the connection, after the editor has read what waits on the session's stream if that is open.
    ConnectionAfter(String),
}

/// Messages for one stream, whether it is open or not. Whoever has locked the receiver is the stream.
#[derive(Clone)]
struct MessageQueue {
    sender: mpsc::Sender<String>,
    receiver: Arc<tokio::sync::Mutex<mpsc::Receiver<String>>>,
}

impl MessageQueue {
    fn new() -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        Self { sender, receiver: Arc::new(tokio::sync::Mutex::new(receiver)) }
    }

    fn is_needed(&self) -> bool {
        Arc::strong_count(&self.receiver) > 1 || self.sender.capacity() < QUEUE
    }
}

/// Why a stream cannot be opened.
#[derive(Debug)]
pub(super) enum StreamRefusal {
    /// The same stream is open already.
    AlreadyOpen,
    /// The connection has as many streams as it may have.
    TooMany,
}

impl HttpConnection {
    fn new(account: &str, received: MessageSender) -> Self {
        Self {
            id: Uuid::new_v4().to_string(),
            account: account.to_owned(),
            received,
            bodies: Semaphore::new(MAX_BODIES),
            streams: Mutex::default(),
            unanswered: Mutex::default(),
            users: watch::Sender::new(0),
            ended: CancellationToken::new(),
        }
    }

    /// Leave to read one more body; waits while too many are read. `None` never happens, as nobody closes the semaphore.
    pub(super) async fn may_read(&self) -> Option<SemaphorePermit<'_>> {
        self.bodies.acquire().await.ok()
    }

    /// Keeps the connection from being idle until the guard is dropped.
    pub(super) fn enter(self: &Arc<Self>) -> ConnectionUse {
        self.users.send_modify(|users| *users += 1);
        ConnectionUse(self.clone())
    }

    /// Ends the connection with all its streams.
    pub(super) fn end(&self) {
        self.ended.cancel();
    }

    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Passes a message of the editor to the door; `false` if the connection has ended.
    pub(super) async fn deliver(&self, message: Vec<u8>) -> bool {
        tokio::select! {
            biased;
            () = self.ended() => false,
            sent = self.received.send(ReceivedMessage::Text(message)) => sent,
        }
    }

    /// Notes where this request is answered; `false` if too many wait for their answers.
    pub(super) fn expect_answer(&self, request: &Value, stream: AnswerStream) -> bool {
        let mut unanswered = self.unanswered.lock();
        let has_room = unanswered.len() < MAX_UNANSWERED;
        if has_room {
            unanswered.insert(request.to_string(), stream);
        }
        has_room
    }

    /// Opens a stream. What was sent before it was open comes first; the next one can be opened when it is dropped.
    pub(super) fn open_stream(
        self: &Arc<Self>,
        name: &StreamName,
    ) -> Result<impl Stream<Item = String> + use<>, StreamRefusal> {
        let queue = self.queue(name).ok_or(StreamRefusal::TooMany)?;
        let receiver = queue.receiver.try_lock_owned().map_err(|_| StreamRefusal::AlreadyOpen)?;
        let messages = stream::unfold((receiver, self.enter()), |(mut receiver, used)| async move {
            Some((receiver.recv().await?, (receiver, used)))
        });
        Ok(messages.take_until(self.ended.clone().cancelled_owned()))
    }

    /// Passes the door's messages to their streams until there are no more, or the editor reads a stream no longer.
    pub(super) async fn route(&self, mut messages: mpsc::Receiver<String>) {
        while let Some(message) = messages.recv().await {
            let Some(queue) = self.queue(&self.stream_of(&message).await) else {
                tracing::warn!(streams = MAX_STREAMS, "An editor reads too few of its streams; its connection ends.");
                return;
            };
            if !matches!(timeout(STALL, queue.sender.send(message)).await, Ok(Ok(()))) {
                return;
            }
        }
    }

    /// Returns when neither a stream nor a request was there for [`IDLE`].
    pub(super) async fn abandoned(&self) {
        let mut users = self.users.subscribe();
        loop {
            let is_used = *users.borrow_and_update() > 0;
            // The sender is in `self`, so this cannot fail.
            let changed = users.changed();
            if is_used {
                let _ = changed.await;
            } else if timeout(IDLE, changed).await.is_err() {
                return;
            }
        }
    }

    async fn stream_of(&self, message: &str) -> StreamName {
        let head = MessageHead::parse(message.as_bytes()).unwrap_or_default();
        let (None, Some(id)) = (&head.method, &head.id) else { return head.session() };
        let answered = self.unanswered.lock().remove(&id.to_string());
        match answered? {
            AnswerStream::Session(session) => Some(session),
            AnswerStream::ConnectionAfter(session) => {
                self.drained(&Some(session)).await;
                None
            }
        }
    }

    /// Returns when nothing waits on this stream, when it is not open, or after [`STALL`].
    async fn drained(&self, name: &StreamName) {
        let queue = self.streams.lock().get(name).cloned();
        if let Some(queue) = queue
            && queue.receiver.try_lock().is_err()
        {
            // All places can be reserved at once only while they are all free.
            let _ = timeout(STALL, queue.sender.reserve_many(QUEUE)).await;
        }
    }

    /// The queue of a stream, made if there is none; `None` if there are too many.
    fn queue(&self, name: &StreamName) -> Option<MessageQueue> {
        let mut streams = self.streams.lock();
        if streams.len() >= MAX_STREAMS && !streams.contains_key(name) {
            streams.retain(|_, queue| queue.is_needed());
            if streams.len() >= MAX_STREAMS {
                return None;
            }
        }
        Some(streams.entry(name.clone()).or_insert_with(MessageQueue::new).clone())
    }
}

/// Somebody uses the connection for as long as this lives.
#[must_use]
pub(super) struct ConnectionUse(Arc<HttpConnection>);

impl Drop for ConnectionUse {
    fn drop(&mut self) {
        self.0.users.send_modify(|users| *users -= 1);
    }
}

/// What the transport must know of a message.
#[derive(Default, Deserialize)]
pub(super) struct MessageHead<'a> {
    /// Absent in a notification.
    pub(super) id: Option<Value>,
    /// Absent in an answer.
    pub(super) method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl<'a> MessageHead<'a> {
    pub(super) fn parse(message: &'a [u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(message)
    }

    /// The session that the message is about.
    pub(super) fn session(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct SessionName {
            #[serde(rename = "sessionId", alias = "session_id")]
            session_id: String,
        }
        serde_json::from_str::<SessionName>(self.params?.get()).ok().map(|name| name.session_id)
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn connection() -> (Arc<HttpConnection>, roost_acp::MessageReceiver) {
        let (received, incoming) = roost_acp::message_queue(QUEUE);
        (Arc::new(HttpConnection::new("device", received)), incoming)
    }

    async fn route(connection: &HttpConnection, messages: &[&str]) {
        let (outgoing, routed) = mpsc::channel(QUEUE);
        for message in messages {
            outgoing.send((*message).to_owned()).await.unwrap();
        }
        drop(outgoing);
        connection.route(routed).await;
    }

    #[tokio::test]
    async fn each_message_goes_to_the_stream_that_it_belongs_to() {
        let (connection, _incoming) = connection();
        assert!(connection.expect_answer(&Value::from(7), AnswerStream::Session("a".into())));
        let update = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{}}}"#;
        let question = r#"{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"b"}}"#;
        let (answer, other) = (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, r#"{"jsonrpc":"2.0","id":8,"result":{}}"#);
        route(&connection, &[update, question, other, answer]).await;
        for (name, expected) in
            [(Some("a".to_owned()), vec![update, answer]), (Some("b".to_owned()), vec![question]), (None, vec![other])]
        {
            let stream = connection.open_stream(&name).unwrap_or_else(|refusal| panic!("{refusal:?}"));
            let read: Vec<_> = stream.take(expected.len()).collect().await;
            assert_eq!(read, expected, "{name:?}");
        }
    }

    #[tokio::test]
    async fn a_session_is_loaded_when_its_replay_has_been_read() {
        let (connection, _incoming) = connection();
        assert!(connection.expect_answer(&Value::from(7), AnswerStream::ConnectionAfter("a".into())));
        let replayed = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{}}}"#;
        let loaded = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
        let mut session = Box::pin(connection.open_stream(&Some("a".into())).ok().unwrap());
        let mut own = Box::pin(connection.open_stream(&None).ok().unwrap());
        let messages = [replayed, loaded];
        let mut routing = Box::pin(route(&connection, &messages));
        assert!(routing.as_mut().now_or_never().is_none());
        assert!(own.next().now_or_never().is_none());
        assert_eq!(session.next().await.as_deref(), Some(replayed));
        routing.await;
        assert_eq!(own.next().await.as_deref(), Some(loaded));
    }

    #[tokio::test]
    async fn a_stream_is_open_once_and_can_be_opened_again_after_it_was_dropped() {
        let (connection, _incoming) = connection();
        let first = connection.open_stream(&None).unwrap_or_else(|refusal| panic!("{refusal:?}"));
        assert!(matches!(connection.open_stream(&None).err(), Some(StreamRefusal::AlreadyOpen)));
        drop(first);
        assert!(connection.open_stream(&None).is_ok());
    }

    #[tokio::test]
    async fn streams_are_bounded_and_those_that_nobody_needs_make_room() {
        let (connection, _incoming) = connection();
        let open = |number: usize| connection.open_stream(&Some(number.to_string()));
        let mut streams: Vec<_> = (0..MAX_STREAMS).map(|number| open(number).ok().unwrap()).collect();
        assert!(matches!(open(MAX_STREAMS).err(), Some(StreamRefusal::TooMany)));
        streams.pop();
        assert!(open(MAX_STREAMS).is_ok());
    }

    #[tokio::test]
    async fn the_end_of_a_connection_ends_its_streams() {
        let (connection, _incoming) = connection();
        let stream = connection.open_stream(&None).unwrap_or_else(|refusal| panic!("{refusal:?}"));
        connection.end();
        assert_eq!(stream.collect::<Vec<_>>().await, Vec::<String>::new());
        assert!(!connection.deliver(Vec::new()).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_abandoned_when_nobody_used_it_for_a_minute() {
        let (connection, _incoming) = connection();
        let begun = tokio::time::Instant::now();
        let stream = connection.open_stream(&None).ok();
        assert!(timeout(IDLE * 10, connection.abandoned()).await.is_err());
        drop(stream);
        connection.abandoned().await;
        assert_eq!(begun.elapsed(), IDLE * 11);
    }

    #[tokio::test(start_paused = true)]
    async fn routing_waits_for_a_slow_reader_and_ends_when_nobody_reads() {
        let (connection, _incoming) = connection();
        let (outgoing, messages) = mpsc::channel(QUEUE * 2);
        for _ in 0..=QUEUE {
            outgoing.send("{}".to_owned()).await.unwrap();
        }
        let mut routing = Box::pin(connection.route(messages));
        assert!(timeout(STALL / 2, &mut routing).await.is_err());
        let mut stream = Box::pin(connection.open_stream(&None).ok().unwrap());
        assert!(stream.next().await.is_some());
        outgoing.send("{}".to_owned()).await.unwrap();
        assert!(timeout(STALL / 2, &mut routing).await.is_err());
        assert!(routing.as_mut().now_or_never().is_none());
        routing.await;
    }
}
