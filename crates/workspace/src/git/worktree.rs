//! Worktrees: one for each agent that must not disturb the others.
//!
//! They lie in `.roost/worktrees` of the workspace, which git is told to ignore, so their paths make them part of the
//! workspace. The commit that a worktree's branch began from is stored in git's configuration of that branch
//! (`roostBase`), and so is whether the branch existed before (`roostFound`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::call::Call;
use super::run::Git;
use super::{Branch, DiffLimits, FileDiff, GitKind, Merged, NewCommit, Rev, Side};
use crate::{Error, RelPath, Root};

/// The folder of the worktrees in a workspace.
pub const WORKTREES: &str = ".roost/worktrees";
/// The prefix of the branches of sessions.
const PREFIX: &str = "roost/";
/// The line in `info/exclude` that makes git ignore them.
const IGNORED: &str = "/.roost/";

/// A working copy of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Worktree {
    /// The absolute path of its folder.
    pub path: PathBuf,
    /// The object id of its `HEAD`; absent before the first commit.
    pub head: Option<String>,
    /// The branch that is checked out; absent with a detached head.
    pub branch: Option<String>,
    /// The reason of its lock, which may be empty; absent if it is not locked.
    pub locked: Option<String>,
    /// Its folder is gone, so `git worktree prune` would forget it.
    pub is_prunable: bool,
    /// It is the repository itself, without a working copy.
    pub is_bare: bool,
}

/// A worktree that Roost created, such as a session's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionWorktree {
    /// Its name, which is also that of its folder.
    pub name: String,
    /// The absolute path of its folder.
    pub path: PathBuf,
    /// The branch that it has checked out.
    pub branch: String,
    /// The commit that the branch began from.
    pub base: String,
}

impl Git {
    /// Every worktree, the main one first.
    pub async fn worktrees(&self) -> Result<Vec<Worktree>, Error> {
        let call = Call::read("worktree/list").args(["worktree", "list", "--porcelain", "-z"]);
        let (answer, ()) = tokio::try_join!(self.answer(call), self.check_toplevel("worktree/list"))?;
        Ok(parse(&answer))
    }

