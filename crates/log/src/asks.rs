//! Two derived tables: the tool calls and questions that wait for a person, and the answers that are remembered as
//! rules.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::RwLock;
use roost_model::approval::{Pending, PendingChange};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::SessionId;
use roost_model::pattern::RememberedRule;
use roost_model::time::Timestamp;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::tables::{from_json, to_json};

/// A remembered rule and when it was made, or removed. Of two rules about the same calls, the later one counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatedRule {
    /// The time of the event that made or removed it.
    pub at: Timestamp,
    /// The rule itself, with who made it.
    pub rule: RememberedRule,
}

/// A change that an event makes to these tables.
#[derive(Debug)]
pub(crate) enum AskChange {
    Pending(SessionId, PendingChange),
    Remembered(DatedRule),
    Forgotten(DatedRule),
}

impl AskChange {
    /// The changes that one event makes: mostly none, at most two.
    pub(crate) fn from_event(event: &NormalizedEvent) -> impl Iterator<Item = Self> {
        let dated = |rule: &RememberedRule| DatedRule { at: event.time, rule: rule.clone() };
        let remembered = match &event.body {
            EventBody::ApprovalResolved(resolved) => resolved.remembered.as_ref().map(dated).map(Self::Remembered),
            EventBody::RuleRemoved(removed) => Some(Self::Forgotten(dated(&removed.rule))),
            _ => None,
        };
        let pending =
            PendingChange::from_event(event).map(|change| Self::Pending(event.trace.session_id.clone(), change));
        pending.into_iter().chain(remembered)
    }

    /// Writes the change in the transaction of its event.
    pub(crate) fn store(&self, db: &Connection) -> Result<()> {
        match self {
            Self::Pending(session, PendingChange::Opened(pending)) => {
                db.prepare_cached(
                    "INSERT OR REPLACE INTO pending(id, session_id, asked_ms, record) VALUES(?1, ?2, ?3, ?4)",
                )?
                .execute(params![
                    pending.id(),
                    session.as_str(),
                    pending.asked_at.as_millis(),
                    to_json(pending)?
                ])?;
            }
            Self::Pending(session, PendingChange::Closed(id)) => {
                db.prepare_cached("DELETE FROM pending WHERE session_id = ?1 AND id = ?2")?
                    .execute([session.as_str(), id])?;
            }
            Self::Remembered(made) => store_rule(db, made, Some(&made.rule))?,
            Self::Forgotten(removed) => store_rule(db, removed, None)?,
        }
        Ok(())
    }
}

/// Writes a rule, or `null` where it was removed: so the order in which streams are read makes no difference.
fn store_rule(db: &Connection, dated: &DatedRule, rule: Option<&RememberedRule>) -> Result<()> {
    db.prepare_cached(
        "INSERT INTO remembered(subject, made_ms, rule) VALUES(?1, ?2, ?3)
         ON CONFLICT(subject) DO UPDATE SET made_ms = ?2, rule = ?3 WHERE made_ms <= ?2",
    )?
    .execute(params![subject(&dated.rule)?, dated.at.as_millis(), to_json(&rule)?])?;
    Ok(())
}

/// The table `pending` cached in memory, because it is listed far more often than it changes. The writer updates it
/// after each commit.
#[derive(Debug, Default)]
pub(crate) struct PendingCache(RwLock<PendingIndex>);

#[derive(Debug, Default)]
struct PendingIndex {
    /// Ordered by the time of the question, then by id and session.
    in_order: BTreeMap<(Timestamp, String, SessionId), Arc<Pending>>,
    /// The time of each question, by which its key in `in_order` is found.
    since: HashMap<(SessionId, String), Timestamp>,
}

impl PendingIndex {
    fn open(&mut self, pending: Arc<Pending>) {
        let (session, id, at) = (pending.session_id.clone(), pending.id().to_owned(), pending.asked_at);
        self.close(session.clone(), id.clone());
        self.since.insert((session.clone(), id.clone()), at);
        self.in_order.insert((at, id, session), pending);
    }

