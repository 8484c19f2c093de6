//! Reads a manifest and says what is wrong with it.

use std::sync::LazyLock;

use jsonschema::Validator;
use roost_model::service::manifest::Manifest;
use serde_json::Value;

use crate::runs::wrong_schedule;

/// The schema that clients can check their manifests with.
pub const SCHEMA: &str = include_str!("../../../schemas/mcp-service-v1.schema.json");

/// The one policy. A manifest that names another one wants rules that nobody would apply.
const POLICY: &str = "default";

static VALIDATOR: LazyLock<Option<Validator>> = LazyLock::new(|| {
    let schema = serde_json::from_str(SCHEMA).ok()?;
    jsonschema::draft202012::new(&schema).ok()
});

/// Why a document is no manifest.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid manifest: {pointer}: {reason}")]
pub struct InvalidManifest {
    /// Where in the document, as a JSON pointer; empty for the document itself.
    pub pointer: String,
    /// What is wrong there.
    pub reason: String,
}

/// Reads a manifest.
pub fn parse(document: &Value) -> Result<Manifest, InvalidManifest> {
    let invalid = |pointer: String, reason: String| InvalidManifest { pointer, reason };
    let Some(validator) = VALIDATOR.as_ref() else {
        return Err(invalid(String::new(), "this build has no valid schema; please report it".into()));
    };
    if let Some(error) = validator.iter_errors(document).next() {
        return Err(invalid(error.instance_path().to_string(), error.to_string()));
    }
    let manifest: Manifest =
        serde_json::from_value(document.clone()).map_err(|error| invalid(String::new(), error.to_string()))?;
    if manifest.spec.policy_ref != POLICY {
        let reason = format!("there is no policy of this name; the rules of every service are those of \"{POLICY}\"");
        return Err(invalid("/spec/policyRef".into(), reason));
    }
    match wrong_schedule(&manifest) {
        Some((pointer, reason)) => Err(invalid(pointer, reason)),
        None => Ok(manifest),
    }
}

/// Members of `metadata.agent` that clarity-runtime declares and that nothing here acts on.
const INERT_OF_AGENT: [&str; 6] =
    ["a2a", "allowedLlmProviders", "allowedMcpTools", "dependsOn", "handoffTargets", "hitl"];

