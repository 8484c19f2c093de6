//! Events with everything fixed that a test does not care about.

use roost_model::event::{EventBody, NewEvent, NormalizedEvent, RuntimeRef, Trace};
use roost_model::ids::{SessionId, TaskId};
use roost_model::runtime::RuntimeName;
use roost_model::time::Timestamp;
use serde_json::{Value, json};

mod examples;

pub use examples::examples;

/// The time of the event with this `seq`: a millisecond after the one before.
pub fn time(seq: u64) -> Timestamp {
    Timestamp::from_millis(1_763_197_848_000 + i64::try_from(seq).unwrap())
}

/// An event of `task_1` of session `s1` at this place of the stream.
pub fn event(seq: u64, body: impl Into<EventBody>) -> NormalizedEvent {
    let session = Trace::session(SessionId::from("s1"));
    let draft = NewEvent {
        time: time(seq),
        trace: Trace { task_id: Some(TaskId::from("task_1")), ..session },
        runtime: RuntimeRef::new(RuntimeName::Demo),
        body: body.into(),
    };
    draft.numbered(seq)
}

/// Parses the body of an event of this type from its JSON payload; panics if the type is unknown.
pub fn body(name: &str, payload: Value) -> EventBody {
    let event: NormalizedEvent = serde_json::from_value(json!({
        "schema_version": 1, "seq": 1, "time": "2025-11-15T09:10:48.000Z", "type": name,
        "trace": { "session_id": "s1" }, "runtime": { "name": "demo" }, "payload": payload,
    }))
    .unwrap();
    assert!(event.body.event_type().is_some(), "{name} is not a known type");
    event.body
}
