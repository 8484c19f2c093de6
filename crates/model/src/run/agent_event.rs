//! One event that an orchestration client reports.

use crate::event::EventBody;
use crate::ids::{RunId, ServiceId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::run_summary::Trigger;

/// Every kind begins with this.
const PREFIX: &str = "agent.";
/// The longest kind, id or name that is taken.
const MAX_NAME: usize = 200;
/// The longest message that is taken, in bytes.
const MAX_MESSAGE: usize = 64 * 1024;

/// The kinds that say something about a run, so they must name it.
const OF_A_RUN: [&str; 14] = [
    "run_started",
    "run_completed",
    "run_failed",
    "run_cancelled",
    "waiting",
    "handoff",
    "tool_called",
    "llm_called",
    "hitl_input",
    "chat.user_message",
    "chat.assistant_message",
    "chat.system_message",
    "step_started",
    "step_completed",
];
/// The kinds that say something about a step, so they must name it.
const OF_A_STEP: [&str; 2] = ["step_started", "step_completed"];

/// How serious an event is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EventLevel {
    /// What usually happens.
    #[default]
    Info,
    /// Somebody should look at it.
    Warn,
    /// Something failed, or could not be done.
    Error,
}

/// Something that happened to an agent, as an orchestration client tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentEvent {
    /// Such as `agent.run_started`.
    pub kind: String,
    /// How serious it is.
    pub level: EventLevel,
    /// One line for people.
    pub message: String,
    /// The service that the agent belongs to.
    pub service_id: Option<ServiceId>,
    /// What the client told besides, with the run, the step and the agent merged in as `runId`, `stepId` and `agent`.
    pub data: Map<String, Value>,
    /// Names the report within its run: a second event with the same key is the same report, sent again.
    pub idempotency_key: Option<String>,
}

/// Why an event is not taken.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAgentEvent {
    /// It is no object.
    #[error("an event is a JSON object with at least the member \"kind\"")]
    NoObject,
    /// A member has the wrong form.
    #[error("\"{member}\" must be {expected}")]
    Member {
        /// The member's name.
        member: &'static str,
        /// What it must be.
        expected: &'static str,
    },
    /// A member is missing that this kind must have.
    #[error("{kind} needs \"{member}\"")]
    Missing {
        /// The event's kind.
        kind: String,
        /// The member's name.
        member: String,
    },
}

/// An event's payload in the log; its type is the kind.
#[derive(Serialize, Deserialize)]
struct Stored {
    level: EventLevel,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    service_id: Option<ServiceId>,
    data: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    idempotency_key: Option<String>,
}

/// The spellings of what a call of a model used.
pub(super) const INPUT_TOKENS: [&str; 3] = ["inputTokens", "input_tokens", "prompt_tokens"];
pub(super) const OUTPUT_TOKENS: [&str; 3] = ["outputTokens", "output_tokens", "completion_tokens"];
const COST: [&str; 2] = ["costUsd", "cost_usd"];

/// The spellings of an amount, what it must be, and that in words.
type Amount = (&'static [&'static str], fn(&Value) -> bool, &'static str);

/// Amounts count against budgets, so none may take away from them.
const AMOUNTS: [Amount; 3] = [
    (&INPUT_TOKENS, is_count, "a whole number, 0 or more"),
    (&OUTPUT_TOKENS, is_count, "a whole number, 0 or more"),
    (&COST, |cost| cost.is_null() || cost.as_f64().is_some_and(|cost| cost >= 0.0), "a number, 0 or more"),
];

fn is_count(tokens: &Value) -> bool {
    tokens.is_null() || tokens.is_u64()
}

