//! A legacy client between `initialize` and its end: what it asked for, what it is asked, and its streams.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use roost_model::ids::ServiceId;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::ANSWER_LIMIT;
use super::log_level::LogLevel;
use super::outlet::{Outlet, ReplayBuffer};
use super::refusal::{INTERNAL_ERROR, McpRefusal};
use super::request::ClientContext;
use super::subscriptions::Subscription;
use super::surface::Surface;
use crate::jsonrpc;
use crate::raw_object::to_raw;
use crate::upstream::{ServerAnswer, Upstream};

/// Requests of one session that may run at once, each with its stream.
const MAX_OPEN_STREAMS: usize = 256;
/// Streams of answered requests that are kept for a client whose connection broke.
const MAX_ENDED_STREAMS: usize = 32;
/// Resources that one client may subscribe to.
pub(super) const MAX_SUBSCRIPTIONS: usize = 1024;

/// A legacy client's session.
pub struct Session {
    /// Random; it counts only together with the same principal.
    pub id: String,
    /// Who the client is and what it sees.
    pub context: Arc<ClientContext>,
    /// Takes what belongs to no request.
    pub(super) general: Outlet,
    log_level: Mutex<Option<LogLevel>>,
    /// Requests to the client that it has not answered yet.
    asked: Mutex<HashMap<u64, oneshot::Sender<ServerAnswer>>>,
    next_request: AtomicU64,
    /// Requests of the client that run, by their ids as it wrote them.
    running: Mutex<HashMap<String, CancellationToken>>,
    pub(super) subscriptions: Mutex<HashMap<String, Subscription>>,
    /// The connections that it used, each with what keeps it from being closed for being idle.
    kept: Mutex<HashMap<ServiceId, KeptConnection>>,
    streams: Mutex<Streams>,
    /// The fingerprint of the list of tools that the client read last; `None` if it has read none.
    tools_read: watch::Sender<Option<u64>>,
    /// Held by the one stream that carries what belongs to no request.
    pub general_reader: Arc<tokio::sync::Mutex<()>>,
    last_used: Mutex<Instant>,
    /// Cancelled when the session ends; everything that runs for it ends then.
    pub ended: CancellationToken,
}

/// A connection that a session used.
struct KeptConnection {
    upstream: Weak<dyn Upstream>,
    _kept: Box<dyn Send + Sync>,
}

/// The streams of requests, by number. Number 0 is the general one.
#[derive(Default)]
struct Streams {
    last: u64,
    open: HashMap<u64, Arc<ReplayBuffer>>,
    /// Those that have ended, the oldest first.
    ended: VecDeque<u64>,
}

impl Session {
    pub(super) fn new(id: String, context: ClientContext, general: Outlet, ended: CancellationToken) -> Self {
        let mut streams = Streams::default();
        if let Outlet::Stream(stream) = &general {
            streams.open.insert(0, stream.clone());
        }
        Self {
            id,
            context: Arc::new(context),
            general,
            log_level: Mutex::default(),
            asked: Mutex::default(),
            next_request: AtomicU64::new(1),
            running: Mutex::default(),
            subscriptions: Mutex::default(),
            kept: Mutex::default(),
            streams: Mutex::new(streams),
            tools_read: watch::Sender::default(),
            general_reader: Arc::default(),
            last_used: Mutex::new(Instant::now()),
            ended,
        }
    }

    /// The level that the client set; all log lines pass until then.
    pub(super) fn log_level(&self) -> LogLevel {
        self.log_level.lock().unwrap_or_default()
    }

    /// The level that modern services are asked for.
    pub(super) fn asked_level(&self) -> LogLevel {
        self.log_level.lock().unwrap_or(LogLevel::Info)
    }

    pub(super) fn set_log_level(&self, level: LogLevel) {
        *self.log_level.lock() = Some(level);
    }

    /// Takes note that the client has read the list of tools, or that nobody waits for that any more.
    pub(super) fn note_tools_read(&self, surface: &Surface) {
        self.tools_read.send_replace(Some(surface.tools_fingerprint()));
    }

