//! What a caller may do, from a hosted agent's own process up to the owner of the host.

use serde::{Deserialize, Serialize};

/// What a client may do. Each scope includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// A hosted agent: look at its own session, and use tools of the MCP gateway. The local door gives it by what it sees,
    /// and `/mcp` by the token of the session; nobody can ask for it and no device can have it, so it cannot be read from
    /// the wire.
    #[serde(skip_deserializing)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Agent,
    /// Read everything, change nothing.
    Observe,
    /// Also prompt, stop and answer agents, and change repositories.
    #[default]
    Operate,
    /// Also manage devices, pairing and the daemon itself.
    Admin,
}
