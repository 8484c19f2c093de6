//! Reads the store through a small pool of connections, on blocking threads only.

use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, Row, params};
use tokio::sync::Semaphore;

use crate::block::{Batch, Block};
use crate::codec::unpack;
use crate::cursor::{BlockId, Cursor};
use crate::error::{Error, Result};
use crate::filter::{Filter, TypeMask};
use crate::log::{BackPage, Page};
use crate::schema::open_reader;
use crate::storage::Storage;
use crate::stream::{Seq, StreamId};

/// The most reads at the same time, and so the most connections.
const CONNECTIONS: usize = 4;
/// The most blocks in one answer.
pub(crate) const MAX_BLOCKS: usize = 64;
/// Bytes after which an answer takes no more blocks.
const MAX_BYTES: usize = 1 << 20;
/// The most blocks in one answer that is read backwards: the newest ones hold one event each where an agent writes slowly.
const MAX_BLOCKS_BACK: usize = 2048;

/// The pool of read-only connections.
pub(crate) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path, idle: Mutex::default(), permits: Arc::new(Semaphore::new(CONNECTIONS)) }
    }

    /// Measures the room of the database on a blocking thread.
    pub(crate) async fn measure(self: &Arc<Self>) -> Result<Storage> {
        let path = self.path.clone();
        tokio::task::spawn_blocking(move || Storage::measure(&path)).await.unwrap_or(Err(Error::Closed))
    }

    /// Runs a read on a blocking thread, in one transaction: all of its queries see the same state.
    pub(crate) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| Error::Closed)?;
        let readers = self.clone();
        let run = move || {
            let _permit = permit;
            let idle = readers.idle().pop();
            let db = idle.map_or_else(|| open_reader(&readers.path), Ok)?;
            let snapshot = db.unchecked_transaction()?;
            let answer = read(&snapshot).map_err(|error| error.at(&readers.path));
            drop(snapshot);
            readers.idle().push(db);
            answer
        };
        // The only other way for it to end is that the runtime shuts down.
        tokio::task::spawn_blocking(run).await.unwrap_or(Err(Error::Closed))
    }

    /// Closes the idle connections.
    pub(crate) fn close(&self) {
        self.idle().clear();
    }

    fn idle(&self) -> parking_lot::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock()
    }
}

/// The row of a stream in the table `streams`.
pub(crate) struct StreamRow {
    pub(crate) id: i64,
    pub(crate) last_seq: Seq,
    resume_at: Seq,
}

impl StreamRow {
    /// The row of a stream; [`Error::Truncated`] if events after `seq` were removed.
    pub(crate) fn find(db: &Connection, stream: &StreamId, after: Seq) -> Result<Option<Self>> {
        match Self::get(db, stream)? {
            Some(row) if after + 1 < row.resume_at => {
                Err(Error::Truncated { stream: stream.clone(), resume_at: row.resume_at })
            }
            row => Ok(row),
        }
    }

    fn get(db: &Connection, stream: &StreamId) -> Result<Option<Self>> {
        let mut select = db.prepare_cached("SELECT id, last_seq, resume_at FROM streams WHERE name = ?1")?;
        let row = select.query_row([stream.as_str()], |row| {
            Ok(Self { id: row.get(0)?, last_seq: seq(row, 1)?, resume_at: seq(row, 2)? })
        });
        Ok(row.optional()?)
    }
}

pub(crate) fn seq(row: &Row<'_>, column: usize) -> rusqlite::Result<Seq> {
    row.get::<_, i64>(column).map(|seq| seq as Seq)
}

/// The columns that [`block`] reads.
pub(crate) const BLOCK: &str = "b.id, s.name, b.first_seq, b.types, b.bytes, b.codec, b.body";

/// Reads one row of [`BLOCK`] columns.
pub(crate) fn block(row: &Row<'_>) -> rusqlite::Result<Block> {
    let body = row.get_ref(6)?.as_blob()?;
    let text = unpack(row.get(5)?, row.get::<_, i64>(4)? as usize, body)
        .map_err(|reason| rusqlite::Error::FromSqlConversionFailure(6, rusqlite::types::Type::Blob, reason))?;
    let name: String = row.get(1)?;
    Ok(Block::stored(row.get(0)?, name.as_str().into(), seq(row, 2)?, TypeMask(row.get::<_, i64>(3)? as u64), text))
}

/// A page of one stream.
pub(crate) fn page(db: &Connection, stream: &StreamId, after: Seq, limit: usize) -> Result<Page> {
    let mut batch = Batch::default();
    let Some(row) = StreamRow::find(db, stream, after)? else { return Ok(Page { batch, last_seq: 0 }) };
    let Some((first, _)) = block_after(db, row.id, after)? else { return Ok(Page { batch, last_seq: row.last_seq }) };
    let mut select = db.prepare_cached(&format!(
        "SELECT {BLOCK} FROM blocks b JOIN streams s ON s.id = b.stream
         WHERE b.stream = ?1 AND b.id >= ?2 ORDER BY b.id LIMIT ?3"
    ))?;
    let mut rows = select.query(params![row.id, first, MAX_BLOCKS as i64])?;
    let (mut left, mut bytes) = (limit, 0);
    while left > 0
        && bytes < MAX_BYTES
        && let Some(row) = rows.next()?
    {
        let block = Arc::new(block(row)?);
        let before = batch.len();
        batch.add_range(&block, after, left);
        left -= batch.len() - before;
        bytes += block.text().len();
    }
    Ok(Page { batch, last_seq: row.last_seq })
}

