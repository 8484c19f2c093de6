//! git, as the user has it: one handle per repository, one file per thing that is done with it.
//!
//! Decisions that matter:
//! - Everything goes through the user's own `git`, so that hooks, credentials, signing and every repository format work.
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
pub use status::{Change, Status};
pub use sync::{Fetched, Merged, Pulled, Push, Pushed};
pub use worktree::{SessionWorktree, WORKTREES, Worktree};
pub use write::{Committed, NewCommit};
