//! What each event tells, and to whom.

use roost_model::approval::PendingChange;
use roost_server::cdev::notify::{Audience, Naming, Notification, SessionContext, encode, pending};
use serde_json::{Map, Value, json};
use testkit::events::examples;

use super::{SESSION, event, project, project_event, started};

fn one<'a>(notes: &'a [Notification], name: &str) -> &'a Map<String, Value> {
    let mut found = notes.iter().filter(|note| note.event == name);
    let note = found.next().unwrap_or_else(|| panic!("no {name} in {notes:?}"));
    assert!(found.next().is_none(), "{name} twice in {notes:?}");
    &note.params
}

/// The fields without those that every event of a session has.
fn fields(notes: &[Notification], name: &str) -> Value {
    let mut fields = one(notes, name).clone();
    for common in ["workspace_id", "session_id", "agent_type", "timestamp"] {
        assert!(fields.shift_remove(common).is_some(), "{name} without {common}");
    }
    fields.into()
}

fn names(notes: &[Notification]) -> Vec<&'static str> {
    notes.iter().map(|note| note.event).collect()
}

#[test]
fn each_type_of_event_tells_this() {
    let said = &["claude_message", "claude_log"][..];
    let expected: &[(&str, &[&str])] = &[
        ("session.created", &["session_start"]),
        ("task.started", &["claude_status", "pty_state", "claude_message", "pty_spinner"]),
        ("model.output.completed", said),
        ("tool.call.requested", &["claude_message", "claude_log", "pty_spinner"]),
        ("tool.call.denied", said),
        ("tool.call.completed", said),
        ("usage.reported", &["claude_log"]),
        ("task.completed", &["claude_message", "claude_log", "claude_status", "pty_state", "stream_read_complete"]),
        (
            "task.failed",
            &["error", "claude_message", "claude_log", "claude_status", "pty_state", "stream_read_complete"],
        ),
        ("task.stopped", &["claude_message", "claude_log", "claude_status", "pty_state", "stream_read_complete"]),
        ("session.updated", &["session_id_resolved", "claude_session_info", "claude_log"]),
        ("session.closed", &["session_end", "session_stopped"]),
        ("question.asked", &["claude_message", "claude_log", "claude_waiting", "claude_status", "pty_state"]),
        (
            "question.resolved",
            &["claude_message", "claude_log", "pty_permission_resolved", "claude_status", "pty_state"],
        ),
        ("runtime.notice", &["claude_log"]),
        ("approval.requested", &["pty_permission", "claude_permission", "claude_status", "pty_state"]),
        ("approval.resolved", &["pty_permission_resolved", "claude_status", "pty_state"]),
        ("workspace.removed", &["workspace_removed"]),
        ("git.operation.completed", &["git_operation_completed"]),
        ("git.branch.changed", &["git_branch_changed"]),
        ("task.steered", &["claude_message"]),
    ];
    let examples = examples();
    let told: Vec<_> = examples.iter().map(|event| (event.body.name(), names(&project(event, &SESSION)))).collect();
    let told: Vec<_> = told.iter().filter(|(_, names)| !names.is_empty()).map(|(n, t)| (*n, t.as_slice())).collect();
    assert_eq!(told, expected);
}

#[test]
fn what_is_said_goes_to_watchers_permissions_to_who_looks_and_the_rest_to_the_workspace() {
    for note in examples().iter().flat_map(|event| project(event, &SESSION)) {
        let expected = match note.event {
            "claude_message" | "claude_log" | "pty_spinner" => Audience::Watchers,
            "pty_permission" | "pty_permission_resolved" => Audience::Focused,
            "workspace_removed" => Audience::Everyone,
            _ => Audience::Workspace,
        };
        assert_eq!(note.audience, expected, "{}", note.event);
    }
}

