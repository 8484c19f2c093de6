//! One connection, whatever carries it: what the client asked for and follows, and its calls as they run.
//!
//! Decisions:
//! * Every call is a task of its own. Those that change a session run in the order in which they came, session by
//!   session; the rest overtake each other freely.
//! * A client that is gone cancels what only reads. A command runs on, owned by the door.
//! * Replies wait for room, so none is ever lost; events wait in their feed, which is a position in the log.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use axum::extract::ws::Utf8Bytes;
use futures::FutureExt;
use parking_lot::{Mutex, MutexGuard};
use roost_model::time::Timestamp;
use roost_rpc::{CallOrder, Cost, Fault, FaultCode, Method, Response, RpcCall, RpcFrame};
use serde_json::{Value, json};
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::approval_panels::ShownRequest;
use crate::call_order::{CallQueues, QueueTurn};
use crate::caller::Caller;
use crate::dispatch::{Context, PreparedCall, ResolvedSession, dispatch};
use crate::feed::Feeds;
use crate::host::Host;
use crate::live_workspaces::LiveFeed;
use crate::notification_cache::ShownChange;
use crate::response_frame::{bounded, encode_batch};
use crate::searches::Searches;
use crate::session_clients::ServingConnection;

/// Frames that wait to be written at most.
const OUT: usize = 64;
/// Bytes that wait to be written at most; one message of any size always may. A client that does not read must not cost
/// more than this, for there may be many.
const OUT_BYTES: usize = 256 << 10;
/// Calls of one client that run at once; the next one is read when one has ended.
const CALLS: usize = 64;

/// Approvals and questions of one session that a client is remembered to have been shown.
const SHOWN: usize = 64;

/// The close code of a connection whose client called `shutdown`.
const NORMAL: u16 = 1000;

/// An item of a connection's write queue.
pub(crate) enum Outgoing {
    /// A message, and the room that it takes until it is written.
    Text(Utf8Bytes, Option<OwnedSemaphorePermit>),
    /// Ends the connection, with a WebSocket close code.
    Close { code: u16, reason: &'static str },
}

/// A client's connection; its calls and feeds share it and it ends with the last of them.
pub(crate) struct Connection {
    pub(crate) caller: Caller,
    state: Mutex<ClientState>,
    pub(crate) feeds: Mutex<Feeds>,
    /// The live feeds of the workspaces that it follows, by workspace id; `None` while a feed starts.
    live: Mutex<HashMap<String, Option<LiveFeed>>>,
    searches: Mutex<Searches>,
    /// What this client does for the agents of sessions; empty until it offers something.
    pub(crate) serving: OnceLock<Arc<ServingConnection>>,
    out: mpsc::Sender<Outgoing>,
    out_bytes: Arc<Semaphore>,
    calls: Arc<Semaphore>,
    /// One queue for each session and each repository that this client's calls are about.
    queues: CallQueues,
    /// Cancelled when the client is gone or has to go, and with the server.
    pub(crate) ended: CancellationToken,
}

/// What the client told about itself, and what it follows.
#[derive(Default)]
struct ClientState {
    initialized: bool,
    /// The client called `shutdown`; the connection closes once that call is answered.
    leaving: bool,
    /// The watched sessions, each with its workspace if it has one.
    watches: BTreeMap<String, Option<String>>,
    /// The workspace and the session that the client shows on its screen.
    focus: Option<(String, String)>,
    /// The approvals and questions that the client was shown and not yet told to be over, by session, the oldest first.
    shown: HashMap<String, Vec<ShownRequest>>,
    /// The workspaces that the client subscribed to; empty means all.
    workspaces: BTreeSet<String>,
    /// The client asked for the live events of every workspace, also of those added later.
    live_everywhere: bool,
}

impl Connection {
    /// Registers a connection; the receiver is its write queue.
    pub(crate) fn open(host: &Host, caller: Caller) -> (Arc<Self>, mpsc::Receiver<Outgoing>) {
        let (out, written) = mpsc::channel(OUT);
        let connection = Arc::new(Self {
            caller,
            state: Mutex::default(),
            feeds: Mutex::default(),
            live: Mutex::default(),
            searches: Mutex::default(),
            serving: OnceLock::new(),
            out,
            out_bytes: Arc::new(Semaphore::new(OUT_BYTES)),
            calls: Arc::new(Semaphore::new(CALLS)),
            queues: CallQueues::default(),
            ended: host.daemon.closing.child_token(),
        });
        host.presence.join(&connection);
        (connection, written)
    }

