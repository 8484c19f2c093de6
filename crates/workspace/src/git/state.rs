//! The state of a repository in one word.

use super::run::Git;
use super::{GitKind, GitStatus};
use crate::Error;

/// The state of a repository in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GitState {
    /// The folder is not a repository.
    NoGit,
    /// The repository has no commit yet.
    Init,
    /// The repository has no remote.
    NoRemote,
    /// The branch has no upstream, or its upstream does not exist.
    NoPush,
    /// The branch is at the same commit as its upstream.
    Synced,
    /// The branch is ahead of its upstream, or behind it.
    Diverged,
    /// There are unresolved conflicts.
    Conflict,
}

impl GitState {
    /// The value on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::NoGit => "no_git",
            Self::Init => "git_init",
            Self::NoRemote => "no_remote",
            Self::NoPush => "no_push",
            Self::Synced => "synced",
            Self::Diverged => "diverged",
            Self::Conflict => "conflict",
        }
    }

    /// The state that a status means, in a repository with or without remotes.
    pub(crate) fn from_status(status: &GitStatus, has_remotes: bool) -> Self {
        match status {
            status if !status.conflicted.is_empty() => Self::Conflict,
            status if status.head.is_none() => Self::Init,
            _ if !has_remotes => Self::NoRemote,
            status if !status.is_tracking => Self::NoPush,
            status if status.ahead + status.behind > 0 => Self::Diverged,
            _ => Self::Synced,
        }
    }
}

/// A summary of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The summary of the status, for clients that show one word.
    pub state: GitState,
    /// The status without line counts; absent without a repository.
    pub status: Option<GitStatus>,
    /// The names of its remotes.
    pub remotes: Vec<String>,
}

impl Git {
    /// A summary of the repository. A folder without one is an answer, not an error.
    pub async fn probe(&self) -> Result<Probe, Error> {
        match tokio::try_join!(self.status_at(&[]), self.remote_names("state")) {
            Ok((status, remotes)) => {
                let state = GitState::from_status(&status, !remotes.is_empty());
                Ok(Probe { state, status: Some(status), remotes })
            }
            Err(Error::Git { kind: GitKind::NotARepository, .. }) => {
                Ok(Probe { state: GitState::NoGit, status: None, remotes: Vec::new() })
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::Change;

    #[test]
    fn every_word_has_its_state() {
        let head = || GitStatus { head: Some("1".into()), ..GitStatus::default() };
        let tracking = |ahead, behind| GitStatus { is_tracking: true, ahead, behind, ..head() };
        let torn = Change { path: "x".into(), status: '!', ..Change::default() };
        let cases = [
            (GitStatus::default(), true, "git_init"),
            (head(), false, "no_remote"),
            (head(), true, "no_push"),
            (tracking(0, 0), true, "synced"),
            (tracking(1, 0), true, "diverged"),
            (tracking(0, 1), true, "diverged"),
            (GitStatus { conflicted: vec![torn], ..tracking(0, 0) }, true, "conflict"),
        ];
        for (status, has_remotes, expected) in cases {
            assert_eq!(GitState::from_status(&status, has_remotes).word(), expected, "{status:?}");
        }
    }
}
