//! A session's runtime while it is alive: opened, resumed or rebuilt, and ended without a trace.

use std::sync::Arc;

use futures::future::BoxFuture;
use roost_model::content::TranscriptMessage;
use roost_model::failure::{FailureCode, TaskError};
use roost_model::ids::{RuntimeSessionId, SessionId, TaskId};
use roost_model::mode::Mode;
use roost_model::runtime::{CreateSessionInput, InteractionMode, RuntimeEnv};
use roost_model::session::{Forked, SessionRecord};
use roost_model::tool::ToolManifest;
use roost_process::{EphemeralDir, Isolation};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::adapter::{AdapterError, McpServer, OpenSession, RuntimeAdapter, RuntimeSession, StartedTask, TaskInput};
use crate::context::{self, Compiled};
use crate::engine::Shared;
use crate::forking;
use crate::history;
use crate::images;
use crate::private::{Private, Variables};
use crate::slots::Slot;

/// An open runtime and what it occupies.
pub(crate) struct Runtime {
    pub(crate) session: Box<dyn RuntimeSession>,
    ephemeral: Option<EphemeralDir>,
    /// `None` for one that was taken over when all places were taken.
    _slot: Option<OwnedSemaphorePermit>,
}

impl Runtime {
    /// A runtime that was opened by an earlier process, with the folders that go with it.
    pub(crate) fn adopted(
        session: Box<dyn RuntimeSession>,
        slot: Option<OwnedSemaphorePermit>,
        ephemeral: Option<EphemeralDir>,
    ) -> Self {
        Self { session, ephemeral, _slot: slot }
    }

    /// Ends the runtime; nothing of it is left afterwards.
    pub(crate) async fn close(self) {
        self.session.close().await;
        if let Some(folders) = self.ephemeral
            && let Err(error) = folders.remove().await
        {
            tracing::warn!(%error, "The folders of an ephemeral session could not be removed.");
        }
    }
}

/// What a session keeps to open its runtime again and again.
#[derive(Clone)]
pub(crate) struct Profile {
    pub(crate) id: SessionId,
    pub(crate) adapter: Arc<dyn RuntimeAdapter>,
    pub(crate) cwd: String,
    pub(crate) namespace: String,
    /// How much of the user's home the runtime shares, where the session says so.
    pub(crate) isolation: Option<Isolation>,
    /// What the session sets in the runtime's environment.
    pub(crate) env: Variables,
    /// The session's own tool servers.
    mcp_servers: Vec<McpServer>,
    pub(crate) input: CreateSessionInput,
    /// Where the session comes from, if it is a fork.
    pub(crate) forked: Option<Forked>,
}

impl Profile {
    /// The profile of a session as the log knows it, with what is kept beside it.
    pub(crate) fn of(record: &SessionRecord, adapter: Arc<dyn RuntimeAdapter>, private: Private) -> Self {
        let input = CreateSessionInput {
            title: record.title.clone(),
            model: record.model.clone(),
            permission_mode: Some(record.mode.into()),
            runtime_config: private.runtime_config,
            variables: private.env.keys().cloned().collect(),
        };
        Self {
            id: record.session_id.clone(),
            adapter,
            cwd: record.cwd.clone(),
            namespace: record.credential_namespace.clone(),
            isolation: record.isolation,
            env: private.env,
            mcp_servers: private.mcp_servers,
            input,
            forked: record.forked.clone(),
        }
    }

    /// The tool servers of the host and the session's own, which come in the place of those of the same name.
    fn all_servers(&self, mut servers: Vec<McpServer>) -> Vec<McpServer> {
        servers.retain(|server| self.mcp_servers.iter().all(|own| own.name != server.name));
        servers.extend(self.mcp_servers.iter().cloned());
        servers
    }
}

/// What a task needs besides its runtime.
pub(crate) struct Job {
    pub(crate) task_id: TaskId,
    pub(crate) message: TranscriptMessage,
    pub(crate) mode: Mode,
    pub(crate) model: Option<String>,
    pub(crate) interaction_mode: InteractionMode,
    pub(crate) tool_manifest: Option<ToolManifest>,
}

/// The outcome of starting a task: the runtime survives a task that could not start.
pub(crate) struct Opened {
    pub(crate) runtime: Option<Runtime>,
    pub(crate) task: Result<StartedTask, TaskError>,
}

/// A task that is being started, and its runtime with it where need be.
pub(crate) struct Opening {
    done: BoxFuture<'static, Opened>,
    wanted: oneshot::Sender<()>,
}

