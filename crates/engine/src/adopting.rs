//! A conversation that began outside of Roost becomes a session.

use roost_model::ids::{SessionId, WorkspaceId};
use roost_model::mode::{Mode, PermissionMode};
use roost_model::payload::SessionCreatedPayload;
use roost_model::session::Adopted;
use roost_model::transcript::is_shown;

use crate::engine::{CONTRACT_VERSION, Engine, directory};
use crate::error::Error;
use crate::native_history::Kept;
use crate::private::Private;

/// What a conversation that is taken over gets from here.
#[derive(Clone, Debug, Default)]
pub struct Adoption {
    /// How much it may do unasked.
    pub mode: Mode,
    /// The workspace that it belongs to.
    pub workspace_id: Option<WorkspaceId>,
}

impl Engine {
    /// Makes a session of a conversation, or finds the one that it is already. Nothing runs until it is prompted, and
    /// then its runtime goes on with it natively.
    pub async fn adopt(&self, kept: &Kept, adoption: Adoption) -> Result<SessionId, Error> {
        // Of two at once the second finds what the first has made.
        let _turn = self.adopting.lock().await;
        if let Some(record) = self.shared.log.session(kept.session.id.as_str()).await? {
            return Ok(record.session_id);
        }
        let unknown = || Error::UnknownSession(kept.session.id.to_string());
        let said = self.native_history.messages(kept).await?.ok_or_else(unknown)?;
        // A history counts every block of what was said, and not every message, because a message may still grow.
        let before = said.iter().flat_map(|past| &past.message.content).filter(|block| is_shown(block)).count();
        let adapter = self.native_history.adapter(kept)?;
        let session_id = kept.session_id();
        let created = SessionCreatedPayload {
            contract_version: CONTRACT_VERSION.into(),
            runtime: kept.runtime.clone(),
            cwd: directory(kept.cwd.as_ref()).await?,
            credential_namespace: kept.credential_namespace.clone(),
            title: kept.session.title.clone(),
            model: self.shared.config.models.get(kept.runtime.id()).cloned(),
            permission_mode: PermissionMode::from(adoption.mode),
            mode: adoption.mode,
            workspace_id: adoption.workspace_id,
            isolation: None,
            env: Vec::new(),
            runtime_config: None,
            runtime_config_hash: None,
            adopted: Some(Adopted { runtime_session_id: kept.session.id.clone(), messages: before as u64 }),
            forked: None,
        };
        self.begin(&session_id, adapter, created, Private::default()).await?;
        Ok(session_id)
    }
}