    /// Ends the connection: removes it, notifies other viewers, and drops its feeds, live events and searches.
    pub(crate) fn close(&self, host: &Host) {
        self.ended.cancel();
        host.presence.leave(self);
        // At the end of the daemon everyone goes, and nobody needs to hear of each.
        if !host.daemon.closing.is_cancelled() {
            host.presence.notify_gone(host, self);
        }
        self.feeds().clear();
        self.live().clear();
        self.searches().clear();
        if let Some(serving) = self.serving.get() {
            host.clients.leave(serving);
        }
    }

    /// Handles a frame. Returns when the next one may be read, which is when a slot for its call is free.
    pub(crate) async fn receive(self: &Arc<Self>, host: &Arc<Host>, frame: &[u8]) {
        match RpcFrame::read(frame) {
            Err(refused) | Ok(RpcFrame::One(Err(refused))) => self.reply(refused.encode()).await,
            Ok(RpcFrame::One(Ok(call))) => {
                let Some(slot) = self.call_slot().await else { return };
                let is_goodbye = is_goodbye(&call);
                let running = self.run(host, call).await;
                let this = self.clone();
                host.daemon.spawn(async move {
                    if let Some(response) = running.await {
                        this.reply(bounded(response).encode()).await;
                    }
                    this.leave(is_goodbye).await;
                    drop(slot);
                });
            }
            Ok(RpcFrame::Batch(members)) => {
                let Some(slot) = self.call_slot().await else { return };
                let is_goodbye = members.iter().flatten().any(is_goodbye);
                let mut running = Vec::with_capacity(members.len());
                for member in members {
                    running.push(match member {
                        Ok(call) => self.run(host, call).await.boxed(),
                        Err(refused) => async { Some(*refused) }.boxed(),
                    });
                }
                let this = self.clone();
                host.daemon.spawn(async move {
                    let responses = futures::future::join_all(running).await;
                    if let Some(batch) = encode_batch(responses.into_iter().flatten()) {
                        this.reply(batch).await;
                    }
                    this.leave(is_goodbye).await;
                    drop(slot);
                });
            }
        }
    }

    async fn call_slot(&self) -> Option<OwnedSemaphorePermit> {
        self.calls.clone().acquire_owned().await.ok()
    }

    /// Puts a call into its queue; the returned future runs it.
    async fn run(
        self: &Arc<Self>,
        host: &Arc<Host>,
        call: RpcCall,
    ) -> impl Future<Output = Option<Response>> + Send + 'static {
        let RpcCall { id, method, params } = call;
        let call = PreparedCall::read(method, params);
        let (turn, resolved) = self.enqueue(host, &call).await;
        let (this, host) = (self.clone(), host.clone());
        async move {
            let turn = QueueTurn::new(match turn {
                Some(turn) => Some(turn.await),
                None => None,
            });
            let context = Context {
                host: &host,
                caller: &this.caller,
                connection: Some(&this),
                turn: Some(&turn),
                resolved: resolved.as_ref(),
            };
            let (cost, method) = (call.cost(), call.name.clone());
            let work = AssertUnwindSafe(dispatch(&context, call)).catch_unwind();
            let outcome = match cost {
                Cost::Read => tokio::select! {
                    biased;
                    () = this.ended.cancelled() => return None,
                    outcome = work => outcome,
                },
                Cost::Change | Cost::Start => work.await,
            };
            let outcome = outcome.unwrap_or_else(|_| {
                tracing::error!(method, "A handler panicked.");
                Err(Fault::new(FaultCode::InternalError, "the call failed inside Roost; see the daemon's log"))
            });
            id.map(|id| Response::new(id, outcome))
        }
    }

