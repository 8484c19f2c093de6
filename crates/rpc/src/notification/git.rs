//! What happens to a workspace's repository.

use roost_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

params! {
    /// A client had something done with a workspace's repository.
    GitOperationCompleted {
        /// Whose repository.
        workspace_id: String,
        /// What was done, such as `commit`.
        operation: String,
        /// It is finished; false also while conflicts wait.
        success: bool,
        /// When.
        timestamp: Timestamp,
        ;
        /// What came of it, for people.
        message: String,
        /// Why it failed.
        error: String,
        /// The commit that was made.
        sha: String,
        /// The branch that it was about.
        branch: String,
        /// How many files it was about.
        files_affected: u64,
        /// Commits that went to the remote.
        commits_pushed: u64,
        /// Commits that came from the remote.
        commits_pulled: u64,
        /// Files whose conflict waits.
        conflicted_files: Vec<String>,
        /// The place after it.
        cursor: String,
    }
}

params! {
    /// Another branch is checked out.
    GitBranchChanged {
        /// Whose repository.
        workspace_id: String,
        /// The branch before.
        from_branch: String,
        /// The branch now.
        to_branch: String,
        /// When.
        timestamp: Timestamp,
        ;
        /// The place after it.
        cursor: String,
    }
}

params! {
    /// How far a push, pull or fetch is.
    GitOperationProgress {
        /// Whose repository.
        workspace_id: String,
        /// What is done, such as `push`.
        operation: String,
        /// The part of it, such as `Writing objects`.
        phase: String,
        /// When.
        timestamp: Timestamp,
        ;
        /// How much of that part.
        percent: u8,
    }
}
