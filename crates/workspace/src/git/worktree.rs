//! Working copies beside the first: one for each agent that shall not disturb the others.
//!
//! They lie in `.roost/worktrees` of the workspace, which git is told to ignore, so they belong to the workspace by
//! their place. Where its branch began is kept in git's own configuration of that branch (`roostBase`), and whether the
//! branch was there before (`roostFound`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::call::Call;
use super::run::Git;
use super::{Branch, DiffLimits, FileDiff, GitKind, Merged, NewCommit, Rev, Side};
use crate::{Error, RelPath, Root};

/// Where they lie in a workspace.
pub const WORKTREES: &str = ".roost/worktrees";
/// What the branches of sessions begin with.
const PREFIX: &str = "roost/";
/// The line that makes git ignore them.
const IGNORED: &str = "/.roost/";

/// A working copy of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worktree {
    /// Its folder, absolute.
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

/// A working copy that was made here, such as a session's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionWorktree {
    /// Its name, that of the session.
    pub name: String,
    /// Its folder, absolute.
    pub path: PathBuf,
    /// The branch that it has checked out.
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
        let operation = "worktree/add";
        let path = self.place(name).await?;
        if tokio::fs::symlink_metadata(&path).await.is_ok() {
            let message = format!("there is a folder for a worktree {name:?} already; use another name, or remove it");
            return Err(Error::Git { operation, message, kind: GitKind::FolderExists });
        }
        let full = format!("refs/heads/{branch}");
        let is_there = self.run(Call::read(operation).args(["show-ref", "--verify", "--quiet", &full])).await?.success;
        let start = base.map_or("HEAD", Rev::as_str);
        let call = Call::write(operation).args(["worktree", "add"]);
        let (call, began) = match is_there {
            true => (call.arg("--").arg(&path).arg(branch.as_str()), self.fork(&full, start).await?),
            false => (
                call.args(["-b", branch.as_str(), "--"]).arg(&path).arg(start),
                self.commit_of(operation, start).await?,
            ),
        };
        let known = self.bases().await?.contains_key(branch.as_str());
        self.answer(call).await?;
        let keep = |key: &str, value: &str| {
            self.answer(Call::write(operation).args(["config", &format!("branch.{branch}.{key}"), value]))
        };
        if !is_there || !known || base.is_some() {
            keep("roostBase", &began).await?;
        }
        if is_there && !known {
            keep("roostFound", "true").await?;
        }
        let all = self.worktrees().await?;
        all.into_iter().find(|worktree| worktree.path == path).ok_or_else(|| missing(operation, name))
    }

    /// The commit that a name stands for.
    async fn commit_of(&self, operation: &'static str, rev: &str) -> Result<String, Error> {
        let commit = format!("{rev}^{{commit}}");
        let output = self.run(Call::read(operation).args(["rev-parse", "--verify", "--quiet", &commit])).await?;
        if output.success {
            return Ok(String::from_utf8_lossy(&output.answer).trim_end().to_owned());
        }
        let (message, kind) = match rev {
            "HEAD" => (
                "the repository has no commit that a branch could begin from; commit something first".to_owned(),
                GitKind::NoCommits,
            ),
            rev => (format!("there is no {rev:?} that a branch could begin from"), GitKind::NoSuchRef),
        };
        Err(Error::Git { operation, message, kind })
    }

    /// Where a branch that is there left another; at itself if they have nothing in common.
    async fn fork(&self, branch: &str, other: &str) -> Result<String, Error> {
        let own = self.commit_of("worktree/add", branch).await?;
        let other = self.commit_of("worktree/add", other).await?;
        let output = self.run(Call::read("worktree/add").args(["merge-base", &own, &other])).await?;
        let common = String::from_utf8_lossy(&output.answer).trim_end().to_owned();
        Ok(if output.success { common } else { own })
    }

    /// Removes a working copy of this name; one with changes only by force. Its branch stays.
    pub async fn remove_worktree(&self, name: &str, force: bool) -> Result<(), Error> {
        let path = self.find("worktree/remove", name).await?.path;
        let call = Call::write("worktree/remove").args(["worktree", "remove"]).flag(force, "--force");
        self.answer(call.arg("--").arg(path)).await.map(drop)
    }

    /// Gives a session its own working copy and branch, from what is checked out.
    pub async fn add_session_worktree(&self, name: &str) -> Result<SessionWorktree, Error> {
        let branch = Branch::parse(&format!("{PREFIX}{name}")).map_err(|error| error.during("worktree/add"))?;
        self.add_worktree(name, &branch, None).await?;
        self.session_worktree("worktree/add", name).await
    }

    /// A working copy that was made here, with where its branch began.
    pub async fn session_worktree(&self, operation: &'static str, name: &str) -> Result<SessionWorktree, Error> {
        let found = self.find(operation, name).await?;
        let all = self.began(vec![found]).await?;
        all.into_iter().next().ok_or_else(|| missing(operation, name))
    }

    /// The working copies that were made here.
    pub async fn session_worktrees(&self) -> Result<Vec<SessionWorktree>, Error> {
        let all = self.worktrees().await?;
        self.began(all).await
    }

    async fn began(&self, worktrees: Vec<Worktree>) -> Result<Vec<SessionWorktree>, Error> {
        let (bases, folder) = (self.bases().await?, self.root().path().join(WORKTREES));
        let session = |worktree: Worktree| {
            let name = worktree.path.strip_prefix(&folder).ok()?.to_str()?.to_owned();
            let branch = worktree.branch?;
            let base = bases.get(&branch)?.clone();
            Some(SessionWorktree { name, path: worktree.path, branch, base })
        };
        Ok(worktrees.into_iter().filter_map(session).collect())
    }

    /// Where branches began that working copies were made of, by their names.
    async fn bases(&self) -> Result<HashMap<String, String>, Error> {
        let args = ["config", "-z", "--get-regexp", r"^branch\..*\.roostbase$"];
        let output = self.run(Call::read("worktree").args(args)).await?;
        let text = String::from_utf8_lossy(&output.answer);
        let entry = |line: &str| {
            let (key, base) = line.split_once('\n')?;
            Some((key.strip_prefix("branch.")?.strip_suffix(".roostbase")?.to_owned(), base.to_owned()))
        };
        Ok(text.split('\0').filter_map(entry).collect())
    }

    /// What a session changed since its branch began, committed or not.
    pub async fn worktree_diff(&self, name: &str, limits: DiffLimits) -> Result<Vec<FileDiff>, Error> {
        let session = self.session_worktree("worktree/diff", name).await?;
        self.within(&session.path).await?.diff_all(&[Side::Since(Rev::parse(&session.base)?)], limits).await
    }

    /// Merges a session's branch into what is checked out here. What is not committed there yet is committed with the
    /// message first; without one it is an error, as it would be left behind. Commits that are made name the session
    /// that is given.
    pub async fn merge_worktree(
        &self,
        name: &str,
        message: Option<&str>,
        by: Option<&str>,
    ) -> Result<(String, Merged), Error> {
        let session = self.session_worktree("worktree/merge", name).await?;
        let there = self.within(&session.path).await?;
        if !there.status_of(&[]).await?.is_clean() {
            let Some(message) = message else {
                let message = "the worktree has changes that are not committed; commit them, or give a message".into();
                return Err(Error::Git { operation: "worktree/merge", message, kind: GitKind::Dirty });
            };
            there.stage(&[RelPath::root()]).await?;
            there.commit(&NewCommit { message: message.to_owned(), session: by.map(str::to_owned) }).await?;
        }
        let words = by.map(|by| format!("Merge branch '{}'\n\nRoost-Session: {by}", session.branch));
        let merged = self.merge(&Rev::parse(&session.branch)?, false, words.as_deref()).await?;
        Ok((session.branch, merged))
    }

    /// Removes a working copy that was made here with everything that was not committed, and its branch with
    /// everything that was not merged, unless that was there before; then its name is given.
    pub async fn discard_worktree(&self, name: &str) -> Result<Option<String>, Error> {
        let session = self.session_worktree("worktree/discard", name).await?;
        let found = format!("branch.{}.roostFound", session.branch);
        let is_found = self.run(Call::read("worktree/discard").args(["config", "--get", &found])).await?.success;
        self.remove_worktree(name, true).await?;
        if is_found {
            return Ok(Some(session.branch));
        }
        self.delete_branch(&Branch::parse(&session.branch)?, true).await?;
        Ok(None)
    }

    /// The same git in a working copy; refused where somebody put a link out of the workspace in its place.
    pub async fn within(&self, path: &Path) -> Result<Git, Error> {
        let (root, path) = (self.root().clone(), path.to_owned());
        let open = move || {
            let beneath = path.strip_prefix(root.path()).unwrap_or(&path);
            root.enter(beneath).map_err(|source| Error::io(&beneath.to_string_lossy(), source))?;
            Root::open(&path)
        };
        let opened = tokio::task::spawn_blocking(open).await;
        let opened = opened.map_err(|error| other("worktree", &error))?;
        Ok(self.at(opened?))
    }

    async fn find(&self, operation: &'static str, name: &str) -> Result<Worktree, Error> {
        let path = self.folder(operation, name)?;
        let all = self.worktrees().await?;
        all.into_iter().find(|worktree| worktree.path == path).ok_or_else(|| missing(operation, name))
    }

    /// The folder of a name, which is one part of a path.
    fn folder(&self, operation: &'static str, name: &str) -> Result<PathBuf, Error> {
        match Branch::parse(name) {
            Ok(name) if !name.as_str().contains('/') => Ok(self.root().path().join(WORKTREES).join(name.as_str())),
            _ => {
                let message = format!("{name:?} is no name of a worktree; use one part of a path");
                Err(Error::Git { operation, message, kind: GitKind::BadName })
            }
        }
    }

    /// Makes the folder that they lie in and has git ignore it; gives the place of this name.
    async fn place(&self, name: &str) -> Result<PathBuf, Error> {
        self.confined("worktree/add").await?;
        let path = self.folder("worktree/add", name)?;
        let exclude = self.text(Call::read("worktree/add").args(["rev-parse", "--git-path", "info/exclude"])).await?;
        let root = self.root().clone();
        let make = move || {
            let io = |source| Error::io(WORKTREES, source);
            // Beneath the root or not at all: a link that leads out of it is refused here.
            let top = root.open_dir(&RelPath::root())?;
            top.create_dir_all(WORKTREES).map_err(io)?;
            root.open_dir(&RelPath::parse(WORKTREES)?)?;
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
