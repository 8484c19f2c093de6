//! The git methods that push, pull, fetch and merge.

use serde::{Deserialize, Serialize};

params! {
    /// Parameters of `git/push`.
    #[derive(Default)]
    GitPushParams {
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Whether to overwrite the remote's branch, unless it changed since the last fetch; false if absent.
        force: bool,
        /// Whether to make the pushed branch the upstream; false if absent.
        set_upstream: bool,
        /// Name of the remote; the branch's own if absent.
        remote: String,
        /// Name of the branch; the one that is checked out if absent.
        branch: String,
    }
}

wire! {
    /// The branch is pushed.
    GitPushResult {
        /// Always true; a failure is an error.
        success: bool,
        /// Git's own output, for people.
        message: String,
        /// Commits that the remote did not have, as of the last fetch.
        commits_pushed: u64,
        /// Always true, by the name that `git/commit` has for it.
        pushed: bool,
        /// Whether the upstream was set.
        upstream_set: bool,
        /// The upstream that was set; absent if none was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        upstream: Option<String>,
    }
}

params! {
    /// Parameters of `git/pull`.
    #[derive(Default)]
    GitPullParams {
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Whether to rebase the local commits instead of merging; false if absent.
        rebase: bool,
    }
}

wire! {
    /// The result of a pull.
    GitPullResult {
        /// False if conflicts have to be resolved first.
        success: bool,
        /// Git's own output, for people.
        message: String,
        /// Number of new commits.
        commits_pulled: u64,
        /// Number of files that changed.
        files_changed: u64,
        /// Files with conflicts; empty if there are none.
        conflicted_files: Vec<String>,
    }
}

params! {
    /// Parameters of `git/fetch`.
    #[derive(Default)]
    GitFetchParams {
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Name of the remote; `origin` if absent.
        remote: String,
        /// Whether to remove branches here that the remote no longer has; false if absent.
        prune: bool,
    }
}

wire! {
    /// The result of a fetch.
    GitFetchResult {
        /// Always true; a failure is an error.
        success: bool,
        /// Git's own output, for people.
        message: String,
        /// Names of the remote's branches that moved.
        updated_refs: Vec<String>,
        /// Names of the remote's branches that are new.
        new_branches: Vec<String>,
        /// Names of the remote's branches that were removed here; empty unless `prune` was requested.
        pruned_branches: Vec<String>,
        /// Number of new commits.
        new_commits: u64,
    }
}

params! {
    /// Parameters of `git/merge`.
    GitMergeParams {
        /// Branch, tag or commit to merge into what is checked out.
        branch: String,
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Whether to make a merge commit even if a fast-forward is possible; false if absent.
        no_ff: bool,
        /// Message of the merge commit; git's own if absent.
        message: String,
    }
}

wire! {
    /// The result of a merge, or of applying or dropping a stash.
    GitMergeResult {
        /// False if conflicts have to be resolved first.
        success: bool,
        /// Git's own output, for people.
        message: String,
        /// Full id of the commit that is checked out now.
        commit_sha: String,
        /// Whether files have conflicts.
        has_conflicts: bool,
        /// Files with conflicts; empty if there are none.
        conflicted_files: Vec<String>,
    }
}
