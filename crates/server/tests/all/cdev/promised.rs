//! What the projection sends is what the table of events promises.

use std::collections::HashMap;

use jsonschema::Draft;
use roost_model::event::NormalizedEvent;
use roost_rpc::notification::EventName;
use roost_rpc::{PROTOCOL_VERSION, openrpc};
use roost_server::cdev::notify::SessionContext;
use serde_json::{Value, json};
use testkit::events::examples;

use super::project;

const SESSION: SessionContext<'_> =
    SessionContext { workspace_id: Some("w1"), agent_type: "demo", cwd: "/home/ada/engine" };

/// Sent by the server itself and not for an event of the log, except `batch`, which holds the log's own.
const NOT_PROJECTED: [EventName; 18] = [
    EventName::Batch,
    EventName::AgentMessageDelta,
    EventName::SessionJoined,
    EventName::SessionLeft,
    EventName::SessionWatchStarted,
    EventName::SessionWatchStopped,
    EventName::Truncated,
    EventName::WorkspaceDiscoverProgress,
    EventName::GitOperationProgress,
    EventName::Heartbeat,
    EventName::FileChanged,
    EventName::FilesRescanned,
    EventName::GitStatusChanged,
    EventName::GitDiff,
    EventName::WatchFailed,
    EventName::SearchResults,
    EventName::GrepResults,
    EventName::GrepCompleted,
];

/// Every event with all of its fields, and again as a runtime tells it that has no id for the session yet.
fn events() -> Vec<NormalizedEvent> {
    let mut events = examples();
    events.extend(examples().into_iter().map(|mut event| {
        event.runtime.runtime_session_id = None;
        event.trace.client_id = None;
        event
    }));
    events
}

/// Refuses fields that a schema does not name, which by itself it would let pass.
fn refuse_others(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            object.values_mut().for_each(refuse_others);
            if object.get("properties").is_some_and(Value::is_object) {
                object.insert("additionalProperties".into(), false.into());
            }
        }
        Value::Array(array) => array.iter_mut().for_each(refuse_others),
        _ => {}
    }
}

#[test]
fn every_notification_has_the_fields_that_the_document_says_and_no_others() {
    let mut document = openrpc::document(PROTOCOL_VERSION);
    refuse_others(&mut document["components"]["schemas"]);
    let validator = |event: &str| {
        let promised = document["x-notifications"].as_array().unwrap();
        let promised = promised.iter().find(|promised| promised["name"] == format!("event/{event}"));
        let mut schema = promised.unwrap_or_else(|| panic!("{event} is not in the table"))["params"].clone();
        schema = json!({ "allOf": [schema], "components": document["components"] });
        jsonschema::options().with_draft(Draft::Draft7).build(&schema).unwrap()
    };
    let validators: HashMap<_, _> = EventName::ALL.iter().map(|name| (name.name(), validator(name.name()))).collect();
    for event in events() {
        for sent in project(&event, &SESSION) {
            let params = Value::Object(sent.params);
            let satisfied = validators[sent.event].validate(&params).map_err(|error| error.to_string());
            assert_eq!(satisfied, Ok(()), "{}: {params}", sent.event);
        }
    }
}

#[test]
fn every_event_of_the_table_is_sent() {
    let sent: Vec<_> = events().iter().flat_map(|event| project(event, &SESSION)).map(|sent| sent.event).collect();
    for name in EventName::ALL {
        assert_eq!(sent.contains(&name.name()), !NOT_PROJECTED.contains(name), "{}", name.name());
    }
}
