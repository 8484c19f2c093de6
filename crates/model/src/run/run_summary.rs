//! What the events of a run add up to.

use std::collections::BTreeSet;

use crate::ids::{RunId, ServiceId};
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::agent_event::{AgentEvent, INPUT_TOKENS, OUTPUT_TOKENS};

/// What started a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// A schedule of its service came due.
    Timer,
    /// Something happened elsewhere.
    Event,
    /// A client asked for it.
    Api,
    /// Another agent handed over to it.
    A2a,
    /// No event has told yet.
    #[default]
    Unknown,
}

impl Trigger {
    /// The trigger of this name; `None` for names that say nothing.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "timer" => Some(Self::Timer),
            "event" => Some(Self::Event),
            "api" => Some(Self::Api),
            "a2a" => Some(Self::A2a),
            _ => None,
        }
    }

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Timer => "timer",
            Self::Event => "event",
            Self::Api => "api",
            Self::A2a => "a2a",
            Self::Unknown => "unknown",
        }
    }

    /// What must be told about it.
    pub(super) fn context(self) -> &'static [&'static str] {
        match self {
            Self::Timer => &["scheduleId", "scheduleExpr", "firedAt"],
            Self::Event => &["eventType", "eventId", "correlationId", "producer"],
            Self::Api => &["route", "method", "requestId", "caller"],
            Self::A2a => &["parentRunId", "fromAgentId", "handoffReason"],
            Self::Unknown => &[],
        }
    }
}

/// Where a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It is known and has not begun.
    #[default]
    Queued,
    /// Its agent works.
    Running,
    /// Its agent waits for somebody or something.
    Waiting,
    /// It has ended well.
    Completed,
    /// It has ended with an error.
    Failed,
    /// Somebody ended it.
    Cancelled,
}

impl RunStatus {
    /// Whether the run is over.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// What the events of a run add up to; shown to clients by [`RunSummary::shown`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// As its client named it.
    pub run_id: RunId,
    /// The agent that works in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The service that the agent belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_id: Option<ServiceId>,
    /// What started it.
    pub trigger: Trigger,
    /// What was told about the trigger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger_context: Option<Map<String, Value>>,
    /// The event that caused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub causation_id: Option<String>,
    /// What it belongs together with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The run that handed over to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_run_id: Option<String>,
    /// The agent that handed over to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_agent_id: Option<String>,
    /// Where it is.
    pub status: RunStatus,
    /// When its first event came.
    pub started_at: Timestamp,
    /// When its last event came.
    pub updated_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting_reason: Option<String>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// How many different steps were told of.
    pub step_count: u64,
    /// How often it handed over.
    pub handoff_count: u64,
    /// How many tools were called.
    pub tool_call_count: u64,
    /// How often a model was called.
    pub llm_call_count: u64,
    /// How many events were told.
    pub event_count: u64,
    /// The tokens that models read, as far as was told.
    pub input_tokens: u64,
    /// The tokens that models wrote, as far as was told.
    pub output_tokens: u64,
    /// What models cost, in US dollars, as far as was told.
    pub cost_usd: f64,
    /// The step that was begun last and is not over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_step_id: Option<String>,
    /// The kind of the last event.
    pub last_event_kind: String,
    /// The message of the last event.
    pub last_event_message: String,
    /// The steps that were counted; bounded, so that no client can fill the memory.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub(super) steps: BTreeSet<String>,
}

/// Steps of one run that are told apart; further ones are counted as new each time.
const MAX_STEPS: usize = 256;
/// Characters of a text in a summary; the event has it whole.
const MAX_TEXT: usize = 500;

impl RunSummary {
    /// A run of which nothing is known but its name.
    pub fn new(run_id: RunId, now: Timestamp) -> Self {
        Self {
            run_id,
            agent: None,
            service_id: None,
            trigger: Trigger::Unknown,
            trigger_context: None,
            causation_id: None,
            correlation_id: None,
            parent_run_id: None,
            from_agent_id: None,
            status: RunStatus::Queued,
            started_at: now,
            updated_at: now,
            completed_at: None,
            waiting_reason: None,
            failure_reason: None,
            step_count: 0,
            handoff_count: 0,
            tool_call_count: 0,
            llm_call_count: 0,
            event_count: 0,
            input_tokens: 0,
            output_tokens: 0,
            cost_usd: 0.0,
            current_step_id: None,
            last_event_kind: String::new(),
            last_event_message: String::new(),
            steps: BTreeSet::new(),
        }
    }

