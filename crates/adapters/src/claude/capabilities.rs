//! What Claude Code can do, as seen with the pinned version.

use roost_model::runtime::{
    AuthModel, CancellationModel, McpSupport, McpTransport, PermissionModel, ResumeModel, RuntimeCapabilities,
    RuntimeIsolationMode, RuntimeStateModel, ToolExecutionModel, ToolReplaySafety,
};

/// The capabilities of Claude Code under this adapter.
pub(super) fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities {
        supports_streaming: true,
        supports_tool_calls: true,
        // Calls that only read run at once, and then ask at once; all others come one after the other.
        supports_parallel_tool_calls: true,
        supports_stop: true,
        supports_artifacts: false,
        supports_session_create: true,
        supports_session_resume: true,
        supports_usage_reporting: true,
        supports_non_interactive: true,
        max_outstanding_tool_calls: None,
        auth_model: AuthModel::Both,
        // Its own tools, and the host's over MCP inside the control protocol.
        tool_execution_model: ToolExecutionModel::Hybrid,
        // A hook makes it ask about every single call.
        permission_model: PermissionModel::Codesdk,
        state_model: RuntimeStateModel::LocalDisk,
        resume_model: ResumeModel::Native,
        tool_replay_safety: ToolReplaySafety::RequiresReapproval,
        mcp_support: McpSupport::ClientOnly,
        mcp_transports: Some(vec![McpTransport::Stdio, McpTransport::Http]),
        cancellation_model: CancellationModel::BestEffort,
        supported_isolation_modes: vec![RuntimeIsolationMode::Subprocess],
        recommended_isolation_mode: RuntimeIsolationMode::Subprocess,
    }
}
