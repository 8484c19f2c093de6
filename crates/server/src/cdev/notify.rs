//! Notifications: what one log event tells cdev clients.

use std::borrow::Cow;

use roost_model::approval::{Pending, PendingAsk};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::SessionId;
use roost_model::payload::GitBranchChangedPayload;
use roost_model::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::message::object;
use super::state::{Pty, TaskState};
use super::truncate::Room;
use super::{asks, claude_message, log_line, session, state};

/// Bytes that an event may take; a bigger frame than 1 MiB ends a phone's connection.
const PAYLOAD: usize = 768 * 1024;

/// What a session was made with and keeps; nothing else than this and the event decides what clients see.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The workspace that it belongs to.
    pub workspace_id: Option<&'a str>,
    /// The runtime's id, such as `claude`.
    pub agent_type: &'a str,
    /// Its working directory.
    pub cwd: &'a str,
}

/// Who gets a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Those who watch the session.
    Watchers,
    /// Those who subscribed to its workspace.
    Workspace,
    /// Those who look at its workspace, and those of whom nobody knows what they look at.
    Focused,
    /// Every client, whatever it watches.
    Everyone,
}

/// How the agent's events are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Naming {
    /// `claude_message`, as the first clients know it, whichever agent it is.
    #[default]
    Claude,
    /// `agent_message`.
    Neutral,
}

/// One notification, all but its cursor.
#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    /// Its name without the prefix `event/`.
    pub event: &'static str,
    /// Its fields: those of the event, then `workspace_id`, `session_id`, `agent_type` and `timestamp`.
    pub params: Map<String, Value>,
    /// Who gets it.
    pub audience: Audience,
}

/// What this event tells, in the order in which it is sent. Pieces of output tell nothing: what they add up to comes
/// whole later.
pub fn project(event: &NormalizedEvent, about: &About<'_>) -> Vec<Notification> {
    use EventBody as Body;
    let scene = Scene { about, session_id: &event.trace.session_id, time: event.time };
    match &event.body {
        Body::SessionCreated(made) => vec![session::start(&scene, made)],
        Body::SessionUpdated(update) => session::updated(&scene, event, update),
        Body::SessionClosed(closed) => {
            vec![session::end(&scene, closed), session::stopped(&scene, event), state::pty(&scene, Pty::Idle)]
        }
        Body::TaskStarted(started) => {
            let mut notes = vec![state::running(&scene, started), state::pty(&scene, Pty::Thinking)];
            notes.extend(claude_message::message(&scene, event));
            notes
        }
        Body::ModelOutputCompleted(_)
        | Body::ToolCallRequested(_)
        | Body::ToolCallDenied(_)
        | Body::ToolCallCompleted(_) => claude_message::record(&scene, event),
        Body::ApprovalRequested(asked) => asks::approval(&scene, asked),
        Body::ApprovalResolved(resolved) => asks::approval_resolved(&scene, resolved),
        Body::QuestionAsked(asked) => [claude_message::record(&scene, event), asks::question(&scene, asked)].concat(),
        Body::QuestionResolved(resolved) => {
            [claude_message::record(&scene, event), asks::question_resolved(&scene, resolved)].concat()
        }
        Body::TaskCompleted(done) => {
            let mut notes =
                vec![claude_message::end(&scene, event, &done.reason), log_line::result(&scene, &done.reason, None)];
            notes.extend(state::ended(&scene, event.seq, TaskState::Idle, None));
            notes
        }
        Body::TaskStopped(_) => {
            let mut notes =
                vec![claude_message::end(&scene, event, "stopped"), log_line::result(&scene, "stopped", None)];
            notes.extend(state::ended(&scene, event.seq, TaskState::Stopped, None));
            notes
        }
        Body::TaskFailed(failed) => {
            let mut notes: Vec<_> = session::failed(&scene, event, failed).into_iter().collect();
            notes.push(state::error(&scene, event, failed));
            notes.extend(claude_message::message(&scene, event));
            notes.push(log_line::result(&scene, "error", Some(&failed.reason)));
            notes.extend(state::ended(&scene, event.seq, TaskState::Error, Some(&failed.reason)));
            notes
        }
        Body::UsageReported(usage) => log_line::usage(&scene, usage).into_iter().collect(),
        Body::RuntimeNotice(notice) => log_line::notice(&scene, notice).into_iter().collect(),
        Body::WorkspaceRemoved(gone) => {
            vec![workspace_removed(gone.workspace_id.as_str(), &gone.name, &gone.path, event.time)]
        }
        Body::GitOperationCompleted(done) => {
            vec![of_workspace("git_operation_completed", json!(done), event.time)]
        }
        Body::GitBranchChanged(changed) => {
            let GitBranchChangedPayload { workspace_id, from_branch, to_branch, session_id: _ } = changed;
            let fields = json!({ "from_branch": from_branch, "to_branch": to_branch, "workspace_id": workspace_id });
            vec![of_workspace("git_branch_changed", fields, event.time)]
        }
        Body::WorkspaceAdded(_)
        | Body::WorkspaceUpdated(_)
        | Body::DevicePaired(_)
        | Body::DeviceRevoked(_)
        | Body::PairingLocked(_)
        | Body::RuleRemoved(_)
        | Body::ModelInput(_)
        | Body::RuntimeRequestStarted(_)
        | Body::RuntimeRequestCompleted(_)
        | Body::ModelOutputDelta(_)
        | Body::ToolCallPolicyEvaluated(_)
        | Body::ToolCallApproved(_)
        | Body::ToolCallStarted(_)
        | Body::ToolOutputDelta(_)
        | Body::ToolOutputCompleted(_)
        | Body::PlanUpdated(_)
        | Body::Other { .. } => Vec::new(),
    }
}

