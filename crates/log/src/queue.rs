//! The queue of the writer thread. It is bounded in batches and in bytes, so that a flood of events waits in its
//! producer and not in memory.

use std::io;
use std::sync::Arc;

use roost_model::event::{EventBody, NewEvent, NormalizedEvent};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::error::{Error, Result};
use crate::job::Job;
use crate::log::{Appended, Receipt};
use crate::rows::RowChange;
use crate::stream::StreamId;

/// The most batches that wait; enough for a full group even if each holds one event.
const BATCHES: usize = 4096;
/// The most bytes that wait; one bigger batch may wait alone.
const BYTES: u32 = 4 << 20;
/// The most bytes of one event. Escapes can make a text six times longer, and SQLite stores rows of up to 10^9 bytes.
const MAX_EVENT: usize = 128 << 20;
/// Roughly the bytes of a delta's line besides its text.
const ENVELOPE: usize = 400;

/// A message to the writer thread.
pub(crate) enum WriterCommand {
    Append(Append),
    Job(Job),
    /// Wakes the writer, so that it checks whether the log is closing.
    Wake,
}

/// Events to append, not numbered yet, and rows to change with them.
pub(crate) struct Append {
    pub(crate) stream: StreamId,
    pub(crate) events: Vec<NormalizedEvent>,
    pub(crate) changes: Vec<RowChange>,
    pub(crate) bytes: usize,
    pub(crate) reply: oneshot::Sender<Result<Appended>>,
    /// The queue's bytes for these events; released when they are committed.
    pub(crate) room: OwnedSemaphorePermit,
}

/// The sending side of the queue.
pub(crate) struct Queue {
    commands: mpsc::Sender<WriterCommand>,
    room: Arc<Semaphore>,
}

impl Queue {
    pub(crate) fn new() -> (Self, mpsc::Receiver<WriterCommand>) {
        let (commands, receiver) = mpsc::channel(BATCHES);
        (Self { commands, room: Arc::new(Semaphore::new(BYTES as usize)) }, receiver)
    }

    pub(crate) async fn append(
        &self,
        stream: StreamId,
        events: Vec<NewEvent>,
        changes: Vec<RowChange>,
    ) -> Result<Receipt> {
        let events: Vec<_> = events.into_iter().map(|event| event.numbered(0)).collect();
        let mut bytes = 0;
        for size in events.iter().map(size).chain(changes.iter().map(RowChange::size)) {
            if size > MAX_EVENT {
                return Err(Error::TooBig { bytes: size, max: MAX_EVENT });
            }
            bytes += size;
        }
        let wanted = u32::try_from(bytes).unwrap_or(BYTES).min(BYTES);
        let room = self.room.clone().acquire_many_owned(wanted).await.map_err(|_| Error::Closed)?;
        let (reply, answer) = oneshot::channel();
        self.send(WriterCommand::Append(Append { stream, events, changes, bytes, reply, room })).await?;
        Ok(Receipt { answer })
    }

    pub(crate) async fn send(&self, command: WriterCommand) -> Result<()> {
        self.commands.send(command).await.map_err(|_| Error::Closed)
    }

    /// Wakes the writer. If the queue is full, the writer is awake already.
    pub(crate) fn wake(&self) {
        let _ = self.commands.try_send(WriterCommand::Wake);
    }
}

/// The bytes of an event's JSON. Estimated for deltas, which are too many to be serialised twice.
fn size(event: &NormalizedEvent) -> usize {
    match &event.body {
        EventBody::ModelOutputDelta(delta) if event.runtime.raw.is_none() => ENVELOPE + delta.delta.len(),
        EventBody::ToolOutputDelta(delta) if event.runtime.raw.is_none() => ENVELOPE + delta.delta.len(),
        _ => {
            let mut counter = Counter(0);
            // Counting cannot fail; what cannot be encoded fails in the writer.
            let _ = serde_json::to_writer(&mut counter, event);
            counter.0
        }
    }
}

/// Counts the bytes that are written and drops them.
struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
