//! The folders that agents work in, and following them.

use serde_json::json;

use super::row::{Row, gives, refuses};

pub(super) fn rows() -> Vec<Row> {
    let git = json!({
        "initialized": true, "has_remotes": true, "branch": "main", "ahead": 0, "behind": 0, "staged_count": 0,
        "unstaged_count": 0, "untracked_count": 0, "has_conflicts": false, "state": "synced",
    });
    let workspace = json!({
        "id": "$workspace", "name": "repo", "path": "$repo", "exists": true, "auto_start": false, "sessions": [],
        "session_count": 0, "active_session_count": 0, "has_active_session": false, "active_session_id": "", "is_git_repo": true,
        "git_state": "synced", "git": git,
    });
    let target = || json!({ "workspace_id": "$workspace" });
    let nobody = || json!({ "workspace_id": "nobody" });
    let mut rows = vec![
        gives("workspace/list", json!({ "include_git": true }), json!({ "workspaces": [workspace] })),
        gives("workspace/get", target(), workspace),
        refuses("workspace/get", nobody(), "WORKSPACE_NOT_FOUND"),
        gives(
            "workspace/add",
            json!({ "path": "$home/more", "name": "More", "create_if_missing": true }),
            json!({
                "name": "More", "path": "$home/more", "exists": true, "sessions": [], "is_git_repo": false,
                "git_state": "no_git", "git": { "initialized": false, "has_remotes": false },
            }),
        )
        .saves("more", "/id"),
        refuses("workspace/add", json!({ "path": "$home/more" }), "INVALID_PAYLOAD"),
        refuses("workspace/add", json!({ "path": "$repo/inside", "create_if_missing": true }), "INVALID_PAYLOAD"),
        refuses("workspace/add", json!({ "path": "relative" }), "INVALID_PAYLOAD"),
        gives(
            "workspace/update",
            json!({ "id": "$more", "name": "Most", "auto_start": true }),
            json!({ "id": "$more", "name": "Most", "auto_start": true }),
        ),
        refuses("workspace/update", json!({ "workspace_id": "$more", "name": "repo" }), "INVALID_PAYLOAD"),
        refuses("workspace/update", nobody(), "WORKSPACE_NOT_FOUND"),
        gives(
            "workspace/status",
            target(),
            json!({
                "workspace_id": "$workspace", "workspace_name": "repo", "path": "$repo", "git_tracker_state": "healthy",
                "git_repo_name": "repo", "is_git_repo": true, "git_last_error": "", "is_being_watched": false,
                "watched_session_id": "", "sessions": [], "active_session_count": 0,
            }),
        ),
        refuses("workspace/status", nobody(), "WORKSPACE_NOT_FOUND"),
        gives(
            "workspace/discover",
            json!({ "paths": ["$repo"], "fresh": true }),
            json!({
                "repositories": [{
                    "path": "$repo", "name": "repo", "remote_url": "../remote", "last_modified": "*",
                    "is_configured": true,
                }],
                "count": 1, "cached": false, "cache_age_seconds": 0, "refresh_in_progress": false,
                "scanned_paths": "*", "skipped_paths": "*", "elapsed_ms": "*", "cancelled": false,
            }),
        )
        .expects_event(
            "workspace_discover_progress",
            json!({ "paths": ["$repo"], "scanned_paths": 0, "found_count": "*" }),
        ),
        gives("workspace/discover/cancel", json!({ "discover_id": "over" }), json!({ "success": true })),
        refuses("workspace/discover/cancel", json!({}), "INVALID_PAYLOAD"),
        gives("workspace/discover", json!({ "paths": ["$repo"] }), json!({ "count": 1, "cached": true })),
        refuses("workspace/discover", json!({ "paths": ["/etc"] }), "FORBIDDEN"),
        gives("workspace/cache/invalidate", json!({}), json!({ "success": true, "message": "*" })),
        refuses("workspace/cache/invalidate", nobody(), "WORKSPACE_NOT_FOUND"),
    ];
    rows.extend(following());
    rows.extend([
        gives("workspace/subscribe", json!({ "workspace_id": "$more" }), json!({ "subscribed": ["$more"] })),
        gives("workspace/remove", json!({ "workspace_id": "$more" }), json!({ "success": true, "message": "~Most" }))
            .expects_event("workspace_removed", json!({ "id": "$more", "name": "Most", "path": "$home/more" })),
        gives("workspace/subscriptions", json!({}), json!({ "workspaces": [], "count": 0 })),
        refuses("workspace/remove", json!({ "workspace_id": "$more" }), "WORKSPACE_NOT_FOUND"),
    ]);
    rows
}

fn following() -> Vec<Row> {
    let target = || json!({ "workspace_id": "$workspace" });
    vec![
        gives("workspace/subscriptions", json!({}), json!({ "workspaces": [], "is_filtering": false, "count": 0 })),
        gives(
            "workspace/subscribe",
            target(),
            json!({ "success": true, "workspace_id": "$workspace", "subscribed": ["$workspace"] }),
        )
        .expects_event("git_status_changed", json!({ "branch": "main", "workspace_id": "$workspace" })),
        refuses("workspace/subscribe", json!({ "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
        gives(
            "workspace/subscriptions",
            json!({}),
            json!({ "workspaces": ["$workspace"], "is_filtering": true, "count": 1 }),
        )
        .first(|terminal| terminal.write("file", "changed\n"))
        .expects_event("file_changed", json!({ "path": "file", "change": "modified", "size": 8 }))
        .expects_event("git_diff", json!({ "file": "file", "diff": "~+changed" })),
        gives(
            "workspace/unsubscribe",
            target(),
            json!({ "success": true, "workspace_id": "$workspace", "subscribed": [] }),
        ),
        gives("workspace/subscribeAll", json!({}), json!({ "success": true, "is_filtering": false }))
            .expects_event("git_status_changed", json!({ "workspace_id": "$workspace", "unstaged_count": 1 })),
    ]
}
