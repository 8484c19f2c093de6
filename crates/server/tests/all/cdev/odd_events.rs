//! Whatever an event holds, its notifications are lines that a client can take.

use proptest::prelude::*;
use roost_model::event::NormalizedEvent;
use roost_model::transcript::is_message;
use roost_rpc::conversation::Message;
use roost_server::cdev::element::elements;
use roost_server::cdev::message::from_event;
use roost_server::cdev::notify::{Naming, encode};
use serde_json::Value;
use testkit::events::examples;

use super::{SESSION, demo, project};

const MIB: usize = 1024 * 1024;

/// Text with control characters, line separators, quotes and all of Unicode.
fn text() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec!['\0', '\n', '\r', '\u{1b}', '\u{7f}', '\u{2028}', '\u{feff}', '"', '\\', '🦀']);
    prop::collection::vec(prop_oneof![odd, any::<char>()], 0..24).prop_map(String::from_iter)
}

/// The pointers to all texts in a value.
fn texts(value: &Value, at: &str) -> Vec<String> {
    match value {
        Value::String(_) => vec![at.to_owned()],
        Value::Array(items) => (0..).zip(items).flat_map(|(i, item)| texts(item, &format!("{at}/{i}"))).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| texts(value, &format!("{at}/{name}"))).collect()
        }
        _ => Vec::new(),
    }
}

/// The event with other texts in its payload, wherever any text may stand.
fn with_texts(event: &NormalizedEvent, mut text: impl FnMut() -> String) -> NormalizedEvent {
    let mut value = serde_json::to_value(event).unwrap();
    let anything = |pointer: &String| {
        let mut changed = value.clone();
        *changed.pointer_mut(pointer).unwrap() = "any".into();
        serde_json::from_value::<NormalizedEvent>(changed).is_ok()
    };
    let free: Vec<_> = texts(&value["payload"], "/payload").into_iter().filter(anything).collect();
    for pointer in free {
        *value.pointer_mut(&pointer).unwrap() = text().into();
    }
    serde_json::from_value(value).unwrap()
}

fn any_event() -> impl Strategy<Value = NormalizedEvent> {
    let known: Vec<_> = examples().into_iter().chain(demo()).collect();
    (prop::sample::select(known), prop::collection::vec(text(), 1..8)).prop_map(|(event, texts)| {
        let mut texts = texts.into_iter().cycle();
        with_texts(&event, || texts.next().unwrap())
    })
}

fn check(event: &NormalizedEvent) {
    for (note, again) in project(event, &SESSION).into_iter().zip(project(event, &SESSION)) {
        let line = encode(&note, "cursor", Naming::Claude);
        assert_eq!(line, encode(&again, "cursor", Naming::Claude));
        assert!(!line.contains(['\n', '\r']), "{line}");
        assert!(line.len() < MIB, "{} of {} bytes", note.event, line.len());
        let params = &serde_json::from_str::<Value>(&line).unwrap()["params"];
        if !["workspace_removed", "git_operation_completed", "git_branch_changed"].contains(&note.event) {
            assert_eq!(params["agent_type"], "demo");
            assert_eq!(params["session_id"], event.trace.session_id.as_str());
        }
        let timestamp = params["timestamp"].as_str().unwrap();
        assert!(timestamp.len() == 24 && timestamp.ends_with('Z') && timestamp.as_bytes()[19] == b'.', "{timestamp}");
        assert!(params.as_object().unwrap().values().all(|value| !value.is_null()), "{line}");
        for array in ["/content", "/options", "/parsed/content"] {
            assert!(params.pointer(array).is_none_or(Value::is_array), "{line}");
        }
    }
}

proptest! {
    #[test]
    fn every_notification_is_a_short_line_that_names_its_session(event in any_event()) {
        check(&event);
    }

    #[test]
    fn a_record_counts_exactly_the_events_that_are_messages(event in any_event()) {
        prop_assert_eq!(is_message(&event.body), from_event(&event).is_some());
    }

    #[test]
    fn messages_and_elements_are_read_back_as_they_were(event in any_event()) {
        let message = from_event(&event);
        let line = serde_json::to_string(&message).unwrap();
        prop_assert_eq!(serde_json::from_str::<Option<Message>>(&line).unwrap(), message);
        let elements = elements([&event]);
        let line = serde_json::to_string(&elements).unwrap();
        prop_assert_eq!(serde_json::from_str::<Vec<roost_rpc::element::Element>>(&line).unwrap(), elements);
    }
}

#[test]
fn no_text_is_too_long() {
    for event in examples().iter().filter(|event| !project(event, &SESSION).is_empty()) {
        // JSON doubles a quote, and JSON within JSON doubles it again.
        check(&with_texts(event, || "\"".repeat(MIB / 4)));
    }
}

#[test]
fn what_is_cut_says_so() {
    let long = demo().iter().find(|event| event.body.name() == "model.output.completed").cloned().unwrap();
    let message = from_event(&with_texts(&long, || "x".repeat(MIB))).unwrap();
    let line = serde_json::to_string(&message).unwrap();
    assert!(line.contains(" more bytes]\""), "{}", &line[line.len() - 200..]);
    assert!(line.len() < 200 * 1024);
}
