//! A folder to try things in.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use roost_workspace::{Repository, Root};
use tempfile::TempDir;

/// A folder to try things in, `work` in a temporary one.
pub(crate) struct TestFolder {
    folder: TempDir,
}

impl TestFolder {
    /// An empty folder.
    pub(crate) fn empty() -> Self {
        let place = Self { folder: TempDir::new().unwrap() };
        fs::create_dir(place.path("")).unwrap();
        place
    }

    /// A repository in which these files are committed.
    pub(crate) fn repository(files: &[&str]) -> Self {
        let place = Self::empty();
        place.git(&["init", "-q", "-b", "main"]);
        place.write_all(files);
        place.git(&["add", "-A", "-f"]);
        place.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        place
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("work").join(path)
    }

    /// A path beside the folder, outside of the workspace.
    pub(crate) fn outside(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    /// Writes files that say their own paths.
    pub(crate) fn write_all(&self, paths: &[&str]) {
        for path in paths {
            self.write(path, path);
        }
    }

    /// Runs git in the folder, without what the user has set.
    pub(crate) fn git(&self, args: &[&str]) {
        let output = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(self.path(""))
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    pub(crate) fn root(&self) -> Root {
        Root::open(&self.path("")).unwrap()
    }

    pub(crate) fn open(&self) -> Arc<Repository> {
        Arc::new(Repository::new(self.root(), Some(self.outside("snapshot"))))
    }
}
