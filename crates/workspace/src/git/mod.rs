//! git, as the user has it: one handle per repository, one file per thing that is done with it.
//!
//! Decisions that matter:
//! - What writes goes through the user's own `git`, so that hooks, credentials, signing and every repository format work.
//! - What only reads is read by gix where that is at least as fast and says the same: branches (82 refs, 2,000 commits:
//!   0.9 ms against 2.9 ms for git and its start). Where a repository is unusual git is asked all the same.
//!   Not so the log: gix takes 1.5 ms against 2.4 ms for 50 commits, but knows nothing of a path's history, of dates in
//!   words and of an author's name, and counts all commits no faster (18 ms against 15 ms). Nor the status: 13,000 files
//!   take 54 ms against 50 ms, 100 changes 46 ms against 44 ms, and one call of git brings its headers along.
//! - A repository is looked for in the workspace's folder alone, never above it: what lies outside is nobody's business.
//! - What a client names is a [`RelPath`](crate::RelPath), a [`Branch`], a [`Remote`] or a [`Rev`]; none of them can be
//!   taken for an option, and paths are literal (no `*`, no `:(magic)`).
//! - Conflicts are results with the files, not errors.

mod branches;
mod call;
mod diff;
mod discard;
mod failure;
mod graph;
mod init;
mod log;
mod patch;
mod progress;
mod read;
mod refs;
mod remotes;
mod run;
mod stash;
mod state;
mod status;
mod sync;
mod worktree;
mod write;

pub use branches::{BranchInfo, Branches, Switched};
pub use diff::{DiffLimits, FileDiff, Side};
pub use failure::GitKind;
pub use graph::{GraphLine, GraphPosition, LineType};
pub use init::Initialised;
pub use log::{Commit, CommitRef, Log, LogQuery, RefType};
pub use progress::Progress;
pub use refs::{Branch, Remote, Rev};
pub use remotes::{Provider, RemoteInfo, is_local};
pub use run::{Git, Timeouts};
pub use stash::{Stash, StashDo};
pub use state::{GitState, Probe};
pub use status::{Change, GitStatus};
pub use sync::{Fetched, Merged, Pulled, Push, Pushed};
pub use worktree::{SessionWorktree, WORKTREES, Worktree};
pub use write::{Committed, NewCommit};
