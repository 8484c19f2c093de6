//! The bounded queue of messages to a runtime.

use roost_engine::adapter::AdapterError;
use roost_process::Stdin;
use tokio::sync::mpsc;

/// How many messages may wait for the runtime to read them.
const QUEUE: usize = 256;

/// A bounded queue of messages to a runtime. Sending never waits.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<String>,
    /// The error message when the runtime does not read its input.
    refusal: &'static str,
}

impl Writer {
    /// A writer and the receiving end, which the caller must forward to the runtime; `refusal` is the error message
    /// when the queue is full or the receiver is dropped.
    pub(crate) fn new(refusal: &'static str) -> (Self, mpsc::Receiver<String>) {
        let (queue, outgoing) = mpsc::channel(QUEUE);
        (Self { queue, refusal }, outgoing)
    }

    /// A writer that spawns a task which writes every message as a line to stdin. Stdin closes when the last writer is
    /// dropped or a write fails.
    pub(crate) fn to_stdin(mut stdin: Stdin, refusal: &'static str) -> Self {
        let (writer, mut outgoing) = Self::new(refusal);
        tokio::spawn(async move {
            while let Some(mut line) = outgoing.recv().await {
                line.push('\n');
                if let Err(error) = stdin.write_all(line.as_bytes()).await {
                    tracing::debug!(%error, refusal, "A runtime no longer reads its input.");
                    return;
                }
            }
        });
        writer
    }

    /// Queues a message without waiting; an error if the queue is full or the runtime has closed its input.
    pub(crate) fn send(&self, message: String) -> Result<(), AdapterError> {
        let refused = |_| AdapterError::Runtime { message: self.refusal.to_owned(), raw: None };
        self.queue.try_send(message).map_err(refused)
    }
}
