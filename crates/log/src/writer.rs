//! The writer thread: it numbers events, commits them in groups, then publishes them.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use roost_model::event::NormalizedEvent;
use roost_model::session::SessionRecord;
use roost_model::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use tokio::sync::{mpsc, oneshot, watch};

use crate::asks::{AskChange, PendingCache};
use crate::block::{Block, BlockBuilder, BlockSize};
use crate::codec::Packer;
use crate::cursor::BlockId;
use crate::error::{Error, Result};
use crate::job::Job;
use crate::log::{Appended, Health};
use crate::queue::{Append, WriterCommand};
use crate::ring::Ring;
use crate::rows::RowChange;
use crate::stream::{Seq, StreamId};
use crate::tables::{Summary, from_json};

/// Roughly the most events in one transaction: enough to make its fixed cost small, and few enough that followers wait
/// only milliseconds.
const GROUP_EVENTS: usize = 4096;
/// Roughly the most bytes in one transaction.
const GROUP_BYTES: usize = 2 << 20;
/// The pause before a failed commit is tried again.
const RETRY: Duration = Duration::from_millis(250);
/// The most streams whose state is cached. Beyond that the cache is cleared, and streams are read again when needed.
const KNOWN_STREAMS: usize = 4096;

/// The channels and the state that the writer shares with the rest of the log.
pub(crate) struct Wiring {
    pub(crate) commands: mpsc::Receiver<WriterCommand>,
    pub(crate) ring: Arc<Ring>,
    /// The newest block that followers may read.
    pub(crate) published: watch::Sender<BlockId>,
    pub(crate) health: watch::Sender<Health>,
    /// Set once, when the log closes.
    pub(crate) closing: Arc<AtomicBool>,
    pub(crate) pending: Arc<PendingCache>,
    /// The most pages that the database may have. With it, tests fill the disk.
    pub(crate) page_limit: Option<Arc<AtomicU32>>,
}

pub(crate) struct Writer {
    db: Connection,
    wiring: Wiring,
    streams: HashMap<StreamId, Stream>,
    next_stream: i64,
    next_block: BlockId,
    jobs: VecDeque<Job>,
}

/// The writer's state of a stream. After a commit the database holds the same.
struct Stream {
    row: i64,
    last_seq: Seq,
    summary: Summary,
    summary_changed: bool,
    /// The block that takes the events of the current group.
    open: Option<BlockBuilder>,
    /// The size of the last block, which the next one is likely to have too.
    last_block: BlockSize,
    /// The current group has events of this stream.
    touched: bool,
}

/// Everything that one transaction commits.
#[derive(Default)]
struct Group {
    blocks: Vec<Arc<Block>>,
    touched: Vec<StreamId>,
    asks: Vec<AskChange>,
    rows: Vec<RowChange>,
    replies: Vec<(oneshot::Sender<Result<Appended>>, Result<Appended>)>,
}

/// The last block that was ever written.
pub(crate) fn last_block(db: &Connection) -> Result<BlockId> {
    let mut select = db.prepare_cached("SELECT seq FROM sqlite_sequence WHERE name = 'blocks'")?;
    Ok(select.query_row([], |row| row.get(0)).optional()?.unwrap_or(0))
}

impl Writer {
    pub(crate) fn new(db: Connection, wiring: Wiring) -> Result<Self> {
        let next_stream = db.query_row("SELECT coalesce(max(id), 0) + 1 FROM streams", [], |row| row.get(0))?;
        let next_block = last_block(&db)? + 1;
        wiring.published.send_replace(next_block - 1);
        Ok(Self { db, wiring, streams: HashMap::new(), next_stream, next_block, jobs: VecDeque::new() })
    }

    /// Works until the log is closed or can no longer be written.
    pub(crate) fn run(mut self) {
        while let Some(appends) = self.take() {
            if let Err(error) = self.append(appends) {
                return self.fail(error);
            }
            if let Some(job) = self.jobs.pop_front().and_then(|job| job.step(&self.db)) {
                self.jobs.push_back(job);
            }
        }
    }

