//! Sequences of announcements, permission requests and updates, and the attempts that are reported for them.

use agent_client_protocol_schema::v1 as acp;
use roost_engine::adapter::{Draft, Fact};
use roost_model::payload::ToolKind;
use serde_json::{Value, json};

use super::presets::AgentProfile;
use super::tools::{AcpTools, TurnEnd};
use crate::gemini;

fn conforming() -> AcpTools {
    AcpTools::new(AgentProfile::CONFORMING)
}

fn call(fields: Value) -> acp::ToolCallUpdate {
    let mut call = json!({ "toolCallId": "call" });
    call.as_object_mut().unwrap().extend(fields.as_object().cloned().unwrap());
    serde_json::from_value(call).unwrap()
}

/// The reported attempts with their inputs, and their ends.
fn describe(drafts: &[Draft]) -> Vec<String> {
    let described = drafts.iter().map(|draft| match &draft.fact {
        Fact::ToolRequested(request) => format!("{} {}", request.identity.attempt, request.input),
        Fact::ToolCompleted(outcome) if outcome.is_error => "failed".to_owned(),
        Fact::ToolCompleted(_) => "completed".to_owned(),
        Fact::ToolStarted(_) => "started".to_owned(),
        Fact::ToolOutputDelta { delta, .. } => format!("prints {delta}"),
        Fact::ToolRefused { reason, .. } => format!("refused: {reason}"),
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
    let mut tools = conforming();
    let input = |command: &str| json!({ "command": command });
    assert_eq!(ask(&mut tools, command("ls")), (1, input("ls"), vec![]));
    assert_eq!(ask(&mut tools, command("ls")), (2, input("ls"), vec![]));
    assert_eq!(ask(&mut tools, command("rm")), (3, input("rm"), vec![]));
    update(&mut tools, json!({ "status": "completed" }));
    assert_eq!(ask(&mut tools, command("rm")), (4, input("rm"), vec![]));
}

#[test]
fn what_streams_in_before_the_question_is_one_attempt() {
    let mut tools = conforming();
    assert_eq!(update(&mut tools, json!({ "status": "pending", "kind": "other" })), [""; 0]);
    assert_eq!(update(&mut tools, json!({ "status": "in_progress", "title": "Terminal" })), [""; 0]);
    assert_eq!(update(&mut tools, json!({ "kind": "execute", "rawInput": {} })), [""; 0]);
    let (attempt, input, reported) = ask(&mut tools, command("ls"));
    assert_eq!((attempt, input, reported), (1, json!({ "command": "ls" }), vec![]));
}

#[test]
fn a_question_without_an_input_is_about_what_was_announced() {
    let mut tools = conforming();
    update(&mut tools, command("ls"));
    assert_eq!(ask(&mut tools, json!({ "title": "List" })), (1, json!({ "command": "ls" }), vec![]));
}

#[test]
fn a_question_about_something_else_than_was_announced_shows_both() {
    let mut tools = conforming();
    update(&mut tools, command("rm"));
    let (attempt, input, reported) = ask(&mut tools, command("ls"));
    assert_eq!((attempt, input, reported), (2, json!({ "command": "ls" }), vec![r#"1 {"command":"rm"}"#.to_owned()]));
}

#[test]
fn a_field_that_was_announced_is_not_taken_back_by_the_question() {
    let mut tools = conforming();
    update(&mut tools, json!({ "rawInput": { "command": "ls", "cwd": "/etc" }, "status": "in_progress" }));
    let both = json!({ "command": "ls", "cwd": "/etc" });
    assert_eq!(ask(&mut tools, command("ls")), (1, both, vec![]));
}

#[test]
fn a_claim_can_only_make_a_call_stricter() {
    let kind = |announced: &str, claimed: &str| {
        let mut tools = conforming();
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
    let kind = |fields: Value| conforming().on_permission_request(call(fields), &mut Vec::new()).kind;
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
        let mut tools = conforming();
        ask(&mut tools, json!({ "kind": "read", "rawInput": { "path": "a" } }));
        let reported = update(&mut tools, change.clone());
        assert_eq!(reported.first().map(String::as_str), expected, "{change}");
        assert_eq!(update(&mut tools, change.clone()), [""; 0], "said twice, told once: {change}");
    }
}

#[test]
fn what_a_question_shows_is_not_output() {
    let mut tools = conforming();
    let preview = json!([{ "type": "content", "content": { "type": "text", "text": "lists files" } }]);
    ask(&mut tools, json!({ "rawInput": { "command": "ls" }, "content": preview }));
    assert_eq!(update(&mut tools, json!({ "status": "completed", "rawOutput": "a.txt" })), ["completed"]);
}

#[test]
fn the_title_of_a_command_without_an_input_is_the_command() {
    let mut tools = conforming();
    ask(&mut tools, json!({ "kind": "execute", "title": "ls" }));
    assert_eq!(update(&mut tools, json!({ "title": "rm" })).len(), 1);
    let mut tools = conforming();
    ask(&mut tools, json!({ "kind": "read", "title": "Reading" }));
    assert_eq!(update(&mut tools, json!({ "title": "Read 3 lines" })), [""; 0]);
}

#[test]
fn a_call_that_is_over_and_turns_out_to_have_been_something_else_is_told_again() {
    let mut tools = conforming();
    update(&mut tools, json!({ "status": "completed", "rawInput": { "path": "a" } }));
    let reported = update(&mut tools, json!({ "rawInput": { "path": "b" } }));
    assert_eq!(reported, [r#"2 {"path":"b"}"#, "completed"]);
}

/// Updates about a call of Gemini's `run_shell_command`, in its words.
fn shell(status: &str, text: &str) -> Value {
    let content = json!([{ "type": "content", "content": { "type": "text", "text": text } }]);
    json!({ "toolCallId": "run_shell_command__1", "status": status, "title": "ls", "kind": "execute", "content": content })
}

#[test]
fn a_command_of_gemini_is_its_input_and_what_explains_it_is_no_output() {
    let mut tools = AcpTools::new(gemini::PROFILE);
    let reported = update(&mut tools, shell("in_progress", "[current working directory /w] (Lists)"));
    assert_eq!(reported, [r#"1 {"command":"ls","description":"Lists"}"#]);
    assert_eq!(update(&mut tools, shell("completed", "a.txt")), ["prints a.txt", "completed"]);
}

#[test]
fn a_command_of_gemini_that_failed_is_told_as_failed() {
    for text in ["Command exited with code: 3", "Blocked: command substitution detected in shell command."] {
        let mut tools = AcpTools::new(gemini::PROFILE);
        ask(&mut tools, shell("pending", "[in a]"));
        assert_eq!(update(&mut tools, shell("completed", text)), [format!("prints {text}"), "failed".to_owned()]);
    }
}

#[test]
fn a_call_that_gemini_itself_refuses_is_refused_and_an_unknown_agents_call_has_failed() {
    let text = "denied by policy";
    let mut tools = AcpTools::new(gemini::PROFILE);
    let reported = update(&mut tools, shell("failed", text));
    assert_eq!(reported.last().unwrap(), "refused: denied by policy");
    let mut tools = conforming();
    assert_eq!(update(&mut tools, shell("failed", text)).last().unwrap(), "failed");
}

#[test]
fn a_call_whose_end_is_not_told_has_begun_if_the_agent_said_so_or_is_gone() {
    let flushed = |fields: Value, end: TurnEnd| {
        let mut tools = conforming();
        tools.update(call(fields), &mut Vec::new());
        let mut drafts = Vec::new();
        tools.flush(end, &mut drafts);
        describe(&drafts).last().cloned().unwrap_or_default()
    };
    let input = json!({ "command": "ls" });
    let announced = json!({ "status": "pending", "rawInput": input });
    assert_eq!(flushed(announced.clone(), TurnEnd::Answered), format!("1 {input}"));
    assert_eq!(flushed(announced, TurnEnd::Exited), "started");
    assert_eq!(flushed(json!({ "status": "in_progress", "rawInput": input }), TurnEnd::Answered), "started");
    assert_eq!(
        flushed(json!({ "status": "pending", "title": "Terminal" }), TurnEnd::Exited),
        r#"1 {"title":"Terminal","locations":[]}"#
    );
}

#[test]
fn a_terminal_in_a_call_is_told_once_and_only_when_the_call_is_known() {
    let mut tools = conforming();
    let terminal = |id: &str| json!({ "type": "terminal", "terminalId": id });
    let shown = |tools: &mut AcpTools| {
        tools.take_shown_terminals().into_iter().map(|(_, terminal)| terminal).collect::<Vec<_>>()
    };
    update(&mut tools, json!({ "status": "pending", "content": [terminal("a")] }));
    assert_eq!(shown(&mut tools), Vec::<String>::new());
    update(&mut tools, json!({ "status": "in_progress", "content": [terminal("a")] }));
    assert_eq!(shown(&mut tools), ["a"]);
    update(&mut tools, json!({ "content": [terminal("a"), terminal("b")] }));
    assert_eq!(shown(&mut tools), ["b"]);
}
