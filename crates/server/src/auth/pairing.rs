//! What a new device needs to know, and everything that decides about devices in one place.

use std::net::SocketAddr;

use roost_proto::rpc::{PairResult, Scope};

use super::{AuthError, Devices, LocalSecret};

/// Everything that decides about who may come in.
pub struct Auth {
    /// The devices that may.
    pub devices: Devices,
    /// What proves that somebody sits at this machine.
    pub secret: LocalSecret,
    /// Where new devices are to go.
    pub pairing: PairInfo,
}

/// Where clients reach this daemon, and what it calls itself.
#[derive(Clone, Debug)]
pub struct PairInfo {
    /// Where TCP is listened on; `None` means only on the local socket.
    pub address: Option<SocketAddr>,
    /// Connections are encrypted.
    pub is_tls: bool,
    /// The URL that clients reach it under, where that is not the address.
    pub external_url: Option<String>,
    /// This run of the daemon.
    pub session: String,
    /// The default workspace's name.
    pub repo: String,
    /// Clients need a token.
    pub auth_required: bool,
    /// The certificate's SHA-256, where it is self-signed.
    pub fingerprint: Option<String>,
}

impl PairInfo {
    /// Where requests are sent to.
    pub fn http(&self) -> Option<String> {
        if let Some(url) = &self.external_url {
            return Some(url.trim_end_matches('/').to_owned());
        }
        let scheme = if self.is_tls { "https" } else { "http" };
        self.address.map(|address| format!("{scheme}://{address}"))
    }

    /// Where a WebSocket is opened, for requests that go to this address.
    pub fn ws(http: &str) -> String {
        // `http` becomes `ws` and `https` becomes `wss`.
        format!("ws{}/ws", http.strip_prefix("http").unwrap_or(http))
    }
}

impl Auth {
    /// Makes what a new device needs to be paired: a token, a code, and the page that shows both.
    pub async fn offer(&self, scope: Scope) -> Result<PairResult, AuthError> {
        let offered = self.devices.pairing_token(scope).await?;
        let code = self.devices.code(scope).await?;
        let http = self.pairing.http().unwrap_or_default();
        Ok(PairResult {
            ws: PairInfo::ws(&http),
            page: format!("{http}/pair#{}", self.secret.one_time()?),
            http,
            session: self.pairing.session.clone(),
            repo: self.pairing.repo.clone(),
            token: offered.token.reveal().to_owned(),
            token_expires_at: offered.expires_at,
            code: code.digits,
            fingerprint: self.pairing.fingerprint.clone(),
        })
    }
}
