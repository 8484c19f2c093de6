//! Logins at remote services that wait for their person.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::Mutex;
use roost_model::ids::ServiceId;
use tokio::time::Instant;
use url::{Host, Url};
use uuid::Uuid;

use crate::principal::Principal;
use crate::upstream::PendingLogin;

/// How long a person may take.
const PATIENCE: Duration = Duration::from_mins(10);
/// Logins that may wait at once; a further one takes the place of the oldest.
const MAX_WAITING: usize = 16;

/// The logins that were begun and not finished.
#[derive(Default)]
pub(super) struct WaitingLogins(Mutex<VecDeque<WaitingLogin>>);

/// One of them; only whoever began it can finish it.
struct WaitingLogin {
    id: String,
    service: ServiceId,
    principal: Principal,
    since: Instant,
    login: PendingLogin,
}

impl WaitingLogins {
    /// Keeps a login until it is finished; its id, which nobody can guess.
    pub(super) fn keep(&self, service: ServiceId, principal: Principal, login: PendingLogin) -> String {
        let id = Uuid::new_v4().to_string();
        let mut waiting = self.0.lock();
        waiting.retain(|one| one.since.elapsed() < PATIENCE);
        if waiting.len() >= MAX_WAITING {
            waiting.pop_front();
        }
        waiting.push_back(WaitingLogin { id: id.clone(), service, principal, since: Instant::now(), login });
        id
    }

    /// Takes the login of this id that this principal began at the service; each can be finished once.
    pub(super) fn take(&self, id: &str, service: &ServiceId, principal: &Principal) -> Option<PendingLogin> {
        let mut waiting = self.0.lock();
        waiting.retain(|one| one.since.elapsed() < PATIENCE);
        let is_it = |one: &WaitingLogin| one.id == id && one.service == *service && one.principal == *principal;
        let at = waiting.iter().position(is_it)?;
        waiting.remove(at).map(|one| one.login)
    }
}

/// Whether an address is one of the machine of the person's browser, where nobody else reads the answer.
pub(super) fn is_loopback(redirect_uri: &str) -> bool {
    let Ok(url) = Url::parse(redirect_uri) else { return false };
    let is_local = match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    url.scheme() == "http" && is_local
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn a_browser_is_sent_back_to_its_own_machine_only() {
        for address in ["http://127.0.0.1:4321/callback", "http://[::1]:1/", "http://localhost:80/callback"] {
            assert!(is_loopback(address), "{address}");
        }
        for address in [
            "https://evil.example/",
            "http://127.0.0.1.evil.example/",
            "http://127.0.0.1@evil.example/",
            "file:///x",
            "",
        ] {
            assert!(!is_loopback(address), "{address}");
        }
    }
}
