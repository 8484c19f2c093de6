//! `roost acp` as an editor uses it, with the demo agent.

use std::fs;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use serde_json::json;
use testkit::agents::Agent;

use super::editor::{Editor, code, kinds};
use crate::attaching::PIXEL;
use crate::kit::{RoostInstance, wait_for};
use crate::real;

#[test]
fn the_agent_says_what_it_can_do() {
    let instance = RoostInstance::new();
    let mut editor = Editor::start(&instance, &[]);
    let hello = editor.initialize();
    assert_eq!(hello["protocolVersion"], 1);
    assert_eq!(hello["authMethods"], json!([]));
    assert_eq!(hello["agentInfo"]["name"], "roost");
    let able = &hello["agentCapabilities"];
    assert_eq!(able["loadSession"], true);
    assert_eq!(able["promptCapabilities"], json!({ "image": true, "audio": false, "embeddedContext": true }));
    for method in ["list", "resume", "close", "delete", "fork"] {
        assert_eq!(able["sessionCapabilities"][method], json!({}), "{method}");
    }
}

const WITH_LOGIN: [&str; 4] = ["--runtime", "demo", "--auth-method", "terminal"];

#[test]
fn a_login_in_a_terminal_is_offered_only_to_a_client_that_has_one() {
    let instance = RoostInstance::new();
    let mut editor = Editor::start(&instance, &WITH_LOGIN);
    assert_eq!(editor.initialize()["authMethods"], json!([]));
    let able = json!({ "protocolVersion": 1, "clientCapabilities": { "auth": { "terminal": true } } });
    let offered = editor.result("initialize", able)["authMethods"].clone();
    assert_eq!((&offered[0]["type"], &offered[0]["args"]), (&json!("terminal"), &json!(["--login"])), "{offered}");
}

#[test]
fn the_command_of_the_editor_with_login_logs_in_to_its_agent() {
    let instance = RoostInstance::new();
    let said = instance.run(&[&["acp"], &WITH_LOGIN[..], &["--login"]].concat()).ended(0).stdout;
    assert!(said.starts_with("demo: logged in"), "{said}");
}

#[test]
fn a_newer_version_is_answered_with_the_one_that_is_spoken() {
    let instance = RoostInstance::new();
    let mut editor = Editor::start(&instance, &[]);
    assert_eq!(editor.result("initialize", json!({ "protocolVersion": 2 }))["protocolVersion"], 1);
    assert_eq!(editor.result("initialize", json!({ "protocolVersion": 0 }))["protocolVersion"], 1);
}

#[test]
fn a_new_session_has_modes_and_options_and_starts_no_process() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &["--permission-mode", "auto"]);
    let session = editor.result("session/new", json!({ "cwd": instance.work(), "mcpServers": [] }));
    assert_eq!(session["modes"]["currentModeId"], "auto");
    let options: Vec<_> = session["configOptions"].as_array().unwrap().iter().map(|option| &option["id"]).collect();
    assert_eq!(options, ["mode", "model", "runtime"]);
    let other = editor.result("session/new", json!({ "cwd": instance.work(), "mcpServers": [] }));
    assert_ne!(session["sessionId"], other["sessionId"]);
    let agents: Vec<_> = instance.agents().into_iter().filter(|command| !command.contains(" acp")).collect();
    assert_eq!(agents, Vec::<String>::new());
}

#[test]
fn a_prompt_streams_its_answer_and_ends_the_turn() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "hello");
    let reply = editor.reply(prompt);
    assert_eq!(reply["result"]["stopReason"], "end_turn", "{reply}");
    assert_eq!(reply["result"]["_meta"]["roost"]["sessionId"], session);
    assert!(editor.answer().contains("demo agent"), "{}", editor.answer());
    let last = editor.seen().last().unwrap();
    assert_eq!(last["id"], prompt, "every update comes before the answer: {last}");
    assert!(!kinds(editor.seen()).contains_key("user_message_chunk"), "the editor shows its own prompt itself");
}

