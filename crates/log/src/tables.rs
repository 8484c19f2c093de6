//! The projection of events into the tables of sessions and aliases, and the queries on them.

use std::collections::BTreeSet;

use roost_model::event::NormalizedEvent;
use roost_model::session::SessionRecord;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::{Deserialize, Serialize};

use crate::asks::Asks;
use crate::block::Block;
use crate::error::Result;
use crate::stream::StreamId;

/// What the events of a stream add up to. Also stored as the stream's snapshot when retention removes events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Summary {
    /// `None` if the stream is not a session's.
    pub(crate) record: Option<SessionRecord>,
    /// Every id that runtimes gave the session.
    pub(crate) aliases: BTreeSet<String>,
    /// The pending questions and the remembered rules.
    #[serde(default)]
    pub(crate) asks: Asks,
}

impl Summary {
    /// Adds the events of a block.
    pub(crate) fn add_block(&mut self, block: &Block) {
        // Events that cannot be parsed are skipped; `check` reports them.
        for event in (0..block.len()).flat_map(|index| block.event(index)) {
            self.add(block.stream(), event);
        }
    }

    /// Adds one event, if it belongs to this stream's session.
    pub(crate) fn add(&mut self, stream: &StreamId, event: &NormalizedEvent) {
        // A stream that does not bear its session's name is not the session's own.
        if event.trace.session_id.as_str() != stream.as_str() {
            return;
        }
        self.asks.add(event);
        if !SessionRecord::concerns(&event.body) {
            return;
        }
        self.record = SessionRecord::after(self.record.take(), event);
        if let Some(id) = self.record.as_ref().and_then(|record| record.runtime_session_id.as_ref())
            && id.as_str() != stream.as_str()
            && !self.aliases.contains(id.as_str())
        {
            self.aliases.insert(id.to_string());
        }
    }

    /// Writes the rows of the session and its aliases; nothing for a stream that is not a session's.
    pub(crate) fn store(&self, db: &Connection, stream: i64) -> Result<()> {
        let Some(record) = &self.record else { return Ok(()) };
        let id = record.session_id.as_str();
        db.prepare_cached(
            "INSERT INTO sessions(session_id, stream, status, runtime, cwd, updated_ms, open_task, record)
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT(session_id) DO UPDATE SET stream = ?2, status = ?3, runtime = ?4, cwd = ?5, updated_ms = ?6,
                open_task = ?7, record = ?8",
        )?
        .execute(params![
            id,
            stream,
            record.status.to_string(),
            record.runtime.wire(),
            record.cwd,
            record.updated_at.as_millis(),
            record.open_task.as_ref().map(|task| task.task_id.as_str()),
            to_json(record)?,
        ])?;
        let mut insert = db.prepare_cached("INSERT OR IGNORE INTO aliases(alias, session_id) VALUES(?1, ?2)")?;
        for alias in &self.aliases {
            insert.execute([alias.as_str(), id])?;
        }
        Ok(())
    }
}

pub(crate) fn to_json<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value).map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

/// Parses a column that holds JSON.
pub(crate) fn from_json<T: for<'de> Deserialize<'de>>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into()))
}

/// The session of this id or alias.
pub(crate) fn session(db: &Connection, id: &str) -> Result<Option<SessionRecord>> {
    let by_id = "SELECT record FROM sessions WHERE session_id = ?1";
    let by_alias = "SELECT record FROM aliases JOIN sessions USING(session_id) WHERE alias = ?1
                    ORDER BY updated_ms DESC LIMIT 1";
    for sql in [by_id, by_alias] {
        let found = db.prepare_cached(sql)?.query_row([id], |row| from_json(row, 0)).optional()?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The sessions that changed last, newest first.
pub(crate) fn sessions(db: &Connection, limit: usize) -> Result<Vec<SessionRecord>> {
    let mut select =
        db.prepare_cached("SELECT record FROM sessions ORDER BY updated_ms DESC, session_id DESC LIMIT ?1")?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = select.query_map([limit], |row| from_json(row, 0))?.collect::<rusqlite::Result<_>>()?;
    Ok(found)
}

/// The sessions whose task has not ended.
pub(crate) fn open_tasks(db: &Connection) -> Result<Vec<SessionRecord>> {
    // Every start runs this query, so its cost must not grow with the number of sessions.
    let mut select = db.prepare_cached(
        "SELECT record FROM sessions INDEXED BY sessions_with_task WHERE open_task IS NOT NULL ORDER BY updated_ms",
    )?;
    let found = select.query_map([], |row| from_json(row, 0))?.collect::<rusqlite::Result<_>>()?;
    Ok(found)
}

/// The sessions that were prompted and not closed since.
pub(crate) fn unclosed(db: &Connection) -> Result<Vec<SessionRecord>> {
    let mut select =
        db.prepare_cached("SELECT record FROM sessions WHERE status IN ('active', 'ending') ORDER BY updated_ms")?;
    let found = select.query_map([], |row| from_json(row, 0))?.collect::<rusqlite::Result<_>>()?;
    Ok(found)
}
