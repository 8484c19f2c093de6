//! Compaction: cold blocks that were too small to be compressed at once are compressed where they lie; nothing about
//! them changes for a reader.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use roost_model::time::Timestamp;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use crate::codec::{PLAIN, ZSTD};
use crate::cursor::BlockId;
use crate::error::{Error, Result};
use crate::job::Steps;

/// zstd's compression level: most of the gain for little of the time.
const LEVEL: i32 = 3;
/// Blocks that are compressed in one step, while appends wait.
const STEP_BLOCKS: i64 = 16;
/// Blocks of fewer bytes stay uncompressed.
const MIN_BYTES: i64 = 512;

/// The result of [`SqliteLog::compact`](crate::SqliteLog::compact).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// How many blocks were compressed.
    pub blocks: u64,
    /// How many bytes that has saved.
    pub saved: u64,
}

/// One run of compaction.
pub(crate) struct Compact {
    cutoff_ms: i64,
    /// The last block that any run in this process has looked at, so that the next run continues there.
    after: Arc<AtomicI64>,
    done: Compacted,
}

impl Compact {
    pub(crate) fn new(older_than: Timestamp, after: Arc<AtomicI64>) -> Self {
        Self { cutoff_ms: older_than.as_millis(), after, done: Compacted::default() }
    }
}

impl Steps for Compact {
    type Outcome = Compacted;

    fn step(&mut self, db: &Connection) -> Result<Option<Compacted>> {
        let db = Transaction::new_unchecked(db, TransactionBehavior::Immediate)?;
        let mut select = db.prepare_cached(
            "SELECT id, time_ms, body FROM blocks WHERE id > ?1 AND codec = ?4 AND bytes >= ?2 ORDER BY id LIMIT ?3",
        )?;
        let mut rows = select.query([self.after.load(Ordering::Relaxed), MIN_BYTES, STEP_BLOCKS, PLAIN])?;
        let (mut last, mut packed) = (None::<BlockId>, Vec::new());
        while let Some(row) = rows.next()?
            && row.get::<_, i64>(1)? < self.cutoff_ms
        {
            let (id, body) = (row.get(0)?, row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?);
            let small = zstd::bulk::compress(body, LEVEL)
                .map_err(|error| Error::from(rusqlite::Error::ToSqlConversionFailure(error.into())))?;
            if small.len() < body.len() {
                self.done.blocks += 1;
                self.done.saved += (body.len() - small.len()) as u64;
                packed.push((id, small));
            }
            last = Some(id);
        }
        drop(rows);
        for (id, small) in packed {
            db.prepare_cached("UPDATE blocks SET codec = ?3, body = ?2 WHERE id = ?1")?
                .execute(params![id, small, ZSTD])?;
        }
        drop(select);
        db.commit()?;
        match last {
            Some(last) => {
                self.after.store(last, Ordering::Relaxed);
                Ok(None)
            }
            None => Ok(Some(self.done)),
        }
    }
}
