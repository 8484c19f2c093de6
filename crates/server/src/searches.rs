//! The searches of one client that go on.

use std::collections::HashMap;

use roost_rpc::Fault;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;

/// Searches of one client that go on at most.
const MOST: usize = 16;

/// A search that goes on; ends when dropped.
pub(crate) enum Running {
    /// Finds files by name while it is typed.
    Names {
        /// What is typed.
        text: watch::Sender<String>,
        /// Finds what fits each text; dropping it ends the search.
        task: AbortOnDropHandle<()>,
    },
    /// By content, or for repositories.
    Work { _cancel: DropGuard },
}

/// The searches of one client that go on, by id.
#[derive(Default)]
pub(crate) struct Searches(HashMap<String, Running>);

impl Searches {
    /// Takes one more.
    pub(crate) fn put(&mut self, id: String, running: Running) -> Result<(), Fault> {
        self.0.retain(|_, running| !matches!(running, Running::Names { task, .. } if task.is_finished()));
        if self.0.len() >= MOST {
            return Err(Fault::params(format_args!("{MOST} searches go on already; cancel one first")));
        }
        self.0.insert(id, running);
        Ok(())
    }

    /// Room for a search by content or for repositories, and what cancels it.
    pub(crate) fn begin(&mut self, id: String) -> Result<CancellationToken, Fault> {
        let cancel = CancellationToken::new();
        self.put(id, Running::Work { _cancel: cancel.clone().drop_guard() })?;
        Ok(cancel)
    }

    /// Goes on with another text.
    pub(crate) fn update(&self, id: &str, text: String) -> Result<(), Fault> {
        match self.0.get(id) {
            Some(Running::Names { text: typed, .. }) => {
                // A search whose task is gone finds nothing any more.
                typed.send_replace(text);
                Ok(())
            }
            _ => Err(Fault::params(format_args!("no search \"{id}\" goes on; repository/search/start begins one"))),
        }
    }

    /// Ends one; one that has ended already is fine.
    pub(crate) fn end(&mut self, id: &str) {
        self.0.remove(id);
    }

    /// Ends every search, when the connection ends.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
