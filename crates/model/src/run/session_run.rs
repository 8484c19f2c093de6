//! A hosted session as a run: its events and its summary, made from what the session has anyway.

use serde_json::{Map, Value, json};

use super::agent_event::{AgentEvent, EventLevel};
use super::run_summary::{RunStatus, RunSummary, Trigger};
use crate::approval::{Answerer, ApprovalEnd, Pending, PendingAsk};
use crate::event::{EventBody, NormalizedEvent};
use crate::payload::{ApprovalResolvedPayload, QuestionOutcome, QuestionResolvedPayload};
use crate::session::{SessionRecord, TaskOutcome, title};
use crate::tool::PolicyDecision;

impl AgentEvent {
    /// What an event of a session's stream says about the run; `None` for those that say nothing. Inputs and outputs of
    /// tools and models are left out but for one line, the `subject`: the session's own events have them.
    pub fn from_session(event: &NormalizedEvent) -> Option<Self> {
        let mut level = EventLevel::Info;
        let (action, message, data) = match &event.body {
            EventBody::SessionCreated(made) => {
                let parent = made.forked.as_ref().map(|forked| &forked.session_id);
                ("run_created", format!("A session of {}", made.runtime.wire()), json!({ "parentRunId": parent }))
            }
            EventBody::TaskStarted(started) => {
                let prompt = started.messages.first().and_then(|message| title(&message.text()));
                ("run_started", prompt.unwrap_or_else(|| "A prompt".into()), json!({}))
            }
            EventBody::TaskSteered(steered) => {
                ("hitl_input", title(&steered.message.text()).unwrap_or_else(|| "A message".into()), json!({}))
            }
            EventBody::TaskCompleted(done) => ("run_completed", done.reason.clone(), json!({})),
            EventBody::TaskStopped(stopped) => ("run_cancelled", stopped.reason.clone(), json!({})),
            EventBody::TaskFailed(failed) => {
                level = EventLevel::Error;
                ("run_failed", failed.reason.clone(), json!({ "error": failed.reason }))
            }
            EventBody::ToolCallRequested(call) => {
                let (id, subject) = (&call.identity.tool_call_id, subject(&call.input));
                ("tool_called", call.name.clone(), json!({ "tool": call.name, "toolCallId": id, "subject": subject }))
            }
            EventBody::ApprovalRequested(asked) => {
                let subject = subject(&asked.input).unwrap_or_else(|| asked.name.clone());
                let (id, reason) = (&asked.identity.tool_call_id, waiting_for_approval(&subject));
                ("waiting", reason.clone(), json!({ "reason": reason, "toolCallId": id, "subject": subject }))
            }
            EventBody::QuestionAsked(asked) => {
                let reason = waiting_for_answer(&asked.message);
                let (id, subject) = (&asked.question_id, title(&asked.message));
                ("waiting", reason.clone(), json!({ "reason": reason, "questionId": id, "subject": subject }))
            }
            EventBody::ApprovalResolved(resolved) => {
                let data = json!({
                    "toolCallId": resolved.identity.tool_call_id, "decision": resolved.decision, "end": resolved.end,
                    "answeredBy": resolved.answered_by.as_ref().map(name),
                });
                ("hitl_input", decided(resolved), data)
            }
            EventBody::QuestionResolved(resolved) => {
                let data = json!({
                    "questionId": resolved.question_id, "outcome": resolved.outcome,
                    "answeredBy": resolved.answered_by.as_ref().map(name),
                });
                ("hitl_input", answered(resolved), data)
            }
            EventBody::UsageReported(usage) => {
                let model = &event.runtime.model;
                let (input, output) = (usage.input_tokens, usage.output_tokens);
                let data = json!({
                    "model": model, "inputTokens": input, "outputTokens": output, "costUsd": usage.cost_usd,
                });
                let tokens = input.unwrap_or_default() + output.unwrap_or_default();
                ("llm_called", format!("{tokens} tokens"), data)
            }
            _ => return None,
        };
        let mut members: Map<String, Value> = match data {
            Value::Object(members) => members.into_iter().filter(|(_, value)| !value.is_null()).collect(),
            _ => Map::new(),
        };
        members.insert("runId".into(), event.trace.session_id.as_str().into());
        members.insert("agent".into(), event.runtime.name.id().into());
        if let Some(task) = &event.trace.task_id {
            members.insert("stepId".into(), task.as_str().into());
        }
        let kind = format!("agent.{action}");
        Some(Self { kind, level, message, service_id: None, data: members, idempotency_key: None })
    }
}

