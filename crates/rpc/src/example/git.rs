//! Examples of the git methods: one changed file, one commit, and one worktree beside the workspace.

use serde_json::{Value, json};

use super::objects::*;
use crate::Method;

const SHA: &str = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12";
const BASE: &str = "de9f2c7fd25e1b3afad3e85a0bd17d9b100db4b3";

/// The example of a git method.
pub(super) fn params_and_result(method: Method) -> (Value, Value) {
    let of = json!({ "workspace_id": WORKSPACE });
    let paths = json!({ "paths": ["notes.md"], "workspace_id": WORKSPACE });
    match method {
        Method::GitStatus => (
            of,
            json!({
                "branch": "main", "upstream": "origin/main", "ahead": 1, "behind": 0,
                "staged": [file("A")], "unstaged": [], "untracked": [], "conflicted": [], "is_clean": false,
                "repo_name": "engine", "repo_root": FOLDER,
            }),
        ),
        Method::GitState => (
            of,
            json!({
                "is_git_repo": true, "has_commits": true, "state": "diverged", "branch": "main",
                "upstream": "origin/main", "ahead": 1, "behind": 0, "staged_count": 1, "unstaged_count": 0,
                "untracked_count": 0, "has_conflicts": false, "staged": [file("A")], "unstaged": [], "untracked": [],
                "conflicted": [], "remotes": [remote()], "has_remote": true, "remote": "origin", "has_upstream": true,
                "repo_name": "engine", "repo_root": FOLDER,
            }),
        ),
        Method::GitDiff => (
            json!({ "workspace_id": WORKSPACE, "path": "notes.md", "staged": true }),
            json!({
                "path": "notes.md", "diff": diff(), "is_staged": true, "is_new": true, "is_binary": false,
                "is_truncated": false,
            }),
        ),
        Method::GitStage => (paths, json!({ "success": true, "staged": ["notes.md"] })),
        Method::GitUnstage => (paths, json!({ "success": true, "unstaged": ["notes.md"] })),
        Method::GitDiscard => (paths, json!({ "success": true, "discarded": ["notes.md"] })),
        Method::GitCommit => (
            json!({ "message": "Add notes", "workspace_id": WORKSPACE, "push": false, "session_id": SESSION }),
            json!({
                "success": true, "sha": &SHA[..7], "message": "Add notes", "files_committed": 1, "pushed": false,
            }),
        ),
        Method::GitPush => (
            json!({ "workspace_id": WORKSPACE, "set_upstream": true, "remote": "origin", "branch": "main" }),
            json!({
                "success": true, "message": "To https://example.org/engine.git", "commits_pushed": 1, "pushed": true,
                "upstream_set": true, "upstream": "origin/main",
            }),
        ),
        Method::GitPull => (
            json!({ "workspace_id": WORKSPACE, "rebase": false }),
            json!({
                "success": false, "message": "CONFLICT (content): Merge conflict in notes.md", "commits_pulled": 0,
                "files_changed": 0, "conflicted_files": ["notes.md"],
            }),
        ),
        Method::GitFetch => (
            json!({ "workspace_id": WORKSPACE, "remote": "origin", "prune": true }),
            json!({
                "success": true, "message": "", "updated_refs": ["origin/main"], "new_branches": [],
                "pruned_branches": [], "new_commits": 2,
            }),
        ),
        Method::GitCancel => (of, json!({ "success": true, "message": "What ran is cancelled" })),
        Method::GitBranches => (
            of,
            json!({
                "current": "main", "upstream": "origin/main", "ahead": 1, "behind": 0,
                "branches": [{
                    "name": "main", "is_current": true, "is_remote": false, "upstream": "origin/main", "ahead": 1,
                    "behind": 0,
                }],
            }),
        ),
        Method::GitCheckout => (
            json!({ "branch": "notes", "workspace_id": WORKSPACE, "create": true }),
            json!({ "success": true, "branch": "notes", "from_branch": "main", "message": "Switched to notes" }),
        ),
        Method::GitBranchDelete => (
            json!({ "branch": "notes", "workspace_id": WORKSPACE, "force": false, "delete_remote": true }),
            json!({ "success": true, "branch": "notes", "message": "Deleted notes", "deleted_remote": true }),
        ),
        Method::GitUpstreamSet => (
            json!({ "branch": "main", "upstream": "origin/main", "workspace_id": WORKSPACE }),
            json!({ "success": true, "message": "main follows origin/main" }),
        ),
        Method::GitLog => (
            json!({ "workspace_id": WORKSPACE, "limit": 50, "skip": 0, "graph": true }),
            json!({ "commits": [commit()], "total_count": 2, "has_more": true, "max_columns": 1 }),
        ),
        Method::GitStash => (
            json!({ "workspace_id": WORKSPACE, "message": "later", "include_untracked": true }),
            json!({ "success": true, "message": "later", "name": "stash@{0}" }),
        ),
        Method::GitStashList => (
            of,
            json!({
                "stashes": [{ "index": 0, "name": "stash@{0}", "branch": "main", "message": "later" }], "count": 1,
            }),
        ),
        Method::GitStashApply => (json!({ "workspace_id": WORKSPACE, "index": 0, "pop": true }), merged()),
        Method::GitStashPop | Method::GitStashDrop => (json!({ "workspace_id": WORKSPACE, "index": 0 }), merged()),
        Method::GitMerge => (
            json!({ "branch": "notes", "workspace_id": WORKSPACE, "no_ff": true, "message": "Merge the notes" }),
            merged(),
        ),
        Method::GitMergeAbort => (of, json!({ "success": true, "message": "The merge is aborted" })),
        Method::GitInit => (
            json!({
                "workspace_id": WORKSPACE, "initial_branch": "main", "initial_commit": true, "commit_message": "Begin",
            }),
            json!({
                "success": true, "message": "The folder is a repository", "branch": "main",
                "commit_sha": &BASE[..7], "files_committed": 7,
            }),
        ),
        Method::GitRemoteAdd => (
            json!({
                "name": "origin", "url": "https://example.org/engine.git", "workspace_id": WORKSPACE, "fetch": true,
            }),
            json!({
                "success": true, "message": "origin is added", "remote": remote(), "fetched_branches": ["main"],
            }),
        ),
        Method::GitRemoteList => (of, json!({ "remotes": [remote()] })),
        Method::GitRemoteRemove => (
            json!({ "name": "origin", "workspace_id": WORKSPACE }),
            json!({ "success": true, "message": "origin is removed" }),
        ),
        Method::WorktreeList => (of, json!({ "worktrees": [worktree()], "count": 1 })),
        Method::WorktreeAdd => (
            json!({ "name": "3c4d5e6f", "workspace_id": WORKSPACE }),
            json!({ "success": true, "worktree": worktree() }),
        ),
        Method::WorktreeDiff => (
            json!({ "name": "3c4d5e6f", "workspace_id": WORKSPACE }),
            json!({
                "path": "", "diff": "", "is_staged": false, "is_new": false, "is_binary": false,
                "is_truncated": false,
                "diffs": [{
                    "path": "notes.md", "diff": diff(), "is_staged": false, "is_new": true, "is_binary": false,
                    "is_truncated": false, "additions": 1, "deletions": 0,
                }],
            }),
        ),
        Method::WorktreeMerge => {
            (json!({ "name": "3c4d5e6f", "workspace_id": WORKSPACE, "message": "Add notes" }), merged())
        }
        _ => (
            json!({ "name": "3c4d5e6f", "workspace_id": WORKSPACE, "force": true }),
            json!({ "success": true, "message": "3c4d5e6f is removed" }),
        ),
    }
}

