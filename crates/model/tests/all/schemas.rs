//! The committed schemas are the generated ones, and they are right.

use std::path::PathBuf;

use jsonschema::Validator;
use roost_model::event::NormalizedEvent;
use roost_model::payload::ToolCallApprovedPayload;
use roost_model::schema;
use roost_model::tool::ToolCallIdentity;
use schemars::schema_for;
use serde_json::json;
use testkit::committed::assert_all_committed;
use testkit::events::{event, examples};

#[test]
fn the_committed_schemas_are_the_generated_ones() {
    let generated = schema::all().into_iter().map(|(name, schema)| (name, serde_json::to_value(schema).unwrap()));
    assert_all_committed(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("schemas"), generated);
}

fn normalized_event() -> Validator {
    let schema = serde_json::to_value(schema_for!(NormalizedEvent)).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn every_schema_is_a_valid_schema() {
    for (name, schema) in schema::all() {
        let schema = serde_json::to_value(schema).unwrap();
        jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn the_event_schema_accepts_every_example() {
    let validator = normalized_event();
    for event in examples() {
        let event = serde_json::to_value(&event).unwrap();
        validator.validate(&event).unwrap_or_else(|error| panic!("{error}: {event}"));
    }
}

#[test]
fn the_event_schema_accepts_a_type_that_this_version_does_not_know() {
    let mut event = serde_json::to_value(&examples()[0]).unwrap();
    event["type"] = json!("task.paused");
    assert!(normalized_event().is_valid(&event));
}

#[test]
fn the_event_schema_refuses_what_is_no_event() {
    let event =
        serde_json::to_value(event(1, ToolCallApprovedPayload { identity: ToolCallIdentity::first(None, &json!({})) }));
    let event = event.unwrap();
    let validator = normalized_event();
    assert!(validator.is_valid(&event));
    let changes = [
        ("/seq", json!(0)),
        ("/seq", json!("1")),
        ("/time", json!(1_763_197_848_000_u64)),
        ("/type", json!("task.failed")),
        ("/type", json!(null)),
        ("/trace/session_id", json!(null)),
        ("/runtime/name", json!("gpt")),
        ("/payload/attempt", json!(0)),
        ("/payload/tool_call_id", json!(7)),
        ("/payload", json!({})),
    ];
    for (pointer, value) in changes {
        let mut changed = event.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        assert!(!validator.is_valid(&changed), "{changed}");
    }
    for field in ["schema_version", "seq", "time", "type", "trace", "runtime", "payload"] {
        let mut changed = event.clone();
        changed.as_object_mut().unwrap().remove(field);
        assert!(!validator.is_valid(&changed), "without {field}");
    }
}