#[test]
fn a_notification_is_one_flat_line_with_its_cursor_last() {
    let note = &project_event("session.closed", json!({ "reason": "expired" }))[0];
    let line = encode(note, "c7", Naming::Claude);
    let expected =
        r#"{"jsonrpc":"2.0","method":"event/session_end","params":{"reason":"expired","workspace_id":"ws-1","#
            .to_owned()
            + r#""session_id":"s1","agent_type":"demo","timestamp":"2025-11-15T09:10:48.007Z","cursor":"c7"}}"#;
    assert_eq!(line, expected);
}

#[test]
fn what_has_no_cursor_or_workspace_is_sent_without() {
    let about = SessionContext { workspace_id: None, ..SESSION };
    let note = &project(&event("session.closed", json!({ "reason": "" })), &about)[0];
    let line = encode(note, "", Naming::Claude);
    assert!(!line.contains("cursor") && !line.contains("workspace_id"), "{line}");
}

#[test]
fn only_the_agents_events_have_a_neutral_name() {
    let notes = project_event("task.started", started("hello"));
    let method = |note: &Notification, naming| {
        let line: Value = serde_json::from_str(&encode(note, "c", naming)).unwrap();
        line["method"].as_str().unwrap().to_owned()
    };
    let neutral: Vec<_> = notes.iter().map(|note| method(note, Naming::Neutral)).collect();
    assert_eq!(neutral, ["event/agent_status", "event/pty_state", "event/agent_message", "event/pty_spinner"]);
    assert_eq!(method(&notes[0], Naming::Claude), "event/claude_status");
}

#[test]
fn a_session_starts_with_its_folder() {
    let made = json!({ "contract_version": "1", "runtime": "demo", "cwd": "/home/ada/engine",
        "credential_namespace": "default", "permission_mode": "ask", "mode": "ask" });
    let start = fields(&project_event("session.created", made), "session_start");
    assert_eq!(start, json!({ "repo_path": "/home/ada/engine", "repo_name": "engine", "agent_version": "1" }));
}

#[test]
fn a_native_id_resolves_our_own() {
    let notes = project_event("session.updated", json!({ "runtime_session_id": "thread-7", "model": "gpt-6" }));
    let resolved = fields(&notes, "session_id_resolved");
    assert_eq!(resolved, json!({ "temporary_id": "s1", "real_id": "s1", "session_file": "" }));
    assert_eq!(fields(&notes, "claude_session_info"), json!({ "model": "gpt-6" }));
    let parsed = &one(&notes, "claude_log")["parsed"];
    assert_eq!(*parsed, json!({ "type": "system", "session_id": "s1", "content": [], "model": "gpt-6" }));
}

#[test]
fn a_change_of_what_lists_show_is_told_and_other_changes_are_not() {
    for change in
        [json!({ "model": "gpt-6" }), json!({ "title": "t" }), json!({ "mode": "plan" }), json!({ "hidden": true })]
    {
        assert_eq!(names(&project_event("session.updated", change)), ["claude_session_info"]);
    }
    for change in [json!({}), json!({ "status": "ending" }), json!({ "queue": [] })] {
        assert_eq!(project_event("session.updated", change), []);
    }
}

#[test]
fn a_task_runs_with_its_prompt() {
    let notes = project_event("task.started", started("Fix the bug."));
    let status = json!({ "state": "running", "prompt": "Fix the bug.", "started_at": "2025-11-15T09:10:48.007Z" });
    assert_eq!(fields(&notes, "claude_status"), status);
    assert_eq!(fields(&notes, "pty_state"), json!({ "state": "thinking", "waiting_for_input": false }));
}

