//! Services of the MCP gateway: what is declared of them, and the states they can be in.

pub mod manifest;
pub mod wasm;

use serde::{Deserialize, Serialize};

/// Namespaces that only the gateway's own tools have.
pub const RESERVED_NAMESPACES: [&str; 2] = ["runtime", "clarity"];
/// Between a namespace and the name of a tool.
pub const NAMESPACE_SEPARATOR: &str = "__";

/// Where a service is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Lifecycle {
    /// It is declared and has never been started.
    Registered,
    /// A connection is being made, or a module compiled.
    Starting,
    /// The handshake is done: its tools can be called.
    Running,
    /// Somebody stopped it, and calls that are under way are being ended.
    Stopping,
    /// It does not run, because somebody stopped it or because its policy restarts nothing.
    Stopped,
    /// It ended unexpectedly or could not be reached; it may be started again by its policy.
    Crashed,
    /// It failed too often. Only a person brings it back.
    Quarantined,
}

/// What the last look at a service found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Health {
    /// Nobody has looked yet, or it does not run.
    Unknown,
    /// It answered the last probe, and in time.
    Healthy,
    /// It answers some requests and fails others.
    Degraded,
    /// It did not answer in time.
    Timeout,
    /// It refused our credentials.
    Unauthorized,
    /// No connection can be made, or it broke.
    Unreachable,
}
