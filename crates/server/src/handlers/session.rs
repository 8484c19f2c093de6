//! Starts, prompts, stops and answers sessions.

use std::collections::BTreeMap;

use roost_engine::{Accepted, Approver, Delivery, NewSession, Prompt};
use roost_model::approval::PendingAsk;
use roost_model::content::TranscriptMessage;
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::runtime::{CreateSessionInput, IsolationLevel};
use roost_model::secret::Secret;
use roost_model::session::SessionRecord;
use roost_rpc::call::ToolCallView;
use roost_rpc::{
    ActiveParams, ActiveResult, AskKind, Fault, Presence, PromptDelivery, RunMode, SessionInputParams,
    SessionInputResult, SessionParams, SessionRespondParams, SessionSendParams, SessionSendResult, SessionStartParams,
    SessionStartResult, SessionState, SessionStopParams, SessionStopResult, StartMode, StatusWord, StopWhat,
};
use serde_json::json;

use super::amending::{amend, only_for_new};
use super::attaching::Attachments;
use super::git::worktree;
use super::routing::SessionSelector;
use super::terminal_input::TerminalInput;
use super::{answering, mcp_servers, routing, shape, terminal_input};
use crate::dispatch::Context;
use crate::fault;
use crate::feed::FeedCommand;
use crate::host::Sessions;
use crate::workspaces::WorkspaceEntry;

/// The greatest length of a session's title, and of its model's name, in bytes.
const NAME: usize = 1 << 10;
/// The greatest size of `runtime_config` in JSON, in bytes.
const RUNTIME_CONFIG: usize = 64 << 10;
/// The greatest length of a credential namespace's name, in bytes.
const NAMESPACE: usize = 200;

pub(crate) async fn start(context: &Context<'_>, params: SessionStartParams) -> Result<SessionStartResult, Fault> {
    let agent_type = params.agent_type.as_deref();
    routing::check_agent_type(context, agent_type)?;
    let mode = routing::mode(params.permission_mode, params.yolo_mode);
    check_title(params.title.as_ref())?;
    check_size("model", params.model.as_ref().map_or(0, String::len), NAME)?;
    check_size("runtime_config", json!(params.runtime_config).to_string().len(), RUNTIME_CONFIG)?;
    check_namespace(params.credential_namespace.as_deref())?;
    if let Some(id) = &params.session_id {
        only_for_new(&params)?;
        let (workspace, cwd) = (params.workspace_id.as_deref(), params.cwd.as_deref());
        let record = routing::find_or_adopt(context, SessionSelector { id, workspace, cwd, agent_type }, mode).await?;
        let record = amend(context, record, &params, mode).await?;
        return attach_result(context, record, "attached").await;
    }
    let (mut cwd, workspace) =
        routing::session_folder(context, params.workspace_id.as_deref(), params.cwd.as_deref()).await?;
    let wants_worktree = params.worktree.unwrap_or_default();
    if params.mode.unwrap_or_default() == StartMode::Attach
        && !wants_worktree
        && let Some(entry) = &workspace
        && let Some(record) = latest(context, entry, agent_type).await?
    {
        only_for_new(&params)?;
        let record = amend(context, record, &params, mode).await?;
        let outcome = if shape::is_live(&record) { "existing" } else { "attached" };
        return attach_result(context, record, outcome).await;
    }
    if params.thought_level.is_some() {
        let why =
            "thought_level is for a session that exists; a new one takes the runtime's own setting in runtime_config";
        return Err(Fault::params(why).with("field", "thought_level"));
    }
    let runtime = routing::runtime(context, agent_type).await?;
    let mcp_servers = mcp_servers::of_session(context, &runtime, params.mcp_servers.unwrap_or_default())?;
    let mut worktree = None;
    if wants_worktree {
        let id = workspace.as_ref().ok_or_else(|| Fault::missing("workspace_id"))?.id.clone();
        let (path, name) = worktree::for_session(context, id.as_str()).await?;
        cwd = path;
        worktree = Some((id, name));
    }
    let namespace = params.credential_namespace;
    // A namespace that is named is meant to be used.
    let isolation = params.isolation.or(namespace.as_ref().map(|_| IsolationLevel::Namespaced));
    let usual = NewSession::within(cwd);
    let new = NewSession {
        runtime: Some(runtime),
        mode: mode.unwrap_or_default(),
        credential_namespace: namespace.unwrap_or_else(|| usual.credential_namespace.clone()),
        isolation,
        env: params.env.unwrap_or_default(),
        mcp_servers,
        workspace_id: workspace.map(|entry| entry.id),
        input: CreateSessionInput {
            title: params.title,
            model: params.model,
            runtime_config: params.runtime_config,
            ..CreateSessionInput::default()
        },
        ..usual
    };
    let created = context.host.sessions.engine.create_session(new).await.map_err(fault::engine);
    if let (Err(_), Some((workspace, name))) = (&created, &worktree) {
        worktree::forget(context, workspace.as_str(), name).await?;
    }
    let record = context.host.sessions.get(created?.as_str()).await?;
    Ok(SessionStartResult {
        status: "starting".into(),
        source: "managed".into(),
        message: "Session started".into(),
        ..attach_result(context, record, "started").await?
    })
}

