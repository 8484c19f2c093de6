//! A session's runtime while it is alive: opened, resumed or rebuilt, and ended without a trace.

use std::sync::Arc;

use futures::future::BoxFuture;
use roost_process::EphemeralDir;
use roost_proto::content::TranscriptMessage;
use roost_proto::failure::{FailureCode, TaskError};
use roost_proto::ids::{RuntimeSessionId, SessionId, TaskId};
use roost_proto::mode::Mode;
use roost_proto::runtime::{CreateSessionInput, InteractionMode, ResumeModel};
use tokio::sync::OwnedSemaphorePermit;

use crate::adapter::{AdapterError, OpenSession, RuntimeAdapter, RuntimeSession, RuntimeTask, TaskInput};
use crate::engine::Shared;
use crate::history;
use crate::slots::Slot;

/// An open runtime and what it occupies.
pub(crate) struct Runtime {
    pub(crate) session: Box<dyn RuntimeSession>,
    ephemeral: Option<EphemeralDir>,
    _slot: OwnedSemaphorePermit,
}

impl Runtime {
    /// A runtime that was opened by an earlier process.
    pub(crate) fn adopted(session: Box<dyn RuntimeSession>, slot: OwnedSemaphorePermit) -> Self {
        Self { session, ephemeral: None, _slot: slot }
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
    pub(crate) input: CreateSessionInput,
}

/// What a task needs besides its runtime.
pub(crate) struct Job {
    pub(crate) task_id: TaskId,
    pub(crate) message: TranscriptMessage,
    pub(crate) mode: Mode,
}

/// The outcome of starting a task: the runtime survives a task that could not start.
pub(crate) struct Opened {
    pub(crate) runtime: Option<Runtime>,
    pub(crate) task: Result<RuntimeTask, TaskError>,
}

pub(crate) type Opening = BoxFuture<'static, Opened>;

/// Starts a task on a runtime that is open.
pub(crate) fn start(mut runtime: Runtime, job: Job) -> Opening {
    Box::pin(async move {
        let task = runtime.session.start_task(input(job, Vec::new())).await;
        Opened { runtime: Some(runtime), task: task.map_err(Into::into) }
    })
}

/// Opens the runtime, natively resumed where that works and rebuilt from the log where not, and starts a task on it.
pub(crate) fn open(
    shared: Arc<Shared>,
    slot: Slot,
    profile: Profile,
    native: Option<RuntimeSessionId>,
    job: Job,
) -> Opening {
    Box::pin(async move {
        match launch(&shared, slot, &profile, native, job.mode).await {
            Err(failure) => Opened { runtime: None, task: Err(failure) },
            Ok((mut runtime, remembers)) => {
                let history =
                    if remembers { Ok(Vec::new()) } else { history::before(&shared, &profile.id, &job).await };
                let task = match history {
                    Ok(history) => runtime.session.start_task(input(job, history)).await.map_err(Into::into),
                    Err(error) => Err(TaskError::new(FailureCode::Internal, error.to_string())),
                };
                Opened { runtime: Some(runtime), task }
            }
        }
    })
}

async fn launch(
    shared: &Shared,
    slot: Slot,
    profile: &Profile,
    native: Option<RuntimeSessionId>,
    mode: Mode,
) -> Result<(Runtime, bool), TaskError> {
    let Some(slot) = slot.taken().await else {
        return Err(TaskError::new(FailureCode::Cancelled, "Roost is shutting down"));
    };
    let environments = &shared.config.environments;
    let isolation = shared.config.isolation.get(profile.adapter.name().id()).copied().unwrap_or(environments.isolation);
    let environment = environments.of(isolation, &profile.id, &profile.namespace, &profile.cwd).await;
    let (env, ephemeral) = environment.map_err(|error| TaskError::new(FailureCode::SpawnFailed, error.to_string()))?;
    let open = OpenSession {
        session_id: profile.id.clone(),
        env,
        input: profile.input.clone(),
        mode,
        mcp_servers: (shared.config.mcp_servers)(&profile.id),
    };
    let adapter = &profile.adapter;
    let resumable = native.filter(|_| adapter.capabilities().resume_model == ResumeModel::Native);
    let resumed = match resumable {
        None => None,
        Some(native) => match adapter.resume_session(open.clone(), native).await {
            Err(AdapterError::UnknownSession(native)) => {
                tracing::info!(%native, "The runtime has forgotten the session; it is rebuilt from the log.");
                None
            }
            answered => Some(answered?),
        },
    };
    let remembers = resumed.is_some();
    let session = match resumed {
        Some(session) => session,
        None => adapter.create_session(open).await?,
    };
    Ok((Runtime { session, ephemeral, _slot: slot }, remembers))
}

fn input(job: Job, history: Vec<TranscriptMessage>) -> TaskInput {
    TaskInput {
        task_id: job.task_id,
        history,
        messages: vec![job.message],
        tool_manifest: None,
        mode: job.mode,
        interaction_mode: InteractionMode::NonInteractive,
    }
}
