//! Agent runs: what clients report of them, and hosted sessions.

use serde_json::json;

use super::row::{Row, gives, refuses};

pub(super) fn rows() -> Vec<Row> {
    let event = |kind: &str| json!({ "kind": kind, "run_id": "r1", "agent": "writer" });
    vec![
        gives("run/list", json!({}), json!({ "items": [] })),
        gives("run/report", json!({ "events": [event("agent.run_started")] }), json!({ "ok": true, "accepted": 1 })),
        refuses("run/report", json!({ "events": [event("service.started")] }), "INVALID_PAYLOAD"),
        refuses("run/report", json!({ "events": [{ "kind": "agent.waiting" }] }), "INVALID_PAYLOAD"),
        refuses("run/report", json!({}), "INVALID_PAYLOAD"),
        gives("POST /api/agents/events", event("agent.tool_called"), json!({ "ok": true, "accepted": 1 })),
        refuses("POST /api/agents/events", json!({ "kind": "agent.waiting" }), "INVALID_PAYLOAD"),
        refuses(
            "POST /api/agents/events",
            json!({ "kind": "agent.run_created", "run_id": "r2", "service_id": "svc_000000000000" }),
            "INVALID_PAYLOAD",
        ),
        gives(
            "run/list",
            json!({ "limit": 1 }),
            json!({ "items": [{ "runId": "r1", "agent": "writer", "status": "running", "toolCallCount": 1, "eventCount": 2 }] }),
        ),
        gives("GET /api/agents/runs", json!({ "limit": 5 }), json!({ "items": [{ "runId": "r1" }] })),
        gives(
            "run/events",
            json!({ "run_id": "r1" }),
            json!({ "runId": "r1", "items": [{ "kind": "agent.run_started" }, { "kind": "agent.tool_called" }] }),
        ),
        refuses("run/events", json!({ "run_id": "nobody" }), "INVALID_PAYLOAD"),
        gives("GET /api/agents/events", json!({ "limit": 1 }), json!({ "items": [{ "kind": "agent.tool_called" }] })),
        gives(
            "GET /api/agents/runs/{run_id}/events",
            json!({ "run_id": "r1", "limit": 1 }),
            json!({ "runId": "r1", "items": [{ "kind": "agent.tool_called", "level": "info", "data": { "runId": "r1" } }] }),
        ),
        refuses("GET /api/agents/runs/{run_id}/events", json!({ "run_id": "nobody" }), "INVALID_PAYLOAD"),
        gives("run/message", json!({ "run_id": "r1", "message": "hello" }), json!({ "ok": true, "runId": "r1" })),
        refuses("run/message", json!({ "run_id": "r1", "message": " " }), "INVALID_PAYLOAD"),
        refuses("run/message", json!({ "run_id": "nobody", "message": "hello" }), "INVALID_PAYLOAD"),
        gives(
            "POST /api/agents/runs/{run_id}/messages",
            json!({ "run_id": "r1", "text": "hello", "role": "system" }),
            json!({ "ok": true, "runId": "r1" }),
        ),
        refuses(
            "POST /api/agents/runs/{run_id}/messages",
            json!({ "run_id": "nobody", "text": "hello" }),
            "INVALID_PAYLOAD",
        ),
    ]
}
