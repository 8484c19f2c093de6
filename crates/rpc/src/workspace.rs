//! The methods for workspaces: the folders that agents may work in.

use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::history::HistoryItem;

params! {
    /// Parameters of `workspace/list`.
    #[derive(Default)]
    WorkspaceListParams {
        ;
        /// Whether to read the state of git in each; true if absent.
        include_git: bool,
        /// Most workspaces to read the state of git in; all if absent.
        git_limit: u32,
    }
}

wire! {
    /// A folder that agents may work in.
    Workspace {
        /// Id of the workspace.
        id: String,
        /// Name to show.
        name: String,
        /// The folder, absolute.
        path: String,
        /// Whether the folder exists now.
        exists: bool,
        /// Whether the daemon creates a session in it on start, if it has none.
        auto_start: bool,
        /// When it was added.
        created_at: Timestamp,
        /// Its sessions in Roost's log, last changed first; at most 50, fewer in a long list of workspaces.
        sessions: Vec<HistoryItem>,
        /// Number of all its sessions.
        session_count: u64,
        /// Number of sessions that have a process or a task.
        active_session_count: u64,
        /// Whether there is such a session.
        has_active_session: bool,
        /// The session that `workspace/session/activate` chose, else one that is running; empty if there is neither.
        active_session_id: String,
        /// Id of that session's runtime; absent if there is none.
        #[serde(skip_serializing_if = "Option::is_none")]
        active_agent_type: Option<String>,
        /// Whether its folder is a git repository.
        is_git_repo: bool,
        /// `no_git`, `git_init` (no commit yet), `no_remote`, `no_push` (no upstream), `synced`,
        /// `diverged` or `conflict`.
        git_state: String,
        /// The state of its repository in numbers. Absent if it was not requested, or git did not answer
        /// within 5 seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        git: Option<WorkspaceGit>,
    }
}

wire! {
    /// The state of a workspace's repository in numbers.
    WorkspaceGit {
        /// Whether there is a repository.
        initialized: bool,
        /// Whether it has a remote.
        has_remotes: bool,
        /// The branch that is checked out; empty if the HEAD is detached.
        branch: String,
        /// Commits that the upstream does not have.
        ahead: u64,
        /// Commits that only the upstream has.
        behind: u64,
        /// Number of changes in the index.
        staged_count: u64,
        /// Number of changes that are not in the index.
        unstaged_count: u64,
        /// Number of files that git does not track.
        untracked_count: u64,
        /// Whether files have merge conflicts.
        has_conflicts: bool,
        /// The same as `git_state` of the workspace.
        state: String,
    }
}

wire! {
    /// The workspaces of this host.
    WorkspaceListResult {
        /// All workspaces of this host.
        workspaces: Vec<Workspace>,
    }
}

params! {
    /// Parameters that select a workspace.
    WorkspaceParams {
        /// Id of the workspace, from `workspace/list`.
        workspace_id: String,
        ;
    }
}

params! {
    /// Parameters of `workspace/add`.
    WorkspaceAddParams {
        /// The folder, absolute. Outside `workspaces.roots` it needs the scope `admin`.
        path: String,
        ;
        /// Name to show, at most 200 characters; the folder's name if absent.
        name: String,
        /// Whether the daemon creates a session in it on start, if it has none; false if absent.
        auto_start: bool,
        /// Whether to create the folder if it does not exist; false if absent.
        create_if_missing: bool,
    }
}

params! {
    /// Parameters of `workspace/discover`.
    #[derive(Default)]
    WorkspaceDiscoverParams {
        ;
        /// Folders to search below, absolute; the configured ones if absent or empty.
        paths: Vec<String>,
        /// Whether to search again even if results of the last hour are known; false if absent.
        fresh: bool,
    }
}

wire! {
    /// A git repository on this machine.
    DiscoveredRepository {
        /// Its folder, absolute.
        path: String,
        /// Name of its folder.
        name: String,
        /// Address of its remote, without a password; absent if it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remote_url: Option<String>,
        /// When git last changed something in it.
        last_modified: Timestamp,
        /// Whether it is a workspace already.
        is_configured: bool,
    }
}

