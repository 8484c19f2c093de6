//! How many runtimes may be alive at once, and what happens to the one too many.

use std::sync::Arc;

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
    wanted: Notify,
}

/// A place, or a place in the line for one.
pub(crate) enum Slot {
    Taken(OwnedSemaphorePermit),
    Waiting(Arc<Slots>),
}

impl Slots {
    pub(crate) fn new(max: usize, when_full: WhenFull) -> Self {
        Self { max, when_full, free: Arc::new(Semaphore::new(max)), wanted: Notify::new() }
    }

    /// A place now, a place in the line, or a refusal, as configured.
    pub(crate) fn claim(self: &Arc<Self>) -> Result<Slot, Error> {
        match self.free.clone().try_acquire_owned() {
            Ok(permit) => Ok(Slot::Taken(permit)),
            Err(_) if self.when_full == WhenFull::Queue => Ok(Slot::Waiting(self.clone())),
            Err(_) => Err(Error::TooManySessions { max: self.max }),
        }
    }

    /// Returns when somebody waits for a place; wakes one idle session per waiter.
    pub(crate) async fn wanted(&self) {
        self.wanted.notified().await;
    }
}

impl Slot {
    /// The place, once there is one; `None` when the engine goes down first.
    pub(crate) async fn taken(self) -> Option<OwnedSemaphorePermit> {
        match self {
            Self::Taken(permit) => Some(permit),
            Self::Waiting(slots) => {
                slots.wanted.notify_one();
                slots.free.clone().acquire_owned().await.ok()
            }
        }
    }
}
