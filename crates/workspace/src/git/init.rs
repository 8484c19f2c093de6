//! Creates a repository in a folder that has none.

use super::call::Call;
use super::run::Git;
use super::{Branch, Committed, GitKind};
use crate::{Error, GitDir, RelPath};

/// The result of `git init`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initialised {
    /// The branch that its first commit will be on.
    pub branch: String,
    /// Its first commit, if one was asked for.
    pub commit: Option<Committed>,
}

impl Git {
    /// Makes the folder a repository. With a message, everything that is not ignored is committed,
    /// even if that is nothing.
    pub async fn init(&self, branch: &Branch, first_commit: Option<&str>) -> Result<Initialised, Error> {
        let root = self.root().clone();
        // One whose files are elsewhere is a repository too.
        let is_there = move || GitDir::find(root.path()).is_some_and(|git| git.prefix.is_empty());
        let is_there = tokio::task::spawn_blocking(is_there).await.unwrap_or_default();
        match self.check_toplevel("init").await {
            Err(Error::Git { kind: GitKind::NotARepository, .. }) if !is_there => {}
            Err(error) if !is_there => return Err(error),
            _ => {
                let message = "the folder is a repository already".to_owned();
                return Err(Error::Git { operation: "init", message, kind: GitKind::Initialised });
            }
        }
        let first = format!("--initial-branch={branch}");
        self.answer(Call::write("init").args(["init", "--quiet", &first])).await?;
        let commit = match first_commit {
            None => None,
            Some(message) => {
                self.stage(&[RelPath::root()]).await?;
                Some(self.commit_first(message).await?)
            }
        };
        Ok(Initialised { branch: branch.to_string(), commit })
    }
}