impl AgentEvent {
    /// Reads what a client sent.
    pub fn parse(document: &Value) -> Result<Self, InvalidAgentEvent> {
        let body = document.as_object().ok_or(InvalidAgentEvent::NoObject)?;
        let kind = name(body, "kind", &["kind"])?.filter(|kind| is_kind(kind)).ok_or(InvalidAgentEvent::Member {
            member: "kind",
            expected: "a text that begins with \"agent.\" and has letters, digits, dots and underscores only",
        })?;
        let level = match body.get("level") {
            None => EventLevel::Info,
            Some(level) => serde_json::from_value(level.clone())
                .map_err(|_| InvalidAgentEvent::Member { member: "level", expected: "info, warn or error" })?,
        };
        let mut data = match body.get("data") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(data)) => data.clone(),
            Some(_) => return Err(InvalidAgentEvent::Member { member: "data", expected: "an object" }),
        };
        for (member, spellings) in
            [("runId", ["run_id", "runId"]), ("stepId", ["step_id", "stepId"]), ("agent", ["agent", "agent_id"])]
        {
            // What the event says of itself counts more than its data.
            let spelled = match name(body, member, &spellings)? {
                Some(value) => Some(value),
                None => name(&data, member, &spellings)?,
            };
            if let Some(value) = spelled {
                data.remove(spellings[0]);
                data.insert(member.into(), value.into());
            }
        }
        let service_id = name(body, "service_id", &["service_id", "serviceId"])?.map(ServiceId::from);
        let run = data.get("runId").and_then(Value::as_str).unwrap_or_default();
        let message = match body.get("message") {
            None if run.is_empty() => kind.clone(),
            None => format!("{kind} ({run})"),
            Some(Value::String(message)) if message.len() <= MAX_MESSAGE => message.clone(),
            Some(_) => {
                return Err(InvalidAgentEvent::Member { member: "message", expected: "a text of at most 64 KiB" });
            }
        };
        let idempotency_key = name(body, "idempotency_key", &["idempotency_key", "idempotencyKey"])?;
        let event = Self { kind, level, message, service_id, data, idempotency_key };
        event.check()?;
        Ok(event)
    }

    /// The event that stands in the log; `None` if it is another one.
    pub fn from_body(body: &EventBody) -> Option<Self> {
        let EventBody::Other { name, payload } = body else { return None };
        if !name.starts_with(PREFIX) {
            return None;
        }
        let Stored { level, message, service_id, data, idempotency_key } =
            serde_json::from_value(payload.clone()).ok()?;
        Some(Self { kind: name.clone(), level, message, service_id, data, idempotency_key })
    }

    /// The event as it stands in the log.
    pub fn into_body(self) -> EventBody {
        let Self { kind, level, message, service_id, data, idempotency_key } = self;
        // Texts and JSON can always be written as JSON.
        let payload =
            serde_json::to_value(Stored { level, message, service_id, data, idempotency_key }).unwrap_or_default();
        EventBody::Other { name: kind, payload }
    }

    /// The kind without its prefix.
    pub fn action(&self) -> &str {
        self.kind.strip_prefix(PREFIX).unwrap_or(&self.kind)
    }

    /// The run that it is about.
    pub fn run_id(&self) -> Option<RunId> {
        self.text("runId").map(RunId::from)
    }

    /// A text of its data.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.data.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// What started the run, if it tells.
    pub fn trigger(&self) -> Option<Trigger> {
        self.text("trigger").and_then(Trigger::from_name)
    }

    /// A member of what it tells about the trigger, as `triggerContext` or beside it, in either spelling.
    pub(super) fn trigger_context(&self, name: &str) -> Option<&Value> {
        let context = ["triggerContext", "trigger_context"].into_iter().find_map(|key| self.data.get(key)?.as_object());
        let snake = snake_case(name);
        let is_given = |value: &&Value| !value.is_null() && value.as_str() != Some("");
        let look = |map: &'_ Map<String, Value>| map.get(name).or_else(|| map.get(&snake)).is_some();
        match context.filter(|map| look(map)) {
            Some(map) => map.get(name).or_else(|| map.get(&snake)).filter(is_given),
            None => self.data.get(name).or_else(|| self.data.get(&snake)).filter(is_given),
        }
    }

    /// Tokens that a call of a model used, under the first of these names that is there.
    pub(super) fn tokens(&self, names: &[&str]) -> u64 {
        names.iter().find_map(|name| self.data.get(*name)).and_then(Value::as_u64).unwrap_or_default()
    }

    /// What a call of a model cost, in US dollars.
    pub(super) fn cost(&self) -> f64 {
        let cost = COST.iter().find_map(|name| self.data.get(*name)).and_then(Value::as_f64);
        cost.filter(|cost| *cost >= 0.0).unwrap_or_default()
    }

    fn check(&self) -> Result<(), InvalidAgentEvent> {
        let missing = |member: &str| InvalidAgentEvent::Missing { kind: self.kind.clone(), member: member.into() };
        let action = self.action();
        if OF_A_RUN.contains(&action) && self.text("runId").is_none() {
            return Err(missing("run_id"));
        }
        if OF_A_STEP.contains(&action) && self.text("stepId").is_none() {
            return Err(missing("step_id"));
        }
        for (names, is_valid, expected) in AMOUNTS {
            let given = names.iter().find_map(|name| Some((*name, self.data.get(*name)?)));
            if let Some((member, _)) = given.filter(|(_, amount)| action == "llm_called" && !is_valid(amount)) {
                return Err(InvalidAgentEvent::Member { member, expected });
            }
        }
        if action == "run_created"
            && let Some(trigger) = self.trigger()
        {
            let without = trigger.context().iter().find(|name| self.trigger_context(name).is_none());
            if let Some(name) = without {
                return Err(missing(&format!("triggerContext.{name}")));
            }
        }
        Ok(())
    }
}

