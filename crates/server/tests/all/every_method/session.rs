//! Sessions: started, steered, read and forgotten; and the log behind them.

use serde_json::{Value, json};

use super::row::{Row, gives, refuses};

pub(super) fn rows() -> Vec<Row> {
    let mut rows = steering();
    rows.extend(reading());
    rows.extend(asking());
    rows.extend(following());
    rows.extend(forgetting());
    rows
}

fn session() -> Value {
    json!({ "session_id": "$session" })
}

fn in_workspace() -> Value {
    json!({ "session_id": "$session", "workspace_id": "$workspace" })
}

fn state() -> Value {
    json!({
        "id": "$session", "session_id": "$session", "workspace_id": "$workspace", "status": "running",
        "project_path": "$repo", "agent_type": "fake", "claude_state": "idle", "is_running": false,
        "waiting_for_input": false, "summary": "hello", "message_count": 2, "queue": [],
    })
}

fn steering() -> Vec<Row> {
    vec![
        refuses("session/start", json!({}), "INVALID_PAYLOAD"),
        refuses("session/start", json!({ "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
        refuses("session/start", json!({ "workspace_id": "$workspace", "agent_type": "hal" }), "INVALID_PAYLOAD"),
        refuses("session/start", json!({ "workspace_id": "$workspace", "session_id": "no" }), "SESSION_NOT_FOUND"),
        gives(
            "session/start",
            json!({ "workspace_id": "$workspace" }),
            json!({
                "session_id": "*", "id": "*", "workspace_id": "$workspace", "status": "starting", "outcome": "started",
                "source": "managed", "agent_type": "fake", "has_pending_permission": false, "project_path": "$repo",
            }),
        )
        .saves("session", "/session_id"),
        gives(
            "session/start",
            json!({ "workspace_id": "$workspace", "resume_session_id": "$session" }),
            json!({ "session_id": "$session", "status": "attached", "outcome": "attached" }),
        ),
        gives(
            "session/watch",
            session(),
            json!({
                "status": "watching", "watching": true, "session_id": "$session", "workspace_id": "$workspace",
            }),
        ),
        refuses("session/watch", json!({ "session_id": "no" }), "SESSION_NOT_FOUND"),
        gives(
            "session/send",
            json!({ "session_id": "$session", "prompt": "hello", "permission_mode": "interactive" }),
            json!({
                "status": "sent", "session_id": "$session", "agent_type": "fake", "workspace_id": "$workspace",
                "auto_created": false, "delivery": "started", "task_id": "*",
            }),
        )
        .expects_event("claude_message", json!({ "session_id": "$session", "agent_type": "fake", "uuid": "*" }))
        .expects_event("stream_read_complete", json!({ "session_id": "$session" })),
        refuses("session/send", json!({ "session_id": "$session" }), "INVALID_PAYLOAD"),
        refuses("session/send", json!({ "session_id": "no", "prompt": "x" }), "SESSION_NOT_FOUND"),
    ]
}

fn reading() -> Vec<Row> {
    let listed = json!({
        "session_id": "$session", "workspace_id": "$workspace", "agent_type": "fake", "summary": "hello",
        "message_count": 2, "status": "running", "project_path": "$repo",
    });
    let messages = json!({
        "session_id": "$session", "total": 2, "limit": 50, "offset": 0, "has_more": false,
        "messages": [
            { "type": "user", "uuid": "*", "message": { "role": "user", "content": [{ "text": "hello" }] } },
            { "type": "assistant", "message": { "role": "assistant", "content": [{ "text": "as you say" }] } },
        ],
    });
    let history = json!({ "total": 1, "sessions": [listed] });
    vec![
        gives("session/state", session(), state()),
        refuses("session/state", json!({ "session_id": "../../x" }), "SESSION_NOT_FOUND"),
        gives("session/info", session(), state()),
        gives("session/active", json!({ "workspace_id": "$workspace" }), json!({ "sessions": [state()] })),
        refuses("session/active", json!({ "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
        gives("session/list", json!({ "agent_type": "fake" }), json!({ "total": 1, "sessions": [listed] })),
        refuses("session/list", json!({ "agent_type": "hal" }), "INVALID_PAYLOAD"),
        gives("session/get", session(), listed.clone()),
        refuses("session/get", json!({ "session_id": "no" }), "SESSION_NOT_FOUND"),
        gives("session/history", json!({ "workspace_id": "$workspace" }), history.clone()),
        gives("workspace/session/history", json!({ "workspace_id": "$workspace" }), history),
        refuses("workspace/session/history", json!({ "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
        gives("session/messages", session(), messages.clone()),
        gives(
            "session/messages",
            json!({ "session_id": "$session", "limit": 1, "order": "desc" }),
            json!({ "total": 2, "has_more": true, "messages": [{ "type": "assistant" }] }),
        ),
        refuses("session/messages", json!({ "session_id": "no" }), "SESSION_NOT_FOUND"),
        gives("workspace/session/messages", in_workspace(), messages),
        refuses(
            "workspace/session/messages",
            json!({ "session_id": "$session", "workspace_id": "nobody" }),
            "WORKSPACE_NOT_FOUND",
        ),
        gives(
            "session/elements",
            session(),
            json!({
                "session_id": "$session",
                "elements": [
                    { "type": "user_input", "content": { "text": "hello" } },
                    { "type": "assistant_text", "content": { "text": "as you say" } },
                ],
                "pagination": { "total": 2, "returned": 2, "has_more_before": false, "has_more_after": false },
            }),
        ),
        refuses("session/elements", json!({ "session_id": "no" }), "SESSION_NOT_FOUND"),
        gives(
            "session/search",
            json!({ "query": "SAY you" }),
            json!({
                "hits": [{ "session_id": "$session", "kind": "answer", "excerpt": "as you say" }],
                "searched": 1,
            }),
        ),
        refuses("session/search", json!({ "query": " " }), "INVALID_PAYLOAD"),
        refuses("workspace/session/messages", session(), "INVALID_PAYLOAD"),
        refuses("workspace/session/watch", session(), "INVALID_PAYLOAD"),
        gives(
            "workspace/session/watch",
            in_workspace(),
            json!({ "status": "watching", "watching": true, "session_id": "$session", "workspace_id": "$workspace" }),
        ),
        gives(
            "client/session/focus",
            in_workspace(),
            json!({
                "success": true, "workspace_id": "$workspace", "session_id": "$session", "viewer_count": 1,
                "other_viewers": [],
            }),
        ),
        refuses("session/client/next", json!({}), "INVALID_COMMAND"),
        refuses("session/client/answer", json!({ "request_id": 1, "result": {} }), "INVALID_COMMAND"),
        refuses("session/client/offer", json!({ "session_id": "no", "read_files": true }), "SESSION_NOT_FOUND"),
        gives(
            "session/client/offer",
            json!({ "session_id": "$session", "read_files": true }),
            json!({ "success": true }),
        ),
        refuses("session/client/answer", json!({ "request_id": 1, "result": {} }), "INVALID_PAYLOAD"),
        refuses("session/client/answer", json!({ "request_id": 1 }), "INVALID_PAYLOAD"),
        refuses(
            "client/session/focus",
            json!({ "session_id": "no", "workspace_id": "$workspace" }),
            "SESSION_NOT_FOUND",
        ),
        gives(
            "workspace/session/activate",
            in_workspace(),
            json!({ "success": true, "workspace_id": "$workspace", "session_id": "$session", "message": "*" }),
        ),
    ]
}

fn asking() -> Vec<Row> {
    let send = |prompt: &str, delivery: &str| {
        gives("session/send", json!({ "session_id": "$session", "prompt": prompt }), json!({ "delivery": delivery }))
    };
    vec![
        send("ask one", "started"),
        gives(
            "session/state",
            session(),
            json!({ "claude_state": "waiting", "waiting_for_input": true, "pending_tool_use_id": "one" }),
        )
        .once("pty_permission"),
        send("queued", "queued"),
        gives(
            "session/respond",
            json!({ "session_id": "$session", "type": "permission", "response": "yes" }),
            json!({ "status": "responded", "agent_type": "fake" }),
        )
        .expects_event("pty_permission_resolved", json!({ "decision": "allow" }))
        .expects_event("stream_read_complete", json!({}))
        .expects_event("stream_read_complete", json!({})),
        refuses(
            "session/respond",
            json!({ "session_id": "$session", "type": "permission", "response": "yes" }),
            "INTERNAL_ERROR",
        ),
        send("question q", "started"),
        gives(
            "session/respond",
            json!({ "session_id": "$session", "type": "question", "response": "this one" }),
            json!({ "status": "responded" }),
        )
        .once("claude_waiting")
        .expects_event("stream_read_complete", json!({})),
        send("wait", "started"),
        gives(
            "session/input",
            json!({ "session_id": "$session", "key": "escape" }),
            json!({ "status": "sent", "key": "escape", "agent_type": "fake" }),
        )
        .expects_event("pty_state", json!({ "state": "idle" })),
        refuses("session/input", session(), "INVALID_PAYLOAD"),
        refuses("session/input", json!({ "session_id": "$session", "key": "f1" }), "INVALID_PAYLOAD"),
    ]
}

fn following() -> Vec<Row> {
    vec![
        gives(
            "log/read",
            json!({ "session_id": "$session", "limit": 1 }),
            json!({ "events": [{ "seq": 1, "type": "session.created" }], "last_seq": 1, "has_more": true }),
        ),
        refuses("log/read", json!({ "session_id": "no" }), "SESSION_NOT_FOUND"),
        gives(
            "events/subscribe",
            json!({ "format": "normalized", "after": "beginning", "sessions": ["$session"] }),
            json!({ "format": "normalized", "cursor": "*" }),
        )
        .saves("cursor", "/cursor")
        .expects_event("batch", json!({ "cursor": "*" })),
        refuses("events/subscribe", json!({ "after": "nonsense" }), "INVALID_PAYLOAD"),
        refuses("events/subscribe", json!({ "workspaces": ["nobody"] }), "WORKSPACE_NOT_FOUND"),
        gives("events/unsubscribe", json!({ "format": "normalized" }), json!({ "success": true })),
        gives("events/subscribe", json!({}), json!({ "format": "cdev", "cursor": "*" })),
        gives(
            "events/ack",
            json!({ "name": "archive", "cursor": "$cursor" }),
            json!({ "name": "archive", "cursor": "$cursor" }),
        ),
        refuses("events/ack", json!({ "name": "archive", "cursor": "nonsense" }), "INVALID_PAYLOAD"),
        gives("session/start", json!({ "workspace_id": "$workspace", "mode": "new" }), json!({ "outcome": "started" }))
            .saves("long", "/session_id"),
        gives("session/watch", json!({ "session_id": "$long" }), json!({ "watching": true })),
        gives("session/send", json!({ "session_id": "$long", "prompt": "long" }), json!({ "delivery": "started" }))
            .expects_event("stream_read_complete", json!({ "session_id": "$long" })),
        gives("log/read", json!({ "session_id": "$long", "after_seq": 4, "limit": 1 }), json!({ "last_seq": 5 }))
            .saves("artifact", "/events/0/payload/content/0/artifact_id"),
        gives(
            "log/read",
            json!({ "session_id": "$long", "before_seq": 5, "types": ["session.created"] }),
            json!({ "last_seq": 1, "has_more": false }),
        ),
        gives(
            "artifact/read",
            json!({ "artifact_id": "$artifact", "length": 100 }),
            json!({ "artifact_id": "$artifact", "encoding": "utf-8", "content": "*", "offset": 0, "size": 3 << 20 }),
        ),
        refuses("artifact/read", json!({ "artifact_id": "../../x" }), "INVALID_PAYLOAD"),
    ]
}

fn forgetting() -> Vec<Row> {
    vec![
        gives(
            "session/unwatch",
            session(),
            json!({ "status": "unwatched", "watching": false, "session_id": "$session" }),
        ),
        gives(
            "workspace/session/unwatch",
            json!({ "session_id": "$session", "agent_type": "fake" }),
            json!({ "status": "unwatched", "watching": false }),
        ),
        gives("session/stop", session(), json!({ "success": true, "message": "*", "agent_type": "fake" }))
            .expects_event("session_stopped", json!({ "session_id": "$session", "workspace_id": "$workspace" })),
        refuses("session/stop", json!({ "session_id": "no" }), "SESSION_NOT_FOUND"),
        refuses("session/stop", json!({ "session_id": "$session", "prompt_id": "no" }), "INVALID_PAYLOAD"),
        refuses("session/start", json!({ "session_id": "$session", "thought_level": "no" }), "INVALID_PAYLOAD"),
        gives(
            "session/fork",
            json!({ "session_id": "$session", "title": "the other way" }),
            json!({
                "session_id": "*", "workspace_id": "$workspace", "status": "starting", "outcome": "forked",
                "source": "managed", "agent_type": "fake", "project_path": "$repo",
            }),
        )
        .saves("fork", "/session_id"),
        refuses("session/fork", json!({ "session_id": "no" }), "SESSION_NOT_FOUND"),
        gives(
            "session/messages",
            json!({ "session_id": "$fork", "limit": 1 }),
            json!({ "messages": [{ "type": "user" }] }),
        ),
        gives("session/delete", json!({ "session_id": "$fork" }), json!({ "deleted": 1, "session_id": "$fork" })),
        gives(
            "workspace/session/delete",
            in_workspace(),
            json!({ "status": "deleted", "deleted": 1, "session_id": "$session", "workspace_id": "$workspace" }),
        ),
        refuses("workspace/session/delete", json!({ "workspace_id": "$workspace" }), "INVALID_PAYLOAD"),
        gives("session/list", json!({}), json!({ "total": 1, "sessions": [{ "session_id": "$long" }] })),
        gives("session/delete", json!({}), json!({ "status": "deleted", "deleted": 1 })),
        refuses("session/delete", json!({ "session_id": "no" }), "SESSION_NOT_FOUND"),
    ]
}
