//! What OpenCode can do, as seen with the pinned version.

use roost_model::runtime::{McpSupport, PermissionModel, RuntimeCapabilities, RuntimeIsolationMode, RuntimeStateModel};

use crate::host::capabilities::of_coding_agent;

/// The capabilities of OpenCode, where Roost starts its servers.
pub(super) fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities {
        // Every tool asks but the one that puts questions to the user.
        permission_model: PermissionModel::Hybrid,
        supported_isolation_modes: vec![RuntimeIsolationMode::Subprocess, RuntimeIsolationMode::ServerSide],
        ..of_coding_agent()
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
