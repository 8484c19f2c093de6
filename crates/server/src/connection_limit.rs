//! Caps the connections over TCP, so that clients without a token can neither use up the daemon's file descriptors nor
//! keep paired devices out.
//!
//! A connection is *unauthenticated* until a request on it has shown a valid token. When there are too many of those,
//! the oldest one is closed in favour of the new one. Refusing the new one instead would let an attacker keep everybody
//! out by holding connections open; this way a paired device needs only the moment that its first request takes.
//!
//! Behind a reverse proxy or a tunnel all clients have the proxy's address. They then share that address's cap until
//! they have shown their tokens, after which they count against none but the cap of all connections together.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use rustix::process::{Resource, getrlimit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::settings::Limits;

/// The part of the daemon's open files that connections over TCP may be: one half. The other half is kept back for the
/// local socket, the store, agents and watched folders.
const SHARE_OF_FILES: u64 = 2;
/// The part of all connections that may be unauthenticated: one half, so that paired devices always have the other.
const SHARE_OF_CONNECTIONS: usize = 2;
/// The files that a process may open where the system does not say.
const USUAL_FILES: u64 = 1024;

/// The caps, and the connections that count against them.
pub(crate) struct ConnectionLimiter {
    /// One permit for each connection that may still be opened.
    room: Arc<Semaphore>,
    most_unauthenticated: usize,
    most_per_address: usize,
    unauthenticated: Mutex<Unauthenticated>,
}

/// The unauthenticated connections, oldest first.
#[derive(Default)]
struct Unauthenticated {
    opened: u64,
    connections: BTreeMap<u64, (IpAddr, CancellationToken)>,
}

impl ConnectionLimiter {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        let files = getrlimit(Resource::Nofile).current.unwrap_or(USUAL_FILES);
        Self::with_files(limits, files)
    }

    fn with_files(limits: &Limits, files: u64) -> Arc<Self> {
        let by_files = usize::try_from(files / SHARE_OF_FILES).unwrap_or(Semaphore::MAX_PERMITS);
        let most = any_if_zero(limits.connections).min(by_files).clamp(SHARE_OF_CONNECTIONS, Semaphore::MAX_PERMITS);
        Arc::new(Self {
            room: Arc::new(Semaphore::new(most)),
            most_unauthenticated: most / SHARE_OF_CONNECTIONS,
            most_per_address: any_if_zero(limits.connections_per_address),
            unauthenticated: Mutex::default(),
        })
    }

    /// Room for one more connection; waits until there is some. An unauthenticated connection makes room at once.
    pub(crate) async fn room(&self) -> Option<OwnedSemaphorePermit> {
        if self.room.available_permits() == 0 {
            self.lock().evict_from_busiest();
        }
        self.room.clone().acquire_owned().await.ok()
    }

    /// Registers a connection that was accepted; evicts another one if there are too many now.
    pub(crate) fn register(self: &Arc<Self>, address: IpAddr, room: OwnedSemaphorePermit) -> ConnectionSlot {
        let (address, evicted) = (network(address), CancellationToken::new());
        let mut unauthenticated = self.lock();
        if unauthenticated.count_from(address) >= self.most_per_address {
            unauthenticated.evict_from(address);
        } else if unauthenticated.connections.len() >= self.most_unauthenticated {
            unauthenticated.evict_from_busiest();
        }
        unauthenticated.opened += 1;
        let id = unauthenticated.opened;
        unauthenticated.connections.insert(id, (address, evicted.clone()));
        ConnectionSlot { limiter: self.clone(), id, evicted, _room: room }
    }

    fn lock(&self) -> MutexGuard<'_, Unauthenticated> {
        // The map is whole between any two statements, so a panic elsewhere cannot have left it broken.
        self.unauthenticated.lock()
    }
}

impl Unauthenticated {
    fn count_from(&self, address: IpAddr) -> usize {
        self.connections.values().filter(|(other, _)| *other == address).count()
    }

