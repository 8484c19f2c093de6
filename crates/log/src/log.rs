//! The interface of the log. Another storage engine would implement this and nothing else.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use roost_model::approval::Pending;
use roost_model::event::{NewEvent, NormalizedEventType};
use roost_model::ids::SessionId;
use roost_model::session::SessionRecord;
use roost_model::time::Timestamp;
use tokio::sync::{oneshot, watch};

use crate::asks::DatedRule;
use crate::block::Batch;
use crate::cursor::{Cursor, Start};
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::rows::{RowChange, RowKind};
use crate::storage::Storage;
use crate::stream::{Seq, StreamId};

/// A future that a trait object can return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A durable, ordered record of events in streams, and the directory of sessions that it adds up to.
pub trait Log: Send + Sync {
    /// Queues events for a stream in this order; waits while the queue is full. One caller's appends keep their order.
    ///
    /// No events is allowed: its receipt resolves when everything queued before is committed.
    fn append(&self, stream: &StreamId, events: Vec<NewEvent>) -> BoxFuture<'_, Result<Receipt>>;

    /// Changes rows of the host and appends events to its stream, all in one transaction; resolves when committed.
    ///
    /// Either list may be empty. If the future is dropped after it was polled, the change may or may not happen.
    fn keep(&self, changes: Vec<RowChange>, events: Vec<NewEvent>) -> BoxFuture<'_, Result<()>>;

    /// The host's rows of a kind as pairs of id and JSON, ordered by id.
    fn rows(&self, kind: RowKind) -> BoxFuture<'_, Result<Vec<(String, String)>>>;

    /// The JSON of the host's row of this kind and id.
    fn row(&self, kind: RowKind, id: &str) -> BoxFuture<'_, Result<Option<String>>>;

    /// Reads a stream after this event; 0 means from the first. A page may hold fewer events than asked for.
    fn read(&self, stream: &StreamId, after: Seq, limit: usize) -> BoxFuture<'_, Result<Page>>;

    /// Reads the last events of a stream before this one that are of these types (none named: of all), in order. A page
    /// may hold fewer events than asked for.
    fn read_back(
        &self,
        stream: &StreamId,
        before: Seq,
        types: &[NormalizedEventType],
        limit: usize,
    ) -> BoxFuture<'_, Result<BackPage>>;

    /// Opens a follower that delivers what the filter wants, beginning at `start`.
    fn follow(&self, filter: Filter, start: Start) -> BoxFuture<'_, Result<Follower>>;

    /// The session with this id, or with this id of its runtime. If several sessions have the same runtime id, the one
    /// that changed last.
    fn session(&self, id: &str) -> BoxFuture<'_, Result<Option<SessionRecord>>>;

    /// The sessions that changed last, newest first.
    fn sessions(&self, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>>>;

    /// The sessions whose task has not ended.
    fn open_tasks(&self) -> BoxFuture<'_, Result<Vec<SessionRecord>>>;

    /// The sessions that were prompted and not closed since.
    fn unclosed(&self) -> BoxFuture<'_, Result<Vec<SessionRecord>>>;

    /// The tool calls and questions that wait for a person in one session, or in all of them; the oldest first.
    fn pending(&self, session: Option<&SessionId>) -> BoxFuture<'_, Result<Vec<Arc<Pending>>>>;

    /// The answers that are remembered as rules, the oldest first.
    fn remembered(&self) -> BoxFuture<'_, Result<Vec<DatedRule>>>;

    /// The time of the oldest stored block, which is that of its last event; `None` if the log is empty.
    fn oldest(&self) -> BoxFuture<'_, Result<Option<Timestamp>>>;

    /// How much room the log takes, and how much is left. Costs the same however long the log is.
    fn storage(&self) -> BoxFuture<'_, Result<Storage>>;

    /// Whether events can be stored. The receiver is notified of every change.
    fn health(&self) -> watch::Receiver<Health>;
}

/// A reader that never misses an event, however slow it is.
pub type Follower = Box<dyn Follow>;

/// The interface of a [`Follower`].
pub trait Follow: Send {
    /// The next events, at least one; waits for them. Dropping the future loses nothing.
    ///
    /// After [`Error::Truncated`] the follower goes on with what is still stored.
    fn next(&mut self) -> BoxFuture<'_, Result<Batch>>;

    /// The next events if some are stored already, else `None`. Does not wait for new ones.
    fn ready(&mut self) -> BoxFuture<'_, Result<Option<Batch>>>;

    /// The position after everything that [`Follow::next`] returned or filtered out.
    fn cursor(&self) -> Cursor;
}

/// Some events of one stream.
#[derive(Clone, Debug)]
pub struct Page {
    /// The events, in order.
    pub batch: Batch,
    /// The stream's last event when the page was read; 0 if there is none.
    pub last_seq: Seq,
}

/// Some events of one stream, read from its end towards its beginning.
#[derive(Clone, Debug)]
pub struct BackPage {
    /// The events, in the order in which they happened.
    pub batch: Batch,
    /// Whether there may be more of them before these.
    pub has_more: bool,
}

/// The numbers that the appended events got in their stream. For an append without events, `first` is `last + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The number of the first event.
    pub first: Seq,
    /// The number of the last event.
    pub last: Seq,
}

/// Resolves once the events are committed; may be dropped, the events are stored all the same.
#[derive(Debug)]
pub struct Receipt {
    pub(crate) answer: oneshot::Receiver<Result<Appended>>,
}

impl Future for Receipt {
    type Output = Result<Appended>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.answer).poll(context).map(|answer| answer.unwrap_or(Err(Error::Closed)))
    }
}

/// Whether events can be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// The last commit succeeded, or there was none yet.
    Ok,
    /// Commits fail and are retried, as on a full disk. Nothing is lost; appends wait.
    Stalled {
        /// The error message of the last commit.
        reason: Arc<str>,
        /// When the first event could not be stored.
        since: Timestamp,
    },
    /// The writer has given up. Nothing is stored until the daemon is restarted.
    Failed {
        /// The error message that made it give up.
        reason: Arc<str>,
    },
}

impl Health {
    /// The error for a caller that finds the writer gone.
    pub(crate) fn end(&self) -> Error {
        match self {
            Self::Failed { reason } => Error::Failed { reason: reason.clone() },
            Self::Ok | Self::Stalled { .. } => Error::Closed,
        }
    }
}
