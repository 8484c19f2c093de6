//! Registers the gateway in other programs. Only somebody at the machine, or a device with the scope `admin`, may.

use serde_json::json;

use super::row::{Row, gives, refuses};

pub(super) fn rows() -> Vec<Row> {
    let codex = || json!({ "clients": ["codex"] });
    vec![
        gives(
            "bootstrap/apply",
            json!({ "clients": ["codex"], "dry_run": true }),
            json!({ "transport": "stdio", "results": [{ "client": "codex", "updated": true, "diff": "~+[mcp_servers.roost]" }] }),
        ),
        gives(
            "bootstrap/apply",
            json!({}),
            json!({ "results": [{ "client": "codex" }, { "client": "claude", "updated": true }] }),
        ),
        gives("bootstrap/apply", codex(), json!({ "results": [{ "updated": false }] })),
        gives(
            "bootstrap/apply",
            json!({ "clients": ["gemini"], "transport": "http", "update_agents_md": true }),
            json!({ "endpoint": "~/mcp", "agents_md": { "updated": true, "path": "~AGENTS.md" } }),
        ),
        gives(
            "bootstrap/apply",
            json!({ "clients": ["zed"], "transport": "http" }),
            json!({ "results": [{ "error": "~stdio" }] }),
        ),
        refuses("bootstrap/apply", json!({ "clients": ["emacs"] }), "INVALID_PAYLOAD"),
        refuses("bootstrap/apply", json!({ "transport": "http", "endpoint": "file:///x" }), "INVALID_PAYLOAD"),
        gives("bootstrap/status", json!({}), json!({ "clients": "*" })),
        gives(
            "bootstrap/remove",
            codex(),
            json!({ "removed": true, "results": [{ "client": "codex", "updated": true }] }),
        ),
        gives("POST /api/bootstrap", codex(), json!({ "transport": "stdio" })),
        gives("DELETE /api/bootstrap", json!({}), json!({ "removed": true })),
        gives("GET /api/bootstrap/status", json!({}), json!({})),
    ]
}
