//! One session, many doors: what an editor does is everybody's, and what others do is the editor's.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use testkit::agents::Agent;

use super::editor::Editor;
use crate::kit::{RoostInstance, of_type, wait_for};
use crate::real;

fn load(instance: &RoostInstance, session: &str) -> Value {
    json!({ "sessionId": session, "cwd": instance.work(), "mcpServers": [] })
}

/// The id of the approval that waits.
fn waiting(instance: &RoostInstance) -> String {
    wait_for("an approval", || {
        let listed = instance.run(&["approvals", "--json"]).ended(0).stdout;
        let first: Value = serde_json::from_str(listed.lines().next()?).unwrap();
        first["ask"]["approval"]["tool_call_id"].as_str().map(ToOwned::to_owned)
    })
}

#[test]
fn what_an_editor_starts_is_listed_at_once_and_a_terminal_answers_for_it() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let listed = instance.run(&["sessions", "--json"]).ended(0).stdout;
    assert!(listed.contains(&session), "{listed}");
    let prompt = editor.prompt(&session, "edit notes.txt");
    let asked = editor.asked("session/request_permission");
    instance.run(&["approvals", "answer", &waiting(&instance), "allow"]).ended(0);
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
    assert!(instance.work().join("notes.txt").exists());
    let withdrawn = editor.wait("the withdrawal", |message| message["method"] == "$/cancel_request");
    assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
    editor.choose(&asked, "reject_once");
    let prompt = editor.prompt(&session, "hello");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn", "the late answer did no harm");
}

#[test]
fn an_editor_that_comes_back_loads_the_session_and_finds_what_waits() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "hello");
    editor.reply(prompt);
    let said = editor.answer();
    editor.prompt(&session, "edit notes.txt");
    let first = editor.asked("session/request_permission");
    editor.kill();
    let mut editor = Editor::open(&instance, &[]);
    let listed = editor.result("session/list", json!({}));
    assert_eq!(listed["sessions"][0]["sessionId"], session);
    editor.forget();
    let loaded = editor.request("session/load", load(&instance, &session));
    let reply = editor.reply(loaded);
    assert_eq!(reply["result"]["modes"]["currentModeId"], "ask", "{reply}");
    let (texts, answer) = (editor.updates("user_message_chunk"), editor.answer());
    let prompts: Vec<_> = texts.iter().map(|update| update["content"]["text"].as_str().unwrap()).collect();
    assert_eq!(prompts, ["hello", "edit notes.txt"]);
    assert_eq!(answer, said, "the answer is repeated once, before the reply");
    assert_eq!(editor.updates("tool_call").len(), 1);
    let asked = editor.asked("session/request_permission");
    assert_eq!(asked["params"], first["params"]);
    editor.choose(&asked, "allow_once");
    wait_for("the file", || instance.work().join("notes.txt").exists().then_some(()));
}

#[test]
fn a_session_that_is_resumed_repeats_nothing_and_asks_what_waits() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    editor.prompt(&session, "edit notes.txt");
    editor.asked("session/request_permission");
    editor.kill();
    let mut editor = Editor::open(&instance, &[]);
    editor.result("session/resume", load(&instance, &session));
    assert!(editor.updates("user_message_chunk").is_empty() && editor.answer().is_empty());
    let asked = editor.asked("session/request_permission");
    editor.choose(&asked, "reject_once");
    editor.wait("the end of the call", |message| message["params"]["update"]["status"] == "failed");
}

