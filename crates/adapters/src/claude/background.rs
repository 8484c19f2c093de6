//! What the CLI still works on after the `result` of a turn: background commands and agents, and the turns that it begins
//! by itself to tell the model how those ended.
//!
//! A version that reports its state (`session_state_changed`) is at rest when it is idle and nothing runs in the
//! background. Older ones report no state; for them a turn's `result` is the end.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::messages::System;

/// How long a task waits for background commands that report nothing. A server that the agent started never ends, and
/// whoever waits for the task should not wait for ever either.
const BACKGROUND_LIMIT: Duration = Duration::from_secs(10 * 60);
/// How long the CLI may take to begin the turn about a background task that has ended. About 0.1 s was observed.
const FOLLOW_UP_LIMIT: Duration = Duration::from_secs(2);
/// How long the CLI may stay busy after a turn's `result` without beginning another turn. It is idle within 0.1 s; one
/// that forgets to say so must not keep a task open.
const IDLE_LIMIT: Duration = Duration::from_secs(30);

/// The CLI's state, as it reported it last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionState {
    /// It works, or waits for a decision.
    Busy,
    Idle,
}

/// What keeps a task from its end after a turn's `result`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remaining {
    Nothing,
    /// The CLI works on a turn, or is about to begin one.
    Turn,
    /// The CLI is idle, and commands or agents run in the background.
    Background,
}

/// A command or an agent in the background.
#[derive(Debug)]
struct BackgroundTask {
    /// The model's id of the tool call that started it.
    tool_call: Option<String>,
    /// What the call runs; `None` for agents, and if the call is not known.
    command: Option<String>,
    /// The model's name for the work, which says nothing about what a command does.
    description: String,
}

/// What one process of the CLI works on. It outlives Roost's tasks, because background commands do.
#[derive(Debug)]
pub(super) struct Activity {
    /// `None` until the CLI has reported a state; older versions never do.
    state: Option<SessionState>,
    /// By the CLI's id of the background task.
    tasks: BTreeMap<String, BackgroundTask>,
    /// A background task ended while the CLI was idle, so it is about to begin a turn.
    follow_up_due: bool,
    /// When the CLI last reported anything about itself.
    reported: Instant,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self { state: None, tasks: BTreeMap::new(), follow_up_due: false, reported: Instant::now() }
    }

    /// Takes note of a `system` message. `command` is what the tool call runs that the message names.
    pub(super) fn on_system(&mut self, message: &System, command: Option<String>) {
        self.reported = Instant::now();
        match message.subtype.as_str() {
            "session_state_changed" => {
                let state =
                    if message.state.as_deref() == Some("idle") { SessionState::Idle } else { SessionState::Busy };
                self.follow_up_due &= state == SessionState::Idle;
                self.state = Some(state);
            }
            // Always the whole list. Only newer versions send it, and they do so before `task_started`.
            "background_tasks_changed" => {
                let tasks = message.tasks.iter().filter_map(|task| Some((task.task_id.clone()?, task)));
                let tasks = tasks.map(|(id, task)| {
                    let known = self.tasks.remove(&id).map(|known| (known.tool_call, known.command));
                    let (tool_call, command) = known.unwrap_or_default();
                    let description = task.description.clone().unwrap_or_default();
                    (id, BackgroundTask { tool_call, command, description })
                });
                self.tasks = tasks.collect();
            }
            "task_started" if message.task.is_backgrounded != Some(false) => {
                let Some(id) = message.task.task_id.clone() else { return };
                let description = message.task.description.clone().unwrap_or_default();
                let tool_call = message.task.tool_use_id.clone();
                self.tasks.insert(id, BackgroundTask { tool_call, command, description });
            }
            "task_updated" => {
                let status = message.patch.as_ref().and_then(|patch| patch.get("status")).and_then(Value::as_str);
                if matches!(status, Some("completed" | "failed" | "killed")) {
                    self.on_task_ended(message, status);
                }
            }
            "task_notification" => self.on_task_ended(message, message.status.as_deref()),
            _ => {}
        }
    }

    /// Forgets a task that ended. Unless somebody stopped it, an idle CLI then begins a turn about it.
    fn on_task_ended(&mut self, message: &System, status: Option<&str>) {
        self.tasks.retain(|id, _| message.task.task_id.as_ref() != Some(id));
        let stopped = matches!(status, Some("killed" | "stopped"));
        self.follow_up_due |= self.state == Some(SessionState::Idle) && !stopped;
    }

    /// Forgets a task whose call has its result, unless the result only says that it goes on in the background. The CLI
    /// reports the start of long foreground commands too, but not always their end.
    pub(super) fn on_tool_result(&mut self, native: &str, details: Option<&Value>) {
        let member = |name: &str| details.and_then(|details| details.get(name)).is_some_and(|value| !value.is_null());
        if !member("backgroundTaskId") && !is_async_launch(details) {
            self.tasks.retain(|_, task| task.tool_call.as_deref() != Some(native));
        }
    }

    pub(super) fn remaining(&self) -> Remaining {
        match self.state {
            None => Remaining::Nothing,
            Some(SessionState::Busy) => Remaining::Turn,
            Some(SessionState::Idle) if self.follow_up_due => Remaining::Turn,
            Some(SessionState::Idle) if !self.tasks.is_empty() => Remaining::Background,
            Some(SessionState::Idle) => Remaining::Nothing,
        }
    }

    /// When a task that has its `result` stops waiting; `None` while agents work for it.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let limit = match self.remaining() {
            Remaining::Background => BACKGROUND_LIMIT,
            Remaining::Turn if self.follow_up_due => FOLLOW_UP_LIMIT,
            Remaining::Turn if self.tasks.is_empty() => IDLE_LIMIT,
            Remaining::Turn | Remaining::Nothing => return None,
        };
        Some(self.reported + limit)
    }

    /// The CLI did not begin the turn that was expected of it.
    pub(super) fn drop_follow_up(&mut self) {
        self.follow_up_due = false;
    }

    /// The CLI's ids of the background tasks.
    pub(super) fn task_ids(&self) -> Vec<String> {
        self.tasks.keys().cloned().collect()
    }

    /// The background tasks in words, each by its first line.
    pub(super) fn describe(&self) -> String {
        let words = self.tasks.values().map(|task| task.command.as_ref().unwrap_or(&task.description));
        let first_lines = words.map(|words| words.lines().next().unwrap_or_default());
        first_lines.collect::<Vec<_>>().join("; ")
    }
}

