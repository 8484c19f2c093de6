//! Files and terminals that a hosted ACP agent asks its client for: judged by the policy, done by the editor, and by
//! Roost itself where no editor does it.

use std::fs;

use serde_json::{Value, json};

use super::client_agent::instance;
use super::editor::Editor;
use super::remote::{RemoteEditor, paired, up};
use crate::kit::{RoostInstance, of_type, wait_for};

/// An editor that offers everything, with a session in this mode.
fn open(instance: &RoostInstance, mode: &str) -> (Editor, String) {
    let capabilities = json!({ "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": true });
    open_with(instance, mode, capabilities)
}

fn open_with(instance: &RoostInstance, mode: &str, capabilities: Value) -> (Editor, String) {
    let mut editor = Editor::start(instance, &["--runtime", "asking", "--permission-mode", mode]);
    editor.result("initialize", json!({ "protocolVersion": 1, "clientCapabilities": capabilities }));
    let session = editor.new_session(instance);
    (editor, session)
}

fn read(path: impl AsRef<std::path::Path>) -> Value {
    json!({ "method": "fs/read_text_file", "params": { "path": path.as_ref() } })
}

fn write(path: impl AsRef<std::path::Path>, content: &str) -> Value {
    json!({ "method": "fs/write_text_file", "params": { "path": path.as_ref(), "content": content } })
}

fn terminal(method: &str, params: Value) -> Value {
    json!({ "method": format!("terminal/{method}"), "params": params })
}

fn of_terminal(method: &str) -> Value {
    terminal(method, json!({ "terminalId": "$terminal" }))
}

/// What the agent says that it was answered: first what it was offered, then one answer to each request.
fn answers(editor: &mut Editor, prompt: i64) -> Vec<Value> {
    let reply = editor.reply(prompt);
    assert_eq!(reply["result"]["stopReason"], "end_turn", "{reply}");
    serde_json::from_str(&editor.answer()).unwrap()
}

fn reply_to(editor: &mut Editor, asked: &Value, result: Value) {
    editor.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }));
}