#[test]
fn a_second_editor_sees_the_first_ones_prompt_and_either_answers() {
    let instance = RoostInstance::new();
    let (mut first, mut second) = (Editor::open(&instance, &[]), Editor::open(&instance, &[]));
    let session = first.new_session(&instance);
    second.result("session/load", load(&instance, &session));
    let prompt = first.prompt(&session, "edit notes.txt");
    let (mine, theirs) = (first.asked("session/request_permission"), second.asked("session/request_permission"));
    second.choose(&theirs, "allow_once");
    assert_eq!(first.reply(prompt)["result"]["stopReason"], "end_turn");
    let withdrawn = first.wait("the withdrawal", |message| message["method"] == "$/cancel_request");
    assert_eq!(withdrawn["params"]["requestId"], mine["id"]);
    second.chunk("notes.txt");
    let theirs = second.updates("user_message_chunk").pop().unwrap();
    assert_eq!(theirs["content"]["text"], "edit notes.txt");
}

#[test]
fn a_stop_says_who_stopped_it_in_the_log_and_to_the_editor_that_waits() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "slow 600");
    editor.wait("an answer", |message| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
    instance.run(&["stop", &session]).ended(0);
    let reply = editor.reply(prompt);
    assert_eq!(reply["result"]["stopReason"], "cancelled", "{reply}");
    let by = &reply["result"]["_meta"]["roost"]["stoppedBy"];
    assert_eq!(by["from"], "local", "{reply}");
    let log = instance.run(&["log", "--json", &session]).ended(0).stdout;
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let stopped = &of_type(&events, "task.stopped")[0]["payload"]["stopped_by"];
    assert_eq!((&stopped["client_id"], &stopped["from"]), (&by["clientId"], &by["from"]), "{stopped}");
    assert!(stopped["client_id"].is_string(), "{stopped}");
}

#[test]
fn the_commands_of_a_runtime_are_listed_also_in_a_folder_of_no_workspace() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    let commands = instance.work().join(".claude/commands");
    std::fs::create_dir_all(&commands).unwrap();
    std::fs::write(commands.join("greet.md"), "Say hello.").unwrap();
    let mut editor = Editor::open(&instance, &["--runtime", "claude"]);
    editor.new_session(&instance);
    let listed = instance.run(&["workspaces", "--json"]).ended(0).stdout;
    assert!(listed.trim().is_empty() || !listed.contains("work"), "the folder is no workspace: {listed}");
    editor.wait("the commands", |message| {
        let commands = message["params"]["update"]["availableCommands"].as_array();
        commands.is_some_and(|commands| commands.iter().any(|command| command["name"] == "greet"))
    });
}

#[test]
fn a_prompt_says_who_sent_it_in_the_log_and_to_other_editors() {
    let instance = RoostInstance::new();
    let (mut first, mut second) = (Editor::open(&instance, &[]), Editor::open(&instance, &[]));
    let session = first.new_session(&instance);
    second.result("session/load", load(&instance, &session));
    for editor in [&mut first, &mut second] {
        let prompt = editor.prompt(&session, "hello");
        editor.reply(prompt);
    }
    let events = instance.run(&["log", &session, "--json"]).ended(0).events(1);
    let started: Vec<_> = of_type(&events, "task.started").iter().map(|event| &event["trace"]["client_id"]).collect();
    assert!(started.len() == 2 && started.iter().all(|client| client.is_string()), "{started:?}");
    assert_ne!(started[0], started[1]);
    let theirs = second.updates("user_message_chunk").pop().unwrap();
    assert_eq!(theirs["_meta"]["roost"]["promptedBy"], json!({ "clientId": started[0] }));
}

#[test]
fn a_queued_prompt_that_is_cancelled_is_answered_at_once_and_leaves_the_queue() {
    let instance = RoostInstance::new();
    let (mut first, mut second) = (Editor::open(&instance, &[]), Editor::open(&instance, &[]));
    let session = first.new_session(&instance);
    second.result("session/load", load(&instance, &session));
    let running = first.prompt(&session, "slow 600");
    second.wait("the first prompt", |message| message["params"]["update"]["sessionUpdate"] == "user_message_chunk");
    let queued = second.prompt(&session, "hello");
    second.notify("session/cancel", json!({ "sessionId": session }));
    let reply = second.reply(queued);
    assert_eq!(reply["result"]["stopReason"], "cancelled", "{reply}");
    assert_eq!(reply["result"]["_meta"]["roost"]["endedBy"], "cancel", "{reply}");
    first.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(first.reply(running)["result"]["stopReason"], "cancelled");
    let events = instance.run(&["log", &session, "--json"]).ended(0).events(1);
    assert_eq!(of_type(&events, "task.started").len(), 1);
    let queue = |event: &&Value| event["payload"].get("queue").cloned();
    assert_eq!(of_type(&events, "session.updated").iter().filter_map(queue).next_back(), Some(json!([])));
}

