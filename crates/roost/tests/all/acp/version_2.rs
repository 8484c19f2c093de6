//! The draft of version 2: only for those who ask for it, where it is allowed.

use serde_json::{Value, json};

use super::editor::{Editor, code};
use crate::kit::RoostInstance;

fn initialize() -> Value {
    json!({ "protocolVersion": 2, "info": { "name": "test", "version": "1" }, "capabilities": {} })
}

fn open(instance: &RoostInstance) -> (Editor, String) {
    let mut editor = Editor::start_version(instance, &["--protocol-v2"], 2);
    let hello = editor.result("initialize", initialize());
    assert_eq!((&hello["protocolVersion"], &hello["info"]["name"]), (&json!(2), &json!("roost")), "{hello}");
    assert!(hello["capabilities"]["session"].is_object() && hello.get("agentCapabilities").is_none(), "{hello}");
    let new = editor.result("session/new", json!({ "cwd": instance.work() }));
    assert!(new.get("modes").is_none() && new["configOptions"][0]["configId"] == "mode", "{new}");
    (editor, new["sessionId"].as_str().unwrap().to_owned())
}

/// The states that were told, in order.
fn states(editor: &Editor) -> Vec<String> {
    let updates = editor.updates("state_update");
    updates.iter().map(|update| update["state"].as_str().unwrap().to_owned()).collect()
}

fn idle(editor: &mut Editor) -> Value {
    editor.wait("the end of the turn", |message| message["params"]["update"]["state"] == "idle")["params"]["update"]
        .clone()
}

#[test]
fn whoever_asks_for_version_2_without_the_flag_gets_version_1() {
    let instance = RoostInstance::new();
    let mut editor = Editor::start(&instance, &[]);
    assert_eq!(editor.result("initialize", initialize())["protocolVersion"], 1);
    let mut editor = Editor::start(&instance, &["--protocol-v2"]);
    assert_eq!(editor.initialize()["protocolVersion"], 1, "who asks for 1 gets 1");
}

#[test]
fn a_prompt_is_answered_when_it_was_taken_and_states_tell_the_rest() {
    let instance = RoostInstance::new();
    let (mut editor, session) = open(&instance);
    let prompt = editor.prompt(&session, "edit notes.txt");
    let taken = editor.reply(prompt)["result"]["messageId"].clone();
    let said = editor.updates("user_message_chunk");
    assert_eq!((&said[0]["messageId"], &said[0]["content"]["text"]), (&taken, &json!("edit notes.txt")));
    let asked = editor.asked("session/request_permission");
    assert_eq!(asked["params"]["subject"]["type"], "tool_call", "{asked}");
    assert_eq!(states(&editor), ["running", "requires_action"]);
    editor.choose(&asked, "allow_once");
    assert_eq!(idle(&mut editor)["stopReason"], "end_turn");
    assert_eq!(states(&editor), ["running", "requires_action", "running", "idle"]);
    let diffs = editor.updates("tool_call_update");
    let diff = diffs.iter().flat_map(|call| call["content"].as_array().cloned().unwrap_or_default());
    let diff = diff.into_iter().find(|content| content["type"] == "diff").expect("a diff");
    assert_eq!(diff["changes"][0]["path"], json!(instance.work().join("notes.txt")), "{diff}");
    assert!(editor.updates("tool_call").is_empty() && editor.updates("current_mode_update").is_empty());
}

#[test]
fn a_failure_is_the_reason_of_the_stop_and_a_cancellation_another() {
    let instance = RoostInstance::new();
    let (mut editor, session) = open(&instance);
    editor.prompt(&session, "crash");
    let end = idle(&mut editor);
    assert_eq!(end["stopReason"], "error", "{end}");
    assert!(end["error"]["message"].is_string(), "{end}");
    editor.forget();
    editor.prompt(&session, "slow 600");
    editor.wait("an answer", |message| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
    editor.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(idle(&mut editor)["stopReason"], "cancelled");
}

#[test]
fn a_second_prompt_queues_and_both_ends_are_told() {
    let instance = RoostInstance::new();
    let (mut editor, session) = open(&instance);
    let (first, second) = (editor.prompt(&session, "edit notes.txt"), editor.prompt(&session, "hello"));
    let taken = [editor.reply(first), editor.reply(second)].map(|reply| reply["result"]["messageId"].clone());
    assert!(taken[0] != taken[1] && taken.iter().all(Value::is_string), "{taken:?}");
    let asked = editor.asked("session/request_permission");
    editor.choose(&asked, "reject_once");
    editor.wait("the second prompt", |message| message["params"]["update"]["messageId"] == taken[1]);
    let end = idle(&mut editor);
    assert_eq!(end["stopReason"], "end_turn", "{end}");
    editor.wait("the answer to the second prompt", |message| {
        message["params"]["update"]["sessionUpdate"] == "agent_message_chunk"
    });
}

#[test]
fn methods_that_version_2_no_longer_has_are_unknown() {
    let instance = RoostInstance::new();
    let (mut editor, session) = open(&instance);
    for method in ["session/load", "session/set_mode", "authenticate", "logout", "tool_call/cancel"] {
        let params = json!({ "sessionId": session, "cwd": instance.work(), "modeId": "plan", "methodId": "x" });
        assert_eq!(code(&editor.call(method, params)), -32601, "{method}");
    }
    let option = json!({ "sessionId": session, "configId": "mode", "type": "id", "value": "plan" });
    let changed = editor.result("session/set_config_option", option);
    assert_eq!(changed["configOptions"][0]["currentValue"], "plan", "{changed}");
    let resumed = editor.result(
        "session/resume",
        json!({ "sessionId": session, "cwd": instance.work(), "replayFrom": { "type": "start" } }),
    );
    assert_eq!(resumed["configOptions"][0]["configId"], "mode", "{resumed}");
    assert_eq!(editor.result("session/list", json!({}))["sessions"][0]["sessionId"], session);
    editor.result("session/close", json!({ "sessionId": session }));
    editor.result("session/delete", json!({ "sessionId": session }));
}
