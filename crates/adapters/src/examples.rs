//! One example of every kind of line that the real agents wrote down on disk.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use roost_engine::NativeMessage;
use serde_json::Value;

/// Where the examples are.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/history/examples")
}

/// The examples of a runtime with their kinds.
pub(crate) fn examples(runtime: &str) -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(folder().join(format!("{runtime}.jsonl"))).unwrap();
    let read = |line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        (line["kind"].as_str().unwrap().to_owned(), line["example"].take())
    };
    text.lines().map(read).collect()
}

/// Messages in one line.
pub(crate) fn told(messages: impl IntoIterator<Item = NativeMessage>) -> String {
    let mut told = String::new();
    for NativeMessage { message, .. } in messages {
        write!(told, " {:?}: {}", message.role, serde_json::to_string(&message.content).unwrap()).unwrap();
    }
    if told.is_empty() { " nothing is said".into() } else { told }
}