#[test]
fn a_turn_ends_in_every_way_that_a_phone_knows() {
    let failed =
        json!({ "reason": "it died", "error": { "code": "RUNTIME_EXITED", "message": "m", "retryable": true } });
    let cases = [
        ("task.completed", json!({ "reason": "end_turn" }), "end_turn", "idle", "idle"),
        ("task.stopped", json!({ "reason": "user" }), "stopped", "stopped", "idle"),
        ("task.failed", failed, "error", "error", "error"),
    ];
    for (name, payload, stop_reason, status, pty) in cases {
        let notes = project_event(name, payload);
        assert_eq!(one(&notes, "claude_message")["stop_reason"], stop_reason, "{name}");
        assert_eq!(one(&notes, "claude_status")["state"], status, "{name}");
        assert_eq!(one(&notes, "pty_state")["state"], pty, "{name}");
        let read = fields(&notes, "stream_read_complete");
        assert_eq!(read, json!({ "messages_emitted": 1, "file_offset": 7, "file_size": 7 }), "{name}");
    }
}

#[test]
fn a_failure_has_a_code_and_what_to_do() {
    let error = json!({ "code": "SPAWN_FAILED", "message": "m", "retryable": false, "stderr_tail": "no such file" });
    let notes = project_event("task.failed", json!({ "reason": "codex is not installed", "error": error }));
    let details = json!({ "retryable": false, "stderr_tail": "no such file" });
    let expected = json!({ "code": "SPAWN_FAILED", "message": "codex is not installed", "details": details });
    assert_eq!(fields(&notes, "error"), expected);
    assert_eq!(one(&notes, "claude_status")["error"], "codex is not installed");
}

#[test]
fn a_first_task_that_fails_at_its_start_fails_the_sessions_id() {
    let failed = |code: &str| {
        let error = json!({ "code": code, "message": "m", "retryable": true });
        event("task.failed", json!({ "reason": "it failed", "error": error }))
    };
    for (code, reason) in [("SPAWN_FAILED", "error"), ("AUTH_ERROR", "error"), ("RUNTIME_EXITED", "claude_exited")] {
        let id_failed = fields(&project(&failed(code), &SESSION), "session_id_failed");
        assert_eq!(id_failed, json!({ "temporary_id": "s1", "reason": reason, "message": "it failed" }), "{code}");
    }
    let mut later = failed("RUNTIME_EXITED");
    later.runtime.runtime_session_id = Some("thread-7".into());
    assert!(!names(&project(&later, &SESSION)).contains(&"session_id_failed"));
}

#[test]
fn a_closed_session_is_stopped_and_was_idle_before() {
    let mut closed = event("session.closed", json!({ "reason": "stop" }));
    closed.trace.client_id = Some("phone".into());
    let notes = project(&closed, &SESSION);
    assert_eq!(fields(&notes, "session_end"), json!({ "reason": "stop" }));
    assert_eq!(fields(&notes, "session_stopped"), json!({ "stopped_by": "phone" }));
    assert!(!names(&notes).contains(&"pty_state"));
}

#[test]
fn a_permission_is_asked_with_what_it_covers() {
    let mut asked = json!({ "name": "Write", "kind": "edit", "title": "Write a.txt",
        "input": { "file_path": "/home/ada/engine/a.txt", "content": "one\n" },
        "offer": { "tool": "Write", "touches": { "file": "a.txt" } } });
    let notes = project_event("approval.requested", asked.clone());
    let expected = json!({
        "tool_use_id": "tc_1", "type": "write_file", "target": "/home/ada/engine/a.txt",
        "description": "Write to file: a.txt", "preview": "one\n",
        "options": [
            { "key": "allow_once", "label": "Allow once", "selected": true },
            { "key": "allow_session", "label": "Allow for this session", "description": "Write on a.txt",
                "selected": false },
            { "key": "deny", "label": "Deny", "selected": false },
        ],
        "attempt": 1,
    });
    assert_eq!(fields(&notes, "pty_permission"), expected);
    let expected = json!({
        "tool_use_id": "tc_1", "tool_name": "Write",
        "input": r#"{"file_path":"/home/ada/engine/a.txt","content":"one\n"}"#,
        "description": "Write to file: a.txt", "tool": "Write", "request_id": "tc_1", "attempt": 1,
    });
    assert_eq!(fields(&notes, "claude_permission"), expected);
    assert_eq!(fields(&notes, "claude_status"), json!({ "state": "waiting" }));
    let state = json!({ "state": "permission", "waiting_for_input": true, "prompt_type": "write_file" });
    assert_eq!(fields(&notes, "pty_state"), state);

    asked["offer"] = Value::Null;
    let notes = project_event("approval.requested", asked);
    let keys: Vec<_> = one(&notes, "pty_permission")["options"].as_array().unwrap().iter().map(|o| &o["key"]).collect();
    assert_eq!(keys, ["allow_once", "deny"], "what would be refused is not offered");
}

