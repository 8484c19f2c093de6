//! The one agent of the default workspace, for clients that know only one.

use roost_engine::Accepted;
use roost_model::mode::AnyMode;
use roost_model::session::SessionRecord;
use roost_rpc::{
    AgentCommandsParams, AgentCommandsResult, AgentInputParams, AgentParams, AgentRespondParams, AgentRespondResult,
    AgentRunParams, AgentRunResult, AgentStatusResult, Fault, FaultCode, RunMode, StatusWord,
};
use serde_json::json;

use super::attaching::Attachments;
use super::routing::SessionSelector;
use super::terminal_input::TerminalInput;
use super::{answering, history, routing, session, shape, terminal_input};
use crate::dispatch::Context;
use crate::fault;
use crate::host::Host;
use crate::workspaces::WorkspaceEntry;

/// The agent's session: the busy one of the workspace, else its latest; of the default workspace unless one is given.
pub(super) async fn current(host: &Host, workspace: Option<&WorkspaceEntry>) -> Result<Option<SessionRecord>, Fault> {
    let Some(entry) = workspace.cloned().or_else(|| host.workspaces.default()) else { return Ok(None) };
    let sessions = history::workspace_sessions(&host.sessions, &entry).await?;
    let busy = sessions.iter().position(|record| record.open_task.is_some());
    Ok(sessions.into_iter().nth(busy.unwrap_or(0)))
}

pub(crate) async fn run(context: &Context<'_>, params: AgentRunParams) -> Result<AgentRunResult, Fault> {
    let agent_type = params.agent_type.as_deref();
    routing::check_agent_type(context, agent_type)?;
    if params.images.is_none() && params.files.is_none() {
        session::check_prompt(&params.prompt)?;
    }
    let mode = routing::mode(params.permission_mode.map(|permission| AnyMode(permission.mode)), params.yolo_mode);
    let run_mode = params.mode.unwrap_or_default();
    let entry = match &params.workspace_id {
        Some(id) => context.host.workspaces.get(id)?,
        None => context.host.workspaces.default().ok_or_else(|| {
            let why = "there is no workspace to run in; add one with workspace/add";
            Fault::new(FaultCode::AgentNotConfigured, why).with("method", "agent/run")
        })?,
    };
    if let Some(busy) = current(context.host, Some(&entry)).await?.filter(|record| record.open_task.is_some()) {
        return Err(already_running(&busy));
    }
    let AgentRunParams { images, files, env, .. } = params;
    let (record, attached) = match run_mode {
        RunMode::Continue => {
            let id = params.session_id.as_deref().ok_or_else(|| Fault::missing("session_id"))?;
            let record =
                routing::find_or_adopt(context, SessionSelector { id, agent_type, ..SessionSelector::default() }, mode)
                    .await?;
            if record.open_task.is_some() {
                return Err(already_running(&record));
            }
            if env.is_some() {
                return Err(Fault::params("env is for a new session; this one is there").with("field", "env"));
            }
            let attached = Attachments::check(context, record.runtime.id(), record.cwd.as_ref(), images, files).await?;
            (record, attached)
        }
        RunMode::New => {
            let runtime = routing::runtime(context, agent_type).await?;
            let attached = Attachments::check(context, &runtime, entry.path.as_ref(), images, files).await?;
            (session::create(context, entry, runtime, mode, env).await?, attached)
        }
    };
    // A client that runs an agent without a terminal shows approvals in its own way.
    let is_interactive = params.permission_mode.is_some_and(|permission| permission.interactive);
    context.host.delivery.panels.set_interactive(&record.session_id, is_interactive);
    let message = attached.message(context, params.prompt).await?;
    let choices = session::PromptChoices { mode, ..Default::default() };
    match session::prompt(context, &record.session_id, message, choices).await? {
        Accepted::Started(task) => Ok(AgentRunResult {
            status: "started".into(),
            session_id: record.session_id.to_string(),
            task_id: task.to_string(),
            mode: run_mode,
            agent_type: record.runtime.id().into(),
        }),
        // Another client was faster in the same instant: the prompt is in the queue, where the session shows it.
        Accepted::Queued(_) | Accepted::Steered(_) => Err(already_running(&record)),
    }
}

fn already_running(record: &SessionRecord) -> Fault {
    let fault = Fault::new(FaultCode::AgentAlreadyRunning, "Agent already running; stop it first, or use session/send");
    fault.with("session_id", &record.session_id).with("details", json!({ "current_state": "running" }))
}

