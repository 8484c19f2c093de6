//! A session's runtime while it is alive: opened, resumed or rebuilt from the log, and closed without leftovers.

use std::sync::Arc;

use futures::future::BoxFuture;
use roost_log::Log;
use roost_model::content::TranscriptMessage;
use roost_model::failure::{FailureCode, TaskError};
use roost_model::ids::{RuntimeSessionId, SessionId, TaskId};
use roost_model::mode::Mode;
use roost_model::runtime::{CreateSessionInput, InteractionMode, RuntimeEnv};
use roost_model::secret::Secret;
use roost_model::session::{Forked, SessionRecord};
use roost_model::tool::ToolManifest;
use roost_process::{EphemeralDir, Isolation};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::adapter::{AdapterError, McpServer, OpenSession, RuntimeAdapter, RuntimeSession, StartedTask, TaskInput};
use crate::context::{self, CompiledContext};
use crate::engine::Shared;
use crate::forking;
use crate::history;
use crate::images;
use crate::session_secrets::{SessionSecrets, Variables};
use crate::session_tokens::TokenLease;
use crate::slots::Slot;

/// An open runtime, its slot and its temporary folders.
pub(crate) struct Runtime {
    pub(crate) session: Box<dyn RuntimeSession>,
    ephemeral: Option<EphemeralDir>,
    /// Keeps the token valid by which it uses the MCP gateway; `None` if it was not attached to it.
    token: Option<TokenLease>,
    /// Frees the slot when dropped. `None` for a runtime that was taken over while all slots were in use.
    _slot: Option<OwnedSemaphorePermit>,
}

impl Runtime {
    /// A runtime that an earlier daemon opened.
    pub(crate) fn adopted(
        session: Box<dyn RuntimeSession>,
        slot: Option<OwnedSemaphorePermit>,
        ephemeral: Option<EphemeralDir>,
        token: Option<TokenLease>,
    ) -> Self {
        Self { session, ephemeral, token, _slot: slot }
    }

    /// Whether the host has MCP servers by now that it did not have when the runtime was opened.
    pub(crate) fn lacks_servers(&self, shared: &Shared, session: &SessionId) -> bool {
        self.token.is_none() && !(shared.config.mcp_servers)(session, &Secret::from("")).is_empty()
    }

    /// Ends the runtime's processes and its token, and removes its ephemeral folders.
    pub(crate) async fn close(self, log: &dyn Log) {
        if let Some(token) = self.token
            && let Err(error) = token.revoke(log).await
        {
            tracing::warn!(%error, "The hash of a session's token could not be deleted; the next start does it.");
        }
        self.session.close().await;
        if let Some(folders) = self.ephemeral
            && let Err(error) = folders.remove().await
        {
            tracing::warn!(%error, "The folders of an ephemeral session could not be removed.");
        }
    }
}

/// What is needed to open a session's runtime again.
#[derive(Clone)]
pub(crate) struct Profile {
    pub(crate) id: SessionId,
    pub(crate) adapter: Arc<dyn RuntimeAdapter>,
    pub(crate) cwd: String,
    pub(crate) namespace: String,
    /// How much of the user's home the runtime shares; `None` means as configured.
    pub(crate) isolation: Option<Isolation>,
    /// The session's own environment variables.
    pub(crate) env: Variables,
    /// The session's own MCP servers.
    mcp_servers: Vec<McpServer>,
    pub(crate) input: CreateSessionInput,
    /// The session that this one was forked from, if any.
    pub(crate) forked: Option<Forked>,
}

impl Profile {
    /// The profile of a stored session.
    pub(crate) fn from_record(
        record: &SessionRecord,
        adapter: Arc<dyn RuntimeAdapter>,
        secrets: SessionSecrets,
    ) -> Self {
        let input = CreateSessionInput {
            title: record.title.clone(),
            model: record.model.clone(),
            permission_mode: Some(record.mode.into()),
            runtime_config: secrets.runtime_config,
            variables: secrets.env.keys().cloned().collect(),
        };
        Self {
            id: record.session_id.clone(),
            adapter,
            cwd: record.cwd.clone(),
            namespace: record.credential_namespace.clone(),
            isolation: record.isolation,
            env: secrets.env,
            mcp_servers: secrets.mcp_servers,
            input,
            forked: record.forked.clone(),
        }
    }

