//! Who may use this host: pairing, tokens and devices.
//!
//! * A **pairing token** (or six digits that become one) is shown on the host's own screen and exchanged once.
//! * A **device** is what came of an exchange. It proves itself with a short-lived access token and gets the next one
//!   with a refresh token that works once; one that comes again later was stolen, and the device is revoked.
//! * A **program** is a device with one access token that lives long and is not refreshed; nobody pairs it.
//! * The **local secret** is known only to who can read the state directory. What shows a token or approves a device
//!   needs it besides a loopback peer, because a tunnel on the host makes everybody a loopback peer.
//!
//! Tokens are stored as hashes, in rows and never in events; what is answered was stored before.

mod access_tokens;
mod approval;
mod code;
mod device;
mod devices;
mod endpoint;
mod error;
mod local_secret;
mod offer;
mod peer;
mod qr;
mod routes;
mod token;

use std::sync::Arc;
use std::time::Duration;

use roost_model::time::Timestamp;
use roost_rpc::{PairResult, Scope};

pub use access_tokens::{Client, CloseReason};
pub use approval::PendingRequest;
pub use code::{Code, CodeEnd};
pub use device::{DeviceFacts, PairedDevice, ProgramToken, TokenPair};
pub use devices::{Devices, ExchangeOutcome, PairingLocks};
pub use endpoint::Endpoint;
pub use error::AuthError;
pub use local_secret::LocalSecret;
pub use offer::PairingToken;
pub use peer::LOCAL_HEADER;
pub use routes::routes;
pub use token::{Token, TokenHash, TokenKind};

/// The source of the current time; tests set their own.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How devices are paired: the lifetime of pairing tokens, and whether somebody must approve.
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

/// Authentication as the transports use it.
pub struct Auth {
    /// The paired devices, their tokens, and the requests that wait for approval.
    pub devices: Devices,
    /// The secret that proves that a client runs at the host.
    pub local: LocalSecret,
    /// What a client learns about this daemon when it pairs.
    pub endpoint: Endpoint,
}

impl Auth {
    /// Creates what a new device needs to be paired. `host` is the name and port by which the caller addressed us, if
    /// known.
    pub async fn offer(&self, scope: Scope, host: Option<&str>) -> Result<PairResult, AuthError> {
        let urls = self.endpoint.urls(host).ok_or(AuthError::NotServed)?;
        let page = self.endpoint.page(&self.local.one_time(scope)?).ok_or(AuthError::NotServed)?;
        let offered = self.devices.pairing_token(scope).await?;
        let code = self.devices.code(scope).await?;
        Ok(PairResult {
            link: urls.link(&code.digits),
            ws: urls.ws,
            http: urls.http,
            session: self.endpoint.session.clone(),
            repo: self.endpoint.repo.clone(),
            token: offered.token.reveal().to_owned(),
            token_expires_at: offered.expires_at,
            code: code.digits,
            code_expires_at: code.expires_at,
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
