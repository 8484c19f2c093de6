//! The one writer of stdout: everything the agent says passes through its queue, whole lines only.
//!
//! Handing over a block of lines is atomic, so a turn that is cancelled while it waits for the
//! queue never leaves half a line behind.

use std::future::Future;
use std::io;

use agent_client_protocol::v1::schema::SessionNotification;
use futures::Sink;
use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};

/// Blocks waiting for stdout; small, so that a cancel overtakes a flood after a few blocks only.
const QUEUED_BLOCKS: usize = 4;

enum Item {
    Lines(Vec<u8>),
    Flush(oneshot::Sender<()>),
}

/// A handle to the queue in front of stdout.
#[derive(Clone)]
pub(super) struct Output {
    queue: mpsc::Sender<Item>,
}

/// Opens the queue; the returned future writes until every handle is gone or a write fails.
pub(super) fn open<W>(writer: W) -> (Output, impl Future<Output = io::Result<()>>)
where
    W: AsyncWrite + Unpin,
{
    let (queue, items) = mpsc::channel(QUEUED_BLOCKS);
    (Output { queue }, write(writer, items))
}

async fn write<W>(mut writer: W, mut items: mpsc::Receiver<Item>) -> io::Result<()>
where
    W: AsyncWrite + Unpin,
{
    while let Some(item) = items.recv().await {
        match item {
            Item::Lines(lines) => writer.write_all(&lines).await?,
            Item::Flush(done) => {
                writer.flush().await?;
                // Nobody waits any more if the turn was cancelled meanwhile.
                let _ = done.send(());
            }
        }
        if items.is_empty() {
            writer.flush().await?;
        }
    }
    writer.shutdown().await
}

impl Output {
    /// Queues one or more whole lines, each with its newline, waiting while the queue is full.
    pub(super) async fn lines(&self, lines: Vec<u8>) -> io::Result<()> {
        self.send(Item::Lines(lines)).await
    }

    /// Queues one session update as a line, waiting while the queue is full.
    pub(super) async fn notify(&self, notification: &SessionNotification) -> io::Result<()> {
        self.lines(encode(notification)?).await
    }

    /// Waits until all that was queued before has left the process.
    pub(super) async fn flush(&self) -> io::Result<()> {
        let (done, flushed) = oneshot::channel();
        self.send(Item::Flush(done)).await?;
        flushed.await.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// The end of the queue that the SDK writes its requests and replies to.
    pub(super) fn into_sink(self) -> impl Sink<String, Error = io::Error> + Send + 'static {
        futures::sink::unfold(self, |output, line: String| async move {
            let mut line = line.into_bytes();
            line.push(b'\n');
            output.lines(line).await?;
            Ok(output)
        })
    }

    async fn send(&self, item: Item) -> io::Result<()> {
        let sent = self.queue.send(item).await;
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// Encodes a session update as one JSON-RPC line, newline included.
pub(super) fn encode(params: impl Serialize) -> io::Result<Vec<u8>> {
    #[derive(Serialize)]
    struct Notification<P> {
        jsonrpc: &'static str,
        method: &'static str,
        params: P,
    }
    let mut line = serde_json::to_vec(&Notification { jsonrpc: "2.0", method: "session/update", params })?;
    line.push(b'\n');
    Ok(line)
}
