//! Files of a workspace.

use serde_json::{Value, json};

use super::row::{Row, gives, refuses};
use crate::terminal::Terminal;

/// Some files of every kind, beside those that git knows.
pub(super) fn some_files(terminal: &Terminal) {
    for folder in ["src", "src/inner", "ignored"] {
        std::fs::create_dir(terminal.folder.join(folder)).unwrap();
    }
    terminal.write("src/main.rs", "fn main() {\n    // needle\n}\n");
    terminal.write("src/inner/lib.rs", "// small\n");
    terminal.write(".gitignore", "ignored\n*.log\n");
    terminal.write(".env", "KEY=1\n");
    terminal.write("noise.log", "needle\n");
    terminal.write("ignored/x", "");
    terminal.write("a.gif", "GIF89a\0 and the rest of a picture");
    terminal.write("notes.md", "# Größe\n");
    terminal.git(&["add", "src", ".gitignore"]);
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = reading("file/get", json!({}));
    rows.extend(reading("workspace/file/get", json!({ "workspace_id": "$workspace" })));
    // The first of all makes the files.
    rows[0].first = Some(some_files);
    rows.extend(listing());
    rows
}

fn reading(method: &'static str, of: Value) -> Vec<Row> {
    let target = |more: Value| {
        let mut params = of.clone();
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    vec![
        gives(
            method,
            target(json!({ "path": "notes.md" })),
            json!({
                "path": "notes.md", "content": "# Größe\n", "encoding": "utf-8", "truncated": false, "size": 10,
                "offset": 0, "media_type": "text/markdown", "is_sensitive": false,
            }),
        ),
        gives(
            method,
            target(json!({ "path": "a.gif" })),
            json!({ "encoding": "base64", "content": "~R0lGODlh", "media_type": "image/gif", "truncated": false }),
        ),
        gives(
            method,
            target(json!({ "path": "notes.md", "offset": 2 })),
            json!({ "content": "Größe\n", "offset": 2, "truncated": false }),
        ),
        gives(method, target(json!({ "path": ".env" })), json!({ "is_sensitive": true })),
        gives(method, target(json!({ "path": "notes.md", "truncate": false })), json!({ "truncated": false })),
        refuses(method, target(json!({})), "INVALID_PAYLOAD"),
        refuses(method, json!({ "path": "x", "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
        refuses(method, target(json!({ "path": "nothing" })), "FILE_NOT_FOUND"),
        refuses(method, target(json!({ "path": "../secret" })), "PATH_TRAVERSAL"),
        refuses(method, target(json!({ "path": "src" })), "FILE_READ_ERROR"),
        refuses(method, target(json!({ "path": "big.gif", "max_size_kb": 1 })), "FILE_TOO_LARGE")
            .first(|terminal| terminal.write("big.gif", &format!("GIF89a\0{}", "x".repeat(2000)))),
    ]
}

fn listing() -> Vec<Row> {
    let file = |name: &str, tracked: bool, ignored: bool| {
        json!({
            "path": name, "name": name, "directory": "", "is_symlink": false, "git_tracked": tracked,
            "git_ignored": ignored, "modified_at": "*", "indexed_at": "*",
        })
    };
    let folder = |name: &str, folders: u64, files: u64| {
        json!({
            "path": name, "name": name, "folder_count": folders, "file_count": files, "total_size_display": "*",
            "modified_display": "just now",
        })
    };
    vec![
        gives(
            "file/list",
            json!({}),
            json!({
                "path": "", "total_count": 8,
                "entries": [
                    { "name": "ignored", "type": "directory", "children_count": 1 },
                    { "name": "src", "type": "directory", "children_count": 2 },
                    { "name": ".gitignore", "type": "file", "size": 14 }, { "name": "a.gif" }, { "name": "big.gif" },
                    { "name": "file" }, { "name": "noise.log" }, { "name": "notes.md", "modified": "*" },
                ],
            }),
        ),
        refuses("file/list", json!({ "path": ".." }), "PATH_TRAVERSAL"),
        refuses("file/list", json!({ "path": "nothing" }), "DIRECTORY_NOT_FOUND"),
        refuses("file/list", json!({ "path": "file" }), "DIRECTORY_NOT_FOUND"),
        refuses("file/list", json!({ "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
        gives(
            "workspace/files/list",
            json!({ "workspace_id": "$workspace", "limit": 5, "offset": 1 }),
            json!({
                "directory": "", "total_files": 6, "total_directories": 2,
                "directories": [folder("ignored", 0, 1), folder("src", 1, 2)],
                "files": [
                    file("a.gif", false, false), file("big.gif", false, false), file("file", true, false),
                    file("noise.log", false, true), file("notes.md", false, false),
                ],
                "pagination": { "limit": 5, "offset": 1, "has_more": false },
            }),
        ),
        gives(
            "workspace/files/list",
            json!({ "workspace_id": "$workspace", "directory": "src" }),
            json!({
                "directory": "src",
                "files": [{
                    "path": "src/main.rs", "name": "main.rs", "directory": "src", "extension": "rs", "size_bytes": 28,
                    "is_binary": false, "is_sensitive": false, "git_tracked": true, "git_ignored": false,
                }],
                "directories": [{ "path": "src/inner" }],
            }),
        ),
        gives(
            "workspace/files/list",
            json!({ "workspace_id": "$workspace", "directory": "ignored" }),
            json!({ "files": [{ "path": "ignored/x", "git_tracked": false, "git_ignored": true }] }),
        ),
        refuses("workspace/files/list", json!({ "workspace_id": "$workspace", "directory": "/etc" }), "PATH_TRAVERSAL"),
        refuses(
            "workspace/files/list",
            json!({ "workspace_id": "$workspace", "directory": "nothing" }),
            "DIRECTORY_NOT_FOUND",
        ),
        refuses("workspace/files/list", json!({}), "INVALID_PAYLOAD"),
    ]
}
