//! Working copies beside the first: one for each agent that shall not disturb the others.
//!
//! They lie in `.roost/worktrees` of the workspace, which git is told to ignore, so they belong to the workspace by
//! their place. What a session's branch began from is kept in git's own configuration of that branch.

use std::path::{Path, PathBuf};

use super::call::Call;
use super::run::Git;
use super::{Branch, DiffLimits, FileDiff, GitKind, Merged, NewCommit, Rev, Side};
use crate::{Error, RelPath, Root};

/// Where they lie.
const FOLDER: &str = ".roost/worktrees";
/// What the branches of sessions begin with.
const PREFIX: &str = "roost/";
/// The line that makes git ignore them.
const IGNORED: &str = "/.roost/";

/// A working copy of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worktree {
    /// Its folder.
    pub path: PathBuf,
    /// The commit that is checked out; absent before the first.
    pub head: Option<String>,
    /// The branch that is checked out; absent when detached.
    pub branch: Option<String>,
    /// Why it may not be removed, if it is locked.
    pub locked: Option<String>,
    /// Its folder is gone.
    pub is_prunable: bool,
    /// It has no files.
    pub is_bare: bool,
}

/// A session's own working copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionWorktree {
    /// Its name, that of the session.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// Its branch.
    pub branch: String,
    /// The commit that the branch began from.
    pub base: String,
}

impl Git {
    /// Every working copy, the first one first.
    pub async fn worktrees(&self) -> Result<Vec<Worktree>, Error> {
        let call = Call::read("worktree/list").args(["worktree", "list", "--porcelain", "-z"]);
        let (answer, ()) = tokio::try_join!(self.answer(call), self.confined("worktree/list"))?;
        Ok(parse(&answer))
    }

    /// Makes a working copy of this name: on the branch if it is there, else on a new one that begins at `base`.
    pub async fn add_worktree(&self, name: &str, branch: &Branch, base: Option<&Rev>) -> Result<Worktree, Error> {
        let path = self.place(name).await?;
        let full = format!("refs/heads/{branch}");
        let is_there =
            self.run(Call::read("worktree/add").args(["show-ref", "--verify", "--quiet", &full])).await?.success;
        let call = Call::write("worktree/add").args(["worktree", "add"]);
        let call = match is_there {
            true => call.arg("--").arg(&path).arg(branch.as_str()),
            false => call.args(["-b", branch.as_str(), "--"]).arg(&path).arg(base.map_or("HEAD", Rev::as_str)),
        };
        self.answer(call).await?;
        let all = self.worktrees().await?;
        all.into_iter().find(|worktree| worktree.path == path).ok_or_else(|| missing("worktree/add", name))
    }

    /// Removes a working copy of this name; one with changes only by force. Its branch stays.
    pub async fn remove_worktree(&self, name: &str, force: bool) -> Result<(), Error> {
        let path = self.find("worktree/remove", name).await?.path;
        let call = Call::write("worktree/remove").args(["worktree", "remove"]).flag(force, "--force");
        self.answer(call.arg("--").arg(path)).await.map(drop)
    }

    /// Gives a session its own working copy and branch, from what is checked out.
    pub async fn add_session_worktree(&self, name: &str) -> Result<SessionWorktree, Error> {
        let branch = Branch::parse(&format!("{PREFIX}{name}"))?;
        let base = self.head("worktree/add").await?.ok_or_else(|| Error::Git {
            operation: "worktree/add",
            message: "the repository has no commit that a branch could begin from; commit something first".into(),
            kind: GitKind::NoCommits,
        })?;
        let path = self.add_worktree(name, &branch, Some(&Rev::parse(&base)?)).await?.path;
        self.answer(Call::write("worktree/add").args(["config", &base_key(name), &base])).await?;
        Ok(SessionWorktree { name: name.to_owned(), path, branch: branch.to_string(), base })
    }

    /// The working copy of a session.
    pub async fn session_worktree(&self, name: &str) -> Result<SessionWorktree, Error> {
        let found = self.find("worktree", name).await?;
        let output = self.run(Call::read("worktree").args(["config", "--get", &base_key(name)])).await?;
        let base = String::from_utf8_lossy(&output.answer).trim_end().to_owned();
        match found.branch {
            Some(branch) if output.success => {
                Ok(SessionWorktree { name: name.to_owned(), path: found.path, branch, base })
            }
            _ => Err(missing("worktree", name)),
        }
    }

    /// The working copies of sessions.
    pub async fn session_worktrees(&self) -> Result<Vec<SessionWorktree>, Error> {
        let mut found = Vec::new();
        for worktree in self.worktrees().await? {
            let name = worktree.branch.as_deref().and_then(|branch| branch.strip_prefix(PREFIX));
            if let Some(name) = name
                && let Ok(session) = self.session_worktree(name).await
            {
                found.push(session);
            }
        }
        Ok(found)
    }

    /// What a session changed since its branch began, committed or not.
    pub async fn worktree_diff(&self, name: &str, limits: DiffLimits) -> Result<Vec<FileDiff>, Error> {
        let session = self.session_worktree(name).await?;
        self.within(&session.path).await?.diff_all(&[Side::Since(Rev::parse(&session.base)?)], limits).await
    }

