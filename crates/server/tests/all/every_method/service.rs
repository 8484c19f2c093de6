//! Services of the gateway, by method and over HTTP.

use serde_json::{Value, json};

use super::row::{Row, gives, refuses};

fn manifest() -> Value {
    let endpoint = "http://127.0.0.1:39001/mcp";
    json!({
        "apiVersion": "clarity.runtime/v1",
        "kind": "MCPService",
        "metadata": { "sourceFile": endpoint, "module": "everything", "serviceType": "mcp" },
        "spec": {
            "origin": { "type": "remote_mcp", "endpoint": endpoint, "transport": "streamable_http" },
            "enabled": true, "autostart": true, "restartPolicy": { "mode": "on-failure" }, "policyRef": "default",
        },
    })
}

/// The calls that tell a service's story, under the names that one of the doors has for them.
struct Names {
    apply: &'static str,
    list: &'static str,
    get: &'static str,
    start: &'static str,
    stop: &'static str,
    restart: &'static str,
    introspect: &'static str,
    unquarantine: &'static str,
    approve: &'static str,
    login: &'static str,
    finish_login: &'static str,
    interface: &'static str,
    logs: &'static str,
    events: &'static str,
    details: &'static str,
    remove: &'static str,
    audit: &'static str,
}

pub(super) fn rows() -> Vec<Row> {
    story(&Names {
        apply: "service/apply",
        list: "service/list",
        get: "service/get",
        start: "service/start",
        stop: "service/stop",
        restart: "service/restart",
        introspect: "service/introspect",
        unquarantine: "service/unquarantine",
        approve: "service/approve",
        login: "service/login",
        finish_login: "service/login/finish",
        interface: "service/interface",
        logs: "service/logs",
        events: "service/events",
        details: "service/details",
        remove: "service/remove",
        audit: "audit/list",
    })
}

pub(super) fn routes() -> Vec<Row> {
    story(&Names {
        apply: "POST /api/services/apply",
        list: "GET /api/services",
        get: "GET /api/services/{service_id}",
        start: "POST /api/services/{service_id}/start",
        stop: "POST /api/services/{service_id}/stop",
        restart: "POST /api/services/{service_id}/restart",
        introspect: "POST /api/services/{service_id}/introspect",
        unquarantine: "POST /api/services/{service_id}/unquarantine",
        approve: "POST /api/services/{service_id}/approve",
        login: "POST /api/services/{service_id}/login",
        finish_login: "POST /api/services/{service_id}/login/finish",
        interface: "GET /api/services/{service_id}/interface",
        logs: "GET /api/services/{service_id}/logs",
        events: "GET /api/services/{service_id}/events",
        details: "GET /api/services/{service_id}/details",
        remove: "DELETE /api/services/{service_id}",
        audit: "GET /api/audit",
    })
}

fn story(names: &Names) -> Vec<Row> {
    let one = || json!({ "service_id": "$service" });
    let state = |lifecycle: &str, health: &str| json!({ "service": { "runtime": { "lifecycle": lifecycle, "health": health } } });
    let mut wrong = manifest();
    wrong["spec"]["origin"]["timeoutMs"] = json!(1);
    let mut colliding = manifest();
    colliding["metadata"]["sourceFile"] = json!("elsewhere");
    vec![
        gives(names.list, json!({}), json!({ "items": [] })),
        refuses(names.apply, json!({ "manifest": wrong }), "INVALID_PAYLOAD"),
        gives(names.apply, json!({ "manifest": manifest() }), state("REGISTERED", "UNKNOWN"))
            .saves("service", "/service/serviceId"),
        refuses(names.apply, json!({ "manifest": colliding }), "SERVICE_CONFLICT"),
        refuses(names.introspect, one(), "SERVICE_CONFLICT"),
        refuses(names.start, json!({ "service_id": "svc_none" }), "SERVICE_NOT_FOUND"),
        gives(names.start, one(), state("RUNNING", "HEALTHY")),
        gives(
            names.list,
            json!({}),
            json!({
                "items": [{
                    "serviceId": "svc_b16de01f2662", "module": "everything", "originType": "remote_mcp",
                    "lifecycle": "RUNNING", "interface": { "tools": 1, "heldBack": 0 },
                }],
            }),
        ),
        gives(names.introspect, one(), json!({ "interface": { "tools": [{ "name": "echo" }] } })),
        gives(names.interface, one(), json!({ "interfaceRevision": "~iface_", "tools": [{ "name": "echo" }] })),
        gives(names.approve, one(), state("RUNNING", "HEALTHY")),
        refuses(names.approve, json!({ "service_id": "$service", "tools": ["none"] }), "INVALID_PAYLOAD"),
        refuses(names.unquarantine, one(), "SERVICE_CONFLICT"),
        refuses(
            names.login,
            json!({ "service_id": "$service", "redirect_uri": "https://evil.example/callback" }),
            "INVALID_PAYLOAD",
        ),
        refuses(
            names.login,
            json!({ "service_id": "$service", "redirect_uri": "http://127.0.0.1:1/callback" }),
            "SERVICE_FAILED",
        ),
        refuses(
            names.finish_login,
            json!({ "service_id": "$service", "login_id": "none", "redirected_to": "http://127.0.0.1:1/callback" }),
            "INVALID_PAYLOAD",
        ),
        gives(names.restart, one(), state("RUNNING", "HEALTHY")),
        gives(names.get, one(), json!({ "service": { "version": 1, "manifest": { "kind": "MCPService" } } })),
        refuses(names.get, json!({ "service_id": "svc_none" }), "SERVICE_NOT_FOUND"),
        gives(names.logs, json!({ "service_id": "$service", "limit": 1 }), json!({ "lines": ["*"] })),
        refuses(names.logs, json!({ "service_id": "svc_none" }), "SERVICE_NOT_FOUND"),
        gives(
            names.events,
            json!({ "service_id": "$service", "limit": 1 }),
            json!({ "items": [{ "kind": "service.started", "level": "info" }] }),
        ),
        gives(
            names.details,
            json!({ "service_id": "$service", "log_limit": 1, "event_limit": 1, "call_limit": 1 }),
            json!({ "summary": { "lifecycle": "RUNNING" }, "logs": ["*"], "recentCalls": [] }),
        ),
        gives(names.stop, one(), state("STOPPED", "UNKNOWN")),
        gives(names.remove, one(), json!({ "removed": true, "artifactRemoved": false, "serviceId": "$service" })),
        refuses(names.remove, one(), "SERVICE_NOT_FOUND"),
        gives(names.audit, json!({ "limit": 1 }), json!({ "items": [{ "kind": "service.removed" }] })),
    ]
}
