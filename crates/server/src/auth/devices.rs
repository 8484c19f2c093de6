//! The paired devices: pairing, refreshing and revoking.

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

use super::access_tokens::AccessTokens;
use super::approval::{ApprovalRequests, Verdict};
use super::code::{ActiveCode, CodeEnd, Guess};
use super::device::{Device, RefreshTokenStatus};
use super::offer::{self, Offers};
use super::{
    AuthError, Client, Clock, Code, DeviceFacts, PairedDevice, PairingToken, PendingRequest, ProgramToken, Settings,
    Token, TokenHash, TokenKind, TokenPair,
};

/// How long an exchange waits for approval before it answers that the request is pending.
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
    state: Mutex<DeviceRegistry>,
    tokens: AccessTokens,
    /// Sent after each change of the pairing code, for [`Devices::code_end`].
    code_changed: watch::Sender<()>,
}

/// The devices and offers of the rows, and the requests and the code, which do not survive a restart.
#[derive(Default)]
struct DeviceRegistry {
    devices: BTreeMap<DeviceId, Device>,
    offers: Offers,
    requests: ApprovalRequests,
    code: Option<ActiveCode>,
}

/// The result of exchanging a pairing token.
#[derive(Clone, Debug)]
pub enum ExchangeOutcome {
    /// The device is paired; these are its first tokens.
    Granted(TokenPair),
    /// Nobody has answered yet; the same token may be tried again.
    Pending {
        /// The id of the request that waits for approval.
        request_id: String,
        /// When the request lapses if nobody answers it.
        expires_at: Timestamp,
    },
}

/// Who was locked after wrong tries of a pairing code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairingLocks {
    /// The locked addresses; of IPv6 the /64 network.
    pub addresses: Vec<IpAddr>,
    /// Whether there were so many wrong tries that the code itself was withdrawn.
    pub code_withdrawn: bool,
}

/// The result of one attempt to exchange a token.
enum Attempt {
    Granted(TokenPair),
    Waiting { request_id: String, expires_at: Timestamp, verdict: watch::Receiver<Verdict> },
}

