//! The capabilities that Claude Code, Codex, Gemini and OpenCode have in common.

use roost_model::runtime::{
    AuthModel, CancellationModel, McpSupport, McpTransport, PermissionModel, ResumeModel, RuntimeCapabilities,
    RuntimeIsolationMode, RuntimeStateModel, ToolExecutionModel, ToolReplaySafety,
};

/// The defaults for a coding agent that runs its own tools on this machine, asks before it changes something, and keeps
/// its conversations on disk so that they can be resumed. An adapter overrides the fields in which its agent differs.
pub(crate) fn of_coding_agent() -> RuntimeCapabilities {
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
