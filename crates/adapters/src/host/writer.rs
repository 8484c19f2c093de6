//! The way to a runtime.

use roost_engine::adapter::AdapterError;
use roost_process::Stdin;
use tokio::sync::mpsc;

/// Messages that may wait for the runtime to read them.
const QUEUE: usize = 256;

/// A bounded queue of messages to a runtime. Sending never waits.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<String>,
    /// What is said when the runtime does not read.
    refusal: &'static str,
}

impl Writer {
    /// A writer and what is to be carried to the runtime; `refusal` is the error when that is not done.
    pub(crate) fn new(refusal: &'static str) -> (Self, mpsc::Receiver<String>) {
        let (queue, outgoing) = mpsc::channel(QUEUE);
        (Self { queue, refusal }, outgoing)
    }

    /// Writes every message as a line to stdin, which closes when the writer is dropped or the runtime stops reading.
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

    /// Hands a message over.
    pub(crate) fn send(&self, message: String) -> Result<(), AdapterError> {
        let refused = |_| AdapterError::Runtime { message: self.refusal.to_owned(), raw: None };
        self.queue.try_send(message).map_err(refused)
    }
}
