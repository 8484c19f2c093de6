//! The append-only event log and the tables beside it, on one SQLite file.
//!
//! # API
//!
//! ```no_run
//! # async fn example(session: roost_model::ids::SessionId, events: Vec<roost_model::event::NewEvent>) -> roost_log::Result<()> {
//! use std::sync::Arc;
//! use roost_log::{Filter, Log, LogOptions, SqliteLog, Start, StateLock, StreamId};
//!
//! let lock = StateLock::acquire("/home/me/.local/state/roost".as_ref(), "roost run")?;
//! let log: Arc<dyn Log> = Arc::new(SqliteLog::open(&lock, LogOptions::default())?);
//!
//! let stream = StreamId::from(&session);
//! let receipt = log.append(&stream, events).await?; // queued: waits only while the queue is full
//! let appended = receipt.await?;                    // committed; may be awaited later or never
//!
//! let mut follower = log.follow(Filter::stream(stream.clone()), Start::AfterSeq(stream, 0)).await?;
//! loop {
//!     for entry in &follower.next().await? {
//!         println!("{}", entry.json());             // entry.event()?, entry.seq(), entry.cursor()
//!     }
//! #   break;
//! }
//! # drop(appended); Ok(()) }
//! ```
//!
//! * [`Log`] is what everyone above takes, as `Arc<dyn Log>`: append, read, follow, the session directory, health.
//! * [`SqliteLog`] is the engine here; it adds opening, closing, [`SqliteLog::retain`] and [`SqliteLog::compact`].
//! * [`SqliteLog::open_read_only`] is for a second process while another holds the [`StateLock`].
//! * [`check`] and [`rebuild`] are for the state directory at rest (`roost check [--rebuild]`).
//!
//! # Decisions
//!
//! * **Only the holder of the state lock writes.** [`SqliteLog::open`] takes the lock, so two writers cannot exist.
//! * **One writer thread** drains a queue that is bounded in batches and bytes, commits once per group, then
//!   publishes. It never waits for a reader; a flood waits in its producer.
//! * **Block rows.** Up to 256 events of one stream are one row of NDJSON, encoded once; followers get the same bytes.
//!   Rows of 4 KiB and more are compressed as they are written, so that a flood writes less to the disk.
//!   Streams that are appended to at the same moment may be ordered either way; within a stream order never changes.
//! * **A follower is a position, not a queue.** It reads the ring while it is near, the store when it is behind.
//! * **Derived rows change in the events' transaction** and only by [`roost_model::session::SessionRecord::after`], so
//!   a replay gives the same rows. Where retention removed events, their sum stays as the stream's snapshot.
//! * **The host's own rows** ([`Log::keep`]) change in their events' transaction too, but hold secrets that events must
//!   not hold. They cannot be derived from events, so checks, rebuilds and retention leave them alone.
//! * **A removed prefix is an error, not a gap.** A reader whose position lies before it gets [`Error::Truncated`].
//! * **A full disk is waited out.** The group stays in memory and is tried again; [`Health::Stalled`] says so.

mod asks;
mod block;
mod check;
mod codec;
mod compact;
mod cursor;
mod error;
mod filter;
mod follower;
mod job;
mod lock;
mod log;
mod permissions;
mod queue;
mod reader;
mod retention;
mod ring;
mod rows;
mod schema;
mod sqlite;
mod storage;
mod stream;
mod tables;
mod writer;

pub use asks::DatedRule;
pub use block::{Batch, Entry};
pub use check::{Rebuilt, Report, check, rebuild};
pub use compact::Compacted;
pub use cursor::{Cursor, Start};
pub use error::{Error, Result};
pub use filter::Filter;
pub use lock::{Holder, StateLock};
pub use log::{Appended, BackPage, BoxFuture, Follow, Follower, Health, Log, Page, Receipt};
pub use permissions::{private_file, secure};
pub use retention::{Retained, Retention};
pub use rows::{RowChange, RowKind};
pub use schema::tables_version;
pub use sqlite::{LogOptions, SqliteLog, Synchronous};
pub use storage::Storage;
pub use stream::{Seq, StreamId};