    /// Creates a worktree of this name: on the branch if it exists, else on a new one that begins at `base`.
    pub async fn add_worktree(&self, name: &str, branch: &Branch, base: Option<&Rev>) -> Result<Worktree, Error> {
        let operation = "worktree/add";
        let path = self.prepare_folder(name).await?;
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
                self.resolve_commit(operation, start).await?,
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

    /// The commit that a revision names.
    async fn resolve_commit(&self, operation: &'static str, rev: &str) -> Result<String, Error> {
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

    /// The merge base of an existing branch and another; the branch's own commit if they have none.
    async fn fork(&self, branch: &str, other: &str) -> Result<String, Error> {
        let own = self.resolve_commit("worktree/add", branch).await?;
        let other = self.resolve_commit("worktree/add", other).await?;
        let output = self.run(Call::read("worktree/add").args(["merge-base", &own, &other])).await?;
        let common = String::from_utf8_lossy(&output.answer).trim_end().to_owned();
        Ok(if output.success { common } else { own })
    }

    /// Removes the worktree of this name; one with changes only with `force`. Its branch stays.
    pub async fn remove_worktree(&self, name: &str, force: bool) -> Result<(), Error> {
        let path = self.find("worktree/remove", name).await?.path;
        let call = Call::write("worktree/remove").args(["worktree", "remove"]).flag(force, "--force");
        self.answer(call.arg("--").arg(path)).await.map(drop)
    }

    /// Creates a worktree and a branch for a session, from `HEAD`.
    pub async fn add_session_worktree(&self, name: &str) -> Result<SessionWorktree, Error> {
        let branch = Branch::parse(&format!("{PREFIX}{name}")).map_err(|error| error.during("worktree/add"))?;
        self.add_worktree(name, &branch, None).await?;
        self.session_worktree("worktree/add", name).await
    }

    /// The worktree of this name that Roost created.
    pub async fn session_worktree(&self, operation: &'static str, name: &str) -> Result<SessionWorktree, Error> {
        let found = self.find(operation, name).await?;
        let all = self.with_bases(vec![found]).await?;
        all.into_iter().next().ok_or_else(|| missing(operation, name))
    }

    /// The worktrees that Roost created.
    pub async fn session_worktrees(&self) -> Result<Vec<SessionWorktree>, Error> {
        let all = self.worktrees().await?;
        self.with_bases(all).await
    }

    async fn with_bases(&self, worktrees: Vec<Worktree>) -> Result<Vec<SessionWorktree>, Error> {
        let (bases, folder) = (self.bases().await?, self.root().path().join(WORKTREES));
        let session = |worktree: Worktree| {
            let name = worktree.path.strip_prefix(&folder).ok()?.to_str()?.to_owned();
            let branch = worktree.branch?;
            let base = bases.get(&branch)?.clone();
            Some(SessionWorktree { name, path: worktree.path, branch, base })
        };
        Ok(worktrees.into_iter().filter_map(session).collect())
    }

    /// The base commits of the branches of worktrees, by branch.
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

    /// The diffs of a worktree since its branch began, committed or not.
    pub async fn worktree_diff(&self, name: &str, limits: DiffLimits) -> Result<Vec<FileDiff>, Error> {
        let session = self.session_worktree("worktree/diff", name).await?;
        self.within(&session.path).await?.diff_all(&[Side::Since(Rev::parse(&session.base)?)], limits).await
    }

    /// Merges a worktree's branch into `HEAD`. Uncommitted changes in the worktree are committed first, with the
    /// message; without a message they are an error, because they would be left behind. New commits name the session
    /// `by`.
    pub async fn merge_worktree(
        &self,
        name: &str,
        message: Option<&str>,
        by: Option<&str>,
    ) -> Result<(String, Merged), Error> {
        let session = self.session_worktree("worktree/merge", name).await?;
        let there = self.within(&session.path).await?;
        if !there.status_at(&[]).await?.is_clean() {
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

    /// Removes a worktree with its uncommitted changes, and its branch with its unmerged commits. A branch that existed
    /// before stays, and its name is returned.
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

    /// A handle for a worktree; refuses one that was replaced by a link out of the workspace.
    pub async fn within(&self, path: &Path) -> Result<Git, Error> {
        let (root, path) = (self.root().clone(), path.to_owned());
        let open = move || {
            let beneath = path.strip_prefix(root.path()).unwrap_or(&path);
            root.enter(beneath).map_err(|source| Error::io(&beneath.to_string_lossy(), source))?;
            Root::open(&path)
        };
        let opened = tokio::task::spawn_blocking(open).await;
        let opened = opened.map_err(|error| join_failed("worktree", &error))?;
        Ok(self.at(opened?))
    }

    async fn find(&self, operation: &'static str, name: &str) -> Result<Worktree, Error> {
        let path = self.folder(operation, name)?;
        let all = self.worktrees().await?;
        all.into_iter().find(|worktree| worktree.path == path).ok_or_else(|| missing(operation, name))
    }

    /// The folder of a worktree; refuses a name that is more than one part of a path.
    fn folder(&self, operation: &'static str, name: &str) -> Result<PathBuf, Error> {
        match Branch::parse(name) {
            Ok(name) if !name.as_str().contains('/') => Ok(self.root().path().join(WORKTREES).join(name.as_str())),
            _ => {
                let message = format!("{name:?} is no name of a worktree; use one part of a path");
                Err(Error::Git { operation, message, kind: GitKind::BadName })
            }
        }
    }

    /// Creates the folder of the worktrees and makes git ignore it; returns the path for this name.
    async fn prepare_folder(&self, name: &str) -> Result<PathBuf, Error> {
        self.check_toplevel("worktree/add").await?;
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
        tokio::task::spawn_blocking(make).await.map_err(|error| join_failed("worktree/add", &error))??;
        Ok(path)
    }
}

fn missing(operation: &'static str, name: &str) -> Error {
    let message = format!("there is no worktree {name:?}; workspace/worktree/list shows them");
    Error::Git { operation, message, kind: GitKind::NoSuchPath }
}

fn join_failed(operation: &'static str, error: &dyn std::fmt::Display) -> Error {
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
