//! The clock of running modules: advances the engine's epoch while calls are under way.
//!
//! At each tick a running module yields to the async runtime, and its deadline is looked at. When nothing has run for a
//! while the thread parks, so that an idle daemon does not wake up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wasmtime::Engine;

/// How long a module may run before it yields.
pub(crate) const TICK: Duration = Duration::from_millis(1);
/// Ticks without a call after which the thread parks; below it, calls need not wake it.
const IDLE_TICKS: usize = 100;

/// Owns the thread; dropping it ends the thread.
#[derive(Debug)]
pub(crate) struct EpochTicker {
    shared: Arc<TickerState>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct TickerState {
    running: AtomicUsize,
    parked: AtomicBool,
    stopped: AtomicBool,
}

impl EpochTicker {
    /// Starts the thread for an engine.
    pub(crate) fn start(engine: Engine) -> std::io::Result<Self> {
        let shared = Arc::new(TickerState {
            running: AtomicUsize::new(0),
            parked: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
        });
        let run = {
            let shared = shared.clone();
            move || tick(&engine, &shared)
        };
        let thread = thread::Builder::new().name("wasm-epoch".into()).spawn(run)?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Ticks until the guard is dropped.
    pub(crate) fn running(&self) -> Running {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        if self.shared.parked.load(Ordering::SeqCst) {
            self.wake();
        }
        Running(self.shared.clone())
    }

    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for EpochTicker {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.wake();
        if let Some(thread) = self.thread.take() {
            // It does nothing that could panic.
            let _ = thread.join();
        }
    }
}

/// A call that is under way.
#[must_use]
pub(crate) struct Running(Arc<TickerState>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

fn tick(engine: &Engine, shared: &TickerState) {
    let mut idle = 0;
    while !shared.stopped.load(Ordering::SeqCst) {
        thread::sleep(TICK);
        engine.increment_epoch();
        idle = if shared.running.load(Ordering::SeqCst) > 0 { 0 } else { idle + 1 };
        if idle < IDLE_TICKS {
            continue;
        }
        // Said before the count is looked at once more, so that a call either sees it or is seen.
        shared.parked.store(true, Ordering::SeqCst);
        while shared.running.load(Ordering::SeqCst) == 0 && !shared.stopped.load(Ordering::SeqCst) {
            thread::park();
        }
        shared.parked.store(false, Ordering::SeqCst);
        idle = 0;
    }
}