    fn close(&mut self, session: SessionId, id: String) {
        if let Some(at) = self.since.remove(&(session.clone(), id.clone())) {
            self.in_order.remove(&(at, id, session));
        }
    }
}

impl PendingCache {
    /// Reads the whole table; once, when the log is opened.
    pub(crate) fn load(db: &Connection) -> Result<Self> {
        let mut asked = PendingIndex::default();
        pending(db, None)?.into_iter().for_each(|pending| asked.open(pending));
        Ok(Self(RwLock::new(asked)))
    }

    /// Applies a change that has been committed.
    pub(crate) fn apply(&self, change: AskChange) {
        let AskChange::Pending(session, change) = change else { return };
        let mut asked = self.0.write();
        match change {
            PendingChange::Opened(pending) => asked.open(Arc::from(pending)),
            PendingChange::Closed(id) => asked.close(session, id),
        }
    }

    /// What waits in one session, or in all of them; the oldest first.
    pub(crate) fn list(&self, session: Option<&SessionId>) -> Vec<Arc<Pending>> {
        let asked = self.0.read();
        let wanted = |pending: &&Arc<Pending>| session.is_none_or(|id| pending.session_id == *id);
        asked.in_order.values().filter(wanted).cloned().collect()
    }
}

/// What the events of one stream add up to in these tables. Part of the stream's snapshot, so its JSON must stay
/// readable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asks {
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) pending: BTreeMap<String, Pending>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) remembered: Vec<DatedRule>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) forgotten: Vec<DatedRule>,
}

impl Asks {
    /// Applies the changes of one event.
    pub(crate) fn add(&mut self, event: &NormalizedEvent) {
        for change in AskChange::from_event(event) {
            match change {
                AskChange::Pending(_, PendingChange::Opened(pending)) => {
                    self.pending.insert(pending.id().to_owned(), *pending);
                }
                AskChange::Pending(_, PendingChange::Closed(id)) => _ = self.pending.remove(&id),
                AskChange::Remembered(made) => self.remembered.push(made),
                AskChange::Forgotten(removed) => self.forgotten.push(removed),
            }
        }
    }

    /// Writes all rows, for a rebuild.
    pub(crate) fn store(&self, db: &Connection) -> Result<()> {
        let opened = |pending: &Pending| {
            AskChange::Pending(pending.session_id.clone(), PendingChange::Opened(Box::new(pending.clone())))
        };
        let pending = self.pending.values().map(opened);
        let remembered = self.remembered.iter().cloned().map(AskChange::Remembered);
        let forgotten = self.forgotten.iter().cloned().map(AskChange::Forgotten);
        pending.chain(remembered).chain(forgotten).try_for_each(|change| change.store(db))
    }
}

/// The key of a rule: everything but its decision, so that a later rule about the same calls replaces it.
pub(crate) fn subject(rule: &RememberedRule) -> rusqlite::Result<String> {
    to_json(&(rule.scope, &rule.session_id, &rule.workspace, &rule.pattern))
}

/// What waits in one session, or in all of them; the oldest first. Reads the table.
pub(crate) fn pending(db: &Connection, session: Option<&str>) -> Result<Vec<Arc<Pending>>> {
    let mut select =
        db.prepare_cached("SELECT record FROM pending WHERE ?1 IS NULL OR session_id = ?1 ORDER BY asked_ms, id")?;
    let found = select.query_map([session], |row| from_json(row, 0).map(Arc::new))?.collect::<rusqlite::Result<_>>()?;
    Ok(found)
}

/// Every remembered rule that was not removed, oldest first.
pub(crate) fn remembered(db: &Connection) -> Result<Vec<DatedRule>> {
    let mut select =
        db.prepare_cached("SELECT made_ms, rule FROM remembered WHERE rule <> 'null' ORDER BY made_ms, subject")?;
    let dated = |row: &rusqlite::Row<'_>| -> rusqlite::Result<DatedRule> {
        Ok(DatedRule { at: Timestamp::from_millis(row.get(0)?), rule: from_json(row, 1)? })
    };
    let found = select.query_map([], dated)?.collect::<rusqlite::Result<_>>()?;
    Ok(found)
}
