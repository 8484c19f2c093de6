//! Hello, goodbye, and how the daemon is.

use serde_json::json;

use super::row::{Row, gives};

pub(super) fn rows() -> Vec<Row> {
    let server = json!({ "name": "cdev", "version": "0.0.0" });
    let capabilities = json!({
        "agent": { "run": true, "stop": true, "respond": true, "sessions": true, "sessionWatch": true },
        "git": {
            "status": true, "diff": true, "stage": true, "unstage": true, "discard": true, "commit": true,
            "push": true, "pull": true, "branches": true, "checkout": true,
        },
        "file": { "get": true, "list": true },
        "repository": {
            "index": true, "search": true, "list": true, "tree": true, "stats": true, "rebuild": true,
        },
        "supportedAgents": ["fake"],
        "runtimeRegistry": {
            "schemaVersion": "1.0", "defaultRuntime": "fake", "routing": { "defaultAgentType": "fake" },
            "runtimes": [{ "id": "fake", "methods": { "watch": "workspace/session/watch" } }],
        },
    });
    let status = json!({
        "claude_state": "idle", "agent_state": "idle", "agent_type": "fake", "version": "0.0.0",
        "agent_version": "0.0.0", "connected_clients": 2, "repo_path": "$repo", "repo_name": "repo",
        "watcher_enabled": true, "git_enabled": true, "is_git_repo": true, "running_tasks": 0, "pending": 0,
        "systemTools": { "runtime": { "items": [] }, "clarity": { "items": [] } },
        "agents": { "running": 0, "waiting": 0, "failed": 0, "cancelled": 0 },
    });
    vec![
        gives(
            "initialize",
            json!({ "protocolVersion": "1.0", "client_info": { "name": "test", "version": "1" } }),
            json!({
                "protocolVersion": "1.0", "serverInfo": server, "server_info": server, "clientId": "*",
                "capabilities": capabilities,
            }),
        ),
        gives("initialize", json!({ "protocol_version": "2.0" }), json!({ "protocolVersion": "1.0" })),
        gives("initialized", json!({}), json!({})),
        gives("status/get", json!({}), status.clone()),
        gives("status/health", json!({}), json!({ "status": "ok", "healthy": true })),
        gives("GET /api/status", json!({}), status),
        gives("shutdown", json!({}), json!({ "success": true })),
    ]
}
