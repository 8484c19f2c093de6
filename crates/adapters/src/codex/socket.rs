//! The private unix socket between a session and its server: a folder that only our user may enter, and WebSocket
//! frames inside.

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::stream::{SplitSink, SplitStream};
use futures::{FutureExt, SinkExt, StreamExt};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

/// The longest message that is read, in bytes; Codex sends the complete output of a command in one.
const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;
/// How often a connection to a starting server is tried.
const POLL: Duration = Duration::from_millis(5);
/// Messages that are handled at once at most, so that a flood becomes few batches.
const BATCH: usize = 64;

/// The path of a server's socket, inside the folder of its run.
#[derive(Clone, Debug)]
pub(super) struct Socket(PathBuf);

impl Socket {
    /// The socket in the folder of a run, whether it exists or not.
    pub(super) fn within(folder: &Path) -> Self {
        Self(folder.join("app.sock"))
    }

    /// The folder of the run.
    pub(super) fn folder(&self) -> &Path {
        self.0.parent().unwrap_or(&self.0)
    }

    /// Creates the folder with mode 0700.
    pub(super) fn prepare(&self) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(self.folder())
    }

    /// Removes the folder, for a server that did not start.
    pub(super) async fn remove(&self) {
        let _ = tokio::fs::remove_dir_all(self.folder()).await;
    }

    /// The value of `--listen`.
    pub(super) fn address(&self) -> String {
        format!("unix://{}", self.0.display())
    }

    /// Connects as soon as the server listens. Tries forever: the caller sets the time limit.
    pub(super) async fn connect(&self) -> (Reader, Writer) {
        loop {
            if let Some(connected) = self.try_connect().await {
                return connected;
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Connects if the server listens.
    pub(super) async fn try_connect(&self) -> Option<(Reader, Writer)> {
        let path = self.target().await.unwrap_or_else(|| self.0.clone());
        let stream = UnixStream::connect(path).await.ok()?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let handshake = tokio_tungstenite::client_async_with_config("ws://localhost/", stream, Some(config)).await;
        let (sink, frames) = handshake.ok()?.0.split();
        Some((Reader(frames), Writer(sink)))
    }

    /// Where the real socket is: Codex leaves only a link here, because this path may be longer than a socket's may
    /// be.
    pub(super) async fn target(&self) -> Option<PathBuf> {
        tokio::fs::read_link(&self.0).await.ok()
    }

    /// Removes the real socket and its lock, which a killed server leaves behind. Our own folder is removed with the
    /// run.
    pub(super) async fn remove_leftovers(target: PathBuf) {
        let lock = target.with_extension("lock");
        for path in [target, lock] {
            // Mostly it is gone already.
            let _ = tokio::fs::remove_file(path).await;
        }
    }
}

/// The receiving half of the connection.
pub(super) struct Reader(SplitStream<WebSocketStream<UnixStream>>);

impl Reader {
    /// The text frames that have arrived, at least one; `None` when the server has hung up. Cancel safe.
    pub(super) async fn next_batch(&mut self) -> Option<Vec<String>> {
        let mut batch = Vec::new();
        while batch.is_empty() {
            push_text(self.0.next().await?, &mut batch)?;
        }
        while batch.len() < BATCH
            && let Some(Some(frame)) = self.0.next().now_or_never()
        {
            // The end comes again with the next call.
            if push_text(frame, &mut batch).is_none() {
                break;
            }
        }
        Some(batch)
    }
}

/// Adds the text of a frame to the batch; `None` when the connection is over.
fn push_text(frame: Result<Message, tokio_tungstenite::tungstenite::Error>, batch: &mut Vec<String>) -> Option<()> {
    match frame {
        Ok(Message::Text(text)) => batch.push(text.as_str().to_owned()),
        Ok(Message::Close(_)) => return None,
        Ok(_) => {}
        Err(error) => {
            tracing::debug!(%error, "The connection to a Codex server broke.");
            return None;
        }
    }
    Some(())
}

/// The sending half of the connection.
pub(super) struct Writer(SplitSink<WebSocketStream<UnixStream>, Message>);

impl Writer {
    /// Sends queued messages until the other end of the queue is dropped or the server stops reading.
    pub(super) async fn run(mut self, mut outgoing: mpsc::Receiver<String>) {
        while let Some(text) = outgoing.recv().await {
            if let Err(error) = self.0.send(Message::text(text)).await {
                tracing::debug!(%error, "A Codex server no longer reads.");
                return;
            }
        }
        // Politeness: the server may be gone, and then it needs none.
        let _ = self.0.close().await;
    }
}
