//! The methods for the daemon itself: devices, pairing, status and stop. They need the scope `admin`, which the
//! local socket has.

use std::fmt;

use roost_model::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::Scope;

wire! {
    /// A paired device.
    Device {
        /// Id of the device.
        device_id: String,
        /// Name to show, from what it said of itself when it was paired.
        name: String,
        /// What it may do.
        scope: Scope,
        /// When it was paired.
        paired_at: Timestamp,
        /// When it last used a token; always present in this version.
        #[serde(skip_serializing_if = "Option::is_none")]
        last_seen: Option<Timestamp>,
        /// The address that it was paired from, without a port; absent if unknown.
        #[serde(skip_serializing_if = "Option::is_none")]
        remote_addr: Option<String>,
        /// When its refresh token expires. It must be paired again unless it refreshes before.
        expires_at: Timestamp,
        /// Number of its open connections.
        connections: u64,
    }
}

wire! {
    /// The paired devices.
    DeviceListResult {
        /// All paired devices.
        devices: Vec<Device>,
    }
}

params! {
    /// Parameters of `device/revoke`.
    DeviceRevokeParams {
        /// Id of the device, from `device/list`.
        device_id: String,
        ;
    }
}

params! {
    /// Parameters of `device/token`.
    DeviceTokenParams {
        /// Name under which the program is listed among the devices.
        name: String,
        ;
        /// What the program may do: `observe`, or `operate` if absent. Never `admin`.
        scope: Scope,
    }
}

wire! {
    /// The token of a program. It cannot be asked for again.
    DeviceTokenResult {
        /// Id of the program among the devices, for `device/revoke`.
        device_id: String,
        /// The token, for `Authorization: Bearer`. It is not refreshed.
        token: String,
        /// What it allows.
        scope: Scope,
        /// When it ends: a year after it was made, unless it is revoked before.
        expires_at: Timestamp,
    }
}

wire! {
    /// A device that waits for somebody to let it in.
    WaitingDevice {
        /// Id of its request, for `device/approve`.
        request_id: String,
        /// The address that it connects from; empty if unknown.
        remote_addr: String,
        /// What it calls itself in HTTP; empty if it says nothing.
        user_agent: String,
        /// The name that it gave itself; absent if it gave none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// When it first asked.
        created_at: Timestamp,
        /// When its request lapses.
        expires_at: Timestamp,
    }
}

wire! {
    /// The devices that wait; none unless `security.require_pairing_approval` is set.
    WaitingDevicesResult {
        /// The devices, by id of their requests.
        pending: Vec<WaitingDevice>,
        /// Number of devices.
        count: u64,
    }
}

params! {
    /// Parameters of `device/approve`.
    DeviceApproveParams {
        /// Id of the request, from `device/pending`.
        request_id: String,
        ;
        /// True turns the device away instead; false if absent.
        reject: bool,
    }
}

params! {
    /// Parameters of `pair/create`.
    #[derive(Default)]
    PairParams {
        ;
        /// What the new device may do; `operate` if absent. At most the scope of the caller.
        scope: Scope,
    }
}

wire! {
    /// What a device needs to be paired: the content of the QR code, and more.
    PairResult {
        /// Address of the WebSocket.
        ws: String,
        /// Base address for HTTP requests.
        http: String,
        /// Id of this run of the daemon; changes with every start.
        session: String,
        /// Name of the default workspace.
        repo: String,
        /// Pairing token, good for one `POST /api/auth/exchange`.
        token: String,
        /// When the pairing token expires.
        token_expires_at: Timestamp,
        /// Six digits to type instead of the token, for `POST /api/pair/code`; good for one device.
        code: String,
        /// When the code expires: 10 minutes after it was made. Making another code ends it at once.
        code_expires_at: Timestamp,
        /// Address that a phone's camera opens: the pairing page with the code filled in; absent if only this machine
        /// can reach the daemon.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        link: Option<String>,
        /// Address of a page on this machine that shows the QR code; it opens once.
        page: String,
        /// SHA-256 fingerprint of the certificate; absent unless it is self-signed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fingerprint: Option<String>,
    }
}

wire! {
    /// The state of the daemon, for its owner.
    DaemonStatus {
        /// Process id of the daemon.
        pid: u32,
        /// Version of Roost.
        version: String,
        /// Address and port that it listens on; absent if it has only the local socket.
        #[serde(skip_serializing_if = "Option::is_none")]
        address: Option<String>,
        /// Seconds since it started.
        uptime_seconds: u64,
        /// Clients that are connected now, including this one.
        clients: u64,
        /// Number of tasks that are running.
        running_tasks: u64,
        /// Number of approvals and questions that wait for an answer.
        pending: u64,
        /// Number of paired devices.
        devices: u64,
        /// Addresses (for IPv6, networks) that sent too many wrong codes since the last pairing code was shown; absent
        /// if none did.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        locked_addresses: Vec<String>,
        /// Whether wrong codes from all addresses together have made the pairing code invalid; false if absent.
        #[serde(default)]
        code_withdrawn: bool,
        /// Whether a client started it in the background, so that it stops by itself when it is no longer used.
        auto_started: bool,
        /// `ok`, or `stalled: ` or `failed: ` with the reason why events cannot be stored.
        log: String,
        /// Bytes that the log takes on its disk; absent from older daemons, or if they cannot be measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        log_bytes: Option<u64>,
        /// Bytes that are free on that disk; absent where `log_bytes` is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        free_bytes: Option<u64>,
    }
}

impl DaemonStatus {
    /// [`DaemonStatus::log`] as a value to match on.
    pub fn log_health(&self) -> LogHealth {
        LogHealth::from(self.log.as_str())
    }
}

/// Whether the daemon can write its log, and if not, why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogHealth {
    /// Events are stored.
    Ok,
    /// Events cannot be stored now, for example because the disk is full. Nothing is lost; agents wait.
    Stalled(String),
    /// Events cannot be stored until the daemon is restarted.
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
    /// An unknown word counts as a stall: a daemon of another version reports that something is wrong.
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
