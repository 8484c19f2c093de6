//! What Claude Code can do, as seen with the pinned version.

use roost_model::runtime::{PermissionModel, RuntimeCapabilities, ToolExecutionModel};

use crate::host::capabilities::of_coding_agent;

/// The capabilities of Claude Code under this adapter.
pub(super) fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities {
        // Calls that only read run at once, and then ask at once; all others come one after the other.
        supports_parallel_tool_calls: true,
        // Its own tools, and the host's over MCP inside the control protocol.
        tool_execution_model: ToolExecutionModel::Hybrid,
        // A hook makes it ask about every single call.
        permission_model: PermissionModel::Codesdk,
        ..of_coding_agent()
    }
}
