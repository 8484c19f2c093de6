//! git on real repositories, made for each test and thrown away.

mod bad;
mod discarding;
mod programs;
mod reading;
mod settings;
mod syncing;
mod unreadable;
mod worktrees;
mod writing;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use roost_workspace::git::{Change, Git, GitKind};
use roost_workspace::{Error, RelPath, Root};
use tempfile::TempDir;

/// A repository with a home of its own, so that nothing of the user's configuration matters.
struct Repo {
    folder: TempDir,
}

impl Repo {
    /// A folder without a repository.
    fn none() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("home")).unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    /// A repository without commits.
    fn empty() -> Self {
        let repo = Self::none();
        repo.run(&["init", "--quiet", "--initial-branch=main"]);
        repo.identify();
        repo
    }

    /// A repository with one commit of one file.
    fn new() -> Self {
        let repo = Self::empty();
        repo.write("file", "one\ntwo\n");
        repo.commit("first");
        repo
    }

    fn identify(&self) {
        self.run(&["config", "user.name", "Ada"]);
        self.run(&["config", "user.email", "ada@example.org"]);
    }

    /// A bare repository beside it, known as `origin`, to which `main` was pushed.
    fn with_remote(self) -> Self {
        self.run(&["init", "--quiet", "--bare", "--initial-branch=main", "../remote"]);
        self.run(&["remote", "add", "origin", "../remote"]);
        self.run(&["push", "--quiet", "--set-upstream", "origin", "main"]);
        self
    }

    /// A second clone of the remote, in which somebody else commits and pushes a change of a file.
    fn somebody_pushes(&self, file: &str, content: &str) {
        let there = self.path().join("../there");
        if !there.exists() {
            self.run(&["clone", "--quiet", "../remote", "../there"]);
            self.run(&["-C", "../there", "config", "user.name", "Bob"]);
            self.run(&["-C", "../there", "config", "user.email", "bob@example.org"]);
        }
        std::fs::write(there.join(file), content).unwrap();
        self.run(&["-C", "../there", "add", "--all"]);
        self.run(&["-C", "../there", "commit", "--quiet", "--message", "theirs"]);
        self.run(&["-C", "../there", "push", "--quiet"]);
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("work").canonicalize().unwrap()
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let home = self.folder.path().join("home");
        [("HOME", home.as_os_str()), ("XDG_CONFIG_HOME", home.as_os_str()), ("GIT_CONFIG_NOSYSTEM", "1".as_ref())]
            .map(|(name, value)| (name.into(), value.to_owned()))
            .into()
    }

    fn git(&self) -> Git {
        Git::new(Root::open(&self.path()).unwrap()).with_environment(self.environment())
    }

    /// Runs git as a person would in a terminal.
    fn run(&self, args: &[&str]) -> String {
        let output = Command::new("git").args(args).current_dir(self.path()).envs(self.environment()).output().unwrap();
        assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    fn write(&self, file: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path().join(file)).unwrap()
    }

    fn exists(&self, file: impl AsRef<Path>) -> bool {
        self.path().join(file).symlink_metadata().is_ok()
    }

    fn commit(&self, message: &str) {
        self.run(&["add", "--all"]);
        self.run(&["commit", "--quiet", "--message", message]);
    }

    /// `main` and `other`, which changed the same line in two ways; `main` is checked out.
    fn torn() -> Self {
        let repo = Self::new();
        repo.run(&["switch", "--quiet", "-c", "other"]);
        repo.write("file", "theirs\ntwo\n");
        repo.commit("theirs");
        repo.run(&["switch", "--quiet", "main"]);
        repo.write("file", "ours\ntwo\n");
        repo.commit("ours");
        repo
    }
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text).unwrap()
}

fn paths(texts: &[&str]) -> Vec<RelPath> {
    texts.iter().map(|text| path(text)).collect()
}

fn names(changes: &[Change]) -> Vec<String> {
    changes.iter().map(|change| format!("{} {}", change.status, change.path)).collect()
}

/// Which failure of git it is.
fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> GitKind {
    match result {
        Err(Error::Git { kind, .. }) => kind,
        other => panic!("{other:?} is no failure of git"),
    }
}
