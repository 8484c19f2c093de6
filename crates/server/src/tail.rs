//! Past conversations while somebody watches them: looked at once a second, read when they changed, each once for all.
//!
//! A watcher is a position in what was said, not a queue: one that is slow reads on where it is. A runtime's parser takes
//! whole lines only, so what is being written comes when it is written.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use roost_engine::{Engine, Kept};
use roost_model::ids::SessionId;
use roost_rpc::Fault;
use roost_rpc::conversation::Message;
use tokio_util::task::AbortOnDropHandle;

use crate::blocking::blocking;
use crate::cdev::native_message;
use crate::cdev::notify::{self, About, Naming, Notification};
use crate::connection::Connection;
use crate::fault;
use crate::host::Host;

/// How often a conversation is looked at.
const PERIOD: Duration = Duration::from_secs(1);

/// The conversations that are watched; each is forgotten with its last watcher.
#[derive(Default)]
pub(crate) struct Tails(Mutex<HashMap<SessionId, Weak<Tail>>>);

impl Tails {
    fn watch(&self, kept: &Kept) -> Arc<Tail> {
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

/// A conversation that somebody watches, looked at once for all who do.
struct Tail {
    kept: Kept,
    last: tokio::sync::Mutex<Option<Look>>,
}

/// What a look at a conversation found.
#[derive(Clone)]
struct Look {
    at: Instant,
    stamp: Option<u64>,
    said: Arc<Vec<Message>>,
    /// Roost hosts it from here on, so the log tells what happens.
    hosted: bool,
}

impl Tail {
    /// What was said by now; a look that is younger than `age` is as good as another.
    async fn look(&self, host: &Host, age: Duration) -> Result<Look, Fault> {
        let mut last = self.last.lock().await;
        let known = match &*last {
            Some(look) if look.hosted || look.at.elapsed() < age => return Ok(look.clone()),
            known => known.clone(),
        };
        let native_history = host.sessions.engine.native_history();
        let (at, stamp) = (Instant::now(), native_history.stamp(&self.kept).await);
        let said = match known {
            Some(known) if stamp.is_some() && stamp == known.stamp => known.said,
            known => match messages(&host.sessions.engine, &self.kept).await? {
                Some(said) => Arc::new(said),
                // A file that is being replaced is not there for a moment.
                None => {
                    known.map(|known| known.said).ok_or_else(|| Fault::no_session(self.kept.session.id.as_str()))?
                }
            },
        };
        // Asked after it was read: what a hosted runtime adds is written after its session is.
        let record = host.sessions.log.session(self.kept.session.id.as_str()).await.map_err(fault::log)?;
        let said = match &record {
            None => said,
            Some(record) => {
                let before = record.adopted.as_ref().map_or(0, |adopted| adopted.messages);
                Arc::new(said.iter().take(usize::try_from(before).unwrap_or(usize::MAX)).cloned().collect())
            }
        };
        let look = Look { at, stamp, said, hosted: record.is_some() };
        *last = Some(look.clone());
        Ok(look)
    }
}

/// What was said in a conversation, as messages; `None` if its runtime keeps it no more.
pub(crate) async fn messages(engine: &Engine, kept: &Kept) -> Result<Option<Vec<Message>>, Fault> {
    let Some(said) = engine.native_history().messages(kept).await.map_err(fault::engine)? else { return Ok(None) };
    let (id, since) = (kept.session_id(), kept.session.updated_at);
    let project = move || native_message::messages(&id, since, said.into_iter().map(|past| (past.at, past.message)));
    // A long conversation takes a while.
    blocking(project).await.map(Some)
}

/// Who is told of a conversation, and what.
pub(crate) struct Watcher {
    pub(crate) connection: Arc<Connection>,
    pub(crate) workspace: Option<String>,
    pub(crate) naming: Naming,
    /// Whether the client wants events of this name.
    pub(crate) wants: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

/// A conversation that is watched; ends when dropped.
pub(crate) struct Watching {
    _task: AbortOnDropHandle<()>,
}

impl Watching {
    /// Tells a client what is said in a conversation from now on; nothing that is said after this returns is missed.
    pub(crate) async fn begin(host: &Arc<Host>, kept: &Kept, watcher: Watcher) -> Result<Self, Fault> {
        let tail = host.sessions.tails.watch(kept);
        let seen = tail.look(host, Duration::ZERO).await?.said;
        let quiet = host.delivery.background.handle().clone();
        let host = host.clone();
        let task = AbortOnDropHandle::new(quiet.spawn(async move { follow(&host, &tail, seen, &watcher).await }));
        Ok(Self { _task: task })
    }
}

async fn follow(host: &Host, tail: &Tail, mut seen: Arc<Vec<Message>>, watcher: &Watcher) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(PERIOD) => {}
            () = watcher.connection.ended.cancelled() => return,
        }
        let look = match tail.look(host, PERIOD / 2).await {
            Ok(look) => look,
            Err(error) => {
                tracing::debug!(session = %tail.kept.session.id, error = error.message, "A conversation cannot be read.");
                continue;
            }
        };
        let known: HashSet<_> = seen.iter().map(|message| message.uuid.as_str()).collect();
        for message in look.said.iter().filter(|message| !known.contains(message.uuid.as_str())) {
            if !watcher.tell(&tail.kept, message).await {
                return;
            }
        }
        seen = look.said;
        if look.hosted {
            return;
        }
    }
}

impl Watcher {
    /// False if the client is gone.
    async fn tell(&self, kept: &Kept, message: &Message) -> bool {
        let (workspace_id, agent_type) = (self.workspace.as_deref(), kept.runtime.id());
        let about = About { workspace_id, agent_type, cwd: &kept.cwd };
        let wanted = |note: &Notification| (self.wants)(note.event);
        for note in native_message::notifications(message, &about).into_iter().filter(wanted) {
            if !self.connection.send(notify::encode(&note, "", self.naming).into()).await {
                return false;
            }
        }
        true
    }
}
