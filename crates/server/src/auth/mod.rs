//! Who may use this host: pairing, tokens and devices.
//!
//! * A **pairing token** (or six digits that become one) is shown on the host's own screen and exchanged once.
//! * A **device** is what came of an exchange. It proves itself with a short-lived access token and gets the next one
//!   with a refresh token that works once; one that comes again later was stolen, and the device is revoked.
//! * The **local secret** is known only to who can read the state directory. What shows a token or approves a device
//!   needs it besides a loopback peer, because a tunnel on the host makes everybody a loopback peer.
//!
//! Tokens are stored as hashes, in rows and never in events; what is answered was stored before.

mod approval;
mod code;
mod device;
mod devices;
mod endpoint;
mod error;
mod live;
mod local_secret;
mod offer;
mod page;
mod peer;
mod qr;
mod routes;
mod token;

use std::sync::Arc;
use std::time::Duration;

use roost_model::time::Timestamp;
use roost_rpc::{PairResult, Scope};

pub use approval::PendingRequest;
pub use code::Code;
pub use device::{DeviceFacts, PairedDevice, TokenPair};
pub use devices::{Devices, Exchanged, PairingLocks};
pub use endpoint::Endpoint;
pub use error::AuthError;
pub use live::{Client, Ended};
pub use local_secret::LocalSecret;
pub use offer::Offered;
pub use peer::LOCAL_HEADER;
pub use routes::routes;
pub use token::{Token, TokenHash, TokenKind};

/// What time it is; tests have their own.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How devices are let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long a pairing token can be exchanged.
    pub pairing_ttl: Duration,
    /// Somebody at the host must approve each device.
    pub require_approval: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { pairing_ttl: Duration::from_secs(3600), require_approval: false }
    }
}

/// Everything about who may come in, as the doors use it.
pub struct Auth {
    /// The devices that may.
    pub devices: Devices,
    /// What proves that somebody is at the host.
    pub local: LocalSecret,
    /// What pairing tells of this daemon.
    pub endpoint: Endpoint,
}

impl Auth {
    /// What a new device needs to be paired, for whoever addressed us by this name and port.
    pub async fn offer(&self, scope: Scope, host: Option<&str>) -> Result<PairResult, AuthError> {
        let urls = self.endpoint.urls(host).ok_or(AuthError::NotServed)?;
        let page = self.endpoint.page(&self.local.one_time()?).ok_or(AuthError::NotServed)?;
        let offered = self.devices.pairing_token(scope).await?;
        Ok(PairResult {
            ws: urls.ws,
            http: urls.http,
            session: self.endpoint.session.clone(),
            repo: self.endpoint.repo.clone(),
            token: offered.token.reveal().to_owned(),
            token_expires_at: offered.expires_at,
            code: self.devices.code(scope).await?.digits,
            page,
            fingerprint: self.endpoint.fingerprint.clone(),
        })
    }
}

/// The time this long after another.
fn after(time: Timestamp, duration: Duration) -> Timestamp {
    let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(time.as_millis().saturating_add(millis))
}
