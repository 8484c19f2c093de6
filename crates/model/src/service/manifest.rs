//! The manifest of a service: the document `clarity.runtime/v1`, kind `MCPService`.
//!
//! `schemas/mcp-service-v1.schema.json` says which documents are valid; these types hold one that is.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::ids::ServiceId;
use crate::service::wasm::{WasmCapabilities, WasmLimits};

/// A declared service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The version of this format: always `clarity.runtime/v1`.
    pub api_version: String,
    /// What the document declares: always `MCPService`.
    pub kind: String,
    /// What identifies and describes it.
    pub metadata: ServiceMetadata,
    /// How it is reached and kept running.
    pub spec: ServiceSpec,
}

impl Manifest {
    /// The id of the service: the supplied one, else one that follows from its source, module and origin.
    pub fn service_id(&self) -> ServiceId {
        self.metadata.service_id.clone().unwrap_or_else(|| self.derived_id())
    }

    /// The id that follows from its source, module and origin: two manifests with the same one declare the same service.
    pub fn derived_id(&self) -> ServiceId {
        derived_id(&self.metadata.source_file, &self.metadata.module, &self.spec.origin.location())
    }
}

/// `svc_` and 12 hex digits of the hash over `source|module|location`.
fn derived_id(source_file: &str, module: &str, location: &str) -> ServiceId {
    let digest = Sha256::digest(format!("{source_file}|{module}|{location}").as_bytes());
    let hex: String = digest[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("svc_{hex}").into()
}

/// What identifies and describes a service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ServiceMetadata {
    /// Where it comes from: a source file, or the endpoint of a remote service.
    pub source_file: String,
    /// Its name, from which its namespace follows unless one is given.
    pub module: String,
    /// Whether it offers tools only or is an agent, too.
    pub service_type: ServiceType,
    /// Given by whoever declares it; else it is derived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_id: Option<ServiceId>,
    /// A name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The folder that a local service belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace_root: Option<String>,
    /// The version as its author counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The SHA-256 that a local artifact must have, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_sha256: Option<String>,
    /// When it was first applied; set by the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When it was last applied; set by the registry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// The description of an agent, as the schema has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Map<String, Value>>,
}

/// What a service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ServiceType {
    /// It offers tools, resources and prompts.
    Mcp,
    /// It also works by itself, on triggers.
    Agent,
}

/// How a service is reached and kept running.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ServiceSpec {
    /// What runs or answers.
    pub origin: ServiceOrigin,
    /// A disabled service is kept and never started.
    pub enabled: bool,
    /// Whether it starts with the daemon.
    pub autostart: bool,
    /// What happens when it ends unexpectedly.
    pub restart_policy: RestartPolicy,
    /// The policy that its calls pass.
    pub policy_ref: String,
    /// The prefix of its tools; the module's name unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_namespace: Option<String>,
}

/// What runs or answers for a service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServiceOrigin {
    /// A wasm module that runs in the daemon.
    #[serde(rename_all = "camelCase")]
    LocalWasm {
        /// The module's file.
        wasm_path: String,
        /// The exported function that is its entry.
        entry: String,
        /// Arguments of the entry.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        args: Vec<String>,
        /// The variables that the module sees.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        env: Vec<ServiceVariable>,
        /// What a call of it may take; the host's configuration has the defaults.
        #[serde(default, skip_serializing_if = "WasmLimits::is_empty")]
        limits: WasmLimits,
        /// What it wants to do outside of its own memory. It may only do what the server's policy allows as well.
        #[serde(default, skip_serializing_if = "WasmCapabilities::is_empty")]
        capabilities: WasmCapabilities,
    },
    /// A server elsewhere.
    #[serde(rename_all = "camelCase")]
    RemoteMcp {
        /// The address at which it speaks MCP, with `http` or `https`.
        endpoint: String,
        /// How it speaks HTTP.
        transport: RemoteTransport,
        /// Where its credentials are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        auth_ref: Option<String>,
        /// What a call may take.
        #[serde(flatten)]
        limits: CallLimits,
    },
    /// A program that speaks MCP on its standard input and output.
    #[serde(rename_all = "camelCase")]
    StdioMcp {
        /// The program, as a path or as a name in `PATH`.
        command: String,
        /// The arguments of the program, none of them read by a shell.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        args: Vec<String>,
        /// Its working directory; the user's home unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
        /// The variables that it gets besides the usual ones.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        env: Vec<ServiceVariable>,
        /// What a call may take.
        #[serde(flatten)]
        limits: CallLimits,
    },
}

