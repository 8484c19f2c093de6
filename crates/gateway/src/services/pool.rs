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
use tokio::time::{Instant, timeout};

use super::connect::Connect;
use super::service_log::ServiceLog;
use crate::client_profile::ClientProfile;
use crate::endpoint::UnaskedMessage;
use crate::fair_share::{Admission, FairShare, Occupant};
use crate::lifecycle::ServiceFault;
use crate::principal::Principal;
use crate::upstream::{
    ConnectError, ConnectTarget, Connected, FromServer, ServerAnswer, ServerProfile, Upstream, UpstreamEnd,
    UpstreamError, UpstreamRequest,
};

/// How long a connection may take to be made: a program may first be downloaded.
pub(super) const START_LIMIT: Duration = Duration::from_mins(2);
/// The connections that one service may have.
const MAX_CONNECTIONS: usize = 16;
/// Beside the supervised one. A principal has several if its clients can do different things.
const SHARE: FairShare = FairShare { of_all: MAX_CONNECTIONS - 1, of_one: 4 };
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
    /// Who may come back to what the server remembers of the connection.
    keepers: AtomicUsize,
    pool_opened: Instant,
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
        let client = client.reduced();
        let SlotUser(slot) = &self.slot(principal, &client.capabilities).await?;
        let connection = slot.connection.get_or_try_init(|| self.open(slot, manifest, &client)).await?;
        Ok(connection.clone())
    }

    /// The connection of this principal and these capabilities, if it is open.
    pub fn connected(&self, principal: &Principal, client: &ClientProfile) -> Option<Arc<dyn Upstream>> {
        let slots = self.0.slots.lock();
        let slot = slots.iter().find(|slot| slot.is_for(principal, &client.reduced().capabilities))?;
        slot.connection.get().map(|connection| connection.clone() as Arc<dyn Upstream>)
    }

    /// Makes the connection that the supervisor watches.
    pub async fn supervise(
        &self,
        manifest: &Manifest,
        client: &ClientProfile,
    ) -> Result<Arc<dyn Upstream>, ConnectError> {
        let slot = Arc::new(Slot::new(Principal::Local, client.capabilities.clone(), true, self.0.opened));
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
        let target = ConnectTarget { service, manifest, principal, client, log };
        let connected =
            timeout(START_LIMIT, shared.connect.connect(&target)).await.unwrap_or_else(|_| Err(not_ready()));
        let Connected { upstream, unasked } = connected.inspect_err(|_| shared.forget_unopened(slot))?;
        let watcher =
            tokio::spawn(watch_connection(Arc::downgrade(shared), Arc::downgrade(slot), upstream.clone(), unasked));
        let slot = Arc::downgrade(slot);
        Ok(Arc::new(PooledConnection { upstream, slot, watcher: watcher.abort_handle() }))
    }

    /// The slot of this principal and these capabilities, with room made for it if it is new.
    async fn slot(&self, principal: &Principal, capabilities: &Map<String, Value>) -> Result<SlotUser, ConnectError> {
        let (user, evicted) = {
            let mut slots = self.0.slots.lock();
            if let Some(slot) = slots.iter().find(|slot| slot.is_for(principal, capabilities)) {
                return Ok(SlotUser::new(slot.clone()));
            }
            let occupants = slots.iter().enumerate().filter(|(_, slot)| !slot.is_supervised);
            let admission = SHARE.admit(principal, occupants.map(|(at, slot)| slot.occupant(at)));
            let evicted = match admission {
                Admission::Free => None,
                Admission::Evict(at) => Some(slots.remove(at)),
                Admission::Full => return Err(busy()),
            };
            let slot = Arc::new(Slot::new(principal.clone(), capabilities.clone(), false, self.0.opened));
            slots.push(slot.clone());
            (SlotUser::new(slot), evicted)
        };
        if let Some(evicted) = evicted {
            evicted.close().await;
        }
        Ok(user)
    }

    /// Closes the connections that nobody used for long.
    pub async fn close_idle(&self) {
        let is_idle = |slot: &Slot| {
            let unused = slot.now().saturating_sub(slot.last_used.load(Ordering::Relaxed));
            let is_kept = slot.keepers.load(Ordering::Relaxed) > 0;
            slot.is_unused() && !is_kept && u128::from(unused) >= IDLE_LIMIT.as_millis()
        };
        let idle: Vec<_> = {
            let mut slots = self.0.slots.lock();
            slots.extract_if(.., |slot| is_idle(slot)).collect()
        };
        for slot in idle {
            slot.close().await;
        }
    }

    /// Closes every connection that there is now; later ones are none of its business, even if it is awaited later.
    pub fn close(&self) -> impl Future<Output = ()> + Send + use<> {
        let slots = std::mem::take(&mut *self.0.slots.lock());
        async move {
            futures::future::join_all(slots.iter().map(|slot| slot.close())).await;
        }
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

/// The error of a service that takes too long to be connected to.
pub(super) fn not_ready() -> ConnectError {
    let message = format!("the service was not ready within {} s", START_LIMIT.as_secs());
    ConnectError { fault: ServiceFault::Timeout, message }
}

fn busy() -> ConnectError {
    let message = "all connections to the service that this client may have are in use; try again later".into();
    ConnectError { fault: ServiceFault::Broken, message }
}

impl PoolState {
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
    fn new(principal: Principal, capabilities: Map<String, Value>, is_supervised: bool, pool_opened: Instant) -> Self {
        let (connection, users, last_used) = (OnceCell::new(), AtomicUsize::new(0), AtomicU64::new(0));
        let keepers = AtomicUsize::new(0);
        Self { principal, capabilities, is_supervised, connection, users, keepers, pool_opened, last_used }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.pool_opened.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn is_for(&self, principal: &Principal, capabilities: &Map<String, Value>) -> bool {
        self.principal == *principal && self.capabilities == *capabilities
    }

    fn is_unused(&self) -> bool {
        !self.is_supervised && self.users.load(Ordering::Relaxed) == 0
    }

    fn occupant(&self, at: usize) -> Occupant<'_, usize, u64> {
        let since = self.is_unused().then(|| self.last_used.load(Ordering::Relaxed));
        Occupant { key: at, owner: &self.principal, since }
    }

    async fn close(&self) {
        if let Some(connection) = self.connection.get() {
            connection.upstream.close().await;
        }
    }
}

/// Counts somebody who waits for a slot's connection or uses it. Until it is dropped, the slot makes no room for others.
struct SlotUser(Arc<Slot>);

impl SlotUser {
    fn new(slot: Arc<Slot>) -> Self {
        slot.users.fetch_add(1, Ordering::Relaxed);
        Self(slot)
    }
}

impl Drop for SlotUser {
    fn drop(&mut self) {
        self.0.last_used.store(self.0.now(), Ordering::Relaxed);
        self.0.users.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Counts somebody for whom a slot's connection is not closed for being idle.
struct SlotKeeper(Weak<Slot>);

impl SlotKeeper {
    fn new(slot: Weak<Slot>) -> Self {
        if let Some(slot) = slot.upgrade() {
            slot.keepers.fetch_add(1, Ordering::Relaxed);
        }
        Self(slot)
    }
}

impl Drop for SlotKeeper {
    fn drop(&mut self) {
        if let Some(slot) = self.0.upgrade() {
            slot.last_used.store(slot.now(), Ordering::Relaxed);
            slot.keepers.fetch_sub(1, Ordering::Relaxed);
        }
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
    watcher: AbortHandle,
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        self.watcher.abort();
    }
}

#[async_trait]
impl Upstream for PooledConnection {
    fn profile(&self) -> &ServerProfile {
        self.upstream.profile()
    }

    async fn call(&self, request: UpstreamRequest<'_>) -> Result<ServerAnswer, UpstreamError> {
        let _user = self.slot.upgrade().map(SlotUser::new);
        self.upstream.call(request).await
    }

    async fn notify(&self, method: &str, params: Option<&RawValue>) -> Result<(), UpstreamError> {
        self.upstream.notify(method, params).await
    }

    fn hold(&self) -> Box<dyn Send + Sync> {
        Box::new(self.slot.upgrade().map(SlotUser::new))
    }

    fn list_reviewed(&self) {
        self.upstream.list_reviewed();
    }

    fn keep(&self) -> Box<dyn Send + Sync> {
        Box::new(SlotKeeper::new(self.slot.clone()))
    }

    async fn ended(&self) -> UpstreamEnd {
        self.upstream.ended().await
    }

    async fn close(&self) {
        self.upstream.close().await;
    }
}