    /// The summary as clients see it: without what only the next event needs.
    pub fn shown(self) -> Self {
        Self { steps: BTreeSet::new(), ..self }
    }

    /// The summary after this event of the run.
    pub fn after(mut self, event: &AgentEvent, now: Timestamp) -> Self {
        let text = |names: &[&str]| names.iter().find_map(|name| event.text(name)).map(shortened);
        self.updated_at = now;
        self.event_count += 1;
        self.last_event_kind.clone_from(&event.kind);
        self.last_event_message = shortened(&event.message);
        self.agent = text(&["agent"]).or(self.agent);
        self.service_id = event.service_id.clone().or(self.service_id);
        self.causation_id = text(&["causationId", "causation_id"]).or(self.causation_id);
        self.correlation_id = context(event, "correlationId").or(self.correlation_id);
        self.parent_run_id = context(event, "parentRunId").or(self.parent_run_id);
        self.from_agent_id = context(event, "fromAgentId").or(self.from_agent_id);
        if let Some(trigger) = event.trigger() {
            self.trigger = trigger;
            let told =
                trigger.context().iter().filter_map(|name| Some(((*name).to_owned(), event.trigger_context(name)?)));
            self.trigger_context = Some(told.map(|(name, value)| (name, shortened_value(value))).collect());
        }
        match event.action() {
            "run_created" => {}
            "waiting" => {
                self.enter(RunStatus::Waiting, now);
                if self.status == RunStatus::Waiting {
                    let told = text(&["reason", "waitingReason", "waiting_reason"]);
                    self.waiting_reason = told.or(Some(event.message.clone())).map(|reason| shortened(&reason));
                }
            }
            "run_completed" => self.enter(RunStatus::Completed, now),
            "run_cancelled" => self.enter(RunStatus::Cancelled, now),
            "run_failed" => {
                self.enter(RunStatus::Failed, now);
                let told = text(&["error", "reason", "failureReason"]).or(Some(event.message.clone()));
                self.failure_reason = told.map(|reason| shortened(&reason));
            }
            action => {
                self.count(action, event);
                // Whatever an agent does, it does not wait any more.
                self.enter(RunStatus::Running, now);
            }
        }
        self
    }

    fn enter(&mut self, status: RunStatus, now: Timestamp) {
        if self.status.is_terminal() && !status.is_terminal() {
            return;
        }
        self.status = status;
        self.waiting_reason = None;
        self.completed_at = status.is_terminal().then_some(now);
    }

    fn count(&mut self, action: &str, event: &AgentEvent) {
        match action {
            "step_started" => {
                let step = event.text("stepId").unwrap_or_default();
                self.count_step(step);
                self.current_step_id = Some(step.to_owned());
            }
            "step_completed" => {
                let step = event.text("stepId").unwrap_or_default();
                self.count_step(step);
                self.current_step_id.take_if(|current| current == step);
            }
            "handoff" => {
                self.handoff_count += 1;
                if self.trigger == Trigger::Unknown {
                    self.trigger = Trigger::A2a;
                }
            }
            "tool_called" => self.tool_call_count += 1,
            "llm_called" => {
                self.llm_call_count += 1;
                // Each is a plausible number; their sum need not be one.
                self.input_tokens = self.input_tokens.saturating_add(event.tokens(&INPUT_TOKENS));
                self.output_tokens = self.output_tokens.saturating_add(event.tokens(&OUTPUT_TOKENS));
                self.cost_usd = (self.cost_usd + event.cost()).min(f64::MAX);
            }
            _ => {}
        }
    }

    fn count_step(&mut self, step: &str) {
        if self.steps.contains(step) {
            return;
        }
        self.step_count += 1;
        if self.steps.len() < MAX_STEPS {
            self.steps.insert(step.to_owned());
        }
    }
}

