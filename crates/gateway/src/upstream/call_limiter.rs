//! How many calls of one service are under way at once, over all its connections, and whose turn is next.
//!
//! A free turn goes to the principal that has the fewest calls under way, and among equals to the call that waits longest.
//! So one principal that floods a service makes only its own calls wait long.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::UpstreamError;
use crate::principal::Principal;

/// How many calls may wait for their turn at a service; further ones are refused.
pub(super) const MAX_WAITING: usize = 256;
/// One principal may have this part of the waiting calls, so that others still find room.
const SHARE_OF_ONE: usize = 4;

/// Lets a number of calls run, lets some more wait, and refuses the rest.
#[derive(Clone)]
pub(super) struct CallLimiter(Arc<Shared>);

struct Shared {
    max_running: usize,
    max_waiting: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: usize,
    /// Calls that run, wait, or have given their turn back for a while.
    admitted: usize,
    last_waiting: u64,
    shares: HashMap<Principal, Share>,
}

/// What one principal has of a service.
#[derive(Default)]
struct Share {
    running: usize,
    admitted: usize,
    /// The calls that wait, numbered in the order in which they came.
    waiting: VecDeque<(u64, oneshot::Sender<()>)>,
}

/// The way of one principal's calls to a service.
#[derive(Clone)]
pub(super) struct CallQueue(Arc<OwnQueue>);

struct OwnQueue {
    shared: Arc<Shared>,
    principal: Principal,
}

/// A call that counts among those of its principal until this is dropped.
pub(super) struct AdmittedCall(CallQueue);

/// The right of a call to be under way; dropping it lets the next one run.
pub(super) struct CallTurn(CallQueue);

impl CallLimiter {
    pub(super) fn new(max_running: usize, max_waiting: usize) -> Self {
        Self(Arc::new(Shared { max_running, max_waiting, state: Mutex::default() }))
    }

    /// The queue of a principal's calls.
    pub(super) fn queue(&self, principal: &Principal) -> CallQueue {
        CallQueue(Arc::new(OwnQueue { shared: self.0.clone(), principal: principal.clone() }))
    }
}

impl Shared {
    /// Gives free turns to those whose turn it is.
    fn grant(&self, state: &mut State) {
        while state.running < self.max_running {
            let waiting = state.shares.values_mut().filter(|share| !share.waiting.is_empty());
            let next = waiting.min_by_key(|share| (share.running, share.waiting.front().map(|(number, _)| *number)));
            let Some(share) = next else { return };
            // One that has been given up takes no turn.
            if share.waiting.pop_front().is_some_and(|(_, waiting)| waiting.send(()).is_ok()) {
                share.running += 1;
                state.running += 1;
            }
        }
    }
}

impl CallQueue {
    /// Lets a call in, unless too many are there.
    pub(super) fn enter(&self) -> Result<AdmittedCall, UpstreamError> {
        let Shared { max_running, max_waiting, state } = &*self.0.shared;
        let of_one = max_waiting.div_ceil(SHARE_OF_ONE);
        let mut state = state.lock();
        if state.admitted >= max_running + max_waiting {
            return Err(UpstreamError::Busy(*max_waiting));
        }
        let share = state.shares.entry(self.0.principal.clone()).or_default();
        if share.admitted >= max_running + of_one {
            return Err(UpstreamError::Busy(of_one));
        }
        share.admitted += 1;
        state.admitted += 1;
        Ok(AdmittedCall(self.clone()))
    }

    /// Waits for a turn.
    pub(super) async fn turn(&self) -> CallTurn {
        let mut waiting = {
            let shared = &self.0.shared;
            let mut state = shared.state.lock();
            state.last_waiting += 1;
            let number = state.last_waiting;
            let (turn, granted) = oneshot::channel();
            state.shares.entry(self.0.principal.clone()).or_default().waiting.push_back((number, turn));
            shared.grant(&mut state);
            WaitingCall { queue: self, number, granted }
        };
        // The sender is in the queue until it is this call's turn.
        let _ = (&mut waiting.granted).await;
        CallTurn(self.clone())
    }

    /// Takes a turn at once, also if there is none.
    pub(super) fn turn_at_once(&self) -> CallTurn {
        let mut state = self.0.shared.state.lock();
        state.running += 1;
        state.shares.entry(self.0.principal.clone()).or_default().running += 1;
        CallTurn(self.clone())
    }

