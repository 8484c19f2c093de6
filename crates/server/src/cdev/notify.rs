//! Projects log events to the notifications that cdev clients get.

use std::borrow::Cow;

use roost_model::approval::{Pending, PendingAsk};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::SessionId;
use roost_model::payload::GitBranchChangedPayload;
use roost_model::time::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::message::object;
use super::prelude::Prelude;
use super::state::{Pty, TaskState};
use super::truncate::ByteBudget;
use super::{claude_message, log_line, questions, session, state};

/// The greatest size of an event's fields, in bytes: a frame of more than 1 MiB ends a phone's connection.
const PAYLOAD: usize = 768 * 1024;

/// The facts of a session that never change. Together with the event they alone decide what clients see.
#[derive(Clone, Copy, Debug)]
pub struct SessionContext<'a> {
    /// The workspace that the session belongs to, if any.
    pub workspace_id: Option<&'a str>,
    /// The runtime's id, such as `claude`.
    pub agent_type: &'a str,
    /// The session's working directory, absolute.
    pub cwd: &'a str,
}

/// Which connections a notification is sent to; each feed compares it with what its client watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Clients that watch the session.
    Watchers,
    /// Clients that follow the session's workspace.
    Workspace,
    /// Clients that have the workspace on their screen, and those that have not said what they show.
    Focused,
    /// Every client, whatever it watches.
    Everyone,
}

/// How events of the agent are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Naming {
    /// `claude_message`, as the first clients know it, whichever agent it is.
    #[default]
    Claude,
    /// `agent_message`: for clients that asked for `neutral_names`.
    Neutral,
}

/// One notification, without its cursor.
#[derive(Clone, Debug, PartialEq)]
pub struct Notification {
    /// Its name without the prefix `event/`.
    pub event: &'static str,
    /// Its fields: those of the event, then `workspace_id`, `session_id`, `agent_type` and `timestamp`.
    pub params: Map<String, Value>,
    /// Which connections it is sent to.
    pub audience: Audience,
}

impl Notification {
    /// Which of the two forms of an approval this is: `Some(true)` for a terminal's panel, `Some(false)` for the other,
    /// `None` for everything else. Of the two, a client gets one.
    pub fn is_panel(event: &str) -> Option<bool> {
        match event {
            questions::PANEL => Some(true),
            questions::PLAIN => Some(false),
            _ => None,
        }
    }

    /// Whether it only matters at the moment: it has no cursor, and is not sent to a client that is told what it missed.
    pub fn is_ephemeral(event: &str) -> bool {
        event == "pty_spinner"
    }
}

