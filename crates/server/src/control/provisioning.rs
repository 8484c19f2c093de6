//! Tools that register services; there only where `CLARITY_ENABLE_MCP_PROVISIONING` is set.

use std::path::Path;

use roost_rpc::Fault;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::schema::{Member, flag, object, result, text, texts};
use super::services::{apply, start_applied};
use super::{Call, ToolResult};

/// What every tool that registers a service takes.
#[derive(Deserialize)]
struct Common {
    module: Option<String>,
    display_name: Option<String>,
    service_type: Option<String>,
    agent_descriptor: Option<Value>,
    tool_namespace: Option<String>,
    autostart: Option<bool>,
    enabled: Option<bool>,
    start_now: Option<bool>,
    introspect: Option<bool>,
}

fn common_input(own: Vec<(&str, Value)>, required: &[&str]) -> Value {
    let common = [
        ("module", text("The service's name, from which its namespace follows")),
        ("display_name", text("A name for people")),
        ("service_type", json!({ "type": "string", "enum": ["mcp", "agent"], "default": "mcp" })),
        ("agent_descriptor", json!({ "type": "object", "description": "What an agent service does" })),
        ("tool_namespace", text("The prefix of its tools")),
        ("autostart", flag("Whether it starts with the daemon", true)),
        ("enabled", flag("Whether it may run", true)),
        ("start_now", flag("Whether it is started now", true)),
        ("introspect", flag("Whether its tools are listed", true)),
    ];
    object(&own.into_iter().chain(common).collect::<Vec<_>>(), required)
}

pub(super) fn registered() -> Value {
    result(&[
        ("service", Member::Object),
        ("created", Member::Flag),
        ("started", Member::Flag),
        ("introspected", Member::Flag),
    ])
}

pub(super) fn local_input() -> Value {
    let own = vec![
        ("wasm_path", text("The module's file, absolute or below the daemon's folder")),
        ("source_file", text("The source that it was compiled from")),
        ("entry", text("The exported function that is its entry")),
    ];
    common_input(own, &["wasm_path"])
}

pub(super) fn remote_input(address: &str) -> Value {
    let own = vec![
        (address, text("The address at which it speaks MCP")),
        ("auth_ref", text("A reference to its credentials")),
        (
            "transport",
            json!({ "type": "string", "enum": ["streamable_http", "sse_http"], "default": "streamable_http" }),
        ),
        ("timeout_ms", json!({ "type": "integer" })),
        ("max_payload_bytes", json!({ "type": "integer" })),
        ("max_concurrency", json!({ "type": "integer" })),
        ("allowed_tools", texts("The tools that are offered; all unless given")),
    ];
    common_input(own, &[address])
}

pub(super) fn manifest_input() -> Value {
    let manifest = json!({ "type": "object", "description": "A manifest clarity.runtime/v1, kind MCPService" });
    let flags = [
        ("start_now", flag("Whether the service is started now", true)),
        ("introspect", flag("Whether its tools are listed", true)),
    ];
    object(&[("manifest", manifest)].into_iter().chain(flags).collect::<Vec<_>>(), &["manifest"])
}

/// The manifest of a service with the defaults of seed 003.
pub(super) fn manifest(source_file: &str, module: &str, origin: Value) -> Value {
    json!({
        "apiVersion": "clarity.runtime/v1",
        "kind": "MCPService",
        "metadata": { "sourceFile": source_file, "module": module, "serviceType": "mcp" },
        "spec": {
            "origin": origin, "enabled": true, "autostart": true,
            "restartPolicy": { "mode": "on-failure", "maxRestarts": 5, "windowSeconds": 60 }, "policyRef": "default",
        },
    })
}

