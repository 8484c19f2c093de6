//! What an editor must not send, and what becomes of it: the right code, no hang, no process that stays.

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use testkit::agents::Agent;

use super::editor::{Editor, code};
use crate::kit::RoostInstance;
use crate::real;

/// Sends a line and waits for the answer that has no id, or this one.
#[track_caller]
fn refused(editor: &mut Editor, line: &str, id: Value) -> i64 {
    editor.forget();
    editor.send_text(&format!("{line}\n"));
    let reply = editor.wait(line, |message| message.get("error").is_some());
    assert_eq!(reply["id"], id, "{line}: {reply}");
    code(&reply)
}

#[test]
fn what_is_no_message_is_refused_with_the_codes_of_json_rpc() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    for (line, id, expected) in [
        ("{not json", json!(null), -32700),
        ("\u{1}", json!(null), -32700),
        ("[]", json!(null), -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"initialize"}]"#, json!(null), -32600),
        ("17", json!(null), -32600),
        (r#"{"foo":"bar"}"#, json!(null), -32600),
        (r#"{"jsonrpc":"2.0","id":90}"#, json!(90), -32600),
        (r#"{"jsonrpc":"1.0","id":91,"method":"initialize"}"#, json!(91), -32600),
        (r#"{"jsonrpc":"2.0","id":92,"method":"unknown"}"#, json!(92), -32601),
        (r#"{"jsonrpc":"2.0","id":"a","method":"_x/extension","params":{}}"#, json!("a"), -32601),
        (r#"{"jsonrpc":"2.0","id":93,"method":"session/new","params":[1]}"#, json!(93), -32602),
        (r#"{"jsonrpc":"2.0","id":94,"method":"session/prompt","params":{"sessionId":"x"}}"#, json!(94), -32602),
        (r#"{"jsonrpc":"2.0","id":95,"method":"session/prompt","params":{"prompt":[]}}"#, json!(95), -32602),
        (r#"{"jsonrpc":"2.0","id":96,"method":"initialize","params":{"protocolVersion":"one"}}"#, json!(96), -32602),
        (r#"{"jsonrpc":"2.0","id":97,"method":"authenticate","params":{"methodId":"none"}}"#, json!(97), -32602),
    ] {
        assert_eq!(refused(&mut editor, line, id), expected, "{line}");
    }
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "hello");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn", "nothing of it did harm");
}

#[test]
fn notifications_are_never_answered() {
    let instance = RoostInstance::new();
    let mut editor = Editor::start(&instance, &[]);
    editor.notify("session/cancel", json!({ "sessionId": "nobody" }));
    editor.notify("session/cancel", json!({}));
    editor.notify("unknown", json!({}));
    editor.notify("_x/extension", json!({}));
    editor.notify("$/cancel_request", json!({ "requestId": 77 }));
    editor.initialize();
    assert_eq!(editor.seen().len(), 1, "{:#?}", editor.seen());
}

#[test]
fn calls_before_initialize_are_refused() {
    let instance = RoostInstance::new();
    let mut editor = Editor::start(&instance, &[]);
    let cwd = instance.work();
    let session = json!({ "sessionId": "x", "cwd": cwd, "mcpServers": [] });
    for (method, params) in [
        ("session/new", json!({ "cwd": cwd, "mcpServers": [] })),
        ("session/load", session.clone()),
        ("session/resume", session.clone()),
        ("session/list", json!({})),
        ("session/close", session.clone()),
        ("session/delete", session.clone()),
        ("session/fork", session),
        ("session/prompt", json!({ "sessionId": "x", "prompt": [{ "type": "text", "text": "hi" }] })),
        ("session/set_mode", json!({ "sessionId": "x", "modeId": "ask" })),
        ("session/set_config_option", json!({ "sessionId": "x", "configId": "mode", "value": "ask" })),
        ("authenticate", json!({ "methodId": "x" })),
        ("logout", json!({})),
    ] {
        assert_eq!(code(&editor.call(method, params)), -32600, "{method}");
    }
}

#[test]
fn unknown_sessions_are_not_found() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = json!({ "sessionId": "x", "cwd": instance.work(), "mcpServers": [] });
    for (method, params) in [
        ("session/load", session.clone()),
        ("session/resume", session.clone()),
        ("session/close", session.clone()),
        ("session/fork", session),
        ("session/prompt", json!({ "sessionId": "x", "prompt": [{ "type": "text", "text": "hi" }] })),
        ("session/set_mode", json!({ "sessionId": "x", "modeId": "ask" })),
    ] {
        let reply = editor.call(method, params);
        assert_eq!(code(&reply), -32002, "{method}: {reply}");
        assert_eq!(reply["error"]["data"]["sessionId"], "x", "{method}: {reply}");
    }
    let legacy = editor.call("session/prompt", json!({ "session_id": "x", "prompt": "hi" }));
    assert_eq!(code(&legacy), -32602, "as the clients of seed 002 expect");
}

#[test]
fn a_session_needs_an_absolute_folder_that_exists() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    for (params, why) in [
        (json!({ "mcpServers": [] }), "cwd"),
        (json!({ "cwd": "relative", "mcpServers": [] }), "absolute"),
        (json!({ "cwd": "", "mcpServers": [] }), "absolute"),
        (json!({ "cwd": 7, "mcpServers": [] }), ""),
        (json!({ "cwd": "/no/such/folder", "mcpServers": [] }), "/no/such/folder"),
        (json!({ "cwd": instance.work(), "mcpServers": {} }), ""),
        (json!({ "cwd": instance.work(), "permission_mode": "bogus" }), "bogus"),
        (json!({ "cwd": instance.work(), "config": 7 }), "config"),
    ] {
        let reply = editor.call("session/new", params.clone());
        assert_eq!(code(&reply), -32602, "{params}: {reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains(why), "{params}: {reply}");
    }
    assert_eq!(editor.result("session/list", json!({}))["sessions"], json!([]));
}

#[test]
fn compat_reads_the_forms_of_older_clients_and_strict_refuses_them() {
    let instance = RoostInstance::new();
    let old = json!({ "working_dir": instance.work(), "permission_mode": "acceptEdits" });
    let mut compat = Editor::start(&instance, &[]);
    compat.result("initialize", json!({ "protocol_version": 1, "capabilities": {} }));
    let session = compat.result("session/new", old.clone());
    assert_eq!(session["modes"]["currentModeId"], "accept_edits");
    let prompt = json!({ "session_id": session["sessionId"], "prompt": "hello", "includeWorkspaceContext": true });
    assert_eq!(compat.result("session/prompt", prompt.clone())["stopReason"], "end_turn");
    let mut strict = Editor::open(&instance, &["--profile", "strict"]);
    assert_eq!(code(&strict.call("session/new", old)), -32602);
    assert_eq!(code(&strict.call("session/new", json!({ "cwd": instance.work() }))), -32602);
    assert_eq!(code(&strict.call("session/prompt", prompt)), -32602);
}

#[test]
fn an_empty_prompt_is_refused() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    for prompt in [json!([]), json!([{ "type": "text", "text": "" }]), json!([{ "type": "nothing" }]), json!(7)] {
        let reply = editor.call("session/prompt", json!({ "sessionId": session, "prompt": prompt }));
        assert_eq!(code(&reply), -32602, "{prompt}: {reply}");
    }
}

#[test]
fn a_message_of_32_mib_is_read_and_a_longer_one_is_refused() {
    let instance = RoostInstance::new();
    let mut editor = Editor::start(&instance, &[]);
    let message = |pad: usize| {
        let params = format!(r#"{{"protocolVersion":1,"_meta":{{"x":"{}"}}}}"#, "x".repeat(pad));
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#)
    };
    let longest = (32 << 20) - message(0).len();
    editor.send_text(&format!("{}\n", message(longest)));
    assert_eq!(editor.reply(1)["result"]["protocolVersion"], 1);
    assert_eq!(refused(&mut editor, &message(longest + 1), json!(null)), -32600);
    editor.forget();
    assert_eq!(editor.initialize()["protocolVersion"], 1);
}

#[test]
fn a_permission_that_is_answered_twice_counts_once() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "edit notes.txt");
    let asked = editor.asked("session/request_permission");
    editor.choose(&asked, "reject_once");
    editor.choose(&asked, "allow_once");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
    assert!(!instance.work().join("notes.txt").exists());
}

#[test]
fn a_permission_that_is_never_answered_holds_up_nothing_else_and_ends_with_its_turn() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let (silent, other) = (editor.new_session(&instance), editor.new_session(&instance));
    let waiting = editor.prompt(&silent, "edit notes.txt");
    editor.asked("session/request_permission");
    let prompt = editor.prompt(&other, "hello");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
    editor.notify("session/cancel", json!({ "sessionId": silent }));
    assert_eq!(editor.reply(waiting)["result"]["stopReason"], "cancelled");
    assert!(!instance.work().join("notes.txt").exists());
    assert_eq!(editor.leave(), Some(0));
    instance.assert_nothing_left();
}

#[test]
fn a_cancellation_without_a_prompt_changes_nothing() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    for _ in 0..2 {
        editor.notify("session/cancel", json!({ "sessionId": session }));
        let prompt = editor.prompt(&session, "hello");
        assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
    }
}

#[test]
fn a_request_that_is_cancelled_while_it_waits_is_answered_so() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let daemon = instance.daemon();
    kill_process(daemon, Signal::STOP).unwrap();
    let list = editor.request("session/list", json!({}));
    editor.notify("$/cancel_request", json!({ "requestId": list }));
    assert_eq!(code(&editor.reply(list)), -32800);
    kill_process(daemon, Signal::CONT).unwrap();
    let prompt = editor.prompt(&session, "hello");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
}

#[test]
fn an_agent_without_a_login_is_an_error_of_its_own() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    let mut editor = Editor::open(&instance, &["--runtime", "claude"]);
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "SCRIPT:err401");
    let reply = editor.reply(prompt);
    assert_eq!(code(&reply), -32000, "{reply}");
    assert_eq!(reply["error"]["data"]["code"], "AUTH_ERROR", "{reply}");
}

