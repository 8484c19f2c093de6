//! What happens to the files of a workspace, and what is found there. None of it is in the log: what is true now is told
//! again to whoever subscribes again.

use roost_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{GrepFile, RepositoryFile, SearchMode};

words! {
    /// What happened to a file.
    FileChange {
        /// It is new.
        Created,
        /// It says something else.
        Modified,
        /// It is gone.
        Deleted,
        /// It was at another path.
        Renamed,
    }
}

params! {
    /// A file changed.
    FileChanged {
        /// Whose.
        workspace_id: String,
        /// Where it is.
        path: String,
        /// What happened.
        change: FileChange,
        /// When.
        timestamp: Timestamp,
        ;
        /// Its bytes.
        size: u64,
        /// Where it was.
        old_path: String,
    }
}

wire! {
    /// Too much happened to be told one by one: look at the files again.
    FilesRescanned {
        /// Whose.
        workspace_id: String,
        /// So many files are other than before.
        changed_count: u64,
        /// Why, for people.
        reason: String,
        /// When.
        timestamp: Timestamp,
    }
}

wire! {
    /// The state of a workspace's repository.
    GitStatusChanged {
        /// Whose.
        workspace_id: String,
        /// The branch; empty if none is checked out.
        branch: String,
        /// Commits that the followed branch has not.
        ahead: u64,
        /// Commits that only the followed branch has.
        behind: u64,
        /// Files that would be committed.
        staged_count: u64,
        /// Files that changed.
        unstaged_count: u64,
        /// Files that git does not know.
        untracked_count: u64,
        /// Conflicts wait.
        has_conflicts: bool,
        /// All of these files, as far as they fit.
        changed_files: Vec<String>,
        /// When.
        timestamp: Timestamp,
    }
}

wire! {
    /// What changed in a file, after it changed.
    GitDiff {
        /// Whose.
        workspace_id: String,
        /// Where it is.
        file: String,
        /// The same, by the name that some clients read.
        path: String,
        /// What changed.
        diff: String,
        /// Lines that came.
        additions: u64,
        /// Lines that went.
        deletions: u64,
        /// It would be committed.
        is_staged: bool,
        /// Git does not know the file yet.
        is_new_file: bool,
        /// The same, by the name that some clients read.
        is_new: bool,
        /// There is more.
        is_truncated: bool,
        /// When.
        timestamp: Timestamp,
    }
}

wire! {
    /// A workspace cannot be watched, or not as a whole: what happens there is told late or not at all.
    WatchFailed {
        /// Whose.
        workspace_id: String,
        /// Why, and what to do.
        message: String,
        /// When.
        timestamp: Timestamp,
    }
}

wire! {
    /// Files that fit a search that goes on.
    SearchResults {
        /// The search.
        search_id: String,
        /// The text that they fit.
        query: String,
        /// How it was compared.
        mode: SearchMode,
        /// The best of them.
        results: Vec<RepositoryFile>,
        /// How many there are.
        total: u64,
        /// There are more than these.
        has_more: bool,
        /// How long it took.
        elapsed_ms: f64,
        /// When.
        timestamp: Timestamp,
    }
}

wire! {
    /// Some of what was found in files.
    GrepResults {
        /// The search.
        grep_id: String,
        /// In the order of the paths, after what was sent before.
        files: Vec<GrepFile>,
        /// When.
        timestamp: Timestamp,
    }
}

params! {
    /// A search in files ended.
    GrepCompleted {
        /// The search.
        grep_id: String,
        /// Lines with a match.
        total_matches: u64,
        /// Files with a match.
        matched_files: u64,
        /// Files that were looked into.
        searched_files: u64,
        /// There is more than the limit.
        truncated: bool,
        /// It was cancelled before its end.
        cancelled: bool,
        /// How long it took.
        elapsed_ms: f64,
        /// When.
        timestamp: Timestamp,
        ;
    }
}

wire! {
    /// How far a search for repositories is. The first comes at once, the last with what it came to.
    WorkspaceDiscoverProgress {
        /// The search; with this it is cancelled.
        discover_id: String,
        /// Below these folders.
        paths: Vec<String>,
        /// Folders that were looked into so far.
        scanned_paths: u64,
        /// Repositories that were found so far.
        found_count: u64,
        /// How long it takes so far.
        elapsed_ms: u64,
        /// When.
        timestamp: Timestamp,
    }
}
