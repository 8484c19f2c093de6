//! Which sessions of a server belong to ours: the session itself, and those of the subagents that it started.

use std::collections::HashSet;

use super::wire::SessionInfo;

/// A session and its known descendants, by OpenCode's ids.
#[derive(Debug, Default)]
pub(super) struct SessionTree {
    root: String,
    descendants: HashSet<String>,
}

impl SessionTree {
    /// A tree with only its root.
    pub(super) fn new(session: String) -> Self {
        Self { root: session, descendants: HashSet::new() }
    }

    /// The session that the tree began with.
    pub(super) fn root(&self) -> &str {
        &self.root
    }

    /// Whether the session is the root or a descendant of it.
    pub(super) fn contains(&self, session: &str) -> bool {
        self.root == session || self.descendants.contains(session)
    }

    /// Adds a session if its parent is in the tree; others are ignored.
    pub(super) fn add(&mut self, session: SessionInfo) {
        if session.parent.is_some_and(|parent| self.contains(&parent)) {
            self.descendants.insert(session.id);
        }
    }
}
