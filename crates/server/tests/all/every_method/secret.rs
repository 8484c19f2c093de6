//! Secrets of services. Only somebody at the machine, or a device with the scope `admin`, may use these.

use serde_json::json;

use super::row::{Row, gives, refuses};

pub(super) fn rows() -> Vec<Row> {
    let reference = || json!({ "auth_ref": "file:team/token" });
    vec![
        gives("secret/list", json!({}), json!({ "count": 0, "items": [] })),
        gives("secret/providers", json!({}), json!({ "fileRoot": "*", "fileRootExists": false })),
        refuses("secret/delete", reference(), "INVALID_PAYLOAD"),
        gives(
            "secret/set",
            json!({ "auth_ref": "file:team/token", "secret": "s3cret" }),
            json!({ "authRef": "file:team/token", "path": "team/token", "written": true }),
        ),
        refuses("secret/set", json!({ "auth_ref": "file:../token", "secret": "s3cret" }), "INVALID_PAYLOAD"),
        refuses("secret/set", json!({ "auth_ref": "env:HOME", "secret": "s3cret" }), "INVALID_PAYLOAD"),
        refuses("secret/set", json!({ "auth_ref": "file:token", "secret": "a\nb" }), "INVALID_PAYLOAD"),
        gives("secret/list", json!({}), json!({ "count": 1, "items": [{ "authRef": "file:team/token" }] })),
        gives("secret/validate", reference(), json!({ "valid": true, "redactedTarget": ".../token" })),
        gives("secret/validate", json!({ "auth_ref": "env:NOTHING" }), json!({ "valid": false, "target": "NO***NG" })),
        gives("secret/delete", reference(), json!({ "deleted": true })),
        gives("GET /api/security/auth/secrets", json!({}), json!({ "count": 0, "items": [] })),
        gives(
            "POST /api/security/auth/secrets",
            json!({ "auth_ref": "file:x", "secret": "y" }),
            json!({ "written": true }),
        ),
        gives("DELETE /api/security/auth/secrets", json!({ "auth_ref": "file:x" }), json!({ "deleted": true })),
        gives("GET /api/security/auth/providers", json!({}), json!({ "fileRootExists": true })),
        gives("GET /api/security/auth/validate", reference(), json!({ "valid": false })),
    ]
}