fn events(instance: &RoostInstance, session: &str) -> Vec<Value> {
    let log = instance.run(&["log", "--json", session]).ended(0).stdout;
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn prompt(editor: &mut Editor, session: &str, requests: &[Value]) -> i64 {
    editor.prompt(session, &Value::from(requests.to_vec()).to_string())
}

#[test]
fn an_agent_reads_what_the_editor_has_not_saved_and_writes_through_it() {
    let instance = instance();
    let file = instance.work().join("notes.txt");
    fs::write(&file, "on disk").unwrap();
    let (mut editor, session) = open(&instance, "accept-edits");
    let task = prompt(&mut editor, &session, &[read(&file), write(&file, "by the agent")]);
    let asked = editor.asked("fs/read_text_file");
    assert_eq!((&asked["params"]["path"], &asked["params"]["sessionId"]), (&json!(file), &json!(session)));
    reply_to(&mut editor, &asked, json!({ "content": "not saved yet" }));
    let asked = editor.asked("fs/write_text_file");
    assert_eq!(asked["params"]["content"], "by the agent");
    reply_to(&mut editor, &asked, json!({}));
    let answers = answers(&mut editor, task);
    assert_eq!(answers[0], json!({ "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": true }));
    assert_eq!(answers[1], json!({ "content": "not saved yet" }));
    assert_eq!(fs::read_to_string(&file).unwrap(), "on disk", "the editor writes, or nobody");
    let events = events(&instance, &session);
    let completed = of_type(&events, "tool.call.completed");
    let calls: Vec<_> =
        completed.iter().map(|call| json!([call["payload"]["name"], call["payload"]["executed_by"]])).collect();
    assert_eq!(calls, [json!(["fs/read_text_file", "codesdk"]), json!(["fs/write_text_file", "codesdk"])]);
    assert_eq!(of_type(&events, "tool.call.policy_evaluated").len(), 2);
}

#[test]
fn a_write_is_asked_about_first_and_a_denied_one_reaches_nobody() {
    let instance = instance();
    let file = instance.work().join("notes.txt");
    let (mut editor, session) = open(&instance, "ask");
    let task = prompt(&mut editor, &session, &[write(&file, "x")]);
    let asked = editor.asked("session/request_permission");
    assert!(asked["params"]["toolCall"]["title"].as_str().unwrap().contains("notes.txt"), "{asked}");
    editor.choose(&asked, "reject_once");
    let answers = answers(&mut editor, task);
    assert!(answers[1].as_str().unwrap().contains("not allowed"), "{answers:?}");
    assert!(!editor.seen().iter().any(|message| message["method"] == "fs/write_text_file"));
    assert!(!file.exists());
}

#[test]
fn the_disk_is_used_when_the_editor_fails_and_after_it_has_left() {
    let instance = instance();
    let (one, two) = (instance.work().join("one.txt"), instance.work().join("new/two.txt"));
    fs::write(&one, "first\nsecond\nthird\n").unwrap();
    let (mut editor, session) = open(&instance, "accept-edits");
    let mut lines = read(&one);
    lines["params"]["line"] = json!(2);
    lines["params"]["limit"] = json!(1);
    let task = prompt(&mut editor, &session, &[lines, read(instance.work().join("missing"))]);
    for _ in 0..2 {
        let asked = editor.asked("fs/read_text_file");
        editor.forget();
        let error = json!({ "code": -32603, "message": "no such buffer" });
        editor.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error }));
    }
    let answers = answers(&mut editor, task);
    assert_eq!(answers[1], json!({ "content": "second\n" }));
    assert!(answers[2].as_str().unwrap().contains("there is no file"), "{answers:?}");
    // The agent still has what it was offered, and nobody is there any more who offered it.
    editor.prompt(&session, &json!([read(&one), write(&two, "written")]).to_string());
    let asked = editor.asked("fs/read_text_file");
    assert_eq!(asked["params"]["path"], json!(one));
    editor.kill();
    wait_for("the file", || fs::read_to_string(&two).ok().filter(|text| text == "written"));
    let events = events(&instance, &session);
    let read = of_type(&events, "tool.call.completed")[2]["payload"]["result_preview"].clone();
    assert_eq!(read, "first\nsecond\nthird\n", "{events:#?}");
}

#[test]
fn an_agent_gets_nothing_from_outside_its_folder_whoever_would_read_it() {
    let instance = instance();
    let secret = instance.state().parent().unwrap().join("secret.txt");
    fs::write(&secret, "secret").unwrap();
    let link = instance.work().join("link.txt");
    std::os::unix::fs::symlink(&secret, &link).unwrap();
    let up = instance.work().join("../secret.txt");
    let capabilities = json!({ "fs": { "readTextFile": true, "writeTextFile": true } });
    let (mut editor, session) = open_with(&instance, "yolo", capabilities);
    let requests = [read(&secret), read(&up), write(&secret, "x"), write(&up, "x"), read("relative.txt")];
    let task = prompt(&mut editor, &session, &requests);
    let refused = answers(&mut editor, task);
    assert!(refused[1..].iter().all(Value::is_string), "{refused:?}");
    assert!(!editor.seen().iter().any(|message| message["method"].as_str().is_some_and(|m| m.starts_with("fs/"))));
    // A link in the folder leads out of it: the editor may know the file, the disk is not followed.
    editor.forget();
    let task = prompt(&mut editor, &session, &[write(&link, "x")]);
    let asked = editor.asked("fs/write_text_file");
    editor.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": 1, "message": "no" } }));
    assert!(answers(&mut editor, task)[1].is_string());
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
}

