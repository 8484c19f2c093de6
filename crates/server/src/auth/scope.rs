//! What a device may do.

use serde::{Deserialize, Serialize};

/// What a device may do; each includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Look.
    Observe,
    /// Steer agents.
    #[default]
    Operate,
    /// Change the host.
    Admin,
}
