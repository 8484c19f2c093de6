//! Files that are generated from types and committed.

use std::path::Path;

use serde_json::Value;

/// Asserts that a committed file has this text. With `ROOST_BLESS` set, the file is written first.
pub fn assert_committed(path: &Path, text: &str) {
    if std::env::var_os("ROOST_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == text,
        "{} is not what the types say; run its test with `ROOST_BLESS=1` and commit the result",
        path.display()
    );
}

/// Asserts that a folder holds exactly these documents, each as `name.json`; `ROOST_BLESS` writes them first.
pub fn assert_all_committed(folder: &Path, generated: impl IntoIterator<Item = (&'static str, Value)>) {
    let mut expected = Vec::new();
    for (name, document) in generated {
        let file = format!("{name}.json");
        assert_committed(&folder.join(&file), &(serde_json::to_string_pretty(&document).unwrap() + "\n"));
        expected.push(file);
    }
    expected.sort();
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, expected, "a schema without a type; delete it");
}
