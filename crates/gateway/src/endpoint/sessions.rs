//! The sessions of legacy clients over HTTP, by their ids.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::session::Session;
use super::surface::View;
use crate::fair_share::{Admission, FairShare, Occupant};
use crate::principal::Principal;

/// Sessions that are kept; beyond it the one that was used longest ago ends.
const SHARE: FairShare = FairShare { of_all: 4096, of_one: 256 };
/// A session without a request and without a reader for this long ends.
pub(super) const IDLE: Duration = Duration::from_secs(60 * 60);

/// The open sessions.
#[derive(Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

impl Sessions {
    /// Ends the sessions that nobody uses any more.
    pub(super) fn end_unused(&self) {
        self.0.lock().retain(|_, session| {
            let is_used = !session.ended.is_cancelled() && (session.is_busy() || session.last_used().elapsed() < IDLE);
            if !is_used {
                session.ended.cancel();
            }
            is_used
        });
    }

    /// Adds a session. If it is one too many, another one ends.
    pub(super) fn insert(&self, session: Arc<Session>) {
        let mut all = self.0.lock();
        let occupants = all.values().map(|session| Occupant {
            key: session.id.clone(),
            owner: &session.context.principal,
            since: Some(session.last_used()),
        });
        if let Admission::Evict(oldest) = SHARE.admit(&session.context.principal, occupants)
            && let Some(oldest) = all.remove(&oldest)
        {
            oldest.ended.cancel();
        }
        all.insert(session.id.clone(), session);
    }

    /// The session of this id, if this principal opened it at this address and it has not ended.
    pub(super) fn get(&self, id: &str, principal: &Principal, view: &View) -> Option<Arc<Session>> {
        let session = self.0.lock().get(id).cloned()?;
        let is_theirs = session.context.principal == *principal && session.context.view == *view;
        (is_theirs && !session.ended.is_cancelled()).then(|| {
            session.touch();
            session
        })
    }

    /// Ends a session.
    pub(super) fn remove(&self, session: &Session) {
        session.ended.cancel();
        self.0.lock().remove(&session.id);
    }
}
