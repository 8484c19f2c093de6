//! What `codex exec` can do.

use roost_model::runtime::{CancellationModel, McpSupport, PermissionModel, RuntimeCapabilities, ToolExecutionModel};

/// The app server's capabilities without those that need an answer from the host while a turn runs.
pub(in crate::codex) fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities {
        supports_streaming: false,
        supports_parallel_tool_calls: false,
        // A stop kills the process: `codex exec` takes no message that would end the turn.
        supports_stop: false,
        tool_execution_model: ToolExecutionModel::RuntimeInternal,
        permission_model: PermissionModel::Runtime,
        // Calls to MCP servers would need approvals.
        mcp_support: McpSupport::None,
        mcp_transports: None,
        cancellation_model: CancellationModel::BestEffort,
        ..crate::codex::capabilities::capabilities()
    }
}
