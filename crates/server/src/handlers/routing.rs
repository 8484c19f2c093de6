//! Resolves which runtime and which session a call means (seed 000).

use std::path::PathBuf;

use roost_model::mode::{AnyMode, Mode};
use roost_model::registry::{RuntimeEntry, RuntimeStatus};
use roost_model::runtime::RuntimeName;
use roost_model::session::SessionRecord;
use roost_rpc::{Fault, FaultCode, Scope, WorkspaceSessionParams};

use super::past::{self, FoundSession, SessionFilter};
use crate::dispatch::Context;
use crate::folder_policy::Reach;
use crate::workspaces::WorkspaceEntry;

/// The runtime that a call names, or the default. An unknown one is refused before anything else is looked at.
pub(super) async fn runtime(context: &Context<'_>, agent_type: Option<&str>) -> Result<String, Fault> {
    check_agent_type(context, agent_type)?;
    let registry = context.host.sessions.engine.registry().await;
    let id = agent_type.map_or(registry.default_runtime, normalize_agent_type);
    let entry = registry.runtimes.into_iter().find(|entry| entry.id == id);
    let refuse = |status: &str, why: String| {
        let why = format_args!("runtime \"{id}\" cannot be used: {why}");
        Err(Fault::new(FaultCode::InternalError, why).with("agent_type", &id).with("status", status))
    };
    match entry {
        Some(entry) if entry.status == RuntimeStatus::Disabled => refuse("disabled", "it is disabled here".into()),
        Some(entry) if entry.availability.as_ref().is_some_and(|look| !look.installed) => {
            refuse("unavailable", missing_runtime(context, &entry))
        }
        Some(_) => Ok(id),
        None => Err(Fault::new(FaultCode::AgentNotConfigured, "no runtime is registered")),
    }
}

/// Why a runtime cannot be used that is not installed. Where it was looked for is told only to somebody at the machine.
pub(super) fn missing_runtime(context: &Context<'_>, runtime: &RuntimeEntry) -> String {
    let reason = runtime.availability.as_ref().and_then(|look| look.reason.clone());
    let plain = || format!("{} is not installed on this host; install it there", runtime.display_name);
    reason.filter(|_| context.caller.is_owner()).unwrap_or_else(plain)
}

/// Refuses an `agent_type` that names no registered runtime; absent is fine.
pub(crate) fn check_agent_type(context: &Context<'_>, agent_type: Option<&str>) -> Result<(), Fault> {
    let Some(requested) = agent_type else { return Ok(()) };
    let mut ids = context.host.sessions.engine.runtimes().ids();
    ids.sort_unstable();
    if ids.contains(&normalize_agent_type(requested)) {
        return Ok(());
    }
    let why = format_args!("agent_type must be one of: {}", ids.join(", "));
    Err(Fault::params(why).with("agent_type", requested).with("supported_agent_types", ids))
}

/// The id of the runtime that a client means, which may also name it as events do.
pub(crate) fn normalize_agent_type(agent_type: &str) -> String {
    RuntimeName::from_id(&agent_type.trim().to_lowercase()).id().to_owned()
}

/// Whether a session runs on the runtime that a call names; on any, where it names none.
pub(super) fn runs_on(record: &SessionRecord, agent_type: Option<&str>) -> bool {
    agent_type.is_none_or(|requested| normalize_agent_type(requested) == record.runtime.id())
}

/// The session that a call is about; the runtime it names, if any, must be the session's own.
pub(super) async fn session(context: &Context<'_>, id: &str, agent_type: Option<&str>) -> Result<SessionRecord, Fault> {
    check_agent_type(context, agent_type)?;
    let record = context.session(id).await?;
    check_runtime(context, &record, id, agent_type)?;
    Ok(record)
}

fn check_runtime(
    context: &Context<'_>,
    record: &SessionRecord,
    id: &str,
    agent_type: Option<&str>,
) -> Result<(), Fault> {
    match agent_type {
        Some(requested) if !runs_on(record, agent_type) => {
            let why = format_args!("session {id} runs on {}, not on {requested}", record.runtime.id());
            let fault =
                Fault::params(why).with("agent_type", requested).with("session_agent_type", record.runtime.id());
            Err(fault
                .with("supported_agent_types", context.host.sessions.engine.runtimes().ids())
                .with("session_id", id))
        }
        _ => Ok(()),
    }
}

