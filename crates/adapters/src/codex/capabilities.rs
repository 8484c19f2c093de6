//! What Codex can do by its app server, as seen with the pinned version.

use roost_model::runtime::{PermissionModel, RuntimeCapabilities, ToolExecutionModel};

use crate::host::capabilities::of_coding_agent;

/// The capabilities of the app server.
pub(super) fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities {
        tool_execution_model: ToolExecutionModel::Hybrid,
        // Commands, changes of files and MCP tools request approvals; web searches and image views do not.
        permission_model: PermissionModel::Hybrid,
        ..of_coding_agent()
    }
}
