//! The sessions in which clients that are no hosted agents are asked about: one per principal, made when first needed.

use std::collections::HashMap;

use parking_lot::Mutex;
use roost_engine::{Engine, Error};
use roost_model::ids::SessionId;
use roost_model::mode::Mode;

use crate::principal::Principal;

/// The session of each principal that has one.
#[derive(Default)]
pub(super) struct ClientSessions {
    sessions: Mutex<HashMap<Principal, SessionId>>,
    /// Held while a session is made, so that two calls of one principal make one session.
    making: tokio::sync::Mutex<()>,
}

impl ClientSessions {
    /// The session of this principal, if it has one.
    pub(super) fn get(&self, principal: &Principal) -> Option<SessionId> {
        self.sessions.lock().get(principal).cloned()
    }

    /// The session of this principal, made now if it has none. Its title is what the client called itself then.
    pub(super) async fn open(
        &self,
        engine: &Engine,
        principal: &Principal,
        client: Option<&str>,
        mode: Mode,
    ) -> Result<SessionId, Error> {
        let _making = self.making.lock().await;
        if let Some(session) = self.get(principal) {
            return Ok(session);
        }
        let title = format!("{} (MCP client, {principal})", client.unwrap_or("unnamed"));
        let session = engine.create_client_session(title, mode).await?;
        self.sessions.lock().insert(principal.clone(), session.clone());
        Ok(session)
    }
}
