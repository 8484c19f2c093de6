//! Tool calls: identity, manifest, policy and sandbox (seed 001).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::canonical;
use crate::ids::ToolCallId;
use crate::json::present;
use crate::mode::{Mode, PermissionMode};

/// Which tool call, which attempt at it, and with what input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallIdentity {
    /// Stable within Roost.
    pub tool_call_id: ToolCallId,
    /// The runtime's own id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_tool_call_id: Option<String>,
    /// From 1; counts replays and retries.
    #[schemars(range(min = 1))]
    pub attempt: u32,
    /// `sha256:<hex>` of the canonical input.
    pub input_hash: String,
}

impl ToolCallIdentity {
    /// The first attempt at a new call that the runtime knows under `native`.
    pub fn first(native: Option<String>, input: &Value) -> Self {
        Self {
            tool_call_id: ToolCallId::new(),
            runtime_tool_call_id: native,
            attempt: 1,
            input_hash: canonical::hash(input),
        }
    }
}

/// Who executed a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolExecutedBy {
    /// The host.
    Codesdk,
    /// The runtime.
    Runtime,
}

/// Where a tool ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolExecutionEnv {
    /// In a container of the host's.
    CodesdkDocker,
    /// In the host.
    CodesdkHost,
    /// Inside the runtime.
    RuntimeInternal,
    /// Nobody says.
    Unknown,
}

/// A layer that has a say about a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PolicySource {
    /// The runtime's own rules.
    Runtime,
    /// Roost's rules.
    Codesdk,
    /// A person.
    User,
}

/// What one layer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PolicyResult {
    /// It may run.
    Allow,
    /// It may not run.
    Deny,
    /// Somebody must be asked.
    Ask,
}

/// What was decided in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PolicyDecision {
    /// It may run.
    Allow,
    /// It may not run.
    Deny,
}

/// One layer's word on a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolPolicyEvaluation {
    /// Which layer.
    pub source: PolicySource,
    /// What it says.
    pub result: PolicyResult,
    /// Its rule's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// The policy as it stood when a tool call was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolPolicySnapshot {
    /// The mode in the seed's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// The mode in ours, which has more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// What was decided.
    pub decision: PolicyDecision,
    /// Every layer's word, in order.
    pub sources: Vec<ToolPolicyEvaluation>,
}

/// What a tool's sandbox allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolSandboxSummary {
    /// It had network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    /// How long it might take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// What it could see of the disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mounts: Option<Vec<String>>,
}

/// One tool shown to a runtime.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolManifestEntry {
    /// The tool's name.
    pub name: String,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its JSON schema, or what the runtime uses instead.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub input_schema: Option<Value>,
    /// `sha256:<hex>` of the canonical schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_hash: Option<String>,
}

/// The tools shown to a runtime for a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolManifest {
    /// The tools.
    pub tools: Vec<ToolManifestEntry>,
}
