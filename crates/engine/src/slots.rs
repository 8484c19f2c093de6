//! Limits how many runtimes are alive at once: a semaphore whose waiters make idle sessions release their runtimes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::error::Error;

/// What happens to a prompt that needs a runtime when all slots are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// The prompt waits; an idle session, if there is one, closes its runtime for it.
    #[default]
    Queue,
    /// The prompt is refused with [`Error::TooManySessions`].
    Reject,
}

/// The slots for runtimes, shared by all sessions.
#[derive(Debug)]
pub(crate) struct Slots {
    max: usize,
    when_full: WhenFull,
    free: Arc<Semaphore>,
    /// How many runtimes wait for a slot.
    waiting: AtomicUsize,
    /// Wakes one idle session for each runtime that begins to wait.
    wanted: Notify,
}

/// A slot, or the right to wait for one.
pub(crate) enum Slot {
    Taken(OwnedSemaphorePermit),
    Waiting(Arc<Slots>),
}

impl Slots {
    pub(crate) fn new(max: usize, when_full: WhenFull) -> Self {
        Self {
            max,
            when_full,
            free: Arc::new(Semaphore::new(max)),
            waiting: AtomicUsize::new(0),
            wanted: Notify::new(),
        }
    }

    /// A free slot. If there is none, the right to wait or an error, as configured.
    pub(crate) fn claim(self: &Arc<Self>) -> Result<Slot, Error> {
        match self.free.clone().try_acquire_owned() {
            Ok(permit) => Ok(Slot::Taken(permit)),
            Err(_) if self.when_full == WhenFull::Queue => Ok(Slot::Waiting(self.clone())),
            Err(_) => Err(Error::TooManySessions { max: self.max }),
        }
    }

    /// A slot for a runtime that was taken over; `None` if none is free, which does not end the runtime.
    pub(crate) fn adopt(&self) -> Option<OwnedSemaphorePermit> {
        self.free.clone().try_acquire_owned().ok()
    }

    /// Returns when a runtime waits for a slot. Called by idle sessions: each new waiter wakes one of them, and a
    /// session that becomes idle while somebody waits returns at once.
    pub(crate) async fn wanted(&self) {
        while self.waiting.load(Ordering::Acquire) == 0 {
            self.wanted.notified().await;
        }
    }
}

/// Counts a waiter for as long as it lives.
struct WaitingGuard<'a>(&'a Slots);

impl<'a> WaitingGuard<'a> {
    fn new(slots: &'a Slots) -> Self {
        slots.waiting.fetch_add(1, Ordering::AcqRel);
        slots.wanted.notify_one();
        Self(slots)
    }
}

impl Drop for WaitingGuard<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Slot {
    /// Waits for the slot; `None` if the engine shuts down first.
    pub(crate) async fn acquire(self) -> Option<OwnedSemaphorePermit> {
        match self {
            Self::Taken(permit) => Some(permit),
            Self::Waiting(slots) => {
                let _waiting = WaitingGuard::new(&slots);
                slots.free.clone().acquire_owned().await.ok()
            }
        }
    }
}
