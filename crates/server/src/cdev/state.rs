//! What the agent is doing: `claude_status`, `pty_state`, and the end of a turn.

use roost_model::event::NormalizedEvent;
use roost_model::payload::{TaskFailedPayload, TaskStartedPayload};
use roost_rpc::shorten::short;
use serde::Serialize;
use serde_json::json;

use super::message;
use super::notify::{Audience, Notification, Scene};

/// Characters of a prompt that a status shows.
const PROMPT_CHARS: usize = 500;

/// The states of `claude_status`.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TaskState {
    Running,
    Waiting,
    Idle,
    Stopped,
    Error,
}

/// The states of `pty_state`.
#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Pty {
    Thinking,
    Permission,
    Question,
    Idle,
    Error,
}

/// The agent begins with a prompt.
pub(super) fn running(scene: &Scene<'_>, started: &TaskStartedPayload) -> Notification {
    let prompt = started.messages.iter().map(|message| message.text()).collect::<Vec<_>>().join("\n");
    let fields = json!({
        "state": TaskState::Running, "prompt": short(&prompt, PROMPT_CHARS), "started_at": scene.time,
    });
    scene.note("claude_status", Audience::Workspace, fields)
}

/// The agent waits for an answer.
pub(super) fn waits(scene: &Scene<'_>, pty: Pty) -> [Notification; 2] {
    [status(scene, TaskState::Waiting, None), self::pty(scene, pty)]
}

/// The agent goes on after an answer.
pub(super) fn goes_on(scene: &Scene<'_>) -> [Notification; 2] {
    [status(scene, TaskState::Running, None), pty(scene, Pty::Thinking)]
}

/// The task is over. Phones read an idle or failed `claude_status` as something else, so each has its `pty_state`; and
/// they take a turn as done when all of a file has been read, which here is the log up to this event.
pub(super) fn ended(scene: &Scene<'_>, seq: u64, state: TaskState, error: Option<&str>) -> [Notification; 3] {
    let pty_state = if error.is_some() { Pty::Error } else { Pty::Idle };
    let read = json!({ "messages_emitted": 1, "file_offset": seq, "file_size": seq });
    [status(scene, state, error), pty(scene, pty_state), scene.note("stream_read_complete", Audience::Workspace, read)]
}

/// A task failed.
pub(super) fn error(scene: &Scene<'_>, event: &NormalizedEvent, failed: &TaskFailedPayload) -> Notification {
    let mut details = json!({ "retryable": failed.error.retryable });
    if let Some(tail) = &failed.error.stderr_tail {
        details["stderr_tail"] = tail.as_str().into();
    }
    let (code, request_id) = (message::code(failed), &event.trace.request_id);
    let fields = json!({ "code": code, "message": failed.reason, "request_id": request_id, "details": details });
    scene.note("error", Audience::Workspace, fields)
}

/// What a terminal would show.
pub(super) fn pty(scene: &Scene<'_>, state: Pty) -> Notification {
    let asks = matches!(state, Pty::Permission | Pty::Question);
    let fields = json!({
        "state": state, "waiting_for_input": asks || state == Pty::Idle, "prompt_type": asks.then_some(state),
    });
    scene.note("pty_state", Audience::Workspace, fields)
}

fn status(scene: &Scene<'_>, state: TaskState, error: Option<&str>) -> Notification {
    scene.note("claude_status", Audience::Workspace, json!({ "state": state, "error": error }))
}
