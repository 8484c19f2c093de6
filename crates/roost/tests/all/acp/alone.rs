//! `roost acp` without a daemon, and under the name of seed 002's agent.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Value, json};
use testkit::agents::Agent;

use super::editor::{Editor, code};
use crate::codex::MODEL;
use crate::kit::{RoostInstance, script, wait_for};
use crate::real;

#[test]
fn a_standalone_agent_needs_no_daemon_and_leaves_nothing_behind() {
    let instance = RoostInstance::new();
    let mut editor = Editor::open(&instance, &["--standalone"]);
    let session = editor.new_session(&instance);
    let prompt = editor.prompt(&session, "hello");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
    assert!(!instance.state().join("daemon.json").exists(), "no daemon was started");
    editor.prompt(&session, "slow 600");
    editor
        .wait("a piece of the answer", |message| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
    assert_eq!(editor.leave(), Some(0));
    assert_eq!(instance.processes(), Vec::<String>::new());
    let mut editor = Editor::open(&instance, &["--standalone"]);
    assert_eq!(editor.result("session/list", json!({}))["sessions"][0]["sessionId"], session, "its log is kept");
}

#[test]
fn under_the_name_codex_cli_acp_sessions_run_on_codex() {
    let instance = real::instance(Agent::Codex, "codex", &[]);
    let named = instance.home().join("codex-cli-acp");
    symlink(env!("CARGO_BIN_EXE_roost"), &named).unwrap();
    let mut command = Command::new(&named);
    instance.clear(&mut command);
    let mut editor = Editor::from_command(command);
    editor.initialize();
    let session = editor.result("session/new", json!({ "cwd": instance.work() }));
    assert_eq!(session["configOptions"][2]["currentValue"], "codex");
    let id = session["sessionId"].as_str().unwrap();
    let prompt = editor.prompt(id, "SCRIPT:text");
    assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
    assert!(!editor.answer().is_empty());
}

#[test]
fn under_the_name_codex_cli_acp_arguments_count() {
    let instance = RoostInstance::new();
    fs::create_dir_all(instance.home()).unwrap();
    let named = instance.home().join("codex-cli-acp");
    symlink(env!("CARGO_BIN_EXE_roost"), &named).unwrap();
    let mut command = Command::new(&named);
    instance.clear(&mut command).args(["--profile", "strict", "--runtime=demo"]);
    let mut editor = Editor::from_command(command);
    editor.initialize();
    assert_eq!(code(&editor.call("session/new", json!({ "cwd": instance.work() }))), -32602, "strict");
    let session = editor.result("session/new", json!({ "cwd": instance.work(), "mcpServers": [] }));
    assert_eq!(session["configOptions"][2]["currentValue"], "demo");
}

#[test]
fn the_thought_level_reaches_the_model_of_a_real_codex() {
    let instance = real::instance(Agent::Codex, "codex", &[]);
    let mut editor = Editor::open(&instance, &["--runtime", "codex"]);
    let session = editor.new_session(&instance);
    for level in ["high", "low"] {
        let chosen = json!({ "sessionId": session, "configId": "thought_level", "value": level });
        editor.result("session/set_config_option", chosen);
        let before = MODEL.requests().len();
        let prompt = editor.prompt(&session, "SCRIPT:text");
        assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
        let asked: Vec<_> = MODEL.requests().into_iter().skip(before).filter(|request| request.api.is_some()).collect();
        let efforts: Vec<_> = asked.iter().map(|request| request.effort.as_deref()).collect();
        assert!(!efforts.is_empty() && efforts.iter().all(|effort| *effort == Some(level)), "{level}: {asked:?}");
    }
}

/// An editor of `codex-cli-acp` with these variables. Its Codex, which `CODEX_RUN` names, is too old for its app server
/// and does this after it has begun.
fn old_codex(instance: &RoostInstance, does: &str, variables: &[(&str, &str)]) -> (Editor, String) {
    fs::create_dir_all(instance.home()).unwrap();
    let (named, codex) = (instance.home().join("codex-cli-acp"), instance.home().join("my-codex"));
    symlink(env!("CARGO_BIN_EXE_roost"), &named).unwrap();
    let version = r#"if [ "$1" = --version ]; then echo "codex-cli 0.50.0"; exit; fi"#;
    script(
        &codex,
        &format!("{version}\ncat > /dev/null\necho '{}'\n{does}", r#"{"type":"thread.started","thread_id":"x"}"#),
    );
    let mut command = Command::new(&named);
    instance.clear(&mut command).env("CODEX_RUN", &codex).envs(variables.iter().copied());
    let mut editor = Editor::from_command(command);
    editor.initialize();
    let session = editor.new_session(instance);
    (editor, session)
}

fn ended_by(reply: &Value) -> (&Value, &Value) {
    (&reply["result"]["stopReason"], &reply["result"]["_meta"]["roost"]["endedBy"])
}

#[test]
fn the_codex_that_codex_run_names_ends_its_turn_itself() {
    let instance = RoostInstance::new();
    let message = r#"{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"from my own Codex"}}"#;
    let end = r#"{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}"#;
    let (mut editor, session) = old_codex(&instance, &format!("echo '{message}'\necho '{end}'"), &[]);
    let prompt = editor.prompt(&session, "hello");
    let reply = editor.reply(prompt);
    assert_eq!(ended_by(&reply), (&json!("end_turn"), &json!("runtime")), "{reply}");
    assert_eq!(editor.answer(), "from my own Codex");
}

#[test]
fn a_codex_that_says_nothing_for_the_idle_timeout_ends_its_turn() {
    let instance = RoostInstance::new();
    let (mut editor, session) = old_codex(&instance, "exec sleep 600", &[("ACPLB_IDLE_TIMEOUT_MS", "300")]);
    let prompt = editor.prompt(&session, "hello");
    let reply = editor.reply(prompt);
    assert_eq!(ended_by(&reply), (&json!("end_turn"), &json!("idle_timeout")), "{reply}");
}

#[test]
fn the_notify_file_ends_a_turn_and_has_its_last_message() {
    let instance = RoostInstance::new();
    let file = instance.work().join("notify.jsonl");
    let end = r#"{"type":"agent-turn-complete","thread-id":"x","last-assistant-message":"from the file"}"#;
    let does = format!("echo '{end}' >> '{}'\nexec sleep 600", file.display());
    let variables = [("ACPLB_NOTIFY_PATH", file.to_str().unwrap()), ("ACPLB_NOTIFY_KIND", "file")];
    let (mut editor, session) = old_codex(&instance, &does, &variables);
    let prompt = editor.prompt(&session, "hello");
    let reply = editor.reply(prompt);
    assert_eq!(ended_by(&reply), (&json!("end_turn"), &json!("notify")), "{reply}");
    assert_eq!(editor.answer(), "from the file");
}

#[test]
fn a_codex_that_exits_without_a_result_is_an_error_that_says_so() {
    let instance = RoostInstance::new();
    let (mut editor, session) = old_codex(&instance, "echo 'out of luck' >&2; exit 3", &[]);
    let prompt = editor.prompt(&session, "hello");
    let error = &editor.reply(prompt)["error"];
    assert_eq!(error["data"]["_meta"]["roost"]["endedBy"], "exit", "{error}");
    assert!(error["data"]["stderr"].as_str().unwrap().contains("out of luck"), "{error}");
}

#[test]
fn the_thought_level_that_an_editor_chooses_counts_from_the_next_task_on() {
    let instance = RoostInstance::new();
    let end = r#"{"type":"turn.completed"}"#;
    let (config, does) = (instance.work().join("config.toml"), "cp \"$CODEX_HOME/config.toml\" .");
    let (mut editor, session) = old_codex(&instance, &format!("{does}\necho '{end}'"), &[]);
    for level in ["high", "low"] {
        let chosen = json!({ "sessionId": session, "configId": "thought_level", "value": level });
        let options = editor.result("session/set_config_option", chosen)["configOptions"].clone();
        assert_eq!(options[3]["currentValue"], level, "{options}");
        let prompt = editor.prompt(&session, "hello");
        assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn");
        let written = fs::read_to_string(&config).unwrap();
        assert!(written.contains(&format!("model_reasoning_effort = \"{level}\"")), "{written}");
    }
    let unknown = json!({ "sessionId": session, "configId": "thought_level", "value": "enormous" });
    assert_eq!(code(&editor.call("session/set_config_option", unknown)), -32602);
}

#[test]
fn the_audit_file_has_a_line_for_what_the_editor_did() {
    let instance = RoostInstance::new();
    let file = instance.work().join("evidence.jsonl");
    let mut command = instance.command(&["acp"]);
    command.env("ACPLB_EVIDENCE_PATH", &file);
    let mut editor = Editor::from_command(command);
    editor.initialize();
    let session = editor.new_session(&instance);
    for prompt in ["hello", "fail"] {
        let id = editor.prompt(&session, prompt);
        editor.reply(id);
    }
    editor.result("session/set_mode", json!({ "sessionId": session, "modeId": "plan" }));
    let lines: Vec<Value> = wait_for("all lines", || {
        let lines = std::fs::read_to_string(&file).unwrap();
        let lines: Vec<_> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (lines.len() == 7).then_some(lines)
    });
    let events: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(
        events,
        [
            "initialize",
            "session_created",
            "prompt_started",
            "prompt_completed",
            "prompt_started",
            "prompt_failed",
            "session_mode_changed",
        ]
    );
    assert_eq!((&lines[3]["details"]["stopReason"], &lines[3]["sessionId"]), (&json!("end_turn"), &json!(session)));
}
