//! The devices that may use this host, and how they come and go.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use roost_log::{Log, RowChange, RowKind};
use roost_model::event::NewEvent;
use roost_model::ids::DeviceId;
use roost_model::scope::Scope;
use roost_model::time::Timestamp;
use tokio::sync::{Mutex, watch};
use tokio::time::Instant;

use super::approval::{Requests, Verdict};
use super::code::{Current, Guess};
use super::device::{Device, Presented};
use super::live::Live;
use super::offer::{self, Offers};
use super::{
    AuthError, Client, Clock, Code, DeviceFacts, Offered, PairedDevice, PendingRequest, Settings, Token, TokenHash,
    TokenKind, TokenPair,
};

/// How long an exchange waits for somebody at the host.
const APPROVAL_WAIT: Duration = Duration::from_secs(25);

/// The devices that may use this host; clones are the same.
#[derive(Clone)]
pub struct Devices {
    inner: Arc<Inner>,
}

struct Inner {
    log: Arc<dyn Log>,
    clock: Clock,
    settings: Settings,
    state: Mutex<State>,
    live: Live,
}

/// What the rows say, and what need not survive a restart.
#[derive(Default)]
struct State {
    devices: BTreeMap<DeviceId, Device>,
    offers: Offers,
    requests: Requests,
    code: Option<Current>,
}

/// What came of an exchange.
#[derive(Clone, Debug)]
pub enum Exchanged {
    /// The device is paired.
    Granted(TokenPair),
    /// Nobody has answered yet; the same token may be tried again.
    Pending {
        /// What is to be answered.
        request_id: String,
        /// When the request lapses if nobody answers it.
        expires_at: Timestamp,
    },
}

/// Who was locked after wrong tries of a pairing code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairingLocks {
    /// The addresses; of IPv6 their networks.
    pub addresses: Vec<IpAddr>,
    /// They were so many that the code itself is no longer good.
    pub code_withdrawn: bool,
}

/// What came of one look at the state.
enum Attempt {
    Granted(TokenPair),
    Waiting { request_id: String, expires_at: Timestamp, verdict: watch::Receiver<Verdict> },
}

impl Devices {
    /// The devices that the log knows.
    pub async fn load(log: Arc<dyn Log>, clock: Clock, settings: Settings) -> Result<Self, AuthError> {
        let mut devices = BTreeMap::new();
        for (id, body) in log.rows(RowKind::Device).await? {
            match serde_json::from_str::<Device>(&body) {
                Ok(device) => _ = devices.insert(device.id.clone(), device),
                Err(error) => tracing::warn!(%id, %error, "A device cannot be read; it has to be paired again."),
            }
        }
        let offers = Offers::load(log.rows(RowKind::Secret).await?);
        let state = State { devices, offers, ..State::default() };
        let inner = Inner { log, clock, settings, state: Mutex::new(state), live: Live::default() };
        let mut state = inner.state.lock().await;
        let expired = state.expired(inner.now());
        inner.end(&mut state, expired, "it was not used for too long").await?;
        state.devices.values().for_each(|device| inner.live.admit(device));
        drop(state);
        Ok(Self { inner: Arc::new(inner) })
    }

    /// How devices are let in.
    pub fn settings(&self) -> Settings {
        self.inner.settings
    }

    /// What time it is for them.
    pub fn now(&self) -> Timestamp {
        self.inner.now()
    }

    /// Who has this access token. Waits for nobody.
    pub fn authenticate(&self, access_token: &str) -> Result<Client, AuthError> {
        let token = Token::read(TokenKind::Access, access_token).ok_or(AuthError::AccessToken)?;
        self.inner.live.client(token.hash(), &self.inner.clock)
    }

    /// A new pairing token that grants this.
    pub async fn pairing_token(&self, scope: Scope) -> Result<Offered, AuthError> {
        self.finish(move |inner| async move { inner.offer(&mut *inner.state.lock().await, scope).await }).await
    }

    /// A new pairing code that grants this; the one before is no longer good.
    pub async fn code(&self, scope: Scope) -> Result<Code, AuthError> {
        let code = Current::new(scope, self.inner.now())?;
        let shown = code.shown();
        self.inner.state.lock().await.code = Some(code);
        Ok(shown)
    }

