//! On whose behalf a call is made.

use std::fmt;

use roost_model::ids::{DeviceId, SessionId};

/// On whose behalf a call is made. A connection to a service, and a login at one, belongs to exactly one of these.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Principal {
    /// The user of this machine, over the local socket.
    Local,
    /// A paired device, or a client that has a device's token.
    Device(DeviceId),
    /// An agent that Roost hosts, with the token of its session.
    Session(SessionId),
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => f.write_str("local"),
            Self::Device(id) => write!(f, "device:{id}"),
            Self::Session(id) => write!(f, "session:{id}"),
        }
    }
}