#[test]
fn an_agent_is_offered_nothing_that_no_editor_offers() {
    let instance = instance();
    let file = instance.work().join("notes.txt");
    fs::write(&file, "x").unwrap();
    let (mut editor, session) = open_with(&instance, "yolo", json!({ "fs": { "readTextFile": true } }));
    let command = terminal("create", json!({ "command": "touch", "args": ["made"] }));
    let task = prompt(&mut editor, &session, &[write(&file, "y"), command]);
    let answers = answers(&mut editor, task);
    assert_eq!(answers[0], json!({ "fs": { "readTextFile": true, "writeTextFile": false }, "terminal": false }));
    for answer in &answers[1..] {
        assert!(answer.as_str().unwrap().contains("not offered"), "{answers:?}");
    }
    assert_eq!((fs::read_to_string(&file).unwrap().as_str(), instance.work().join("made").exists()), ("x", false));
}

#[test]
fn a_command_is_asked_about_and_runs_in_the_editors_terminal() {
    let instance = instance();
    let (mut editor, session) = open(&instance, "ask");
    let create = terminal("create", json!({ "command": "make", "args": ["a b"] }));
    let requests = [create, of_terminal("wait_for_exit"), of_terminal("output"), of_terminal("release")];
    let task = prompt(&mut editor, &session, &requests);
    let asked = editor.asked("session/request_permission");
    assert_eq!(asked["params"]["toolCall"]["rawInput"]["command"], "make 'a b'", "{asked}");
    editor.choose(&asked, "allow_once");
    let asked = editor.asked("terminal/create");
    assert_eq!((&asked["params"]["command"], &asked["params"]["args"]), (&json!("make"), &json!(["a b"])));
    reply_to(&mut editor, &asked, json!({ "terminalId": "mine" }));
    let asked = editor.asked("terminal/wait_for_exit");
    assert_eq!(asked["params"]["terminalId"], "mine");
    reply_to(&mut editor, &asked, json!({ "exitCode": 2 }));
    let output = json!({ "output": "no rule\n", "truncated": false, "exitStatus": { "exitCode": 2 } });
    editor.forget();
    // Asked for its output when it has ended, by the agent, and before it is released, because then it has none.
    let released = loop {
        let asked = editor.wait("a request", |message| {
            message["method"].as_str().is_some_and(|method| method.starts_with("terminal/"))
        });
        editor.forget();
        if asked["method"] == "terminal/release" {
            break asked;
        }
        reply_to(&mut editor, &asked, output.clone());
    };
    reply_to(&mut editor, &released, json!({}));
    let answers = answers(&mut editor, task);
    assert_eq!((&answers[2], &answers[3]), (&json!({ "exitCode": 2 }), &output));
    let events = events(&instance, &session);
    let call = &of_type(&events, "tool.call.completed")[0]["payload"];
    assert_eq!((&call["name"], &call["is_error"]), (&json!("terminal/create"), &json!(true)), "{call}");
    assert!(call["result_preview"].to_string().contains("no rule"), "{call}");
}

/// The content of each update to a tool call that has one.
fn contents(editor: &Editor, call: &Value) -> Vec<Value> {
    let updates = [editor.updates("tool_call"), editor.updates("tool_call_update")].concat();
    let updates = updates.into_iter().filter(|update| update["toolCallId"] == *call && update["content"] != json!([]));
    updates.filter_map(|update| update.get("content").cloned()).collect()
}

