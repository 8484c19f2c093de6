//! What OpenCode can do, as seen with the pinned version.

use roost_model::runtime::{
    AuthModel, CancellationModel, McpSupport, McpTransport, PermissionModel, ResumeModel, RuntimeCapabilities,
    RuntimeIsolationMode, RuntimeStateModel, ToolExecutionModel, ToolReplaySafety,
};

/// The capabilities of OpenCode, where Roost starts its servers.
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
        tool_execution_model: ToolExecutionModel::RuntimeInternal,
        // Every tool asks but the one that puts questions to the user.
        permission_model: PermissionModel::Hybrid,
        state_model: RuntimeStateModel::LocalDisk,
        resume_model: ResumeModel::Native,
        tool_replay_safety: ToolReplaySafety::RequiresReapproval,
        mcp_support: McpSupport::ClientOnly,
        mcp_transports: Some(vec![McpTransport::Stdio, McpTransport::Http]),
        cancellation_model: CancellationModel::BestEffort,
        supported_isolation_modes: vec![RuntimeIsolationMode::Subprocess, RuntimeIsolationMode::ServerSide],
        recommended_isolation_mode: RuntimeIsolationMode::Subprocess,
    }
}

/// The capabilities of a server that somebody else runs.
pub(super) fn of_external() -> RuntimeCapabilities {
    RuntimeCapabilities {
        state_model: RuntimeStateModel::ServerSide,
        // It has those that it was started with, and takes none of a session's.
        mcp_support: McpSupport::None,
        mcp_transports: None,
        supported_isolation_modes: vec![RuntimeIsolationMode::ServerSide],
        recommended_isolation_mode: RuntimeIsolationMode::ServerSide,
        ..capabilities()
    }
}
