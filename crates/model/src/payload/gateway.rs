//! Events about the MCP gateway.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::{RunId, ServiceId, SessionId, ToolCallId};
use crate::json::present;
use crate::tool::ToolPolicyEvaluation;

payload! {
    /// `mcp.tool_called`: a tool call through the MCP gateway is over, or was denied. One event per call.
    McpToolCalledPayload {
        /// On whose behalf: `local`, `device:<id>` or `session:<id>`.
        principal: String,
        /// What the client calls itself, not verified; absent if it does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        /// The service that runs the tool; absent for the gateway's own tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        service_id: Option<ServiceId>,
        /// The name under which the client sees the tool.
        tool: String,
        /// The name by which the service knows the tool.
        routed_tool: String,
        /// True if the service gave a result that is no error.
        success: bool,
        /// Why not, without arguments or results; absent after a success.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The evaluation that decided: the policy's, or a person's answer.
        policy: ToolPolicyEvaluation,
        /// Microseconds from the permit to the answer; 0 for a call that was denied.
        duration_us: u64,
        /// Bytes of the arguments.
        request_bytes: u64,
        /// Bytes of the answer; 0 for a call that was denied.
        response_bytes: u64,
        /// The session that shows the call; absent if no session does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// The call in that session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ToolCallId>,
        /// The run that the client names; absent if it names none, and for a hosted agent, whose session is its run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_id: Option<RunId>,
        /// The trace that the client named in `traceparent`; absent if it named none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace_id: Option<String>,
        /// The client's span within that trace.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent_span_id: Option<String>,
        /// The arguments; absent unless the configuration asks for them.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        arguments: Option<Value>,
    }
}

/// What a run may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BudgetKind {
    /// Tool calls: all of a hosted agent's, those through the gateway of others.
    Calls,
    /// Tokens that models read and wrote.
    Tokens,
    /// Cost of models in US dollars.
    CostUsd,
}

payload! {
    /// `mcp.budget_exceeded`: a run has used up what it may. A hosted agent's task is stopped, or a person is asked; others
    /// are denied their next tool calls. Recorded again, with `raised`, when a person gave the run as much again.
    McpBudgetExceededPayload {
        /// The run; for a hosted agent the id of its session.
        run_id: RunId,
        /// What it has used up.
        budget: BudgetKind,
        /// How much it has used.
        spent: f64,
        /// How much it may use.
        limit: f64,
        /// Whether a person then gave the run as much again as every limit says; absent if not.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        raised: bool,
    }
}
