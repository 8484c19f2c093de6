//! A repository where there was none.

use super::call::Call;
use super::run::Git;
use super::{Branch, Committed, GitKind, NewCommit};
use crate::{Error, RelPath};

/// A new repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initialised {
    /// Its branch.
    pub branch: String,
    /// Its first commit, if that was wanted.
    pub commit: Option<Committed>,
}

impl Git {
    /// Makes the folder a repository; with a message, everything in it that is not ignored is committed.
    pub async fn init(&self, branch: &Branch, first_commit: Option<&str>) -> Result<Initialised, Error> {
        if self.confined("init").await.is_ok() {
            let message = "the folder is a repository already".to_owned();
            return Err(Error::Git { operation: "init", message, kind: GitKind::Initialised });
        }
        let first = format!("--initial-branch={branch}");
        self.answer(Call::write("init").args(["init", "--quiet", &first])).await?;
        let commit = match first_commit {
            None => None,
            Some(message) => {
                self.stage(&[RelPath::root()]).await?;
                Some(self.commit(&NewCommit { message: message.to_owned(), session: None }).await?)
            }
        };
        Ok(Initialised { branch: branch.to_string(), commit })
    }
}
