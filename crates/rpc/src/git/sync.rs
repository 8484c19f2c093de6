//! What brings branches together.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

params! {
    /// What to push.
    #[derive(Default)]
    GitPushParams {
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// Replace what is there, unless somebody pushed since it was last seen.
        force: bool,
        /// Follow the pushed branch from now on.
        set_upstream: bool,
        /// Where to; the branch's own remote if absent.
        remote: String,
        /// Which branch; the one that is checked out if absent.
        branch: String,
    }
}

wire! {
    /// It is pushed.
    GitPushResult {
        /// Always true.
        success: bool,
        /// What git said.
        message: String,
        /// Commits that the remote had not.
        commits_pushed: u64,
        /// Always true.
        pushed: bool,
        /// The pushed branch is followed now.
        upstream_set: bool,
        /// That branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        upstream: Option<String>,
    }
}

params! {
    /// How to pull.
    #[derive(Default)]
    GitPullParams {
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// Put the own commits on top instead of merging.
        rebase: bool,
    }
}

wire! {
    /// What a pull brought.
    GitPullResult {
        /// It is finished; false while conflicts wait.
        success: bool,
        /// What git said.
        message: String,
        /// Commits that are new.
        commits_pulled: u64,
        /// Files that changed.
        files_changed: u64,
        /// Files whose conflict waits.
        conflicted_files: Vec<String>,
    }
}

params! {
    /// What to look at.
    #[derive(Default)]
    GitFetchParams {
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// Which remote; `origin` if absent.
        remote: String,
        /// Forget branches that it has no more.
        prune: bool,
    }
}

wire! {
    /// What a fetch brought.
    GitFetchResult {
        /// Always true.
        success: bool,
        /// What git said.
        message: String,
        /// Branches that moved.
        updated_refs: Vec<String>,
        /// Branches that are new.
        new_branches: Vec<String>,
        /// Branches that are gone.
        pruned_branches: Vec<String>,
        /// Commits that are new.
        new_commits: u64,
    }
}

params! {
    /// What to merge.
    GitMergeParams {
        /// Which branch.
        branch: String,
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// Make a commit of it even where none is needed.
        no_ff: bool,
        /// What is said about it.
        message: String,
    }
}

wire! {
    /// What came of bringing something together.
    GitMergeResult {
        /// It is finished; false while conflicts wait.
        success: bool,
        /// What git said.
        message: String,
        /// The commit that is checked out now.
        commit_sha: String,
        /// Conflicts wait.
        has_conflicts: bool,
        /// Their files.
        conflicted_files: Vec<String>,
    }
}
