//! Which access tokens are good right now: asked by every request, changed rarely.

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

/// Access tokens and devices in memory.
#[derive(Default)]
pub(super) struct Live(RwLock<Known>);

#[derive(Default)]
struct Known {
    tokens: HashMap<TokenHash, (Timestamp, Arc<Seat>)>,
    seats: HashMap<DeviceId, Arc<Seat>>,
}

/// What all connections of a device share.
struct Seat {
    id: DeviceId,
    name: String,
    scope: Scope,
    /// Milliseconds since the epoch.
    last_seen: AtomicI64,
    standing: watch::Sender<Standing>,
}

/// Whether a device may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Until its newest access token expires.
    Until(Timestamp),
    Revoked,
}

impl Live {
    /// Lets a device in with its tokens of now; connections that it has may go on.
    pub(super) fn admit(&self, device: &Device) {
        let mut known = self.0.write();
        known.tokens.retain(|_, (_, seat)| seat.id != device.id);
        let until = Standing::Until(device.access.expires_at);
        let seat = known.seats.entry(device.id.clone()).or_insert_with(|| Arc::new(Seat::from_device(device))).clone();
        seat.standing.send_replace(until);
        seat.last_seen.fetch_max(device.last_seen.as_millis(), Ordering::Relaxed);
        for token in device.previous_access.iter().chain([&device.access]) {
            known.tokens.insert(token.hash, (token.expires_at, seat.clone()));
        }
    }

    /// Shuts a device out and tells its connections.
    pub(super) fn expel(&self, device: &DeviceId) {
        let mut known = self.0.write();
        known.tokens.retain(|_, (_, seat)| seat.id != *device);
        if let Some(seat) = known.seats.remove(device) {
            seat.standing.send_replace(Standing::Revoked);
        }
    }

    /// Who has this access token.
    pub(super) fn client(&self, token: TokenHash, clock: &Clock) -> Result<Client, AuthError> {
        let known = self.0.read();
        let now = clock();
        let found = known.tokens.get(&token).filter(|(expires_at, _)| now < *expires_at);
        let (expires_at, seat) = found.ok_or(AuthError::AccessToken)?;
        seat.last_seen.fetch_max(now.as_millis(), Ordering::Relaxed);
        Ok(Client {
            device_id: seat.id.clone(),
            name: seat.name.clone(),
            scope: seat.scope,
            expires_at: *expires_at,
            standing: seat.standing.subscribe(),
            clock: clock.clone(),
        })
    }

    /// When a device was last heard of.
    pub(super) fn last_seen(&self, device: &DeviceId) -> Option<Timestamp> {
        let known = self.0.read();
        known.seats.get(device).map(|seat| Timestamp::from_millis(seat.last_seen.load(Ordering::Relaxed)))
    }
}

impl Seat {
    fn from_device(device: &Device) -> Self {
        Self {
            id: device.id.clone(),
            name: device.name.clone(),
            scope: device.scope,
            last_seen: AtomicI64::new(device.last_seen.as_millis()),
            standing: watch::Sender::new(Standing::Until(device.access.expires_at)),
        }
    }
}

/// A device that has proved itself.
#[derive(Clone)]
pub struct Client {
    /// The device that the token was given to.
    pub device_id: DeviceId,
    /// Its name for people.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
    /// Until when the token is good that it showed.
    pub expires_at: Timestamp,
    standing: watch::Receiver<Standing>,
    clock: Clock,
}

/// Why a connection has to be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The device was revoked.
    Revoked,
    /// No access token of the device is good any more.
    Expired,
}

/// Timers are this long at most: a host that slept must not sleep on.
const LOOK_AGAIN: Duration = Duration::from_secs(60);

impl Client {
    /// Until when the device's newest access token is good; `None` when it was revoked.
    pub fn alive_until(&self) -> Option<Timestamp> {
        match *self.standing.borrow() {
            Standing::Until(until) => Some(until),
            Standing::Revoked => None,
        }
    }

    /// Some access token of the device is good.
    pub fn is_alive(&self) -> bool {
        self.alive_until().is_some_and(|until| (self.clock)() < until)
    }

    /// Returns when the device may no longer be connected. Cancel safe.
    pub async fn ended(&mut self) -> Ended {
        loop {
            let Standing::Until(until) = *self.standing.borrow_and_update() else { return Ended::Revoked };
            let left = until.as_millis() - (self.clock)().as_millis();
            let Some(left) = u64::try_from(left).ok().filter(|left| *left > 0) else { return Ended::Expired };
            tokio::select! {
                changed = self.standing.changed() => if changed.is_err() {
                    return Ended::Revoked;
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
