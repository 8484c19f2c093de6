//! What log events look like to cdev clients, made once for all who follow.

use std::num::NonZeroUsize;
use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use lru::LruCache;
use parking_lot::Mutex;
use roost_log::{Cursor, Entry, Log};
use roost_model::ids::SessionId;

use crate::cdev::notify::{self, About, Audience, Naming, Notification};
use crate::host::Host;
use crate::inline_artifacts::inline_texts;
use crate::workspaces::is_host;

/// Events whose notifications are kept for the next reader.
const EVENTS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();
/// Sessions whose constants are kept.
const SESSIONS: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

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

/// The notifications of recent events and the constants of recent sessions; what was not used for longest goes first.
pub(crate) struct NotificationCache {
    projected: Mutex<LruCache<(Cursor, Naming), Arc<Projected>>>,
    constants: Mutex<LruCache<SessionId, Arc<Constant>>>,
}

impl Default for NotificationCache {
    fn default() -> Self {
        Self { projected: Mutex::new(LruCache::new(EVENTS)), constants: Mutex::new(LruCache::new(SESSIONS)) }
    }
}

impl NotificationCache {
    /// What this event tells, encoded.
    pub(crate) async fn project(
        &self,
        host: &Host,
        entry: Entry<'_>,
        naming: Naming,
    ) -> roost_log::Result<Arc<Projected>> {
        let key = (entry.cursor(), naming);
        if let Some(known) = self.projected.lock().get(&key) {
            return Ok(known.clone());
        }
        let event = inline_texts(host.sessions.engine.artifacts(), entry.event()?).await;
        let session = event.trace.session_id.clone();
        let constant = if is_host(entry.stream()) {
            let workspace_id = notify::workspace_of(&event.body).map(ToOwned::to_owned);
            Arc::new(Constant { workspace_id, ..Constant::default() })
        } else {
            self.constant(&*host.sessions.log, &session).await?
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
        self.projected.lock().put(key, projected.clone());
        Ok(projected)
    }

    /// What of this session never changes.
    pub(crate) async fn constant(&self, log: &dyn Log, session: &SessionId) -> roost_log::Result<Arc<Constant>> {
        if let Some(known) = self.constants.lock().get(session) {
            return Ok(known.clone());
        }
        let Some(record) = log.session(session.as_str()).await? else { return Ok(Arc::default()) };
        let constant = Arc::new(Constant {
            workspace_id: record.workspace_id.map(|id| id.to_string()),
            agent_type: record.runtime.id().to_owned(),
            cwd: record.cwd,
        });
        self.constants.lock().put(session.clone(), constant.clone());
        Ok(constant)
    }
}
