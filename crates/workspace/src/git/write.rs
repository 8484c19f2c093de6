//! What changes the index, the folder or the history here.

use std::collections::HashSet;

use super::call::Call;
use super::run::Git;
use super::{Change, GitKind};
use crate::{Error, RelPath};

/// What a commit is made of, besides what is staged.
#[derive(Clone, Debug, Default)]
pub struct NewCommit {
    /// What is said about it.
    pub message: String,
    /// The session that made it, to be named at the end of the message.
    pub session: Option<String>,
}

/// A commit that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its id.
    pub sha: String,
    /// Enough of its id to be unique.
    pub short_sha: String,
    /// The first line of what was said about it.
    pub subject: String,
    /// Files that it changed.
    pub files: usize,
}

impl Git {
    /// Puts files as they are now into the next commit, deletions too. A folder stands for everything in it.
    pub async fn stage(&self, paths: &[RelPath]) -> Result<(), Error> {
        some("stage", paths)?;
        self.confined("stage").await?;
        self.answer(Call::write("stage").args(["add", "--all"]).many_paths(paths)).await.map(drop)
    }

    /// Takes files out of the next commit; the files themselves stay as they are.
    pub async fn unstage(&self, paths: &[RelPath]) -> Result<(), Error> {
        some("unstage", paths)?;
        self.confined("unstage").await?;
        self.answer(Call::write("unstage").args(["reset", "--quiet"]).many_paths(paths)).await.map(drop)
    }

    /// Brings files back to what is staged or committed, and deletes files that git does not know if they are named
    /// one by one: whoever names a folder loses nothing that git could not bring back. Gives what was discarded.
    pub async fn discard(&self, paths: &[RelPath]) -> Result<Vec<String>, Error> {
        some("discard", paths)?;
        let status = self.status_of(paths).await?;
        if let Some(torn) = status.conflicted.first() {
            let message = format!("{:?} has a conflict; resolve it or abort the merge", torn.path);
            return Err(Error::Git { operation: "discard", message, kind: GitKind::Conflict });
        }
        let named: HashSet<_> = paths.iter().map(RelPath::as_str).collect();
        let path = |change: &Change| RelPath::parse(&change.path);
        // A name that is not UTF-8 can be named to nobody, and would keep the others from being brought back.
        let tracked = status.unstaged.iter().filter(|change| !change.path.contains('\u{fffd}'));
        let tracked: Vec<_> = tracked.map(path).collect::<Result<_, _>>()?;
        let untracked = status.untracked.iter().filter(|change| named.contains(change.path.as_str()));
        let untracked: Vec<_> = untracked.map(path).collect::<Result<_, _>>()?;
        if tracked.is_empty() && untracked.is_empty() {
            let message = "none of the paths names a file with changes that can be discarded".to_owned();
            return Err(Error::Git { operation: "discard", message, kind: GitKind::NoSuchPath });
        }
        if !tracked.is_empty() {
            self.answer(Call::write("discard").args(["restore", "--worktree"]).many_paths(&tracked)).await?;
        }
        let discarded = tracked.iter().chain(&untracked).map(RelPath::to_string).collect();
        let root = self.root().clone();
        let delete = move || {
            untracked.iter().try_for_each(|path| {
                let folder = root.open_dir(&path.parent())?;
                folder.remove_file(path.name()).map_err(|source| Error::of(path.as_str(), source))
            })
        };
        tokio::task::spawn_blocking(delete).await.map_err(|error| Error::Git {
            operation: "discard",
            message: error.to_string(),
            kind: GitKind::Other,
        })??;
        Ok(discarded)
    }

    /// Commits what is staged.
    pub async fn commit(&self, new: &NewCommit) -> Result<Committed, Error> {
        if new.message.trim().is_empty() || new.message.contains('\0') {
            let message = "the message is empty, or holds a NUL".to_owned();
            return Err(Error::Git { operation: "commit", message, kind: GitKind::BadName });
        }
        self.confined("commit").await?;
        let trailer = new.session.as_ref().map(|session| format!("--trailer=Roost-Session: {session}"));
        let call = Call::write("commit").args(["commit", "--quiet", "--file=-"]).args(trailer);
        self.answer(call.input(new.message.clone().into_bytes())).await?;
        self.last_commit("commit").await
    }

    pub(crate) async fn last_commit(&self, operation: &'static str) -> Result<Committed, Error> {
        let ids = Call::read(operation).args(["log", "-1", "--format=%H%x00%h%x00%s"]);
        let args = ["diff-tree", "-r", "-z", "--root", "--no-commit-id", "--name-only", "-m", "--first-parent", "HEAD"];
        let (ids, files) = tokio::try_join!(self.text(ids), self.answer(Call::read(operation).args(args)))?;
        let mut ids = ids.splitn(3, '\0').map(str::to_owned);
        let mut next = || ids.next().unwrap_or_default();
        let files = files.iter().filter(|&&byte| byte == 0).count();
        Ok(Committed { sha: next(), short_sha: next(), subject: next(), files })
    }
}

/// Without paths, git means everything; a client that names none means nothing.
fn some(operation: &'static str, paths: &[RelPath]) -> Result<(), Error> {
    if paths.is_empty() {
        return Err(Error::Git { operation, message: "name at least one path".into(), kind: GitKind::NoSuchPath });
    }
    Ok(())
}
