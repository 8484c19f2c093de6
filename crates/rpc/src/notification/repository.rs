//! Events about a workspace's files and searches. None of them is stored: a client that subscribes again gets
//! the current state.

use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{GrepFile, RepositoryFile, SearchMode};

words! {
    /// What happened to a file.
    FileChange {
        /// It was created.
        Created,
        /// Its content or attributes changed.
        Modified,
        /// It was deleted.
        Deleted,
        /// It was moved from `old_path`.
        Renamed,
    }
}

params! {
    /// A file of a workspace changed.
    FileChanged {
        /// Id of the workspace.
        workspace_id: String,
        /// Path, relative to the workspace's folder.
        path: String,
        /// What happened to it.
        change: FileChange,
        /// When it was sent.
        timestamp: Timestamp,
        ;
        /// Its size in bytes; absent if it was deleted.
        size: u64,
        /// Its path before; only for `renamed`.
        old_path: String,
    }
}

wire! {
    /// More than 64 files changed at once, or changes were missed: list the files again.
    FilesRescanned {
        /// Id of the workspace.
        workspace_id: String,
        /// Number of files that changed.
        changed_count: u64,
        /// Why single changes are not reported, for people.
        reason: String,
        /// When it was sent.
        timestamp: Timestamp,
    }
}

wire! {
    /// The state of a workspace's repository, after it changed or the client subscribed.
    GitStatusChanged {
        /// Id of the workspace.
        workspace_id: String,
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
        /// Paths of all these files, as many as fit into 64 KiB.
        changed_files: Vec<String>,
        /// When it was sent.
        timestamp: Timestamp,
    }
}

wire! {
    /// The diff of a file, after it changed. Sent for up to 8 files that changed together.
    GitDiff {
        /// Id of the workspace.
        workspace_id: String,
        /// Path, relative to the workspace's folder.
        file: String,
        /// The same as `file`, by the name that some clients read.
        path: String,
        /// The unified diff as `git diff` writes it, at most 64 KiB.
        diff: String,
        /// Lines added, in what is shown.
        additions: u64,
        /// Lines deleted, in what is shown.
        deletions: u64,
        /// Whether it compares the index with the last commit.
        is_staged: bool,
        /// Whether the file is new.
        is_new_file: bool,
        /// The same as `is_new_file`, by the name that some clients read.
        is_new: bool,
        /// Whether the diff was cut.
        is_truncated: bool,
        /// When it was sent.
        timestamp: Timestamp,
    }
}

wire! {
    /// A workspace cannot be watched, or only in part: changes are reported late or not at all.
    WatchFailed {
        /// Id of the workspace.
        workspace_id: String,
        /// Why it cannot be watched and what to do, for people.
        message: String,
        /// When it was sent.
        timestamp: Timestamp,
    }
}

wire! {
    /// Results of an interactive search that `repository/search/start` began.
    SearchResults {
        /// Id of the search.
        search_id: String,
        /// The text that they match, which may not be the latest one.
        query: String,
        /// How it was compared.
        mode: SearchMode,
        /// The files of the page that was requested, best first.
        results: Vec<RepositoryFile>,
        /// Number of files that match.
        total: u64,
        /// Whether there are more files than these.
        has_more: bool,
        /// Time it took in milliseconds.
        elapsed_ms: u64,
        /// When it was sent.
        timestamp: Timestamp,
    }
}

wire! {
    /// Matches of a `repository/grep` with `stream`; more may follow.
    GrepResults {
        /// Id of the search.
        grep_id: String,
        /// Files with matches, by path; they follow those of the events before.
        files: Vec<GrepFile>,
        /// When it was sent.
        timestamp: Timestamp,
    }
}

params! {
    /// A `repository/grep` with `stream` ended.
    GrepCompleted {
        /// Id of the search.
        grep_id: String,
        /// Number of lines with a match.
        total_matches: u64,
        /// Number of files with a match.
        matched_files: u64,
        /// Number of files that were searched.
        searched_files: u64,
        /// Whether there are more matches than the limit.
        truncated: bool,
        /// Whether it was cancelled before its end.
        cancelled: bool,
        /// Time it took in milliseconds.
        elapsed_ms: u64,
        /// When it was sent.
        timestamp: Timestamp,
        ;
    }
}

wire! {
    /// Progress of `workspace/discover`: sent at once, then while it searches, and a last time at the end.
    WorkspaceDiscoverProgress {
        /// Id of the search, for `workspace/discover/cancel`.
        discover_id: String,
        /// The folders below which it searches, absolute.
        paths: Vec<String>,
        /// Folders that were searched so far.
        scanned_paths: u64,
        /// Repositories that were found so far.
        found_count: u64,
        /// Time since it began, in milliseconds.
        elapsed_ms: u64,
        /// When it was sent.
        timestamp: Timestamp,
    }
}
