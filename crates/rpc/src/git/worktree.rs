//! The methods for git worktrees: further working copies of a workspace's repository, so that sessions do not
//! disturb each other.

use serde::{Deserialize, Serialize};

wire! {
    /// A working copy of the repository.
    WorktreeInfo {
        /// Name for the other worktree methods; empty for one that Roost did not make.
        name: String,
        /// Its folder, absolute.
        path: String,
        /// The branch that is checked out; empty if the HEAD is detached.
        branch: String,
        /// Full id of the commit that is checked out; empty before the first commit.
        head: String,
        /// Full id of the commit that its branch started from; absent for one that Roost did not make.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
        /// A session whose working directory it is; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        /// Whether it is the workspace's own folder.
        is_main: bool,
        /// Whether git has locked it against removal.
        is_locked: bool,
        /// Whether its folder is gone, so that git would forget it.
        is_prunable: bool,
    }
}

wire! {
    /// All working copies of a repository.
    WorktreeListResult {
        /// The working copies, the workspace's own first.
        worktrees: Vec<WorktreeInfo>,
        /// Number of working copies.
        count: u64,
    }
}

params! {
    /// Parameters of `workspace/worktree/add`.
    WorktreeAddParams {
        /// Name of its folder below `.roost/worktrees`: a single path component.
        name: String,
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// The branch to check out, created if it does not exist; `roost/` and the name if absent.
        branch: String,
        /// Where a new branch starts; at the commit that is checked out if absent.
        base: String,
    }
}

wire! {
    /// The working copy exists.
    WorktreeAddResult {
        /// Always true; a failure is an error.
        success: bool,
        /// The new working copy.
        worktree: WorktreeInfo,
    }
}

params! {
    /// Parameters of the worktree methods that need a name.
    WorktreeParams {
        /// Name of the working copy.
        name: String,
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// To remove: even if it has uncommitted changes. To discard: even while a session works in it.
        /// False if absent.
        force: bool,
    }
}

params! {
    /// Parameters of `workspace/worktree/merge`.
    WorktreeMergeParams {
        /// Name of the working copy.
        name: String,
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Message for a commit of its uncommitted changes. If absent, uncommitted changes are an error.
        message: String,
        /// A session of this workspace to name in a trailer of the new commits; no trailer if absent.
        session_id: String,
    }
}
