//! The access tokens that are valid now, in memory: read by every request, changed rarely.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use parking_lot::RwLock;
use roost_model::ids::DeviceId;
use roost_model::scope::Scope;
use roost_model::time::Timestamp;
use tokio::sync::watch;

use super::device::Device;
use super::{AuthError, Clock, TokenHash};

/// The tables of access tokens and paired devices; mirrors what the rows in the log say.
#[derive(Default)]
pub(super) struct AccessTokens(RwLock<TokenTables>);

#[derive(Default)]
struct TokenTables {
    tokens: HashMap<TokenHash, (Timestamp, Arc<DeviceState>)>,
    devices: HashMap<DeviceId, Arc<DeviceState>>,
}

/// The state that all connections of a device share.
struct DeviceState {
    id: DeviceId,
    name: String,
    scope: Scope,
    /// In milliseconds since 1970; raised by every request, and only ever upwards.
    last_seen: AtomicI64,
    validity: watch::Sender<Validity>,
}

/// Whether a device may stay connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Validity {
    /// Until its newest access token expires.
    Until(Timestamp),
    Revoked,
}

impl AccessTokens {
    /// Adds a device or replaces its tokens; its open connections stay valid.
    pub(super) fn admit(&self, device: &Device) {
        let mut known = self.0.write();
        known.tokens.retain(|_, (_, state)| state.id != device.id);
        let until = Validity::Until(device.access.expires_at);
        let state = known
            .devices
            .entry(device.id.clone())
            .or_insert_with(|| Arc::new(DeviceState::from_device(device)))
            .clone();
        state.validity.send_replace(until);
        state.last_seen.fetch_max(device.last_seen.as_millis(), Ordering::Relaxed);
        for token in device.previous_access.iter().chain([&device.access]) {
            known.tokens.insert(token.hash, (token.expires_at, state.clone()));
        }
    }

    /// Removes a device; its connections learn of it and close.
    pub(super) fn expel(&self, device: &DeviceId) {
        let mut known = self.0.write();
        known.tokens.retain(|_, (_, state)| state.id != *device);
        if let Some(state) = known.devices.remove(device) {
            state.validity.send_replace(Validity::Revoked);
        }
    }

    /// The device that this access token belongs to; notes that the device was seen.
    pub(super) fn client(&self, token: TokenHash, clock: &Clock) -> Result<Client, AuthError> {
        let known = self.0.read();
        let now = clock();
        let found = known.tokens.get(&token).filter(|(expires_at, _)| now < *expires_at);
        let (expires_at, state) = found.ok_or(AuthError::AccessToken)?;
        state.last_seen.fetch_max(now.as_millis(), Ordering::Relaxed);
        Ok(Client {
            device_id: state.id.clone(),
            name: state.name.clone(),
            scope: state.scope,
            expires_at: *expires_at,
            validity: state.validity.subscribe(),
            clock: clock.clone(),
        })
    }

    /// When a device last authenticated.
    pub(super) fn last_seen(&self, device: &DeviceId) -> Option<Timestamp> {
        let known = self.0.read();
        known.devices.get(device).map(|state| Timestamp::from_millis(state.last_seen.load(Ordering::Relaxed)))
    }
}

impl DeviceState {
    fn from_device(device: &Device) -> Self {
        Self {
            id: device.id.clone(),
            name: device.name.clone(),
            scope: device.scope,
            last_seen: AtomicI64::new(device.last_seen.as_millis()),
            validity: watch::Sender::new(Validity::Until(device.access.expires_at)),
        }
    }
}

/// A device that authenticated with an access token.
#[derive(Clone)]
pub struct Client {
    /// The device that the token was given to.
    pub device_id: DeviceId,
    /// The name that people gave the device.
    pub name: String,
    /// The most that the device may do.
    pub scope: Scope,
    /// When the token that it showed expires.
    pub expires_at: Timestamp,
    validity: watch::Receiver<Validity>,
    clock: Clock,
}

/// Why a device's connections have to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// Somebody revoked the device, or it revoked itself.
    Revoked,
    /// No access token of the device is good any more.
    Expired,
}

/// The longest timer: after a suspend of the host the clock is read again within this time.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

impl Client {
    /// When the device's newest access token expires; `None` if the device was revoked.
    pub fn alive_until(&self) -> Option<Timestamp> {
        match *self.validity.borrow() {
            Validity::Until(until) => Some(until),
            Validity::Revoked => None,
        }
    }

    /// Whether the device has an access token that is still valid.
    pub fn is_alive(&self) -> bool {
        self.alive_until().is_some_and(|until| (self.clock)() < until)
    }

    /// Returns when the device may no longer be connected. Cancel safe.
    pub async fn ended(&mut self) -> CloseReason {
        loop {
            let Validity::Until(until) = *self.validity.borrow_and_update() else { return CloseReason::Revoked };
            let left = until.as_millis() - (self.clock)().as_millis();
            let Some(left) = u64::try_from(left).ok().filter(|left| *left > 0) else { return CloseReason::Expired };
            tokio::select! {
                changed = self.validity.changed() => if changed.is_err() {
                    return CloseReason::Revoked;
                },
                () = tokio::time::sleep(Duration::from_millis(left).min(LOOK_AGAIN)) => {}
            }
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Client({} {:?} {:?})", self.device_id, self.name, self.scope)
    }
}
