//! The same over HTTP, one row or more for each route.

use serde_json::{Value, json};

use super::file::some_files;
use super::row::{Row, gives, refuses};
use crate::terminal::Terminal;

/// Under both names that clients know agents by.
macro_rules! both {
    ($verb:literal, $rest:literal) => {
        [concat!($verb, " /api/claude/", $rest), concat!($verb, " /api/agent/", $rest)]
    };
}

pub(super) fn agent_routes() -> Vec<Row> {
    let target = || json!({ "session_id": "$session" });
    let rows = |at: usize| {
        vec![
            gives(both!("GET", "status")[at], json!({}), json!({ "state": "idle", "agent_type": "fake" })),
            gives(both!("GET", "commands")[at], json!({}), json!({ "agent_type": "fake", "commands": [] })),
            refuses(both!("POST", "stop")[at], json!({}), "CLAUDE_NOT_RUNNING"),
            gives(
                both!("POST", "run")[at],
                json!({ "prompt": "wait", "mode": "new" }),
                json!({ "status": "started", "prompt": "wait", "mode": "new", "session_id": "*" }),
            )
            .saves("session", "/session_id")
            .expects_event("claude_status", json!({ "state": "running" })),
            refuses(both!("POST", "run")[at], json!({ "prompt": "more" }), "CLAUDE_ALREADY_RUNNING"),
            refuses(both!("POST", "run")[at], json!({}), "INVALID_PAYLOAD"),
            gives(both!("POST", "stop")[at], json!({}), json!({ "status": "stopped" })),
            gives(both!("POST", "run")[at], json!({ "prompt": "ask one" }), json!({})).saves("session", "/session_id"),
            gives("session/watch", target(), json!({})),
            gives(
                both!("POST", "respond")[at],
                json!({ "tool_use_id": "one", "response": "approved", "is_error": false }),
                json!({ "status": "sent", "tool_use_id": "one" }),
            )
            .once("claude_permission")
            .expects_event("stream_read_complete", json!({ "session_id": "$session" })),
            gives(both!("POST", "run")[at], json!({ "prompt": "hello" }), json!({})).saves("session", "/session_id"),
            gives("session/watch", target(), json!({}))
                .expects_event("stream_read_complete", json!({ "session_id": "$session" })),
            gives(both!("POST", "input")[at], json!({ "input": "escape" }), json!({ "status": "sent" })),
            gives(
                both!("GET", "sessions")[at],
                json!({ "limit": 1, "offset": 0, "agent_type": "fake" }),
                json!({
                    "total": 3, "limit": 1, "offset": 0, "current": "$session",
                    "sessions": [{ "session_id": "$session", "summary": "hello", "message_count": 2 }],
                }),
            ),
            gives(
                both!("GET", "sessions/messages")[at],
                json!({ "session_id": "$session", "limit": 1, "order": "desc" }),
                json!({ "total": 2, "has_more": true, "cache_hit": false, "messages": [{ "type": "assistant" }] }),
            ),
            refuses(both!("GET", "sessions/messages")[at], json!({ "session_id": "../x" }), "SESSION_NOT_FOUND"),
            gives(
                both!("GET", "sessions/elements")[at],
                target(),
                json!({ "elements": [{ "type": "user_input" }, { "type": "assistant_text" }] }),
            ),
            gives(both!("DELETE", "sessions")[at], target(), json!({ "message": "Session deleted", "deleted": 1 })),
            gives(
                both!("DELETE", "sessions")[at],
                json!({}),
                json!({ "message": "All sessions deleted", "deleted": 2 }),
            ),
        ]
    };
    [0, 1].into_iter().flat_map(rows).collect()
}

pub(super) fn file_routes() -> Vec<Row> {
    vec![
        gives("GET /api/status", json!({}), json!({ "repo_path": "$repo", "connected_clients": 2 })).first(some_files),
        gives("GET /api/file", json!({ "path": "notes.md" }), json!({ "content": "# Größe\n", "encoding": "utf-8" })),
        refuses("GET /api/file", json!({}), "INVALID_PAYLOAD"),
        refuses("GET /api/file", json!({ "path": "no" }), "FILE_NOT_FOUND"),
        refuses("GET /api/file", json!({ "path": "../secret" }), "PATH_TRAVERSAL"),
        gives("GET /api/files/list", json!({ "path": "src" }), json!({ "total_count": 2 })),
        refuses("GET /api/files/list", json!({ "path": ".." }), "PATH_TRAVERSAL"),
        gives("GET /api/repository/index/status", json!({}), json!({ "status": "*" })),
        gives(
            "GET /api/repository/files/list",
            json!({ "directory": "src", "recursive": true, "sort": "size", "order": "desc", "extensions": "rs,md" }),
            json!({ "files": [{ "path": "src/main.rs" }, { "path": "src/inner/lib.rs" }] }),
        ),
        gives("GET /api/repository/files/tree", json!({ "depth": 1 }), json!({ "root": { "name": "repo" } })),
        gives(
            "GET /api/repository/search",
            json!({ "q": "lib", "mode": "fuzzy", "limit": 5, "exclude_binaries": true }),
            json!({ "total": 1, "results": [{ "path": "src/inner/lib.rs" }] }),
        ),
        gives(
            "GET /api/repository/grep",
            json!({ "pattern": "needle" }),
            json!({ "files": [{ "path": "src/main.rs" }] }),
        ),
        gives("GET /api/repository/stats", json!({}), json!({ "total_files": 7 })),
        gives("POST /api/repository/index/rebuild", json!({}), json!({ "status": "started" })),
    ]
}

fn change(terminal: &Terminal) {
    terminal.write("file", "one\nthree\n");
    terminal.write("new", "x\n");
}

