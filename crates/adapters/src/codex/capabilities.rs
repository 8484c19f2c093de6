//! What Codex can do, as seen with the pinned version.

use roost_model::runtime::{
    AuthModel, CancellationModel, McpSupport, McpTransport, PermissionModel, ResumeModel, RuntimeCapabilities,
    RuntimeIsolationMode, RuntimeStateModel, ToolExecutionModel, ToolReplaySafety,
};

/// The capabilities of Codex.
pub(super) fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities {
        supports_streaming: true,
        supports_tool_calls: true,
        supports_parallel_tool_calls: true,
        supports_stop: true,
        supports_artifacts: false,
        supports_session_create: true,
        supports_session_resume: true,
        supports_usage_reporting: true,
        supports_non_interactive: true,
        max_outstanding_tool_calls: None,
        auth_model: AuthModel::Both,
        tool_execution_model: ToolExecutionModel::Hybrid,
        // Commands, changes of files and tools of servers ask; searches of the web and looks at images do not.
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
