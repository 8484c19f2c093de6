//! The capabilities of Claude Code, as observed with the pinned version.

use roost_model::runtime::{PermissionModel, RuntimeCapabilities, ToolExecutionModel};

use crate::host::capabilities::of_coding_agent;

/// The capabilities of a coding agent, with those in which Claude Code differs.
pub(super) fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities {
        // Calls that only read are made in parallel, and are asked about in parallel; all others one by one.
        supports_parallel_tool_calls: true,
        // Its own tools, and the host's over MCP inside the control protocol.
        tool_execution_model: ToolExecutionModel::Hybrid,
        // A hook makes it ask about every single call.
        permission_model: PermissionModel::Codesdk,
        ..of_coding_agent()
    }
}
