//! A tool call from its request to its result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::ArtifactRef;
use crate::json::present;
use crate::tool::{
    PolicyResult, PolicySource, ToolCallIdentity, ToolExecutedBy, ToolExecutionEnv, ToolPolicySnapshot,
    ToolSandboxSummary,
};

/// What a tool does, as far as its runtime tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Reads.
    Read,
    /// Changes a file.
    Edit,
    /// Deletes a file.
    Delete,
    /// Moves a file.
    Move,
    /// Searches.
    Search,
    /// Runs a command.
    Execute,
    /// Thinks.
    Think,
    /// Fetches from the network.
    Fetch,
    /// Changes the session's mode.
    SwitchMode,
    /// Something else.
    Other,
}

payload! {
    /// `tool.call.requested`: the agent wants a tool to run.
    ToolCallRequestedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// The tool.
        name: String,
        /// Its input; cut where it is big.
        input: Value,
        /// The whole of a big input.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        input_ref: Option<ArtifactRef>,
        /// A line for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// What it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<ToolKind>,
    }
}

payload! {
    /// `tool.call.policy_evaluated`: one layer's word.
    ToolCallPolicyEvaluatedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// Which layer.
        source: PolicySource,
        /// What it says.
        result: PolicyResult,
        /// Its rule's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
    }
}

payload! {
    /// `tool.call.approved`: the call may run.
    ToolCallApprovedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
    }
}

payload! {
    /// `tool.call.denied`: the call may not run.
    ToolCallDeniedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// The tool.
        name: String,
        /// Why, as the runtime was told.
        reason: String,
        /// The policy as it stood.
        policy_snapshot: ToolPolicySnapshot,
    }
}

payload! {
    /// `tool.call.started`: the tool runs.
    ToolCallStartedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
    }
}

/// A tool's output stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

payload! {
    /// `tool.output.delta`: a piece of a tool's output.
    ToolOutputDeltaPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// Which stream.
        stream: OutputStream,
        /// The piece.
        delta: String,
    }
}

payload! {
    /// `tool.output.completed`: a tool's whole output.
    ToolOutputCompletedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// Standard output.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdout: Option<String>,
        /// Standard error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stderr: Option<String>,
    }
}

payload! {
    /// `tool.call.completed`: the tool is done.
    ToolCallCompletedPayload {
        /// Which call.
        #[serde(flatten)]
        identity: ToolCallIdentity,
        /// The tool.
        name: String,
        /// Who ran it.
        executed_by: ToolExecutedBy,
        /// Where it ran.
        execution_env: ToolExecutionEnv,
        /// The policy as it stood.
        policy_snapshot: ToolPolicySnapshot,
        /// What its sandbox allowed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox: Option<ToolSandboxSummary>,
        /// A big result.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result_ref: Option<ArtifactRef>,
        /// A small result, or the start of a big one.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        result_preview: Option<Value>,
        /// It failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    }
}
