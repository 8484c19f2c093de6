//! The capabilities of the Gemini CLI, as observed with the pinned version.

use roost_model::runtime::{PermissionModel, RuntimeCapabilities};

use crate::host::capabilities::of_coding_agent;

/// The capabilities of a coding agent, with those in which Gemini differs.
pub(super) fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities {
        // The calls of one answer are asked about and run one by one.
        supports_parallel_tool_calls: false,
        max_outstanding_tool_calls: Some(1),
        // Gemini asks about calls that change something, not about those that only read.
        permission_model: PermissionModel::Hybrid,
        ..of_coding_agent()
    }
}
