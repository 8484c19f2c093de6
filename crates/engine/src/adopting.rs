//! Turns a conversation that began outside of Roost, in the runtime's own terminal interface, into a session.

use roost_model::ids::{SessionId, WorkspaceId};
use roost_model::mode::{Mode, PermissionMode};
use roost_model::payload::SessionCreatedPayload;
use roost_model::session::Adopted;
use roost_model::transcript::is_shown;

use crate::engine::{CONTRACT_VERSION, Engine, directory};
use crate::error::Error;
use crate::native_history::HistoryEntry;
use crate::session_secrets::SessionSecrets;

/// What an adopted session has that its conversation does not say.
#[derive(Clone, Debug, Default)]
pub struct Adoption {
    /// The permission mode of its first task.
    pub mode: Mode,
    /// The registered workspace that it belongs to, if any.
    pub workspace_id: Option<WorkspaceId>,
}

impl Engine {
    /// Makes a session of a conversation, or returns the one that was made of it before. Its runtime starts with the
    /// first prompt and resumes the conversation natively.
    pub async fn adopt(&self, kept: &HistoryEntry, adoption: Adoption) -> Result<SessionId, Error> {
        // Of two requests at the same time, the second finds the session of the first.
        let _guard = self.adopting.lock().await;
        if let Some(record) = self.shared.log.session(kept.session.id.as_str()).await? {
            return Ok(record.session_id);
        }
        let unknown = || Error::UnknownSession(kept.session.id.to_string());
        let messages = self.native_history.messages(kept).await?.ok_or_else(unknown)?;
        // Blocks are counted, not messages, because the last message may still grow.
        let before = messages.iter().flat_map(|past| &past.message.content).filter(|block| is_shown(block)).count();
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
            mcp_servers: Vec::new(),
            runtime_config: None,
            runtime_config_hash: None,
            adopted: Some(Adopted { runtime_session_id: kept.session.id.clone(), messages: before as u64 }),
            forked: None,
        };
        self.begin(&session_id, adapter, created, SessionSecrets::default()).await?;
        Ok(session_id)
    }
}