    /// The part of it that is stored beside the log.
    pub(crate) fn secrets(&self) -> SessionSecrets {
        SessionSecrets {
            env: self.env.clone(),
            runtime_config: self.input.runtime_config.clone(),
            mcp_servers: self.mcp_servers.clone(),
        }
    }

    /// Adds the session's own servers to those of the host. One of the same name replaces the host's.
    fn all_servers(&self, mut servers: Vec<McpServer>) -> Vec<McpServer> {
        servers.retain(|server| self.mcp_servers.iter().all(|own| own.name != server.name));
        servers.extend(self.mcp_servers.iter().cloned());
        servers
    }
}

/// The input of a task that is about to start.
pub(crate) struct Job {
    pub(crate) task_id: TaskId,
    pub(crate) message: TranscriptMessage,
    pub(crate) mode: Mode,
    pub(crate) model: Option<String>,
    pub(crate) interaction_mode: InteractionMode,
    pub(crate) tool_manifest: Option<ToolManifest>,
}

/// The outcome of an [`Opening`]. The runtime is there even if the task could not be started on it.
pub(crate) struct OpeningOutcome {
    pub(crate) runtime: Option<Runtime>,
    pub(crate) task: Result<StartedTask, TaskError>,
}

/// A task that is being started, together with its runtime if that is not open yet.
pub(crate) struct Opening {
    done: BoxFuture<'static, OpeningOutcome>,
    /// Dropping it cancels the start.
    cancel: oneshot::Sender<()>,
}

impl Opening {
    fn new<F: Future<Output = OpeningOutcome> + Send + 'static>(open: impl FnOnce(oneshot::Receiver<()>) -> F) -> Self {
        let (cancel, cancelled) = oneshot::channel();
        Self { done: Box::pin(open(cancelled)), cancel }
    }

    /// An opening that has failed already.
    pub(crate) fn failed(failure: TaskError) -> Self {
        Self::new(|_| std::future::ready(OpeningOutcome { runtime: None, task: Err(failure) }))
    }

    /// Waits for the outcome. Cancel safe; must not be called again after it has returned.
    pub(crate) async fn outcome(&mut self) -> OpeningOutcome {
        (&mut self.done).await
    }

    /// Cancels the start and returns the runtime if it was open already. A runtime that is being launched is ended.
    pub(crate) async fn give_up(self) -> Option<Runtime> {
        drop(self.cancel);
        self.done.await.runtime
    }
}

/// Starts a task on a runtime that is open, once it knows which tools the host has by now.
pub(crate) fn start(shared: Arc<Shared>, runtime: Runtime, session: SessionId, job: Job) -> Opening {
    Opening::new(|mut cancelled| async move {
        if runtime.token.is_some() {
            tokio::select! {
                biased;
                _ = &mut cancelled => return OpeningOutcome { runtime: Some(runtime), task: Err(given_up()) },
                () = (shared.config.tools_read)(session) => {}
            }
        }
        start_task(&shared, runtime, job, Vec::new(), cancelled).await
    })
}

async fn start_task(
    shared: &Shared,
    mut runtime: Runtime,
    job: Job,
    history: Vec<TranscriptMessage>,
    mut cancelled: oneshot::Receiver<()>,
) -> OpeningOutcome {
    let input = match input(shared, job, history).await {
        Ok(input) => input,
        Err(failure) => return OpeningOutcome { runtime: Some(runtime), task: Err(*failure) },
    };
    let task = tokio::select! {
        biased;
        _ = &mut cancelled => Err(given_up()),
        task = runtime.session.start_task(input) => task.map_err(Into::into),
    };
    OpeningOutcome { runtime: Some(runtime), task }
}

fn given_up() -> TaskError {
    TaskError::new(FailureCode::Cancelled, "the task was stopped before it began")
}