#[test]
fn thoughts_plans_and_tool_calls_have_updates_of_their_own() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &["--permission-mode", "yolo"]);
    let session = editor.new_session(&instance);
    for (prompt, kind) in
        [("think", "agent_thought_chunk"), ("plan", "plan"), ("tools", "tool_call"), ("out 50", "tool_call_update")]
    {
        editor.forget();
        let id = editor.prompt(&session, prompt);
        assert_eq!(editor.reply(id)["result"]["stopReason"], "end_turn", "{prompt}");
        assert!(kinds(editor.seen()).contains_key(kind), "{prompt}: {:#?}", editor.seen());
    }
    let last = editor.updates("tool_call_update").pop().unwrap();
    assert_eq!(last["status"], "completed");
    assert!(last["content"][0]["content"]["text"].as_str().unwrap().contains("line 50"), "{last}");
}

#[test]
fn an_edit_asks_the_editor_and_runs_when_it_is_allowed() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "edit notes.txt");
    let asked = editor.asked("session/request_permission");
    let call = &asked["params"]["toolCall"];
    assert_eq!(call["kind"], "edit");
    assert_eq!(call["content"][0]["type"], "diff", "{call}");
    assert_eq!(call["locations"][0]["path"], json!(instance.work().join("notes.txt")));
    assert!(!instance.work().join("notes.txt").exists());
    editor.choose(&asked, "allow_once");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
    assert!(instance.work().join("notes.txt").exists());
    let announced = editor.updates("tool_call");
    assert_eq!(announced[0]["toolCallId"], call["toolCallId"]);
    assert_eq!(editor.updates("tool_call_update").last().unwrap()["status"], "completed");
}

#[test]
fn an_edit_that_the_editor_denies_does_not_run() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    for answer in [
        json!({ "outcome": { "outcome": "selected", "optionId": "reject_once" } }),
        json!({ "outcome": { "outcome": "selected", "optionId": "no such option" } }),
        json!({ "outcome": { "outcome": "cancelled" } }),
        json!("nonsense"),
    ] {
        editor.forget();
        let prompt = editor.prompt(&session, "edit notes.txt");
        let asked = editor.asked("session/request_permission");
        editor.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer }));
        assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn", "{answer}");
        assert!(!instance.work().join("notes.txt").exists(), "{answer}");
        assert_eq!(editor.updates("tool_call_update").last().unwrap()["status"], "failed", "{answer}");
    }
}

#[test]
fn a_cancelled_turn_says_so_and_the_session_goes_on() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "slow 600");
    editor
        .wait("a piece of the answer", |message| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
    editor.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "cancelled");
    let prompt = editor.prompt(&session, "hello");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
}

#[test]
fn a_cancellation_right_behind_its_prompt_finds_it() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "slow 600");
    editor.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "cancelled");
    let prompt = editor.prompt(&session, "slow 600");
    editor.notify("$/cancel_request", json!({ "requestId": prompt }));
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "cancelled");
}

#[test]
fn a_cancellation_ends_an_open_permission_request() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "edit notes.txt");
    let asked = editor.asked("session/request_permission");
    editor.notify("session/cancel", json!({ "sessionId": session }));
    editor.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "outcome": { "outcome": "cancelled" } } }));
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "cancelled");
    assert!(!instance.work().join("notes.txt").exists());
}

#[test]
fn a_failed_turn_is_an_error_and_never_a_clean_end() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &["--permission-mode", "yolo"]);
    let session = editor.new_session(&instance);
    for (prompt, reason) in [("fail", "RUNTIME_ERROR"), ("crash", "RUNTIME_EXITED"), ("exit", "RUNTIME_EXITED")] {
        let id = editor.prompt(&session, prompt);
        let reply = editor.reply(id);
        assert_eq!(code(&reply), -32603, "{prompt}: {reply}");
        assert_eq!(reply["error"]["data"]["code"], reason, "{reply}");
        assert!(!reply["error"]["message"].as_str().unwrap().is_empty());
    }
    let prompt = editor.prompt(&session, "hello");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn", "the next prompt starts the agent again");
}

