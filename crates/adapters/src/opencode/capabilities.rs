//! What OpenCode can do, as seen with the pinned version.

use roost_model::runtime::{McpSupport, PermissionModel, RuntimeCapabilities, RuntimeIsolationMode, RuntimeStateModel};

use crate::host::capabilities::of_coding_agent;

/// The capabilities of a server that Roost starts.
pub(super) fn capabilities() -> RuntimeCapabilities {
    RuntimeCapabilities {
        // Every tool requests a permission, except the one that asks the user a question.
        permission_model: PermissionModel::Hybrid,
        supported_isolation_modes: vec![RuntimeIsolationMode::Subprocess, RuntimeIsolationMode::ServerSide],
        ..of_coding_agent()
    }
}

/// The capabilities of a server that somebody else runs.
pub(super) fn for_external_server() -> RuntimeCapabilities {
    RuntimeCapabilities {
        state_model: RuntimeStateModel::ServerSide,
        // It has the MCP servers that it was started with, and takes none from a session.
        mcp_support: McpSupport::None,
        mcp_transports: None,
        supported_isolation_modes: vec![RuntimeIsolationMode::ServerSide],
        recommended_isolation_mode: RuntimeIsolationMode::ServerSide,
        ..capabilities()
    }
}
