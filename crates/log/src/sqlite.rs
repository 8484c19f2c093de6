//! The log on one SQLite file: opening, closing, and the way to each part.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::thread::{Builder, JoinHandle};

use parking_lot::Mutex;
use roost_model::approval::Pending;
use roost_model::event::{NewEvent, NormalizedEventType};
use roost_model::ids::SessionId;
use roost_model::session::SessionRecord;
use roost_model::time::Timestamp;
use tokio::sync::watch;

use crate::asks::{self, DatedRule, PendingCache};
use crate::compact::{Compact, Compacted};
use crate::cursor::Start;
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::follower::{BlockSource, SqliteFollower};
use crate::job::{Job, Steps};
use crate::lock::StateLock;
use crate::log::{BackPage, BoxFuture, Follower, Health, Log, Page, Receipt};
use crate::permissions;
use crate::queue::{Queue, WriterCommand};
use crate::reader::{Readers, page, page_back};
use crate::retention::{Retain, Retained, Retention};
use crate::ring::Ring;
use crate::rows::{self, RowChange, RowKind};
use crate::schema::{database, open_reader, open_writer};
use crate::storage::Storage;
use crate::stream::{Seq, StreamId};
use crate::tables;
use crate::writer::{Wiring, Writer};

/// The default of [`LogOptions::ring_bytes`].
const RING_BYTES: usize = 8 << 20;

/// How durable a committed event is; SQLite's pragma `synchronous`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// It survives any end of the process, but the last events may be lost if the machine loses power.
    #[default]
    Normal,
    /// It survives the loss of power too; each commit waits for the disk.
    Full,
}

impl Synchronous {
    pub(crate) fn pragma(self) -> &'static str {
        match self {
            Self::Normal => "NORMAL",
            Self::Full => "FULL",
        }
    }
}

/// How the log is opened.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// How durable a committed event is.
    pub synchronous: Synchronous,
    /// Bytes of memory for recent events, from which followers are served without a read; 8 MiB by default.
    pub ring_bytes: usize,
    /// The most pages that the database may have. With it, tests fill the disk and make room again.
    #[doc(hidden)]
    pub page_limit: Option<Arc<AtomicU32>>,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self { synchronous: Synchronous::default(), ring_bytes: RING_BYTES, page_limit: None }
    }
}

/// The log on one SQLite file. Clones share it, and dropping the last one closes it.
#[derive(Clone)]
pub struct SqliteLog {
    inner: Arc<Inner>,
}

struct Inner {
    readers: Arc<Readers>,
    source: BlockSource,
    health: watch::Receiver<Health>,
    /// `None` where the log is open for reading only.
    writer: Option<WriterHandle>,
}

/// The handle to the writer thread. Dropping it commits what is queued and ends the thread.
struct WriterHandle {
    queue: Queue,
    closing: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// The last block that compaction looked at.
    compacted_to: Arc<AtomicI64>,
    pending: Arc<PendingCache>,
    /// Released only after the writer thread has ended.
    _lock: StateLock,
}

impl SqliteLog {
    /// Opens the log of the state directory for writing. Creates or migrates the database, if needed.
    pub fn open(lock: &StateLock, options: LogOptions) -> Result<Self> {
        let path = database(lock.dir());
        // SQLite gives the files beside it the same mode.
        permissions::touch(&path).map_err(Error::io(&path))?;
        let db = open_writer(&path, options.synchronous)?;
        let (queue, commands) = Queue::new();
        let ring = Arc::new(Ring::new(options.ring_bytes));
        let (published, newest) = watch::channel(0);
        let (health, healthy) = watch::channel(Health::Ok);
        let closing = Arc::new(AtomicBool::new(false));
        let pending = Arc::new(PendingCache::load(&db).map_err(|error| error.at(&path))?);
        let wiring = Wiring {
            commands,
            ring: ring.clone(),
            published,
            health,
            closing: closing.clone(),
            pending: pending.clone(),
            page_limit: options.page_limit,
        };
        let writer = Writer::new(db, wiring).map_err(|error| error.at(&path))?;
        let thread =
            Builder::new().name("roost-log-writer".into()).spawn(move || writer.run()).map_err(Error::io(&path))?;
        let thread = Mutex::new(Some(thread));
        let compacted_to = Arc::default();
        let writer = WriterHandle { queue, closing, thread, compacted_to, pending, _lock: lock.clone() };
        let readers = Arc::new(Readers::new(path));
        let inner = Inner {
            readers,
            source: BlockSource::Notified { published: newest, ring, health: healthy.clone() },
            health: healthy,
            writer: Some(writer),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Opens the log of a state directory that another process may hold. Sees what that process commits.
    pub fn open_read_only(state: &Path) -> Result<Self> {
        let path = database(state);
        drop(open_reader(&path)?);
        let (_, health) = watch::channel(Health::Ok);
        let inner = Inner { readers: Arc::new(Readers::new(path)), source: BlockSource::Polled, health, writer: None };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Commits what is queued and ends the writer; later appends and, once they have read everything, followers get
    /// [`Error::Closed`].
    pub async fn close(&self) {
        let inner = self.inner.clone();
        let close = move || {
            // The connection that is closed last moves the write-ahead log into the database, if it may write.
            inner.readers.close();
            if let Some(writer) = &inner.writer {
                writer.close();
            }
        };
        // It only fails when the runtime shuts down, and then dropping the log does the same.
        let _ = tokio::task::spawn_blocking(close).await;
    }

    /// Removes the events beyond these limits, in steps between appends. Events of running tasks stay.
    pub async fn retain(&self, rules: Retention, now: Timestamp) -> Result<Retained> {
        self.run(Retain::new(rules, now)).await
    }

    /// Compresses the blocks whose last event is older than this, in steps between appends.
    pub async fn compact(&self, older_than: Timestamp) -> Result<Compacted> {
        self.run(Compact::new(older_than, self.writer()?.compacted_to.clone())).await
    }

    async fn run<S: Steps + 'static>(&self, steps: S) -> Result<S::Outcome> {
        let (job, answer) = Job::new(steps);
        self.writer()?.queue.send(WriterCommand::Job(job)).await.map_err(|error| self.explain(error))?;
        answer.await.unwrap_or_else(|_| Err(self.explain(Error::Closed)))
    }

    fn writer(&self) -> Result<&WriterHandle> {
        self.inner.writer.as_ref().ok_or(Error::ReadOnly)
    }

    /// Replaces [`Error::Closed`] by the reason why the writer is gone.
    fn explain(&self, error: Error) -> Error {
        if matches!(error, Error::Closed) { self.inner.health.borrow().end() } else { error }
    }
}

impl WriterHandle {
    fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.queue.wake();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            thread.thread().unpark();
            if thread.join().is_err() {
                tracing::error!("The log's writer panicked");
            }
        }
    }
}

