//! The two input profiles: what older clients send is rewritten into today's form, or read as it is.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use agent_client_protocol_schema::v1 as acp;

use crate::error;

/// Which input is accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Also snake case, the fields of seed 002, a prompt that is one text, and `session/new` without `mcpServers`.
    #[default]
    Compat,
    /// Only what the official decoders read.
    Strict,
}

/// The key below `_meta` for what only Roost has: the runtime, the model, the permission mode and the runtime's settings.
pub(crate) const OWN_META: &str = "roost";

/// Other names of fields, and the names that they have today.
const RENAMED: [(&str, &str); 14] = [
    ("protocol_version", "protocolVersion"),
    ("client_info", "clientInfo"),
    ("client_capabilities", "clientCapabilities"),
    ("capabilities", "clientCapabilities"),
    ("session_id", "sessionId"),
    ("working_dir", "cwd"),
    ("workingDir", "cwd"),
    ("mcp_servers", "mcpServers"),
    ("additional_directories", "additionalDirectories"),
    ("mode_id", "modeId"),
    ("config_id", "configId"),
    ("method_id", "methodId"),
    ("metadata", "_meta"),
    ("meta", "_meta"),
];

/// Fields of seed 002 that the protocol has no place for; they become fields of [`OWN_META`].
const OWN: [(&str, &str); 3] =
    [("permission_mode", "permissionMode"), ("permissionMode", "permissionMode"), ("config", "config")];

/// Parameters in today's form.
pub(crate) struct Params {
    value: Value,
    /// The request has a form that only the clients of seed 002 send.
    pub(crate) is_legacy: bool,
}

impl Params {
    pub(crate) fn new(profile: Profile, method: &str, value: Value) -> Self {
        match (profile, value) {
            (Profile::Compat, Value::Object(fields)) => modernize(method, fields),
            (_, Value::Null) => Self { value: json!({}), is_legacy: false },
            (_, value) => Self { value, is_legacy: false },
        }
    }

    /// The parameters as the method's type.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, acp::Error> {
        T::deserialize(&self.value).map_err(|failed| error::invalid_params(failed.to_string()))
    }

    /// The field that stands below `_meta.roost`, if it is a text.
    pub(crate) fn own_text(&self, field: &str) -> Option<&str> {
        self.own(field)?.as_str()
    }

    /// The field that stands below `_meta.roost`.
    pub(crate) fn own(&self, field: &str) -> Option<&Value> {
        self.value.get("_meta")?.get(OWN_META)?.get(field)
    }
}

fn modernize(method: &str, mut fields: Map<String, Value>) -> Params {
    let mut is_legacy = false;
    for (old, new) in RENAMED {
        if let Some(value) = fields.remove(old) {
            is_legacy = true;
            fields.entry(new).or_insert(value);
        }
    }
    for (old, own) in OWN {
        if let Some(value) = fields.remove(old) {
            is_legacy = true;
            let meta = fields.entry("_meta").or_insert_with(|| json!({}));
            if let Some(meta) = meta.as_object_mut() {
                let ours = meta.entry(OWN_META).or_insert_with(|| json!({}));
                ours.as_object_mut().map(|ours| ours.entry(own).or_insert(value));
            }
        }
    }
    if let Some(text) = fields.get("prompt").and_then(Value::as_str) {
        is_legacy = true;
        let block = json!([{ "type": "text", "text": text }]);
        fields.insert("prompt".into(), block);
    }
    if matches!(method, "session/new" | "session/load") {
        is_legacy |= !fields.contains_key("mcpServers");
        fields.entry("mcpServers").or_insert_with(|| json!([]));
    }
    Params { value: Value::Object(fields), is_legacy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compat_rewrites_what_older_clients_send_and_strict_does_not() {
        let modern = json!({ "sessionId": "s", "prompt": [{ "type": "text", "text": "hi" }] });
        for (method, sent, compat) in [
            ("session/prompt", modern.clone(), modern.clone()),
            ("session/prompt", json!({ "session_id": "s", "prompt": "hi" }), modern),
            ("session/new", json!({ "working_dir": "/w" }), json!({ "cwd": "/w", "mcpServers": [] })),
            ("session/new", json!({ "working_dir": "/a", "cwd": "/w" }), json!({ "cwd": "/w", "mcpServers": [] })),
            (
                "session/new",
                json!({ "cwd": "/w", "mcpServers": null, "permission_mode": "plan", "config": { "a": 1 } }),
                json!({
                    "cwd": "/w", "mcpServers": null,
                    "_meta": { "roost": { "permissionMode": "plan", "config": { "a": 1 } } },
                }),
            ),
            (
                "initialize",
                json!({ "protocol_version": 1, "capabilities": {} }),
                json!({ "protocolVersion": 1, "clientCapabilities": {} }),
            ),
            ("logout", Value::Null, json!({})),
            ("session/new", json!([1]), json!([1])),
        ] {
            assert_eq!(Params::new(Profile::Compat, method, sent.clone()).value, compat, "{method} {sent}");
            let unchanged = if sent.is_null() { json!({}) } else { sent.clone() };
            assert_eq!(Params::new(Profile::Strict, method, sent.clone()).value, unchanged, "{method} {sent}");
        }
    }
}
