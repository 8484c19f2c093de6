//! Sequences of announcements, permission requests and updates, and the attempts that are reported for them.

use agent_client_protocol_schema::v1 as acp;
use roost_engine::adapter::{Draft, Fact};
use roost_model::payload::ToolKind;
use serde_json::{Value, json};

use super::tools::AcpTools;

fn call(fields: Value) -> acp::ToolCallUpdate {
    let mut call = json!({ "toolCallId": "call" });
    call.as_object_mut().unwrap().extend(fields.as_object().cloned().unwrap());
    serde_json::from_value(call).unwrap()
}

/// The reported attempts with their inputs, and their ends.
fn describe(drafts: &[Draft]) -> Vec<String> {
    let described = drafts.iter().map(|draft| match &draft.fact {
        Fact::ToolRequested(request) => format!("{} {}", request.identity.attempt, request.input),
        Fact::ToolCompleted(_) => "completed".to_owned(),
        other => panic!("{other:?}"),
    });
    described.collect()
}

fn update(tools: &mut AcpTools, fields: Value) -> Vec<String> {
    let mut drafts = Vec::new();
    tools.update(call(fields), &mut drafts);
    describe(&drafts)
}

/// Sends a permission request; returns its attempt, its input, and what was reported before it.
fn ask(tools: &mut AcpTools, fields: Value) -> (u32, Value, Vec<String>) {
    let mut drafts = Vec::new();
    let request = tools.on_permission_request(call(fields), &mut drafts);
    (request.identity.attempt, request.input, describe(&drafts))
}

fn command(command: &str) -> Value {
    json!({ "rawInput": { "command": command } })
}

#[test]
fn every_question_is_an_attempt_of_its_own() {
    let mut tools = AcpTools::default();
    let input = |command: &str| json!({ "command": command });
    assert_eq!(ask(&mut tools, command("ls")), (1, input("ls"), vec![]));
    assert_eq!(ask(&mut tools, command("ls")), (2, input("ls"), vec![]));
    assert_eq!(ask(&mut tools, command("rm")), (3, input("rm"), vec![]));
    update(&mut tools, json!({ "status": "completed" }));
    assert_eq!(ask(&mut tools, command("rm")), (4, input("rm"), vec![]));
}

#[test]
fn what_streams_in_before_the_question_is_one_attempt() {
    let mut tools = AcpTools::default();
    assert_eq!(update(&mut tools, json!({ "status": "pending", "kind": "other" })), [""; 0]);
    assert_eq!(update(&mut tools, json!({ "status": "in_progress", "title": "Terminal" })), [""; 0]);
    assert_eq!(update(&mut tools, json!({ "kind": "execute", "rawInput": {} })), [""; 0]);
    let (attempt, input, reported) = ask(&mut tools, command("ls"));
    assert_eq!((attempt, input, reported), (1, json!({ "command": "ls" }), vec![]));
}

#[test]
fn a_question_without_an_input_is_about_what_was_announced() {
    let mut tools = AcpTools::default();
    update(&mut tools, command("ls"));
    assert_eq!(ask(&mut tools, json!({ "title": "List" })), (1, json!({ "command": "ls" }), vec![]));
}