/// How a call names its session.
#[derive(Clone, Copy, Default)]
pub(super) struct SessionSelector<'a> {
    pub(super) id: &'a str,
    /// The workspace that the session must belong to, if one is named.
    pub(super) workspace: Option<&'a str>,
    /// A folder besides the workspaces in which a past session may be found.
    pub(super) cwd: Option<&'a str>,
    /// The runtime that the session must run on, if one is named.
    pub(super) agent_type: Option<&'a str>,
}

impl<'a> SessionSelector<'a> {
    /// The selector of a session that must belong to a workspace.
    pub(super) fn from_params(params: &'a WorkspaceSessionParams) -> Self {
        Self {
            id: &params.session_id,
            workspace: Some(&params.workspace_id),
            cwd: None,
            agent_type: params.agent_type.as_deref(),
        }
    }
}

/// Finds the session that a call means, hosted or past.
pub(super) async fn find_session(context: &Context<'_>, named: SessionSelector<'_>) -> Result<FoundSession, Fault> {
    let SessionSelector { id, workspace, cwd, agent_type } = named;
    check_agent_type(context, agent_type)?;
    let entry = workspace.map(|workspace| context.host.workspaces.get(workspace)).transpose()?;
    let found = match context.session(id).await {
        Ok(record) => FoundSession::Hosted(Box::new(record)),
        Err(fault) if fault.kind() != Some(FaultCode::SessionNotFound) => return Err(fault),
        Err(_) => {
            let within = SessionFilter { entry: entry.as_ref(), cwd, agent_type: None };
            FoundSession::Past(Box::new(past::find(context, within, id).await?))
        }
    };
    let record = found.record();
    check_runtime(context, &record, id, agent_type)?;
    match entry {
        Some(entry) if !belongs_to(&record, &entry) => {
            let why = format_args!("session {id} is not one of the workspace \"{}\"", entry.name);
            Err(Fault::new(FaultCode::SessionNotFound, why).with("session_id", id).with("workspace_id", &entry.id))
        }
        _ => Ok(found),
    }
}

/// Finds the session that a call means; a past one is adopted.
pub(super) async fn find_or_adopt(
    context: &Context<'_>,
    named: SessionSelector<'_>,
    mode: Option<Mode>,
) -> Result<SessionRecord, Fault> {
    match find_session(context, named).await? {
        FoundSession::Hosted(record) => Ok(*record),
        FoundSession::Past(kept) => past::adopt(context, &kept, mode).await,
    }
}

/// Whether a session belongs to a workspace: it was created in it or, without a workspace, works in its folder.
pub(super) fn belongs_to(record: &SessionRecord, entry: &WorkspaceEntry) -> bool {
    match &record.workspace_id {
        Some(id) => *id == entry.id,
        None => std::path::Path::new(&record.cwd).starts_with(&entry.path),
    }
}

/// The working directory of a new session, and its workspace if it has one.
pub(super) async fn session_folder(
    context: &Context<'_>,
    workspace_id: Option<&str>,
    cwd: Option<&str>,
) -> Result<(PathBuf, Option<WorkspaceEntry>), Fault> {
    let workspaces = &context.host.workspaces;
    match (workspace_id, cwd) {
        (Some(id), _) => {
            let entry = workspaces.get(id)?;
            Ok((entry.path.clone().into(), Some(entry)))
        }
        (None, Some(cwd)) if context.caller.scope >= Scope::Admin => {
            // Somebody at the machine may work where they like: their shell does too.
            if !context.caller.is_owner() {
                workspaces.folder_policy().admit(cwd.as_ref(), Reach::Anywhere).await?;
            }
            Ok((cwd.into(), workspaces.containing(cwd.as_ref())))
        }
        (None, Some(cwd)) => {
            // Editors name folders, not ids.
            workspaces.session_folder(cwd.as_ref()).await.ok_or_else(|| {
                Fault::params("cwd must be a folder in a workspace or beneath workspaces.roots").with("field", "cwd")
            })
        }
        (None, None) => Err(Fault::missing("workspace_id")),
    }
}

/// The mode that a call asks for. `parameters` has checked before that this client may.
pub(super) fn mode(mode: Option<AnyMode>, yolo: Option<bool>) -> Option<Mode> {
    if yolo == Some(true) { Some(Mode::Yolo) } else { mode.map(|mode| mode.0) }
}