#[test]
fn a_session_of_a_terminal_can_be_listed_loaded_and_prompted() {
    let instance = RoostInstance::new();
    let events = instance.run(&["run", "--json", "hello"]).ended(0).events(1);
    let session = crate::kit::session_id(&events);
    let mut editor = Editor::open(&instance, &[]);
    assert_eq!(editor.result("session/list", json!({}))["sessions"][0]["sessionId"], session);
    editor.result("session/load", load(&instance, &session));
    assert!(editor.answer().contains("demo agent"));
    let prompt = editor.prompt(&session, "hello");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
}

#[test]
fn a_session_can_be_prompted_without_being_loaded() {
    let instance = RoostInstance::new();
    let session = {
        let mut editor = Editor::open(&instance, &[]);
        let session = editor.new_session(&instance);
        editor.leave();
        session
    };
    let mut editor = Editor::open(&instance, &[]);
    let prompt = editor.prompt(&session, "hello");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
}

#[test]
fn a_daemon_that_dies_fails_the_turn_and_the_next_prompt_starts_it_again() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "slow 600");
    editor
        .wait("a piece of the answer", |message| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
    instance.kill_daemon();
    let reply = editor.reply(prompt);
    assert_eq!(reply["error"]["code"], -32603, "{reply}");
    let prompt = editor.prompt(&session, "hello");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
}

#[test]
fn an_editor_that_does_not_read_holds_up_nobody_and_loses_nothing() {
    const CHUNKS: usize = 50_000;
    let instance = RoostInstance::new();
    let mut reader = Editor::open(&instance, &[]);
    let session = reader.new_session(&instance);
    let mut deaf = instance.command(&["acp"]);
    let mut deaf = deaf.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let prompt = json!([{ "type": "text", "text": format!("flood {CHUNKS} 40") }]);
    let mut stdin = deaf.stdin.take().unwrap();
    for (id, method, params) in [
        (1, "initialize", json!({ "protocolVersion": 1 })),
        (2, "session/prompt", json!({ "sessionId": session, "prompt": prompt })),
    ] {
        writeln!(stdin, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).unwrap();
    }
    // The flood is over for the daemon although the editor that asked for it has not read a line.
    reader.wait("the prompt", |message| message["params"]["update"]["sessionUpdate"] == "user_message_chunk");
    let own = reader.new_session(&instance);
    let prompt = reader.prompt(&own, "hello");
    assert_eq!(reader.reply(prompt)["result"]["stopReason"], "end_turn");
    wait_for("the end of the flood", || {
        let listed = instance.run(&["sessions", "--json"]).ended(0).stdout;
        let mut records = listed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let record = records.find(|record| record.to_string().contains(&session))?;
        record.to_string().contains(r#""last_outcome":"completed""#).then_some(())
    });
    let lines = BufReader::new(deaf.stdout.take().unwrap()).lines().map_while(Result::ok);
    let (mut chunks, mut reply) = (0, None);
    for line in lines {
        chunks += usize::from(line.contains("agent_message_chunk"));
        if line.contains("stopReason") {
            reply = Some(line);
            break;
        }
    }
    assert!(reply.unwrap().contains("end_turn"));
    assert_eq!(chunks, CHUNKS);
    deaf.kill().unwrap();
    deaf.wait().unwrap();
}