    /// Closes the oldest connection of an address.
    fn evict_from(&mut self, address: IpAddr) {
        let oldest = self.connections.iter().find(|(_, (other, _))| *other == address).map(|(id, _)| *id);
        if let Some((_, evicted)) = oldest.and_then(|id| self.connections.remove(&id)) {
            metrics::counter!(crate::metrics::DROPS, "reason" => "connections").increment(1);
            evicted.cancel();
        }
    }

    /// Closes the oldest connection of the address that has the most.
    fn evict_from_busiest(&mut self) {
        let mut counts = BTreeMap::<IpAddr, usize>::new();
        self.connections.values().for_each(|(address, _)| *counts.entry(*address).or_default() += 1);
        if let Some((busiest, _)) = counts.into_iter().max_by_key(|(_, count)| *count) {
            self.evict_from(busiest);
        }
    }
}

/// One open connection's share of the caps; given back when dropped.
pub(crate) struct ConnectionSlot {
    limiter: Arc<ConnectionLimiter>,
    id: u64,
    evicted: CancellationToken,
    _room: OwnedSemaphorePermit,
}

impl ConnectionSlot {
    /// A request on this connection has shown a valid token: it is no longer evicted.
    pub(crate) fn authenticate(&self) {
        self.limiter.lock().connections.remove(&self.id);
    }

    /// Returns when the connection has to make room.
    pub(crate) async fn evicted(&self) {
        self.evicted.cancelled().await;
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.authenticate();
    }
}

fn any_if_zero(limit: u32) -> usize {
    if limit == 0 { usize::MAX } else { limit as usize }
}

/// The address under which connections are counted. A host with one IPv6 address usually has 2⁶⁴, so its /64 network
/// counts.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn limiter(connections: u32, connections_per_address: u32, files: u64) -> Arc<ConnectionLimiter> {
        ConnectionLimiter::with_files(&Limits { connections, connections_per_address, ..Limits::default() }, files)
    }

    async fn open(limiter: &Arc<ConnectionLimiter>, address: &str) -> ConnectionSlot {
        limiter.register(address.parse().unwrap(), limiter.room().await.unwrap())
    }

    #[tokio::test]
    async fn one_address_without_a_token_loses_its_own_oldest_connection() {
        let limiter = limiter(0, 2, 1024);
        let other = open(&limiter, "127.0.0.2").await;
        let slots = [open(&limiter, "127.0.0.1").await, open(&limiter, "127.0.0.1").await];
        let third = open(&limiter, "::ffff:127.0.0.1").await;
        let evicted: Vec<_> = [&other, &slots[0], &slots[1], &third].map(|slot| slot.evicted.is_cancelled()).into();
        assert_eq!(evicted, [false, true, false, false]);
    }

    #[tokio::test]
    async fn a_connection_that_showed_its_token_counts_against_no_address_and_is_never_evicted() {
        let limiter = limiter(4, 1, 1024);
        let device = open(&limiter, "10.0.0.1").await;
        device.authenticate();
        for _ in 0..10 {
            open(&limiter, "10.0.0.1").await;
        }
        assert!(!device.evicted.is_cancelled());
    }

    #[tokio::test]
    async fn many_addresses_together_make_room_from_the_busiest_one() {
        let limiter = limiter(0, 0, 16);
        let attackers = [
            open(&limiter, "2001:db8:0:1::1").await,
            open(&limiter, "2001:db8::1").await,
            open(&limiter, "2001:db8::2").await,
            open(&limiter, "10.0.0.1").await,
        ];
        let phone = open(&limiter, "10.0.0.2").await;
        let evicted: Vec<_> = attackers.iter().map(|slot| slot.evicted.is_cancelled()).collect();
        assert_eq!((evicted, phone.evicted.is_cancelled()), (vec![false, true, false, false], false));
    }

    #[tokio::test]
    async fn never_more_than_half_of_the_files_are_connections() {
        let limiter = limiter(4096, 64, 8);
        let mut slots = Vec::new();
        for _ in 0..4 {
            slots.push(open(&limiter, "10.0.0.1").await);
            slots.iter().for_each(ConnectionSlot::authenticate);
        }
        assert!(limiter.room().now_or_never().is_none());
        slots.pop();
        assert!(limiter.room().now_or_never().is_some());
    }
}
