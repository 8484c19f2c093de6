//! Examples of the methods about the index.

use serde_json::{Value, json};

use super::objects::*;
use crate::Method;

/// The example of a method about the index.
pub(super) fn params_and_result(method: Method) -> (Value, Value) {
    let of = json!({ "workspace_id": WORKSPACE });
    match method {
        Method::RepositoryIndexStatus => (
            of,
            json!({
                "status": "ready", "total_files": 2, "indexed_files": 2, "total_size_bytes": 210,
                "last_full_scan": CHANGED, "last_update": CHANGED, "last_indexed_at": CHANGED,
                "database_size_bytes": 84, "index_size_bytes": 84, "is_git_repo": true, "progress": 1.0,
                "is_live": true, "unnamed_files": 0,
            }),
        ),
        Method::RepositoryIndexRebuild => (
            json!({ "workspace_id": WORKSPACE, "force": true }),
            json!({ "status": "started", "message": "the files are looked at again" }),
        ),
        Method::RepositorySearch => (
            json!({ "query": "notes", "workspace_id": WORKSPACE, "mode": "fuzzy", "limit": 50, "extensions": ["md"] }),
            json!({
                "query": "notes", "mode": "fuzzy", "results": [file(Some(0.9))], "total": 1, "has_more": false,
                "elapsed_ms": 1,
            }),
        ),
        Method::RepositorySearchStart => {
            (json!({ "query": "no", "workspace_id": WORKSPACE }), json!({ "search_id": SEARCH, "status": "started" }))
        }
        Method::RepositorySearchUpdate => (json!({ "search_id": SEARCH, "query": "note" }), success()),
        Method::RepositorySearchCancel => (json!({ "search_id": SEARCH }), success()),
        Method::RepositoryFilesList => (
            json!({ "workspace_id": WORKSPACE, "directory": "", "sort_by": "name", "sort_order": "asc", "limit": 100 }),
            json!({
                "directory": "", "files": [file(None)],
                "directories": [{
                    "path": "src", "name": "src", "file_count": 1, "folder_count": 0, "total_size_bytes": 200,
                    "last_modified": CHANGED,
                }],
                "total_files": 1, "total_directories": 1,
                "pagination": { "limit": 100, "offset": 0, "has_more": false },
            }),
        ),
        Method::RepositoryFilesTree => {
            let node = json!({
                "path": "", "name": "engine", "type": "directory",
                "children": [{
                    "path": "notes.md", "name": "notes.md", "type": "file", "size_bytes": 10, "extension": "md",
                }],
                "file_count": 2, "total_size_bytes": 210,
            });
            let mut tree = node.clone();
            tree["root"] = node;
            tree["total_nodes"] = json!(2);
            tree["max_depth_reached"] = json!(false);
            tree["truncated"] = json!(false);
            (json!({ "workspace_id": WORKSPACE, "path": "", "depth": 3 }), tree)
        }
        Method::RepositoryStats => (
            of,
            json!({
                "total_files": 2, "total_directories": 1, "total_size_bytes": 210, "total_lines": 12,
                "files_by_extension": { "md": 1, "rs": 1 }, "largest_files": [file(None)],
                "recently_modified": [file(None)], "git_tracked_files": 1, "git_ignored_files": 0, "binary_files": 0,
                "sensitive_files": 0,
                "languages": [{ "language": "Rust", "files": 1, "lines": 11, "bytes": 200, "percentage": 95.2 }],
            }),
        ),
        Method::RepositoryGrep => (
            json!({ "pattern": "Decided", "workspace_id": WORKSPACE, "context_lines": 2, "limit": 1000 }),
            json!({
                "grep_id": SEARCH, "status": "completed",
                "files": [{
                    "path": "notes.md",
                    "lines": [{
                        "line": 1, "text": "# Decided", "matches": [{ "start": 2, "end": 9 }], "truncated": false,
                    }],
                    "match_count": 1, "truncated": false,
                }],
                "total_matches": 1, "matched_files": 1, "searched_files": 2, "truncated": false, "elapsed_ms": 2,
            }),
        ),
        _ => (json!({ "grep_id": SEARCH }), success()),
    }
}

fn file(score: Option<f64>) -> Value {
    let mut file = json!({
        "path": "notes.md", "name": "notes.md", "directory": "", "extension": "md", "size_bytes": 10,
        "modified_at": CHANGED, "indexed_at": CHANGED, "is_binary": false, "is_symlink": false,
        "is_sensitive": false, "git_tracked": false, "git_ignored": false, "line_count": 1,
    });
    if let Some(score) = score {
        file["match_score"] = json!(score);
    }
    file
}
