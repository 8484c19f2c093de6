//! Examples of the methods for services: one remote service with two tools, one of which has changed.

use serde_json::{Value, json};

use super::objects::{CHANGED, STARTED};
use crate::Method;

const SERVICE: &str = "svc_b16de01f2662";
const ENDPOINT: &str = "http://127.0.0.1:39001/mcp";
const LOGIN: &str = "1f6f7a52-3c1f-4a55-9a8b-1d3f3b7d9a01";
const REVISION: &str = "iface_0123456789ab";

/// The example of a method for services.
pub(super) fn params_and_result(method: Method) -> (Value, Value) {
    let one = || json!({ "service_id": SERVICE });
    match method {
        Method::ServiceList => (json!({}), json!({ "items": [summary()] })),
        Method::ServiceGet
        | Method::ServiceStart
        | Method::ServiceStop
        | Method::ServiceRestart
        | Method::ServiceUnquarantine => (one(), json!({ "service": record() })),
        Method::ServiceInterfaceGet => (one(), interface()),
        Method::ServiceIntrospect => (one(), json!({ "interface": interface() })),
        Method::ServiceLogs => (
            json!({ "service_id": SERVICE, "limit": 2, "after": 0, "follow": false }),
            json!({ "serviceId": SERVICE, "lines": [format!("[{STARTED}] running, healthy")], "last": 1 }),
        ),
        Method::ServiceEvents => {
            (json!({ "service_id": SERVICE, "limit": 1 }), json!({ "serviceId": SERVICE, "items": [audit_record()] }))
        }
        Method::ServiceDetailsGet => (
            json!({ "service_id": SERVICE, "log_limit": 1, "event_limit": 1, "call_limit": 1 }),
            json!({
                "serviceId": SERVICE, "summary": summary(), "service": record(), "interface": interface(),
                "logs": [format!("[{STARTED}] running, healthy")], "events": [audit_record()], "recentCalls": [],
            }),
        ),
        Method::ServiceApply => (json!({ "manifest": manifest() }), json!({ "service": record() })),
        Method::ServiceApprove => (json!({ "service_id": SERVICE, "tools": ["echo"] }), json!({ "service": record() })),
        Method::ServiceLoginBegin => (
            json!({ "service_id": SERVICE, "redirect_uri": "http://127.0.0.1:40123/callback", "client_id": "roost" }),
            json!({ "loginId": LOGIN, "url": "https://login.example/authorize?response_type=code&state=s" }),
        ),
        Method::ServiceLoginFinish => (
            json!({
                "service_id": SERVICE, "login_id": LOGIN,
                "redirected_to": "http://127.0.0.1:40123/callback?code=c&state=s",
            }),
            json!({ "service": record() }),
        ),
        Method::ServiceRemove => (
            json!({ "service_id": SERVICE, "cleanup_artifacts": true }),
            json!({ "removed": true, "artifactRemoved": true, "serviceId": SERVICE }),
        ),
        _ => (json!({ "limit": 1, "after": 0 }), json!({ "items": [audit_record()], "last": 42 })),
    }
}

/// The result of `status/get` with the part that is about the gateway.
pub(super) fn with_gateway_status(status: Value) -> Value {
    let mut status = status;
    let gateway = json!({
        "runtime": { "version": "0.1.0", "pid": 4242, "uptimeSeconds": 3600 },
        "gateway": { "listen": "127.0.0.1:8766", "mcpPath": "/mcp", "healthy": true, "degraded": [] },
        "systemTools": {
            "count": 1, "items": [system_tool()], "runtime": { "count": 1, "items": [system_tool()] },
            "clarity": { "count": 0, "items": [] },
        },
        "agents": { "totalRuns": 3, "running": 1, "waiting": 0, "completed": 2, "failed": 0, "cancelled": 0 },
        "summary": {
            "total": 1, "mcpServices": 1, "agentServices": 0, "running": 1, "runningMcp": 1, "runningAgent": 0,
            "degraded": 0, "stopped": 0, "quarantined": 0, "local": 0, "remote": 1, "localMcp": 0, "remoteMcp": 1,
            "localAgent": 0, "remoteAgent": 0,
        },
        "services": [summary()],
        "lastUpdated": CHANGED,
    });
    for (name, value) in gateway.as_object().into_iter().flatten() {
        status[name] = value.clone();
    }
    status
}

fn system_tool() -> Value {
    json!({ "name": "runtime__status_summary", "description": "Counts the services by state and kind." })
}

fn restart() -> Value {
    json!({ "mode": "on-failure", "maxRestarts": 5, "windowSeconds": 60 })
}

fn manifest() -> Value {
    json!({
        "apiVersion": "clarity.runtime/v1",
        "kind": "MCPService",
        "metadata": { "sourceFile": ENDPOINT, "module": "everything", "serviceType": "mcp" },
        "spec": {
            "origin": {
                "type": "remote_mcp", "endpoint": ENDPOINT, "transport": "streamable_http", "timeoutMs": 20_000,
            },
            "enabled": true, "autostart": true, "restartPolicy": restart(), "policyRef": "default",
        },
    })
}

fn summary() -> Value {
    json!({
        "serviceId": SERVICE, "namespace": "everything", "sourceFile": ENDPOINT, "module": "everything",
        "serviceType": "mcp", "originType": "remote_mcp", "lifecycle": "RUNNING", "health": "HEALTHY",
        "uptimeSeconds": 4, "restartCount": 0, "policy": { "restart": restart(), "remote": { "timeoutMs": 20_000 } },
        "interface": {
            "interfaceRevision": REVISION, "introspectedAt": STARTED, "tools": 2, "heldBack": 1, "resources": 0,
            "prompts": 0,
        },
    })
}

fn tool(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description, "inputSchema": { "type": "object" } })
}

fn interface() -> Value {
    json!({
        "serviceId": SERVICE, "interfaceRevision": REVISION, "introspectedAt": STARTED,
        "tools": [tool("add", "Adds numbers."), tool("echo", "Says it twice.")], "resources": [],
        "resourceTemplates": [], "prompts": [], "problems": [],
    })
}

fn record() -> Value {
    json!({
        "serviceId": SERVICE, "version": 1, "manifest": manifest(),
        "runtime": {
            "lifecycle": "RUNNING", "health": "HEALTHY", "enabled": true, "autostart": true, "uptimeSeconds": 4,
            "restartCount": 0, "lastHeartbeatAt": CHANGED,
        },
        "interfaceSnapshot": interface(),
        "heldBack": [{
            "tool": "echo", "state": "changed", "approved": tool("echo", "Says it."),
            "current": tool("echo", "Says it twice."),
        }],
    })
}

fn audit_record() -> Value {
    json!({
        "seq": 12, "at": STARTED, "kind": "service.started", "serviceId": SERVICE, "level": "info",
        "message": "everything runs", "data": { "lifecycle": "RUNNING", "health": "HEALTHY" },
    })
}