/// Refuses a value that is too big: it would be in an event and in every list.
pub(super) fn check_size(field: &str, bytes: usize, most: usize) -> Result<(), Fault> {
    if bytes <= most {
        return Ok(());
    }
    Err(Fault::params(format_args!("{field} has {bytes} bytes; {most} are the limit")).with("field", field))
}

/// Refuses a prompt without any words.
pub(super) fn check_prompt(prompt: &str) -> Result<(), Fault> {
    if prompt.trim().is_empty() {
        return Err(Fault::params("prompt must not be empty").with("field", "prompt"));
    }
    Ok(())
}

/// Refuses a title that is too long.
pub(super) fn check_title(title: Option<&String>) -> Result<(), Fault> {
    check_size("title", title.map_or(0, String::len), NAME)
}

fn check_namespace(name: Option<&str>) -> Result<(), Fault> {
    match name {
        Some(name) if name.is_empty() || name.len() > NAMESPACE || name.contains(char::is_control) => {
            let why = format_args!("a credential namespace has 1 to {NAMESPACE} visible characters");
            Err(Fault::params(why).with("field", "credential_namespace"))
        }
        _ => Ok(()),
    }
}

/// The answer about an existing session. Its pending approvals and questions are sent again to this client.
pub(super) async fn attach_result(
    context: &Context<'_>,
    record: SessionRecord,
    outcome: &str,
) -> Result<SessionStartResult, Fault> {
    let waiting = context.host.sessions.log.pending(Some(&record.session_id)).await.map_err(fault::log)?;
    if !waiting.is_empty()
        && let Some(connection) = context.connection
        && let Some(commands) = connection.feeds().commands()
    {
        // A feed that is too busy to hear of it sends what it is behind with, which is the same.
        let _ = commands.try_send(FeedCommand::Remind { session: record.session_id.to_string() });
    }
    let asked = waiting.iter().find_map(|one| match &one.ask {
        PendingAsk::Approval(asked) => Some(asked),
        PendingAsk::Question(_) => None,
    });
    Ok(SessionStartResult {
        session_id: record.session_id.to_string(),
        id: record.session_id.to_string(),
        workspace_id: shape::workspace_id(&context.host.workspaces, &record).unwrap_or_default(),
        status: "attached".into(),
        outcome: outcome.into(),
        source: if shape::is_live(&record) { "managed" } else { "history" }.into(),
        agent_type: record.runtime.id().into(),
        message: "Attached to the session".into(),
        has_pending_permission: !waiting.is_empty(),
        pending_permission_type: asked.map(|asked| ToolCallView::from_approval(asked).permission().into()),
        pending_permission_target: asked.map(|asked| ToolCallView::from_approval(asked).target()),
        project_path: record.cwd,
        started_at: record.created_at,
        last_active: record.updated_at,
    })
}

/// The session of a workspace that a client attaches to: the activated one, else a live one, else the latest.
pub(super) async fn latest(
    context: &Context<'_>,
    entry: &WorkspaceEntry,
    agent_type: Option<&str>,
) -> Result<Option<SessionRecord>, Fault> {
    let mut sessions = super::history::workspace_sessions(&context.host.sessions, entry).await?;
    sessions.retain(|record| routing::runs_on(record, agent_type));
    let current = sessions.iter().position(|record| Some(&record.session_id) == entry.current.as_ref());
    let chosen = current.or_else(|| sessions.iter().position(shape::is_live)).unwrap_or(0);
    Ok((chosen < sessions.len()).then(|| sessions.swap_remove(chosen)))
}

pub(crate) async fn send(context: &Context<'_>, mut params: SessionSendParams) -> Result<SessionSendResult, Fault> {
    let Some(key) = params.key.take() else { return send_now(context, params).await };
    check_size("key", key.len(), NAME)?;
    context.host.sent_prompts.once(context.caller.account(), &key, send_now(context, params)).await
}

