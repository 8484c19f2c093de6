//! What belongs to one call: its limits, its log, and the state that host functions keep for it.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use wasmtime::{Store, UpdateDeadline};
use wasmtime_wasi::{ResourceTable, WasiCtx, WasiCtxView, WasiView};

use crate::abi::clarity::ClarityState;
use crate::effects::{Effects, NoEffects};
use crate::epoch_ticker::Running;
use crate::grants::Grants;
use crate::host::HostState;
use crate::limits::{LimitReached, Limits, MemoryLimiter};
use crate::service_log::{CallLog, LogSink, ServiceLog};

/// How much fuel a module gets at a time; between, it yields, and what it used is counted.
const FUEL_INTERVAL: u64 = 1_000_000;

/// What all calls of a service on behalf of the same caller share.
#[derive(Clone)]
pub(crate) struct ServiceContext {
    pub(crate) grants: Arc<Grants>,
    pub(crate) effects: Arc<dyn Effects>,
    pub(crate) log: Arc<dyn LogSink>,
    /// The arguments and variables that the manifest gives the module.
    pub(crate) args: Arc<[String]>,
    pub(crate) env: Arc<[(String, String)]>,
}

impl ServiceContext {
    /// No service at all: nothing is granted, and nothing can happen.
    pub(crate) fn of_nobody() -> Self {
        Self {
            grants: Arc::default(),
            effects: Arc::new(NoEffects),
            log: Arc::new(ServiceLog::default()),
            args: Arc::default(),
            env: Arc::default(),
        }
    }
}

/// What belongs to one call.
pub(crate) struct CallState {
    pub(crate) service: Arc<ServiceContext>,
    pub(crate) log: CallLog,
    pub(crate) limits: Limits,
    pub(crate) clarity: ClarityState,
    limiter: MemoryLimiter,
    deadline: Arc<Deadline>,
    pauses: Arc<Semaphore>,
    /// Whose turn it is to let host functions work for long.
    pub(crate) long_work: Arc<Semaphore>,
    /// Only components have one.
    wasi: Option<WasiState>,
}

/// The view of the system that a component gets.
struct WasiState {
    context: WasiCtx,
    table: ResourceTable,
}

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let wasi = self
            .wasi
            .get_or_insert_with(|| WasiState { context: WasiCtx::builder().build(), table: ResourceTable::new() });
        WasiCtxView { ctx: &mut wasi.context, table: &mut wasi.table }
    }
}

impl CallState {
    /// Whether the time of the call is up; host functions ask, because a module that only calls them never yields.
    pub(crate) fn check_deadline(&self) -> Result<(), LimitReached> {
        self.deadline.check()
    }

    /// Lets the module wait for something that takes as long as it takes: the time does not count. If half of all
    /// instances wait so already, it counts, so that the rest is free for others before long.
    pub(crate) fn pause(&self) -> Option<Pause> {
        let place = self.pauses.clone().try_acquire_owned().ok()?;
        *self.deadline.at.lock() += LONGEST_WAIT;
        Some(Pause { deadline: self.deadline.clone(), since: Instant::now(), _place: place })
    }
}

/// A store with the limits of one call.
pub(crate) struct CallStore {
    pub(crate) store: Store<CallState>,
    deadline: Arc<Deadline>,
    fuel: u64,
    _running: Running,
}

impl CallStore {
    pub(crate) fn new(
        host: &HostState,
        service: &Arc<ServiceContext>,
        limits: &Limits,
        wasi: Option<fn(&ServiceContext, &CallLog) -> WasiCtx>,
    ) -> Self {
        let deadline = Arc::new(Deadline { at: Mutex::new(Instant::now() + limits.time), time: limits.time });
        let log = CallLog::new(service.log.clone());
        let wasi = wasi.map(|build| WasiState { context: build(service, &log), table: ResourceTable::new() });
        let state = CallState {
            service: service.clone(),
            log,
            limits: limits.clone(),
            clarity: ClarityState::default(),
            limiter: MemoryLimiter { memory_bytes: limits.memory_bytes, table_elements: limits.table_elements },
            deadline: deadline.clone(),
            pauses: host.pauses.clone(),
            long_work: host.long_work.clone(),
            wasi,
        };
        let mut store = Store::new(&host.engine, state);
        store.limiter(|state| &mut state.limiter);
        // Bounds what wasmtime itself copies out of a component in one go.
        store.set_hostcall_fuel(limits.output_bytes);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|context| {
            context.data().deadline.check()?;
            Ok(UpdateDeadline::Yield(1))
        });
        // Only an engine without fuel refuses these, and then no call could run either.
        let _ = store.set_fuel(limits.fuel);
        let _ = store.fuel_async_yield_interval(Some(FUEL_INTERVAL));
        Self { store, deadline, fuel: limits.fuel, _running: host.ticker.running() }
    }

    /// Runs a part of the call, for no longer than it may take.
    pub(crate) async fn run<T>(
        &mut self,
        part: impl AsyncFnOnce(&mut Store<CallState>) -> wasmtime::Result<T>,
    ) -> wasmtime::Result<T> {
        let deadline = self.deadline.clone();
        tokio::select! {
            biased;
            ended = part(&mut self.store) => ended,
            late = deadline.passed() => Err(late.into()),
        }
    }

    /// The fuel that was used so far.
    pub(crate) fn fuel_used(&self) -> u64 {
        self.fuel.saturating_sub(self.store.get_fuel().unwrap_or_default())
    }
}

impl Drop for CallStore {
    fn drop(&mut self) {
        self.store.data().log.finish();
    }
}

/// When a call must be over; it moves while the call waits for somebody else.
#[derive(Debug)]
struct Deadline {
    at: Mutex<Instant>,
    time: Duration,
}

impl Deadline {
    fn check(&self) -> Result<(), LimitReached> {
        match Instant::now() < *self.at.lock() {
            true => Ok(()),
            false => Err(LimitReached::Time(self.time)),
        }
    }

    async fn passed(&self) -> LimitReached {
        loop {
            // Looked at again after each such time, because the end of a wait brings the deadline closer.
            let at = *self.at.lock();
            tokio::time::sleep_until(at.min(Instant::now() + self.time)).await;
            if let Err(late) = self.check() {
                return late;
            }
        }
    }
}

/// How far a deadline is moved at most by one wait that has not ended: nobody's patience is longer.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// A wait that does not count; it ends when this is dropped.
#[must_use]
pub(crate) struct Pause {
    deadline: Arc<Deadline>,
    since: Instant,
    _place: OwnedSemaphorePermit,
}

impl Drop for Pause {
    fn drop(&mut self) {
        let mut at = self.deadline.at.lock();
        *at = *at - LONGEST_WAIT + self.since.elapsed();
    }
}
