//! The running searches of one client.

use std::collections::HashMap;

use roost_rpc::Fault;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;

/// The greatest number of running searches of one client.
const MOST: usize = 16;

/// A running search; dropping it cancels it.
pub(crate) enum ClientSearch {
    /// Finds files by name while the query is typed.
    Names {
        /// Sends the query as the client types it.
        text: watch::Sender<String>,
        /// Finds what fits each text; dropping it ends the search.
        task: AbortOnDropHandle<()>,
    },
    /// A search by content, or for repositories.
    Work { _cancel: DropGuard },
}

/// The running searches of one client, by id.
#[derive(Default)]
pub(crate) struct Searches(HashMap<String, ClientSearch>);

impl Searches {
    /// Registers a search under its id; refuses it when `MOST` searches of this client run already.
    pub(crate) fn put(&mut self, id: String, running: ClientSearch) -> Result<(), Fault> {
        self.0.retain(|_, running| !matches!(running, ClientSearch::Names { task, .. } if task.is_finished()));
        if self.0.len() >= MOST {
            return Err(Fault::params(format_args!("{MOST} searches go on already; cancel one first")));
        }
        self.0.insert(id, running);
        Ok(())
    }

    /// Registers a search by content or for repositories and returns the token that cancels it.
    pub(crate) fn begin(&mut self, id: String) -> Result<CancellationToken, Fault> {
        let cancel = CancellationToken::new();
        self.put(id, ClientSearch::Work { _cancel: cancel.clone().drop_guard() })?;
        Ok(cancel)
    }

    /// Gives a search by name another query.
    pub(crate) fn update(&self, id: &str, text: String) -> Result<(), Fault> {
        match self.0.get(id) {
            Some(ClientSearch::Names { text: typed, .. }) => {
                // A search whose task is gone finds nothing any more.
                typed.send_replace(text);
                Ok(())
            }
            _ => Err(Fault::params(format_args!("no search \"{id}\" goes on; repository/search/start begins one"))),
        }
    }

    /// Cancels a search; one that has ended already is no error.
    pub(crate) fn end(&mut self, id: &str) {
        self.0.remove(id);
    }

    /// Cancels every search, when the connection ends.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
