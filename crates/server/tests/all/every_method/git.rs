//! The repository of a workspace.

use serde_json::{Value, json};

use super::row::{Row, gives, refuses};
use crate::terminal::Terminal;

/// A repository that nobody answers for.
const AWAY: &str = "https://127.0.0.1:1/x";

pub(super) fn rows() -> Vec<Row> {
    let mut rows = changing();
    rows.extend(syncing());
    rows.extend(branching());
    rows.extend(putting_aside());
    rows.extend(merging());
    rows.extend(remotes());
    rows.extend(beginning());
    rows
}

fn change(terminal: &Terminal) {
    terminal.write("file", "one\nthree\n");
    terminal.write("new", "x\n");
}

/// Somebody else pushes a commit.
fn somebody_pushes(terminal: &Terminal) {
    terminal.git(&["clone", "--quiet", "../remote", "../there"]);
    terminal.git(&[
        "-C",
        "../there",
        "-c",
        "user.name=Bob",
        "-c",
        "user.email=b@x",
        "commit",
        "--quiet",
        "--allow-empty",
        "--message",
        "theirs",
    ]);
    terminal.git(&["-C", "../there", "push", "--quiet"]);
}

fn completed(operation: &str) -> Value {
    json!({ "operation": operation, "success": true, "workspace_id": "$workspace" })
}

