//! `roost acp` without a daemon, and under the name of seed 002's agent.

use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;
use testkit::agents::Agent;

use super::editor::Editor;
use crate::kit::RoostInstance;
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
