//! What the Gemini CLI can do, as seen with the pinned version.

use roost_model::runtime::{
    AuthModel, CancellationModel, McpSupport, McpTransport, PermissionModel, ResumeModel, RuntimeCapabilities,
    RuntimeIsolationMode, RuntimeStateModel, ToolExecutionModel, ToolReplaySafety,
};

/// Its capabilities.
pub(super) fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities {
        supports_streaming: true,
        supports_tool_calls: true,
        // Calls of one answer are asked about and run one after the other.
        supports_parallel_tool_calls: false,
        supports_stop: true,
        supports_artifacts: false,
        supports_session_create: true,
        supports_session_resume: true,
        supports_usage_reporting: true,
        supports_non_interactive: true,
        max_outstanding_tool_calls: Some(1),
        auth_model: AuthModel::Both,
        tool_execution_model: ToolExecutionModel::RuntimeInternal,
        // What changes something asks; what only reads does not.
        permission_model: PermissionModel::Hybrid,
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