#[test]
fn an_answered_permission_names_who_and_what() {
    let cases = [
        (json!({ "client_id": "phone", "user_id": "ada", "from": "web" }), "answered", "phone"),
        (json!({ "user_id": "ada", "from": "web" }), "answered", "ada"),
        (json!({ "from": "terminal" }), "answered", "terminal"),
        (json!({}), "answered", "answered"),
        (Value::Null, "expired", "expired"),
        (Value::Null, "task_ended", "task_ended"),
    ];
    for (by, end, expected) in cases {
        let resolved = json!({ "decision": "deny", "end": end, "scope": "once", "answered_by": by });
        let notes = project_event("approval.resolved", resolved);
        let resolved = one(&notes, "pty_permission_resolved");
        assert_eq!(resolved["resolved_by"], expected);
        assert_eq!((&resolved["decision"], &resolved["tool_use_id"]), (&json!("deny"), &json!("tc_1")));
    }
}

#[test]
fn the_agent_goes_on_after_an_answer_but_not_when_the_task_ends_with_it() {
    let cases = [
        ("answered", true),
        ("expired", true),
        ("withdrawn", true),
        ("stopped", false),
        ("task_ended", false),
        ("host_restarted", false),
    ];
    for (end, goes_on) in cases {
        let notes = project_event("approval.resolved", json!({ "decision": "deny", "end": end, "scope": "once" }));
        assert_eq!(names(&notes).contains(&"pty_state"), goes_on, "{end}");
    }
}

#[test]
fn an_agent_that_still_waits_for_something_else_is_not_told_to_go_on() {
    let states = |name: &str, mut payload: Value, waits: Value| {
        payload["still_waits_for"] = waits;
        let notes = project_event(name, payload);
        let state = |event: &str| one(&notes, event)["state"].clone();
        (state("claude_status"), state("pty_state"), names(&notes).contains(&"pty_spinner"))
    };
    let approval = json!({ "decision": "allow", "end": "answered", "scope": "once" });
    let question = json!({ "question_id": "q_1", "outcome": "answered" });
    for (name, payload) in [("approval.resolved", approval), ("question.resolved", question)] {
        let cases = [
            (Value::Null, ("running", "thinking", true)),
            (json!("approval"), ("waiting", "permission", false)),
            (json!("question"), ("waiting", "question", false)),
        ];
        for (waits, (status, pty, spins)) in cases {
            let expected = (json!(status), json!(pty), spins);
            assert_eq!(states(name, payload.clone(), waits.clone()), expected, "{name} {waits}");
        }
    }
}

