//! How many calls of one service are under way at once, over all its connections.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::UpstreamError;

/// How many calls may wait for their turn at a service; further ones are refused.
pub(super) const MAX_WAITING: usize = 256;

/// Lets a number of calls run, lets some more wait, and refuses the rest.
#[derive(Clone)]
pub(super) struct CallLimiter {
    /// One permit for each call that may be under way.
    running: Arc<Semaphore>,
    /// One permit for each call that runs or waits.
    admitted: Arc<Semaphore>,
    max_waiting: usize,
}

/// The place of one call; dropping it lets the next one run.
pub(super) struct CallPermit {
    _running: OwnedSemaphorePermit,
    _admitted: OwnedSemaphorePermit,
}

impl CallLimiter {
    pub(super) fn new(max_running: usize, max_waiting: usize) -> Self {
        let (running, admitted) = (Semaphore::new(max_running), Semaphore::new(max_running + max_waiting));
        Self { running: Arc::new(running), admitted: Arc::new(admitted), max_waiting }
    }

    /// Waits for a place.
    pub(super) async fn admit(&self) -> Result<CallPermit, UpstreamError> {
        let busy = UpstreamError::Busy(self.max_waiting);
        let admitted = self.admitted.clone().try_acquire_owned().map_err(|_| busy.clone())?;
        // The semaphore is never closed.
        let running = self.running.clone().acquire_owned().await.map_err(|_| busy)?;
        Ok(CallPermit { _running: running, _admitted: admitted })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn calls_wait_for_their_turn_and_too_many_are_refused() {
        let limiter = CallLimiter::new(1, 1);
        let first = limiter.admit().await.ok().unwrap();
        let mut second = tokio_test_pending(limiter.clone());
        tokio::task::yield_now().await;
        assert_eq!(limiter.admit().await.err(), Some(UpstreamError::Busy(1)));
        assert!(!second.is_finished());
        drop(first);
        assert!((&mut second).await.unwrap().is_ok());
    }

    fn tokio_test_pending(limiter: CallLimiter) -> tokio::task::JoinHandle<Result<CallPermit, UpstreamError>> {
        tokio::spawn(async move { limiter.admit().await })
    }
}
