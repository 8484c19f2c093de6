//! What a later daemon must know to go on with a session, beside the session's socket; it goes with the run.

use std::io;
use std::path::{Path, PathBuf};

use roost_model::tool::ToolManifest;
use serde::{Deserialize, Serialize};
use tokio::fs::OpenOptions;
use tokio::io::AsyncWriteExt;

use super::sandbox::Sandbox;

/// A session as far as it can be known again. Holds no secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Note {
    /// Where it works.
    pub(super) cwd: PathBuf,
    /// Codex's own folder.
    pub(super) home: PathBuf,
    /// The model that was asked for.
    pub(super) model: Option<String>,
    /// The names of Codex's settings; values can be secrets.
    pub(super) settings: Vec<String>,
    /// The thread, once it is begun.
    pub(super) thread: Option<Thread>,
}

/// A thread that Codex knows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Thread {
    /// Codex's id for it.
    pub(super) id: String,
    /// The sandbox that the next turn runs in, where it is ours to choose.
    pub(super) sandbox: Option<Sandbox>,
    /// Files with instructions that Codex found.
    pub(super) instructions: Vec<String>,
    /// The host's tools that it was begun with.
    #[serde(default)]
    pub(super) tools: Option<ToolManifest>,
}

impl Note {
    /// Writes it so that a reader sees all of it or nothing. One that cannot be written costs a restart its survivors,
    /// and nothing else.
    pub(super) async fn write(&self, folder: &Path) {
        let (path, unfinished) = (place(folder), folder.join("session.tmp"));
        let text = serde_json::to_vec(self).unwrap_or_default();
        let written = async {
            write_private(&unfinished, &text).await?;
            tokio::fs::rename(&unfinished, &path).await
        };
        if let Err(error) = written.await {
            tracing::warn!(%error, "A Codex session is not noted: it cannot go on if Roost is killed.");
        }
    }

    /// Reads it.
    pub(super) async fn read(folder: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&tokio::fs::read(place(folder)).await?)?)
    }
}

/// Writes a file for us alone.
async fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path).await?;
    file.write_all(bytes).await?;
    // The file is closed in the background; what is written must be there before it is renamed or read.
    file.flush().await
}

fn place(folder: &Path) -> PathBuf {
    folder.join("session.json")
}

/// The turn whose end nobody has been told yet.
#[derive(Clone, Debug)]
pub(super) struct TurnNote(PathBuf);

impl TurnNote {
    /// The one in this folder.
    pub(super) fn within(folder: &Path) -> Self {
        Self(folder.join("turn"))
    }

    /// A turn has begun.
    pub(super) async fn write(&self, turn: &str) {
        if let Err(error) = write_private(&self.0, turn.as_bytes()).await {
            tracing::warn!(%error, "A turn of Codex's is not noted: it cannot go on if Roost is killed.");
        }
    }

    /// Its end was told.
    pub(super) async fn remove(&self) {
        let _ = tokio::fs::remove_file(&self.0).await;
    }

    /// The turn, if there is one.
    pub(super) async fn read(&self) -> Option<String> {
        tokio::fs::read_to_string(&self.0).await.ok().filter(|turn| !turn.is_empty())
    }
}