pub(super) async fn register_local(call: Call<'_>) -> ToolResult {
    check(call, &local_input())?;
    let wasm_path = required(call, "wasm_path")?;
    let wasm_path = call.host.control.root.join(wasm_path).display().to_string();
    let stem = Path::new(&wasm_path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let source_file = optional(call, "source_file").unwrap_or_else(|| wasm_path.clone());
    let entry = optional(call, "entry").unwrap_or_else(|| "mcp_main".into());
    let origin = json!({ "type": "local_wasm", "wasmPath": wasm_path, "entry": entry });
    register(call, &source_file, &stem, origin).await
}

pub(super) async fn register_remote(call: Call<'_>) -> ToolResult {
    register_address(call, "endpoint").await
}

pub(super) async fn register_via_url(call: Call<'_>) -> ToolResult {
    register_address(call, "url").await
}

async fn register_address(call: Call<'_>, argument: &str) -> ToolResult {
    check(call, &remote_input(argument))?;
    let endpoint = required(call, argument)?;
    let url =
        Url::parse(&endpoint).map_err(|error| Fault::params(format_args!("{argument} is no address: {error}")))?;
    let last = url.path_segments().and_then(|mut parts| parts.rfind(|part| !part.is_empty()).map(ToOwned::to_owned));
    let module = last.or_else(|| url.host_str().map(ToOwned::to_owned)).unwrap_or_default();
    let mut origin = json!({ "type": "remote_mcp", "endpoint": endpoint, "transport": "streamable_http" });
    for (argument, member) in [
        ("transport", "transport"),
        ("auth_ref", "authRef"),
        ("timeout_ms", "timeoutMs"),
        ("max_payload_bytes", "maxPayloadBytes"),
        ("max_concurrency", "maxConcurrency"),
        ("allowed_tools", "allowedTools"),
    ] {
        if let Some(value) = call.arguments.get(argument) {
            origin[member] = value.clone();
        }
    }
    register(call, &endpoint, &module, origin).await
}

/// Applies the manifest that the arguments give. The schema of manifests says what is wrong with them.
async fn register(call: Call<'_>, source_file: &str, module: &str, origin: Value) -> ToolResult {
    let common: Common = call.parse()?;
    let mut manifest = manifest(source_file, common.module.as_deref().unwrap_or(module), origin);
    let metadata = &mut manifest["metadata"];
    for (member, value) in [
        ("displayName", common.display_name.map(Value::from)),
        ("serviceType", common.service_type.map(Value::from)),
        ("agent", common.agent_descriptor),
    ] {
        if let Some(value) = value {
            metadata[member] = value;
        }
    }
    let spec = &mut manifest["spec"];
    for (member, value) in [
        ("toolNamespace", common.tool_namespace.map(Value::from)),
        ("autostart", common.autostart.map(Value::from)),
        ("enabled", common.enabled.map(Value::from)),
    ] {
        if let Some(value) = value {
            spec[member] = value;
        }
    }
    let (id, before) = apply(call, &manifest).await?;
    let (start, introspect) = (common.start_now.unwrap_or(true), common.introspect.unwrap_or(true));
    let mut registered = start_applied(call, &id, start, introspect).await?;
    registered.insert("created".into(), before.is_none().into());
    Ok(Value::Object(registered))
}

pub(super) async fn apply_manifest(call: Call<'_>) -> ToolResult {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        manifest: Map<String, Value>,
        start_now: Option<bool>,
        introspect: Option<bool>,
    }
    let Arguments { manifest, start_now, introspect } = call.parse()?;
    let (id, _) = apply(call, &Value::Object(manifest)).await?;
    let mut applied = start_applied(call, &id, start_now.unwrap_or(true), introspect.unwrap_or(true)).await?;
    applied.insert("applied".into(), true.into());
    Ok(Value::Object(applied))
}

/// Refuses arguments that the tool does not take, and those that are no values of the type that it names.
fn check(call: Call<'_>, input: &Value) -> Result<(), Fault> {
    for (name, value) in call.arguments {
        let schema = &input["properties"][name];
        let is_fitting = match schema["type"].as_str() {
            None => return Err(Fault::params(format_args!("invalid arguments: there is no argument \"{name}\""))),
            Some("string") => value.is_string(),
            Some("boolean") => value.is_boolean(),
            Some("integer") => value.is_u64() || value.is_i64(),
            Some("array") => value.is_array(),
            Some(_) => value.is_object(),
        };
        if !is_fitting && !value.is_null() {
            let expected = schema["type"].as_str().unwrap_or_default();
            return Err(Fault::params(format_args!("invalid arguments: {name} must be of the type {expected}")));
        }
    }
    Ok(())
}

fn optional(call: Call<'_>, name: &str) -> Option<String> {
    Some(call.arguments.get(name)?.as_str()?.to_owned())
}

fn required(call: Call<'_>, name: &str) -> Result<String, Fault> {
    optional(call, name).ok_or_else(|| Fault::params(format_args!("{name} is missing; it must be a text")))
}