fn changing() -> Vec<Row> {
    let modified = json!({ "path": "file", "status": "M", "additions": 1, "deletions": 1 });
    vec![
        gives(
            "git/status",
            json!({}),
            json!({
                "branch": "main", "upstream": "origin/main", "ahead": 0, "behind": 0, "staged": [],
                "unstaged": [modified], "untracked": [{ "path": "new", "status": "?" }], "conflicted": [],
                "is_clean": false, "repo_name": "repo", "repo_root": "$repo",
            }),
        )
        .first(change),
        refuses("git/status", json!({ "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
        gives(
            "git/state",
            json!({ "workspace_id": "$workspace" }),
            json!({
                "is_git_repo": true, "has_commits": true, "state": "synced", "branch": "main",
                "upstream": "origin/main", "ahead": 0, "behind": 0, "staged_count": 0, "unstaged_count": 1,
                "untracked_count": 1, "staged": [], "unstaged": [{ "path": "file", "status": "M" }],
                "untracked": [{ "path": "new", "status": "?" }], "conflicted": [], "has_conflicts": false, "has_remote": true, "remote": "origin",
                "has_upstream": true, "repo_name": "repo", "repo_root": "$repo",
                "remotes": [{ "name": "origin", "provider": "custom", "tracking_branches": ["main"] }],
            }),
        ),
        gives(
            "git/diff",
            json!({ "path": "file" }),
            json!({
                "path": "file", "diff": "~-two\n+three", "is_staged": false, "is_new": false, "is_binary": false,
                "is_truncated": false,
            }),
        ),
        gives(
            "git/diff",
            json!({}),
            json!({
                "diffs": [
                    { "path": "file", "is_new": false, "additions": 1, "deletions": 1 },
                    { "path": "new", "is_new": true, "diff": "~+x" },
                ],
            }),
        ),
        refuses("git/diff", json!({ "path": "../secret" }), "PATH_TRAVERSAL"),
        refuses("git/diff", json!({ "path": "nowhere" }), "GIT_ERROR"),
        gives("git/stage", json!({ "paths": ["file", "new"] }), json!({ "success": true, "staged": ["file", "new"] }))
            .expects_event("git_operation_completed", completed("stage")),
        refuses("git/stage", json!({ "paths": [] }), "INVALID_PAYLOAD"),
        refuses("git/stage", json!({ "paths": ["/etc/passwd"] }), "PATH_TRAVERSAL"),
        gives("git/diff", json!({ "path": "file", "staged": true }), json!({ "is_staged": true, "diff": "~+three" })),
        gives("git/unstage", json!({ "paths": ["new"] }), json!({ "success": true, "unstaged": ["new"] }))
            .expects_event("git_operation_completed", completed("unstage")),
        gives("git/discard", json!({ "paths": ["new"] }), json!({ "success": true, "discarded": ["new"] }))
            .expects_event("git_operation_completed", completed("discard")),
        refuses("git/discard", json!({ "paths": ["new"] }), "GIT_ERROR"),
        gives(
            "git/commit",
            json!({ "message": "second\n\nwith words" }),
            json!({ "success": true, "sha": "*", "message": "second", "files_committed": 1, "pushed": false }),
        )
        .saves("sha", "/sha"),
        refuses("git/commit", json!({ "message": "nothing is staged" }), "GIT_ERROR"),
        refuses("git/commit", json!({ "message": " " }), "INVALID_PAYLOAD"),
        refuses("git/commit", json!({ "message": "x", "session_id": "no" }), "SESSION_NOT_FOUND"),
        gives(
            "git/log",
            json!({ "limit": 1, "graph": true }),
            json!({
                "total_count": 2, "has_more": true, "max_columns": 1,
                "commits": [{
                    "short_sha": "$sha", "subject": "second", "body": "with words", "author": "Ada",
                    "author_email": "ada@example.org", "date": "*", "relative_date": "*", "is_merge": false,
                    "parent_shas": ["*"], "graph_position": { "column": 0 },
                    "refs": [{ "name": "HEAD", "type": "head" }, { "name": "main", "type": "local_branch" }],
                }],
            }),
        ),
        gives("git/log", json!({ "offset": 1 }), json!({ "commits": [{ "subject": "first" }], "has_more": false })),
        gives("git/log", json!({ "author": "nobody" }), json!({ "commits": [], "total_count": 0 })),
        refuses("git/log", json!({ "branch": "nowhere" }), "GIT_ERROR"),
        refuses("git/log", json!({ "branch": "--output=x" }), "INVALID_PAYLOAD"),
    ]
}

fn syncing() -> Vec<Row> {
    vec![
        gives(
            "git/push",
            json!({ "set_upstream": true }),
            json!({
                "success": true, "commits_pushed": 1, "pushed": true, "upstream_set": true, "upstream": "origin/main",
            }),
        )
        .expects_event("git_operation_progress", json!({ "operation": "push", "workspace_id": "$workspace" }))
        .expects_event("git_operation_completed", json!({ "operation": "push", "commits_pushed": 1 })),
        refuses("git/push", json!({ "remote": "nobody" }), "GIT_ERROR"),
        refuses("git/push", json!({ "remote": "--upload-pack=x" }), "INVALID_PAYLOAD"),
        gives(
            "git/fetch",
            json!({ "prune": true }),
            json!({
                "success": true, "updated_refs": ["origin/main"], "new_branches": [], "pruned_branches": [],
                "new_commits": 1,
            }),
        )
        .first(somebody_pushes),
        refuses("git/fetch", json!({ "remote": "nobody" }), "GIT_ERROR"),
        gives(
            "git/pull",
            json!({}),
            json!({ "success": true, "commits_pulled": 1, "files_changed": 0, "conflicted_files": [] }),
        ),
        gives("git/cancel", json!({}), json!({ "success": false, "message": "Nothing runs" })),
    ]
}

fn branching() -> Vec<Row> {
    vec![
        gives(
            "git/checkout",
            json!({ "branch": "topic", "create": true }),
            json!({ "success": true, "branch": "topic", "from_branch": "main", "message": "Switched to topic" }),
        )
        .expects_event("git_branch_changed", json!({ "from_branch": "main", "to_branch": "topic", "cursor": "*" })),
        refuses("git/checkout", json!({ "branch": "nowhere" }), "GIT_ERROR"),
        refuses("git/checkout", json!({ "branch": "-b" }), "INVALID_PAYLOAD"),
        gives(
            "git/upstream/set",
            json!({ "branch": "topic", "upstream": "origin/main" }),
            json!({ "success": true, "message": "topic follows origin/main" }),
        ),
        refuses("git/upstream/set", json!({ "branch": "topic", "upstream": "nowhere" }), "GIT_ERROR"),
        gives(
            "git/branches",
            json!({}),
            json!({
                "current": "topic", "upstream": "origin/main", "ahead": 0, "behind": 0,
                "branches": [
                    { "name": "main", "is_current": false, "is_remote": false, "upstream": "origin/main" },
                    { "name": "topic", "is_current": true, "is_remote": false, "ahead": 0, "behind": 0 },
                    { "name": "origin/main", "is_current": false, "is_remote": true },
                ],
            }),
        ),
        refuses("git/branch/delete", json!({ "branch": "topic" }), "GIT_ERROR"),
        gives("git/checkout", json!({ "branch": "main" }), json!({ "branch": "main", "from_branch": "topic" })),
        gives(
            "git/branch/delete",
            json!({ "branch": "topic" }),
            json!({ "success": true, "branch": "topic", "message": "Deleted topic", "deleted_remote": false }),
        ),
    ]
}

fn putting_aside() -> Vec<Row> {
    let stash = || {
        gives(
            "git/stash",
            json!({ "message": "later", "include_untracked": true }),
            json!({ "success": true, "message": "later", "name": "stash@{0}" }),
        )
        .first(change)
    };
    let brought = || json!({ "success": true, "has_conflicts": false, "conflicted_files": [] });
    vec![
        refuses("git/stash", json!({}), "GIT_ERROR")
            .first(|terminal| drop(terminal.git(&["reset", "--quiet", "--hard"]))),
        stash().first(|terminal| terminal.write("file", "aside\n")),
        gives(
            "git/stash/list",
            json!({}),
            json!({
                "count": 1, "stashes": [{ "index": 0, "name": "stash@{0}", "branch": "main", "message": "later" }],
            }),
        ),
        gives("git/stash/apply", json!({ "index": 0 }), brought()),
        gives("git/stash/drop", json!({}), brought())
            .first(|terminal| drop(terminal.git(&["reset", "--quiet", "--hard"]))),
        refuses("git/stash/drop", json!({ "index": 7 }), "GIT_ERROR"),
        stash().first(|terminal| terminal.write("file", "aside\n")),
        gives("git/stash/pop", json!({}), brought()),
        refuses("git/stash/pop", json!({}), "GIT_ERROR"),
        stash().first(|terminal| terminal.write("file", "aside\n")),
        gives("git/stash/apply", json!({ "index": 0, "pop": true }), brought()),
        gives("git/stash/list", json!({}), json!({ "count": 0 })),
        refuses("git/stash/apply", json!({ "index": 7 }), "GIT_ERROR"),
    ]
}

/// Two branches that changed the same line in two ways.
fn tear(terminal: &Terminal) {
    terminal.git(&["reset", "--quiet", "--hard"]);
    terminal.git(&["branch", "same"]);
    terminal.git(&["switch", "--quiet", "-c", "theirs"]);
    for (branch, content) in [("theirs", "theirs\n"), ("main", "ours\n")] {
        terminal.git(&["switch", "--quiet", branch]);
        terminal.write("file", content);
        terminal.git(&["commit", "--quiet", "--all", "--message", branch]);
    }
}

fn merging() -> Vec<Row> {
    vec![
        gives(
            "git/merge",
            json!({ "branch": "same" }),
            json!({
                "success": true, "message": "~up to date", "commit_sha": "*", "has_conflicts": false,
                "conflicted_files": [],
            }),
        )
        .first(tear),
        gives(
            "git/merge",
            json!({ "branch": "theirs", "message": "both" }),
            json!({ "success": false, "has_conflicts": true, "conflicted_files": ["file"] }),
        )
        .expects_event(
            "git_operation_completed",
            json!({ "operation": "merge", "success": false, "conflicted_files": ["file"] }),
        ),
        gives("git/state", json!({}), json!({ "state": "conflict", "has_conflicts": true })),
        gives("git/status", json!({}), json!({ "conflicted": [{ "path": "file", "status": "!" }] })),
        refuses("git/merge", json!({ "branch": "theirs" }), "GIT_CONFLICT"),
        refuses("git/discard", json!({ "paths": ["file"] }), "GIT_CONFLICT"),
        refuses("git/commit", json!({ "message": "too early" }), "GIT_CONFLICT"),
        gives("git/merge/abort", json!({}), json!({ "success": true, "message": "The merge is aborted" })),
        refuses("git/merge/abort", json!({}), "GIT_ERROR"),
        refuses("git/merge", json!({ "branch": "nowhere" }), "GIT_ERROR"),
        refuses("git/merge", json!({ "branch": "a..b" }), "INVALID_PAYLOAD"),
    ]
}

fn remotes() -> Vec<Row> {
    let copy = json!({ "name": "copy", "fetch_url": AWAY, "push_url": AWAY, "provider": "custom" });
    vec![
        gives(
            "git/remote/add",
            json!({ "name": "copy", "url": AWAY, "fetch": true }),
            json!({ "success": true, "message": "~copy", "remote": copy, "fetch_error": "*" }),
        ),
        refuses("git/remote/add", json!({ "name": "copy", "url": AWAY }), "GIT_ERROR"),
        refuses("git/remote/add", json!({ "name": "near", "url": "../remote" }), "FORBIDDEN"),
        refuses("git/remote/add", json!({ "name": "x", "url": "ext::sh -c id" }), "INVALID_PAYLOAD"),
        gives(
            "git/remote/list",
            json!({}),
            json!({ "remotes": [{ "name": "copy", "tracking_branches": [] }, { "name": "origin" }] }),
        ),
        gives("git/remote/remove", json!({ "name": "copy" }), json!({ "success": true, "message": "~copy" })),
        refuses("git/remote/remove", json!({ "name": "copy" }), "GIT_ERROR"),
    ]
}

fn beginning() -> Vec<Row> {
    let target = || json!({ "workspace_id": "$plain" });
    vec![
        gives("workspace/add", json!({ "path": "$home/plain", "create_if_missing": true }), json!({}))
            .saves("plain", "/id"),
        gives("git/state", target(), json!({ "is_git_repo": false, "state": "no_git", "remotes": [] })),
        refuses("git/status", target(), "NOT_A_GIT_REPO"),
        refuses("git/diff", target(), "NOT_A_GIT_REPO"),
        refuses("git/stage", json!({ "workspace_id": "$plain", "paths": ["x"] }), "NOT_A_GIT_REPO"),
        gives(
            "git/init",
            json!({ "workspace_id": "$plain", "initial_branch": "trunk" }),
            json!({ "success": true, "message": "*", "branch": "trunk" }),
        ),
        refuses("git/init", target(), "GIT_ERROR"),
        gives("git/state", target(), json!({ "is_git_repo": true, "has_commits": false, "state": "git_initialized" })),
        gives("workspace/get", target(), json!({ "is_git_repo": true, "git_state": "git_init" })),
    ]
}

pub(super) fn worktree_rows() -> Vec<Row> {
    let target = || json!({ "name": "$name" });
    vec![
        gives(
            "workspace/worktree/list",
            json!({}),
            json!({ "count": 1, "worktrees": [{ "path": "$repo", "branch": "main", "is_main": true, "name": "" }] }),
        ),
        gives(
            "workspace/worktree/add",
            json!({ "name": "aside" }),
            json!({
                "success": true,
                "worktree": {
                    "name": "aside", "path": "$repo/.roost/worktrees/aside", "branch": "roost/aside", "is_main": false,
                    "is_locked": false, "is_prunable": false,
                },
            }),
        ),
        refuses("workspace/worktree/add", json!({ "name": "aside" }), "GIT_ERROR"),
        refuses("workspace/worktree/add", json!({ "name": "../x" }), "INVALID_PAYLOAD"),
        gives(
            "workspace/worktree/remove",
            json!({ "name": "aside" }),
            json!({ "success": true, "message": "aside is removed" }),
        ),
        refuses("workspace/worktree/remove", json!({ "name": "aside" }), "GIT_ERROR"),
        gives(
            "session/start",
            json!({ "workspace_id": "$workspace", "worktree": true }),
            json!({ "outcome": "started", "project_path": "~$repo/.roost/worktrees/" }),
        )
        .saves("session", "/session_id"),
        gives(
            "workspace/worktree/list",
            json!({}),
            json!({ "count": 2, "worktrees": [{}, { "session_id": "$session", "base": "*" }] }),
        )
        .saves("name", "/worktrees/1/name"),
        gives(
            "workspace/worktree/diff",
            target(),
            json!({ "diffs": [{ "path": "by-agent", "diff": "~+work", "is_new": true }] }),
        )
        .first(|terminal| {
            let listed = terminal.git(&["worktree", "list", "--porcelain"]);
            let folder = listed.lines().filter_map(|line| line.strip_prefix("worktree ")).nth(1).unwrap();
            std::fs::write(format!("{folder}/by-agent"), "work\n").unwrap();
        }),
        refuses("workspace/worktree/diff", json!({ "name": "nobody" }), "GIT_ERROR"),
        refuses("workspace/worktree/merge", target(), "GIT_ERROR"),
        gives(
            "workspace/worktree/merge",
            json!({ "name": "$name", "message": "agent's work" }),
            json!({ "success": true, "has_conflicts": false, "conflicted_files": [], "commit_sha": "*" }),
        ),
        gives("file/get", json!({ "path": "by-agent" }), json!({ "content": "work\n" })),
        gives("workspace/worktree/discard", target(), json!({ "success": true, "message": "~$name" })),
        refuses("workspace/worktree/discard", target(), "GIT_ERROR"),
    ]
}
