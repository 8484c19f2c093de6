//! The daemon itself, for whoever sits at the machine.

use serde_json::json;

use super::row::{Row, gives, refuses};

pub(super) fn rows() -> Vec<Row> {
    vec![
        gives(
            "pair/create",
            json!({ "scope": "observe" }),
            json!({
                "ws": "~ws://127.0.0.1:", "http": "~http://127.0.0.1:", "session": "*", "repo": "repo",
                "token": "~cdev_p_", "token_expires_at": "*", "code": "*", "page": "~/pair#",
            }),
        ),
        refuses("pair/create", json!({ "scope": "god" }), "INVALID_PAYLOAD"),
        gives(
            "device/list",
            json!({}),
            json!({
                "devices": [
                    { "device_id": "*", "scope": "operate", "paired_at": "*", "expires_at": "*" },
                    { "device_id": "*", "scope": "operate", "remote_addr": "127.0.0.1" },
                    { "device_id": "*", "scope": "admin" },
                ],
            }),
        )
        .saves("device", "/devices/0/device_id"),
        gives(
            "daemon/status",
            json!({}),
            json!({
                "pid": "*", "version": "0.0.0", "address": "~127.0.0.1:", "clients": 2, "running_tasks": 0,
                "pending": 0, "devices": 3, "auto_started": false, "log": "ok",
            }),
        ),
        gives(
            "device/token",
            json!({ "name": "ci", "scope": "observe" }),
            json!({ "device_id": "*", "token": "~cdev_s_", "scope": "observe", "expires_at": "*" }),
        ),
        refuses("device/token", json!({ "name": "ci", "scope": "admin" }), "INVALID_PAYLOAD"),
        refuses("device/token", json!({ "name": " " }), "INVALID_PAYLOAD"),
        gives("device/pending", json!({}), json!({ "pending": [], "count": 0 })),
        refuses("device/approve", json!({ "request_id": "nobody" }), "INVALID_PAYLOAD"),
        gives("device/revoke", json!({ "device_id": "$device" }), json!({ "success": true })),
        refuses("device/revoke", json!({ "device_id": "$device" }), "INVALID_PAYLOAD"),
        gives(
            "device/list",
            json!({}),
            json!({ "devices": [{ "device_id": "*" }, { "device_id": "*" }, { "name": "ci" }] }),
        ),
        gives("daemon/stop", json!({}), json!({ "success": true })),
    ]
}