async fn send_now(context: &Context<'_>, params: SessionSendParams) -> Result<SessionSendResult, Fault> {
    let agent_type = params.agent_type.as_deref();
    routing::check_agent_type(context, agent_type)?;
    let mode = routing::mode(params.permission_mode, params.yolo_mode);
    check_size("model", params.model.as_ref().map_or(0, String::len), NAME)?;
    let SessionSendParams { images, files, .. } = params;
    let found = match (&params.session_id, params.mode.unwrap_or_default()) {
        (Some(id), _) => Some(
            routing::find_or_adopt(context, SessionSelector { id, agent_type, ..SessionSelector::default() }, mode)
                .await?,
        ),
        (None, RunMode::Continue) => {
            let id = params.workspace_id.as_deref().ok_or_else(|| Fault::missing("session_id"))?;
            let entry = context.host.workspaces.get(id)?;
            let found = latest(context, &entry, agent_type).await?;
            Some(found.ok_or_else(|| Fault::no_session("of this workspace"))?)
        }
        (None, RunMode::New) => None,
    };
    let (record, attached, auto_created) = match found {
        Some(record) => {
            let attached = Attachments::check(context, record.runtime.id(), record.cwd.as_ref(), images, files).await?;
            context.host.delivery.panels.set_interactive(&record.session_id, true);
            (record, attached, false)
        }
        None => {
            let id = params.workspace_id.as_deref().ok_or_else(|| Fault::missing("workspace_id"))?;
            let (entry, runtime) = (context.host.workspaces.get(id)?, routing::runtime(context, agent_type).await?);
            let attached = Attachments::check(context, &runtime, entry.path.as_ref(), images, files).await?;
            (create(context, entry, runtime, mode, None).await?, attached, true)
        }
    };
    let message = attached.message(context, params.prompt).await?;
    let (model, presence, delivery) = (params.model, params.approver, params.delivery);
    let choices = PromptChoices { mode, model, presence, delivery };
    let accepted = prompt(context, &record.session_id, message, choices).await?;
    let (delivery, task_id, prompt_id) = match accepted {
        Accepted::Started(task) => ("started", Some(task.to_string()), None),
        Accepted::Steered(task) => ("steered", Some(task.to_string()), None),
        Accepted::Queued(prompt) => ("queued", None, Some(prompt.to_string())),
    };
    Ok(SessionSendResult {
        status: "sent".into(),
        session_id: record.session_id.to_string(),
        agent_type: record.runtime.id().into(),
        workspace_id: shape::workspace_id(&context.host.workspaces, &record),
        auto_created,
        delivery: delivery.into(),
        task_id,
        prompt_id,
    })
}

/// Creates a session in a workspace.
pub(super) async fn create(
    context: &Context<'_>,
    entry: WorkspaceEntry,
    runtime: String,
    mode: Option<Mode>,
    env: Option<BTreeMap<String, Secret>>,
) -> Result<SessionRecord, Fault> {
    let new = NewSession {
        runtime: Some(runtime),
        mode: mode.unwrap_or_default(),
        env: env.unwrap_or_default(),
        workspace_id: Some(entry.id),
        ..NewSession::within(entry.path)
    };
    let id = context.host.sessions.engine.create_session(new).await.map_err(fault::engine)?;
    context.host.sessions.get(id.as_str()).await
}

/// Creates a session in a workspace that has none.
pub(crate) async fn begin(sessions: &Sessions, entry: &WorkspaceEntry) -> Result<(), Fault> {
    if !super::history::workspace_sessions(sessions, entry).await?.is_empty() {
        return Ok(());
    }
    let new = NewSession { workspace_id: Some(entry.id.clone()), ..NewSession::within(&entry.path) };
    sessions.engine.create_session(new).await.map_err(fault::engine)?;
    Ok(())
}

/// What the sender of a prompt may choose; what is `None` stays as it is.
#[derive(Default)]
pub(super) struct PromptChoices {
    pub(super) mode: Option<Mode>,
    pub(super) model: Option<String>,
    pub(super) presence: Option<Presence>,
    pub(super) delivery: Option<PromptDelivery>,
}

/// Sends a prompt to a session. Approvals are asked for, unless the sender says that nobody is present.
pub(super) async fn prompt(
    context: &Context<'_>,
    session: &SessionId,
    message: TranscriptMessage,
    choices: PromptChoices,
) -> Result<Accepted, Fault> {
    let PromptChoices { mode, model, presence, delivery } = choices;
    let delivery = match delivery.unwrap_or_default() {
        PromptDelivery::Queue => Delivery::Queue,
        PromptDelivery::Steer => Delivery::Steer,
    };
    let approver = match presence.unwrap_or(Presence::Present) {
        Presence::Present => Approver::Present,
        Presence::Nobody => Approver::Nobody,
    };
    let (never_yolo, by) = (!context.may_yolo(), context.caller.answerer());
    let prompt = Prompt { message, mode, model, approver, never_yolo, delivery, by };
    context.host.sessions.engine.prompt(session.as_str(), prompt).await.map_err(fault::engine)
}

