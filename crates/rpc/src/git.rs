//! The git methods: status, diff, staging and commits. Branches, history, remotes and worktrees have files
//! of their own.

mod branch;
mod history;
mod sync;
mod worktree;

use serde::{Deserialize, Serialize};

pub use branch::*;
pub use history::*;
pub use sync::*;
pub use worktree::*;

params! {
    /// Parameters that select a workspace's repository.
    #[derive(Default)]
    GitParams {
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
    }
}

wire! {
    /// A changed file.
    GitFile {
        /// Path, relative to the workspace's folder.
        path: String,
        /// One letter as in `git status`: `M`, `A`, `D`, `R`, `C` or `T`; `?` for untracked, `!` for a conflict.
        status: String,
        /// Lines added; absent if it is not text or too many files changed to count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        additions: Option<u64>,
        /// Lines deleted; absent if it is not text or too many files changed to count.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deletions: Option<u64>,
        /// Path before it was renamed or copied; absent if it was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_path: Option<String>,
        /// True if the name is not UTF-8; absent otherwise. `path` then shows it with replacement characters and cannot
        /// be used: name its folder instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_utf8: Option<bool>,
    }
}

wire! {
    /// The state of a working copy, file by file.
    GitStatusResult {
        /// The branch that is checked out; empty if the HEAD is detached.
        branch: String,
        /// The branch's upstream, such as `origin/main`; absent if it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        upstream: Option<String>,
        /// Commits that the upstream does not have.
        ahead: u64,
        /// Commits that only the upstream has.
        behind: u64,
        /// Changes in the index, which the next commit will contain.
        staged: Vec<GitFile>,
        /// Changes that are not in the index.
        unstaged: Vec<GitFile>,
        /// Files that git does not track.
        untracked: Vec<GitFile>,
        /// Files with merge conflicts.
        conflicted: Vec<GitFile>,
        /// Whether there is nothing to commit, stage or resolve.
        is_clean: bool,
        /// Number of files left out because the answer would exceed 768 KiB; absent if none were.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        omitted: Option<u64>,
        /// Name of the workspace's folder.
        repo_name: String,
        /// The workspace's folder, absolute.
        repo_root: String,
    }
}

wire! {
    /// The state of a repository in numbers, with the files that changed.
    GitStateResult {
        /// Whether the workspace's folder is a repository.
        is_git_repo: bool,
        /// Whether it has at least one commit.
        has_commits: bool,
        /// `no_git`, `git_initialized` (no commit yet), `no_remote`, `no_push` (no upstream), `synced`,
        /// `diverged` or `conflict`.
        state: String,
        /// The branch that is checked out; empty if the HEAD is detached.
        branch: String,
        /// The branch's upstream, such as `origin/main`; empty if it has none.
        upstream: String,
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
        /// Changes in the index, as in `git/status`.
        staged: Vec<GitFile>,
        /// Changes that are not in the index.
        unstaged: Vec<GitFile>,
        /// Files that git does not track.
        untracked: Vec<GitFile>,
        /// Files with merge conflicts.
        conflicted: Vec<GitFile>,
        /// Number of files left out because the answer would exceed 768 KiB; absent if none were.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        omitted: Option<u64>,
        /// The remotes; empty if there are none.
        remotes: Vec<GitRemote>,
        /// Whether there is a remote.
        has_remote: bool,
        /// Name of the first remote; empty if there is none.
        remote: String,
        /// Whether the branch has an upstream.
        has_upstream: bool,
        /// Name of the workspace's folder.
        repo_name: String,
        /// The workspace's folder, absolute.
        repo_root: String,
    }
}

params! {
    /// Parameters of `git/diff`.
    #[derive(Default)]
    GitDiffParams {
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Path of the file or folder; every changed file if absent or empty.
        path: String,
        /// True compares the index with the last commit, false the files with the index. If absent, both for all files;
        /// for one file the first of false and true that has changes.
        staged: bool,
    }
}

wire! {
    /// The diff of one file.
    GitFileDiff {
        /// Path, relative to the workspace's folder.
        path: String,
        /// The unified diff as `git diff` writes it; empty if there was no room for it.
        diff: String,
        /// Whether it compares the index with the last commit.
        is_staged: bool,
        /// Whether the file is new.
        is_new: bool,
        /// Whether it is not text; the diff then only says that it differs.
        is_binary: bool,
        /// Whether the diff was cut.
        is_truncated: bool,
        /// Lines added, in what is shown.
        additions: u64,
        /// Lines deleted, in what is shown.
        deletions: u64,
    }
}

wire! {
    /// The diff of the file that was named, or of every changed file.
    GitDiffResult {
        /// The file that was named; empty if none was.
        path: String,
        /// Its unified diff; empty if no file was named.
        diff: String,
        /// Whether it compares the index with the last commit.
        is_staged: bool,
        /// Whether the file is new.
        is_new: bool,
        /// Whether it is not text.
        is_binary: bool,
        /// Whether this diff, or one in `diffs`, was cut.
        is_truncated: bool,
        /// The diff of every changed file; absent if one was named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diffs: Option<Vec<GitFileDiff>>,
    }
}

params! {
    /// Parameters of `git/stage`, `git/unstage` and `git/discard`.
    GitPathsParams {
        /// Paths of files and folders, relative to the workspace's folder and taken literally; at least one. `.` is
        /// everything; an empty path is refused.
        paths: Vec<String>,
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
    }
}

wire! {
    /// The changes are in the index.
    GitStageResult {
        /// Always true; a failure is an error.
        success: bool,
        /// The paths from the parameters.
        staged: Vec<String>,
    }
}

wire! {
    /// The changes are no longer in the index.
    GitUnstageResult {
        /// Always true; a failure is an error.
        success: bool,
        /// The paths from the parameters.
        unstaged: Vec<String>,
    }
}

wire! {
    /// The files are as they were in the index.
    GitDiscardResult {
        /// Always true; a failure is an error.
        success: bool,
        /// Paths of the files that were restored or deleted.
        discarded: Vec<String>,
    }
}

params! {
    /// Parameters of `git/commit`, which commits what is in the index.
    GitCommitParams {
        /// The commit message.
        message: String,
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Whether to push the branch afterwards; false if absent.
        push: bool,
        /// A session of this workspace to name in a trailer of the message; no trailer if absent.
        session_id: String,
    }
}

wire! {
    /// The commit was made.
    GitCommitResult {
        /// Always true; a failure is an error.
        success: bool,
        /// Abbreviated id of the commit.
        sha: String,
        /// First line of its message.
        message: String,
        /// Number of files that it changes.
        files_committed: u64,
        /// Whether it was also pushed.
        pushed: bool,
        /// Why the push failed; absent if it succeeded or was not requested. The commit stays.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        push_error: Option<String>,
    }
}
