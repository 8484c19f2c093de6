//! The private socket between a session and its server: a folder that only we may enter, and WebSocket frames inside.

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

/// The longest message that is read; Codex sends whole outputs in one.
const LONGEST: usize = 64 * 1024 * 1024;
/// How often the socket of a starting server is tried.
const POLL: Duration = Duration::from_millis(5);
/// Messages taken at once, so that a flood becomes few batches.
const BATCH: usize = 64;

/// The folder of a run's socket.
#[derive(Clone, Debug)]
pub(super) struct Socket(PathBuf);

impl Socket {
    /// The socket in this folder.
    pub(super) fn within(folder: &Path) -> Self {
        Self(folder.join("app.sock"))
    }

    /// The folder.
    pub(super) fn folder(&self) -> &Path {
        self.0.parent().unwrap_or(&self.0)
    }

    /// Makes the folder, for us alone.
    pub(super) fn prepare(&self) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(self.folder())
    }

    /// Removes the folder again.
    pub(super) async fn remove(&self) {
        let _ = tokio::fs::remove_dir_all(self.folder()).await;
    }

    /// What Codex is told to listen on.
    pub(super) fn address(&self) -> String {
        format!("unix://{}", self.0.display())
    }

    /// Connects as soon as somebody listens; to be given up by whoever waits.
    pub(super) async fn connect(&self) -> (Reader, Writer) {
        loop {
            if let Some(connected) = self.try_connect().await {
                return connected;
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Connects, if somebody listens.
    pub(super) async fn try_connect(&self) -> Option<(Reader, Writer)> {
        let place = self.real().await.unwrap_or_else(|| self.0.clone());
        let stream = UnixStream::connect(place).await.ok()?;
        let config = WebSocketConfig::default().max_message_size(Some(LONGEST)).max_frame_size(Some(LONGEST));
        let shaken = tokio_tungstenite::client_async_with_config("ws://localhost/", stream, Some(config)).await;
        let (sink, frames) = shaken.ok()?.0.split();
        Some((Reader(frames), Writer(sink)))
    }

    /// Where the socket really is: Codex leaves only a link here, which may be longer than a socket's path.
    pub(super) async fn real(&self) -> Option<PathBuf> {
        tokio::fs::read_link(&self.0).await.ok()
    }

    /// Removes what a killed server leaves where its socket really is; our own folder goes with the run.
    pub(super) async fn remove_leftovers(real: PathBuf) {
        let lock = real.with_extension("lock");
        for path in [real, lock] {
            // Mostly it is gone already.
            let _ = tokio::fs::remove_file(path).await;
        }
    }
}

/// What the server sends.
pub(super) struct Reader(SplitStream<WebSocketStream<UnixStream>>);

impl Reader {
    /// The texts that are there, at least one; `None` when the server has hung up. Cancel safe.
    pub(super) async fn next_batch(&mut self) -> Option<Vec<String>> {
        let mut batch = Vec::new();
        while batch.is_empty() {
            take(self.0.next().await?, &mut batch)?;
        }
        while batch.len() < BATCH
            && let Some(Some(frame)) = self.0.next().now_or_never()
        {
            // The end comes again with the next call.
            if take(frame, &mut batch).is_none() {
                break;
            }
        }
        Some(batch)
    }
}

fn take(frame: Result<Message, tokio_tungstenite::tungstenite::Error>, batch: &mut Vec<String>) -> Option<()> {
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

/// What is sent to the server.
pub(super) struct Writer(SplitSink<WebSocketStream<UnixStream>, Message>);

impl Writer {
    /// Sends until the queue's other end is dropped or the server stops reading.
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