fn file(status: &str) -> Value {
    json!({ "path": "notes.md", "status": status, "additions": 1, "deletions": 0 })
}

fn diff() -> String {
    "diff --git a/notes.md b/notes.md\nnew file mode 100644\n--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1 @@\n+# Notes\n"
        .into()
}

fn remote() -> Value {
    let url = "https://example.org/engine.git";
    json!({ "name": "origin", "fetch_url": url, "push_url": url, "provider": "custom", "tracking_branches": ["main"] })
}

fn commit() -> Value {
    json!({
        "sha": SHA, "short_sha": &SHA[..7], "author": "Ada", "author_email": "ada@example.org", "date": CHANGED,
        "relative_date": "2 hours ago", "subject": "Add notes", "parent_shas": [BASE], "is_merge": false,
        "refs": [{ "name": "HEAD", "type": "head" }, { "name": "main", "type": "local_branch" }],
        "graph_position": { "column": 0, "lines": [{ "from_column": 0, "to_column": 0, "type": "straight" }] },
    })
}

fn merged() -> Value {
    json!({
        "success": true, "message": "Fast-forward", "commit_sha": SHA, "has_conflicts": false, "conflicted_files": [],
    })
}

fn worktree() -> Value {
    json!({
        "name": "3c4d5e6f", "path": format!("{FOLDER}/.roost/worktrees/3c4d5e6f"), "branch": "roost/3c4d5e6f",
        "head": SHA, "base": BASE, "session_id": SESSION, "is_main": false, "is_locked": false, "is_prunable": false,
    })
}
