//! Working copies beside a workspace's own, one for each session that shall not disturb the others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

wire! {
    /// A working copy.
    WorktreeInfo {
        /// Its name; empty where it was not made by Roost.
        name: String,
        /// Its folder.
        path: String,
        /// Its branch; empty if none is checked out.
        branch: String,
        /// The commit that is checked out; empty before the first.
        head: String,
        /// The commit that a session's branch began from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
        /// The session that works there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// It is the workspace's own.
        is_main: bool,
        /// It may not be removed.
        is_locked: bool,
        /// Its folder is gone.
        is_prunable: bool,
    }
}

wire! {
    /// All working copies.
    WorktreeListResult {
        /// Them, the workspace's own first.
        worktrees: Vec<WorktreeInfo>,
        /// How many.
        count: u64,
    }
}

params! {
    /// A new working copy.
    WorktreeAddParams {
        /// Its name, one part of a path.
        name: String,
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// Its branch, made if it is not there; `roost/` and the name if absent.
        branch: String,
        /// Where a new branch begins; at what is checked out if absent.
        base: String,
    }
}

wire! {
    /// The working copy is there.
    WorktreeAddResult {
        /// Always true.
        success: bool,
        /// It.
        worktree: WorktreeInfo,
    }
}

params! {
    /// A working copy.
    WorktreeParams {
        /// Its name.
        name: String,
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// Even if what it holds is lost.
        force: bool,
    }
}

params! {
    /// A session's work to be merged.
    WorktreeMergeParams {
        /// The working copy's name.
        name: String,
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// What is said about changes that are not committed there yet; without it they are an error.
        message: String,
        /// The session that did the work, to be named at the end of the messages of commits that are made.
        session_id: String,
    }
}