    /// Waits until the client has read these tools. One that never read a list reads it when it needs it.
    pub(super) async fn has_read_tools(&self, newest: &Surface) {
        let (mut read, newest) = (self.tools_read.subscribe(), newest.tools_fingerprint());
        tokio::select! {
            // The sender lives as long as we do.
            _ = read.wait_for(|read| read.is_none_or(|read| read == newest)) => {}
            () = self.ended.cancelled() => {}
        }
    }

    pub(super) fn touch(&self) {
        *self.last_used.lock() = Instant::now();
    }

    /// Whether a request of it runs, or its client follows what belongs to none.
    pub(super) fn is_busy(&self) -> bool {
        // A reader holds the lock, and with it a reference.
        !self.running.lock().is_empty() || Arc::strong_count(&self.general_reader) > 1
    }

    pub(super) fn last_used(&self) -> Instant {
        *self.last_used.lock()
    }

    /// Asks the client for something on a service's behalf, and waits for its answer.
    pub(super) async fn ask(&self, outlet: &Outlet, method: &str, params: Option<&RawValue>) -> ServerAnswer {
        let id = self.next_request.fetch_add(1, Ordering::Relaxed);
        let (answered, answer) = oneshot::channel();
        self.asked.lock().insert(id, answered);
        let _question = OpenQuestion { session: self, id };
        outlet.send(message(jsonrpc::request(Some(id), method, params))).await;
        tokio::select! {
            answer = answer => answer.unwrap_or_else(|_| Err(gone())),
            () = self.ended.cancelled() => Err(gone()),
            () = sleep(ANSWER_LIMIT) => {
                let params = to_raw(&json!({ "requestId": id }));
                outlet.send(message(jsonrpc::request(None, "notifications/cancelled", Some(&params)))).await;
                let why = format!("the client did not answer within {} minutes", ANSWER_LIMIT.as_secs() / 60);
                Err(McpRefusal::new(INTERNAL_ERROR, why).to_raw())
            }
        }
    }

    /// Tells the client something that belongs to no request.
    pub(super) async fn tell(&self, method: &str, params: Option<&RawValue>) {
        self.general.send(message(jsonrpc::request(None, method, params))).await;
    }

    /// Tells the client that a list is another one now.
    pub(super) async fn tell_of_list(&self, list: &str) {
        self.tell(&format!("notifications/{list}/list_changed"), None).await;
    }

    /// Takes the client's answer; false if nothing was asked under this id.
    pub(super) fn on_answer(&self, id: u64, answer: ServerAnswer) -> bool {
        let asked = self.asked.lock().remove(&id);
        asked.is_some_and(|asked| asked.send(answer).is_ok())
    }

    /// Takes note of a request that runs; the token is cancelled when the client or the session's end cancels it.
    pub(super) fn begin(self: &Arc<Self>, id: &RawValue) -> RunningRequest {
        let token = self.ended.child_token();
        self.running.lock().insert(id.get().to_owned(), token.clone());
        RunningRequest { session: self.clone(), id: id.get().to_owned(), token }
    }

    /// Cancels a request that runs; nothing happens if it is over.
    pub(super) fn cancel(&self, id: &RawValue) {
        if let Some(token) = self.running.lock().remove(id.get()) {
            token.cancel();
        }
    }

    /// Keeps a subscription until the client ends it or leaves.
    pub(super) fn subscribe(&self, uri: &str, subscription: Subscription) -> Result<(), McpRefusal> {
        let mut all = self.subscriptions.lock();
        if all.len() >= MAX_SUBSCRIPTIONS && !all.contains_key(uri) {
            let why = format!("this client has {MAX_SUBSCRIPTIONS} subscriptions already; end one first");
            return Err(McpRefusal::invalid_params(why));
        }
        all.insert(uri.to_owned(), subscription);
        Ok(())
    }

    /// Keeps a connection to a service, which may remember something of the session, in place of an earlier one.
    pub(super) fn keep_connection(&self, service: &ServiceId, upstream: &Arc<dyn Upstream>) {
        let mut kept = self.kept.lock();
        let is_kept = |kept: &KeptConnection| std::ptr::addr_eq(kept.upstream.as_ptr(), Arc::as_ptr(upstream));
        if !kept.get(service).is_some_and(is_kept) {
            let connection = KeptConnection { upstream: Arc::downgrade(upstream), _kept: upstream.keep() };
            kept.insert(service.clone(), connection);
        }
    }

