//! A hosted session as a run: its events and its summary, made from what the session has anyway.

use serde_json::{Map, Value, json};

use super::agent_event::{AgentEvent, EventLevel};
use super::run_summary::{RunStatus, RunSummary, Trigger};
use crate::approval::{Pending, PendingAsk};
use crate::event::{EventBody, NormalizedEvent};
use crate::session::{SessionRecord, TaskOutcome, title};

impl AgentEvent {
    /// What an event of a session's stream says about the run; `None` for those that say nothing. Inputs and outputs of
    /// tools and models are left out: the session's own events have them.
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
                let id = &call.identity.tool_call_id;
                ("tool_called", call.name.clone(), json!({ "tool": call.name, "toolCallId": id }))
            }
            EventBody::ApprovalRequested(asked) => {
                let reason = waiting_for_approval(&asked.name);
                ("waiting", reason.clone(), json!({ "reason": reason, "toolCallId": asked.identity.tool_call_id }))
            }
            EventBody::QuestionAsked(asked) => {
                let reason = waiting_for_answer(&asked.message);
                ("waiting", reason.clone(), json!({ "reason": reason }))
            }
            EventBody::ApprovalResolved(_) => ("hitl_input", "An approval was answered".into(), json!({})),
            EventBody::QuestionResolved(_) => ("hitl_input", "A question was answered".into(), json!({})),
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
        PendingAsk::Approval(asked) => waiting_for_approval(&asked.name),
        PendingAsk::Question(asked) => waiting_for_answer(&asked.message),
    }
}

fn waiting_for_approval(tool: &str) -> String {
    format!("approval of {tool}")
}

fn waiting_for_answer(question: &str) -> String {
    format!("answer to: {}", title(question).unwrap_or_default())
}
