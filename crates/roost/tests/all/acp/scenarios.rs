//! The recorded conversations of older clients (seed 002) in both input profiles, and rules of the protocol that the tests
//! beside this file do not look at yet.

use std::fs::{self, File};

use serde_json::{Value, json};

use super::editor::Editor;
use crate::kit::RoostInstance;

/// What comes of one line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    /// A result in which this is the value at a JSON pointer.
    Result(&'static str, &'static str),
    /// An error with this code.
    Error(i64),
    /// No answer: it is a notification.
    Silence,
}

use Outcome::{Error, Result, Silence};

const READY: Outcome = Result("/agentInfo/name", "roost");
const ENDED: Outcome = Result("/stopReason", "end_turn");
const INVALID_PARAMS: Outcome = Error(-32602);

/// A line of the client with what comes of it, in the profiles `compat` and `strict`.
type Line = (Value, [Outcome; 2]);

/// A conversation by the names of the recordings that have this form, and its lines. `CWD` and `SESSION` stand for the folder and
/// for the session that was made last.
struct Scenario {
    recordings: &'static str,
    lines: Vec<Line>,
}

fn call(id: i64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn initialize() -> Line {
    (call(1, "initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} })), [READY; 2])
}

fn new_session() -> Line {
    (call(2, "session/new", json!({ "cwd": "CWD", "mcpServers": [] })), [Result("/modes/currentModeId", "ask"); 2])
}

/// A session with a mode in the old place, which today's protocol does not have: `strict` ignores it, as every member that
/// nobody knows.
fn new_session_with_mode(name: &str, mode: &'static str) -> Line {
    let params = json!({ "cwd": "CWD", "mcpServers": [], "permissionMode": name });
    (call(2, "session/new", params), [Result("/modes/currentModeId", mode), Result("/modes/currentModeId", "ask")])
}

/// A prompt that is one text instead of blocks.
fn text_prompt() -> Line {
    (call(3, "session/prompt", json!({ "sessionId": "SESSION", "prompt": "hello" })), [ENDED, INVALID_PARAMS])
}

fn cancel() -> Line {
    (json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": "SESSION" } }), [Silence; 2])
}

fn scenarios() -> Vec<Scenario> {
    let blocks = |text: &str| json!([{ "type": "text", "text": text }]);
    let old_hello = (call(1, "initialize", json!({ "protocolVersion": 1, "capabilities": {} })), [READY; 2]);
    let bare_new = call(2, "session/new", json!({ "cwd": "CWD" }));
    let bare_new = (bare_new, [Result("/modes/currentModeId", "ask"), INVALID_PARAMS]);
    let slow = json!({ "sessionId": "SESSION", "prompt": "slow 600" });
    let slow = (call(3, "session/prompt", slow), [Result("/stopReason", "cancelled"), INVALID_PARAMS]);
    let with_context = json!({ "sessionId": "SESSION", "prompt": "hello", "includeWorkspaceContext": true });
    let unknown = (json!({ "jsonrpc": "2.0", "id": 5, "method": "unknown", "params": {} }), [Error(-32601); 2]);
    let scenario = |recordings, lines| Scenario { recordings, lines };
    vec![
        scenario("handshake", vec![initialize()]),
        scenario("basic_session, protocol_test_*", vec![initialize(), new_session()]),
        scenario(
            "acp_v1_alignment, vec_string_command",
            vec![
                initialize(),
                new_session(),
                (call(3, "session/prompt", json!({ "sessionId": "SESSION", "prompt": blocks("hello") })), [ENDED; 2]),
            ],
        ),
        scenario("cancel", vec![cancel()]),
        scenario("prompt_and_cancel", vec![initialize(), bare_new, slow, cancel()]),
        scenario(
            "prompt_skeleton, prompt_with_mock_codex, test_prompt_session, notify_idle",
            vec![initialize(), new_session(), text_prompt()],
        ),
        scenario(
            "session_update_format",
            vec![initialize(), new_session(), (call(3, "session/prompt", with_context), [ENDED, INVALID_PARAMS])],
        ),
        scenario("test_basic_handshake", vec![old_hello.clone(), new_session_with_mode("default", "ask")]),
        scenario(
            "tool_calls, tool_calls_large_output",
            vec![old_hello.clone(), new_session_with_mode("acceptEdits", "accept_edits"), text_prompt()],
        ),
        scenario(
            "tool_calls_batch",
            vec![old_hello, new_session_with_mode("bypassPermissions", "yolo"), text_prompt()],
        ),
        scenario(
            "invalid_params",
            vec![
                initialize(),
                new_session(),
                (call(3, "session/prompt", json!({ "sessionId": "SESSION" })), [INVALID_PARAMS; 2]),
            ],
        ),
        scenario(
            "invalid_params_missing_sessionId",
            vec![initialize(), (call(3, "session/prompt", json!({ "prompt": blocks("hello") })), [INVALID_PARAMS; 2])],
        ),
        scenario("invalid_request", vec![initialize(), (json!({ "jsonrpc": "2.0", "id": 4 }), [Error(-32600); 2])]),
        scenario("unknown_method", vec![initialize(), unknown.clone()]),
        scenario(
            "test_errors",
            vec![
                initialize(),
                unknown,
                (
                    call(6, "session/prompt", json!({ "sessionId": "nobody", "prompt": blocks("hello") })),
                    [Error(-32002); 2],
                ),
                (call(7, "session/prompt", json!({ "sessionId": "nobody", "prompt": "hello" })), [INVALID_PARAMS; 2]),
                (json!({ "id": 8, "foo": "bar" }), [Error(-32600); 2]),
            ],
        ),
    ]
}

/// Says all lines without waiting, but for the ids of sessions, and then looks at the answers.
fn play(scenario: Scenario, profile: &str, column: usize) {
    let instance = RoostInstance::new();
    let mut editor = Editor::start(&instance, &["--profile", profile]);
    let mut session = "nobody".to_owned();
    let mut expected = Vec::new();
    for (line, outcomes) in scenario.lines {
        let text = line.to_string().replace("CWD", instance.work().to_str().unwrap()).replace("SESSION", &session);
        editor.send_text(&format!("{text}\n"));
        if let Some(id) = line["id"].as_i64() {
            expected.push((id, outcomes[column]));
            if line["method"] == "session/new" {
                let made = editor.reply(id)["result"]["sessionId"].as_str().map(str::to_owned);
                session = made.unwrap_or(session);
            }
        } else {
            assert_eq!(outcomes[column], Silence);
        }
    }
    let name = format!("{} ({profile})", scenario.recordings);
    for (id, outcome) in expected {
        let reply = editor.reply(id);
        match outcome {
            Result(pointer, value) => {
                assert_eq!(reply["result"].pointer(pointer), Some(&json!(value)), "{name}: {reply:#}");
            }
            Error(code) => assert_eq!(reply["error"]["code"], code, "{name}: {reply:#}"),
            Silence => unreachable!("notifications have no id"),
        }
    }
    // Whatever a notification would have been answered with, it would be here before this.
    editor.request("unknown", json!({}));
    let unknown = editor.wait("the answer to the last line", |message| message["error"]["code"] == -32601);
    assert!(unknown.get("id").is_some(), "{name}");
    let without_id = editor.seen().iter().filter(|message| message.get("method").is_none() && message["id"].is_null());
    assert_eq!(without_id.count(), 0, "{name}: {:#?}", editor.seen());
}

#[test]
fn recorded_conversations_of_older_clients_work_in_the_profile_compat() {
    scenarios().into_iter().for_each(|scenario| play(scenario, "compat", 0));
}

#[test]
fn recorded_conversations_of_older_clients_get_errors_in_the_profile_strict_where_they_are_wrong() {
    scenarios().into_iter().for_each(|scenario| play(scenario, "strict", 1));
}

#[test]
fn the_answer_to_initialize_has_every_capability_in_its_place() {
    let instance = RoostInstance::new();
    let mut editor = Editor::start(&instance, &[]);
    let answer = editor.initialize();
    assert_eq!(answer["protocolVersion"], 1);
    assert!(answer["agentCapabilities"]["promptCapabilities"]["image"].is_boolean(), "{answer:#}");
    assert_eq!(answer["authMethods"], json!([]), "a method of the kind terminal only where the client can do it");
    assert!(answer.get("capabilities").is_none(), "that is where a draft had them: {answer:#}");
}

#[test]
fn the_folder_of_a_session_counts_and_not_that_of_the_process() {
    let instance = RoostInstance::new();
    let mut command = instance.command(&["acp", "--permission-mode", "yolo"]);
    command.current_dir("/");
    let mut editor = Editor::from_command(command);
    editor.initialize();
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "edit out.txt");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
    assert!(instance.work().join("out.txt").exists());
}

#[test]
fn what_is_logged_goes_to_stderr_and_stdout_has_messages_only() {
    let instance = RoostInstance::new();
    let input = instance.work().join("input");
    fs::write(&input, format!("{}\n", call(1, "initialize", json!({ "protocolVersion": 1 })))).unwrap();
    let mut command = instance.command(&["acp"]);
    let done = command.env("RUST_LOG", "trace").stdin(File::open(input).unwrap()).output().unwrap();
    let lines: Vec<_> = done.stdout.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(lines.len(), 1, "{}", String::from_utf8_lossy(&done.stdout));
    assert_eq!(serde_json::from_slice::<Value>(lines[0]).unwrap()["result"]["protocolVersion"], 1);
    assert!(!done.stderr.is_empty());
}

#[test]
fn every_update_of_a_cancelled_turn_comes_before_its_end() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "edit out.txt");
    editor.asked("session/request_permission");
    editor.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "cancelled");
    let mut statuses = editor.seen().iter().filter_map(|message| message["params"]["update"]["status"].as_str());
    assert_eq!(statuses.next_back(), Some("failed"), "its call is over: {:#?}", editor.seen());
}

