//! A session that goes on from where another one is, while that one stays as it was.
//!
//! The runtime forks its own conversation where it can and where the other session has not gone on by the first prompt;
//! else the new one is told what was said, from the log. Either way both share the same past and nothing after it.

use roost_model::canonical;
use roost_model::ids::{RuntimeSessionId, SessionId};
use roost_model::mode::{Mode, PermissionMode};
use roost_model::payload::SessionCreatedPayload;
use roost_model::session::{Forked, SessionRecord};

use crate::adapter::{AdapterError, OpenSession, RuntimeAdapter, RuntimeSession};
use crate::engine::{CONTRACT_VERSION, Engine, Shared, directory};
use crate::error::Error;
use crate::history;
use crate::private::Private;

/// What a fork does not take from the session that it is of.
#[derive(Clone, Debug, Default)]
pub struct Fork {
    /// Its name.
    pub title: Option<String>,
    /// How much it may do unasked.
    pub mode: Option<Mode>,
}

impl Engine {
    /// Makes a session that knows all that was said in this one. Nothing runs until it is prompted.
    pub async fn fork(&self, session: &str, fork: Fork) -> Result<SessionId, Error> {
        let (source, seq) = self.at_rest(session).await?;
        let adapter = self.runtimes().usable_by_name(&source.runtime)?;
        let private = Private::of(&*self.shared.log, &source).await?;
        let session_id = SessionId::new();
        private.store(&*self.shared.log, &session_id).await?;
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
            runtime_config_hash: private.runtime_config.as_ref().map(|config| canonical::hash(&config.clone().into())),
            runtime_config: source.runtime_config,
            adopted: None,
            forked: Some(Forked { session_id: source.session_id, seq, tasks: source.tasks, messages: source.messages }),
        };
        self.begin(&session_id, adapter, created, private).await?;
        Ok(session_id)
    }

    /// The session and its last event, of the same moment, in which it does nothing.
    async fn at_rest(&self, session: &str) -> Result<(SessionRecord, u64), Error> {
        let id = self.shared.record(session).await?.session_id;
        let mut seq = history::last(&self.shared, &id).await?;
        loop {
            let record = self.shared.record(id.as_str()).await?;
            if record.open_task.is_some() {
                return Err(Error::Working(id));
            }
            match history::last(&self.shared, &id).await? {
                same if same == seq => return Ok((record, seq)),
                later => seq = later,
            }
        }
    }
}

/// The runtime's own fork of its conversation; `None` if there is none to fork, it cannot, or it has gone on since.
pub(crate) async fn natively(
    shared: &Shared,
    adapter: &dyn RuntimeAdapter,
    open: &OpenSession,
    forked: &Forked,
) -> Result<Option<Box<dyn RuntimeSession>>, AdapterError> {
    let Some(native) = unchanged(shared, forked).await else { return Ok(None) };
    match adapter.fork_session(open.clone(), native).await {
        Err(AdapterError::UnknownSession(_) | AdapterError::Unsupported(_)) => {
            tracing::info!(source = %forked.session_id, "The runtime does not fork the session; it is told of it instead.");
            Ok(None)
        }
        forked => forked.map(Some),
    }
}

/// The runtime's id of the session that was forked, as long as nothing has been said there since.
async fn unchanged(shared: &Shared, forked: &Forked) -> Option<RuntimeSessionId> {
    let source = shared.record(forked.session_id.as_str()).await.ok()?;
    let is_same = source.tasks == forked.tasks && source.open_task.is_none();
    source.runtime_session_id.filter(|_| is_same)
}
