//! Branches, and the repositories elsewhere that have some of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

wire! {
    /// A branch.
    GitBranch {
        /// Its name; with the remote's before it if it is a remote's.
        name: String,
        /// It is checked out.
        is_current: bool,
        /// It is a remote's, as last seen.
        is_remote: bool,
        /// The branch that it follows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        upstream: Option<String>,
        /// Commits that the followed branch has not.
        ahead: u64,
        /// Commits that only the followed branch has.
        behind: u64,
    }
}

wire! {
    /// All branches.
    GitBranchesResult {
        /// The one that is checked out; empty if none is.
        current: String,
        /// The branch that it follows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        upstream: Option<String>,
        /// Commits that the followed branch has not.
        ahead: u64,
        /// Commits that only the followed branch has.
        behind: u64,
        /// Them, those here first.
        branches: Vec<GitBranch>,
    }
}

params! {
    /// The branch to go to.
    GitCheckoutParams {
        /// Which.
        branch: String,
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// Make it.
        create: bool,
    }
}

wire! {
    /// Another branch is checked out.
    GitCheckoutResult {
        /// Always true.
        success: bool,
        /// The branch now.
        branch: String,
        /// The branch before.
        from_branch: String,
        /// For people.
        message: String,
    }
}

params! {
    /// The branch to delete.
    GitBranchDeleteParams {
        /// Which.
        branch: String,
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// Even if its commits are nowhere else.
        force: bool,
        /// On its remote, too.
        delete_remote: bool,
    }
}

wire! {
    /// The branch is deleted.
    GitBranchDeleteResult {
        /// Always true.
        success: bool,
        /// Which.
        branch: String,
        /// For people.
        message: String,
        /// On its remote, too.
        deleted_remote: bool,
        /// Why not there, if it should.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remote_error: Option<String>,
    }
}

params! {
    /// What to follow.
    GitUpstreamParams {
        /// The branch.
        branch: String,
        /// The branch that it shall follow, such as `origin/main`.
        upstream: String,
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
    }
}

wire! {
    /// A repository elsewhere.
    GitRemote {
        /// Its name here.
        name: String,
        /// Where it is fetched from; without a password.
        fetch_url: String,
        /// Where it is pushed to; without a password.
        push_url: String,
        /// `github`, `gitlab`, `bitbucket` or `custom`.
        provider: String,
        /// Its branches, as last seen.
        tracking_branches: Vec<String>,
    }
}

wire! {
    /// The repositories elsewhere that are known.
    GitRemoteListResult {
        /// Them.
        remotes: Vec<GitRemote>,
    }
}

params! {
    /// A repository elsewhere.
    GitRemoteAddParams {
        /// Its name here.
        name: String,
        /// Where it is.
        url: String,
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// Look what it has.
        fetch: bool,
    }
}

wire! {
    /// The repository elsewhere is known.
    GitRemoteAddResult {
        /// Always true.
        success: bool,
        /// For people.
        message: String,
        /// It.
        remote: GitRemote,
        /// Its branches, if they were looked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fetched_branches: Option<Vec<String>>,
        /// Why they could not be looked for, if they should.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fetch_error: Option<String>,
    }
}

params! {
    /// A repository elsewhere.
    GitRemoteParams {
        /// Its name here.
        name: String,
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
    }
}

params! {
    /// A new repository.
    #[derive(Default)]
    GitInitParams {
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// Its branch; `main` if absent.
        initial_branch: String,
        /// Commit everything that is there.
        initial_commit: bool,
        /// What is said about that.
        commit_message: String,
    }
}

wire! {
    /// The folder is a repository.
    GitInitResult {
        /// Always true.
        success: bool,
        /// For people.
        message: String,
        /// Its branch.
        branch: String,
        /// Enough of its first commit's id to be unique.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit_sha: Option<String>,
        /// Files of its first commit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files_committed: Option<u64>,
    }
}
