//! The git operations that run, and how `git/cancel` ends them.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// A cancellation token for each workspace with a running operation; all are cancelled when the server stops.
pub(crate) struct RunningOperations {
    closing: CancellationToken,
    running: Mutex<HashMap<String, Weak<CancellationToken>>>,
}

impl RunningOperations {
    pub(crate) fn new(closing: CancellationToken) -> Self {
        Self { closing, running: Mutex::default() }
    }

    /// The token that cancels operations in this workspace. The caller holds it for as long as its operation runs.
    pub(crate) fn begin(&self, workspace: &str) -> Arc<CancellationToken> {
        let mut running = self.running.lock();
        running.retain(|_, token| token.strong_count() > 0);
        running.get(workspace).and_then(Weak::upgrade).unwrap_or_else(|| {
            let token = Arc::new(self.closing.child_token());
            running.insert(workspace.to_owned(), Arc::downgrade(&token));
            token
        })
    }

    /// Cancels the operations in this workspace; false if none runs.
    pub(crate) fn end(&self, workspace: &str) -> bool {
        let token = self.running.lock().remove(workspace);
        let token = token.and_then(|token| token.upgrade());
        token.as_ref().inspect(|token| token.cancel()).is_some()
    }
}
