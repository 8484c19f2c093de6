//! Caches the notifications of log events, so that each event is projected and encoded once for all followers.

use std::mem;
use std::num::NonZeroUsize;
use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;
use lru::LruCache;
use parking_lot::Mutex;
use roost_log::{Cursor, Entry, Log, StreamId};
use roost_model::ids::SessionId;
use serde_json::Value;

use crate::approval_panels::ShownRequest;
use crate::cdev::notify::{self, Audience, Naming, Notification, SessionContext};
use crate::cdev::prelude::Prelude;
use crate::host::Host;
use crate::inline_artifacts::inline_texts;
use crate::workspaces::is_host;

/// How many events are cached, for each naming.
const EVENTS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();
/// How many events before one are read for what it ends: more and more, until another such event is among them. Of a
/// block of more pieces only the end is told.
const LOOKBACK: [u64; 3] = [64, 512, 4096];
/// How many sessions' constants are cached.
const SESSIONS: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// The facts of a session that never change and that notifications need.
#[derive(Debug, Default)]
pub(crate) struct SessionConstants {
    pub(crate) workspace_id: Option<String>,
    pub(crate) agent_type: String,
    pub(crate) cwd: String,
}

impl SessionConstants {
    pub(crate) fn context(&self) -> SessionContext<'_> {
        SessionContext { workspace_id: self.workspace_id.as_deref(), agent_type: &self.agent_type, cwd: &self.cwd }
    }
}

/// One notification as the text that every follower is sent.
#[derive(Clone)]
pub(crate) struct EncodedNotification {
    pub(crate) event: &'static str,
    pub(crate) audience: Audience,
    pub(crate) text: Utf8Bytes,
    /// What a client that gets it is shown from then on.
    pub(crate) shown: Option<ShownChange>,
}

/// What a notification changes in what a client is shown to answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShownChange {
    Shown(ShownRequest),
    /// The approval or question of this id waits no more.
    Over(String),
}

impl ShownChange {
    pub(crate) fn from_notification(note: &Notification) -> Option<Self> {
        let id = note.params.get("tool_use_id").and_then(Value::as_str)?.to_owned();
        match note.event {
            "pty_permission" | "claude_permission" | "claude_waiting" => {
                let attempt = note.params.get("attempt").and_then(Value::as_u64).unwrap_or(0);
                Some(Self::Shown(ShownRequest { id, attempt: u32::try_from(attempt).unwrap_or(u32::MAX) }))
            }
            "pty_permission_resolved" => Some(Self::Over(id)),
            _ => None,
        }
    }
}

/// One log event as cdev clients get it: its notifications, in the order in which they are sent.
pub(crate) struct ProjectedEvent {
    pub(crate) session: SessionId,
    pub(crate) constant: Arc<SessionConstants>,
    pub(crate) notifications: Vec<EncodedNotification>,
}

/// LRU caches of the notifications of events and the constants of sessions. Their entries never change, so nothing is
/// invalidated.
pub(crate) struct NotificationCache {
    projected: Mutex<LruCache<(Cursor, Naming), Arc<ProjectedEvent>>>,
    constants: Mutex<LruCache<SessionId, Arc<SessionConstants>>>,
    /// For each session the last projected event that ended blocks of output, before which nothing need be read again.
    /// Locked while such an event is projected, so that of many followers one reads what came before it.
    ends: Mutex<LruCache<SessionId, Arc<tokio::sync::Mutex<u64>>>>,
}

impl Default for NotificationCache {
    fn default() -> Self {
        Self {
            projected: Mutex::new(LruCache::new(EVENTS)),
            constants: Mutex::new(LruCache::new(SESSIONS)),
            ends: Mutex::new(LruCache::new(SESSIONS)),
        }
    }
}