/// The notifications of this event, in the order in which they are sent. Deltas have none, because the complete output
/// follows; `prelude` is what those before this event add up to.
pub fn project(prelude: &Prelude, event: &NormalizedEvent, session: &SessionContext<'_>) -> Vec<Notification> {
    use EventBody as Body;
    let builder = NotificationBuilder { session, session_id: &event.trace.session_id, time: event.time };
    match &event.body {
        Body::SessionCreated(made) => vec![session::start(&builder, made)],
        Body::SessionUpdated(update) => session::updated(&builder, event, update),
        Body::SessionClosed(closed) => {
            // That the agent is idle was told when its task ended.
            vec![session::end(&builder, closed), session::stopped(&builder, event)]
        }
        Body::TaskStarted(started) => {
            let mut notes = vec![state::running(&builder, event, started), state::pty(&builder, Pty::Thinking)];
            notes.extend(claude_message::message(&builder, event));
            notes.push(state::spinner(&builder, "Working"));
            notes
        }
        Body::TaskSteered(_) => claude_message::message(&builder, event).into_iter().collect(),
        Body::ModelOutputCompleted(_) | Body::ToolCallDenied(_) | Body::ToolCallCompleted(_) => {
            claude_message::record(&builder, prelude, event)
        }
        Body::ToolCallRequested(call) => {
            let mut notes = claude_message::record(&builder, prelude, event);
            // Phones take the agent for idle after a message that ends with a call.
            notes.push(state::spinner(&builder, &call.name));
            notes
        }
        Body::ApprovalRequested(asked) => questions::approval(&builder, asked, 0),
        Body::ApprovalResolved(resolved) => questions::approval_resolved(&builder, resolved),
        Body::QuestionAsked(asked) => {
            [claude_message::record(&builder, prelude, event), questions::question(&builder, asked)].concat()
        }
        Body::QuestionResolved(resolved) => {
            [claude_message::record(&builder, prelude, event), questions::question_resolved(&builder, resolved)]
                .concat()
        }
        Body::TaskCompleted(done) => {
            let mut notes = claude_message::thoughts(&builder, prelude, event);
            notes.push(claude_message::end(&builder, event, &done.reason));
            notes.push(log_line::result(&builder, &done.reason, None));
            notes.extend(state::ended(&builder, event.seq, TaskState::Idle, None));
            notes
        }
        Body::TaskStopped(_) => {
            let mut notes = claude_message::thoughts(&builder, prelude, event);
            notes.push(claude_message::end(&builder, event, "stopped"));
            notes.push(log_line::result(&builder, "stopped", None));
            notes.extend(state::ended(&builder, event.seq, TaskState::Stopped, None));
            notes
        }
        Body::TaskFailed(failed) => {
            let mut notes: Vec<_> = session::failed(&builder, event, failed).into_iter().collect();
            notes.push(state::error(&builder, event, failed));
            notes.extend(claude_message::thoughts(&builder, prelude, event));
            notes.extend(claude_message::message(&builder, event));
            notes.push(log_line::result(&builder, "error", Some(&failed.reason)));
            notes.extend(state::ended(&builder, event.seq, TaskState::Error, Some(&failed.reason)));
            notes
        }
        Body::UsageReported(usage) => log_line::usage(&builder, usage).into_iter().collect(),
        Body::RuntimeNotice(notice) => log_line::notice(&builder, notice).into_iter().collect(),
        Body::WorkspaceRemoved(gone) => {
            vec![workspace_removed(gone.workspace_id.as_str(), &gone.name, &gone.path, event.time)]
        }
        Body::GitOperationCompleted(done) => {
            vec![workspace_notification("git_operation_completed", json!(done), event.time)]
        }
        Body::GitBranchChanged(changed) => {
            let GitBranchChangedPayload { workspace_id, from_branch, to_branch, session_id: _ } = changed;
            let fields = json!({ "from_branch": from_branch, "to_branch": to_branch, "workspace_id": workspace_id });
            vec![workspace_notification("git_branch_changed", fields, event.time)]
        }
        Body::WorkspaceAdded(_)
        | Body::WorkspaceUpdated(_)
        | Body::DevicePaired(_)
        | Body::DeviceRevoked(_)
        | Body::PairingLocked(_)
        | Body::RuleRemoved(_)
        | Body::ServiceManifestApplied(_)
        | Body::ServiceStateChanged(_)
        | Body::ServiceInterfaceRefreshed(_)
        | Body::ServiceToolsApproved(_)
        | Body::ServiceRemoved(_)
        | Body::McpToolCalled(_)
        | Body::McpBudgetExceeded(_)
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

/// The notifications of a pending approval or question for a client that has just begun to watch: the same as when it
/// was asked, with the option at `selected` selected.
pub fn pending(waiting: &Pending, session: &SessionContext<'_>, selected: usize) -> Vec<Notification> {
    let builder = NotificationBuilder { session, session_id: &waiting.session_id, time: waiting.asked_at };
    match &waiting.ask {
        PendingAsk::Approval(asked) => questions::approval(&builder, asked, selected),
        PendingAsk::Question(asked) => questions::question(&builder, asked),
    }
}

/// A piece of a message, as `agent_message_delta`; `kind` is `text` or `thinking`.
pub fn delta(
    session_id: &SessionId,
    time: Timestamp,
    session: &SessionContext<'_>,
    uuid: &str,
    kind: &str,
    text: &str,
) -> Notification {
    let builder = NotificationBuilder { session, session_id, time };
    builder.note("agent_message_delta", Audience::Watchers, json!({ "uuid": uuid, "type": kind, "delta": text }))
}

/// The `workspace_removed` notification. It has no `session_id`, because clients would take it for a session's event.
fn workspace_removed(id: &str, name: &str, path: &str, time: Timestamp) -> Notification {
    let mut params = object(json!({ "id": id, "name": name, "path": path, "workspace_id": id }));
    ByteBudget::new(PAYLOAD).fields(&mut params);
    params.insert("timestamp".into(), time.to_string().into());
    Notification { event: "workspace_removed", params, audience: Audience::Everyone }
}

/// A notification about a workspace. It has no `session_id`, because a phone would take it for a session's event.
fn workspace_notification(event: &'static str, fields: Value, time: Timestamp) -> Notification {
    let mut params = object(fields);
    ByteBudget::new(PAYLOAD).fields(&mut params);
    params.insert("timestamp".into(), time.to_string().into());
    Notification { event, params, audience: Audience::Workspace }
}

/// The workspace that an event of the host is about.
pub fn host_event_workspace(body: &EventBody) -> Option<&str> {
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
    let line = NotificationLine {
        jsonrpc: "2.0",
        method: format!("event/{name}"),
        params: NotificationParams {
            fields: &notification.params,
            cursor: Some(cursor).filter(|cursor| !cursor.is_empty()),
        },
    };
    // Maps with text keys and plain values can always be written.
    serde_json::to_string(&line).unwrap_or_default()
}

#[derive(Serialize)]
struct NotificationLine<'a> {
    jsonrpc: &'static str,
    method: String,
    params: NotificationParams<'a>,
}

#[derive(Serialize)]
struct NotificationParams<'a> {
    #[serde(flatten)]
    fields: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<&'a str>,
}

/// Builds the notifications of one session at one time.
pub(super) struct NotificationBuilder<'a> {
    pub(super) session: &'a SessionContext<'a>,
    pub(super) session_id: &'a SessionId,
    pub(super) time: Timestamp,
}

impl NotificationBuilder<'_> {
    /// A notification with these fields, `null` ones left out, and those that every event of a session has.
    pub(super) fn note(&self, event: &'static str, audience: Audience, fields: Value) -> Notification {
        let mut params = object(fields);
        params.retain(|_, value| !value.is_null());
        ByteBudget::new(PAYLOAD).fields(&mut params);
        if let Some(workspace_id) = self.session.workspace_id {
            params.insert("workspace_id".into(), workspace_id.into());
        }
        params.insert("session_id".into(), self.session_id.as_str().into());
        params.insert("agent_type".into(), self.session.agent_type.into());
        params.insert("timestamp".into(), self.time.to_string().into());
        Notification { event, params, audience }
    }
}