    /// Takes queued appends, up to a group. Waits for one unless a job is unfinished. `None` once the queue is closed
    /// and empty.
    fn take(&mut self) -> Option<Vec<Append>> {
        let (mut appends, mut events, mut bytes) = (Vec::new(), 0, 0);
        while events < GROUP_EVENTS && bytes < GROUP_BYTES {
            if self.is_closing() {
                self.wiring.commands.close();
                self.jobs.clear();
            }
            let command = if appends.is_empty() && self.jobs.is_empty() {
                self.wiring.commands.blocking_recv()?
            } else {
                let Ok(command) = self.wiring.commands.try_recv() else { break };
                command
            };
            match command {
                WriterCommand::Append(append) => {
                    events += append.events.len();
                    bytes += append.bytes;
                    appends.push(append);
                }
                WriterCommand::Job(job) => self.jobs.push_back(job),
                WriterCommand::Wake => {}
            }
        }
        Some(appends)
    }

    fn append(&mut self, appends: Vec<Append>) -> Result<()> {
        if appends.is_empty() {
            return Ok(());
        }
        if self.streams.len() > KNOWN_STREAMS {
            self.streams.clear();
        }
        let mut group = Group::default();
        let mut rooms = Vec::with_capacity(appends.len());
        let mut outcome = Ok(());
        for Append { stream, events, changes, reply, room, .. } in appends {
            rooms.push(room);
            group.rows.extend(changes);
            let appended = outcome.clone().and_then(|()| self.number(&mut group, stream, events));
            outcome = appended.clone().map(drop);
            group.replies.push((reply, appended));
        }
        let outcome = outcome.and_then(|()| {
            for name in &group.touched {
                if let Some(stream) = self.streams.get_mut(name) {
                    stream.seal(&mut self.next_block, &mut group.blocks);
                }
            }
            self.retry_while_transient(|writer| writer.commit(&group))
        });
        if outcome.is_ok() {
            self.publish(&mut group);
        }
        for (reply, appended) in group.replies {
            // Whoever dropped the receipt does not want to know.
            let _ = reply.send(outcome.clone().and(appended));
        }
        outcome
    }

    /// Numbers the events and adds them to blocks.
    fn number(&mut self, group: &mut Group, name: StreamId, events: Vec<NormalizedEvent>) -> Result<Appended> {
        if !self.streams.contains_key(&name) {
            let known = self.retry_while_transient(|writer| Stream::load(&writer.db, &name))?;
            let stream = known.unwrap_or_else(|| Stream::new(self.next_stream));
            self.next_stream = self.next_stream.max(stream.row + 1);
            self.streams.insert(name.clone(), stream);
        }
        let Some(stream) = self.streams.get_mut(&name) else { return Err(Error::Closed) };
        let first = stream.last_seq + 1;
        if !events.is_empty() && !stream.touched {
            stream.touched = true;
            group.touched.push(name.clone());
        }
        for mut event in events {
            if stream.open.as_ref().is_some_and(BlockBuilder::is_full) {
                stream.seal(&mut self.next_block, &mut group.blocks);
            }
            stream.last_seq += 1;
            event.seq = stream.last_seq;
            if event.trace.session_id.as_str() == name.as_str() {
                group.asks.extend(AskChange::from_event(&event));
            }
            if SessionRecord::concerns(&event.body) {
                stream.summary.add(&name, &event);
                stream.summary_changed = true;
            }
            stream
                .open
                .get_or_insert_with(|| BlockBuilder::new(name.clone(), event.seq, stream.last_block))
                .push(event)
                .map_err(|error| Error::Failed { reason: error.to_string().into() })?;
        }
        Ok(Appended { first, last: stream.last_seq })
    }

    fn commit(&self, group: &Group) -> Result<()> {
        if let Some(pages) = &self.wiring.page_limit {
            self.db.pragma_update(None, "max_page_count", pages.load(Ordering::Acquire))?;
        }
        if group.blocks.is_empty() && group.rows.is_empty() {
            return Ok(());
        }
        let db = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate)?;
        for name in &group.touched {
            let Some(stream) = self.streams.get(name) else { continue };
            db.prepare_cached(
                "INSERT INTO streams(id, name, last_seq) VALUES(?1, ?2, ?3)
                 ON CONFLICT(id) DO UPDATE SET last_seq = excluded.last_seq",
            )?
            .execute(params![stream.row, name.as_str(), stream.last_seq as i64])?;
            if stream.summary_changed {
                stream.summary.store(&db, stream.row)?;
            }
        }
        group.asks.iter().try_for_each(|change| change.store(&db))?;
        group.rows.iter().try_for_each(|change| change.store(&db))?;
        let mut insert = db.prepare_cached(
            "INSERT INTO blocks(id, stream, first_seq, last_seq, types, time_ms, bytes, codec, body)
             VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        let mut packer = Packer::default();
        for block in &group.blocks {
            let row = self.streams.get(block.stream()).map(|stream| stream.row);
            let (codec, body) = packer.pack(block.text());
            let time = block.event(block.len() - 1)?.time.as_millis();
            insert.execute(params![
                block.id(),
                row,
                block.first_seq() as i64,
                block.last_seq() as i64,
                block.types().0 as i64,
                time,
                block.text().len() as i64,
                codec,
                body,
            ])?;
        }
        drop(insert);
        Ok(db.commit()?)
    }