    /// Merges a session's branch into what is checked out here. What is not committed there yet is committed with the
    /// message first; without one it is an error, as it would be left behind.
    pub async fn merge_worktree(&self, name: &str, message: Option<&str>) -> Result<Merged, Error> {
        let session = self.session_worktree(name).await?;
        let there = self.within(&session.path).await?;
        if !there.status_of(&[]).await?.is_clean() {
            let Some(message) = message else {
                let message = "the worktree has changes that are not committed; commit them, or give a message".into();
                return Err(Error::Git { operation: "worktree/merge", message, kind: GitKind::Dirty });
            };
            there.stage(&[RelPath::root()]).await?;
            there.commit(&NewCommit { message: message.to_owned(), session: None }).await?;
        }
        self.merge(&Rev::parse(&session.branch)?, false, None).await
    }

    /// Removes a session's working copy and branch with everything that was not merged.
    pub async fn discard_worktree(&self, name: &str) -> Result<(), Error> {
        let session = self.session_worktree(name).await?;
        self.remove_worktree(name, true).await?;
        self.delete_branch(&Branch::parse(&session.branch)?, true).await
    }

    /// The same git in a working copy; refused where somebody put a link out of the workspace in its place.
    pub async fn within(&self, path: &Path) -> Result<Git, Error> {
        let (root, path) = (self.root().clone(), path.to_owned());
        let open = move || {
            let beneath = path.strip_prefix(root.path()).unwrap_or(&path);
            root.enter(beneath).map_err(|source| Error::of(&beneath.to_string_lossy(), source))?;
            Root::open(&path)
        };
        let opened = tokio::task::spawn_blocking(open).await;
        let opened = opened.map_err(|error| other("worktree", &error))?;
        Ok(self.at(opened?))
    }

    async fn find(&self, operation: &'static str, name: &str) -> Result<Worktree, Error> {
        let path = self.folder(name)?;
        let all = self.worktrees().await?;
        all.into_iter().find(|worktree| worktree.path == path).ok_or_else(|| missing(operation, name))
    }

    /// The folder of a name, which is one part of a path.
    fn folder(&self, name: &str) -> Result<PathBuf, Error> {
        let name = Branch::parse(name)?;
        if name.as_str().contains('/') {
            let message = format!("{:?} is no name of a worktree", name.as_str());
            return Err(Error::Git { operation: "worktree", message, kind: GitKind::BadName });
        }
        Ok(self.root().path().join(FOLDER).join(name.as_str()))
    }

    /// Makes the folder that they lie in and has git ignore it; gives the place of this name.
    async fn place(&self, name: &str) -> Result<PathBuf, Error> {
        self.confined("worktree/add").await?;
        let path = self.folder(name)?;
        let exclude = self.text(Call::read("worktree/add").args(["rev-parse", "--git-path", "info/exclude"])).await?;
        let root = self.root().clone();
        let make = move || {
            let io = |source| Error::of(FOLDER, source);
            // Beneath the root or not at all: a link that leads out of it is refused here.
            let top = root.open_dir(&RelPath::root())?;
            top.create_dir_all(FOLDER).map_err(io)?;
            root.open_dir(&RelPath::parse(FOLDER)?)?;
            let exclude = root.path().join(exclude);
            let known = match std::fs::read_to_string(&exclude) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
                known => known.map_err(io)?,
            };
            if known.lines().any(|line| line == IGNORED) {
                return Ok(());
            }
            let end = if known.is_empty() || known.ends_with('\n') { "" } else { "\n" };
            if let Some(folder) = exclude.parent() {
                std::fs::create_dir_all(folder).map_err(io)?;
            }
            std::fs::write(&exclude, format!("{known}{end}{IGNORED}\n")).map_err(io)
        };
        tokio::task::spawn_blocking(make).await.map_err(|error| other("worktree/add", &error))??;
        Ok(path)
    }
}

fn base_key(name: &str) -> String {
    format!("branch.{PREFIX}{name}.roostBase")
}

fn missing(operation: &'static str, name: &str) -> Error {
    let message = format!("there is no worktree {name:?}; workspace/worktree/list shows them");
    Error::Git { operation, message, kind: GitKind::NoSuchPath }
}

fn other(operation: &'static str, error: &dyn std::fmt::Display) -> Error {
    Error::Git { operation, message: error.to_string(), kind: GitKind::Other }
}

fn parse(answer: &[u8]) -> Vec<Worktree> {
    use std::os::unix::ffi::OsStrExt;
    let mut all: Vec<Worktree> = Vec::new();
    for line in answer.split(|&byte| byte == 0) {
        let mut parts = line.splitn(2, |&byte| byte == b' ');
        let (word, value) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let text = || String::from_utf8_lossy(value).into_owned();
        if word == b"worktree" {
            all.push(Worktree { path: std::ffi::OsStr::from_bytes(value).into(), ..Worktree::default() });
        }
        let Some(last) = all.last_mut() else { continue };
        match word {
            b"HEAD" => last.head = Some(text()).filter(|id| id.bytes().any(|byte| byte != b'0')),
            b"branch" => last.branch = Some(text().trim_start_matches("refs/heads/").to_owned()),
            b"locked" => last.locked = Some(text()),
            b"prunable" => last.is_prunable = true,
            b"bare" => last.is_bare = true,
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_read() {
        let all = parse(b"worktree /a b\0HEAD 12\0branch refs/heads/x/y\0\0worktree /c\0HEAD 00\0detached\0locked why\0prunable gone\0\0");
        assert_eq!(
            (all[0].path.to_str(), all[0].head.as_deref(), all[0].branch.as_deref()),
            (Some("/a b"), Some("12"), Some("x/y"))
        );
        assert_eq!((all[1].head.as_deref(), all[1].branch.as_deref()), (None, None));
        assert_eq!((all[1].locked.as_deref(), all[1].is_prunable), (Some("why"), true));
    }
}