impl ServiceOrigin {
    /// The artifact, endpoint or command line, which is a part of the derived id.
    fn location(&self) -> String {
        match self {
            Self::LocalWasm { wasm_path, .. } => wasm_path.clone(),
            Self::RemoteMcp { endpoint, .. } => endpoint.clone(),
            // As JSON, so that no two command lines look the same.
            Self::StdioMcp { command, args, .. } => {
                Value::from_iter([command].into_iter().chain(args).cloned()).to_string()
            }
        }
    }

    /// What a call may take; a module has the limits of its own runtime.
    pub fn limits(&self) -> Option<&CallLimits> {
        match self {
            Self::LocalWasm { .. } => None,
            Self::RemoteMcp { limits, .. } | Self::StdioMcp { limits, .. } => Some(limits),
        }
    }
}

/// How a remote server speaks HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RemoteTransport {
    /// One endpoint that answers each request, at once or as a stream.
    StreamableHttp,
    /// The transport of 2024: a stream of events, and a second address for requests.
    SseHttp,
}

/// What a call of a service may take; a limit that is not given has a default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CallLimits {
    /// How long a call may take, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// The tools that are offered; all unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<Vec<String>>,
    /// The size of a request and of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_payload_bytes: Option<u64>,
    /// How many calls may be under way at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_concurrency: Option<u16>,
}

/// A variable in a service's environment, with its value or where the value is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ServiceVariable {
    /// The variable's name.
    pub name: String,
    /// The value as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where a secret value is kept; it wins over `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<String>,
}

/// What happens when a service ends unexpectedly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RestartPolicy {
    /// Whether it is started again.
    pub mode: RestartMode,
    /// How many restarts within the window are too many.
    #[serde(default = "default_max_restarts")]
    pub max_restarts: u32,
    /// The window in seconds.
    #[serde(default = "default_window_seconds")]
    pub window_seconds: u32,
}

impl Default for RestartPolicy {
    fn default() -> Self {
        Self {
            mode: RestartMode::OnFailure,
            max_restarts: default_max_restarts(),
            window_seconds: default_window_seconds(),
        }
    }
}

fn default_max_restarts() -> u32 {
    5
}

fn default_window_seconds() -> u32 {
    60
}

/// Whether a service that has ended is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RestartMode {
    /// It stays as it ended.
    Never,
    /// It is started again if it failed.
    OnFailure,
    /// It is started again however it ended.
    Always,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_follows_from_source_module_and_location() {
        let endpoint = "http://127.0.0.1:39001/mcp";
        assert_eq!(derived_id(endpoint, "everything", endpoint).as_str(), "svc_b16de01f2662");
    }

    #[test]
    fn a_supplied_id_wins() {
        let manifest = |id: Value| -> Manifest {
            let origin = json!({ "type": "stdio_mcp", "command": "npx", "args": ["-y", "a b"] });
            serde_json::from_value(json!({
                "apiVersion": "clarity.runtime/v1", "kind": "MCPService",
                "metadata": { "sourceFile": "s", "module": "m", "serviceType": "mcp", "serviceId": id },
                "spec": { "origin": origin, "enabled": true, "autostart": true, "restartPolicy": { "mode": "always" },
                    "policyRef": "default" },
            }))
            .unwrap()
        };
        assert_eq!(manifest(json!("svc_000000000000")).service_id().as_str(), "svc_000000000000");
        assert_eq!(manifest(Value::Null).service_id(), derived_id("s", "m", r#"["npx","-y","a b"]"#));
        assert_eq!(manifest(Value::Null).spec.restart_policy.max_restarts, 5);
    }
}
