//! Files of a workspace by name and by content, at a terminal.

use std::fs;

use serde_json::Value;

use crate::kit::RoostInstance;

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
