//! Files of a workspace by name and by content, at a terminal.

use std::fs;

use serde_json::Value;

use crate::kit::{RoostInstance, wait_for};

#[test]
fn files_are_found_by_name_and_by_what_they_say() {
    let instance = RoostInstance::new();
    fs::create_dir(instance.work().join("src")).unwrap();
    fs::write(instance.work().join("src/kafka_sink.rs"), "one\nneedle \u{1b}[31m\n").unwrap();
    fs::write(instance.work().join("notes.md"), "needle\n").unwrap();
    instance.run(&["up"]).ended(0);
    assert_eq!(instance.run(&["search", "kafsink"]).ended(0).stdout, "src/kafka_sink.rs\n");
    let found: Value = serde_json::from_str(&instance.run(&["search", "notes", "--json"]).ended(0).stdout).unwrap();
    assert_eq!(found["results"][0]["path"], "notes.md");
    assert_eq!(instance.run(&["search", "nothing-of-the-kind"]).ended(0).stdout, "");
    let lines = instance.run(&["search", "--text", "need.e", "--regex", "--ext", "rs"]).ended(0).stdout;
    assert!(lines.starts_with("src/kafka_sink.rs:2:needle ") && !lines.contains('\u{1b}'), "{lines:?}");
    instance.run(&["down"]).ended(0);
    instance.assert_nothing_left();
}

/// The folders of marks that a watcher has in the state directory.
fn marks(instance: &RoostInstance) -> Vec<String> {
    let entries = fs::read_dir(instance.state().join("index")).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("marks-")).collect()
}

#[test]
fn a_watcher_leaves_no_folder_behind_when_its_daemon_ends_or_after_it_was_killed() {
    let instance = RoostInstance::new();
    fs::write(instance.work().join("notes.md"), "needle\n").unwrap();
    for kill in [true, false] {
        instance.run(&["up"]).ended(0);
        assert_eq!(marks(&instance), Vec::<String>::new(), "what was left is gone at the next start");
        instance.run(&["search", "notes"]).ended(0);
        wait_for("a watcher", || (!marks(&instance).is_empty()).then_some(()));
        if kill {
            instance.kill_daemon();
        }
    }
    instance.assert_nothing_left();
    assert_eq!(marks(&instance), Vec::<String>::new());
}