wire! {
    /// The repositories that were found.
    WorkspaceDiscoverResult {
        /// The repositories, by folder.
        repositories: Vec<DiscoveredRepository>,
        /// Number of repositories.
        count: u64,
        /// Whether they come from an earlier search.
        cached: bool,
        /// Age of that search in seconds; 0 if `cached` is false.
        cache_age_seconds: u64,
        /// Whether a newer search is running in the background.
        refresh_in_progress: bool,
        /// Time that this search took in milliseconds; 0 if `cached` is true.
        elapsed_ms: u64,
        /// Number of folders that were searched.
        scanned_paths: u64,
        /// Number of folders that could not be searched, or not within the limits of depth and time.
        skipped_paths: u64,
        /// Whether the search was cancelled; the result then has what was found until then.
        cancelled: bool,
    }
}

params! {
    /// Parameters of `workspace/discover/cancel`. Cancelling a search that has ended is no error.
    WorkspaceDiscoverCancelParams {
        /// Id of the search, from `workspace_discover_progress`.
        discover_id: String,
        ;
    }
}

params! {
    /// Parameters of `workspace/cache/invalidate`.
    #[derive(Default)]
    WorkspaceCacheParams {
        ;
        /// A workspace, which must exist; it makes no difference, because one cache serves all.
        workspace_id: String,
    }
}

params! {
    /// Parameters of `workspace/update`. What is absent stays as it is.
    WorkspaceUpdateParams {
        /// Id of the workspace, from `workspace/list`.
        #[serde(alias = "id")]
        workspace_id: String,
        ;
        /// New name to show, at most 200 characters.
        name: String,
        /// Whether the daemon creates a session in it on start, if it has none.
        auto_start: bool,
    }
}

wire! {
    /// Whether something was done, with a sentence for people.
    Done {
        /// False only if there was nothing to do; a failure is an error.
        success: bool,
        /// The result for people.
        message: String,
    }
}

wire! {
    /// The state of a workspace.
    WorkspaceStatusResult {
        /// Id of the workspace.
        workspace_id: String,
        /// Name to show.
        workspace_name: String,
        /// The folder, absolute.
        path: String,
        /// Whether the daemon creates a session in it on start, if it has none.
        auto_start: bool,
        /// When it was added.
        created_at: Timestamp,
        /// Its sessions in Roost's log, last changed first; at most 50.
        sessions: Vec<HistoryItem>,
        /// Number of sessions that have a process or a task.
        active_session_count: u64,
        /// Whether there is such a session.
        has_active_session: bool,
        /// Whether git works: `healthy`, `unhealthy` (git fails), `unavailable` (the folder is gone) or `not_git`.
        git_tracker_state: String,
        /// Name of the workspace; empty if its folder is not a repository.
        git_repo_name: String,
        /// Whether its folder is a git repository.
        is_git_repo: bool,
        /// Why git failed just now; empty if it did not.
        git_last_error: String,
        /// Whether a client watches one of its sessions or has it on its screen.
        is_being_watched: bool,
        /// That session; empty if there is none.
        watched_session_id: String,
    }
}

wire! {
    /// The workspaces whose events this client gets, after a change.
    SubscribeResult {
        /// Always true; a failure is an error.
        success: bool,
        /// The workspace from the parameters.
        workspace_id: String,
        /// Ids of all workspaces that it subscribed to; empty means all workspaces.
        subscribed: Vec<String>,
    }
}

wire! {
    /// The workspaces whose events this client gets.
    SubscriptionsResult {
        /// Ids of the workspaces that it subscribed to; empty means all workspaces.
        workspaces: Vec<String>,
        /// Whether events of other workspaces are left out.
        is_filtering: bool,
        /// Number of those ids.
        count: u64,
    }
}

wire! {
    /// This client gets the events of every workspace.
    SubscribeAllResult {
        /// Always true; a failure is an error.
        success: bool,
        /// Always false, because no workspace is left out.
        is_filtering: bool,
    }
}