    /// Changes what the principal has, and forgets it when that is nothing.
    fn change(&self, change: impl FnOnce(&mut State, &Principal)) {
        let mut state = self.0.shared.state.lock();
        change(&mut state, &self.0.principal);
        self.0.shared.grant(&mut state);
        let is_nothing = |share: &Share| share.admitted == 0 && share.running == 0 && share.waiting.is_empty();
        if state.shares.get(&self.0.principal).is_some_and(is_nothing) {
            state.shares.remove(&self.0.principal);
        }
    }
}

/// A call that waits for its turn. If it is given up, so is its place in the queue, or the turn that it was just given.
struct WaitingCall<'a> {
    queue: &'a CallQueue,
    number: u64,
    granted: oneshot::Receiver<()>,
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        // Whoever received the turn has it already.
        if self.granted.is_terminated() {
            return;
        }
        if self.granted.try_recv().is_ok() {
            drop(CallTurn(self.queue.clone()));
            return;
        }
        self.queue.change(|state, principal| {
            if let Some(share) = state.shares.get_mut(principal) {
                share.waiting.retain(|(number, _)| *number != self.number);
            }
        });
    }
}

impl Drop for AdmittedCall {
    fn drop(&mut self) {
        self.0.change(|state, principal| {
            state.admitted -= 1;
            if let Some(share) = state.shares.get_mut(principal) {
                share.admitted -= 1;
            }
        });
    }
}

impl Drop for CallTurn {
    fn drop(&mut self) {
        self.0.change(|state, principal| {
            state.running -= 1;
            if let Some(share) = state.shares.get_mut(principal) {
                share.running -= 1;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn named(name: &str) -> Principal {
        Principal::Session(name.into())
    }

    #[test]
    fn calls_wait_for_their_turn_and_too_many_are_refused() {
        let queue = CallLimiter::new(1, 1).queue(&Principal::Local);
        let (_first, _second) = (queue.enter().ok().unwrap(), queue.enter().ok().unwrap());
        assert_eq!(queue.enter().err(), Some(UpstreamError::Busy(1)));
        let first = queue.turn().now_or_never().unwrap();
        let mut second = Box::pin(queue.turn());
        assert!((&mut second).now_or_never().is_none());
        drop(first);
        assert!((&mut second).now_or_never().is_some());
    }

    #[test]
    fn who_floods_a_service_makes_nobody_else_be_refused_or_wait_behind_it() {
        let limiter = CallLimiter::new(2, 16);
        let (flood, other) = (limiter.queue(&named("flood")), limiter.queue(&named("other")));
        let mut admitted = Vec::new();
        let refused = loop {
            match flood.enter() {
                Ok(call) => admitted.push(call),
                Err(error) => break error,
            }
        };
        assert_eq!((admitted.len(), refused), (6, UpstreamError::Busy(4)));
        let mut running: Vec<_> = (0..2).map(|_| flood.turn().now_or_never().unwrap()).collect();
        let mut waiting: Vec<_> = (0..4).map(|_| Box::pin(flood.turn())).collect();
        assert!(waiting.iter_mut().all(|call| call.now_or_never().is_none()));
        let _admitted = other.enter().ok().unwrap();
        let mut late = Box::pin(other.turn());
        assert!((&mut late).now_or_never().is_none());
        running.pop();
        let _turn = late.now_or_never().expect("it comes before those that came earlier");
        assert!(waiting.iter_mut().all(|call| call.now_or_never().is_none()));
    }

    #[test]
    fn a_turn_that_is_given_to_a_call_that_was_given_up_goes_to_the_next() {
        let limiter = CallLimiter::new(1, 8);
        let queue = limiter.queue(&Principal::Local);
        let first = queue.turn().now_or_never().unwrap();
        let (mut given_up, mut early, mut next) =
            (Box::pin(queue.turn()), Box::pin(queue.turn()), Box::pin(queue.turn()));
        assert!((&mut given_up).now_or_never().is_none());
        assert!((&mut early).now_or_never().is_none() && (&mut next).now_or_never().is_none());
        drop(given_up);
        drop(first);
        drop(early);
        drop((&mut next).now_or_never().unwrap());
        assert!(limiter.0.state.lock().shares.is_empty(), "nothing is kept of those who have nothing");
    }
}
