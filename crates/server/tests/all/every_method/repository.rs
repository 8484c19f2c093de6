//! The index of a workspace: names, lines, trees, numbers.

use serde_json::{Value, json};

use super::file::some_files;
use super::row::{Row, gives, refuses};

fn file(path: &str) -> Value {
    json!({ "path": path, "git_ignored": false, "modified_at": "*" })
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = vec![
        gives("repository/index/status", json!({}), json!({ "status": "*", "progress": "*" })).first(some_files),
        refuses("repository/index/status", json!({ "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
    ];
    rows.extend(listing());
    rows.extend(searching());
    rows.extend([
        gives(
            "repository/index/status",
            json!({ "workspace_id": "$workspace" }),
            json!({
                "status": "ready", "total_files": 7, "indexed_files": 7, "total_size_bytes": "*", "is_git_repo": true,
                "last_full_scan": "*", "last_update": "*", "last_indexed_at": "*", "database_size_bytes": "*",
                "index_size_bytes": "*", "progress": 1.0, "unnamed_files": 0,
            }),
        ),
        gives("repository/index/rebuild", json!({ "force": true }), json!({ "status": "started", "message": "*" })),
        refuses("repository/index/rebuild", json!({ "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
    ]);
    rows
}

fn listing() -> Vec<Row> {
    let top: Vec<_> = [".env", ".gitignore", "a.gif", "file", "notes.md"].map(file).into();
    vec![
        gives(
            "repository/files/list",
            json!({}),
            json!({
                "directory": "", "files": top, "total_files": 5, "total_directories": 1,
                "directories": [{
                    "path": "src", "name": "src", "file_count": 2, "folder_count": 1, "total_size_bytes": 37,
                    "last_modified": "*",
                }],
                "pagination": { "limit": 100, "offset": 0, "has_more": false },
            }),
        ),
        gives(
            "repository/files/list",
            json!({
                "recursive": true, "extensions": ["rs"], "sort_by": "size", "sort_order": "desc", "limit": 1,
                "min_size": 5, "max_size": 100,
            }),
            json!({
                "files": [{ "path": "src/main.rs", "git_tracked": true, "extension": "rs", "size_bytes": 28 }],
                "total_files": 2, "pagination": { "has_more": true },
            }),
        ),
        refuses("repository/files/list", json!({ "directory": "../.." }), "PATH_TRAVERSAL"),
        refuses("repository/files/list", json!({ "directory": "nothing" }), "DIRECTORY_NOT_FOUND"),
        gives(
            "repository/files/tree",
            json!({ "depth": 3, "include_hidden": true }),
            json!({
                "path": "", "name": "repo", "type": "directory", "file_count": 7, "truncated": false,
                "max_depth_reached": true, "total_nodes": "*",
                "root": { "path": "", "children": "*" },
                "children": [
                    {
                        "path": "src", "type": "directory", "file_count": 2,
                        "children": [
                            { "path": "src/inner", "children": [{ "path": "src/inner/lib.rs", "extension": "rs" }] },
                            { "path": "src/main.rs", "type": "file", "size_bytes": 28 },
                        ],
                    },
                    { "path": ".env", "type": "file" }, { "path": ".gitignore" }, { "path": "a.gif", "extension": "gif" },
                    { "path": "file" }, { "path": "notes.md", "size_bytes": 10 },
                ],
            }),
        ),
        refuses("repository/files/tree", json!({ "path": "/etc" }), "PATH_TRAVERSAL"),
        refuses("repository/files/tree", json!({ "path": "nothing" }), "DIRECTORY_NOT_FOUND"),
        gives(
            "repository/stats",
            json!({}),
            json!({
                "total_files": 7, "total_directories": 2, "total_lines": 10, "git_tracked_files": 4,
                "git_ignored_files": 0, "binary_files": 1, "sensitive_files": 1,
                "files_by_extension": { "rs": 2, "md": 1, "gif": 1 },
                "largest_files": "*", "recently_modified": "*",
                "languages": [
                    { "language": "Rust", "files": 2, "lines": 4, "bytes": 37, "percentage": "*" },
                    { "language": "Markdown", "files": 1, "lines": 1 },
                ],
            }),
        ),
        refuses("repository/stats", json!({ "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
    ]
}

fn searching() -> Vec<Row> {
    let found = |paths: &[&str]| json!({ "total": paths.len(), "results": paths.iter().map(|path| file(path)).collect::<Vec<_>>() });
    let line =
        json!({ "line": 2, "text": "    // needle", "matches": [{ "start": 7, "end": 13 }], "truncated": false });
    let lines = json!([{ "path": "src/main.rs", "match_count": 1, "lines": [line] }]);
    vec![
        gives(
            "repository/search",
            json!({ "query": "mainrs" }),
            json!({
                "query": "mainrs", "mode": "fuzzy", "total": 1, "has_more": false, "elapsed_ms": "*",
                "results": [{ "path": "src/main.rs", "match_score": "*", "git_tracked": true }],
            }),
        ),
        gives("repository/search", json!({ "query": "lib.rs", "mode": "exact" }), found(&["src/inner/lib.rs"])),
        gives("repository/search", json!({ "query": "src/i", "mode": "prefix" }), found(&["src/inner/lib.rs"])),
        gives("repository/search", json!({ "query": "md", "mode": "extension" }), found(&["notes.md"])),
        gives("repository/search", json!({ "query": "n", "file_types": ["md"] }), found(&["notes.md"])),
        gives("repository/search", json!({ "query": "gif" }), found(&[])),
        gives("repository/search", json!({ "query": "gif", "exclude_binaries": false }), found(&["a.gif"])),
        gives("repository/search", json!({ "query": "notes", "git_tracked_only": true }), found(&[])),
        gives("repository/search", json!({ "query": "noise" }), found(&[])),
        refuses("repository/search", json!({ "query": "x", "mode": "magic" }), "INVALID_PAYLOAD"),
        refuses("repository/search", json!({ "query": "x", "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
        gives("repository/search/start", json!({ "query": "" }), json!({ "search_id": "*", "status": "started" }))
            .saves("search", "/search_id")
            .expects_event("search_results", json!({ "search_id": "$search", "query": "", "total": 6 })),
        refuses("repository/search/start", json!({}), "INVALID_PAYLOAD"),
        gives(
            "repository/search/update",
            json!({ "search_id": "$search", "query": "lib" }),
            json!({ "success": true }),
        )
        .expects_event(
            "search_results",
            json!({ "query": "lib", "total": 1, "results": [{ "path": "src/inner/lib.rs" }] }),
        ),
        gives("repository/search/cancel", json!({ "search_id": "$search" }), json!({ "success": true })),
        refuses("repository/search/update", json!({ "search_id": "$search", "query": "x" }), "INVALID_PAYLOAD"),
        gives(
            "repository/grep",
            json!({ "pattern": "needle" }),
            json!({
                "status": "completed", "files": lines, "total_matches": 1, "matched_files": 1, "searched_files": "*",
                "truncated": false, "elapsed_ms": "*", "grep_id": "*",
            }),
        ),
        refuses("repository/grep", json!({ "pattern": "(", "regex": true }), "INVALID_PAYLOAD"),
        refuses("repository/grep", json!({ "pattern": "x", "directory": "../.." }), "PATH_TRAVERSAL"),
        gives(
            "repository/grep",
            json!({ "pattern": "^fn", "regex": true, "stream": true }),
            json!({ "status": "started", "files": [] }),
        )
        .saves("grep", "/grep_id")
        .expects_event("grep_results", json!({ "grep_id": "$grep", "files": [{ "path": "src/main.rs" }] }))
        .expects_event("grep_completed", json!({ "grep_id": "$grep", "total_matches": 1, "cancelled": false })),
        gives("repository/grep/cancel", json!({ "grep_id": "$grep" }), json!({ "success": true })),
    ]
}
