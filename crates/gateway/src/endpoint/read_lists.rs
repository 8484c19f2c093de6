//! Which lists of tools the hosted agents have read, so that a turn begins when its agent knows the newest one.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::future::join_all;
use parking_lot::Mutex;
use roost_model::ids::SessionId;
use tokio::time::timeout;

use super::Endpoint;
use super::session::Session;
use crate::principal::Principal;

/// How long a turn waits for its agent to read a changed list. One that does not goes on with the list that it knows.
const PATIENCE: Duration = Duration::from_secs(2);

/// The sessions of MCP that hosted agents have.
#[derive(Default)]
pub(super) struct ReadLists(Mutex<Vec<Weak<Session>>>);

impl ReadLists {
    /// Follows what a client reads, if it is a hosted agent.
    pub(super) fn follow(&self, session: &Arc<Session>) {
        if let Principal::Session(_) = session.context.principal {
            let mut all = self.0.lock();
            all.retain(|session| session.strong_count() > 0);
            all.push(Arc::downgrade(session));
        }
    }

    fn of(&self, agent: &SessionId) -> Vec<Arc<Session>> {
        let is_of_agent =
            |session: &Arc<Session>| matches!(&session.context.principal, Principal::Session(id) if id == agent);
        self.0.lock().iter().filter_map(Weak::upgrade).filter(is_of_agent).collect()
    }
}

impl Endpoint {
    /// Waits, for a bounded time, until a hosted agent has read the list of tools as it is now.
    pub async fn tools_read(&self, agent: &SessionId) {
        let sessions = self.read_lists.of(agent);
        let read = join_all(sessions.iter().map(async |session| {
            let newest = self.surface_of(&session.context);
            session.has_read_tools(&newest).await;
        }));
        if timeout(PATIENCE, read).await.is_err() {
            // It is waited for once per change.
            for session in sessions {
                session.note_tools_read(&self.surface_of(&session.context));
            }
        }
    }
}
