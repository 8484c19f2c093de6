//! What cdev clients see, of one event and of a whole session.

use roost_model::event::{EventBody, NormalizedEvent};
use roost_server::cdev::notify::{self, Notification, SessionContext};
use roost_server::cdev::prelude::Prelude;
use serde_json::{Value, json};
use testkit::events as support;

mod elements;
mod golden;
mod messages;
mod native_message;
mod notifications;
mod odd_events;
mod phone;
mod promised;

const SESSION: SessionContext<'_> =
    SessionContext { workspace_id: Some("ws-1"), agent_type: "demo", cwd: "/home/ada/engine" };

/// A session of the demo agent as Roost wrote it: the tour with an approved edit, an answered question, thinking, a
/// denied edit, a stop while a call waits, a crash.
fn demo() -> Vec<NormalizedEvent> {
    include_str!("fixtures/demo.ndjson").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What an event tells if nothing came in pieces before it.
fn project(event: &NormalizedEvent, session: &SessionContext<'_>) -> Vec<Notification> {
    notify::project(&Prelude::default(), event, session)
}

/// What each of these events tells, with what came in pieces before it.
fn project_all(events: &[NormalizedEvent]) -> Vec<(&NormalizedEvent, Vec<Notification>)> {
    let mut prelude = Prelude::default();
    let told = events.iter().map(|event| {
        let notes = notify::project(&prelude, event, &SESSION);
        prelude.push(event);
        (event, notes)
    });
    told.collect()
}

/// What the event with this type and payload tells.
fn project_event(name: &str, payload: Value) -> Vec<Notification> {
    project(&event(name, payload), &SESSION)
}

fn event(name: &str, payload: Value) -> NormalizedEvent {
    support::event(7, body(name, payload))
}

/// A body; that of a tool call gets the identity of `tc_1`.
fn body(name: &str, mut payload: Value) -> EventBody {
    if name.starts_with("tool.") || name.starts_with("approval.") {
        for (field, value) in
            [("tool_call_id", json!("tc_1")), ("attempt", json!(1)), ("input_hash", json!("sha256:00"))]
        {
            payload[field] = value;
        }
    }
    if matches!(name, "tool.call.completed" | "tool.call.denied") {
        payload["policy_snapshot"] = json!({ "decision": "allow", "sources": [] });
    }
    if name == "tool.call.completed" {
        payload["executed_by"] = json!("runtime");
        payload["execution_env"] = json!("unknown");
    }
    support::body(name, payload)
}

fn started(prompt: &str) -> Value {
    let message = json!({ "role": "user", "content": [{ "type": "text", "text": prompt }] });
    json!({ "messages": [message], "permission_mode": "ask", "mode": "ask", "interaction_mode": "interactive" })
}
