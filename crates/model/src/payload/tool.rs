//! A tool call from its request to its result.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::ArtifactRef;
use crate::json::present;
use crate::tool::{
    PolicyResult, PolicySource, ToolCallIdentity, ToolExecutedBy, ToolExecutionEnv, ToolPolicySnapshot,
    ToolSandboxSummary,
};

/// What a tool does, according to its runtime. The policy does not rely on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Reads files or other data.
    Read,
    /// Creates or changes a file.
    Edit,
    /// Deletes a file.
    Delete,
    /// Moves or renames a file.
    Move,
    /// Searches files or the web.
    Search,
    /// Runs a command or code.
    Execute,
    /// Only reasons; it touches nothing.
    Think,
    /// Fetches from the network.
    Fetch,
    /// Changes the session's mode, for example leaves plan mode.
    SwitchMode,
    /// Anything else, or unknown.
    Other,
}

payload! {
    /// `tool.call.requested`: the agent wants to run a tool. Nothing runs yet.
    ToolCallRequestedPayload {
        /// The call and this attempt at it.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// The tool as the runtime names it.
        name: String,
        /// The tool's arguments. Above 8 KiB they are shortened here, and `input_ref` has them in full.
        input: Value,
        /// The complete arguments; absent if `input` is complete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_ref: Option<ArtifactRef>,
        /// The agent's own description of the call, not verified.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// What the runtime says the tool does; absent if it does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<ToolKind>,
    }
}

payload! {
    /// `tool.call.policy_evaluated`: the result of one layer of the policy.
    ToolCallPolicyEvaluatedPayload {
        /// The call and attempt that were judged.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// The layer that judged.
        source: PolicySource,
        /// What it decided; a later layer may be stricter.
        result: PolicyResult,
        /// Name of the rule that matched; absent if none has a name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
    }
}

payload! {
    /// `tool.call.approved`: the call may run, by policy or because a person allowed it.
    ToolCallApprovedPayload {
        /// The call and attempt that may run.
        #[serde(flatten)]
        identity: ToolCallIdentity,
    }
}

payload! {
    /// `tool.call.denied`: the call will not run.
    ToolCallDeniedPayload {
        /// The call and attempt that were denied.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// The tool as the runtime names it.
        name: String,
        /// The reason that the runtime was given.
        reason: String,
        /// The mode, rules and answers that led to the decision.
        policy_snapshot: ToolPolicySnapshot,
    }
}

payload! {
    /// `tool.call.started`: the tool is running.
    ToolCallStartedPayload {
        /// The call and attempt that run.
        #[serde(flatten)]
        identity: ToolCallIdentity,
    }
}

/// The output stream of a tool that runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OutputStream {
    /// Standard output, or the only stream of a runtime that does not tell them apart.
    Stdout,
    /// Standard error, where the runtime reports it apart.
    Stderr,
}

payload! {
    /// `tool.output.delta`: output of a tool while it runs.
    ToolOutputDeltaPayload {
        /// The call and attempt that wrote it.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// The stream that it was written to.
        stream: OutputStream,
        /// The text to append.
        delta: String,
    }
}

payload! {
    /// `tool.output.completed`: the complete output of a tool; the deltas before it are then obsolete.
    ToolOutputCompletedPayload {
        /// The call and attempt that wrote it.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// Everything on standard output; absent if the runtime does not report it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdout: Option<String>,
        /// Everything on standard error; absent if the runtime does not report it apart.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stderr: Option<String>,
    }
}

payload! {
    /// `tool.call.completed`: the tool ended, with success or not.
    ToolCallCompletedPayload {
        /// The call and attempt that ended.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// The tool as the runtime names it.
        name: String,
        /// Whether Roost or the runtime ran it.
        executed_by: ToolExecutedBy,
        /// The environment it ran in.
        execution_env: ToolExecutionEnv,
        /// The mode, rules and answers that allowed it.
        policy_snapshot: ToolPolicySnapshot,
        /// The limits of its sandbox; absent if it had none or the runtime does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox: Option<ToolSandboxSummary>,
        /// The complete result; absent if `result_preview` is complete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result_ref: Option<ArtifactRef>,
        /// The result, or if that is above 8 KiB, its first 512 characters.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        result_preview: Option<Value>,
        /// True if the tool failed; absent if the runtime does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    }
}
