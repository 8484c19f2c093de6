//! Stages, unstages and commits.

use super::GitKind;
use super::call::Call;
use super::run::Git;
use crate::{Error, RelPath};

/// The parameters of a commit.
#[derive(Clone, Debug, Default)]
pub struct NewCommit {
    /// The commit message; it must not be empty or hold a NUL.
    pub message: String,
    /// The session that made it, for the `Roost-Session` trailer.
    pub session: Option<String>,
}

/// A commit that was just created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The full object id, in hexadecimal.
    pub sha: String,
    /// The abbreviated object id, unique in the repository.
    pub short_sha: String,
    /// The first line of the message.
    pub subject: String,
    /// How many files differ from the first parent.
    pub files: usize,
}

impl Git {
    /// Stages files as they are now, deletions too. A folder stands for everything in it.
    pub async fn stage(&self, paths: &[RelPath]) -> Result<(), Error> {
        some("stage", paths)?;
        self.check_toplevel("stage").await?;
        self.answer(Call::write("stage").args(["add", "--all"]).many_paths(paths)).await.map(drop)
    }

    /// Unstages files; the files themselves stay as they are.
    pub async fn unstage(&self, paths: &[RelPath]) -> Result<(), Error> {
        some("unstage", paths)?;
        self.check_toplevel("unstage").await?;
        self.answer(Call::write("unstage").args(["reset", "--quiet"]).many_paths(paths)).await.map(drop)
    }

    /// Commits what is staged, with the session as a `Roost-Session` trailer if one is named. Hooks run.
    pub async fn commit(&self, new: &NewCommit) -> Result<Committed, Error> {
        self.commit_with(new, None).await
    }

    /// Makes the first commit of a repository, which may be without files.
    pub(super) async fn commit_first(&self, message: &str) -> Result<Committed, Error> {
        self.commit_with(&NewCommit { message: message.to_owned(), session: None }, Some("--allow-empty")).await
    }

    async fn commit_with(&self, new: &NewCommit, option: Option<&str>) -> Result<Committed, Error> {
        if new.message.trim().is_empty() || new.message.contains('\0') {
            let message = "the message is empty, or holds a NUL".to_owned();
            return Err(Error::Git { operation: "commit", message, kind: GitKind::BadName });
        }
        self.check_toplevel("commit").await?;
        let trailer = new.session.as_ref().map(|session| format!("--trailer=Roost-Session: {session}"));
        let call = Call::write("commit").args(["commit", "--quiet", "--file=-"]).args(option).args(trailer);
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

/// Refuses an empty list, which git would take for everything.
pub(super) fn some(operation: &'static str, paths: &[RelPath]) -> Result<(), Error> {
    if paths.is_empty() {
        return Err(Error::Git { operation, message: "name at least one path".into(), kind: GitKind::NoSuchPath });
    }
    Ok(())
}
