//! How many runtimes may be alive at once, and what happens to the one too many.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::error::Error;

/// What happens to a prompt when as many runtimes are alive as may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// It waits; an idle runtime is released for it.
    #[default]
    Queue,
    /// It is refused.
    Reject,
}

/// The places for runtimes.
#[derive(Debug)]
pub(crate) struct Slots {
    max: usize,
    when_full: WhenFull,
    free: Arc<Semaphore>,
    /// How many wait for a place.
    waiting: AtomicUsize,
    /// Wakes one idle session for each that begins to wait.
    wanted: Notify,
}

/// A place, or a place in the line for one.
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

    /// A place now, a place in the line, or a refusal, as configured.
    pub(crate) fn claim(self: &Arc<Self>) -> Result<Slot, Error> {
        match self.free.clone().try_acquire_owned() {
            Ok(permit) => Ok(Slot::Taken(permit)),
            Err(_) if self.when_full == WhenFull::Queue => Ok(Slot::Waiting(self.clone())),
            Err(_) => Err(Error::TooManySessions { max: self.max }),
        }
    }

    /// A place for a runtime that is alive already; it is not ended for want of one.
    pub(crate) fn adopt(&self) -> Option<OwnedSemaphorePermit> {
        self.free.clone().try_acquire_owned().ok()
    }

    /// Returns when somebody waits for a place: at once to whoever becomes idle meanwhile, else to one idle session.
    pub(crate) async fn wanted(&self) {
        while self.waiting.load(Ordering::Acquire) == 0 {
            self.wanted.notified().await;
        }
    }
}

/// One that waits for a place, until it is dropped.
struct Waiting<'a>(&'a Slots);

impl<'a> Waiting<'a> {
    fn new(slots: &'a Slots) -> Self {
        slots.waiting.fetch_add(1, Ordering::AcqRel);
        slots.wanted.notify_one();
        Self(slots)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Slot {
    /// The place, once there is one; `None` when the engine goes down first.
    pub(crate) async fn taken(self) -> Option<OwnedSemaphorePermit> {
        match self {
            Self::Taken(permit) => Some(permit),
            Self::Waiting(slots) => {
                let _waiting = Waiting::new(&slots);
                slots.free.clone().acquire_owned().await.ok()
            }
        }
    }
}
