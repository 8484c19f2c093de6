//! Which runtime and which session a call means (seed 000).

use std::path::PathBuf;

use roost_model::mode::{AnyMode, Mode};
use roost_model::registry::RuntimeStatus;
use roost_model::session::SessionRecord;
use roost_rpc::{Fault, FaultCode, Scope, WorkspaceSessionParams};

use super::past::{self, Found, Within};
use crate::dispatch::Context;
use crate::places::Reach;
use crate::workspaces::Entry;

/// The runtime that a call names, or the default. An unknown one is refused before anything else is looked at.
pub(super) async fn runtime(context: &Context<'_>, agent_type: Option<&str>) -> Result<String, Fault> {
    known(context, agent_type)?;
    let registry = context.host.sessions.engine.registry().await;
    let id = agent_type.map_or(registry.default_runtime, normal);
    let entry = registry.runtimes.into_iter().find(|entry| entry.id == id);
    let refuse = |status: &str, why: String| {
        let why = format_args!("runtime \"{id}\" cannot be used: {why}");
        Err(Fault::new(FaultCode::InternalError, why).with("agent_type", &id).with("status", status))
    };
    match entry {
        Some(entry) if entry.status == RuntimeStatus::Disabled => refuse("disabled", "it is disabled here".into()),
        Some(entry) => match entry.availability {
            Some(look) if !look.installed => {
                refuse("unavailable", look.reason.unwrap_or_else(|| "it is missing".into()))
            }
            _ => Ok(id),
        },
        None => Err(Fault::new(FaultCode::AgentNotConfigured, "no runtime is registered")),
    }
}

/// Refuses a runtime that is not registered.
pub(crate) fn known(context: &Context<'_>, agent_type: Option<&str>) -> Result<(), Fault> {
    let Some(asked) = agent_type else { return Ok(()) };
    let mut ids = context.host.sessions.engine.runtimes().ids();
    ids.sort_unstable();
    if ids.contains(&normal(asked)) {
        return Ok(());
    }
    let why = format_args!("agent_type must be one of: {}", ids.join(", "));
    Err(Fault::params(why).with("agent_type", asked).with("supported_agent_types", ids))
}

pub(crate) fn normal(agent_type: &str) -> String {
    agent_type.trim().to_lowercase()
}

/// Whether a session runs on the runtime that a call names; on any, where it names none.
pub(super) fn runs_on(record: &SessionRecord, agent_type: Option<&str>) -> bool {
    agent_type.is_none_or(|asked| normal(asked) == record.runtime.id())
}

/// The session that a call is about; the runtime it names, if any, must be the session's own.
pub(super) async fn session(context: &Context<'_>, id: &str, agent_type: Option<&str>) -> Result<SessionRecord, Fault> {
    known(context, agent_type)?;
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
        Some(asked) if !runs_on(record, agent_type) => {
            let why = format_args!("session {id} runs on {}, not on {asked}", record.runtime.id());
            let fault = Fault::params(why).with("agent_type", asked).with("session_agent_type", record.runtime.id());
            Err(fault
                .with("supported_agent_types", context.host.sessions.engine.runtimes().ids())
                .with("session_id", id))
        }
        _ => Ok(()),
    }
}

/// Which session a call is about.
#[derive(Clone, Copy, Default)]
pub(super) struct Named<'a> {
    pub(super) id: &'a str,
    /// The workspace that it must belong to.
    pub(super) workspace: Option<&'a str>,
    /// The folder that it may be found in besides the workspaces.
    pub(super) cwd: Option<&'a str>,
    /// The runtime that must be its own.
    pub(super) agent_type: Option<&'a str>,
}

impl<'a> Named<'a> {
    /// A session of a workspace.
    pub(super) fn of_workspace(params: &'a WorkspaceSessionParams) -> Self {
        Self {
            id: &params.session_id,
            workspace: Some(&params.workspace_id),
            cwd: None,
            agent_type: params.agent_type.as_deref(),
        }
    }
}

/// The session that a call is about, hosted or past.
pub(super) async fn found(context: &Context<'_>, named: Named<'_>) -> Result<Found, Fault> {
    let Named { id, workspace, cwd, agent_type } = named;
    known(context, agent_type)?;
    let entry = workspace.map(|workspace| context.host.workspaces.get(workspace)).transpose()?;
    let found = match context.session(id).await {
        Ok(record) => Found::Hosted(Box::new(record)),
        Err(fault) if fault.kind() != Some(FaultCode::SessionNotFound) => return Err(fault),
        Err(_) => {
            let within = Within { entry: entry.as_ref(), cwd, agent_type: None };
            Found::Past(Box::new(past::find(context, within, id).await?))
        }
    };
    let record = found.record();
    check_runtime(context, &record, id, agent_type)?;
    match entry {
        Some(entry) if !belongs(&record, &entry) => {
            let why = format_args!("session {id} is not one of the workspace \"{}\"", entry.name);
            Err(Fault::new(FaultCode::SessionNotFound, why).with("session_id", id).with("workspace_id", &entry.id))
        }
        _ => Ok(found),
    }
}

/// The hosted session that a call is about; a past one becomes one.
pub(super) async fn hosted(
    context: &Context<'_>,
    named: Named<'_>,
    mode: Option<Mode>,
) -> Result<SessionRecord, Fault> {
    match found(context, named).await? {
        Found::Hosted(record) => Ok(*record),
        Found::Past(kept) => past::adopt(context, &kept, mode).await,
    }
}

/// A session belongs to the workspace that it was made in, or whose folder it works in.
pub(super) fn belongs(record: &SessionRecord, entry: &Entry) -> bool {
    match &record.workspace_id {
        Some(id) => *id == entry.id,
        None => std::path::Path::new(&record.cwd).starts_with(&entry.path),
    }
}

/// The folder that a new session works in, and its workspace.
pub(super) async fn place(
    context: &Context<'_>,
    workspace_id: Option<&str>,
    cwd: Option<&str>,
) -> Result<(PathBuf, Option<Entry>), Fault> {
    let workspaces = &context.host.workspaces;
    match (workspace_id, cwd) {
        (Some(id), _) => {
            let entry = workspaces.get(id)?;
            Ok((entry.path.clone().into(), Some(entry)))
        }
        (None, Some(cwd)) if context.caller.scope >= Scope::Admin => {
            // Somebody at the machine may work where they like: their shell does too.
            if !context.caller.is_owner() {
                workspaces.places().admit(cwd.as_ref(), Reach::Anywhere).await?;
            }
            Ok((cwd.into(), workspaces.containing(cwd.as_ref())))
        }
        (None, Some(_)) => {
            Err(Fault::params("cwd is for the local door only; name a workspace_id").with("field", "cwd"))
        }
        (None, None) => Err(Fault::missing("workspace_id")),
    }
}

/// The mode that a call asks for; whether this client may, `parameters` has looked.
pub(super) fn mode(mode: Option<AnyMode>, yolo: Option<bool>) -> Option<Mode> {
    if yolo == Some(true) { Some(Mode::Yolo) } else { mode.map(|mode| mode.0) }
}
