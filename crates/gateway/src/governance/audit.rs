//! Writes the record of calls to the log, without making a call wait for the disk.

use std::sync::Arc;

use parking_lot::Mutex;
use roost_log::{Log, StreamId};
use roost_model::event::NewEvent;
use roost_model::payload::McpToolCalledPayload;
use roost_model::time::Timestamp;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Records that may wait to be written. When so many wait, calls wait too: none is lost.
const QUEUE: usize = 4096;
/// The most records that are written at once.
const BATCH: usize = 256;

/// The queue of records, and the task that writes them. The task ends when the trail is closed or dropped.
pub(super) struct AuditTrail {
    queue: Mutex<Option<mpsc::Sender<NewEvent>>>,
    writing: Mutex<Option<JoinHandle<()>>>,
}

impl AuditTrail {
    pub(super) fn new(log: Arc<dyn Log>) -> Self {
        let (queue, records) = mpsc::channel(QUEUE);
        let writing = tokio::spawn(write(log, records));
        Self { queue: Mutex::new(Some(queue)), writing: Mutex::new(Some(writing)) }
    }

    /// Queues a record if there is room, for where nothing can wait.
    pub(super) fn record_now(&self, record: McpToolCalledPayload) {
        let event = NewEvent::for_host(Timestamp::now(), record);
        let queued = self.queue.lock().as_ref().is_some_and(|queue| queue.try_send(event).is_ok());
        if !queued {
            tracing::error!("A call of the MCP gateway that its client gave up could not be recorded.");
        }
    }

    /// Queues a record; waits only while the queue is full.
    pub(super) async fn record(&self, record: McpToolCalledPayload) {
        let event = NewEvent::for_host(Timestamp::now(), record);
        let queue = self.queue.lock().clone();
        let queued = match queue {
            Some(queue) => queue.send(event).await.is_ok(),
            None => false,
        };
        if !queued {
            tracing::error!("A call of the MCP gateway could not be recorded, because the daemon is shutting down.");
        }
    }

    /// Returns when everything that was queued is in the log.
    pub(super) async fn close(&self) {
        drop(self.queue.lock().take());
        let writing = self.writing.lock().take();
        if let Some(writing) = writing {
            // A task that panicked has nothing left to write.
            let _ = writing.await;
        }
    }
}

/// Writes what is queued, as much as there is at a time. The log's own queue is bounded, so a slow disk fills both.
async fn write(log: Arc<dyn Log>, mut records: mpsc::Receiver<NewEvent>) {
    let mut batch = Vec::with_capacity(BATCH);
    let mut last = None;
    while records.recv_many(&mut batch, BATCH).await > 0 {
        match log.append(&StreamId::host(), std::mem::take(&mut batch)).await {
            Ok(receipt) => last = Some(receipt),
            Err(error) => tracing::error!(%error, "Calls of the MCP gateway could not be recorded."),
        }
    }
    if let Some(Err(error)) = match last {
        Some(receipt) => Some(receipt.await),
        None => None,
    } {
        tracing::error!(%error, "The last calls of the MCP gateway could not be recorded.");
    }
}
