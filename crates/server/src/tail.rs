//! Tails past conversations while somebody watches them: each is checked once a second (`PERIOD`) and read when it
//! changed, once for all watchers.
//!
//! A watcher is a position in the messages, not a queue: a slow one continues where it is. A runtime's parser takes
//! complete lines only, so a message comes when it is written completely.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use roost_engine::{Engine, HistoryEntry};
use roost_model::ids::SessionId;
use roost_rpc::Fault;
use roost_rpc::conversation::Message;
use tokio_util::task::AbortOnDropHandle;

use crate::blocking::blocking;
use crate::cdev::native_message;
use crate::cdev::notify::{self, Naming, Notification, SessionContext};
use crate::connection::Connection;
use crate::fault;
use crate::host::Host;

/// How often a watched conversation is checked for changes.
const PERIOD: Duration = Duration::from_secs(1);

/// The watched conversations, by session id; each is forgotten with its last watcher.
#[derive(Default)]
pub(crate) struct Tails(Mutex<HashMap<SessionId, Weak<Tail>>>);

impl Tails {
    fn watch(&self, kept: &HistoryEntry) -> Arc<Tail> {
        let mut tails = self.0.lock();
        tails.retain(|_, tail| tail.strong_count() > 0);
        let known = tails.get(&kept.session_id()).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let tail = Arc::new(Tail { kept: kept.clone(), last: tokio::sync::Mutex::default() });
            tails.insert(kept.session_id(), Arc::downgrade(&tail));
            tail
        })
    }
}

/// A watched conversation, read once for all of its watchers.
struct Tail {
    kept: HistoryEntry,
    last: tokio::sync::Mutex<Option<ConversationSnapshot>>,
}

/// The state of a conversation at one moment.
#[derive(Clone)]
struct ConversationSnapshot {
    at: Instant,
    stamp: Option<u64>,
    messages: Arc<Vec<Message>>,
    /// Whether Roost hosts the conversation by now, so that the log has what follows.
    hosted: bool,
}

impl Tail {
    /// The messages by now. A snapshot that is younger than `age` is reused, and the conversation is read only if its
    /// stamp changed.
    async fn snapshot(&self, host: &Host, age: Duration) -> Result<ConversationSnapshot, Fault> {
        let mut last = self.last.lock().await;
        let known = match &*last {
            Some(snapshot) if snapshot.hosted || snapshot.at.elapsed() < age => return Ok(snapshot.clone()),
            known => known.clone(),
        };
        let native_history = host.sessions.engine.native_history();
        let (at, stamp) = (Instant::now(), native_history.stamp(&self.kept).await);
        let messages = match known {
            Some(known) if stamp.is_some() && stamp == known.stamp => known.messages,
            known => match messages(&host.sessions.engine, &self.kept).await? {
                Some(messages) => Arc::new(messages),
                // A file that is being replaced is not there for a moment.
                None => {
                    known.map(|known| known.messages).ok_or_else(|| Fault::no_session(self.kept.session.id.as_str()))?
                }
            },
        };
        // Asked after it was read: what a hosted runtime adds is written after its session is.
        let record = host.sessions.log.session(self.kept.session.id.as_str()).await.map_err(fault::log)?;
        let messages = match &record {
            None => messages,
            Some(record) => {
                let before = record.adopted.as_ref().map_or(0, |adopted| adopted.messages);
                Arc::new(messages.iter().take(usize::try_from(before).unwrap_or(usize::MAX)).cloned().collect())
            }
        };
        let snapshot = ConversationSnapshot { at, stamp, messages, hosted: record.is_some() };
        *last = Some(snapshot.clone());
        Ok(snapshot)
    }
}

/// The messages of a conversation; `None` if its runtime no longer has it.
pub(crate) async fn messages(engine: &Engine, kept: &HistoryEntry) -> Result<Option<Vec<Message>>, Fault> {
    let Some(messages) = engine.native_history().messages(kept).await.map_err(fault::engine)? else { return Ok(None) };
    let (id, since) = (kept.session_id(), kept.session.updated_at);
    let project =
        move || native_message::messages(&id, since, messages.into_iter().map(|past| (past.at, past.message)));
    // A long conversation takes a while.
    blocking(project).await.map(Some)
}

/// A client that watches a conversation, and which notifications it wants.
pub(crate) struct Watcher {
    pub(crate) connection: Arc<Connection>,
    pub(crate) workspace: Option<String>,
    pub(crate) naming: Naming,
    /// Whether the client wants events of this name.
    pub(crate) wants: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

/// The task that sends a conversation's new messages to one client; dropping it ends the watch.
pub(crate) struct TailHandle {
    _task: AbortOnDropHandle<()>,
}

impl TailHandle {
    /// Starts to send the new messages of a conversation to a client; nothing after this returns is missed.
    pub(crate) async fn begin(host: &Arc<Host>, kept: &HistoryEntry, watcher: Watcher) -> Result<Self, Fault> {
        let tail = host.sessions.tails.watch(kept);
        let seen = tail.snapshot(host, Duration::ZERO).await?.messages;
        let background = host.delivery.background.handle().clone();
        let host = host.clone();
        let task = AbortOnDropHandle::new(background.spawn(async move { follow(&host, &tail, seen, &watcher).await }));
        Ok(Self { _task: task })
    }
}

async fn follow(host: &Host, tail: &Tail, mut seen: Arc<Vec<Message>>, watcher: &Watcher) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(PERIOD) => {}
            () = watcher.connection.ended.cancelled() => return,
        }
        let snapshot = match tail.snapshot(host, PERIOD / 2).await {
            Ok(snapshot) => snapshot,
            Err(error) => {
                tracing::debug!(session = %tail.kept.session.id, error = error.message, "A conversation cannot be read.");
                continue;
            }
        };
        let known: HashSet<_> = seen.iter().map(|message| message.uuid.as_str()).collect();
        for message in snapshot.messages.iter().filter(|message| !known.contains(message.uuid.as_str())) {
            if !watcher.send(&tail.kept, message).await {
                return;
            }
        }
        seen = snapshot.messages;
        if snapshot.hosted {
            return;
        }
    }
}

impl Watcher {
    /// Sends the notifications of a message; false if the client is gone.
    async fn send(&self, kept: &HistoryEntry, message: &Message) -> bool {
        let (workspace_id, agent_type) = (self.workspace.as_deref(), kept.runtime.id());
        let context = SessionContext { workspace_id, agent_type, cwd: &kept.cwd };
        let wanted = |note: &Notification| (self.wants)(note.event);
        for note in native_message::notifications(message, &context).into_iter().filter(wanted) {
            if !self.connection.send(notify::encode(&note, "", self.naming).into()).await {
                return false;
            }
        }
        true
    }
}