impl Opening {
    fn new<F: Future<Output = Opened> + Send + 'static>(open: impl FnOnce(oneshot::Receiver<()>) -> F) -> Self {
        let (wanted, unwanted) = oneshot::channel();
        Self { done: Box::pin(open(unwanted)), wanted }
    }

    /// One that has come to nothing.
    pub(crate) fn failed(failure: TaskError) -> Self {
        Self::new(|_| std::future::ready(Opened { runtime: None, task: Err(failure) }))
    }

    /// What came of it. Cancel safe; not to be asked again.
    pub(crate) async fn opened(&mut self) -> Opened {
        (&mut self.done).await
    }

    /// Gives up and gives back the runtime, if there is one; what is being launched is dropped and ends by that.
    pub(crate) async fn give_up(self) -> Option<Runtime> {
        drop(self.wanted);
        self.done.await.runtime
    }
}

/// Starts a task on a runtime that is open.
pub(crate) fn start(shared: Arc<Shared>, runtime: Runtime, job: Job) -> Opening {
    Opening::new(|unwanted| async move { start_task(&shared, runtime, job, Vec::new(), unwanted).await })
}

async fn start_task(
    shared: &Shared,
    mut runtime: Runtime,
    job: Job,
    history: Vec<TranscriptMessage>,
    mut unwanted: oneshot::Receiver<()>,
) -> Opened {
    let input = match input(shared, job, history).await {
        Ok(input) => input,
        Err(failure) => return Opened { runtime: Some(runtime), task: Err(*failure) },
    };
    let task = tokio::select! {
        biased;
        _ = &mut unwanted => Err(given_up()),
        task = runtime.session.start_task(input) => task.map_err(Into::into),
    };
    Opened { runtime: Some(runtime), task }
}

fn given_up() -> TaskError {
    TaskError::new(FailureCode::Cancelled, "the task was stopped before it began")
}

/// Opens the runtime, natively resumed where that works and rebuilt from the log where not, and starts a task on it.
pub(crate) fn open(
    shared: Arc<Shared>,
    slot: Slot,
    profile: Profile,
    native: Option<RuntimeSessionId>,
    job: Job,
) -> Opening {
    Opening::new(|mut unwanted| async move {
        let launched = tokio::select! {
            biased;
            _ = &mut unwanted => Err(given_up()),
            launched = launch(&shared, slot, &profile, native, job.mode) => launched,
        };
        let (runtime, forgetful) = match launched {
            Err(failure) => return Opened { runtime: None, task: Err(failure) },
            Ok(launched) => launched,
        };
        let history = match forgetful {
            None => Ok(Vec::new()),
            Some(env) => history::before(&shared, &profile, &env, &job).await,
        };
        match history {
            Ok(history) => start_task(&shared, runtime, job, history, unwanted).await,
            Err(error) => {
                let task = Err(TaskError::new(FailureCode::Internal, error.to_string()));
                Opened { runtime: Some(runtime), task }
            }
        }
    })
}

/// An open runtime, and its environment if it does not remember what was said.
async fn launch(
    shared: &Shared,
    slot: Slot,
    profile: &Profile,
    native: Option<RuntimeSessionId>,
    mode: Mode,
) -> Result<(Runtime, Option<RuntimeEnv>), TaskError> {
    let Some(slot) = slot.taken().await else {
        return Err(TaskError::new(FailureCode::Cancelled, "Roost is shutting down"));
    };
    let environments = &shared.config.environments;
    let isolation = shared.config.isolation_of(profile.isolation, &profile.adapter.name());
    let environment = environments.of(isolation, &profile.id, &profile.namespace, &profile.cwd).await;
    let (mut env, ephemeral) =
        environment.map_err(|error| TaskError::new(FailureCode::SpawnFailed, error.to_string()))?;
    env.env.extend(profile.env.iter().map(|(name, value)| (name.clone(), value.expose().to_owned())));
    let open = OpenSession {
        session_id: profile.id.clone(),
        env,
        input: profile.input.clone(),
        mode,
        mcp_servers: profile.all_servers((shared.config.mcp_servers)(&profile.id)),
    };
    let adapter = &profile.adapter;
    let resumed = match native {
        None => match &profile.forked {
            Some(forked) => forking::natively(shared, &**adapter, &open, forked).await?,
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
    let (session, forgetful) = match resumed {
        Some(session) => (session, None),
        None => {
            let env = open.env.clone();
            (adapter.create_session(open).await?, Some(env))
        }
    };
    Ok((Runtime { session, ephemeral, _slot: Some(slot) }, forgetful))
}

/// What the task is started with, if it fits.
async fn input(shared: &Shared, job: Job, history: Vec<TranscriptMessage>) -> Result<TaskInput, Box<TaskError>> {
    let images = images::of(&shared.artifacts, &job.message).await;
    let images = images.map_err(|error| Box::new(TaskError::new(FailureCode::Internal, error.to_string())))?;
    let Compiled { history, window } = context::compile(history, &job.message, shared.config.max_context_chars)
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
