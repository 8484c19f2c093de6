//! The daemon itself: its devices, its pairing, its end. Only for the local door and administrators.

use std::fmt;

use roost_model::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scope;

wire! {
    /// A device that was paired.
    Device {
        /// Its id.
        device_id: String,
        /// Its name.
        name: String,
        /// What it may do.
        scope: Scope,
        /// Since when.
        paired_at: Timestamp,
        /// When it was last heard of.
        #[serde(skip_serializing_if = "Option::is_none")]
        last_seen: Option<Timestamp>,
        /// Where it was paired from.
        #[serde(skip_serializing_if = "Option::is_none")]
        remote_addr: Option<String>,
        /// When it must have been heard of again.
        expires_at: Timestamp,
        /// Its open connections.
        connections: u64,
    }
}

wire! {
    /// All devices.
    DeviceListResult {
        /// Them.
        devices: Vec<Device>,
    }
}

params! {
    /// A device to forget.
    DeviceRevokeParams {
        /// Which.
        device_id: String,
        ;
    }
}

params! {
    /// How a new device may be paired.
    #[derive(Default)]
    PairParams {
        ;
        /// What it may do; operate if absent.
        scope: Scope,
    }
}

wire! {
    /// What a device needs to be paired; what the QR code holds, and more.
    PairResult {
        /// Where to connect to.
        ws: String,
        /// Where to send requests to.
        http: String,
        /// This run of the daemon.
        session: String,
        /// The default workspace's name.
        repo: String,
        /// To be exchanged once.
        token: String,
        /// Until when.
        token_expires_at: Timestamp,
        /// The same as six digits, for typing.
        code: String,
        /// The page that shows all this.
        page: String,
        /// The certificate's SHA-256, where it is self-signed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fingerprint: Option<String>,
    }
}

wire! {
    /// The daemon as the local door sees it.
    DaemonStatus {
        /// Its process.
        pid: u32,
        /// Roost's version.
        version: String,
        /// Where it listens; absent if only on the local socket.
        #[serde(skip_serializing_if = "Option::is_none")]
        address: Option<String>,
        /// How long it runs.
        uptime_seconds: u64,
        /// Clients that are connected now, this one included.
        clients: u64,
        /// Sessions with a running task.
        running_tasks: u64,
        /// What waits for an answer.
        pending: u64,
        /// Devices that are paired.
        devices: u64,
        /// Addresses that sent too many wrong tries of the pairing code that was shown last; of IPv6 their networks.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        locked_addresses: Vec<String>,
        /// They were so many that the pairing code is no longer good.
        #[serde(default)]
        code_withdrawn: bool,
        /// It was started by a client and leaves by itself.
        auto_started: bool,
        /// Whether events can be stored.
        log: String,
    }
}

impl DaemonStatus {
    /// What [`DaemonStatus::log`] says, for programs; people read the text.
    pub fn log_health(&self) -> LogHealth {
        LogHealth::from(self.log.as_str())
    }
}

/// Whether the daemon's log can be written, with the reason why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogHealth {
    /// Events are stored.
    Ok,
    /// Not now; nothing is lost, and agents wait.
    Stalled(String),
    /// Not until the daemon is started again.
    Failed(String),
}

const STALLED: &str = "stalled: ";
const FAILED: &str = "failed: ";

impl fmt::Display for LogHealth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => f.write_str("ok"),
            Self::Stalled(reason) => write!(f, "{STALLED}{reason}"),
            Self::Failed(reason) => write!(f, "{FAILED}{reason}"),
        }
    }
}

impl From<&str> for LogHealth {
    /// A word that this version does not know is a stall: the daemon of another version says that something is wrong.
    fn from(text: &str) -> Self {
        match (text.strip_prefix(STALLED), text.strip_prefix(FAILED)) {
            (Some(reason), _) => Self::Stalled(reason.into()),
            (None, Some(reason)) => Self::Failed(reason.into()),
            (None, None) if text == "ok" => Self::Ok,
            (None, None) => Self::Stalled(text.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_health_of_the_log_survives_being_text() {
        for health in [LogHealth::Ok, LogHealth::Stalled("the disk is full".into()), LogHealth::Failed("gone".into())] {
            assert_eq!(LogHealth::from(health.to_string().as_str()), health);
        }
        assert_eq!(LogHealth::from("asleep"), LogHealth::Stalled("asleep".into()));
    }
}
