//! What a later daemon needs to take over a session. Stored beside the session's socket and removed with its run.

use std::io;
use std::path::{Path, PathBuf};

use roost_model::tool::ToolManifest;
use serde::{Deserialize, Serialize};
use tokio::fs::OpenOptions;
use tokio::io::AsyncWriteExt;

use super::sandbox::Sandbox;

/// A session, as far as a later daemon needs it. Holds no secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ResumePoint {
    /// The working directory of the session.
    pub(super) cwd: PathBuf,
    /// Codex's home folder, where its history and settings are.
    pub(super) home: PathBuf,
    /// The model that was asked for last; `None` for Codex's default.
    pub(super) model: Option<String>,
    /// The names of Codex's settings without their values, which can be secrets.
    pub(super) settings: Vec<String>,
    /// `None` until the first task starts the thread.
    pub(super) thread: Option<Thread>,
}

/// A thread that Codex has started or resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Thread {
    pub(super) id: String,
    /// The sandbox that the last turn ran in; `None` if the settings choose one instead of the mode.
    pub(super) sandbox: Option<Sandbox>,
    /// Codex took our permission profiles. Versions without profiles ignore them, and run a command that failed in the
    /// sandbox again outside of it.
    #[serde(default)]
    pub(super) profiles: bool,
    /// The instruction files that Codex says it found.
    pub(super) instructions: Vec<String>,
    /// The host's tools that the thread was started with; Codex takes no others later.
    #[serde(default)]
    pub(super) tools: Option<ToolManifest>,
}

impl ResumePoint {
    /// Writes it atomically. A failure is only logged: the session works on, but cannot outlive the daemon.
    pub(super) async fn write(&self, folder: &Path) {
        let (path, unfinished) = (file_in(folder), folder.join("session.tmp"));
        let text = serde_json::to_vec(self).unwrap_or_default();
        let written = async {
            write_private(&unfinished, &text).await?;
            tokio::fs::rename(&unfinished, &path).await
        };
        if let Err(error) = written.await {
            tracing::warn!(%error, "A Codex session is not noted: it cannot go on if Roost is killed.");
        }
    }

    /// Reads the resume point of the run in this folder.
    pub(super) async fn read(folder: &Path) -> io::Result<Self> {
        Ok(serde_json::from_slice(&tokio::fs::read(file_in(folder)).await?)?)
    }
}

/// Writes a file that only our user can read.
async fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path).await?;
    file.write_all(bytes).await?;
    // tokio closes the file in the background; the bytes must be there before it is renamed or read.
    file.flush().await
}

fn file_in(folder: &Path) -> PathBuf {
    folder.join("session.json")
}

/// A file with the id of the running turn. It exists from the start of a turn until its end was delivered to the
/// session, so a later daemon knows which turn to take over.
#[derive(Clone, Debug)]
pub(super) struct TurnMarker(PathBuf);

impl TurnMarker {
    /// The marker of the run in this folder, whether it exists or not.
    pub(super) fn within(folder: &Path) -> Self {
        Self(folder.join("turn"))
    }

    /// Called when a turn has started. A failure is only logged: the turn works on, but cannot outlive the daemon.
    pub(super) async fn write(&self, turn: &str) {
        if let Err(error) = write_private(&self.0, turn.as_bytes()).await {
            tracing::warn!(%error, "A turn of Codex's is not noted: it cannot go on if Roost is killed.");
        }
    }

    /// Called when the end of the turn was delivered; there may be no marker.
    pub(super) async fn remove(&self) {
        let _ = tokio::fs::remove_file(&self.0).await;
    }

    /// The id of the running turn; `None` if none runs.
    pub(super) async fn read(&self) -> Option<String> {
        tokio::fs::read_to_string(&self.0).await.ok().filter(|turn| !turn.is_empty())
    }
}
