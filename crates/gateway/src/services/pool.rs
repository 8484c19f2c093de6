//! The open connections to one service: at most one for each principal and the capabilities of its client.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use roost_model::ids::ServiceId;
use roost_model::service::manifest::Manifest;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use tokio::sync::{OnceCell, broadcast, mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::connect::Connect;
use super::service_log::ServiceLog;
use crate::client_profile::ClientProfile;
use crate::endpoint::UnaskedMessage;
use crate::lifecycle::ServiceFault;
use crate::principal::Principal;
use crate::upstream::{
    ConnectError, ConnectTarget, Connected, FromServer, ServerAnswer, ServerProfile, Upstream, UpstreamEnd,
    UpstreamError, UpstreamRequest,
};

/// The connections that one service may have.
const MAX_CONNECTIONS: usize = 16;
/// A connection that nobody used for so long is closed.
const IDLE_LIMIT: Duration = Duration::from_mins(5);
/// How the notifications end that tell of a changed list.
const LIST_CHANGED: &str = "/list_changed";

/// The connections of one service; clones share them.
#[derive(Clone)]
pub struct Pool(Arc<PoolState>);

struct PoolState {
    service: ServiceId,
    connect: Arc<dyn Connect>,
    log: ServiceLog,
    slots: Mutex<Vec<Arc<Slot>>>,
    /// Wakes when a server says that one of its lists changed.
    lists_changed: watch::Sender<()>,
    /// Passes on what servers say, to those who follow all services.
    unasked: broadcast::Sender<Arc<UnaskedMessage>>,
    opened: Instant,
}

/// The place of one connection, which is made when it is first needed.
struct Slot {
    principal: Principal,
    capabilities: Map<String, Value>,
    /// The one that the supervisor watches; it is never closed for being idle.
    is_supervised: bool,
    connection: OnceCell<Arc<PooledConnection>>,
    /// Who waits for the connection or uses it.
    users: AtomicUsize,
    /// Milliseconds since the pool was opened.
    last_used: AtomicU64,
}

impl Pool {
    /// A pool without connections. What the servers say unasked goes to `unasked`.
    pub fn new(
        service: ServiceId,
        connect: Arc<dyn Connect>,
        log: ServiceLog,
        unasked: broadcast::Sender<Arc<UnaskedMessage>>,
    ) -> Self {
        let (slots, opened) = (Mutex::default(), Instant::now());
        let lists_changed = watch::Sender::new(());
        Self(Arc::new(PoolState { service, connect, log, slots, lists_changed, unasked, opened }))
    }

    /// Wakes when a server of one of the connections says that one of its lists changed.
    pub fn lists_changed(&self) -> watch::Receiver<()> {
        self.0.lists_changed.subscribe()
    }

    /// The connection of this principal and these capabilities; it is made if there is none.
    pub async fn get(
        &self,
        manifest: &Manifest,
        principal: &Principal,
        client: &ClientProfile,
    ) -> Result<Arc<dyn Upstream>, ConnectError> {
        let slot = self.slot(principal, &client.capabilities).await?;
        let _user = SlotUser(&slot);
        let connection = slot.connection.get_or_try_init(|| self.open(&slot, manifest, client)).await?;
        slot.last_used.store(self.0.now(), Ordering::Relaxed);
        Ok(connection.clone())
    }

    /// The connection of this principal and these capabilities, if it is open.
    pub fn connected(&self, principal: &Principal, client: &ClientProfile) -> Option<Arc<dyn Upstream>> {
        let slots = self.0.slots.lock();
        let slot = slots.iter().find(|slot| slot.is_for(principal, &client.capabilities))?;
        slot.connection.get().map(|connection| connection.clone() as Arc<dyn Upstream>)
    }

    /// Makes the connection that the supervisor watches.
    pub async fn supervise(
        &self,
        manifest: &Manifest,
        client: &ClientProfile,
    ) -> Result<Arc<dyn Upstream>, ConnectError> {
        let slot = Arc::new(Slot::new(Principal::Local, client.capabilities.clone(), true, self.0.now()));
        let connection = self.open(&slot, manifest, client).await?;
        // The slot is new, so it has no connection yet.
        let _ = slot.connection.set(connection.clone());
        let mut slots = self.0.slots.lock();
        // The one before has ended, though nobody may have noticed yet.
        slots.retain(|slot| !slot.is_supervised);
        slots.push(slot);
        Ok(connection)
    }

    async fn open(
        &self,
        slot: &Arc<Slot>,
        manifest: &Manifest,
        client: &ClientProfile,
    ) -> Result<Arc<PooledConnection>, ConnectError> {
        let shared = &self.0;
        let (service, principal, log) = (&shared.service, &slot.principal, Arc::new(shared.log.clone()));
        let connected = shared.connect.connect(&ConnectTarget { service, manifest, principal, client, log }).await;
        let Connected { upstream, unasked } = connected.inspect_err(|_| shared.forget_unopened(slot))?;
        let watcher =
            tokio::spawn(watch_connection(Arc::downgrade(shared), Arc::downgrade(slot), upstream.clone(), unasked));
        let slot = Arc::downgrade(slot);
        Ok(Arc::new(PooledConnection { upstream, slot, pool: Arc::downgrade(shared), watcher: watcher.abort_handle() }))
    }

    /// The slot of this principal and these capabilities, with room made for it if it is new.
    async fn slot(&self, principal: &Principal, capabilities: &Map<String, Value>) -> Result<Arc<Slot>, ConnectError> {
        let evicted = {
            let mut slots = self.0.slots.lock();
            if let Some(slot) = slots.iter().find(|slot| slot.is_for(principal, capabilities)) {
                slot.users.fetch_add(1, Ordering::Relaxed);
                return Ok(slot.clone());
            }
            let evicted = match slots.len() < MAX_CONNECTIONS {
                true => None,
                false => Some(take_least_recently_used(&mut slots).ok_or_else(busy)?),
            };
            let slot = Arc::new(Slot::new(principal.clone(), capabilities.clone(), false, self.0.now()));
            slot.users.fetch_add(1, Ordering::Relaxed);
            slots.push(slot.clone());
            match evicted {
                None => return Ok(slot),
                Some(evicted) => (evicted, slot),
            }
        };
        let (evicted, slot) = evicted;
        evicted.close().await;
        Ok(slot)
    }

    /// Closes the connections that nobody used for long.
    pub async fn close_idle(&self) {
        let now = self.0.now();
        let is_idle = |slot: &Slot| {
            let unused = now.saturating_sub(slot.last_used.load(Ordering::Relaxed));
            slot.is_unused() && u128::from(unused) >= IDLE_LIMIT.as_millis()
        };
        let idle: Vec<_> = {
            let mut slots = self.0.slots.lock();
            slots.extract_if(.., |slot| is_idle(slot)).collect()
        };
        for slot in idle {
            slot.close().await;
        }
    }

    /// Closes every connection.
    pub async fn close(&self) {
        let slots = std::mem::take(&mut *self.0.slots.lock());
        futures::future::join_all(slots.iter().map(|slot| slot.close())).await;
    }

    /// How many connections there are.
    pub fn len(&self) -> usize {
        self.0.slots.lock().len()
    }

    /// Whether there is no connection.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn busy() -> ConnectError {
    let message = format!("{MAX_CONNECTIONS} clients are using the service already; try again later");
    ConnectError { fault: ServiceFault::Broken, message }
}

fn take_least_recently_used(slots: &mut Vec<Arc<Slot>>) -> Option<Arc<Slot>> {
    let unused = slots.iter().enumerate().filter(|(_, slot)| slot.is_unused());
    let (at, _) = unused.min_by_key(|(_, slot)| slot.last_used.load(Ordering::Relaxed))?;
    Some(slots.remove(at))
}

impl PoolState {
    fn now(&self) -> u64 {
        u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn forget(&self, gone: &Slot) {
        self.slots.lock().retain(|slot| !std::ptr::eq(&raw const **slot, gone));
    }

    /// A slot whose connection could not be made takes no room, unless others still try.
    fn forget_unopened(&self, slot: &Slot) {
        if slot.users.load(Ordering::Relaxed) <= 1 {
            self.forget(slot);
        }
    }
}

impl Slot {
    fn new(principal: Principal, capabilities: Map<String, Value>, is_supervised: bool, now: u64) -> Self {
        let (connection, users) = (OnceCell::new(), AtomicUsize::new(0));
        Self { principal, capabilities, is_supervised, connection, users, last_used: AtomicU64::new(now) }
    }

    fn is_for(&self, principal: &Principal, capabilities: &Map<String, Value>) -> bool {
        self.principal == *principal && self.capabilities == *capabilities
    }

    fn is_unused(&self) -> bool {
        !self.is_supervised && self.users.load(Ordering::Relaxed) == 0
    }

    async fn close(&self) {
        if let Some(connection) = self.connection.get() {
            connection.upstream.close().await;
        }
    }
}

/// Counts somebody who waits for a slot's connection; the count was raised when the slot was found.
struct SlotUser<'a>(&'a Slot);

impl Drop for SlotUser<'_> {
    fn drop(&mut self) {
        self.0.users.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Passes on what the server says until the connection ends, then takes it out of the pool.
async fn watch_connection(
    pool: Weak<PoolState>,
    slot: Weak<Slot>,
    upstream: Arc<dyn Upstream>,
    mut unasked: mpsc::Receiver<FromServer>,
) {
    let mut ended = std::pin::pin!(upstream.ended());
    loop {
        let message = tokio::select! {
            message = unasked.recv() => message,
            _ = ended.as_mut() => break,
        };
        let Some(message) = message else {
            ended.await;
            break;
        };
        let (Some(pool), Some(slot)) = (pool.upgrade(), slot.upgrade()) else { return };
        let FromServer { method, params } = message;
        // Whether somebody follows does not matter here.
        let is_list = method.ends_with(LIST_CHANGED);
        if is_list {
            let _ = pool.lists_changed.send(());
        }
        // What the supervised connection lists is in the catalog, whose changes everybody is told of.
        if !(is_list && slot.is_supervised) {
            let (service, principal) = (pool.service.clone(), slot.principal.clone());
            let _ = pool.unasked.send(Arc::new(UnaskedMessage { service, principal, method, params }));
        }
    }
    if let (Some(pool), Some(slot)) = (pool.upgrade(), slot.upgrade()) {
        pool.forget(&slot);
    }
}

/// A connection of the pool, which knows when it is in use.
struct PooledConnection {
    upstream: Arc<dyn Upstream>,
    slot: Weak<Slot>,
    pool: Weak<PoolState>,
    watcher: AbortHandle,
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        self.watcher.abort();
    }
}

/// Counts a call that is under way.
struct CallUser(Option<(Arc<Slot>, Weak<PoolState>)>);

impl Drop for CallUser {
    fn drop(&mut self) {
        let Some((slot, pool)) = &self.0 else { return };
        if let Some(pool) = pool.upgrade() {
            slot.last_used.store(pool.now(), Ordering::Relaxed);
        }
        slot.users.fetch_sub(1, Ordering::Relaxed);
    }
}

#[async_trait]
impl Upstream for PooledConnection {
    fn profile(&self) -> &ServerProfile {
        self.upstream.profile()
    }

    async fn call(&self, request: UpstreamRequest<'_>) -> Result<ServerAnswer, UpstreamError> {
        let slot = self.slot.upgrade().inspect(|slot| {
            slot.users.fetch_add(1, Ordering::Relaxed);
        });
        let _user = CallUser(slot.map(|slot| (slot, self.pool.clone())));
        self.upstream.call(request).await
    }

    async fn notify(&self, method: &str, params: Option<&RawValue>) -> Result<(), UpstreamError> {
        self.upstream.notify(method, params).await
    }

    async fn ended(&self) -> UpstreamEnd {
        self.upstream.ended().await
    }

    async fn close(&self) {
        self.upstream.close().await;
    }
}
