//! A follower is a filter and a position. It reads the ring when its position is near the end, and the store otherwise.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::block::{Batch, Block};
use crate::cursor::{BlockId, Cursor, Start};
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::log::{BoxFuture, Follow, Health};
use crate::reader::{MAX_BLOCKS, Readers, StreamRow, block_after, chunk, find_truncation, removed_to};
use crate::ring::Ring;
use crate::writer::last_block;

/// How often a read-only process checks for new blocks of another process.
const POLL: Duration = Duration::from_millis(50);

/// How a follower learns of new blocks.
#[derive(Clone)]
pub(crate) enum BlockSource {
    /// The writer in this process notifies it.
    Notified { published: watch::Receiver<BlockId>, ring: Arc<Ring>, health: watch::Receiver<Health> },
    /// The database is checked every [`POLL`], because another process writes it.
    Polled,
}

impl BlockSource {
    /// The newest block that may be read.
    async fn last_block(&mut self, readers: &Arc<Readers>) -> Result<BlockId> {
        match self {
            Self::Notified { published, .. } => Ok(*published.borrow_and_update()),
            Self::Polled => readers.run(last_block).await,
        }
    }

    async fn wait(&mut self) -> Result<()> {
        match self {
            Self::Notified { published, health, .. } => published.changed().await.map_err(|_| health.borrow().end()),
            Self::Polled => {
                tokio::time::sleep(POLL).await;
                Ok(())
            }
        }
    }
}

pub(crate) struct SqliteFollower {
    filter: Arc<Filter>,
    position: Cursor,
    /// Blocks that retention removed up to this one were reported already, or the caller knew of them.
    known_removals: BlockId,
    readers: Arc<Readers>,
    source: BlockSource,
}

impl SqliteFollower {
    pub(crate) async fn start(
        filter: Filter,
        start: Start,
        readers: Arc<Readers>,
        mut source: BlockSource,
    ) -> Result<Self> {
        let end = source.last_block(&readers).await?;
        let (position, known_removals) = match start {
            Start::Beginning => (Cursor::BEGINNING, readers.run(removed_to).await?),
            Start::Now => (Cursor::end_of(end), 0),
            Start::After(cursor) | Start::Surviving(cursor) if cursor.next_block() > end + 1 => {
                return Err(Error::UnknownCursor(cursor));
            }
            Start::After(cursor) => {
                let filter = filter.clone();
                match readers.run(move |db| find_truncation(db, &filter, cursor, 0)).await? {
                    Some((error, _)) => return Err(error),
                    None => (cursor, 0),
                }
            }
            Start::Surviving(cursor) => (cursor, readers.run(removed_to).await?),
            Start::AfterSeq(stream, seq) => {
                let find = move |db: &rusqlite::Connection| {
                    let row = StreamRow::find(db, &stream, seq)?;
                    let last_seq = row.as_ref().map_or(0, |row| row.last_seq);
                    if seq > last_seq {
                        return Err(Error::Ahead { stream, seq, last_seq });
                    }
                    row.map_or(Ok(None), |row| block_after(db, row.id, seq))
                };
                // Nothing after `seq` was stored, so what comes is in blocks after `end`, which was read before.
                let found = readers.run(find).await?;
                (found.map_or(Cursor::end_of(end), |(block, _)| Cursor::new(block, seq)), 0)
            }
        };
        Ok(Self { filter: Arc::new(filter), position, known_removals, readers, source })
    }

    async fn advance(&mut self) -> Result<Batch> {
        loop {
            if let Some(batch) = self.catch_up().await? {
                return Ok(batch);
            }
            self.source.wait().await?;
        }
    }

    async fn catch_up(&mut self) -> Result<Option<Batch>> {
        loop {
            // A follower that always finds something must yield to other tasks.
            tokio::task::coop::consume_budget().await;
            let end = self.source.last_block(&self.readers).await?;
            let first = self.position.next_block();
            if first > end {
                return Ok(None);
            }
            let near = match &self.source {
                BlockSource::Notified { ring, .. } => ring.blocks_from(first, MAX_BLOCKS),
                BlockSource::Polled => None,
            };
            let (blocks, read_to) = match near {
                Some(blocks) => {
                    let last = blocks.last().map_or(end, |block| block.id());
                    (blocks, last)
                }
                None => self.read_store(first, end).await?,
            };
            let mut batch = Batch::default();
            for block in &blocks {
                batch.add(block, self.position, &self.filter);
            }
            self.position = Cursor::end_of(read_to);
            if !batch.is_empty() {
                return Ok(Some(batch));
            }
        }
    }

    async fn read_store(&mut self, first: BlockId, end: BlockId) -> Result<(Vec<Arc<Block>>, BlockId)> {
        let (filter, position, known) = (self.filter.clone(), self.position, self.known_removals);
        let read = move |db: &rusqlite::Connection| match find_truncation(db, &filter, position, known)? {
            Some(lost) => Ok(Err(lost)),
            None => chunk(db, &filter, first, end).map(Ok),
        };
        match self.readers.run(read).await? {
            Ok(chunk) => Ok((chunk.blocks, chunk.read_to)),
            Err((error, removed_to)) => {
                self.known_removals = removed_to;
                Err(error)
            }
        }
    }
}

impl Follow for SqliteFollower {
    fn next(&mut self) -> BoxFuture<'_, Result<Batch>> {
        Box::pin(self.advance())
    }

    fn ready(&mut self) -> BoxFuture<'_, Result<Option<Batch>>> {
        Box::pin(self.catch_up())
    }

    fn cursor(&self) -> Cursor {
        self.position
    }
}