/// The last events of one stream before `before` that the filter wants.
pub(crate) fn page_back(
    db: &Connection,
    stream: &StreamId,
    filter: &Filter,
    before: Seq,
    limit: usize,
) -> Result<BackPage> {
    let mut batch = Batch::default();
    let Some(row) = StreamRow::get(db, stream)? else { return Ok(BackPage { batch, has_more: false }) };
    let mut select = db.prepare_cached(&format!(
        "SELECT {BLOCK} FROM blocks b JOIN streams s ON s.id = b.stream
         WHERE b.stream = ?1 AND b.first_seq < ?2 AND b.types & ?3 != 0 ORDER BY b.first_seq DESC LIMIT ?4"
    ))?;
    let end = i64::try_from(before).unwrap_or(i64::MAX);
    let mut rows = select.query(params![row.id, end, filter.block_types().0 as i64, MAX_BLOCKS_BACK as i64])?;
    let (mut bytes, mut blocks) = (0, 0);
    while let Some(row) = rows.next()? {
        if batch.len() >= limit || bytes >= MAX_BYTES {
            return Ok(BackPage { batch, has_more: true });
        }
        let block = Arc::new(block(row)?);
        bytes += block.text().len();
        blocks += 1;
        if batch.prepend(&block, before, filter, limit - batch.len()).is_cut() {
            return Ok(BackPage { batch, has_more: true });
        }
    }
    Ok(BackPage { batch, has_more: blocks == MAX_BLOCKS_BACK })
}

/// The block that holds the first event after `seq`, and its first event.
pub(crate) fn block_after(db: &Connection, stream: i64, after: Seq) -> Result<Option<(BlockId, Seq)>> {
    let mut select = db.prepare_cached(
        "SELECT id, first_seq FROM blocks WHERE stream = ?1 AND last_seq > ?2 AND first_seq >=
            coalesce((SELECT max(first_seq) FROM blocks WHERE stream = ?1 AND first_seq <= ?2), 0)
         ORDER BY first_seq LIMIT 1",
    )?;
    Ok(select.query_row(params![stream, after as i64], |row| Ok((row.get(0)?, seq(row, 1)?))).optional()?)
}

/// The last block that retention removed, over all streams.
pub(crate) fn removed_to(db: &Connection) -> Result<BlockId> {
    Ok(db.query_row("SELECT coalesce(max(removed_to), 0) FROM streams WHERE removed_to > 0", [], |row| row.get(0))?)
}

/// The first wanted stream that lost events after the position, as [`Error::Truncated`], and the last removed block of
/// all streams. Removals up to the block `known` do not count.
pub(crate) fn find_truncation(
    db: &Connection,
    filter: &Filter,
    position: Cursor,
    known: BlockId,
) -> Result<Option<(Error, BlockId)>> {
    let mut select = db.prepare_cached(
        "SELECT name, resume_at, removed_to FROM streams WHERE removed_to > 0 AND removed_to > ?1 AND removed_to >= ?2",
    )?;
    let mut rows = select.query([known, position.next_block()])?;
    let mut found = None;
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let (stream, resume_at) = (StreamId::from(name.as_str()), seq(row, 1)?);
        if position.is_behind(row.get(2)?, resume_at) && filter.wants_stream(&stream) {
            found = Some(Error::Truncated { stream, resume_at });
            break;
        }
    }
    found.map(|error| Ok((error, removed_to(db)?))).transpose()
}

/// The blocks that a follower reads from the store in one go.
pub(crate) struct Chunk {
    pub(crate) blocks: Vec<Arc<Block>>,
    /// Everything wanted up to here is in `blocks`.
    pub(crate) read_to: BlockId,
}

/// The next blocks that the filter wants between `first` and `end`.
pub(crate) fn chunk(db: &Connection, filter: &Filter, first: BlockId, end: BlockId) -> Result<Chunk> {
    let ids = wanted(db, filter, first, end)?;
    let mut select =
        db.prepare_cached(&format!("SELECT {BLOCK} FROM blocks b JOIN streams s ON s.id = b.stream WHERE b.id = ?1"))?;
    let (mut blocks, mut bytes) = (Vec::new(), 0);
    for id in &ids {
        if blocks.len() == MAX_BLOCKS || bytes >= MAX_BYTES {
            break;
        }
        let block = select.query_row([id], block)?;
        bytes += block.text().len();
        blocks.push(Arc::new(block));
    }
    let more = ids.len() >= MAX_BLOCKS || blocks.len() < ids.len();
    let read_to = blocks.last().filter(|_| more).map_or(end, |last| last.id());
    Ok(Chunk { blocks, read_to })
}

/// The ids of the first wanted blocks of each wanted stream, in order. They are found by an index, so that other
/// streams cost nothing.
fn wanted(db: &Connection, filter: &Filter, first: BlockId, end: BlockId) -> Result<Vec<BlockId>> {
    let (types, limit) = (filter.block_types().0 as i64, MAX_BLOCKS as i64);
    let Some(streams) = &filter.streams else {
        let mut select = db.prepare_cached(
            "SELECT id FROM blocks WHERE id BETWEEN ?1 AND ?2 AND types & ?3 != 0 ORDER BY id LIMIT ?4",
        )?;
        let ids = select.query_map([first, end, types, limit], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        return Ok(ids);
    };
    let mut select = db.prepare_cached(
        "SELECT id FROM blocks WHERE stream = (SELECT id FROM streams WHERE name = ?5) AND id BETWEEN ?1 AND ?2
            AND types & ?3 != 0 ORDER BY id LIMIT ?4",
    )?;
    let mut ids = Vec::new();
    for stream in streams {
        let mut rows = select.query(params![first, end, types, limit, stream.as_str()])?;
        while let Some(row) = rows.next()? {
            ids.push(row.get(0)?);
        }
    }
    ids.sort_unstable();
    Ok(ids)
}