fn is_kind(kind: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    kind.strip_prefix(PREFIX).is_some_and(|rest| !rest.is_empty()) && kind.chars().all(plain)
}

/// The member under the first of these names that is there.
fn name(
    body: &Map<String, Value>,
    member: &'static str,
    spellings: &[&str],
) -> Result<Option<String>, InvalidAgentEvent> {
    match spellings.iter().find_map(|name| body.get(*name)) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.len() <= MAX_NAME => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(_) => Err(InvalidAgentEvent::Member { member, expected: "a text of at most 200 bytes" }),
    }
}

/// `scheduleId` as `schedule_id`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_run_the_step_and_the_agent_are_merged_into_the_data() {
        for document in [
            json!({ "kind": "agent.step_started", "run_id": "r", "step_id": "s", "agent": "a", "data": { "x": 1 } }),
            json!({ "kind": "agent.step_started", "runId": "r", "stepId": "s", "agent": "a", "data": { "x": 1 } }),
            json!({ "kind": "agent.step_started", "data": { "x": 1, "run_id": "r", "stepId": "s", "agent": "a" } }),
        ] {
            let event = AgentEvent::parse(&document).unwrap();
            let expected = json!({ "x": 1, "runId": "r", "stepId": "s", "agent": "a" });
            assert_eq!(Value::from(event.data.clone()), expected, "{document}");
            assert_eq!(event.message, "agent.step_started (r)");
            assert_eq!(AgentEvent::from_body(&event.clone().into_body()), Some(event));
        }
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let api = json!({ "route": "/x", "method": "POST", "request_id": "1", "caller": "ci" });
        let mut incomplete = api.clone();
        incomplete.as_object_mut().unwrap().remove("caller");
        let created = |context: &Value| json!({ "kind": "agent.run_created", "runId": "r", "data": { "trigger": "api", "triggerContext": context } });
        let used = |amounts: Value| json!({ "kind": "agent.llm_called", "runId": "r", "data": amounts });
        let cases = [
            (json!([]), Some("JSON object")),
            (json!({}), Some("\"kind\"")),
            (json!({ "kind": "service.started" }), Some("agent.")),
            (json!({ "kind": "agent." }), Some("agent.")),
            (json!({ "kind": "agent.a b" }), Some("agent.")),
            (json!({ "kind": "agent.run_started" }), Some("\"run_id\"")),
            (json!({ "kind": "agent.step_completed", "run_id": "r" }), Some("\"step_id\"")),
            (json!({ "kind": "agent.x", "level": "loud" }), Some("info, warn or error")),
            (json!({ "kind": "agent.x", "data": [] }), Some("an object")),
            (json!({ "kind": "agent.x", "message": 1 }), Some("text")),
            (json!({ "kind": "agent.x", "run_id": "r".repeat(201) }), Some("200 bytes")),
            (used(json!({ "input_tokens": -1 })), Some("\"input_tokens\" must be a whole number")),
            (used(json!({ "outputTokens": 1.5 })), Some("\"outputTokens\"")),
            (used(json!({ "costUsd": -0.01 })), Some("\"costUsd\" must be a number, 0 or more")),
            (used(json!({ "cost_usd": "1" })), Some("\"cost_usd\"")),
            (used(json!({ "inputTokens": 0, "completion_tokens": null, "costUsd": 0 })), None),
            (created(&incomplete), Some("triggerContext.caller")),
            (created(&api), None),
            (json!({ "kind": "agent.x" }), None),
        ];
        for (document, expected) in cases {
            let said = AgentEvent::parse(&document).err().map(|error| error.to_string());
            match expected {
                None => assert_eq!(said, None, "{document}"),
                Some(part) => assert!(said.as_ref().is_some_and(|said| said.contains(part)), "{document}: {said:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn what_was_taken_is_found_in_the_log_again(run in "[a-z]{1,8}", message in ".{0,40}", x in any::<i64>()) {
            let document = json!({ "kind": "agent.note", "run_id": run, "message": message, "data": { "x": x } });
            let event = AgentEvent::parse(&document).unwrap();
            prop_assert_eq!(AgentEvent::from_body(&event.clone().into_body()), Some(event));
        }
    }
}