    /// Uses up the pairing code; what comes back can be exchanged. A wrong one counts against this address.
    pub async fn redeem_code(&self, digits: &str, from: IpAddr) -> Result<Offered, AuthError> {
        let digits = digits.to_owned();
        self.finish(move |inner| async move {
            let mut state = inner.state.lock().await;
            let guess = state.code.as_mut().ok_or(AuthError::Code)?.guess(&digits, from, inner.now())?;
            match guess {
                Guess::Right(scope) => {
                    state.code = None;
                    inner.offer(&mut state, scope).await
                }
                Guess::Wrong(locked) => {
                    if let Some(locked) = locked {
                        tracing::warn!(
                            address = locked.address,
                            wrong_tries = locked.wrong_tries,
                            code_withdrawn = locked.code_withdrawn,
                            "An address is locked after wrong pairing codes."
                        );
                        inner.keep(Vec::new(), vec![NewEvent::of_host(inner.now(), locked)]).await?;
                    }
                    Err(AuthError::Code)
                }
            }
        })
        .await
    }

    /// Who was locked after wrong tries of the code that was shown last.
    pub async fn locks(&self) -> PairingLocks {
        let state = self.inner.state.lock().await;
        let code = state.code.as_ref();
        PairingLocks {
            addresses: code.into_iter().flat_map(Current::locked).collect(),
            code_withdrawn: code.is_some_and(Current::is_withdrawn),
        }
    }

    /// Pairs a device; where somebody has to approve it, waits a while for that.
    pub async fn exchange(&self, pairing_token: &str, facts: DeviceFacts) -> Result<Exchanged, AuthError> {
        let token = Token::read(TokenKind::Pairing, pairing_token).ok_or(AuthError::PairingToken)?.hash();
        let (facts, deadline) = (facts.tidy(), Instant::now() + APPROVAL_WAIT);
        loop {
            let facts = facts.clone();
            let attempt = self.finish(move |inner| async move { inner.exchange(token, facts).await }).await?;
            let (request_id, expires_at, mut verdict) = match attempt {
                Attempt::Granted(pair) => return Ok(Exchanged::Granted(pair)),
                Attempt::Waiting { request_id, expires_at, verdict } => (request_id, expires_at, verdict),
            };
            let answered = verdict.wait_for(|verdict| *verdict != Verdict::Waiting);
            if tokio::time::timeout_at(deadline, answered).await.is_err() {
                return Ok(Exchanged::Pending { request_id, expires_at });
            }
        }
    }

    /// The devices that wait for approval, oldest first.
    pub async fn pending(&self) -> Vec<PendingRequest> {
        self.inner.state.lock().await.requests.waiting(self.inner.now())
    }

    /// Lets a device in that waits.
    pub async fn approve(&self, request_id: &str) -> Result<(), AuthError> {
        self.inner.state.lock().await.requests.answer(request_id, Verdict::Approved, self.inner.now())
    }

    /// Does not let a device in that waits.
    pub async fn reject(&self, request_id: &str) -> Result<(), AuthError> {
        self.inner.state.lock().await.requests.answer(request_id, Verdict::Rejected, self.inner.now())
    }

    /// The next tokens for a refresh token, which is used up by it.
    pub async fn refresh(&self, refresh_token: &str) -> Result<TokenPair, AuthError> {
        let token = Token::read(TokenKind::Refresh, refresh_token).ok_or(AuthError::RefreshToken)?;
        self.finish(move |inner| async move { inner.refresh(&token).await }).await
    }

    /// Ends the device of this refresh token.
    pub async fn revoke(&self, refresh_token: &str) -> Result<DeviceId, AuthError> {
        let token = Token::read(TokenKind::Refresh, refresh_token).ok_or(AuthError::RefreshToken)?;
        self.finish(move |inner| async move {
            let mut state = inner.state.lock().await;
            let (device, _) = state.owner(&token, inner.now()).ok_or(AuthError::RefreshToken)?;
            let id = device.id.clone();
            inner.end(&mut state, vec![device], "it disconnected for good").await?;
            Ok(id)
        })
        .await
    }

    /// Ends a device.
    pub async fn revoke_device(&self, id: &DeviceId) -> Result<(), AuthError> {
        let id = id.clone();
        self.finish(move |inner| async move {
            let mut state = inner.state.lock().await;
            let device = state.devices.get(&id).cloned().ok_or_else(|| AuthError::UnknownDevice(id.to_string()))?;
            inner.end(&mut state, vec![device], "somebody revoked it").await
        })
        .await
    }

    /// Ends all devices, pairing tokens, codes and requests; the number of devices.
    pub async fn revoke_all(&self) -> Result<usize, AuthError> {
        self.finish(move |inner| async move {
            let mut state = inner.state.lock().await;
            let devices: Vec<_> = state.devices.values().cloned().collect();
            let (mut changes, events) = ended(&devices, "somebody revoked all devices", inner.now());
            changes.extend(state.offers.deleted());
            inner.keep(changes, events).await?;
            devices.iter().for_each(|device| inner.live.expel(&device.id));
            *state = State::default();
            Ok(devices.len())
        })
        .await
    }

