//! The notifications of the agent's state: `claude_status`, `pty_state`, and those at the end of a turn.

use roost_model::approval::PendingKind;
use roost_model::event::NormalizedEvent;
use roost_model::payload::{TaskFailedPayload, TaskStartedPayload};
use roost_rpc::shorten::short;
use serde::Serialize;
use serde_json::json;

use super::message;
use super::notify::{Audience, Notification, NotificationBuilder};

/// Characters of a prompt that a status shows.
const PROMPT_CHARS: usize = 500;
/// Characters of the word for what the agent is busy with.
const DOING_CHARS: usize = 60;
/// One of the symbols by which clients know a spinner; they turn it themselves.
const SPINNER: &str = "✶";

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
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Pty {
    Thinking,
    Permission,
    Question,
    Idle,
    Error,
}

/// The `claude_status` of a task that starts, with its prompt.
pub(super) fn running(
    builder: &NotificationBuilder<'_>,
    event: &NormalizedEvent,
    started: &TaskStartedPayload,
) -> Notification {
    let prompt = started.messages.iter().map(|message| message.text()).collect::<Vec<_>>().join("\n");
    let fields = json!({
        "state": TaskState::Running, "prompt": short(&prompt, PROMPT_CHARS), "started_at": builder.time,
        "prompted_by": event.trace.client_id,
    });
    builder.note("claude_status", Audience::Workspace, fields)
}

/// The notifications of an agent that waits for an answer; `prompt_type` is the kind of call that needs approval.
pub(super) fn waits(builder: &NotificationBuilder<'_>, pty: Pty, prompt_type: Option<&str>) -> [Notification; 2] {
    [status(builder, TaskState::Waiting, None), terminal(builder, pty, prompt_type)]
}

/// The notifications after an answer: of an agent that continues, or that still waits for something else.
pub(super) fn goes_on(builder: &NotificationBuilder<'_>, still_waits_for: Option<PendingKind>) -> Vec<Notification> {
    match still_waits_for {
        Some(PendingKind::Approval) => waits(builder, Pty::Permission, None).into(),
        Some(PendingKind::Question) => waits(builder, Pty::Question, None).into(),
        None => {
            vec![status(builder, TaskState::Running, None), pty(builder, Pty::Thinking), spinner(builder, "Working")]
        }
    }
}

/// The `pty_spinner` notification: what the agent is busy with, in a word.
pub(super) fn spinner(builder: &NotificationBuilder<'_>, doing: &str) -> Notification {
    let (symbol, message) = (SPINNER, format!("{}…", short(doing, DOING_CHARS)));
    let fields = json!({ "text": format!("{symbol} {message}"), "symbol": symbol, "message": message });
    builder.note("pty_spinner", Audience::Watchers, fields)
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
    terminal(builder, state, None)
}

fn terminal(builder: &NotificationBuilder<'_>, state: Pty, prompt_type: Option<&str>) -> Notification {
    let waits = matches!(state, Pty::Permission | Pty::Question | Pty::Idle);
    let fields = json!({ "state": state, "waiting_for_input": waits, "prompt_type": prompt_type });
    builder.note("pty_state", Audience::Workspace, fields)
}

fn status(builder: &NotificationBuilder<'_>, state: TaskState, error: Option<&str>) -> Notification {
    builder.note("claude_status", Audience::Workspace, json!({ "state": state, "error": error }))
}