/// The parts of a manifest that are taken and stored, and have no effect, as JSON pointers.
pub fn inert_parts(manifest: &Manifest) -> Vec<String> {
    let metadata = &manifest.metadata;
    let root = metadata.workspace_root.is_some().then(|| "/metadata/workspaceRoot".to_owned());
    let agent = metadata.agent.iter();
    let says_something = |value: &Value| {
        !matches!(value, Value::Null | Value::Bool(false)) && value.as_array().is_none_or(|items| !items.is_empty())
    };
    let of_agent = agent
        .flat_map(|agent| INERT_OF_AGENT.iter().filter(move |member| agent.get(**member).is_some_and(says_something)));
    root.into_iter().chain(of_agent.map(|member| format!("/metadata/agent/{member}"))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn remote(endpoint: &str) -> Value {
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

    /// The manifest with one value changed; without a value, the key is taken away.
    fn with(pointer: &str, value: Option<Value>) -> Value {
        let mut document = remote("http://127.0.0.1:39001/mcp");
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = document.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        match value {
            Some(value) => parent.insert(key.into(), value),
            None => parent.remove(key),
        };
        document
    }

    /// An agent with these schedules, all of one id.
    fn timed(expressions: &[&str]) -> Value {
        let schedules: Vec<_> =
            expressions.iter().map(|text| json!({ "scheduleId": "tick", "scheduleExpr": text })).collect();
        let mut document = with(
            "/metadata/agent",
            Some(json!({ "agentId": "a", "name": "a", "role": "r", "objective": "o", "triggers": ["timer"],
                "timer": { "schedules": schedules } })),
        );
        document["metadata"]["serviceType"] = "agent".into();
        document
    }

    #[test]
    fn a_valid_manifest_is_read_and_written_as_it_was() {
        let agent = json!({ "agentId": "a", "name": "a", "role": "r", "objective": "o", "triggers": ["api"] });
        let mut agent_service = with("/metadata/agent", Some(agent));
        agent_service["metadata"]["serviceType"] = "agent".into();
        let stdio = json!({ "type": "stdio_mcp", "command": "npx", "args": ["-y", "x"], "cwd": "/w", "timeoutMs": 100,
            "env": [{ "name": "KEY", "secretRef": "env:KEY" }], "allowedTools": ["echo"] });
        let wasm = json!({ "type": "local_wasm", "wasmPath": "/a.wasm", "entry": "mcp_main" });
        let mut limited_wasm = wasm.clone();
        limited_wasm["limits"] = json!({ "fuel": 1000, "memoryBytes": 65536 });
        limited_wasm["capabilities"] =
            json!({ "models": ["claude-*"], "folders": [{ "path": "/w", "access": "read" }], "clock": true });
        for mut document in [
            remote("https://example.com/mcp"),
            agent_service,
            with("/spec/origin", Some(stdio)),
            with("/spec/origin", Some(wasm)),
            with("/spec/origin", Some(limited_wasm)),
        ] {
            let manifest = parse(&document).unwrap();
            document["spec"]["restartPolicy"] = json!({ "mode": "on-failure", "maxRestarts": 5, "windowSeconds": 60 });
            assert_eq!(serde_json::to_value(manifest).unwrap(), document);
        }
    }

    #[test]
    fn a_wrong_manifest_is_refused_with_the_place() {
        let schedule = json!({ "agentId": "a", "name": "a", "role": "r", "objective": "o", "triggers": ["timer"] });
        let cases = [
            ("", with("/apiVersion", None)),
            ("/apiVersion", with("/apiVersion", Some("v2".into()))),
            ("/kind", with("/kind", Some("Pod".into()))),
            ("", with("/extra", Some(true.into()))),
            ("/metadata", with("/metadata/module", None)),
            ("/metadata/serviceId", with("/metadata/serviceId", Some("svc_XYZ".into()))),
            ("/metadata/displayName", with("/metadata/displayName", Some("x".repeat(81).into()))),
            ("/metadata", with("/metadata/serviceType", Some("agent".into()))),
            ("/metadata/agent", with("/metadata/agent", Some(schedule))),
            ("/spec/origin/type", with("/spec/origin/type", Some("docker".into()))),
            ("/spec/origin/endpoint", with("/spec/origin/endpoint", Some("ftp://x".into()))),
            ("/spec/origin", with("/spec/origin/endpoint", None)),
            ("/spec/origin/timeoutMs", with("/spec/origin/timeoutMs", Some(99.into()))),
            ("/spec/origin/maxPayloadBytes", with("/spec/origin/maxPayloadBytes", Some(10_485_761.into()))),
            ("/spec/origin/maxConcurrency", with("/spec/origin/maxConcurrency", Some(0.into()))),
            ("/spec/origin", with("/spec/origin/command", Some("x".into()))),
            ("/spec/enabled", with("/spec/enabled", Some("yes".into()))),
            ("/spec/restartPolicy/mode", with("/spec/restartPolicy/mode", Some("sometimes".into()))),
            ("/spec/restartPolicy/maxRestarts", with("/spec/restartPolicy/maxRestarts", Some(101.into()))),
            ("/metadata/agent/timer/schedules/0/scheduleExpr", timed(&["every 1 year"])),
            ("/metadata/agent/timer/schedules/1/scheduleId", timed(&["every 1 s", "every 2 s"])),
            ("/spec/policyRef", with("/spec/policyRef", Some("".into()))),
            ("/spec/policyRef", with("/spec/policyRef", Some("strict".into()))),
        ];
        for (pointer, document) in cases {
            let refused = parse(&document).unwrap_err();
            assert_eq!(refused.pointer, pointer, "{refused}");
        }
    }

    #[test]
    fn what_is_taken_without_effect_is_named() {
        let agent = json!({ "agentId": "a", "name": "a", "role": "r", "objective": "o", "triggers": ["api"],
            "allowedMcpTools": ["x"], "hitl": true, "inputs": ["i"] });
        let mut document = with("/metadata/agent", Some(agent));
        document["metadata"]["serviceType"] = "agent".into();
        document["metadata"]["workspaceRoot"] = "/w".into();
        let expected = ["/metadata/workspaceRoot", "/metadata/agent/allowedMcpTools", "/metadata/agent/hitl"];
        assert_eq!(inert_parts(&parse(&document).unwrap()), expected);
        assert_eq!(inert_parts(&parse(&remote("http://127.0.0.1:1/mcp")).unwrap()), Vec::<String>::new());
    }
}