#[test]
fn two_prompts_at_once_are_worked_on_one_after_the_other() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let first = editor.prompt(&session, "slow 0.2");
    let second = editor.prompt(&session, "hello");
    assert_eq!(editor.reply(second)["result"]["stopReason"], "end_turn");
    let replies: Vec<_> = editor.seen().iter().filter(|message| message.get("result").is_some()).collect();
    let order: Vec<_> = replies.iter().map(|reply| reply["id"].as_i64().unwrap()).collect();
    assert_eq!(order[order.len() - 2..], [first, second]);
}

#[test]
fn ten_sessions_work_side_by_side() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let sessions: Vec<_> = (0..10).map(|_| editor.new_session(&instance)).collect();
    let prompts: Vec<_> = sessions.iter().map(|session| editor.prompt(session, "hello")).collect();
    for prompt in prompts {
        assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
    }
}

#[test]
fn a_prompt_beyond_the_limit_of_sessions_waits_or_is_refused_as_configured() {
    for when_full in ["queue", "reject"] {
        let instance = RoostInstance::new();
        instance.configure(&format!("[sessions]\nmax = 1\nwhen_full = {when_full:?}\n"));
        let mut editor = Editor::open(&instance, &[]);
        let (first, second) = (editor.new_session(&instance), editor.new_session(&instance));
        let slow = editor.prompt(&first, "slow 600");
        editor.wait("an answer", |message| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
        let beyond = editor.prompt(&second, "hello");
        if when_full == "reject" {
            let reply = editor.reply(beyond);
            assert_eq!(code(&reply), -32603, "{reply}");
            assert!(reply["error"]["message"].as_str().unwrap().contains("limit"), "{reply}");
            continue;
        }
        editor.notify("session/cancel", json!({ "sessionId": first }));
        assert_eq!(editor.reply(slow)["result"]["stopReason"], "cancelled");
        assert_eq!(editor.reply(beyond)["result"]["stopReason"], "end_turn", "it waited for its turn");
    }
}

#[test]
fn a_mode_and_a_model_are_changed_and_told() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let mode = |mode: &str| json!({ "sessionId": session, "modeId": mode });
    assert_eq!(editor.result("session/set_mode", mode("yolo")), json!({}));
    editor.wait("the new mode", |message| message["params"]["update"]["currentModeId"] == "yolo");
    let prompt = editor.prompt(&session, "edit notes.txt");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
    assert!(instance.work().join("notes.txt").exists(), "nobody was asked");
    assert_eq!(code(&editor.call("session/set_mode", mode("bogus"))), -32602);
    let option = |id: &str, value: &str| json!({ "sessionId": session, "configId": id, "value": value });
    let options = editor.result("session/set_config_option", option("mode", "plan"));
    assert_eq!(options["configOptions"][0]["currentValue"], "plan");
    for (id, value) in [("mode", "bogus"), ("nothing", "x"), ("runtime", "claude")] {
        assert_eq!(code(&editor.call("session/set_config_option", option(id, value))), -32602, "{id}");
    }
}

#[test]
fn sessions_are_listed_closed_and_deleted() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    assert_eq!(editor.result("session/list", json!({}))["sessions"], json!([]));
    let session = editor.new_session(&instance);
    let id = json!({ "sessionId": session });
    let prompt = editor.prompt(&session, "slow 600");
    editor
        .wait("a piece of the answer", |message| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
    let listed = editor.result("session/list", json!({ "cwd": instance.work() }))["sessions"][0].clone();
    assert_eq!((&listed["sessionId"], &listed["cwd"]), (&json!(session), &json!(instance.work())));
    assert_eq!(editor.result("session/close", id.clone()), json!({}));
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "cancelled");
    wait_for("the agent to be gone", || instance.agents().iter().all(|command| command.contains(" acp")).then_some(()));
    assert_eq!(editor.result("session/list", json!({}))["sessions"][0]["sessionId"], session, "it can be loaded again");
    assert_eq!(editor.result("session/delete", id.clone()), json!({}));
    assert_eq!(editor.result("session/list", json!({}))["sessions"], json!([]));
    assert_eq!(editor.result("session/delete", id), json!({}), "it is as good as deleted");
    assert_eq!(code(&editor.call("session/list", json!({ "cursor": "nonsense" }))), -32602);
    assert_eq!(code(&editor.call("session/list", json!({ "cwd": "relative" }))), -32602);
}

