//! Examples of every kind of line in the history files of the real agents, for the tests of the readers.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use roost_engine::NativeMessage;
use serde_json::Value;

/// The folder of the example files, one `<runtime>.jsonl` for each runtime.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/history/examples")
}

/// A runtime's examples as pairs of kind and line.
pub(crate) fn examples(runtime: &str) -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(folder().join(format!("{runtime}.jsonl"))).unwrap();
    let read = |line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        (line["kind"].as_str().unwrap().to_owned(), line["example"].take())
    };
    text.lines().map(read).collect()
}

/// Formats messages on one line, for snapshots.
pub(crate) fn describe(messages: impl IntoIterator<Item = NativeMessage>) -> String {
    let mut described = String::new();
    for NativeMessage { message, .. } in messages {
        write!(described, " {:?}: {}", message.role, serde_json::to_string(&message.content).unwrap()).unwrap();
    }
    if described.is_empty() { " nothing is said".into() } else { described }
}