impl Devices {
    /// Loads the devices from the log and revokes those whose tokens have expired.
    pub async fn load(log: Arc<dyn Log>, clock: Clock, settings: Settings) -> Result<Self, AuthError> {
        let mut devices = BTreeMap::new();
        for (id, body) in log.rows(RowKind::Device).await? {
            match serde_json::from_str::<Device>(&body) {
                Ok(device) => _ = devices.insert(device.id.clone(), device),
                Err(error) => tracing::warn!(%id, %error, "A device cannot be read; it has to be paired again."),
            }
        }
        let offers = Offers::load(log.rows(RowKind::Secret).await?);
        let state = DeviceRegistry { devices, offers, ..DeviceRegistry::default() };
        let inner = Inner {
            log,
            clock,
            settings,
            state: Mutex::new(state),
            tokens: AccessTokens::default(),
            code_changed: watch::Sender::default(),
        };
        let mut state = inner.state.lock().await;
        let expired = state.expired(inner.now());
        inner.end(&mut state, expired, "it was not used for too long").await?;
        state.devices.values().for_each(|device| inner.tokens.admit(device));
        drop(state);
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The settings that this registry was loaded with.
    pub fn settings(&self) -> Settings {
        self.inner.settings
    }

    /// The time by the clock that tokens are checked with.
    pub fn now(&self) -> Timestamp {
        self.inner.now()
    }

    /// The device that this access token belongs to. Does not block.
    pub fn authenticate(&self, access_token: &str) -> Result<Client, AuthError> {
        let token = Token::read(TokenKind::Access, access_token).ok_or(AuthError::AccessToken)?;
        self.inner.tokens.client(token.hash(), &self.inner.clock)
    }

    /// Creates a pairing token that grants this scope.
    pub async fn pairing_token(&self, scope: Scope) -> Result<PairingToken, AuthError> {
        self.finish(move |inner| async move { inner.offer(&mut *inner.state.lock().await, scope).await }).await
    }

    /// Creates a pairing code that grants this scope; the code before it is no longer valid.
    pub async fn code(&self, scope: Scope) -> Result<Code, AuthError> {
        let mut state = self.inner.state.lock().await;
        self.inner.replace_code(&mut state, scope)
    }

    /// The pairing code that is valid now, whatever its scope; a new one with this scope if there is none.
    pub async fn current_code(&self, scope: Scope) -> Result<Code, AuthError> {
        let mut state = self.inner.state.lock().await;
        let valid = state.code.as_ref().filter(|code| code.end(self.inner.now()).is_none());
        match valid {
            Some(code) => Ok(code.shown()),
            None => self.inner.replace_code(&mut state, scope),
        }
    }

    /// Waits until a code that was shown is no longer valid; returns why.
    pub async fn code_end(&self, digits: &str) -> CodeEnd {
        let mut changes = self.inner.code_changed.subscribe();
        loop {
            let now = self.inner.now();
            let left = {
                let state = self.inner.state.lock().await;
                let Some(code) = &state.code else { return CodeEnd::Used };
                match code.end(now) {
                    _ if code.shown().digits != digits => return CodeEnd::Replaced,
                    Some(end) => return end,
                    None => code.shown().expires_at.as_millis() - now.as_millis(),
                }
            };
            // Whichever comes first: the loop looks again.
            let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
            let _ = tokio::time::timeout(left, changes.changed()).await;
        }
    }

    /// Exchanges a pairing code for a pairing token. A wrong code counts against this address.
    pub async fn redeem_code(&self, digits: &str, from: IpAddr) -> Result<PairingToken, AuthError> {
        let digits = digits.to_owned();
        self.finish(move |inner| async move {
            let mut state = inner.state.lock().await;
            let guess = state.code.as_mut().ok_or(AuthError::Code)?.guess(&digits, from, inner.now())?;
            match guess {
                Guess::Right(scope) => {
                    state.code = None;
                    inner.code_changed.send_replace(());
                    inner.offer(&mut state, scope).await
                }
                Guess::Wrong(locked) => {
                    if let Some(locked) = locked {
                        inner.code_changed.send_replace(());
                        tracing::warn!(
                            address = locked.address,
                            wrong_tries = locked.wrong_tries,
                            code_withdrawn = locked.code_withdrawn,
                            "An address is locked after wrong pairing codes."
                        );
                        inner.store(Vec::new(), vec![NewEvent::for_host(inner.now(), locked)]).await?;
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
            addresses: code.into_iter().flat_map(ActiveCode::locked).collect(),
            code_withdrawn: code.is_some_and(ActiveCode::is_withdrawn),
        }
    }

    /// Pairs a device; where somebody has to approve it, waits a while for that.
    pub async fn exchange(&self, pairing_token: &str, facts: DeviceFacts) -> Result<ExchangeOutcome, AuthError> {
        let token = Token::read(TokenKind::Pairing, pairing_token).ok_or(AuthError::PairingToken)?.hash();
        let (facts, deadline) = (facts.tidy(), Instant::now() + APPROVAL_WAIT);
        loop {
            let facts = facts.clone();
            let attempt = self.finish(move |inner| async move { inner.exchange(token, facts).await }).await?;
            let (request_id, expires_at, mut verdict) = match attempt {
                Attempt::Granted(pair) => return Ok(ExchangeOutcome::Granted(pair)),
                Attempt::Waiting { request_id, expires_at, verdict } => (request_id, expires_at, verdict),
            };
            let answered = verdict.wait_for(|verdict| *verdict != Verdict::Waiting);
            if tokio::time::timeout_at(deadline, answered).await.is_err() {
                return Ok(ExchangeOutcome::Pending { request_id, expires_at });
            }
        }
    }

    /// Makes a token for a program, which is listed and revoked like a device.
    pub async fn program_token(&self, name: &str, scope: Scope) -> Result<ProgramToken, AuthError> {
        let name = name.to_owned();
        self.finish(move |inner| async move {
            let mut state = inner.state.lock().await;
            let (device, token) = Device::for_program(&name, scope, inner.now())?;
            inner.store(vec![device.row_written()?], vec![device.paired_event()]).await?;
            inner.tokens.admit(&device);
            state.devices.insert(device.id.clone(), device);
            Ok(token)
        })
        .await
    }

    /// The devices that wait for approval, oldest first.
    pub async fn pending(&self) -> Vec<PendingRequest> {
        self.inner.state.lock().await.requests.waiting(self.inner.now())
    }

    /// Approves a waiting device; its exchange then succeeds.
    pub async fn approve(&self, request_id: &str) -> Result<(), AuthError> {
        self.inner.state.lock().await.requests.answer(request_id, Verdict::Approved, self.inner.now())
    }

    /// Rejects a waiting device; its exchange then fails.
    pub async fn reject(&self, request_id: &str) -> Result<(), AuthError> {
        self.inner.state.lock().await.requests.answer(request_id, Verdict::Rejected, self.inner.now())
    }

    /// Exchanges a refresh token for the next pair. A token that comes again later revokes its device.
    pub async fn refresh(&self, refresh_token: &str) -> Result<TokenPair, AuthError> {
        let token = Token::read(TokenKind::Refresh, refresh_token).ok_or(AuthError::RefreshToken)?;
        self.finish(move |inner| async move { inner.refresh(&token).await }).await
    }

    /// Revokes the device of this refresh token.
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

    /// Revokes a device: its tokens stop working and its connections are closed.
    pub async fn revoke_device(&self, id: &DeviceId) -> Result<(), AuthError> {
        let id = id.clone();
        self.finish(move |inner| async move {
            let mut state = inner.state.lock().await;
            let device = state.devices.get(&id).cloned().ok_or_else(|| AuthError::UnknownDevice(id.to_string()))?;
            inner.end(&mut state, vec![device], "somebody revoked it").await
        })
        .await
    }

    /// Revokes all devices, pairing tokens, codes and requests; returns the number of devices.
    pub async fn revoke_all(&self) -> Result<usize, AuthError> {
        self.finish(move |inner| async move {
            let mut state = inner.state.lock().await;
            let devices: Vec<_> = state.devices.values().cloned().collect();
            let (mut changes, events) = ended(&devices, "somebody revoked all devices", inner.now());
            changes.extend(state.offers.deleted());
            inner.store(changes, events).await?;
            devices.iter().for_each(|device| inner.tokens.expel(&device.id));
            *state = DeviceRegistry::default();
            inner.code_changed.send_replace(());
            Ok(devices.len())
        })
        .await
    }

    /// The paired devices whose refresh tokens have not expired, oldest first.
    pub async fn list(&self) -> Vec<PairedDevice> {
        let (state, now) = (self.inner.state.lock().await, self.inner.now());
        let seen = |device: &Device| self.inner.tokens.last_seen(&device.id).unwrap_or(device.last_seen);
        let paired = state.devices.values().filter(|device| !device.is_expired(now));
        paired.map(|device| device.shown(seen(device))).collect()
    }

    /// Runs work to its end even if the caller goes away, so that rows and memory stay the same.
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

    async fn store(&self, changes: Vec<RowChange>, events: Vec<NewEvent>) -> Result<(), AuthError> {
        if !(changes.is_empty() && events.is_empty()) {
            self.log.keep(changes, events).await?;
        }
        Ok(())
    }

    /// Makes a code that grants this scope, in place of the one before it.
    fn replace_code(&self, state: &mut DeviceRegistry, scope: Scope) -> Result<Code, AuthError> {
        let code = ActiveCode::new(scope, self.now())?;
        let shown = code.shown();
        state.code = Some(code);
        self.code_changed.send_replace(());
        Ok(shown)
    }

    async fn offer(&self, state: &mut DeviceRegistry, scope: Scope) -> Result<PairingToken, AuthError> {
        let fresh = state.offers.make(scope, self.settings.pairing_ttl, self.now())?;
        self.store(fresh.changes()?, Vec::new()).await?;
        Ok(state.offers.add(fresh))
    }

    async fn exchange(&self, token: TokenHash, facts: DeviceFacts) -> Result<Attempt, AuthError> {
        let mut state = self.state.lock().await;
        let now = self.now();
        let offer = state.offers.find(token, now)?;
        if self.settings.require_approval {
            let (request_id, verdict) = state.requests.request(token, &facts, now, offer.expires_at)?;
            let answered = *verdict.borrow();
            match answered {
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
        self.store(vec![device.row_written()?, offer::deleted(token)], vec![device.paired_event()]).await?;
        state.offers.remove(token);
        state.requests.forget(token);
        self.tokens.admit(&device);
        state.devices.insert(device.id.clone(), device);
        Ok(Attempt::Granted(pair))
    }

    async fn refresh(&self, token: &Token) -> Result<TokenPair, AuthError> {
        let mut state = self.state.lock().await;
        let now = self.now();
        let (device, status) = state.owner(token, now).ok_or(AuthError::RefreshToken)?;
        match status {
            RefreshTokenStatus::Current => {
                let (device, pair) = device.rotated(token, now)?;
                self.store(vec![device.row_written()?], Vec::new()).await?;
                self.tokens.admit(&device);
                state.devices.insert(device.id.clone(), device);
                Ok(pair)
            }
            RefreshTokenStatus::JustSpent | RefreshTokenStatus::Expired => Err(AuthError::RefreshToken),
            RefreshTokenStatus::Stolen => {
                tracing::warn!(device = %device.id, "A used refresh token came again; its device is revoked.");
                self.end(&mut state, vec![device], "a used refresh token came again").await?;
                Err(AuthError::RefreshToken)
            }
        }
    }

    /// Revokes devices: in the rows, in the log and for their connections.
    async fn end(&self, state: &mut DeviceRegistry, devices: Vec<Device>, reason: &str) -> Result<(), AuthError> {
        let (changes, events) = ended(&devices, reason, self.now());
        self.store(changes, events).await?;
        for device in devices {
            self.tokens.expel(&device.id);
            state.devices.remove(&device.id);
        }
        Ok(())
    }
}

impl DeviceRegistry {
    /// The device that has or had this refresh token.
    fn owner(&self, token: &Token, now: Timestamp) -> Option<(Device, RefreshTokenStatus)> {
        self.devices.values().find_map(|device| Some((device.clone(), device.check_refresh_token(token, now)?)))
    }

    /// The devices that can no longer refresh their tokens.
    fn expired(&self, now: Timestamp) -> Vec<Device> {
        self.devices.values().filter(|device| device.is_expired(now)).cloned().collect()
    }
}

/// The row changes and the events of revoked devices.
fn ended(devices: &[Device], reason: &str, now: Timestamp) -> (Vec<RowChange>, Vec<NewEvent>) {
    devices.iter().map(|device| (device.row_deleted(), device.revoked_event(reason, now))).unzip()
}