#[test]
fn a_fork_is_another_session() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "hello");
    editor.reply(prompt);
    let fork = json!({ "sessionId": session, "cwd": instance.work(), "mcpServers": [] });
    let fork = editor.result("session/fork", fork)["sessionId"].as_str().unwrap().to_owned();
    assert_ne!(fork, session);
    let prompt = editor.prompt(&fork, "hello");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
}

#[test]
fn files_are_mentioned_where_the_prompt_links_to_them() {
    let instance = RoostInstance::new();
    fs::write(instance.work().join("a b.txt"), "x").unwrap();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let uri = format!("file://{}/a%20b.txt", instance.work().display());
    let prompt = json!([
        { "type": "text", "text": "hello" },
        { "type": "resource_link", "name": "a b.txt", "uri": uri },
    ]);
    let id = editor.request("session/prompt", json!({ "sessionId": session, "prompt": prompt }));
    assert_eq!(editor.reply(id)["result"]["stopReason"], "end_turn");
    let log = instance.run(&["log", &session, "--json"]).ended(0).stdout;
    assert!(log.contains("a b.txt\\\""), "{log}");
}

#[test]
fn an_image_of_a_prompt_reaches_a_runtime_that_takes_images() {
    let instance = real::instance(Agent::Claude, "claude", &[]);
    let mut editor = Editor::open(&instance, &["--runtime", "claude"]);
    let session = editor.new_session(&instance);
    let prompt = json!([
        { "type": "text", "text": "SCRIPT:look" },
        { "type": "image", "mimeType": "image/png", "data": BASE64.encode(PIXEL) },
    ]);
    let id = editor.request("session/prompt", json!({ "sessionId": session, "prompt": prompt }));
    assert_eq!(editor.reply(id)["result"]["stopReason"], "end_turn");
    assert!(editor.answer().contains("saw 1 image(s): image/png"), "{}", editor.answer());
}

#[test]
fn the_editor_that_leaves_ends_the_program_and_not_the_session() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    editor.prompt(&session, "edit notes.txt");
    editor.asked("session/request_permission");
    assert_eq!(editor.leave(), Some(0));
    let waiting = instance.run(&["approvals"]).ended(0).stdout;
    assert!(waiting.contains("notes.txt"), "{waiting}");
    instance.assert_nothing_left();
}

#[test]
fn a_question_is_a_form_of_the_editor_where_it_has_forms_and_a_text_where_not() {
    let instance = RoostInstance::new();
    let mut plain = Editor::open(&instance, &[]);
    let session = plain.new_session(&instance);
    let prompt = plain.prompt(&session, "ask");
    plain.chunk("cannot answer questions");
    let mut editor = Editor::start(&instance, &[]);
    let able = json!({ "elicitation": { "form": {} } });
    editor.result("initialize", json!({ "protocolVersion": 1, "clientCapabilities": able }));
    editor.result("session/resume", json!({ "sessionId": session, "cwd": instance.work(), "mcpServers": [] }));
    let asked = editor.asked("elicitation/create");
    assert_eq!(asked["params"]["mode"], "form", "{asked}");
    let schema = &asked["params"]["requestedSchema"]["properties"];
    let content: serde_json::Map<_, _> = schema
        .as_object()
        .unwrap()
        .iter()
        .map(|(id, property)| match property["oneOf"].as_array() {
            Some(choices) => (id.clone(), choices[0]["const"].clone()),
            None => (id.clone(), json!("something")),
        })
        .collect();
    editor.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "accept", "content": content } }));
    assert_eq!(plain.reply(prompt)["result"]["stopReason"], "end_turn");
    let log = instance.run(&["log", &session, "--json"]).ended(0).stdout;
    assert!(log.contains(r#""outcome":"answered""#), "{log}");
}

#[test]
fn a_prompt_that_steers_is_queued_and_its_answer_comes_in_updates() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &[]);
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "slow 0.2");
    let steer = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "hello" }] });
    assert_eq!(editor.result("_session/steering", steer)["outcome"], "startedNewTurn");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
    editor.chunk("demo agent");
}