    /// The devices that are paired, oldest first.
    pub async fn list(&self) -> Vec<PairedDevice> {
        let (state, now) = (self.inner.state.lock().await, self.inner.now());
        let seen = |device: &Device| self.inner.live.last_seen(&device.id).unwrap_or(device.last_seen);
        let paired = state.devices.values().filter(|device| !device.is_expired(now));
        paired.map(|device| device.shown(seen(device))).collect()
    }

    /// Does something to its end even if whoever asked goes away: rows and memory must not part.
    async fn finish<T, F>(&self, work: impl FnOnce(Arc<Inner>) -> F) -> Result<T, AuthError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, AuthError>> + Send + 'static,
    {
        let done = tokio::spawn(work(self.inner.clone())).await;
        done.unwrap_or_else(|error| Err(AuthError::Internal(error.to_string())))
    }
}

impl Inner {
    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    async fn keep(&self, changes: Vec<RowChange>, events: Vec<NewEvent>) -> Result<(), AuthError> {
        if !(changes.is_empty() && events.is_empty()) {
            self.log.keep(changes, events).await?;
        }
        Ok(())
    }

    async fn offer(&self, state: &mut State, scope: Scope) -> Result<Offered, AuthError> {
        let fresh = state.offers.make(scope, self.settings.pairing_ttl, self.now())?;
        self.keep(fresh.changes()?, Vec::new()).await?;
        Ok(state.offers.add(fresh))
    }

    async fn exchange(&self, token: TokenHash, facts: DeviceFacts) -> Result<Attempt, AuthError> {
        let mut state = self.state.lock().await;
        let now = self.now();
        let offer = state.offers.find(token, now)?;
        if self.settings.require_approval {
            let (request_id, verdict) = state.requests.request(token, &facts, now, offer.expires_at)?;
            let said = *verdict.borrow();
            match said {
                Verdict::Waiting => {
                    return Ok(Attempt::Waiting { request_id, expires_at: offer.expires_at, verdict });
                }
                Verdict::Rejected => return Err(AuthError::Rejected),
                Verdict::Approved => {}
            }
        }
        let expired = state.expired(now);
        self.end(&mut state, expired, "it was not used for too long").await?;
        let (device, pair) = Device::pair(facts, offer.scope, now)?;
        self.keep(vec![device.stored()?, offer::deleted(token)], vec![device.paired()]).await?;
        state.offers.remove(token);
        state.requests.forget(token);
        self.live.admit(&device);
        state.devices.insert(device.id.clone(), device);
        Ok(Attempt::Granted(pair))
    }

    async fn refresh(&self, token: &Token) -> Result<TokenPair, AuthError> {
        let mut state = self.state.lock().await;
        let now = self.now();
        let (device, presented) = state.owner(token, now).ok_or(AuthError::RefreshToken)?;
        match presented {
            Presented::Current => {
                let (device, pair) = device.rotated(token, now)?;
                self.keep(vec![device.stored()?], Vec::new()).await?;
                self.live.admit(&device);
                state.devices.insert(device.id.clone(), device);
                Ok(pair)
            }
            Presented::JustSpent | Presented::Expired => Err(AuthError::RefreshToken),
            Presented::Stolen => {
                tracing::warn!(device = %device.id, "A used refresh token came again; its device is revoked.");
                self.end(&mut state, vec![device], "a used refresh token came again").await?;
                Err(AuthError::RefreshToken)
            }
        }
    }

    /// Ends devices, in the rows, in the log and for their connections.
    async fn end(&self, state: &mut State, devices: Vec<Device>, reason: &str) -> Result<(), AuthError> {
        let (changes, events) = ended(&devices, reason, self.now());
        self.keep(changes, events).await?;
        for device in devices {
            self.live.expel(&device.id);
            state.devices.remove(&device.id);
        }
        Ok(())
    }
}

impl State {
    /// The device that has or had this refresh token.
    fn owner(&self, token: &Token, now: Timestamp) -> Option<(Device, Presented)> {
        self.devices.values().find_map(|device| Some((device.clone(), device.knows(token, now)?)))
    }

    /// The devices that can no longer refresh their tokens.
    fn expired(&self, now: Timestamp) -> Vec<Device> {
        self.devices.values().filter(|device| device.is_expired(now)).cloned().collect()
    }
}

/// The ends of devices as rows and as events.
fn ended(devices: &[Device], reason: &str, now: Timestamp) -> (Vec<RowChange>, Vec<NewEvent>) {
    devices.iter().map(|device| (device.deleted(), device.revoked(reason, now))).unzip()
}
