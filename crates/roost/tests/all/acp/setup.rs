//! `roost acp setup`, as a person runs it, and the settings as the editor reads them.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::editor::Editor;
use crate::kit::RoostInstance;

/// The editors whose settings can be written, and where those are.
fn settings_files(instance: &RoostInstance) -> [(&'static str, PathBuf); 2] {
    let home = instance.home();
    [("zed", home.join(".config/zed/settings.json")), ("jetbrains", home.join(".jetbrains/acp.json"))]
}

#[test]
fn without_write_the_settings_are_printed_and_nothing_is_changed() {
    let instance = RoostInstance::new();
    for (editor, file) in settings_files(&instance) {
        let done = instance.run(&["acp", "setup", editor]).ended(0);
        let settings: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(settings["agent_servers"]["Roost"]["args"], json!(["acp"]), "{editor}");
        assert!(done.stderr.contains(file.to_str().unwrap()), "{}", done.stderr);
    }
    assert!(!instance.home().exists() && !instance.state().exists());
}

#[test]
fn what_is_written_is_a_command_that_an_editor_can_start() {
    let instance = RoostInstance::new();
    for (name, file) in settings_files(&instance) {
        let done = instance.run(&["acp", "setup", name, "--runtime", "demo", "--write"]).ended(0);
        assert!(done.stdout.contains(file.to_str().unwrap()), "{}", done.stdout);
        let settings: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let agent = &settings["agent_servers"]["Roost (demo)"];
        assert_eq!(agent["command"], env!("CARGO_BIN_EXE_roost"), "{name}");
        let args: Vec<_> = agent["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        let mut editor = Editor::from_command(instance.command(&args));
        editor.initialize();
        let session = editor.new_session(&instance);
        let prompt = editor.prompt(&session, "hello");
        assert_eq!(editor.reply(prompt)["result"]["stopReason"], "end_turn", "{name}");
    }
}

#[test]
fn a_file_that_cannot_be_merged_is_left_alone_and_the_settings_are_printed() {
    let instance = RoostInstance::new();
    for (editor, file) in settings_files(&instance) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "{ not json").unwrap();
        let done = instance.run(&["acp", "setup", editor, "--write"]).ended(1);
        serde_json::from_str::<Value>(&done.stdout).unwrap();
        assert!(
            done.stderr.contains(file.to_str().unwrap()) && done.stderr.contains("not valid JSON"),
            "{}",
            done.stderr
        );
        assert_eq!(fs::read_to_string(&file).unwrap(), "{ not json");
    }
}

#[test]
fn neovim_s_configuration_is_printed_and_never_written() {
    let instance = RoostInstance::new();
    for (args, code) in [(&["acp", "setup", "neovim"][..], 0), (&["acp", "setup", "neovim", "--write"], 1)] {
        let done = instance.run(args).ended(code);
        assert!(done.stdout.contains("acp_providers") && done.stdout.contains("codecompanion"), "{}", done.stdout);
    }
    assert!(!instance.home().exists());
}