    /// A call's place in the queue that the method table gives it, and the session that was looked up for it.
    async fn enqueue(
        &self,
        host: &Host,
        call: &PreparedCall,
    ) -> (Option<impl Future<Output = OwnedMutexGuard<()>> + Send + 'static + use<>>, Option<ResolvedSession>) {
        match call.order() {
            (CallOrder::Session, Some(name)) => {
                // Calls join their queues one by one, so while all are empty no other call can change the session.
                let is_unchanging = self.queues.is_idle();
                let found = host.sessions.get(name).await.ok();
                // One queue for a session, whichever of its names it is called by.
                let queue = found.as_ref().map_or(name, |record| record.session_id.as_str()).to_owned();
                let resolved = found.filter(|_| is_unchanging);
                let resolved = resolved.map(|record| ResolvedSession { name: name.to_owned(), record });
                (Some(self.queues.join(queue).await), resolved)
            }
            (CallOrder::Workspace, name) => {
                (Some(self.queues.join(format!("git {}", name.unwrap_or_default())).await), None)
            }
            (CallOrder::Session, None) | (CallOrder::Free, _) => (None, None),
        }
    }

    async fn reply(&self, text: String) {
        self.send(text.into()).await;
    }

    /// Writes a frame; waits for room. False if the client is gone.
    pub(crate) async fn send(&self, text: Utf8Bytes) -> bool {
        self.send_noting(text, || ()).await
    }

    /// Writes a frame; waits for room, and notes in the same moment that it was sent.
    pub(crate) async fn send_noting(&self, text: Utf8Bytes, note: impl FnOnce()) -> bool {
        let send = async {
            let bytes = text.len().min(OUT_BYTES) as u32;
            let room = self.out_bytes.clone().acquire_many_owned(bytes).await.ok();
            let Ok(place) = self.out.reserve().await else { return false };
            note();
            place.send(Outgoing::Text(text, room));
            true
        };
        tokio::select! {
            sent = send => sent,
            () = self.ended.cancelled() => false,
        }
    }

    /// Ends the connection of a client that called `shutdown`, once that is answered.
    async fn leave(&self, is_goodbye: bool) {
        if is_goodbye && self.state().leaving {
            self.say_goodbye(NORMAL, "goodbye").await;
        }
    }

    /// Ends the connection after what is already to be written.
    pub(crate) async fn say_goodbye(&self, code: u16, reason: &'static str) {
        // A client that is gone needs no goodbye.
        let _ = self.out.send(Outgoing::Close { code, reason }).await;
    }

    /// Sends a notification that is not in the log, without waiting. It is dropped, and counted, when the queue is
    /// full.
    pub(crate) fn notify(&self, event: &str, params: Value) {
        if self.out.try_send(Outgoing::Text(ephemeral(event, params), None)).is_err() {
            metrics::counter!(crate::metrics::DROPS, "reason" => "ephemeral").increment(1);
        }
    }

    /// Sends `session_end` because the daemon shuts down. Waits for room in the queue, so the writer must run
    /// meanwhile.
    pub(crate) async fn notify_shutdown(&self, host: &Host) {
        let params = json!({ "session_id": host.daemon.instance, "reason": "shutdown" });
        // A client that is gone needs not know.
        let _ = self.out.send(Outgoing::Text(ephemeral("session_end", params), None)).await;
    }

    pub(crate) fn is_initialized(&self) -> bool {
        self.state().initialized
    }

    pub(crate) fn initialize(&self) {
        self.state().initialized = true;
    }

    /// Notes that the client called `shutdown`; the connection ends once that is answered.
    pub(crate) fn begin_leaving(&self) {
        self.state().leaving = true;
    }

    pub(crate) fn watches(&self, session: &str) -> bool {
        self.state().watches.contains_key(session)
    }

    pub(crate) fn watched(&self) -> Vec<(String, Option<String>)> {
        self.state().watches.iter().map(|(session, workspace)| (session.clone(), workspace.clone())).collect()
    }

    /// The workspace of a watched session; `None` if it has none or is not watched.
    pub(crate) fn watched_workspace(&self, session: &str) -> Option<String> {
        self.state().watches.get(session).cloned().flatten()
    }

    pub(crate) fn watch(&self, session: &str, workspace: Option<String>) {
        self.state().watches.insert(session.into(), workspace);
    }

    /// Stops watching a session; false if it was not watched.
    pub(crate) fn unwatch(&self, session: &str) -> bool {
        self.feeds().stop_tail(session);
        self.state().watches.remove(session).is_some()
    }

