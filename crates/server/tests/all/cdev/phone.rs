//! A phone tells events apart by their fields, not by their names: ours must be taken for what they are.

use serde_json::{Map, Value};
use testkit::events::examples;

use super::{SESSION, demo, project};

const PTY_STATES: [&str; 5] = ["idle", "thinking", "permission", "question", "error"];

/// What the phone takes these fields for: the first that matches.
fn taken_for(params: &Map<String, Value>) -> &'static str {
    let has = |name: &str| params.contains_key(name);
    let pty = params.get("state").and_then(Value::as_str).is_some_and(|state| PTY_STATES.contains(&state));
    // A message that is a text is not one of the agent's.
    let message = params.get("message").is_some_and(Value::is_object) || has("content");
    let order = [
        (has("type") && has("options"), "pty_permission"),
        (has("clean_text"), "pty_output"),
        (pty, "pty_state"),
        (has("symbol"), "pty_spinner"),
        (has("resolved_by"), "pty_permission_resolved"),
        (message, "claude_message"),
        (has("line"), "claude_log"),
        (has("state"), "claude_status"),
        (has("question"), "claude_waiting"),
        (has("tool"), "claude_permission"),
        (has("messages_emitted"), "stream_read_complete"),
        (has("temporary_id") && has("real_id"), "session_id_resolved"),
        (has("temporary_id"), "session_id_failed"),
        (has("session_id"), "claude_session_info"),
        (has("path"), "file_changed"),
    ];
    order.iter().find_map(|(matches, name)| matches.then_some(*name)).unwrap_or("unknown")
}

#[test]
fn every_event_is_taken_for_what_it_is() {
    for note in demo().iter().chain(&examples()).flat_map(|event| project(event, &SESSION)) {
        let expected = match note.event {
            // Known, and without harm: each has a `pty_state` beside it.
            "claude_status" if ["idle", "error"].contains(&note.params["state"].as_str().unwrap()) => "pty_state",
            // Known: nothing that names the folder could be taken for what it is.
            "workspace_removed" => "file_changed",
            // Unknown to it, and without harm.
            "git_operation_completed" | "git_branch_changed" => "unknown",
            "session_start" | "session_end" | "session_stopped" | "error" => "claude_session_info",
            name => name,
        };
        assert_eq!(taken_for(&note.params), expected, "{}: {:?}", note.event, note.params);
    }
}

#[test]
fn a_state_that_is_misread_has_its_pty_state_beside_it() {
    for event in demo().iter().chain(&examples()) {
        let notes = project(event, &SESSION);
        for status in notes.iter().filter(|note| note.event == "claude_status") {
            let pty = notes.iter().find(|note| note.event == "pty_state");
            assert!(pty.is_some(), "{status:?} alone");
        }
    }
}

#[test]
fn every_option_of_a_permission_has_a_key_that_the_phone_knows() {
    let notes: Vec<_> = demo().iter().flat_map(|event| project(event, &SESSION)).collect();
    let asked = notes.iter().filter(|note| note.event == "pty_permission");
    let mut permissions = 0;
    for note in asked {
        permissions += 1;
        for option in note.params["options"].as_array().unwrap() {
            assert!(["allow_once", "allow_session", "deny"].contains(&option["key"].as_str().unwrap()));
            assert!(option["label"].is_string());
        }
    }
    assert_eq!(permissions, 4);
}
