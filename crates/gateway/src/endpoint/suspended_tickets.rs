//! Permits of calls that a modern service has not finished, because it needs input of the client first.
//!
//! The client's next request goes on with the same call, so nobody is asked again about it.

use std::collections::HashMap;

use parking_lot::Mutex;
use tokio::time::Instant;

use super::ANSWER_LIMIT;
use super::running_call::OpenTicket;
use crate::fair_share::{Admission, FairShare, Occupant};
use crate::principal::Principal;

/// Permits that are kept; beyond it the oldest is given back.
const SHARE: FairShare = FairShare { of_all: 1024, of_one: 64 };

/// The permits, by principal and call. Each is good for one continuation.
#[derive(Default)]
pub(super) struct SuspendedTickets(Mutex<HashMap<(Principal, String), (Instant, OpenTicket)>>);

impl SuspendedTickets {
    /// Gives back the permits of calls with which nobody went on.
    pub(super) fn forget_expired(&self) {
        self.0.lock().retain(|_, (since, _)| since.elapsed() < ANSWER_LIMIT);
    }

    pub(super) fn put(&self, principal: &Principal, digest: &str, ticket: OpenTicket) {
        let mut all = self.0.lock();
        let occupants = all.iter();
        let occupants =
            occupants.map(|(key, (since, _))| Occupant { key: key.clone(), owner: &key.0, since: Some(*since) });
        if let Admission::Evict(oldest) = SHARE.admit(principal, occupants) {
            all.remove(&oldest);
        }
        all.insert((principal.clone(), digest.to_owned()), (Instant::now(), ticket));
    }

    pub(super) fn take(&self, principal: &Principal, digest: &str) -> Option<OpenTicket> {
        let (since, ticket) = self.0.lock().remove(&(principal.clone(), digest.to_owned()))?;
        (since.elapsed() < ANSWER_LIMIT).then_some(ticket)
    }
}
