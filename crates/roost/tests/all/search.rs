//! Files of a workspace by name and by content, at a terminal.

use std::fs;

use serde_json::Value;

use crate::kit::Place;

#[test]
fn files_are_found_by_name_and_by_what_they_say() {
    let place = Place::new();
    fs::create_dir(place.work().join("src")).unwrap();
    fs::write(place.work().join("src/kafka_sink.rs"), "one\nneedle \u{1b}[31m\n").unwrap();
    fs::write(place.work().join("notes.md"), "needle\n").unwrap();
    place.run(&["up"]).ended(0);
    assert_eq!(place.run(&["search", "kafsink"]).ended(0).stdout, "src/kafka_sink.rs\n");
    let found: Value = serde_json::from_str(&place.run(&["search", "notes", "--json"]).ended(0).stdout).unwrap();
    assert_eq!(found["results"][0]["path"], "notes.md");
    assert_eq!(place.run(&["search", "nothing-of-the-kind"]).ended(0).stdout, "");
    let lines = place.run(&["search", "--text", "need.e", "--regex", "--ext", "rs"]).ended(0).stdout;
    assert!(lines.starts_with("src/kafka_sink.rs:2:needle ") && !lines.contains('\u{1b}'), "{lines:?}");
    place.run(&["down"]).ended(0);
    place.assert_nothing_left();
}