#[test]
fn modes_and_config_options_say_the_same_and_every_option_has_a_value() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let made = editor.result("session/new", json!({ "cwd": instance.work(), "mcpServers": [] }));
    let options = made["configOptions"].as_array().unwrap();
    let mode = options.iter().find(|option| option["category"] == "mode").unwrap();
    assert_eq!(mode["currentValue"], made["modes"]["currentModeId"]);
    let values: Vec<_> = mode["options"].as_array().unwrap().iter().map(|option| &option["value"]).collect();
    let modes: Vec<_> = made["modes"]["availableModes"].as_array().unwrap().iter().map(|mode| &mode["id"]).collect();
    assert_eq!(values, modes);
    for option in options {
        assert_eq!(option["type"], "select", "a client has to say that it knows other kinds: {option:#}");
        let offered = option["options"].as_array().unwrap();
        assert!(offered.iter().any(|offer| offer["value"] == option["currentValue"]), "{option:#}");
    }
    let params = json!({ "sessionId": made["sessionId"], "modeId": "plan" });
    editor.result("session/set_mode", params);
    let update =
        editor.wait("the options", |message| message["params"]["update"]["sessionUpdate"] == "config_option_update");
    let options = update["params"]["update"]["configOptions"].as_array().unwrap();
    let mode = options.iter().find(|option| option["category"] == "mode").unwrap();
    assert_eq!(mode["currentValue"], "plan");
}
