//! Builds the wire forms of sessions.

use roost_model::approval::{Pending, PendingAsk};
use roost_model::session::{SessionRecord, SessionStatus, TaskOutcome};
use roost_rpc::{HistoryItem, KeptBy, SessionInfo, SessionState, ThoughtLevel};

use crate::host::Host;
use crate::workspaces::Workspaces;

/// The word for what the agent does: `idle`, `running` or `waiting`.
pub(super) fn agent_state(record: &SessionRecord, waits: bool) -> &'static str {
    match (&record.open_task, waits) {
        (Some(_), true) => "waiting",
        (Some(_), false) => "running",
        (None, _) => "idle",
    }
}

/// Whether a session has a process or an open task.
pub(super) fn is_live(record: &SessionRecord) -> bool {
    matches!(record.status, SessionStatus::Active | SessionStatus::Ending) || record.open_task.is_some()
}

/// The title of a session, or a placeholder.
pub(super) fn summary(record: &SessionRecord) -> String {
    record.title.clone().unwrap_or_else(|| "(session)".into())
}

pub(super) fn workspace_id(workspaces: &Workspaces, record: &SessionRecord) -> Option<String> {
    match &record.workspace_id {
        Some(id) => Some(id.to_string()),
        None => workspaces.containing(record.cwd.as_ref()).map(|entry| entry.id.to_string()),
    }
}

fn activity_word(record: &SessionRecord) -> &'static str {
    if is_live(record) { "running" } else { "historical" }
}

fn thought_level(host: &Host, record: &SessionRecord) -> Option<ThoughtLevel> {
    let (setting, levels) = host.sessions.engine.runtimes().thought_levels(record.runtime.id())?;
    let current = record.runtime_config.as_ref().and_then(|config| config.get(setting)?.as_str());
    let levels = levels.iter().map(ToString::to_string).collect();
    Some(ThoughtLevel { setting: setting.into(), current: current.map(ToOwned::to_owned), levels })
}

pub(super) fn session_info(host: &Host, record: &SessionRecord, source: KeptBy) -> SessionInfo {
    SessionInfo {
        session_id: record.session_id.to_string(),
        agent_type: record.runtime.id().into(),
        summary: summary(record),
        first_prompt: record.title.clone(),
        task_count: record.tasks,
        message_count: record.messages,
        start_time: record.created_at,
        last_updated: record.updated_at,
        status: activity_word(record).into(),
        source,
        workspace_id: workspace_id(&host.workspaces, record),
        project_path: record.cwd.clone(),
        model: record.model.clone(),
        thought_level: thought_level(host, record),
        steers: host.sessions.engine.runtimes().steers(record.runtime.id()),
        viewers: host.presence.viewers(record.session_id.as_str()),
        record: record.clone(),
    }
}

pub(super) fn history_item(host: &Host, record: &SessionRecord, source: KeptBy, workspace: &str) -> HistoryItem {
    HistoryItem {
        id: record.session_id.to_string(),
        session_id: record.session_id.to_string(),
        workspace_id: workspace.into(),
        agent_type: record.runtime.id().into(),
        summary: summary(record),
        message_count: record.messages,
        last_updated: record.updated_at,
        project_path: record.cwd.clone(),
        status: activity_word(record).into(),
        source,
        started_at: record.created_at,
        last_active: record.updated_at,
        viewers: host.presence.viewers(record.session_id.as_str()),
    }
}

pub(super) fn session_state(host: &Host, record: &SessionRecord, waiting: &[std::sync::Arc<Pending>]) -> SessionState {
    let status = match record.status {
        SessionStatus::Created => "starting",
        SessionStatus::Active => "running",
        SessionStatus::Ending => "stopping",
        SessionStatus::Closed if record.last_outcome == Some(TaskOutcome::Failed) => "error",
        SessionStatus::Closed => "stopped",
    };
    let first = waiting.first();
    SessionState {
        id: record.session_id.to_string(),
        session_id: record.session_id.to_string(),
        workspace_id: workspace_id(&host.workspaces, record).unwrap_or_default(),
        status: status.into(),
        project_path: record.cwd.clone(),
        agent_type: record.runtime.id().into(),
        started_at: record.created_at,
        last_active: record.updated_at,
        last_updated: record.updated_at,
        error: (record.last_outcome == Some(TaskOutcome::Failed)).then(|| "the last task failed".into()),
        claude_state: agent_state(record, !waiting.is_empty()).into(),
        claude_session_id: record.runtime_session_id.as_ref().map(ToString::to_string).unwrap_or_default(),
        is_running: record.open_task.is_some(),
        waiting_for_input: !waiting.is_empty(),
        pending_tool_use_id: first.map(|one| one.id().to_owned()),
        pending_tool_name: first.map(|one| tool_name(&one.ask).to_owned()),
        summary: summary(record),
        message_count: record.messages,
        mode: record.mode.to_string(),
        model: record.model.clone(),
        queue: record.queue.clone(),
        viewers: host.presence.viewers(record.session_id.as_str()),
    }
}

/// The tool name of a pending item; clients know questions as a tool.
pub(super) fn tool_name(ask: &PendingAsk) -> &str {
    match ask {
        PendingAsk::Approval(asked) => &asked.name,
        PendingAsk::Question(_) => "AskUserQuestion",
    }
}

/// Whether the folder contains a `.git`; git itself is not asked.
pub(super) async fn is_git(path: &str) -> bool {
    tokio::fs::try_exists(std::path::Path::new(path).join(".git")).await.unwrap_or(false)
}