/// The session that a call means: the one it names, else the current one.
async fn agent(context: &Context<'_>, id: Option<&str>, agent_type: Option<&str>) -> Result<SessionRecord, Fault> {
    routing::check_agent_type(context, agent_type)?;
    match id {
        Some(id) => routing::session(context, id, agent_type).await,
        None => {
            let current = current(context.host, None).await?;
            current.filter(|record| routing::runs_on(record, agent_type)).ok_or_else(not_running)
        }
    }
}

fn not_running() -> Fault {
    Fault::new(FaultCode::AgentNotRunning, "no agent is running")
}

pub(crate) async fn stop(context: &Context<'_>, params: AgentParams) -> Result<StatusWord, Fault> {
    let record = agent(context, params.session_id.as_deref(), params.agent_type.as_deref()).await?;
    context
        .host
        .sessions
        .engine
        .stop_by(record.session_id.as_str(), "stopped by a client", Some(context.caller.answerer()))
        .await
        .map_err(fault::engine)?;
    Ok(StatusWord { status: "stopped".into(), agent_type: Some(record.runtime.id().into()) })
}

pub(crate) async fn respond(context: &Context<'_>, params: AgentRespondParams) -> Result<AgentRespondResult, Fault> {
    let agent_type = params.agent_type.as_deref();
    routing::check_agent_type(context, agent_type)?;
    let found = answering::find(context, &params.tool_use_id, params.session_id.as_deref()).await;
    let pending = found.map_err(|fault| match fault.kind() {
        // Clients of this method know what nobody asked by another code than those of `permission/respond`.
        Some(FaultCode::InternalError) => {
            Fault::new(FaultCode::AgentError, fault.message).with("tool_use_id", &params.tool_use_id)
        }
        _ => fault,
    })?;
    routing::session(context, pending.session_id.as_str(), agent_type).await?;
    let words = json!(params.response.unwrap_or_default());
    let to = answering::text_response(&pending, &words, params.is_error.unwrap_or_default())?;
    answering::respond(context, &pending, to, None).await?;
    Ok(AgentRespondResult { status: "sent".into(), tool_use_id: params.tool_use_id })
}

pub(crate) async fn status(context: &Context<'_>, params: AgentParams) -> Result<AgentStatusResult, Fault> {
    let found = match agent(context, params.session_id.as_deref(), params.agent_type.as_deref()).await {
        Err(fault) if fault.kind() == Some(FaultCode::AgentNotRunning) => None,
        found => Some(found?),
    };
    let Some(record) = found else {
        let agent_type = context.host.sessions.engine.registry().await.default_runtime;
        return Ok(AgentStatusResult { state: "idle".into(), session_id: None, agent_type, waiting_for: None });
    };
    let waiting = context.host.sessions.log.pending(Some(&record.session_id)).await.map_err(fault::log)?;
    Ok(AgentStatusResult {
        state: shape::agent_state(&record, !waiting.is_empty()).into(),
        session_id: Some(record.session_id.to_string()),
        agent_type: record.runtime.id().into(),
        waiting_for: waiting.first().map(|one| shape::tool_name(&one.ask).into()),
    })
}

pub(crate) async fn commands(context: &Context<'_>, params: AgentCommandsParams) -> Result<AgentCommandsResult, Fault> {
    if let Some(id) = &params.session_id {
        let record = context.session(id).await?;
        let agent_type = record.runtime.id().to_owned();
        let history = context.host.sessions.engine.native_history();
        let commands = history.slash_commands(&agent_type, &record.cwd).await.map_err(fault::engine)?;
        return Ok(AgentCommandsResult { agent_type, commands });
    }
    let agent_type = routing::runtime(context, params.agent_type.as_deref()).await?;
    let entry = match &params.workspace_id {
        Some(id) => context.host.workspaces.get(id)?,
        None => context.host.workspaces.default().ok_or_else(|| {
            let why = "there is no workspace to look in; add one with workspace/add";
            Fault::new(FaultCode::AgentNotConfigured, why).with("method", "agent/commands")
        })?,
    };
    let history = context.host.sessions.engine.native_history();
    let commands = history.slash_commands(&agent_type, &entry.path).await.map_err(fault::engine)?;
    Ok(AgentCommandsResult { agent_type, commands })
}

pub(crate) async fn input(context: &Context<'_>, params: AgentInputParams) -> Result<StatusWord, Fault> {
    let record = agent(context, params.session_id.as_deref(), params.agent_type.as_deref()).await?;
    let (typed, request) = (TerminalInput::Input(&params.input), params.tool_use_id.as_deref());
    terminal_input::type_into(context, &record, typed, request).await?;
    Ok(StatusWord { status: "sent".into(), agent_type: Some(record.runtime.id().into()) })
}