#[test]
fn the_selected_option_of_a_permission_is_the_one_that_was_selected() {
    let asked = json!({ "name": "Write", "kind": "edit", "input": { "file_path": "a.txt", "content": "one" } });
    let Some(PendingChange::Opened(waiting)) = PendingChange::from_event(&event("approval.requested", asked)) else {
        panic!("an approval waits");
    };
    let notes = pending(&waiting, &SESSION, 1);
    let selected: Vec<_> = one(&notes, "pty_permission")["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| (option["key"].clone(), option["selected"].clone()))
        .collect();
    assert_eq!(selected, [(json!("allow_once"), json!(false)), (json!("deny"), json!(true))]);
}

#[test]
fn a_question_is_asked_in_both_vocabularies() {
    let asked = json!({ "question_id": "q_1", "message": "Which?", "fields": [{ "id": "db", "label": "Database",
        "options": [{ "value": "pg", "label": "Postgres", "description": "big" }, { "value": "l", "label": "SQLite" }] }] });
    let notes = project_event("question.asked", asked);
    let options = json!([{ "label": "Postgres", "description": "big" }, { "label": "SQLite" }]);
    let input = json!({ "questions": [
        { "header": "Database", "question": "Which?", "multiSelect": false, "options": options }] });
    let expected = json!({
        "tool_use_id": "q_1", "tool_name": "AskUserQuestion", "input": input.to_string(), "question": "Which?",
        "options": options, "request_id": "q_1", "description": "Which?",
    });
    assert_eq!(fields(&notes, "claude_waiting"), expected);
    let block = json!([{ "type": "tool_use", "tool_name": "AskUserQuestion", "tool_id": "q_1", "tool_input": input }]);
    assert_eq!(one(&notes, "claude_message")["content"], block);
    assert_eq!(one(&notes, "pty_state")["state"], "question");
}

#[test]
fn a_question_that_is_cancelled_leaves_the_state_to_the_tasks_end() {
    for (outcome, goes_on) in [("answered", true), ("declined", true), ("cancelled", false)] {
        let notes = project_event("question.resolved", json!({ "question_id": "q_1", "outcome": outcome }));
        assert_eq!(names(&notes).contains(&"pty_state"), goes_on, "{outcome}");
        let decision = if outcome == "answered" { "allow" } else { "deny" };
        assert_eq!(one(&notes, "pty_permission_resolved")["decision"], decision);
    }
}

#[test]
fn what_waits_is_told_again_as_it_was_told_first() {
    for event in examples() {
        if let Some(PendingChange::Opened(waiting)) = PendingChange::from_event(&event) {
            let first = project(&event, &SESSION);
            let again = pending(&waiting, &SESSION, 0);
            assert!(first.ends_with(&again) && again.len() >= 3, "{again:?}");
        }
    }
}

#[test]
fn output_beside_the_protocol_is_logged_as_it_is() {
    for (source, stream) in [("stdout", "stdout"), ("stderr", "stderr"), ("engine", "stderr")] {
        let notes = project_event("runtime.notice", json!({ "level": "info", "source": source, "message": "hm" }));
        assert_eq!(fields(&notes, "claude_log"), json!({ "line": "hm", "stream": stream }));
    }
    assert_eq!(project_event("runtime.notice", json!({ "level": "info", "source": "protocol", "message": "hm" })), []);
}

#[test]
fn usage_is_logged_when_it_says_what_was_used() {
    let notes = project_event("usage.reported", json!({ "output_tokens": 80, "cost_usd": 0.5 }));
    let parsed = json!({ "type": "system", "content": [], "output_tokens": 80, "cost_usd": 0.5 });
    assert_eq!(one(&notes, "claude_log")["parsed"], parsed);
    assert_eq!(project_event("usage.reported", json!({ "context": { "used": 1, "size": 2 } })), []);
}

#[test]
fn a_workspace_that_is_gone_is_told_to_everyone_without_a_session() {
    let gone = json!({ "workspace_id": "ws-1", "name": "engine", "path": "/home/ada/engine" });
    let [note] = project_event("workspace.removed", gone).try_into().unwrap();
    let line = encode(&note, "", Naming::Claude);
    assert_eq!(note.audience, Audience::Everyone);
    let expected = r#"{"jsonrpc":"2.0","method":"event/workspace_removed","params":{"id":"ws-1","name":"engine","#
        .to_owned()
        + r#""path":"/home/ada/engine","workspace_id":"ws-1","timestamp":"2025-11-15T09:10:48.007Z"}}"#;
    assert_eq!(line, expected);
}
