//! The git methods for branches, remotes and new repositories.

use serde::{Deserialize, Serialize};

wire! {
    /// A local branch, or a remote's branch as of the last fetch.
    GitBranch {
        /// Its name; for a remote's branch with the remote's name before it, such as `origin/main`.
        name: String,
        /// Whether it is checked out.
        is_current: bool,
        /// Whether it is a remote's branch, as of the last fetch.
        is_remote: bool,
        /// Its upstream, such as `origin/main`; absent if it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        upstream: Option<String>,
        /// Commits that the upstream does not have; 0 without an upstream.
        ahead: u64,
        /// Commits that only the upstream has; 0 without an upstream.
        behind: u64,
    }
}

wire! {
    /// The branches of a repository.
    GitBranchesResult {
        /// The branch that is checked out; empty if the HEAD is detached.
        current: String,
        /// Its upstream; absent if it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        upstream: Option<String>,
        /// Commits that the upstream does not have; 0 without an upstream.
        ahead: u64,
        /// Commits that only the upstream has; 0 without an upstream.
        behind: u64,
        /// Local branches first, then those of the remotes; fewer if the answer would exceed 768 KiB.
        branches: Vec<GitBranch>,
    }
}

params! {
    /// Parameters of `git/checkout`.
    GitCheckoutParams {
        /// Name of the branch. A branch that only a remote has is created here with that upstream.
        branch: String,
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Whether to create the branch at the current commit; false if absent.
        create: bool,
    }
}

wire! {
    /// The branch is checked out.
    GitCheckoutResult {
        /// Always true; a failure is an error.
        success: bool,
        /// The branch that is checked out now.
        branch: String,
        /// The branch before; `HEAD` if it was detached.
        from_branch: String,
        /// The result for people.
        message: String,
    }
}

params! {
    /// Parameters of `git/branch/delete`.
    GitBranchDeleteParams {
        /// Name of the local branch.
        branch: String,
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Whether to delete it even if some of its commits are merged nowhere else; false if absent.
        force: bool,
        /// Whether to delete it on its remote, too; false if absent.
        delete_remote: bool,
    }
}

wire! {
    /// The branch is deleted.
    GitBranchDeleteResult {
        /// Always true; a failure to delete it here is an error.
        success: bool,
        /// Name of the branch.
        branch: String,
        /// The result for people.
        message: String,
        /// Whether it was also deleted on its remote.
        deleted_remote: bool,
        /// Why it could not be deleted on its remote; absent if it was, or was not requested. The local branch is gone
        /// all the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remote_error: Option<String>,
    }
}

params! {
    /// Parameters of `git/upstream/set`.
    GitUpstreamParams {
        /// Name of the local branch.
        branch: String,
        /// The upstream to set, such as `origin/main`.
        upstream: String,
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
    }
}

wire! {
    /// A remote of the repository.
    GitRemote {
        /// Its name, such as `origin`.
        name: String,
        /// The address to fetch from, without a password.
        fetch_url: String,
        /// The address to push to, without a password.
        push_url: String,
        /// The service, judged by the address: `github`, `gitlab`, `bitbucket` or `custom`.
        provider: String,
        /// Names of its branches, as of the last fetch.
        tracking_branches: Vec<String>,
    }
}

wire! {
    /// The remotes of a repository.
    GitRemoteListResult {
        /// All remotes that the repository has.
        remotes: Vec<GitRemote>,
    }
}

params! {
    /// Parameters of `git/remote/add`.
    GitRemoteAddParams {
        /// Name for the remote, such as `origin`.
        name: String,
        /// Its address. A path on this machine needs the local socket or the scope `admin`.
        url: String,
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Whether to fetch its branches at once; false if absent.
        fetch: bool,
    }
}

wire! {
    /// The remote is added.
    GitRemoteAddResult {
        /// Always true; a failure is an error.
        success: bool,
        /// The result for people.
        message: String,
        /// The new remote, with its branches if they were fetched.
        remote: GitRemote,
        /// Names of its branches; absent unless they were fetched.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fetched_branches: Option<Vec<String>>,
        /// Why the fetch failed; absent if it succeeded or was not requested. The remote stays.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fetch_error: Option<String>,
    }
}

params! {
    /// Parameters of `git/remote/remove`.
    GitRemoteParams {
        /// Name of the remote.
        name: String,
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
    }
}

params! {
    /// Parameters of `git/init`, for a workspace whose folder is not a repository yet.
    #[derive(Default)]
    GitInitParams {
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Name of the first branch; `main` if absent.
        initial_branch: String,
        /// Whether to commit all files that are there; false if absent.
        initial_commit: bool,
        /// Message of that commit; `Initial commit` if absent.
        commit_message: String,
    }
}

wire! {
    /// The folder is now a repository.
    GitInitResult {
        /// Always true; a failure is an error.
        success: bool,
        /// The result for people.
        message: String,
        /// Name of its branch.
        branch: String,
        /// Abbreviated id of the first commit; absent if none was made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit_sha: Option<String>,
        /// Files in the first commit; absent if none was made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files_committed: Option<u64>,
    }
}