/// A text about the trigger, wherever it stands.
fn context(event: &AgentEvent, name: &str) -> Option<String> {
    event.trigger_context(name).and_then(Value::as_str).map(shortened)
}

/// A text as a summary keeps it, which is in memory and in a row that is written with every event.
fn shortened(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

fn shortened_value(value: &Value) -> Value {
    match value {
        Value::Number(_) | Value::Bool(_) => value.clone(),
        Value::String(text) => shortened(text).into(),
        other => shortened(&other.to_string()).into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn event(action: &str, more: &Value) -> AgentEvent {
        let mut document = json!({ "kind": format!("agent.{action}"), "run_id": "r", "step_id": "s" });
        document["data"] = more.clone();
        AgentEvent::parse(&document).unwrap()
    }

    fn folded(actions: &[(&str, Value)]) -> RunSummary {
        let start = RunSummary::new("r".into(), Timestamp::from_millis(0));
        let at = |at: usize| Timestamp::from_millis(at as i64 + 1);
        actions.iter().enumerate().fold(start, |run, (n, (action, more))| run.after(&event(action, more), at(n)))
    }

    #[test]
    fn a_run_is_what_its_events_say() {
        let timer = json!({ "trigger": "timer", "scheduleId": "s", "schedule_expr": "every 1 h", "firedAt": "now" });
        let cost = json!({ "input_tokens": 10, "outputTokens": 5, "cost_usd": 0.25 });
        let run = folded(&[
            ("run_created", timer),
            ("run_started", json!({ "agent": "writer" })),
            ("step_started", json!({})),
            ("llm_called", cost.clone()),
            ("llm_called", cost),
            ("tool_called", json!({})),
            ("waiting", json!({ "reason": "approval" })),
            ("step_completed", json!({})),
            ("run_completed", json!({})),
        ]);
        insta::assert_json_snapshot!(run);
    }

    #[test]
    fn a_run_that_goes_on_does_not_wait_any_more_and_one_that_ended_does_not_go_on() {
        let status = |actions: &[&str]| {
            let run = folded(&actions.iter().map(|action| (*action, json!({}))).collect::<Vec<_>>());
            (run.status, run.waiting_reason.is_some(), run.completed_at.is_some())
        };
        assert_eq!(status(&["run_created"]), (RunStatus::Queued, false, false));
        assert_eq!(status(&["run_started", "waiting"]), (RunStatus::Waiting, true, false));
        assert_eq!(status(&["waiting", "step_completed"]), (RunStatus::Running, false, false));
        assert_eq!(status(&["run_failed", "run_started", "waiting"]), (RunStatus::Failed, false, true));
        assert_eq!(status(&["run_failed", "run_completed"]), (RunStatus::Completed, false, true));
        assert_eq!(folded(&[("handoff", json!({}))]).trigger, Trigger::A2a);
    }

    #[test]
    fn amounts_beyond_all_measure_stay_the_largest_that_there_are() {
        let most = json!({ "inputTokens": u64::MAX, "outputTokens": u64::MAX, "costUsd": f64::MAX });
        let run = folded(&[("llm_called", most.clone()), ("llm_called", most)]);
        assert_eq!((run.input_tokens, run.output_tokens, run.cost_usd), (u64::MAX, u64::MAX, f64::MAX));
    }

    proptest! {
        #[test]
        fn a_summary_that_was_stored_goes_on_as_one_that_was_not(
            actions in proptest::collection::vec(
                prop_oneof![Just("run_started"), Just("step_started"), Just("llm_called"), Just("waiting"),
                    Just("run_completed"), Just("anything")], 0..12),
        ) {
            let mut stored = RunSummary::new("r".into(), Timestamp::from_millis(0));
            for (at, action) in actions.iter().enumerate() {
                stored = stored.after(&event(action, &json!({})), Timestamp::from_millis(at as i64 + 1));
                stored = serde_json::from_str(&serde_json::to_string(&stored).unwrap()).unwrap();
            }
            let all: Vec<_> = actions.iter().map(|action| (*action, json!({}))).collect();
            prop_assert_eq!(stored, folded(&all));
        }
    }
}