#[test]
fn a_terminal_is_shown_inside_its_calls_where_it_runs_and_others_see_what_it_printed() {
    let instance = instance();
    let (mut editor, session) = open(&instance, "yolo");
    let mut other = Editor::open(&instance, &[]);
    other.result("session/load", json!({ "sessionId": session, "cwd": instance.work(), "mcpServers": [] }));
    // The agent shows the terminal inside a call of its own, as the protocol has it, and one that it does not have.
    let show = |id: &str| json!({ "type": "terminal", "terminalId": id });
    let terminal_content = [show("$terminal"), show("another")];
    let own = json!({ "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Build", "kind": "execute",
        "status": "in_progress", "rawInput": { "command": "make all" }, "content": terminal_content });
    let done = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed" });
    let update = |update: &Value| json!({ "method": "session/update", "params": { "update": update } });
    let create = terminal("create", json!({ "command": "make" }));
    let task = prompt(&mut editor, &session, &[create, update(&own), of_terminal("wait_for_exit"), update(&done)]);
    let asked = editor.asked("terminal/create");
    reply_to(&mut editor, &asked, json!({ "terminalId": "mine" }));
    let shown = json!([{ "type": "terminal", "terminalId": "mine" }]);
    let calls = ["make", "make all"].map(|command| {
        let call = editor.wait(command, |message| {
            let update = &message["params"]["update"];
            update["sessionUpdate"] == "tool_call" && update["rawInput"]["command"] == command
        });
        let id = call["params"]["update"]["toolCallId"].clone();
        editor.wait("the terminal", |message| {
            message["params"]["update"]["toolCallId"] == id && message["params"]["update"]["content"] == shown
        });
        id
    });
    let asked = editor.asked("terminal/wait_for_exit");
    reply_to(&mut editor, &asked, json!({ "exitCode": 0 }));
    let asked = editor.asked("terminal/output");
    let output = json!({ "output": "built\n", "truncated": false, "exitStatus": { "exitCode": 0 } });
    reply_to(&mut editor, &asked, output);
    answers(&mut editor, task);
    for call in &calls {
        assert_eq!(
            json!(contents(&editor, call)),
            json!([shown]),
            "nothing replaced the terminal: {:#?}",
            editor.seen()
        );
    }
    other.wait("the output", |message| {
        let update = &message["params"]["update"];
        update["toolCallId"] == calls[0] && update["content"][0]["content"]["text"] == "built\n"
    });
    let terminals = other.seen().iter().filter(|message| message.to_string().contains(r#""type":"terminal""#));
    assert_eq!(terminals.count(), 0, "a terminal of another editor means nothing here");
}

#[test]
fn a_text_that_does_not_fit_into_a_message_is_written_to_the_disk() {
    let instance = instance();
    let (big, small) = (instance.work().join("big.txt"), instance.work().join("small.txt"));
    // Six characters of JSON each.
    let content = "\u{1}".repeat(200 << 10);
    let (mut editor, session) = open(&instance, "yolo");
    let task = prompt(&mut editor, &session, &[write(&big, &content), write(&small, "x")]);
    let asked = editor.asked("fs/write_text_file");
    assert_eq!(asked["params"]["path"], json!(small), "the editor is asked for what follows");
    reply_to(&mut editor, &asked, json!({}));
    answers(&mut editor, task);
    assert_eq!(fs::read_to_string(&big).unwrap(), content);
}

#[test]
fn a_command_runs_on_this_machine_for_an_editor_that_is_gone_and_ends_with_the_session() {
    let instance = instance();
    let (mut editor, session) = open(&instance, "yolo");
    let line = "echo out; echo err >&2; exit 3";
    let first = [
        terminal("create", json!({ "command": line, "outputByteLimit": 1000 })),
        of_terminal("wait_for_exit"),
        of_terminal("output"),
        of_terminal("release"),
        of_terminal("output"),
        terminal("create", json!({ "command": "sleep 6543" })),
        terminal("create", json!({ "command": "touch started" })),
    ];
    // The first request waits for the editor, which leaves instead.
    editor.prompt(&session, &Value::from([&[read(instance.work().join("x"))][..], &first].concat()).to_string());
    editor.asked("fs/read_text_file");
    editor.kill();
    wait_for("the last command", || instance.work().join("started").exists().then_some(()));
    wait_for("the terminal", || instance.agents().iter().any(|command| command.contains("sleep 6543")).then_some(()));
    instance.run(&["stop", &session]).ended(0);
    wait_for("the end of the terminal", || {
        (!instance.agents().iter().any(|command| command.contains("sleep 6543"))).then_some(())
    });
    let events = events(&instance, &session);
    let ended = of_type(&events, "tool.call.completed");
    let output = ended.iter().find(|call| call["payload"]["name"] == "terminal/create").unwrap()["payload"].clone();
    assert!(output["result_preview"].to_string().contains("out\\nerr\\n"), "{output}");
    assert_eq!(output["is_error"], true);
}

#[test]
fn a_person_is_not_asked_twice_about_a_call_that_the_agent_has_its_client_do() {
    let instance = instance();
    let (file, other) = (instance.work().join("notes.txt"), instance.work().join("other.txt"));
    let (mut editor, session) = open(&instance, "ask");
    let option = |kind: &str| json!({ "optionId": kind, "name": kind, "kind": kind });
    let call = json!({ "toolCallId": "c1", "title": "Edit", "kind": "edit", "rawInput": { "path": file } });
    let options = [option("allow_once"), option("reject_once")];
    let ask = json!({ "method": "session/request_permission", "params": { "toolCall": call, "options": options } });
    let task = prompt(&mut editor, &session, &[ask, write(&file, "x"), write(&other, "x")]);
    let asked = editor.asked("session/request_permission");
    editor.choose(&asked, "allow_once");
    editor.forget();
    let asked = editor.asked("fs/write_text_file");
    reply_to(&mut editor, &asked, json!({}));
    let asked = editor.asked("session/request_permission");
    assert!(asked["params"]["toolCall"]["title"].as_str().unwrap().contains("other.txt"), "another file: {asked}");
    editor.choose(&asked, "reject_once");
    answers(&mut editor, task);
    let events = events(&instance, &session);
    let evaluated = of_type(&events, "tool.call.policy_evaluated");
    let rules: Vec<_> = evaluated.iter().map(|event| event["payload"]["rule"].clone()).collect();
    assert!(rules.contains(&json!("part_of_allowed_call")), "{rules:?}");
}

/// The device may not prompt the session, so it may not feed its agent either.
#[tokio::test]
async fn a_device_is_asked_nothing_for_a_session_in_yolo() {
    let instance = instance();
    let door = up(&instance);
    let token = paired(&instance, door).await;
    let (mut local, session) = open(&instance, "yolo");
    let mut device = RemoteEditor::open(door, &token).await;
    let capabilities = json!({ "fs": { "readTextFile": true, "writeTextFile": true } });
    device.call("initialize", json!({ "protocolVersion": 1, "clientCapabilities": capabilities })).await;
    let load = json!({ "sessionId": session, "cwd": instance.work(), "mcpServers": [] });
    let loaded = device.call("session/load", load).await;
    assert!(loaded.get("error").is_none(), "{loaded}");
    // The device made its offer last, which would count in every other mode.
    let task = prompt(&mut local, &session, &[read(instance.work().join("x"))]);
    let asked = local.asked("fs/read_text_file");
    reply_to(&mut local, &asked, json!({ "content": "from here" }));
    assert_eq!(answers(&mut local, task)[1], json!({ "content": "from here" }));
}

#[tokio::test]
async fn an_editor_on_another_machine_is_asked_for_files_of_the_session_and_never_for_a_terminal() {
    let instance = instance();
    let door = up(&instance);
    let token = paired(&instance, door).await;
    let mut editor = RemoteEditor::open(door, &token).await;
    let capabilities = json!({ "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": true });
    editor.call("initialize", json!({ "protocolVersion": 1, "clientCapabilities": capabilities })).await;
    let new = json!({ "cwd": instance.work(), "mcpServers": [], "_meta": { "roost": { "runtime": "asking" } } });
    let session = editor.call("session/new", new).await["result"]["sessionId"].clone();
    let requests = json!([read(instance.work().join("x")), terminal("create", json!({ "command": "ls" }))]);
    let prompt = json!([{ "type": "text", "text": requests.to_string() }]);
    let task = editor.request("session/prompt", json!({ "sessionId": session, "prompt": prompt })).await;
    let asked = editor.wait(|message| message["method"] == "fs/read_text_file").await;
    editor.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "content": "from afar" } })).await;
    editor.reply(task).await;
    let said = editor.wait(|message| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk").await;
    let said: Vec<Value> = serde_json::from_str(said["params"]["update"]["content"]["text"].as_str().unwrap()).unwrap();
    assert_eq!(said[0]["terminal"], false);
    assert_eq!(said[1], json!({ "content": "from afar" }));
    assert!(said[2].as_str().unwrap().contains("not offered"), "{said:?}");
}
