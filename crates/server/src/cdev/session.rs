//! A session begins, gets its runtime's id, and ends.

use std::path::Path;

use roost_model::event::NormalizedEvent;
use roost_model::failure::FailureCode;
use roost_model::payload::{SessionClosedPayload, SessionCreatedPayload, SessionUpdatedPayload, TaskFailedPayload};
use serde_json::json;

use super::log_line;
use super::notify::{Audience, Notification, Scene};

/// The `session_start` of a session that was made.
pub(super) fn start(scene: &Scene<'_>, made: &SessionCreatedPayload) -> Notification {
    let path = scene.about.cwd;
    let name = Path::new(path).file_name().map_or(path.into(), |name| name.to_string_lossy());
    // The version that made the session, not the one that runs now: a replay must be the same.
    let fields = json!({ "repo_path": path, "repo_name": name, "agent_version": made.contract_version });
    scene.note("session_start", Audience::Workspace, fields)
}

/// What a client must know of a change: the runtime's id became known, or the model changed.
pub(super) fn updated(scene: &Scene<'_>, event: &NormalizedEvent, update: &SessionUpdatedPayload) -> Vec<Notification> {
    let model = update.model.as_deref().or(event.runtime.model.as_deref());
    let info = || scene.note("claude_session_info", Audience::Workspace, json!({ "model": model }));
    match (&update.runtime_session_id, &update.model) {
        (Some(_), _) => vec![resolved(scene), info(), log_line::init(scene, model)],
        (None, Some(_)) => vec![info()],
        (None, None) => Vec::new(),
    }
}

/// Our id is permanent: the one that a client waits with is the one that it gets.
fn resolved(scene: &Scene<'_>) -> Notification {
    let id = scene.session_id;
    let fields = json!({ "temporary_id": id, "real_id": id, "session_file": "" });
    scene.note("session_id_resolved", Audience::Workspace, fields)
}

/// The task failed before the runtime had an id for the session: a client that waits for the id must not wait on.
pub(super) fn failed(scene: &Scene<'_>, event: &NormalizedEvent, failed: &TaskFailedPayload) -> Option<Notification> {
    let reason = match failed.error.code {
        FailureCode::RuntimeExited => "claude_exited",
        _ => "error",
    };
    let fields = json!({ "temporary_id": scene.session_id, "reason": reason, "message": failed.reason });
    let unknown = event.runtime.runtime_session_id.is_none();
    unknown.then(|| scene.note("session_id_failed", Audience::Workspace, fields))
}

/// The `session_end` of a session that was closed.
pub(super) fn end(scene: &Scene<'_>, closed: &SessionClosedPayload) -> Notification {
    scene.note("session_end", Audience::Workspace, json!({ "reason": closed.reason }))
}

/// The `session_stopped` of a session whose task was stopped.
pub(super) fn stopped(scene: &Scene<'_>, event: &NormalizedEvent) -> Notification {
    scene.note("session_stopped", Audience::Workspace, json!({ "stopped_by": event.trace.client_id }))
}