impl NotificationCache {
    /// The encoded notifications of this event.
    pub(crate) async fn project(
        &self,
        host: &Host,
        entry: Entry<'_>,
        naming: Naming,
    ) -> roost_log::Result<Arc<ProjectedEvent>> {
        let key = (entry.cursor(), naming);
        if let Some(known) = self.projected.lock().get(&key) {
            return Ok(known.clone());
        }
        let event = inline_texts(host.sessions.engine.artifacts(), entry.event()?).await;
        let session = event.trace.session_id.clone();
        let constant = if is_host(entry.stream()) {
            let workspace_id = notify::host_event_workspace(&event.body).map(ToOwned::to_owned);
            Arc::new(SessionConstants { workspace_id, ..SessionConstants::default() })
        } else {
            self.session_constants(&*host.sessions.log, &session).await?
        };
        let ends = Prelude::ends_blocks(&event.body)
            .then(|| self.ends.lock().get_or_insert(session.clone(), Arc::default).clone());
        let mut end = match &ends {
            Some(end) => Some(end.lock().await),
            None => None,
        };
        if let (Some(_), Some(known)) = (&end, self.projected.lock().get(&key)) {
            return Ok(known.clone());
        }
        let prelude = match &mut end {
            Some(end) => {
                let known = mem::replace(&mut **end, entry.seq());
                read_prelude(&*host.sessions.log, entry, known).await?
            }
            None => Prelude::default(),
        };
        let notifications = notify::project(&prelude, &event, &constant.context());
        let last = notifications.iter().rposition(|note| !Notification::is_ephemeral(note.event)).unwrap_or(0);
        let cursor = entry.cursor().to_string();
        let encode = |(k, note): (usize, &Notification)| {
            // Only after the last of an event's notifications is the event over.
            let cursor = if k == last { cursor.clone() } else { format!("{cursor}~{}", k + 1) };
            let cursor = if Notification::is_ephemeral(note.event) { String::new() } else { cursor };
            EncodedNotification {
                shown: ShownChange::from_notification(note),
                event: note.event,
                audience: note.audience,
                text: notify::encode(note, &cursor, naming).into(),
            }
        };
        let projected = Arc::new(ProjectedEvent {
            session,
            constant,
            notifications: notifications.iter().enumerate().map(encode).collect(),
        });
        self.projected.lock().put(key, projected.clone());
        Ok(projected)
    }

    /// The constants of this session, if they are cached.
    pub(crate) fn known_constants(&self, session: &SessionId) -> Option<Arc<SessionConstants>> {
        self.constants.lock().get(session).cloned()
    }

    /// The constants of this session; the default ones if the log does not know it, which are not cached.
    pub(crate) async fn session_constants(
        &self,
        log: &dyn Log,
        session: &SessionId,
    ) -> roost_log::Result<Arc<SessionConstants>> {
        if let Some(known) = self.constants.lock().get(session) {
            return Ok(known.clone());
        }
        let Some(record) = log.session(session.as_str()).await? else { return Ok(Arc::default()) };
        let constant = Arc::new(SessionConstants {
            workspace_id: record.workspace_id.map(|id| id.to_string()),
            agent_type: record.runtime.id().to_owned(),
            cwd: record.cwd,
        });
        self.constants.lock().put(session.clone(), constant.clone());
        Ok(constant)
    }
}

/// What the pieces of output before an event add up to; `known` is an earlier event that ended all before it, or 0.
async fn read_prelude(log: &dyn Log, entry: Entry<'_>, known: u64) -> roost_log::Result<Prelude> {
    let seq = entry.seq();
    let is_near = |known: u64| known > 0 && known < seq && LOOKBACK.iter().any(|most| seq - known <= *most);
    if is_near(known) {
        return Ok(read_between(log, entry.stream(), known, seq).await?.0);
    }
    let mut prelude = Prelude::default();
    for most in LOOKBACK {
        let after = seq.saturating_sub(most + 1);
        let (found, is_whole) = read_between(log, entry.stream(), after, seq).await?;
        prelude = found;
        if is_whole || after == 0 {
            break;
        }
    }
    Ok(prelude)
}

/// What the pieces of output between two events add up to, and whether one of them ended all before it.
async fn read_between(log: &dyn Log, stream: &StreamId, after: u64, seq: u64) -> roost_log::Result<(Prelude, bool)> {
    let (mut prelude, mut is_whole, mut next) = (Prelude::default(), false, after);
    while next + 1 < seq {
        let page = match log.read(stream, next, (seq - next - 1) as usize).await {
            Err(roost_log::Error::Truncated { resume_at, .. }) if resume_at < seq => {
                next = resume_at - 1;
                continue;
            }
            Err(roost_log::Error::Truncated { .. }) => break,
            page => page?,
        };
        // A page may hold fewer events than asked for.
        let Some(last) = page.batch.iter().last().map(|entry| entry.seq()) else { break };
        for entry in &page.batch {
            let event = entry.event()?;
            is_whole |= Prelude::ends_blocks(&event.body);
            prelude.push(event);
        }
        next = last;
    }
    Ok((prelude, is_whole))
}
