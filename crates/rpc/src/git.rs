//! The repository of a workspace: what changed, and what is done about it.

mod branch;
mod history;
mod sync;
mod worktree;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use branch::*;
pub use history::*;
pub use sync::*;
pub use worktree::*;

params! {
    /// A repository.
    #[derive(Default)]
    GitParams {
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
    }
}

wire! {
    /// A file that changed.
    GitFile {
        /// Where it is.
        path: String,
        /// `M A D R C T`, `?` for a file that git does not know, `!` for a conflict.
        status: String,
        /// Lines added.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        additions: Option<u64>,
        /// Lines deleted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deletions: Option<u64>,
        /// Where it was before it was renamed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        old_path: Option<String>,
        /// The name is not UTF-8: `path` shows it with replacements and names no file, but its folder can be named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_utf8: Option<bool>,
    }
}

wire! {
    /// How a working copy is.
    GitStatusResult {
        /// The branch; empty when none is checked out.
        branch: String,
        /// The branch that it follows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        upstream: Option<String>,
        /// Commits that the followed branch has not.
        ahead: u64,
        /// Commits that only the followed branch has.
        behind: u64,
        /// What the next commit holds.
        staged: Vec<GitFile>,
        /// What it does not hold yet.
        unstaged: Vec<GitFile>,
        /// Files that git does not know.
        untracked: Vec<GitFile>,
        /// Files whose conflict waits.
        conflicted: Vec<GitFile>,
        /// Nothing changed.
        is_clean: bool,
        /// So many files are left out, because they do not fit into an answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        omitted: Option<u64>,
        /// The folder's name.
        repo_name: String,
        /// The folder.
        repo_root: String,
    }
}

wire! {
    /// How a repository is, at a glance.
    GitStateResult {
        /// There is a repository.
        is_git_repo: bool,
        /// It has a commit.
        has_commits: bool,
        /// `no_git`, `git_initialized`, `no_remote`, `no_push`, `synced`, `diverged` or `conflict`.
        state: String,
        /// The branch; empty when none is checked out.
        branch: String,
        /// The branch that it follows; empty if none.
        upstream: String,
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
        /// The repositories elsewhere that it knows.
        remotes: Vec<GitRemote>,
        /// There is one.
        has_remote: bool,
        /// The first of them; empty if none.
        remote: String,
        /// The branch follows another.
        has_upstream: bool,
        /// The folder's name.
        repo_name: String,
        /// The folder.
        repo_root: String,
    }
}

params! {
    /// What to compare.
    #[derive(Default)]
    GitDiffParams {
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// The file; all that changed if absent.
        path: String,
        /// What the next commit holds, or what it does not hold yet; either if absent.
        staged: bool,
    }
}

wire! {
    /// What changed in a file.
    GitFileDiff {
        /// Where it is.
        path: String,
        /// The lines.
        diff: String,
        /// It is what the next commit holds.
        is_staged: bool,
        /// The file is new.
        is_new: bool,
        /// It is no text.
        is_binary: bool,
        /// There is more of it.
        is_truncated: bool,
        /// Lines added, of what is shown.
        additions: u64,
        /// Lines deleted, of what is shown.
        deletions: u64,
    }
}

wire! {
    /// What changed in the file that was named, or in all of them.
    GitDiffResult {
        /// The file; empty if none was named.
        path: String,
        /// Its lines; empty if none was named.
        diff: String,
        /// It is what the next commit holds.
        is_staged: bool,
        /// The file is new.
        is_new: bool,
        /// It is no text.
        is_binary: bool,
        /// There is more of it, or of one of the files.
        is_truncated: bool,
        /// Every file, if none was named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diffs: Option<Vec<GitFileDiff>>,
    }
}

params! {
    /// Files and folders.
    GitPathsParams {
        /// Where they are.
        paths: Vec<String>,
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
    }
}

wire! {
    /// The files are in the next commit.
    GitStageResult {
        /// Always true.
        success: bool,
        /// What was named.
        staged: Vec<String>,
    }
}

wire! {
    /// The files are not in the next commit.
    GitUnstageResult {
        /// Always true.
        success: bool,
        /// What was named.
        unstaged: Vec<String>,
    }
}

wire! {
    /// The files are as they were.
    GitDiscardResult {
        /// Always true.
        success: bool,
        /// What was discarded.
        discarded: Vec<String>,
    }
}

params! {
    /// A commit of what is staged.
    GitCommitParams {
        /// What is said about it.
        message: String,
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// Push it, too.
        push: bool,
        /// The session that made it, to be named at the end of the message.
        session_id: String,
    }
}

wire! {
    /// The commit is made.
    GitCommitResult {
        /// Always true.
        success: bool,
        /// Enough of its id to be unique.
        sha: String,
        /// The first line of what was said about it.
        message: String,
        /// Files that it changed.
        files_committed: u64,
        /// It is pushed, too.
        pushed: bool,
        /// Why it is not, if it should.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        push_error: Option<String>,
    }
}
