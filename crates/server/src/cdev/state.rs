//! The notifications of the agent's state: `claude_status`, `pty_state`, and those at the end of a turn.

use roost_model::event::NormalizedEvent;
use roost_model::payload::{TaskFailedPayload, TaskStartedPayload};
use roost_rpc::shorten::short;
use serde::Serialize;
use serde_json::json;

use super::message;
use super::notify::{Audience, Notification, NotificationBuilder};

/// Characters of a prompt that a status shows.
const PROMPT_CHARS: usize = 500;

/// The values of `state` in `claude_status`.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TaskState {
    Running,
    Waiting,
    Idle,
    Stopped,
    Error,
}

/// The values of `state` in `pty_state`.
#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Pty {
    Thinking,
    Permission,
    Question,
    Idle,
    Error,
}

/// The `claude_status` of a task that starts, with its prompt.
pub(super) fn running(builder: &NotificationBuilder<'_>, started: &TaskStartedPayload) -> Notification {
    let prompt = started.messages.iter().map(|message| message.text()).collect::<Vec<_>>().join("\n");
    let fields = json!({
        "state": TaskState::Running, "prompt": short(&prompt, PROMPT_CHARS), "started_at": builder.time,
    });
    builder.note("claude_status", Audience::Workspace, fields)
}

/// The notifications of an agent that waits for an answer.
pub(super) fn waits(builder: &NotificationBuilder<'_>, pty: Pty) -> [Notification; 2] {
    [status(builder, TaskState::Waiting, None), self::pty(builder, pty)]
}

/// The notifications of an agent that continues after an answer.
pub(super) fn goes_on(builder: &NotificationBuilder<'_>) -> [Notification; 2] {
    [status(builder, TaskState::Running, None), pty(builder, Pty::Thinking)]
}

/// The notifications at the end of a task. Phones read an idle or failed `claude_status` as something else, so each has
/// its `pty_state`; and they take a turn as done when all of a file was read, which here is the log up to this event.
pub(super) fn ended(
    builder: &NotificationBuilder<'_>,
    seq: u64,
    state: TaskState,
    error: Option<&str>,
) -> [Notification; 3] {
    let pty_state = if error.is_some() { Pty::Error } else { Pty::Idle };
    let read = json!({ "messages_emitted": 1, "file_offset": seq, "file_size": seq });
    [
        status(builder, state, error),
        pty(builder, pty_state),
        builder.note("stream_read_complete", Audience::Workspace, read),
    ]
}

/// The `error` notification of a failed task, with the end of the runtime's standard error if there is any.
pub(super) fn error(
    builder: &NotificationBuilder<'_>,
    event: &NormalizedEvent,
    failed: &TaskFailedPayload,
) -> Notification {
    let mut details = json!({ "retryable": failed.error.retryable });
    if let Some(tail) = &failed.error.stderr_tail {
        details["stderr_tail"] = tail.as_str().into();
    }
    let (code, request_id) = (message::code(failed), &event.trace.request_id);
    let fields = json!({ "code": code, "message": failed.reason, "request_id": request_id, "details": details });
    builder.note("error", Audience::Workspace, fields)
}

/// The `pty_state` notification: what a terminal would show.
pub(super) fn pty(builder: &NotificationBuilder<'_>, state: Pty) -> Notification {
    let asks = matches!(state, Pty::Permission | Pty::Question);
    let fields = json!({
        "state": state, "waiting_for_input": asks || state == Pty::Idle, "prompt_type": asks.then_some(state),
    });
    builder.note("pty_state", Audience::Workspace, fields)
}

fn status(builder: &NotificationBuilder<'_>, state: TaskState, error: Option<&str>) -> Notification {
    builder.note("claude_status", Audience::Workspace, json!({ "state": state, "error": error }))
}
