//! What the Gemini CLI can do, as seen with the pinned version.

use roost_model::runtime::{PermissionModel, RuntimeCapabilities};

use crate::host::capabilities::of_coding_agent;

/// Its capabilities.
pub(super) fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities {
        // Calls of one answer are asked about and run one after the other.
        supports_parallel_tool_calls: false,
        max_outstanding_tool_calls: Some(1),
        // What changes something asks; what only reads does not.
        permission_model: PermissionModel::Hybrid,
        ..of_coding_agent()
    }
}