    /// Lets go of what it has at services, because it has ended.
    pub(super) fn let_go(&self) {
        self.subscriptions.lock().clear();
        self.kept.lock().clear();
    }

    /// A stream for the messages of one request, with its number; `None` if too many requests run already.
    pub fn open_stream(&self) -> Option<(u64, Arc<ReplayBuffer>)> {
        let mut streams = self.streams.lock();
        if streams.open.len().saturating_sub(streams.ended.len()) > MAX_OPEN_STREAMS {
            return None;
        }
        streams.last += 1;
        let (number, stream) = (streams.last, Arc::new(ReplayBuffer::default()));
        streams.open.insert(number, stream.clone());
        Some((number, stream))
    }

    /// The stream of this number, if it is still kept.
    pub fn stream(&self, number: u64) -> Option<Arc<ReplayBuffer>> {
        self.streams.lock().open.get(&number).cloned()
    }

    /// Forgets a stream whose only message is the answer that its client gets.
    pub fn forget_stream(&self, number: u64) {
        let mut streams = self.streams.lock();
        streams.open.remove(&number);
        streams.ended.retain(|ended| *ended != number);
    }

    /// Keeps a stream whose request is over for a while, for a client that did not get all of it.
    pub fn retire_stream(&self, number: u64) {
        let mut streams = self.streams.lock();
        streams.ended.push_back(number);
        if streams.ended.len() > MAX_ENDED_STREAMS
            && let Some(oldest) = streams.ended.pop_front()
        {
            streams.open.remove(&oldest);
        }
    }
}

/// A request of the client that runs; forgotten when it is dropped.
pub(super) struct RunningRequest {
    session: Arc<Session>,
    id: String,
    pub(super) token: CancellationToken,
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.session.running.lock().remove(&self.id);
    }
}

/// A request to the client that it has not answered; forgotten when nobody waits any more.
struct OpenQuestion<'a> {
    session: &'a Session,
    id: u64,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.session.asked.lock().remove(&self.id);
    }
}

fn gone() -> Box<RawValue> {
    McpRefusal::new(INTERNAL_ERROR, "the client is gone").to_raw()
}

/// An encoded message as it is sent.
pub(super) fn message(encoded: Vec<u8>) -> Arc<str> {
    // What serde_json wrote is UTF-8.
    String::from_utf8(encoded).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_profile::ClientProfile;
    use crate::endpoint::View;
    use crate::endpoint::sessions::{IDLE, Sessions};
    use crate::era::{Era, NEWEST_LEGACY};
    use crate::principal::Principal;

    fn session() -> Arc<Session> {
        let era = Era::Legacy(NEWEST_LEGACY.to_owned());
        let profile = ClientProfile { era, capabilities: serde_json::Map::new(), info: None };
        let context = ClientContext { principal: Principal::Local, view: View::All, profile };
        let general = Outlet::Stream(Arc::default());
        Arc::new(Session::new("a".into(), context, general, CancellationToken::new()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_nobody_answers_ends_after_ten_minutes_and_the_client_is_told() {
        let (session, began) = (session(), Instant::now());
        let answer = session.ask(&session.general, "roots/list", None).await.unwrap_err();
        assert!(answer.get().contains("did not answer within 10 minutes"), "{answer}");
        assert_eq!(began.elapsed(), ANSWER_LIMIT);
        let stream = session.stream(0).unwrap();
        stream.end(None);
        let told = stream.last().await.unwrap();
        assert!(told.contains("notifications/cancelled") && told.contains(r#""requestId":1"#), "{told}");
        assert!(!session.on_answer(1, Err(RawValue::NULL.to_owned())), "it is too late to answer");
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_nobody_uses_ends_and_one_whose_request_runs_does_not() {
        let (sessions, session) = (Sessions::default(), session());
        sessions.insert(session.clone());
        let running = session.begin(RawValue::TRUE);
        tokio::time::advance(IDLE).await;
        sessions.end_unused();
        assert!(!session.ended.is_cancelled());
        drop(running);
        sessions.end_unused();
        assert!(session.ended.is_cancelled());
    }
}
