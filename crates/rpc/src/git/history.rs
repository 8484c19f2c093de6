//! The commits, and what was put aside.

use roost_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

params! {
    /// Which commits.
    #[derive(Default)]
    GitLogParams {
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// So many at most.
        limit: u32,
        /// After so many.
        #[serde(alias = "offset")]
        skip: u32,
        /// From where on back; what is checked out if absent.
        branch: String,
        /// Only those that changed this.
        path: String,
        /// With the lines between them.
        graph: bool,
        /// Only those of an author whose name or address holds this.
        author: String,
        /// Only those after this time.
        since: String,
        /// Only those before this time.
        until: String,
    }
}

wire! {
    /// A line of the graph, from one commit's row to the next.
    GitGraphLine {
        /// Where it begins.
        from_column: u32,
        /// Where it ends.
        to_column: u32,
        /// `straight`, `merge_left`, `merge_right`, `branch_left`, `branch_right` or `pass`.
        #[serde(rename = "type")]
        kind: String,
    }
}

wire! {
    /// Where a commit stands in the graph.
    GitGraphPosition {
        /// Its column.
        column: u32,
        /// The lines of its row.
        lines: Vec<GitGraphLine>,
    }
}

wire! {
    /// A name that points to a commit.
    GitRef {
        /// The name.
        name: String,
        /// `head`, `local_branch`, `remote_branch` or `tag`.
        #[serde(rename = "type")]
        kind: String,
    }
}

wire! {
    /// A commit.
    GitCommit {
        /// Its id.
        sha: String,
        /// Enough of its id to be unique.
        short_sha: String,
        /// Who wrote it.
        author: String,
        /// Their address.
        author_email: String,
        /// When.
        date: Timestamp,
        /// The same for people.
        relative_date: String,
        /// The first line of what is said about it.
        subject: String,
        /// The rest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<String>,
        /// The ids of its parents.
        parent_shas: Vec<String>,
        /// It has several.
        is_merge: bool,
        /// The names that point to it.
        refs: Vec<GitRef>,
        /// Where it stands in the graph.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        graph_position: Option<GitGraphPosition>,
    }
}

wire! {
    /// A page of commits.
    GitLogResult {
        /// Them, the latest first.
        commits: Vec<GitCommit>,
        /// How many there are in all.
        total_count: u64,
        /// There are more after these.
        has_more: bool,
        /// Columns of the graph.
        max_columns: u32,
    }
}

params! {
    /// What to put aside.
    #[derive(Default)]
    GitStashParams {
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// What is said about it.
        message: String,
        /// Files that git does not know, too.
        include_untracked: bool,
    }
}

wire! {
    /// Changes are put aside.
    GitStashResult {
        /// Always true.
        success: bool,
        /// For people.
        message: String,
        /// The name of what was put aside.
        name: String,
    }
}

wire! {
    /// Something put aside.
    GitStash {
        /// Its place; the latest is 0.
        index: u32,
        /// Its name.
        name: String,
        /// The branch it was put aside from.
        branch: String,
        /// What was said about it.
        message: String,
    }
}

wire! {
    /// What was put aside.
    GitStashListResult {
        /// Them, the latest first.
        stashes: Vec<GitStash>,
        /// How many.
        count: u64,
    }
}

params! {
    /// Something put aside.
    #[derive(Default)]
    GitStashIndexParams {
        ;
        /// Whose; the first workspace if absent.
        workspace_id: String,
        /// Its place; the latest if absent.
        index: u32,
    }
}
