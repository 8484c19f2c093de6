//! Folders that Codex's sandbox leaves in the working directory.

use std::path::{Path, PathBuf};

/// The names that the sandbox protects by mounting something over them. With our permission profiles Codex creates those
/// that are missing, and does not remove them.
const PROTECTED: [&str; 4] = [".agents", ".aws", ".codex", ".git"];

/// The protected folders that were missing when the session was opened. Empty for a session that was taken over.
#[derive(Debug, Default)]
pub(super) struct MountPoints(Vec<PathBuf>);

impl MountPoints {
    /// Looks which of them are missing in this directory.
    pub(super) async fn missing_in(cwd: &Path) -> Self {
        let mut missing = Vec::new();
        for path in PROTECTED.map(|name| cwd.join(name)) {
            if matches!(tokio::fs::try_exists(&path).await, Ok(false)) {
                missing.push(path);
            }
        }
        Self(missing)
    }

    /// Called after a turn: removes those that the sandbox has created. Folders with anything in them stay.
    pub(super) async fn remove(&self) {
        for path in &self.0 {
            let _ = tokio::fs::remove_dir(path).await;
        }
    }
}