impl RunSummary {
    /// The summary of a hosted session, with what waits for a person in it.
    pub fn from_session(record: &SessionRecord, pending: &[&Pending]) -> Self {
        let ended = record.last_outcome.filter(|_| record.open_task.is_none());
        let status = match (&record.open_task, ended) {
            (Some(_), _) if !pending.is_empty() => RunStatus::Waiting,
            (Some(_), _) => RunStatus::Running,
            (None, Some(TaskOutcome::Completed)) => RunStatus::Completed,
            (None, Some(TaskOutcome::Failed)) => RunStatus::Failed,
            (None, Some(TaskOutcome::Stopped)) => RunStatus::Cancelled,
            (None, None) => RunStatus::Queued,
        };
        let usage = &record.usage;
        let last_kind = match status {
            RunStatus::Queued => "agent.run_created",
            RunStatus::Running => "agent.run_started",
            RunStatus::Waiting => "agent.waiting",
            RunStatus::Completed => "agent.run_completed",
            RunStatus::Failed => "agent.run_failed",
            RunStatus::Cancelled => "agent.run_cancelled",
        };
        Self {
            agent: Some(record.runtime.id().to_owned()),
            trigger: Trigger::Api,
            parent_run_id: record.forked.as_ref().map(|forked| forked.session_id.to_string()),
            status,
            updated_at: record.updated_at,
            completed_at: ended.map(|_| record.updated_at),
            waiting_reason: pending.first().filter(|_| status == RunStatus::Waiting).map(|pending| reason(pending)),
            failure_reason: record.failure.clone().filter(|_| status == RunStatus::Failed),
            step_count: record.tasks,
            current_step_id: record.open_task.as_ref().map(|task| task.task_id.to_string()),
            tool_call_count: usage.tool_calls,
            llm_call_count: usage.model_calls,
            event_count: record.messages,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cost_usd: usage.cost_usd,
            last_event_kind: last_kind.into(),
            last_event_message: record.title.clone().unwrap_or_default(),
            ..Self::new(record.session_id.as_str().into(), record.created_at)
        }
    }

    /// A session's summary together with what its agent reported of itself: steps and hand-offs, which Roost does not see.
    /// What Roost sees itself counts as Roost saw it.
    pub fn with_reported(mut self, reported: &Self) -> Self {
        self.handoff_count = reported.handoff_count;
        self.step_count += reported.step_count;
        self.event_count += reported.event_count;
        self.correlation_id = reported.correlation_id.clone().or(self.correlation_id);
        self.causation_id = reported.causation_id.clone().or(self.causation_id);
        if self.status == RunStatus::Running {
            self.current_step_id = reported.current_step_id.clone().or(self.current_step_id);
        }
        self
    }
}

fn reason(pending: &Pending) -> String {
    match &pending.ask {
        PendingAsk::Approval(asked) => {
            waiting_for_approval(&subject(&asked.input).unwrap_or_else(|| asked.name.clone()))
        }
        PendingAsk::Question(asked) => waiting_for_answer(&asked.message),
    }
}

fn waiting_for_approval(subject: &str) -> String {
    format!("approval of {subject}")
}

fn waiting_for_answer(question: &str) -> String {
    format!("answer to: {}", title(question).unwrap_or_default())
}

/// The arguments that say what a call is about, by the names that runtimes give them.
const SUBJECTS: [&str; 12] = [
    "command",
    "cmd",
    "pattern",
    "query",
    "file_path",
    "path",
    "notebook_path",
    "filePath",
    "abs_path",
    "absolute_path",
    "url",
    "uri",
];

/// The command, file, address or pattern of a call in one line; `None` if its arguments name none.
fn subject(input: &Value) -> Option<String> {
    SUBJECTS.iter().find_map(|name| match input.get(name)? {
        Value::String(text) => title(text),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            title(&words?.join(" "))
        }
        _ => None,
    })
}

/// What people call whoever answered.
fn name(by: &Answerer) -> String {
    match (&by.user_id, by.from.as_deref()) {
        (Some(device), _) => device.to_string(),
        // Only the user can use the local socket.
        (None, Some("local")) => "somebody at the machine".into(),
        (None, Some(transport)) => format!("a client over {transport}"),
        (None, None) => "somebody".into(),
    }
}