/// Whether the structured result of a call only says that an agent was started, which goes on by itself.
pub(super) fn is_async_launch(details: Option<&Value>) -> bool {
    details.and_then(|details| details.get("isAsync")).and_then(Value::as_bool).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    fn after(messages: &[Value]) -> Activity {
        let mut activity = Activity::new();
        messages.iter().for_each(|message| activity.on_system(&System::deserialize(message).unwrap(), None));
        activity
    }

    fn state(state: &str) -> Value {
        json!({ "subtype": "session_state_changed", "state": state })
    }

    fn started() -> Value {
        json!({ "subtype": "task_started", "task_id": "b1", "tool_use_id": "toolu_1", "description": "sleep 9" })
    }

    fn notified(status: &str) -> Value {
        json!({ "subtype": "task_notification", "task_id": "b1", "status": status })
    }

    #[test]
    fn what_remains_follows_from_the_state_and_the_background_tasks() {
        let listed = |tasks: Value| json!({ "subtype": "background_tasks_changed", "tasks": tasks });
        let one = || listed(json!([{ "task_id": "b1", "description": "sleep 9" }]));
        let foreground = json!({ "subtype": "task_started", "task_id": "b1", "is_backgrounded": false });
        let updated =
            |status: &str| json!({ "subtype": "task_updated", "task_id": "b1", "patch": { "status": status } });
        let cases = [
            (vec![], Remaining::Nothing),
            (vec![started()], Remaining::Nothing),
            (vec![state("running")], Remaining::Turn),
            (vec![state("requires_action")], Remaining::Turn),
            (vec![state("idle")], Remaining::Nothing),
            (vec![state("running"), started(), state("idle")], Remaining::Background),
            (vec![state("running"), one(), started(), state("idle")], Remaining::Background),
            (vec![state("running"), foreground, state("idle")], Remaining::Nothing),
            (vec![started(), state("idle"), updated("running")], Remaining::Background),
            (vec![started(), state("idle"), updated("completed")], Remaining::Turn),
            (vec![one(), state("idle"), notified("completed"), listed(json!([]))], Remaining::Turn),
            (vec![one(), state("idle"), notified("completed"), state("running"), state("idle")], Remaining::Nothing),
            (vec![started(), state("idle"), notified("stopped")], Remaining::Nothing),
            (vec![started(), state("running"), notified("completed"), state("idle")], Remaining::Nothing),
        ];
        for (messages, expected) in cases {
            assert_eq!(after(&messages).remaining(), expected, "{messages:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_has_a_limit_that_depends_on_what_is_waited_for() {
        let cases = [
            (vec![state("idle")], None),
            (vec![started(), state("idle")], Some(BACKGROUND_LIMIT)),
            (vec![started(), state("idle"), notified("completed")], Some(FOLLOW_UP_LIMIT)),
            (vec![state("running")], Some(IDLE_LIMIT)),
            (vec![state("running"), started()], None),
        ];
        for (messages, expected) in cases {
            let limit = after(&messages).deadline().map(|deadline| deadline - Instant::now());
            assert_eq!(limit, expected, "{messages:?}");
        }
    }

    #[test]
    fn a_result_ends_a_task_unless_it_says_that_the_task_goes_on() {
        let cases = [
            (json!({ "stdout": "" }), Remaining::Nothing),
            (json!({ "backgroundTaskId": null }), Remaining::Nothing),
            (json!({ "backgroundTaskId": "b1" }), Remaining::Background),
            (json!({ "isAsync": true }), Remaining::Background),
        ];
        for (details, expected) in cases {
            let mut activity = after(&[started(), state("idle")]);
            activity.on_tool_result("toolu_1", Some(&details));
            assert_eq!(activity.remaining(), expected, "{details}");
        }
    }
}
