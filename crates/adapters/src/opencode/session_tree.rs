//! Which of a server's sessions concern us: ours, and those of the agents that it started.

use std::collections::HashSet;

use super::wire::SessionInfo;

/// A session and its descendants.
#[derive(Debug, Default)]
pub(super) struct Family {
    first: String,
    others: HashSet<String>,
}

impl Family {
    /// The family of this session, of which no descendant is known yet.
    pub(super) fn of(session: String) -> Self {
        Self { first: session, others: HashSet::new() }
    }

    /// The session itself.
    pub(super) fn first(&self) -> &str {
        &self.first
    }

    /// Whether this session is the first or one of its descendants.
    pub(super) fn has(&self, session: &str) -> bool {
        self.first == session || self.others.contains(session)
    }

    /// Hears of a session; takes it in if it descends from one that is here.
    pub(super) fn hear(&mut self, session: SessionInfo) {
        if session.parent.is_some_and(|parent| self.has(&parent)) {
            self.others.insert(session.id);
        }
    }
}
