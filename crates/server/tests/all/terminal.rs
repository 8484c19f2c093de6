//! Somebody at a terminal in the workspace's folder.

use std::path::PathBuf;
use std::process::Command;

use crate::kit::Door;

/// The workspace's folder as a repository.
pub(crate) struct Terminal {
    /// The absolute path of the repository.
    pub(crate) folder: PathBuf,
}

impl Terminal {
    /// A repository with one commit of one file.
    pub(crate) fn open(door: &Door) -> Self {
        let terminal = Self { folder: door.harness.home.path().join("repo").canonicalize().unwrap() };
        terminal.git(&["init", "--quiet", "--initial-branch=main"]);
        terminal.git(&["config", "user.name", "Ada"]);
        terminal.git(&["config", "user.email", "ada@example.org"]);
        terminal.write("file", "one\ntwo\n");
        terminal.git(&["add", "--all"]);
        terminal.git(&["commit", "--quiet", "--message", "first"]);
        terminal
    }

    /// With a bare repository beside it, known as `origin`, to which `main` was pushed.
    pub(crate) fn with_remote(self) -> Self {
        self.git(&["init", "--quiet", "--bare", "--initial-branch=main", "../remote"]);
        self.git(&["remote", "add", "origin", "../remote"]);
        self.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
        self
    }

    /// Runs git as a person would; what it said.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = Command::new("git").args(args).current_dir(&self.folder).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Writes a file into the repository.
    pub(crate) fn write(&self, file: &str, content: &str) {
        std::fs::write(self.folder.join(file), content).unwrap();
    }

    /// The content of a file of the repository.
    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder.join(file)).unwrap()
    }
}