pub(super) fn git_routes() -> Vec<Row> {
    let mut rows = changing();
    rows.extend(syncing());
    rows.extend(beside());
    rows
}

fn changing() -> Vec<Row> {
    let done = |more: Value| {
        let mut done = json!({ "success": true });
        done.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        done
    };
    vec![
        gives("GET /api/git/status", json!({}), json!({ "unstaged": [{ "path": "file" }] })).first(change),
        refuses("GET /api/git/status", json!({ "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
        gives("GET /api/git/state", json!({}), json!({ "state": "synced" })),
        gives("GET /api/git/diff", json!({ "path": "file" }), json!({ "path": "file", "diff": "~+three" })),
        gives(
            "GET /api/git/diff",
            json!({}),
            json!({ "diffs": { "file": "~+three", "new": "~+x" }, "truncated_paths": [] }),
        )
        .shaped(),
        gives("POST /api/git/stage", json!({ "paths": ["file", "new"] }), done(json!({ "staged": ["file", "new"] }))),
        gives("POST /api/git/unstage", json!({ "paths": ["new"] }), done(json!({ "unstaged": ["new"] })))
            .expects_event("git_operation_completed", json!({ "operation": "unstage", "success": true })),
        gives("POST /api/git/discard", json!({ "paths": ["new"] }), done(json!({ "discarded": ["new"] }))),
        gives("POST /api/git/commit", json!({ "message": "second" }), done(json!({ "files_committed": 1 }))),
        refuses("POST /api/git/commit", json!({ "message": "nothing" }), "GIT_ERROR"),
        gives(
            "GET /api/git/log",
            json!({ "limit": 1, "branch": "main" }),
            json!({ "commits": [{ "subject": "second" }] }),
        ),
        gives("POST /api/git/stash", json!({ "message": "later" }), done(json!({ "name": "stash@{0}" })))
            .first(|terminal| terminal.write("file", "aside\n")),
        gives("GET /api/git/stash/list", json!({}), json!({ "count": 1 })),
        gives("POST /api/git/stash/apply", json!({}), done(json!({ "has_conflicts": false }))),
        gives("POST /api/git/stash/drop", json!({}), done(json!({})))
            .first(|terminal| drop(terminal.git(&["reset", "--quiet", "--hard"]))),
        refuses("POST /api/git/stash/pop", json!({}), "GIT_ERROR"),
    ]
}

fn syncing() -> Vec<Row> {
    vec![
        gives("POST /api/git/push", json!({}), json!({ "success": true, "commits_pushed": 1 })),
        gives("POST /api/git/cancel", json!({}), json!({ "success": false, "message": "*" })),
        gives("POST /api/git/fetch", json!({ "prune": true }), json!({ "success": true, "new_commits": 0 })),
        gives("POST /api/git/pull", json!({}), json!({ "success": true, "commits_pulled": 0 })),
        refuses("POST /api/git/push", json!({ "remote": "nobody" }), "GIT_ERROR"),
        gives("POST /api/git/checkout", json!({ "branch": "topic", "create": true }), json!({ "from_branch": "main" })),
        gives("GET /api/git/branches", json!({}), json!({ "current": "topic" })),
        gives(
            "POST /api/git/upstream/set",
            json!({ "branch": "topic", "upstream": "origin/main" }),
            json!({ "success": true }),
        ),
        gives("POST /api/git/checkout", json!({ "branch": "main" }), json!({ "branch": "main" })),
        gives("POST /api/git/merge", json!({ "branch": "topic" }), json!({ "success": true, "has_conflicts": false })),
        refuses("POST /api/git/merge/abort", json!({}), "GIT_ERROR"),
        gives("POST /api/git/branch/delete", json!({ "branch": "topic" }), json!({ "branch": "topic" })),
        refuses("POST /api/git/branch/delete", json!({ "branch": "topic" }), "GIT_ERROR"),
        gives(
            "POST /api/git/remote/add",
            json!({ "name": "copy", "url": "https://127.0.0.1:1/x" }),
            json!({ "success": true }),
        ),
        gives("GET /api/git/remote/list", json!({}), json!({ "remotes": [{ "name": "copy" }, { "name": "origin" }] })),
        gives("POST /api/git/remote/remove", json!({ "name": "copy" }), json!({ "success": true })),
    ]
}

fn beside() -> Vec<Row> {
    let session = || gives("session/start", json!({ "workspace_id": "$workspace", "worktree": true }), json!({}));
    let listed = || {
        gives("GET /api/workspace/worktree/list", json!({}), json!({ "count": 2 })).saves("name", "/worktrees/1/name")
    };
    let target = || json!({ "name": "$name" });
    vec![
        gives("POST /api/workspace/worktree/add", json!({ "name": "aside" }), json!({ "success": true })),
        gives("POST /api/workspace/worktree/remove", json!({ "name": "aside" }), json!({ "success": true })),
        session(),
        listed(),
        gives("GET /api/workspace/worktree/diff", target(), json!({ "diffs": [] })),
        gives("POST /api/workspace/worktree/merge", target(), json!({ "success": true })),
        gives("POST /api/workspace/worktree/discard", target(), json!({ "success": true })),
        refuses("POST /api/workspace/worktree/discard", target(), "GIT_ERROR"),
        gives("workspace/add", json!({ "path": "$home/plain", "create_if_missing": true }), json!({}))
            .saves("plain", "/id"),
        refuses("GET /api/git/status", json!({ "workspace_id": "$plain" }), "NOT_A_GIT_REPO"),
        gives("POST /api/git/init", json!({ "workspace_id": "$plain" }), json!({ "success": true, "branch": "main" })),
    ]
}
