//! A repository in one word.

use super::run::Git;
use super::{GitKind, Status};
use crate::Error;

/// A repository in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GitState {
    /// There is none.
    NoGit,
    /// It has no commit.
    Init,
    /// It knows no other repository.
    NoRemote,
    /// Its branch follows none.
    NoPush,
    /// Its branch is where the followed one is.
    Synced,
    /// Its branch is ahead or behind.
    Diverged,
    /// A merge waits for its conflicts to be resolved.
    Conflict,
}

impl GitState {
    /// The word on the wire.
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

    /// The word for a status in a repository that knows others or not.
    pub(crate) fn from_status(status: &Status, has_remotes: bool) -> Self {
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

/// What is told of a repository at a glance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// It in one word.
    pub state: GitState,
    /// How its working copy is, without lines; absent where there is no repository.
    pub status: Option<Status>,
    /// The repositories elsewhere that it knows, by name.
    pub remotes: Vec<String>,
}

impl Git {
    /// What there is to tell at a glance; no repository is an answer, not an error.
    pub async fn probe(&self) -> Result<Probe, Error> {
        match tokio::try_join!(self.status_of(&[]), self.remote_names("state")) {
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
        let head = || Status { head: Some("1".into()), ..Status::default() };
        let tracking = |ahead, behind| Status { is_tracking: true, ahead, behind, ..head() };
        let torn = Change { path: "x".into(), status: '!', ..Change::default() };
        let cases = [
            (Status::default(), true, "git_init"),
            (head(), false, "no_remote"),
            (head(), true, "no_push"),
            (tracking(0, 0), true, "synced"),
            (tracking(1, 0), true, "diverged"),
            (tracking(0, 1), true, "diverged"),
            (Status { conflicted: vec![torn], ..tracking(0, 0) }, true, "conflict"),
        ];
        for (status, has_remotes, expected) in cases {
            assert_eq!(GitState::from_status(&status, has_remotes).word(), expected, "{status:?}");
        }
    }
}