/// What tells a client that has just begun to watch of something that waits: the same as when it began to wait.
pub fn pending(waiting: &Pending, about: &About<'_>) -> Vec<Notification> {
    let scene = Scene { about, session_id: &waiting.session_id, time: waiting.asked_at };
    match &waiting.ask {
        PendingAsk::Approval(asked) => asks::approval(&scene, asked),
        PendingAsk::Question(asked) => asks::question(&scene, asked),
    }
}

/// A workspace is gone. It is no session's event; it has no `session_id`, with which a client would misread it.
fn workspace_removed(id: &str, name: &str, path: &str, time: Timestamp) -> Notification {
    let mut params = object(json!({ "id": id, "name": name, "path": path, "workspace_id": id }));
    Room::new(PAYLOAD).fields(&mut params);
    params.insert("timestamp".into(), time.to_string().into());
    Notification { event: "workspace_removed", params, audience: Audience::Everyone }
}

/// Something that happened to a workspace and to no session: with a session's id a phone would misread it.
fn of_workspace(event: &'static str, fields: Value, time: Timestamp) -> Notification {
    let mut params = object(fields);
    Room::new(PAYLOAD).fields(&mut params);
    params.insert("timestamp".into(), time.to_string().into());
    Notification { event, params, audience: Audience::Workspace }
}

/// The workspace that an event of the host is about.
pub fn workspace_of(body: &EventBody) -> Option<&str> {
    match body {
        EventBody::GitOperationCompleted(done) => Some(done.workspace_id.as_str()),
        EventBody::GitBranchChanged(changed) => Some(changed.workspace_id.as_str()),
        _ => None,
    }
}

/// The notification as one line of JSON-RPC. What is not durable has an empty cursor, which is left out.
pub fn encode(notification: &Notification, cursor: &str, naming: Naming) -> String {
    let mut name = Cow::Borrowed(notification.event);
    if let (Naming::Neutral, Some(rest)) = (naming, name.strip_prefix("claude_")) {
        name = format!("agent_{rest}").into();
    }
    let line = Line {
        jsonrpc: "2.0",
        method: format!("event/{name}"),
        params: Params { fields: &notification.params, cursor: Some(cursor).filter(|cursor| !cursor.is_empty()) },
    };
    // Maps with text keys and plain values can always be written.
    serde_json::to_string(&line).unwrap_or_default()
}

#[derive(Serialize)]
struct Line<'a> {
    jsonrpc: &'static str,
    method: String,
    params: Params<'a>,
}

#[derive(Serialize)]
struct Params<'a> {
    #[serde(flatten)]
    fields: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a str>,
}

/// Whose notifications are made, and of when.
pub(super) struct Scene<'a> {
    pub(super) about: &'a About<'a>,
    pub(super) session_id: &'a SessionId,
    pub(super) time: Timestamp,
}

impl Scene<'_> {
    /// A notification with these fields, `null` ones left out, and those that every event of a session has.
    pub(super) fn note(&self, event: &'static str, audience: Audience, fields: Value) -> Notification {
        let mut params = object(fields);
        params.retain(|_, value| !value.is_null());
        Room::new(PAYLOAD).fields(&mut params);
        if let Some(workspace_id) = self.about.workspace_id {
            params.insert("workspace_id".into(), workspace_id.into());
        }
        params.insert("session_id".into(), self.session_id.as_str().into());
        params.insert("agent_type".into(), self.about.agent_type.into());
        params.insert("timestamp".into(), self.time.to_string().into());
        Notification { event, params, audience }
    }
}