impl Drop for WriterHandle {
    fn drop(&mut self) {
        self.close();
    }
}

impl Log for SqliteLog {
    fn append(&self, stream: &StreamId, events: Vec<NewEvent>) -> BoxFuture<'_, Result<Receipt>> {
        let stream = stream.clone();
        Box::pin(async move {
            self.writer()?.queue.append(stream, events, Vec::new()).await.map_err(|error| self.explain(error))
        })
    }

    fn keep(&self, changes: Vec<RowChange>, events: Vec<NewEvent>) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let queued = self.writer()?.queue.append(StreamId::host(), events, changes).await;
            queued.map_err(|error| self.explain(error))?.await.map_err(|error| self.explain(error)).map(drop)
        })
    }

    fn rows(&self, kind: RowKind) -> BoxFuture<'_, Result<Vec<(String, String)>>> {
        Box::pin(self.inner.readers.run(move |db| rows::rows(db, kind)))
    }

    fn row(&self, kind: RowKind, id: &str) -> BoxFuture<'_, Result<Option<String>>> {
        let id = id.to_owned();
        Box::pin(self.inner.readers.run(move |db| rows::row(db, kind, &id)))
    }

    fn read(&self, stream: &StreamId, after: Seq, limit: usize) -> BoxFuture<'_, Result<Page>> {
        let stream = stream.clone();
        Box::pin(self.inner.readers.run(move |db| page(db, &stream, after, limit)))
    }

    fn read_back(
        &self,
        stream: &StreamId,
        before: Seq,
        types: &[NormalizedEventType],
        limit: usize,
    ) -> BoxFuture<'_, Result<BackPage>> {
        let stream = stream.clone();
        let filter = Filter::stream(stream.clone());
        let filter = if types.is_empty() { filter } else { filter.types(types.iter().copied()) };
        Box::pin(self.inner.readers.run(move |db| page_back(db, &stream, &filter, before, limit)))
    }

    fn follow(&self, filter: Filter, start: Start) -> BoxFuture<'_, Result<Follower>> {
        let Inner { readers, source, .. } = &*self.inner;
        Box::pin(async move {
            let follower = SqliteFollower::start(filter, start, readers.clone(), source.clone()).await?;
            Ok(Box::new(follower) as Follower)
        })
    }

    fn session(&self, id: &str) -> BoxFuture<'_, Result<Option<SessionRecord>>> {
        let id = id.to_owned();
        Box::pin(self.inner.readers.run(move |db| tables::session(db, &id)))
    }

    fn sessions(&self, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>>> {
        Box::pin(self.inner.readers.run(move |db| tables::sessions(db, limit)))
    }

    fn unclosed(&self) -> BoxFuture<'_, Result<Vec<SessionRecord>>> {
        Box::pin(self.inner.readers.run(tables::unclosed))
    }

    fn open_tasks(&self) -> BoxFuture<'_, Result<Vec<SessionRecord>>> {
        Box::pin(self.inner.readers.run(tables::open_tasks))
    }

    fn pending(&self, session: Option<&SessionId>) -> BoxFuture<'_, Result<Vec<Arc<Pending>>>> {
        if let Some(writer) = &self.inner.writer {
            let pending = writer.pending.list(session);
            return Box::pin(async { Ok(pending) });
        }
        let session = session.map(|session| session.as_str().to_owned());
        Box::pin(self.inner.readers.run(move |db| asks::pending(db, session.as_deref())))
    }

    fn remembered(&self) -> BoxFuture<'_, Result<Vec<DatedRule>>> {
        Box::pin(self.inner.readers.run(asks::remembered))
    }

    fn oldest(&self) -> BoxFuture<'_, Result<Option<Timestamp>>> {
        Box::pin(self.inner.readers.run(|db| {
            let mut select = db.prepare_cached("SELECT min(time_ms) FROM blocks")?;
            let millis: Option<i64> = select.query_row([], |row| row.get(0))?;
            Ok(millis.map(Timestamp::from_millis))
        }))
    }

    fn storage(&self) -> BoxFuture<'_, Result<Storage>> {
        Box::pin(self.inner.readers.measure())
    }

    fn health(&self) -> watch::Receiver<Health> {
        self.inner.health.clone()
    }
}
