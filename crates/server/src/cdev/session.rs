//! The notifications of a session's beginning, its runtime id and its end.

use std::path::Path;

use roost_model::event::NormalizedEvent;
use roost_model::failure::FailureCode;
use roost_model::payload::{SessionClosedPayload, SessionCreatedPayload, SessionUpdatedPayload, TaskFailedPayload};
use serde_json::json;

use super::log_line;
use super::notify::{Audience, Notification, NotificationBuilder};

/// The `session_start` of a session that was made.
pub(super) fn start(builder: &NotificationBuilder<'_>, made: &SessionCreatedPayload) -> Notification {
    let path = builder.session.cwd;
    let name = Path::new(path).file_name().map_or(path.into(), |name| name.to_string_lossy());
    // The version that made the session, not the one that runs now: a replay must be the same.
    let fields = json!({ "repo_path": path, "repo_name": name, "agent_version": made.contract_version });
    builder.note("session_start", Audience::Workspace, fields)
}

/// The notifications of a changed session: its runtime id became known, or what lists show of it changed.
pub(super) fn updated(
    builder: &NotificationBuilder<'_>,
    event: &NormalizedEvent,
    update: &SessionUpdatedPayload,
) -> Vec<Notification> {
    let model = update.model.as_deref().or(event.runtime.model.as_deref());
    let info = || builder.note("claude_session_info", Audience::Workspace, json!({ "model": model }));
    match (&update.runtime_session_id, &update.model) {
        (Some(_), _) => vec![resolved(builder), info(), log_line::init(builder, model)],
        (None, Some(_)) => vec![info()],
        (None, None) if update.title.is_some() || update.mode.is_some() || update.hidden.is_some() => vec![info()],
        (None, None) => Vec::new(),
    }
}

/// The `session_id_resolved` for clients that expect a temporary id. Ours never changes, so both ids are the same.
fn resolved(builder: &NotificationBuilder<'_>) -> Notification {
    let id = builder.session_id;
    let fields = json!({ "temporary_id": id, "real_id": id, "session_file": "" });
    builder.note("session_id_resolved", Audience::Workspace, fields)
}

/// The task failed before the runtime had an id for the session: a client that waits for the id must not wait on.
pub(super) fn failed(
    builder: &NotificationBuilder<'_>,
    event: &NormalizedEvent,
    failed: &TaskFailedPayload,
) -> Option<Notification> {
    let reason = match failed.error.code {
        FailureCode::RuntimeExited => "claude_exited",
        _ => "error",
    };
    let fields = json!({ "temporary_id": builder.session_id, "reason": reason, "message": failed.reason });
    let unknown = event.runtime.runtime_session_id.is_none();
    unknown.then(|| builder.note("session_id_failed", Audience::Workspace, fields))
}

/// The `session_end` of a session that was closed.
pub(super) fn end(builder: &NotificationBuilder<'_>, closed: &SessionClosedPayload) -> Notification {
    builder.note("session_end", Audience::Workspace, json!({ "reason": closed.reason }))
}

/// The `session_stopped` of a session whose task was stopped.
pub(super) fn stopped(builder: &NotificationBuilder<'_>, event: &NormalizedEvent) -> Notification {
    builder.note("session_stopped", Audience::Workspace, json!({ "stopped_by": event.trace.client_id }))
}