/// How an approval ended, as the second half of a sentence about the call.
fn decided(resolved: &ApprovalResolvedPayload) -> String {
    let decision = if resolved.decision == PolicyDecision::Allow { "allowed" } else { "denied" };
    let why = match resolved.end {
        ApprovalEnd::Answered => {
            let by = resolved.answered_by.as_ref().map_or_else(|| "somebody".into(), name);
            let reason = resolved.reason.as_deref().and_then(title).map(|reason| format!(": {reason}"));
            return format!("{decision} by {by}{}", reason.unwrap_or_default());
        }
        ApprovalEnd::Expired => "nobody answered in time",
        ApprovalEnd::Stopped => "the task was stopped",
        ApprovalEnd::TaskEnded => "the task ended",
        ApprovalEnd::Withdrawn => "the agent withdrew the call",
        ApprovalEnd::HostRestarted => "the daemon ended",
    };
    format!("{decision}, because {why}")
}

fn answered(resolved: &QuestionResolvedPayload) -> String {
    let outcome = match resolved.outcome {
        QuestionOutcome::Answered => "answered",
        QuestionOutcome::Declined => "declined",
        QuestionOutcome::Cancelled => "cancelled",
    };
    match &resolved.answered_by {
        Some(by) => format!("{outcome} by {}", name(by)),
        None => outcome.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn projected(kind: &str, payload: Value) -> (String, Value) {
        let event = json!({
            "schema_version": 1, "seq": 7, "time": "2026-01-05T14:03:00Z", "trace": { "session_id": "s" },
            "runtime": { "name": "demo" }, "type": kind, "payload": payload,
        });
        let event = AgentEvent::from_session(&serde_json::from_value(event).unwrap()).unwrap();
        (event.message, event.data.into())
    }

    fn call(more: Value) -> Value {
        let mut call = json!({ "tool_call_id": "tc", "attempt": 1, "input_hash": "sha256:0" });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call
    }

    #[test]
    fn a_call_is_told_with_its_command_file_or_address_in_one_line() {
        let table = [
            (json!({ "command": "cargo test\n&& cargo fmt" }), "cargo test"),
            (json!({ "command": ["ls", "-l"] }), "ls -l"),
            (json!({ "file_path": "src/main.rs", "content": "fn main() {}" }), "src/main.rs"),
            (json!({ "pattern": "fn main", "path": "src" }), "fn main"),
            (json!({ "url": "https://example.org/" }), "https://example.org/"),
        ];
        for (input, subject) in table {
            let (_, data) = projected("tool.call.requested", call(json!({ "name": "tool", "input": input })));
            assert_eq!(data["subject"], subject, "{input}");
            let (message, data) = projected("approval.requested", call(json!({ "name": "tool", "input": input })));
            assert_eq!((message, &data["subject"]), (format!("approval of {subject}"), &json!(subject)));
        }
        let unknown = call(json!({ "name": "frobnicate", "input": { "level": 1 } }));
        assert_eq!(projected("approval.requested", unknown.clone()).0, "approval of frobnicate");
        assert_eq!(projected("tool.call.requested", unknown).1.get("subject"), None);
    }

    #[test]
    fn an_answer_says_which_way_by_whom_and_why() {
        let table = [
            (json!({ "decision": "allow", "end": "answered", "answered_by": { "user_id": "Ada" } }), "allowed by Ada"),
            (
                json!({ "decision": "deny", "end": "answered", "answered_by": { "from": "local" }, "reason": "no" }),
                "denied by somebody at the machine: no",
            ),
            (json!({ "decision": "deny", "end": "expired" }), "denied, because nobody answered in time"),
        ];
        for (resolved, expected) in table {
            let mut resolved = call(resolved);
            resolved["scope"] = json!("once");
            let (message, data) = projected("approval.resolved", resolved.clone());
            assert_eq!((message.as_str(), &data["toolCallId"]), (expected, &json!("tc")));
            assert_eq!((&data["decision"], &data["end"]), (&resolved["decision"], &resolved["end"]));
        }
        let answer = json!({ "question_id": "q", "outcome": "answered", "answered_by": { "user_id": "Ada" } });
        let (message, data) = projected("question.resolved", answer);
        assert_eq!(
            (message.as_str(), &data["questionId"], &data["answeredBy"]),
            ("answered by Ada", &json!("q"), &json!("Ada"))
        );
    }
}
