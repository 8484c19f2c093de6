//! What is done in a workspace's repository, and how somebody ends it.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// What runs now, by workspace; it all ends with the door.
pub(crate) struct LongWork {
    closing: CancellationToken,
    running: Mutex<HashMap<String, Weak<CancellationToken>>>,
}

impl LongWork {
    pub(crate) fn new(closing: CancellationToken) -> Self {
        Self { closing, running: Mutex::default() }
    }

    /// What tells work in this workspace to end; held for as long as it runs.
    pub(crate) fn begin(&self, workspace: &str) -> Arc<CancellationToken> {
        let mut running = self.running.lock();
        running.retain(|_, token| token.strong_count() > 0);
        running.get(workspace).and_then(Weak::upgrade).unwrap_or_else(|| {
            let token = Arc::new(self.closing.child_token());
            running.insert(workspace.to_owned(), Arc::downgrade(&token));
            token
        })
    }

    /// Ends what runs in this workspace; false if nothing does.
    pub(crate) fn end(&self, workspace: &str) -> bool {
        let token = self.running.lock().remove(workspace);
        let token = token.and_then(|token| token.upgrade());
        token.as_ref().inspect(|token| token.cancel()).is_some()
    }
}