/// Opens the runtime and starts a task on it. The session is resumed natively if the runtime still has it, else rebuilt
/// from the log.
pub(crate) fn open(
    shared: Arc<Shared>,
    slot: Slot,
    profile: Profile,
    native: Option<RuntimeSessionId>,
    job: Job,
) -> Opening {
    Opening::new(|mut cancelled| async move {
        let launched = tokio::select! {
            biased;
            _ = &mut cancelled => Err(given_up()),
            launched = launch(&shared, slot, &profile, native, job.mode) => launched,
        };
        let (runtime, rebuild_env) = match launched {
            Err(failure) => return OpeningOutcome { runtime: None, task: Err(failure) },
            Ok(launched) => launched,
        };
        let history = match rebuild_env {
            None => Ok(Vec::new()),
            Some(env) => history::transcript_before(&shared, &profile, &env, &job).await,
        };
        match history {
            Ok(history) => start_task(&shared, runtime, job, history, cancelled).await,
            Err(error) => {
                let task = Err(TaskError::new(FailureCode::Internal, error.to_string()));
                OpeningOutcome { runtime: Some(runtime), task }
            }
        }
    })
}

/// Opens the runtime in a slot. The environment is returned if the runtime does not remember the conversation, so that
/// its history must be sent along.
async fn launch(
    shared: &Shared,
    slot: Slot,
    profile: &Profile,
    native: Option<RuntimeSessionId>,
    mode: Mode,
) -> Result<(Runtime, Option<RuntimeEnv>), TaskError> {
    let Some(slot) = slot.acquire().await else {
        return Err(TaskError::new(FailureCode::Cancelled, "Roost is shutting down"));
    };
    let environments = &shared.config.environments;
    let isolation = shared.config.isolation_of(profile.isolation, &profile.adapter.name());
    let environment = environments.for_session(isolation, &profile.id, &profile.namespace, &profile.cwd).await;
    let (mut env, ephemeral) =
        environment.map_err(|error| TaskError::new(FailureCode::SpawnFailed, error.to_string()))?;
    env.env.extend(profile.env.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())));
    let (host_servers, token) = attach(shared, &profile.id).await?;
    let open = OpenSession {
        session_id: profile.id.clone(),
        env,
        input: profile.input.clone(),
        mode,
        mcp_servers: profile.all_servers(host_servers),
    };
    let adapter = &profile.adapter;
    let resumed = match native {
        None => match &profile.forked {
            Some(forked) => forking::fork_natively(shared, &**adapter, &open, forked).await?,
            None => None,
        },
        Some(native) => match adapter.resume_session(open.clone(), native).await {
            Err(AdapterError::UnknownSession(native)) => {
                tracing::info!(%native, "The runtime has forgotten the session; it is rebuilt from the log.");
                None
            }
            answered => Some(answered?),
        },
    };
    let (session, rebuild_env) = match resumed {
        Some(session) => (session, None),
        None => {
            let env = open.env.clone();
            (adapter.create_session(open).await?, Some(env))
        }
    };
    Ok((Runtime { session, ephemeral, token, _slot: Some(slot) }, rebuild_env))
}

/// The host's MCP servers for a session, and its token for them if there are any.
async fn attach(shared: &Shared, session: &SessionId) -> Result<(Vec<McpServer>, Option<TokenLease>), TaskError> {
    let failed = |error: String| TaskError::new(FailureCode::Internal, error);
    let (token, lease) = shared.tokens.issue(session).map_err(|error| failed(format!("no random numbers: {error}")))?;
    let servers = (shared.config.mcp_servers)(session, &token);
    if servers.is_empty() {
        return Ok((servers, None));
    }
    lease.store(&*shared.log).await.map_err(|error| failed(error.to_string()))?;
    Ok((servers, Some(lease)))
}

/// Builds the adapter's input: loads the images and cuts the history to the limit.
async fn input(shared: &Shared, job: Job, history: Vec<TranscriptMessage>) -> Result<TaskInput, Box<TaskError>> {
    let images = images::load(&shared.artifacts, &job.message).await;
    let images = images.map_err(|error| Box::new(TaskError::new(FailureCode::Internal, error.to_string())))?;
    let CompiledContext { history, window } = context::compile(history, &job.message, shared.config.max_context_chars)
        .map_err(|error| Box::new(TaskError::new(FailureCode::ContextTooLarge, error.to_string())))?;
    Ok(TaskInput {
        task_id: job.task_id,
        history,
        messages: vec![job.message],
        images,
        context_window: window,
        tool_manifest: job.tool_manifest,
        mode: job.mode,
        model: job.model,
        interaction_mode: job.interaction_mode,
    })
}
