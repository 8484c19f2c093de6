//! The one agent of clients that know only one, and what it asks.

use serde_json::json;

use super::row::{Row, gives, refuses};

pub(super) fn rows() -> Vec<Row> {
    let run = |prompt: &str| {
        gives(
            "agent/run",
            json!({ "prompt": prompt }),
            json!({
                "status": "started", "session_id": "*", "task_id": "*", "mode": "new", "agent_type": "fake",
            }),
        )
        .saves("session", "/session_id")
    };
    vec![
        gives("agent/status", json!({}), json!({ "state": "idle", "agent_type": "fake" })),
        gives("agent/commands", json!({}), json!({ "agent_type": "fake", "commands": [] })),
        refuses("agent/commands", json!({ "agent_type": "hal" }), "INVALID_PAYLOAD"),
        refuses("agent/commands", json!({ "session_id": "no" }), "SESSION_NOT_FOUND"),
        refuses("agent/commands", json!({ "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
        refuses("agent/stop", json!({}), "CLAUDE_NOT_RUNNING"),
        refuses("agent/input", json!({ "input": "enter" }), "CLAUDE_NOT_RUNNING"),
        refuses("agent/run", json!({}), "INVALID_PAYLOAD"),
        refuses("agent/run", json!({ "prompt": " " }), "INVALID_PAYLOAD"),
        refuses("agent/run", json!({ "prompt": "x", "agent_type": "hal" }), "INVALID_PAYLOAD"),
        refuses("agent/run", json!({ "prompt": "x", "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
        refuses("agent/run", json!({ "prompt": "x", "mode": "continue", "session_id": "no" }), "SESSION_NOT_FOUND"),
        run("wait").expects_event("claude_status", json!({ "state": "running", "session_id": "$session" })),
        gives("agent/status", json!({}), json!({ "state": "running", "session_id": "$session" })),
        refuses("agent/run", json!({ "prompt": "more" }), "CLAUDE_ALREADY_RUNNING"),
        gives("agent/stop", json!({}), json!({ "status": "stopped", "agent_type": "fake" })),
        run("ask one"),
        gives("session/watch", json!({ "session_id": "$session" }), json!({})),
        gives(
            "permission/pending",
            json!({ "session_id": "$session" }),
            json!({
                "count": 1,
                "requests": [{
                    "tool_use_id": "one", "session_id": "$session", "workspace_id": "$workspace", "tool_name": "write",
                    "tool_input": { "path": "one" }, "created_at": "*", "agent_type": "fake",
                }],
            }),
        )
        .once("claude_permission"),
        refuses(
            "permission/request",
            json!({ "session_id": "$session", "tool_name": "x", "tool_use_id": "y" }),
            "FORBIDDEN",
        ),
        refuses("permission/pending", json!({ "session_id": "no" }), "SESSION_NOT_FOUND"),
        gives(
            "permission/stats",
            json!({}),
            json!({ "active_sessions": 0, "total_patterns": 0, "pending_requests": 1 }),
        ),
        gives("agent/status", json!({}), json!({ "state": "waiting", "waiting_for": "write" })),
        gives(
            "agent/respond",
            json!({ "tool_use_id": "one", "response": "approved" }),
            json!({ "status": "sent", "tool_use_id": "one" }),
        )
        .expects_event(
            "pty_permission_resolved",
            json!({ "tool_use_id": "one", "decision": "allow", "resolved_by": "*" }),
        ),
        refuses("agent/respond", json!({ "tool_use_id": "one", "response": "late" }), "AGENT_ERROR")
            .once("stream_read_complete"),
        run("ask two"),
        gives("session/watch", json!({ "session_id": "$session" }), json!({})),
        gives(
            "permission/respond",
            json!({ "tool_use_id": "two", "decision": "deny", "scope": "once" }),
            json!({ "success": true }),
        )
        .once("claude_permission")
        .expects_event("pty_permission_resolved", json!({ "tool_use_id": "two", "decision": "deny" })),
        refuses("permission/respond", json!({ "tool_use_id": "two", "decision": "allow" }), "INTERNAL_ERROR"),
        refuses("permission/respond", json!({ "tool_use_id": "two", "decision": "maybe" }), "INVALID_PAYLOAD"),
        run("ask three").once("stream_read_complete"),
        gives("session/watch", json!({ "session_id": "$session" }), json!({})),
        gives(
            "permission/respond",
            json!({ "tool_use_id": "three", "decision": "allow", "scope": "workspace" }),
            json!({ "success": true }),
        )
        .once("claude_permission"),
        gives(
            "rule/list",
            json!({}),
            json!({
                "rules": [{
                    "rule_id": "~rule_", "covers": "*", "made_at": "*",
                    "rule": { "scope": "workspace", "decision": "allow", "workspace": "$repo", "by": { "client_id": "*" } },
                }],
            }),
        )
        .saves("rule", "/rules/0/rule_id"),
        gives("rule/remove", json!({ "rule_id": "$rule" }), json!({ "success": true })),
        refuses("rule/remove", json!({ "rule_id": "$rule" }), "INVALID_PAYLOAD"),
        gives("rule/list", json!({}), json!({ "rules": [] })),
        run("wait").once("stream_read_complete"),
        gives("agent/input", json!({ "input": "escape" }), json!({ "status": "sent", "agent_type": "fake" })),
    ]
}
