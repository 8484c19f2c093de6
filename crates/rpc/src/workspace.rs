//! Workspaces: the folders that agents may work in.

use roost_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::history::HistoryItem;

params! {
    /// How much to tell of each workspace.
    #[derive(Default)]
    WorkspaceListParams {
        ;
        /// With git's state; yes if absent.
        include_git: bool,
        /// Workspaces whose git state is read, at most.
        git_limit: u32,
    }
}

wire! {
    /// A folder that agents may work in.
    Workspace {
        /// Its id.
        id: String,
        /// Its name.
        name: String,
        /// Its folder.
        path: String,
        /// The folder is there.
        exists: bool,
        /// A session is started with the daemon.
        auto_start: bool,
        /// When it was added.
        created_at: Timestamp,
        /// Its sessions, the latest first, as far as they fit.
        sessions: Vec<HistoryItem>,
        /// All of its sessions.
        session_count: u64,
        /// Sessions with a process or a task.
        active_session_count: u64,
        /// There is one.
        has_active_session: bool,
        /// The current session; empty if there is none.
        active_session_id: String,
        /// Its runtime.
        #[serde(skip_serializing_if = "Option::is_none")]
        active_agent_type: Option<String>,
        /// It is a git repository.
        is_git_repo: bool,
        /// `no_git`, `git_init`, `no_remote`, `no_push`, `synced`, `diverged` or `conflict`.
        git_state: String,
        /// How its repository is, where that was asked for and could be found out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        git: Option<WorkspaceGit>,
    }
}

wire! {
    /// How a workspace's repository is, at a glance.
    WorkspaceGit {
        /// There is one.
        initialized: bool,
        /// It knows others.
        has_remotes: bool,
        /// The branch; empty when none is checked out.
        branch: String,
        /// Commits that the followed branch has not.
        ahead: u64,
        /// Commits that only the followed branch has.
        behind: u64,
        /// Files that the next commit holds.
        staged_count: u64,
        /// Files that it does not hold yet.
        unstaged_count: u64,
        /// Files that git does not know.
        untracked_count: u64,
        /// Conflicts wait.
        has_conflicts: bool,
        /// The same as `git_state`.
        state: String,
    }
}

wire! {
    /// All workspaces.
    WorkspaceListResult {
        /// Them.
        workspaces: Vec<Workspace>,
    }
}

params! {
    /// A workspace.
    WorkspaceParams {
        /// Which.
        workspace_id: String,
        ;
    }
}

params! {
    /// A folder to work in.
    WorkspaceAddParams {
        /// The folder, absolute.
        path: String,
        ;
        /// Its name; the folder's if absent.
        name: String,
        /// A session is started with the daemon.
        auto_start: bool,
        /// Make the folder if it is not there.
        create_if_missing: bool,
    }
}

params! {
    /// Where repositories are looked for.
    #[derive(Default)]
    WorkspaceDiscoverParams {
        ;
        /// Below these folders; the usual ones if absent.
        paths: Vec<String>,
        /// Look now, whatever is known.
        fresh: bool,
    }
}

wire! {
    /// A repository that was found on the machine.
    DiscoveredRepository {
        /// Its folder.
        path: String,
        /// The folder's name.
        name: String,
        /// Where it comes from, without a password.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remote_url: Option<String>,
        /// When git last changed something in it.
        last_modified: Timestamp,
        /// It is a workspace already.
        is_configured: bool,
    }
}

wire! {
    /// The repositories that were found.
    WorkspaceDiscoverResult {
        /// Them, by their folders.
        repositories: Vec<DiscoveredRepository>,
        /// How many.
        count: u64,
        /// They were known before.
        cached: bool,
        /// For how long.
        cache_age_seconds: u64,
        /// A newer search is under way.
        refresh_in_progress: bool,
        /// How long this took.
        elapsed_ms: u64,
        /// Folders that were looked into.
        scanned_paths: u64,
        /// Folders that were not.
        skipped_paths: u64,
        /// It was cancelled before its end: this is what was found until then.
        cancelled: bool,
    }
}

params! {
    /// A search for repositories that is wanted no more.
    WorkspaceDiscoverCancelParams {
        /// Which, as `workspace_discover_progress` told it.
        discover_id: String,
        ;
    }
}

params! {
    /// What to forget.
    #[derive(Default)]
    WorkspaceCacheParams {
        ;
        /// Whose; all if absent.
        workspace_id: String,
    }
}

params! {
    /// What to change of a workspace.
    WorkspaceUpdateParams {
        /// Which.
        workspace_id: String,
        ;
        /// Its name.
        name: String,
        /// A session is started with the daemon.
        auto_start: bool,
    }
}

wire! {
    /// It is done, in words.
    Done {
        /// It is; false only where there was nothing to do.
        success: bool,
        /// For people.
        message: String,
    }
}

wire! {
    /// How a workspace is.
    WorkspaceStatusResult {
        /// Which.
        workspace_id: String,
        /// Its name.
        workspace_name: String,
        /// Its folder.
        path: String,
        /// A session is started with the daemon.
        auto_start: bool,
        /// When it was added.
        created_at: Timestamp,
        /// Its sessions, the latest first.
        sessions: Vec<HistoryItem>,
        /// Sessions with a process or a task.
        active_session_count: u64,
        /// There is one.
        has_active_session: bool,
        /// `healthy`, `unhealthy`, `unavailable` or `not_git`.
        git_tracker_state: String,
        /// The repository's name.
        git_repo_name: String,
        /// It is a git repository.
        is_git_repo: bool,
        /// Git's last error.
        git_last_error: String,
        /// Somebody watches one of its sessions.
        is_being_watched: bool,
        /// Which; empty if none.
        watched_session_id: String,
    }
}

wire! {
    /// The workspaces that this client follows.
    SubscribeResult {
        /// Always true.
        success: bool,
        /// The one that was named.
        workspace_id: String,
        /// All of them.
        subscribed: Vec<String>,
    }
}

wire! {
    /// The workspaces that this client follows; all if none is named.
    SubscriptionsResult {
        /// Them.
        workspaces: Vec<String>,
        /// Others are left out.
        is_filtering: bool,
        /// How many.
        count: u64,
    }
}

wire! {
    /// This client follows everything.
    SubscribeAllResult {
        /// Always true.
        success: bool,
        /// Always false.
        is_filtering: bool,
    }
}
