//! `roost acp` without a daemon, and under the name of seed 002's agent.

use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;
use testkit::agents::Agent;

use super::editor::Editor;
use crate::kit::{RoostInstance, wait_for};
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
    let lines: Vec<serde_json::Value> = wait_for("all lines", || {
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