    fn publish(&mut self, group: &mut Group) {
        for name in group.touched.drain(..) {
            if let Some(stream) = self.streams.get_mut(&name) {
                (stream.touched, stream.summary_changed) = (false, false);
            }
        }
        group.asks.drain(..).for_each(|change| self.wiring.pending.apply(change));
        if !group.blocks.is_empty() {
            self.wiring.ring.push(std::mem::take(&mut group.blocks));
            self.wiring.published.send_replace(self.next_block - 1);
        }
    }

    /// Retries until the attempt succeeds, the log closes, or the error is not transient. Sets [`Health::Stalled`]
    /// meanwhile.
    fn retry_while_transient<T>(&self, attempt: impl Fn(&Self) -> Result<T>) -> Result<T> {
        let health = &self.wiring.health;
        loop {
            match attempt(self) {
                Err(error) if error.is_transient() && !self.is_closing() => {
                    if *health.borrow() == Health::Ok {
                        tracing::warn!(%error, "The log cannot be written; waiting for the disk");
                        let reason = error.to_string().into();
                        health.send_replace(Health::Stalled { reason, since: Timestamp::now() });
                    }
                    thread::park_timeout(RETRY);
                }
                Ok(done) => {
                    if *health.borrow() != Health::Ok {
                        tracing::info!("The log can be written again");
                        health.send_replace(Health::Ok);
                    }
                    return Ok(done);
                }
                failed => return failed.map_err(|error| error.at(Path::new(self.db.path().unwrap_or_default()))),
            }
        }
    }

    fn is_closing(&self) -> bool {
        self.wiring.closing.load(Ordering::Acquire)
    }

    /// Marks the log as failed and answers every queued append with the reason.
    fn fail(mut self, error: Error) {
        tracing::error!(%error, "The log can no longer be written");
        let reason: Arc<str> = error.to_string().into();
        self.wiring.health.send_replace(Health::Failed { reason: reason.clone() });
        self.wiring.commands.close();
        while let Some(command) = self.wiring.commands.blocking_recv() {
            if let WriterCommand::Append(append) = command {
                let _ = append.reply.send(Err(Error::Failed { reason: reason.clone() }));
            }
        }
    }
}

impl Stream {
    fn new(row: i64) -> Self {
        Self {
            row,
            last_seq: 0,
            summary: Summary::default(),
            summary_changed: false,
            open: None,
            last_block: BlockSize::default(),
            touched: false,
        }
    }

    fn load(db: &Connection, name: &StreamId) -> Result<Option<Self>> {
        let mut select = db.prepare_cached("SELECT id, last_seq FROM streams WHERE name = ?1")?;
        let row = select.query_row([name.as_str()], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?))).optional()?;
        let Some((row, last_seq)) = row else { return Ok(None) };
        let mut select = db.prepare_cached("SELECT record FROM sessions WHERE stream = ?1 AND session_id = ?2")?;
        let record = select.query_row(params![row, name.as_str()], |row| from_json(row, 0)).optional()?;
        let summary = Summary { record, ..Summary::default() };
        Ok(Some(Self { last_seq: last_seq as Seq, summary, ..Self::new(row) }))
    }

    fn seal(&mut self, next_block: &mut BlockId, blocks: &mut Vec<Arc<Block>>) {
        if let Some(open) = self.open.take() {
            let block = open.seal(*next_block);
            self.last_block = block.size();
            blocks.push(Arc::new(block));
            *next_block += 1;
        }
    }
}