    pub(crate) fn focus(&self) -> Option<(String, String)> {
        self.state().focus.clone()
    }

    /// Replaces the session on the client's screen and returns the one before.
    pub(crate) fn set_focus(&self, focus: Option<(String, String)>) -> Option<(String, String)> {
        std::mem::replace(&mut self.state().focus, focus)
    }

    /// The sessions that it watches or looks at.
    pub(crate) fn viewed(&self) -> BTreeSet<String> {
        let state = self.state();
        let focused = state.focus.iter().map(|(_, session)| session);
        state.watches.keys().chain(focused).cloned().collect()
    }

    pub(crate) fn views(&self, session: &str) -> bool {
        let state = self.state();
        state.watches.contains_key(session) || state.focus.as_ref().is_some_and(|(_, focused)| focused == session)
    }

    /// Notes what a client is told about an approval or question of a session.
    pub(crate) fn note_shown(&self, session: &str, change: &ShownChange) {
        let mut state = self.state();
        let shown = state.shown.entry(session.to_owned()).or_default();
        match change {
            ShownChange::Shown(request) => {
                shown.retain(|other| other.id != request.id);
                shown.truncate(SHOWN - 1);
                shown.push(request.clone());
            }
            ShownChange::Over(id) => shown.retain(|other| other.id != *id),
        }
        if shown.is_empty() {
            state.shown.remove(session);
        }
    }

    /// Forgets what of a session the client was shown, because it is shown all of it anew or was told that it is over.
    pub(crate) fn forget_shown(&self, session: &str) {
        self.state().shown.remove(session);
    }

    /// What of a session the client was shown and not yet told to be over; `None` if it follows no events that show
    /// approvals.
    pub(crate) fn shown(&self, session: &str) -> Option<Vec<ShownRequest>> {
        self.feeds().commands()?;
        Some(self.state().shown.get(session).cloned().unwrap_or_default())
    }

    /// The workspaces that it follows, after a change to them.
    pub(crate) fn workspaces(&self, change: impl FnOnce(&mut BTreeSet<String>)) -> Vec<String> {
        let mut state = self.state();
        change(&mut state.workspaces);
        state.workspaces.iter().cloned().collect()
    }

    /// Sets whether the client gets the live events of every workspace, also of those added later.
    pub(crate) fn set_live_everywhere(&self, everywhere: bool) {
        self.state().live_everywhere = everywhere;
    }

    pub(crate) fn is_live_everywhere(&self) -> bool {
        self.state().live_everywhere
    }

    /// Whether events of this workspace are wanted; those of none always are.
    pub(crate) fn follows(&self, workspace: Option<&str>) -> bool {
        let state = self.state();
        state.workspaces.is_empty() || workspace.is_none_or(|workspace| state.workspaces.contains(workspace))
    }

    /// Whether the workspace is the one on its screen, or none is.
    pub(crate) fn is_focused_on(&self, workspace: Option<&str>) -> bool {
        let state = self.state();
        state.focus.as_ref().is_none_or(|(focused, _)| workspace.is_none_or(|workspace| workspace == focused))
    }

    pub(crate) fn feeds(&self) -> MutexGuard<'_, Feeds> {
        self.feeds.lock()
    }

    /// The live feeds of this connection, by workspace id; `None` while a feed starts.
    pub(crate) fn live(&self) -> MutexGuard<'_, HashMap<String, Option<LiveFeed>>> {
        self.live.lock()
    }

    pub(crate) fn searches(&self) -> MutexGuard<'_, Searches> {
        self.searches.lock()
    }

    fn state(&self) -> MutexGuard<'_, ClientState> {
        // Each change is one statement, so a panic elsewhere cannot have left it broken.
        self.state.lock()
    }
}

/// Encodes a notification that is not in the log. It gets a timestamp, which clients expect in every one.
pub(crate) fn ephemeral(event: &str, mut params: Value) -> Utf8Bytes {
    params["timestamp"] = json!(Timestamp::now());
    json!({ "jsonrpc": "2.0", "method": format!("event/{event}"), "params": params }).to_string().into()
}

fn is_goodbye(call: &RpcCall) -> bool {
    Method::from_name(&call.method) == Some(Method::Shutdown)
}