#[test]
fn answers_to_nothing_are_ignored() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    for id in [json!(4711), json!("x"), json!(null)] {
        editor.send(json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
        editor.send(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": "odd" } }));
    }
    editor.forget();
    editor.initialize();
    assert_eq!(editor.seen().len(), 1, "{:#?}", editor.seen());
}

#[test]
fn the_input_may_end_anywhere() {
    for text in [
        "",
        "{",
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#,
        "\n\n\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n{\"jsonrpc\":",
    ] {
        let instance = RoostInstance::new();
        // A daemon that is only being started when the editor leaves goes on, and nobody would wait for it here.
        instance.run(&["up"]).ended(0);
        let mut editor = Editor::start(&instance, &[]);
        editor.send_text(text);
        assert_eq!(editor.leave(), Some(0), "{text:?}");
        instance.assert_nothing_left();
    }
}

#[test]
fn the_input_may_end_in_the_middle_of_a_turn() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    editor.prompt(&session, "slow 600");
    editor.wait("an answer", |message| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
    editor.send_text(r#"{"jsonrpc":"2.0","id":7,"method":"session/pro"#);
    assert_eq!(editor.leave(), Some(0));
    let listed = instance.run(&["sessions", "--json"]).ended(0).stdout;
    assert!(listed.contains(r#""open_task""#), "the session goes on: {listed}");
    instance.assert_nothing_left();
}

#[test]
fn requests_that_came_with_the_end_of_the_input_are_answered() {
    let instance = RoostInstance::new();
    let mut editor = Editor::start(&instance, &[]);
    let first = editor.request("initialize", json!({ "protocolVersion": 1 }));
    let second = editor.request("unknown", json!({}));
    assert_eq!(editor.leave(), Some(0));
    assert_eq!(editor.reply(first)["result"]["protocolVersion"], 1);
    assert_eq!(code(&editor.reply(second)), -32601);
}

#[test]
fn requests_right_behind_initialize_count_on_it() {
    let instance = RoostInstance::new();
    let mut editor = Editor::start(&instance, &[]);
    editor.request("initialize", json!({ "protocolVersion": 1 }));
    let prompt = json!([{ "type": "text", "text": "hi" }]);
    let prompt = editor.request("session/prompt", json!({ "sessionId": "x", "prompt": prompt }));
    let list = editor.request("session/list", json!({}));
    assert_eq!(code(&editor.reply(prompt)), -32002);
    assert_eq!(editor.reply(list)["result"]["sessions"], json!([]));
}
