//! Retention: the only code that removes events, and only prefixes of streams in whole blocks.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use roost_model::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use crate::cursor::BlockId;
use crate::error::Result;
use crate::job::Steps;
use crate::reader::{BLOCK, block, seq};
use crate::stream::Seq;
use crate::tables::{Summary, open_tasks, to_json};

/// The default age after which events are removed.
const MAX_AGE: Duration = Duration::from_hours(30 * 24);
/// The default size of the database above which events are removed.
const MAX_BYTES: u64 = 5_000_000_000;
/// Blocks that are checked in one step, while appends wait.
const STEP_BLOCKS: i64 = 16;
/// Database pages that are returned to the disk in one step.
const STEP_PAGES: i64 = 512;

/// The limits of retention. Events beyond either limit are removed, the oldest first. Events of a running task stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// How old an event may become; 30 days by default.
    pub max_age: Duration,
    /// How many bytes of the database may be in use; 5 GB by default.
    pub max_bytes: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { max_age: MAX_AGE, max_bytes: MAX_BYTES }
    }
}

/// The result of [`SqliteLog::retain`](crate::SqliteLog::retain).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// How many blocks of events were removed.
    pub blocks: u64,
    /// How many events these blocks held.
    pub events: u64,
}

/// One run of retention.
pub(crate) struct Retain {
    cutoff_ms: i64,
    max_bytes: u64,
    /// The last block that was checked.
    after: BlockId,
    /// Streams of which a block must stay, and therefore everything after it.
    kept: HashSet<i64>,
    removed: Retained,
    vacuuming: bool,
}

/// A block that may be removed.
struct Candidate {
    id: BlockId,
    stream: i64,
    first_seq: Seq,
    last_seq: Seq,
    time_ms: i64,
    bytes: i64,
}

impl Retain {
    pub(crate) fn new(rules: Retention, now: Timestamp) -> Self {
        let age = i64::try_from(rules.max_age.as_millis()).unwrap_or(i64::MAX);
        Self {
            cutoff_ms: now.as_millis().saturating_sub(age),
            max_bytes: rules.max_bytes,
            after: 0,
            kept: HashSet::new(),
            removed: Retained::default(),
            vacuuming: false,
        }
    }

    /// Checks the next blocks and removes those that may go; `false` when no more can be removed.
    fn remove_some(&mut self, db: &Connection) -> Result<bool> {
        let mut excess = used_bytes(db)? - i64::try_from(self.max_bytes).unwrap_or(i64::MAX);
        let db = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
        let candidates = candidates(&db, self.after)?;
        let mut more = candidates.len() as i64 == STEP_BLOCKS;
        let running = running_tasks(&db)?;
        let mut snapshots = HashMap::new();
        for candidate in candidates {
            if candidate.time_ms >= self.cutoff_ms && excess <= 0 {
                more = false;
                break;
            }
            self.after = candidate.id;
            let needed = running.get(&candidate.stream).is_some_and(|first| candidate.last_seq >= *first);
            if needed || self.kept.contains(&candidate.stream) {
                self.kept.insert(candidate.stream);
                continue;
            }
            candidate.remove(&db, &mut snapshots)?;
            excess -= candidate.bytes;
            self.removed.blocks += 1;
            self.removed.events += candidate.last_seq + 1 - candidate.first_seq;
        }
        for (stream, summary) in snapshots {
            db.prepare_cached("UPDATE streams SET snapshot = ?2 WHERE id = ?1")?
                .execute(params![stream, to_json(&summary)?])?;
        }
        db.commit()?;
        Ok(more)
    }
}

impl Steps for Retain {
    type Outcome = Retained;

    fn step(&mut self, db: &Connection) -> Result<Option<Retained>> {
        if !self.vacuuming {
            self.vacuuming = !self.remove_some(db)?;
            return Ok(None);
        }
        if self.removed.blocks > 0 && pragma(db, "freelist_count")? > 0 {
            let mut vacuum = db.prepare(&format!("PRAGMA incremental_vacuum({STEP_PAGES})"))?;
            let mut pages = vacuum.query([])?;
            while pages.next()?.is_some() {}
            return Ok(None);
        }
        Ok(Some(self.removed))
    }
}

impl Candidate {
    /// Deletes the block and adds its events to the stream's snapshot.
    fn remove(&self, db: &Connection, snapshots: &mut HashMap<i64, Summary>) -> Result<()> {
        let summary = match snapshots.entry(self.stream) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(snapshot(db, self.stream)?),
        };
        let sql = format!("SELECT {BLOCK} FROM blocks b JOIN streams s ON s.id = b.stream WHERE b.id = ?1");
        match db.prepare_cached(&sql)?.query_row([self.id], block) {
            Ok(block) => summary.add_block(&block),
            Err(error) => tracing::warn!(%error, block = self.id, "Retention removes a block that cannot be read"),
        }
        db.prepare_cached("DELETE FROM blocks WHERE id = ?1")?.execute([self.id])?;
        db.prepare_cached("UPDATE streams SET resume_at = ?2, removed_to = ?3 WHERE id = ?1")?.execute(params![
            self.stream,
            (self.last_seq + 1) as i64,
            self.id
        ])?;
        Ok(())
    }
}

/// The stored sum of a stream's removed events.
pub(crate) fn snapshot(db: &Connection, stream: i64) -> Result<Summary> {
    let mut select = db.prepare_cached("SELECT snapshot FROM streams WHERE id = ?1 AND snapshot IS NOT NULL")?;
    Ok(select.query_row([stream], |row| crate::tables::from_json(row, 0)).optional()?.unwrap_or_default())
}

fn candidates(db: &Connection, after: BlockId) -> Result<Vec<Candidate>> {
    let mut select = db.prepare_cached(
        "SELECT id, stream, first_seq, last_seq, time_ms, length(body) FROM blocks WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let candidates = select.query_map([after, STEP_BLOCKS], |row| {
        Ok(Candidate {
            id: row.get(0)?,
            stream: row.get(1)?,
            first_seq: seq(row, 2)?,
            last_seq: seq(row, 3)?,
            time_ms: row.get(4)?,
            bytes: row.get(5)?,
        })
    })?;
    Ok(candidates.collect::<rusqlite::Result<_>>()?)
}

/// The first event of the running task of each stream that has one.
fn running_tasks(db: &Connection) -> Result<HashMap<i64, Seq>> {
    let mut select = db.prepare_cached("SELECT id FROM streams WHERE name = ?1")?;
    let mut running = HashMap::new();
    for record in open_tasks(db)? {
        let stream = select.query_row([record.session_id.as_str()], |row| row.get(0)).optional()?;
        if let (Some(stream), Some(task)) = (stream, record.open_task) {
            running.insert(stream, task.first_seq);
        }
    }
    Ok(running)
}

/// The bytes of the database that are in use: all pages but the free ones.
fn used_bytes(db: &Connection) -> Result<i64> {
    Ok((pragma(db, "page_count")? - pragma(db, "freelist_count")?) * pragma(db, "page_size")?)
}

fn pragma(db: &Connection, name: &str) -> Result<i64> {
    Ok(db.pragma_query_value(None, name, |row| row.get(0))?)
}
