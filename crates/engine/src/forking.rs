//! Forks a session: a new one continues from where another is now, and that one stays as it is.
//!
//! If the runtime can fork its own conversation, and the source has had no further task by the time of the first
//! prompt, the runtime does it. Otherwise the new session gets the transcript from the log. Either way both share the
//! same past and nothing after it.

use roost_model::canonical;
use roost_model::ids::{RuntimeSessionId, SessionId};
use roost_model::mode::{Mode, PermissionMode};
use roost_model::payload::SessionCreatedPayload;
use roost_model::session::{Forked, SessionRecord};

use crate::adapter::{AdapterError, OpenSession, RuntimeAdapter, RuntimeSession};
use crate::engine::{CONTRACT_VERSION, Engine, Shared, directory};
use crate::error::Error;
use crate::history;
use crate::session_secrets::SessionSecrets;

/// What may differ between a fork and its source. A field that is `None` is copied from the source.
#[derive(Clone, Debug, Default)]
pub struct Fork {
    /// The name that lists show.
    pub title: Option<String>,
    /// The permission mode.
    pub mode: Option<Mode>,
}

impl Engine {
    /// Makes a session with the same past as this one. Its runtime starts with the first prompt.
    pub async fn fork(&self, session: &str, fork: Fork) -> Result<SessionId, Error> {
        let (source, seq) = self.idle_snapshot(session).await?;
        let adapter = self.runtimes().usable_by_name(&source.runtime)?;
        let secrets = SessionSecrets::load(&*self.shared.log, &source).await?;
        let session_id = SessionId::new();
        secrets.store(&*self.shared.log, &session_id).await?;
        let mode = fork.mode.unwrap_or(source.mode);
        let created = SessionCreatedPayload {
            contract_version: CONTRACT_VERSION.into(),
            runtime: source.runtime,
            cwd: directory(source.cwd.as_ref()).await?,
            credential_namespace: source.credential_namespace,
            title: fork.title.or(source.title),
            model: source.model,
            permission_mode: PermissionMode::from(mode),
            mode,
            workspace_id: source.workspace_id,
            isolation: source.isolation,
            env: source.env,
            mcp_servers: source.mcp_servers,
            runtime_config_hash: secrets.runtime_config.as_ref().map(|config| canonical::hash(&config.clone().into())),
            runtime_config: source.runtime_config,
            adopted: None,
            forked: Some(Forked { session_id: source.session_id, seq, tasks: source.tasks, messages: source.messages }),
        };
        self.begin(&session_id, adapter, created, secrets).await?;
        Ok(session_id)
    }

    /// The record of an idle session together with its last event's number, both of the same moment; [`Error::Working`]
    /// if a task runs.
    async fn idle_snapshot(&self, session: &str) -> Result<(SessionRecord, u64), Error> {
        let id = self.shared.record(session).await?.session_id;
        let mut seq = history::last_seq(&self.shared, &id).await?;
        loop {
            let record = self.shared.record(id.as_str()).await?;
            if record.open_task.is_some() {
                return Err(Error::Working(id));
            }
            match history::last_seq(&self.shared, &id).await? {
                same if same == seq => return Ok((record, seq)),
                later => seq = later,
            }
        }
    }
}

/// Lets the runtime fork its own conversation; `None` if it cannot, has none, or the source had a task since.
pub(crate) async fn fork_natively(
    shared: &Shared,
    adapter: &dyn RuntimeAdapter,
    open: &OpenSession,
    forked: &Forked,
) -> Result<Option<Box<dyn RuntimeSession>>, AdapterError> {
    let Some(native) = unchanged_source(shared, forked).await else { return Ok(None) };
    match adapter.fork_session(open.clone(), native).await {
        Err(AdapterError::UnknownSession(_) | AdapterError::Unsupported(_)) => {
            tracing::info!(source = %forked.session_id, "The runtime does not fork the session; it is told of it instead.");
            Ok(None)
        }
        forked => forked.map(Some),
    }
}

/// The runtime's id of the source session, if the source had no task since it was forked.
async fn unchanged_source(shared: &Shared, forked: &Forked) -> Option<RuntimeSessionId> {
    let source = shared.record(forked.session_id.as_str()).await.ok()?;
    let is_same = source.tasks == forked.tasks && source.open_task.is_none();
    source.runtime_session_id.filter(|_| is_same)
}
