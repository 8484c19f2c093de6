//! The git methods for commits and stashes.

use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};

params! {
    /// Parameters of `git/log`.
    #[derive(Default)]
    GitLogParams {
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Most commits to return: 1 to 500, default 50.
        limit: u32,
        /// Commits to skip, at most 100000; 0 if absent.
        #[serde(alias = "offset")]
        skip: u32,
        /// Branch, tag or commit to start from; what is checked out if absent.
        branch: String,
        /// Only commits that changed this file or folder; all if absent.
        path: String,
        /// Whether to compute the columns and lines of a graph; false if absent.
        graph: bool,
        /// Only commits whose author's name or e-mail address contains this; all if absent.
        author: String,
        /// Only commits after this time, in any form that git reads; all if absent.
        since: String,
        /// Only commits before this time, in any form that git reads; all if absent.
        until: String,
    }
}

wire! {
    /// A line of the graph, from one commit's row to the row below.
    GitGraphLine {
        /// Column in this row, from 0.
        from_column: u32,
        /// Column in the row below, from 0.
        to_column: u32,
        /// `straight`, `merge_left`, `merge_right`, `branch_left`, `branch_right` or `pass`.
        #[serde(rename = "type")]
        kind: String,
    }
}

wire! {
    /// The place of a commit in the graph.
    GitGraphPosition {
        /// Its column, from 0.
        column: u32,
        /// The lines from its row to the row below.
        lines: Vec<GitGraphLine>,
    }
}

wire! {
    /// A branch or tag that points to a commit.
    GitRef {
        /// Its name, such as `main` or `origin/main`.
        name: String,
        /// `head`, `local_branch`, `remote_branch` or `tag`.
        #[serde(rename = "type")]
        kind: String,
    }
}

wire! {
    /// A commit, with the refs that point to it.
    GitCommit {
        /// Its full id.
        sha: String,
        /// Its id, abbreviated so that it is unique.
        short_sha: String,
        /// Name of the author.
        author: String,
        /// E-mail address of the author.
        author_email: String,
        /// Time of the commit.
        date: Timestamp,
        /// That time for people, such as `2 hours ago`.
        relative_date: String,
        /// First line of the message.
        subject: String,
        /// The message without its first line; absent if there is no more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<String>,
        /// Full ids of its parents, the first parent first.
        parent_shas: Vec<String>,
        /// Whether it has more than one parent.
        is_merge: bool,
        /// The branches and tags that point to it.
        refs: Vec<GitRef>,
        /// Its place in the graph; absent unless `graph` was requested.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        graph_position: Option<GitGraphPosition>,
    }
}

wire! {
    /// A page of commits.
    GitLogResult {
        /// The commits, newest first.
        commits: Vec<GitCommit>,
        /// Number of commits on all pages.
        total_count: u64,
        /// Whether there are more commits after these.
        has_more: bool,
        /// Number of columns in the graph; 0 without one.
        max_columns: u32,
    }
}

params! {
    /// Parameters of `git/stash`.
    #[derive(Default)]
    GitStashParams {
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Description of the stash; git's own if absent.
        message: String,
        /// Whether to stash untracked files, too; false if absent.
        include_untracked: bool,
    }
}

wire! {
    /// The changes are stashed.
    GitStashResult {
        /// Always true; a failure is an error.
        success: bool,
        /// Description of the stash.
        message: String,
        /// Name of the stash, such as `stash@{0}`.
        name: String,
    }
}

wire! {
    /// A stash: changes that were put aside.
    GitStash {
        /// Its position; 0 is the newest.
        index: u32,
        /// Its name, such as `stash@{0}`.
        name: String,
        /// The branch that it was made on; empty if the HEAD was detached.
        branch: String,
        /// Its description, without the branch.
        message: String,
    }
}

wire! {
    /// The stashes of a repository.
    GitStashListResult {
        /// The stashes, newest first; fewer if the answer would exceed 768 KiB.
        stashes: Vec<GitStash>,
        /// Number of all stashes.
        count: u64,
    }
}

params! {
    /// Parameters of `git/stash/apply`.
    #[derive(Default)]
    GitStashApplyParams {
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Position of the stash; 0, the newest, if absent.
        index: u32,
        /// Whether to forget the stash once it is applied, as `git/stash/pop` does; false if absent.
        pop: bool,
    }
}

params! {
    /// Parameters of `git/stash/pop` and `git/stash/drop`.
    #[derive(Default)]
    GitStashIndexParams {
        ;
        /// Id of the workspace. Default: the one that contains the daemon's start folder, else the first.
        workspace_id: String,
        /// Position of the stash; 0, the newest, if absent.
        index: u32,
    }
}
