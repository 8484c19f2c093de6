//! Tool calls: identity, manifest, policy and sandbox (seed 001).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::canonical;
use crate::ids::ToolCallId;
use crate::json::present;
use crate::mode::{Mode, PermissionMode};

/// One attempt at a tool call. A decision about it counts for no other attempt and no other input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCallIdentity {
    /// Roost's id for the call, the same over all attempts.
    pub tool_call_id: ToolCallId,
    /// The runtime's own id for the call; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime_tool_call_id: Option<String>,
    /// Counts attempts at the same call from 1: a replay or retry has the next number.
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub attempt: u32,
    /// `sha256:<hex>` of the canonical JSON of the input, even where the event shows it shortened.
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

/// Who ran a tool. `codesdk` is the seed's word for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolExecutedBy {
    /// Roost, on the host.
    Codesdk,
    /// The runtime itself.
    Runtime,
}

/// Where a tool ran. `codesdk` is the seed's word for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolExecutionEnv {
    /// In a container that the host started.
    CodesdkDocker,
    /// On the host, started by Roost.
    CodesdkHost,
    /// Inside the runtime or as its child.
    RuntimeInternal,
    /// The runtime does not say.
    Unknown,
}

/// How much harm a tool call can do, the least first. A call that does several things has the worst class of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ToolClass {
    /// Only reads, so no mode asks about it.
    #[serde(alias = "read_only")]
    ReadOnly,
    /// Changes files, or runs a program of which nothing worse is known.
    Write,
    /// Sends something to, or fetches something from, another machine.
    Network,
    /// Cannot be undone, reaches beyond the workspace, or is not known.
    Dangerous,
}

/// A layer of the policy that judges a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PolicySource {
    /// The rules of the runtime itself.
    Runtime,
    /// The rules of Roost; `codesdk` is the seed's word for the host.
    Codesdk,
    /// A person who was asked.
    User,
}

/// What one layer decides about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PolicyResult {
    /// The call may run, as far as this layer is concerned.
    Allow,
    /// The call may not run.
    Deny,
    /// A person must decide.
    Ask,
}

/// The final decision about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PolicyDecision {
    /// The call may run.
    Allow,
    /// The call may not run.
    Deny,
}

/// What one layer of the policy decided about a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolPolicyEvaluation {
    /// The layer that decided.
    pub source: PolicySource,
    /// What it decided.
    pub result: PolicyResult,
    /// Name of the rule that matched; absent if none has a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// The policy as it stood when a tool call was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolPolicySnapshot {
    /// The session's mode in the seed's three words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// The session's mode in Roost's five words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The final decision.
    pub decision: PolicyDecision,
    /// The decision of every layer, in the order in which they were asked.
    pub sources: Vec<ToolPolicyEvaluation>,
}

/// The limits of the sandbox that a tool ran in. A field is absent if it is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolSandboxSummary {
    /// Whether it could use the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<bool>,
    /// Time limit in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Paths of the disk that it could see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mounts: Option<Vec<String>>,
}

/// A tool that is offered to a runtime.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolManifestEntry {
    /// Name by which the runtime calls it.
    pub name: String,
    /// What it does, for the model; absent if there is no description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// JSON Schema of its arguments, or what the runtime uses instead; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub input_schema: Option<Value>,
    /// `sha256:<hex>` of the schema's canonical JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_hash: Option<String>,
}

/// The tools that are offered to a runtime for a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolManifest {
    /// The tools in the order in which they are offered.
    pub tools: Vec<ToolManifestEntry>,
}
