//! What Codex can do when it is run by `codex exec`.

use roost_model::runtime::{CancellationModel, McpSupport, PermissionModel, RuntimeCapabilities, ToolExecutionModel};

/// The capabilities of the fallback: what the app server has, without all that needs a word back.
pub(in crate::codex) fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities {
        supports_streaming: false,
        supports_parallel_tool_calls: false,
        // A stop ends the process; there is nobody to listen.
        supports_stop: false,
        tool_execution_model: ToolExecutionModel::RuntimeInternal,
        permission_model: PermissionModel::Runtime,
        // Tools of servers would have to be asked about.
        mcp_support: McpSupport::None,
        mcp_transports: None,
        cancellation_model: CancellationModel::BestEffort,
        ..crate::codex::capabilities::capabilities()
    }
}
