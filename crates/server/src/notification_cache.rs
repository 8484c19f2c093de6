//! What log events look like to cdev clients, made once for all who follow.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::ws::Utf8Bytes;
use roost_log::{Cursor, Entry, Log};
use roost_model::ids::SessionId;

use crate::cdev::notify::{self, About, Audience, Naming, Notification};
use crate::host::Host;
use crate::inline_artifacts::whole;
use crate::workspaces::is_host;

/// Events whose notifications are kept for the next reader.
const KEPT: usize = 1024;
/// Sessions of which is kept what does not change.
const SESSIONS: usize = 4096;

/// What of a session never changes, as notifications need it.
#[derive(Debug, Default)]
pub(crate) struct Constant {
    pub(crate) workspace_id: Option<String>,
    pub(crate) agent_type: String,
    pub(crate) cwd: String,
}

impl Constant {
    pub(crate) fn about(&self) -> About<'_> {
        About { workspace_id: self.workspace_id.as_deref(), agent_type: &self.agent_type, cwd: &self.cwd }
    }
}

/// One notification, encoded.
#[derive(Clone)]
pub(crate) struct Note {
    pub(crate) event: &'static str,
    pub(crate) audience: Audience,
    pub(crate) text: Utf8Bytes,
}

/// What one event tells.
pub(crate) struct Projected {
    pub(crate) session: SessionId,
    pub(crate) constant: Arc<Constant>,
    pub(crate) notes: Vec<Note>,
}

type Key = (Cursor, Naming);

/// What the latest events tell; the oldest is forgotten first.
#[derive(Default)]
struct Recent {
    known: HashMap<Key, Arc<Projected>>,
    order: VecDeque<Key>,
}

impl Recent {
    fn keep(&mut self, key: Key, projected: Arc<Projected>) {
        if self.known.insert(key, projected).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
    }
}

/// What recent events tell, and what of their sessions never changes.
#[derive(Default)]
pub(crate) struct NotificationCache {
    recent: Mutex<Recent>,
    constants: Mutex<HashMap<SessionId, Arc<Constant>>>,
}

impl NotificationCache {
    /// What this event tells, encoded.
    pub(crate) async fn of(&self, host: &Host, entry: Entry<'_>, naming: Naming) -> roost_log::Result<Arc<Projected>> {
        let key = (entry.cursor(), naming);
        if let Some(known) = self.recent().known.get(&key) {
            return Ok(known.clone());
        }
        let event = whole(host.engine.artifacts(), entry.event()?).await;
        let session = event.trace.session_id.clone();
        let constant = if is_host(entry.stream()) {
            let workspace_id = notify::workspace_of(&event.body).map(ToOwned::to_owned);
            Arc::new(Constant { workspace_id, ..Constant::default() })
        } else {
            self.constant(&*host.log, &session).await?
        };
        let notes = notify::project(&event, &constant.about());
        let last = notes.len().saturating_sub(1);
        let cursor = entry.cursor().to_string();
        let encode = |(k, note): (usize, &Notification)| {
            // Only after the last of an event's notifications is the event over.
            let cursor = if k == last { cursor.clone() } else { format!("{cursor}~{}", k + 1) };
            Note { event: note.event, audience: note.audience, text: notify::encode(note, &cursor, naming).into() }
        };
        let projected =
            Arc::new(Projected { session, constant, notes: notes.iter().enumerate().map(encode).collect() });
        self.recent().keep(key, projected.clone());
        Ok(projected)
    }

    /// What of this session never changes.
    pub(crate) async fn constant(&self, log: &dyn Log, session: &SessionId) -> roost_log::Result<Arc<Constant>> {
        let known = self.constants().get(session).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let Some(record) = log.session(session.as_str()).await? else { return Ok(Arc::default()) };
        let constant = Arc::new(Constant {
            workspace_id: record.workspace_id.map(|id| id.to_string()),
            agent_type: record.runtime.id().to_owned(),
            cwd: record.cwd,
        });
        let mut constants = self.constants();
        if constants.len() >= SESSIONS {
            constants.clear();
        }
        constants.insert(session.clone(), constant.clone());
        Ok(constant)
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        // A cache: whatever state a panic leaves it in, it only costs making an entry again.
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn constants(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<Constant>>> {
        self.constants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