#[test]
fn a_question_about_something_else_than_was_announced_shows_both() {
    let mut tools = AcpTools::default();
    update(&mut tools, command("rm"));
    let (attempt, input, reported) = ask(&mut tools, command("ls"));
    assert_eq!((attempt, input, reported), (2, json!({ "command": "ls" }), vec![r#"1 {"command":"rm"}"#.to_owned()]));
}

#[test]
fn a_field_that_was_announced_is_not_taken_back_by_the_question() {
    let mut tools = AcpTools::default();
    update(&mut tools, json!({ "rawInput": { "command": "ls", "cwd": "/etc" }, "status": "in_progress" }));
    let both = json!({ "command": "ls", "cwd": "/etc" });
    assert_eq!(ask(&mut tools, command("ls")), (1, both, vec![]));
}

#[test]
fn a_claim_can_only_make_a_call_stricter() {
    let kind = |announced: &str, claimed: &str| {
        let mut tools = AcpTools::default();
        tools.update(call(json!({ "kind": announced, "rawInput": { "path": "a" } })), &mut Vec::new());
        tools.on_permission_request(call(json!({ "kind": claimed })), &mut Vec::new()).kind.unwrap()
    };
    assert_eq!(kind("edit", "read"), ToolKind::Edit);
    assert_eq!(kind("read", "edit"), ToolKind::Edit);
    assert_eq!(kind("delete", "execute"), ToolKind::Delete);
    assert_eq!(kind("read", "other"), ToolKind::Other);
    assert_eq!(kind("other", "read"), ToolKind::Read, "before its kind is known, a call is announced as other");
}

#[test]
fn a_kind_alone_says_nothing_in_a_question() {
    let kind = |fields: Value| AcpTools::default().on_permission_request(call(fields), &mut Vec::new()).kind;
    for claimed in ["read", "search", "think", "fetch"] {
        assert_eq!(kind(json!({ "kind": claimed, "title": "Look" })), None, "{claimed}");
        let content = json!([{ "type": "content", "content": { "type": "text", "text": "a look" } }]);
        assert_eq!(kind(json!({ "kind": claimed, "rawInput": {}, "content": content })), None, "{claimed}");
    }
    assert_eq!(kind(json!({ "kind": "execute", "title": "ls" })), Some(ToolKind::Execute));
    assert_eq!(kind(json!({ "kind": "read", "locations": [{ "path": "a" }] })), Some(ToolKind::Read));
}

#[test]
fn whatever_a_call_becomes_after_the_question_is_another_attempt_and_output_is_not() {
    let places = |path: &str| json!({ "locations": [{ "path": path, "line": 3 }] });
    let cases = [
        (command("rm"), Some(r#"2 {"path":"a","command":"rm"}"#)),
        (json!({ "kind": "execute" }), Some(r#"2 {"path":"a"}"#)),
        (json!({ "name": "Bash" }), Some(r#"2 {"path":"a"}"#)),
        (places("/etc/passwd"), Some(r#"2 {"path":"a","locations":["/etc/passwd"]}"#)),
        (places("a"), None),
        (json!({ "locations": [] }), None),
        (json!({ "kind": "think" }), None),
        (json!({ "title": "Reading", "rawInput": {} }), None),
        (json!({ "rawOutput": "text", "content": [] }), None),
    ];
    for (change, expected) in cases {
        let mut tools = AcpTools::default();
        ask(&mut tools, json!({ "kind": "read", "rawInput": { "path": "a" } }));
        let reported = update(&mut tools, change.clone());
        assert_eq!(reported.first().map(String::as_str), expected, "{change}");
        assert_eq!(update(&mut tools, change.clone()), [""; 0], "said twice, told once: {change}");
    }
}

#[test]
fn what_a_question_shows_is_not_output() {
    let mut tools = AcpTools::default();
    let preview = json!([{ "type": "content", "content": { "type": "text", "text": "lists files" } }]);
    ask(&mut tools, json!({ "rawInput": { "command": "ls" }, "content": preview }));
    assert_eq!(update(&mut tools, json!({ "status": "completed", "rawOutput": "a.txt" })), ["completed"]);
}

#[test]
fn the_title_of_a_command_without_an_input_is_the_command() {
    let mut tools = AcpTools::default();
    ask(&mut tools, json!({ "kind": "execute", "title": "ls" }));
    assert_eq!(update(&mut tools, json!({ "title": "rm" })).len(), 1);
    let mut tools = AcpTools::default();
    ask(&mut tools, json!({ "kind": "read", "title": "Reading" }));
    assert_eq!(update(&mut tools, json!({ "title": "Read 3 lines" })), [""; 0]);
}

#[test]
fn a_call_that_is_over_and_turns_out_to_have_been_something_else_is_told_again() {
    let mut tools = AcpTools::default();
    update(&mut tools, json!({ "status": "completed", "rawInput": { "path": "a" } }));
    let reported = update(&mut tools, json!({ "rawInput": { "path": "b" } }));
    assert_eq!(reported, [r#"2 {"path":"b"}"#, "completed"]);
}
