//! Events about a workspace's repository.

use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};

params! {
    /// A git operation for a client ended, by whichever client.
    GitOperationCompleted {
        /// Id of the workspace.
        workspace_id: String,
        /// Name of the operation, such as `commit` or `stash/pop`.
        operation: String,
        /// False if it failed, or if conflicts have to be resolved first.
        success: bool,
        /// When it ended.
        timestamp: Timestamp,
        ;
        /// The result for people, at most 2 KiB; absent if there is nothing to say.
        message: String,
        /// Why it failed, at most 2 KiB; absent if it did not.
        error: String,
        /// Full id of the commit that it made; absent if it made none.
        sha: String,
        /// The branch that it changed or used; absent if it concerned none.
        branch: String,
        /// How many paths or files it changed; absent if it does not count them.
        files_affected: u64,
        /// Commits that were sent to the remote; only for a push.
        commits_pushed: u64,
        /// Commits that came from the remote; only for a pull or fetch.
        commits_pulled: u64,
        /// Files with conflicts, at most 100; absent if there are none.
        conflicted_files: Vec<String>,
        /// The cursor after this event; pass it as `after` to resume.
        cursor: String,
    }
}

params! {
    /// Another branch is checked out, by a client or by anybody else.
    GitBranchChanged {
        /// Id of the workspace.
        workspace_id: String,
        /// The branch before; `HEAD` if it was detached.
        from_branch: String,
        /// The branch that is checked out now.
        to_branch: String,
        /// When it was noticed.
        timestamp: Timestamp,
        ;
        /// The cursor after this event; pass it as `after` to resume.
        cursor: String,
    }
}

params! {
    /// Progress of a push, pull or fetch, at most every 250 ms for one phase.
    GitOperationProgress {
        /// Id of the workspace.
        workspace_id: String,
        /// Name of the operation, such as `push`.
        operation: String,
        /// Git's name for the current phase, such as `Writing objects`.
        phase: String,
        /// When it was sent.
        timestamp: Timestamp,
        ;
        /// Progress of this phase in percent, from 0 to 100; absent if git does not say.
        percent: u8,
    }
}
