//! What Codex can do, as seen with the pinned version.

use roost_model::runtime::{PermissionModel, RuntimeCapabilities, ToolExecutionModel};

use crate::host::capabilities::of_coding_agent;

/// The capabilities of Codex.
pub(super) fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities {
        tool_execution_model: ToolExecutionModel::Hybrid,
        // Commands, changes of files and tools of servers ask; searches of the web and looks at images do not.
        permission_model: PermissionModel::Hybrid,
        ..of_coding_agent()
    }
}