pub(crate) async fn stop(context: &Context<'_>, params: SessionStopParams) -> Result<SessionStopResult, Fault> {
    let record = routing::session(context, &params.session_id, params.agent_type.as_deref()).await?;
    let engine = &context.host.sessions.engine;
    let id = record.session_id.as_str();
    let stopped = |message: &str, outcome| SessionStopResult {
        success: true,
        message: message.into(),
        agent_type: record.runtime.id().into(),
        outcome,
    };
    if let Some(prompt) = params.prompt_id {
        engine.remove_queued(id, &prompt.into()).await.map_err(fault::engine)?;
        return Ok(stopped("Prompt removed from the queue", None));
    }
    let reason = params.reason.as_deref().unwrap_or("stopped by a client");
    let outcome = match engine.stop_by(id, reason, Some(context.caller.answerer())).await {
        Ok(outcome) => Some(outcome),
        Err(roost_engine::Error::NothingToStop(_)) => None,
        Err(error) => return Err(fault::engine(error)),
    };
    let message = match (params.what.unwrap_or_default(), outcome) {
        (StopWhat::Session, _) => {
            engine.close(id, reason).await.map_err(fault::engine)?;
            "Session stopped"
        }
        (StopWhat::Task, Some(_)) => "Task stopped",
        (StopWhat::Task, None) => "No task was running",
    };
    Ok(stopped(message, outcome))
}

pub(crate) async fn input(context: &Context<'_>, params: SessionInputParams) -> Result<SessionInputResult, Fault> {
    let record = routing::session(context, &params.session_id, params.agent_type.as_deref()).await?;
    let typed = match (&params.key, &params.input) {
        (Some(key), _) => TerminalInput::Key(key),
        (None, Some(input)) => TerminalInput::Input(input),
        (None, None) => return Err(Fault::missing("input")),
    };
    let key = terminal_input::type_into(context, &record, typed, params.tool_use_id.as_deref()).await?;
    Ok(SessionInputResult { status: "sent".into(), key, agent_type: record.runtime.id().into() })
}

pub(crate) async fn respond(context: &Context<'_>, params: SessionRespondParams) -> Result<StatusWord, Fault> {
    let record = routing::session(context, &params.session_id, params.agent_type.as_deref()).await?;
    let pending = match &params.id {
        Some(id) => answering::find(context, id, Some(record.session_id.as_str())).await?,
        None => {
            let is_wanted = |ask: &PendingAsk| match params.r#type {
                AskKind::Permission => matches!(ask, PendingAsk::Approval(_)),
                AskKind::Question => matches!(ask, PendingAsk::Question(_)),
            };
            let found = answering::oldest(context, &record.session_id, is_wanted).await?;
            found.ok_or_else(|| fault::engine(roost_engine::Error::NotPending(params.session_id.clone())))?
        }
    };
    let to = answering::text_response(&pending, &params.response, false)?;
    answering::respond(context, &pending, to, None).await?;
    Ok(StatusWord { status: "responded".into(), agent_type: Some(record.runtime.id().into()) })
}

pub(crate) async fn state(context: &Context<'_>, params: SessionParams) -> Result<SessionState, Fault> {
    let named = SessionSelector {
        id: &params.session_id,
        agent_type: params.agent_type.as_deref(),
        ..SessionSelector::default()
    };
    let record = routing::find_session(context, named).await?.record();
    let waiting = context.host.sessions.log.pending(Some(&record.session_id)).await.map_err(fault::log)?;
    Ok(shape::session_state(context.host, &record, &waiting))
}

pub(crate) async fn active(context: &Context<'_>, params: ActiveParams) -> Result<ActiveResult, Fault> {
    let entry = params.workspace_id.map(|id| context.host.workspaces.get(&id)).transpose()?;
    let mut sessions = Vec::new();
    for record in context.host.sessions.log.unclosed().await.map_err(fault::log)? {
        if entry.as_ref().is_none_or(|entry| routing::belongs_to(&record, entry)) {
            let waiting = context.host.sessions.log.pending(Some(&record.session_id)).await.map_err(fault::log)?;
            sessions.push(shape::session_state(context.host, &record, &waiting));
        }
    }
    Ok(ActiveResult { sessions })
}
