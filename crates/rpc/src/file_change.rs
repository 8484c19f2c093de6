//! The changes to files that a tool call's input or result spells out, in the words of several agents.

use serde_json::Value;

/// A file's change; what was there before is empty for a new file and where nobody says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    /// The file.
    pub path: &'a str,
    /// The text that goes.
    pub old: &'a str,
    /// The text that takes its place.
    pub new: &'a str,
}

const PATHS: [&str; 5] = ["file_path", "path", "filePath", "notebook_path", "abs_path"];
const OLD: [&str; 4] = ["old_string", "oldText", "oldString", "old_str"];
const NEW: [&str; 7] = ["new_string", "newText", "newString", "new_str", "new_source", "content", "file_text"];

/// The file that an input is about.
pub fn path(input: &Value) -> Option<&str> {
    let location = || input.get("locations")?.get(0)?.as_str();
    first(input, &PATHS).or_else(location)
}

/// The changes that an input or a result spells out.
pub fn changes(value: &Value) -> Vec<Change<'_>> {
    if let Some(edits) = value.get("edits").and_then(Value::as_array) {
        let path = path(value);
        return edits.iter().filter_map(|edit| change(path?, edit)).collect();
    }
    // ACP's content, as a result or in place of an input.
    let blocks = value.as_array().or_else(|| value.get("content")?.as_array());
    match blocks {
        Some(blocks) => {
            let diffs = blocks.iter().filter(|block| block.get("type").is_some_and(|kind| kind == "diff"));
            diffs.filter_map(|diff| change(path(diff)?, diff)).collect()
        }
        None => path(value).and_then(|path| change(path, value)).into_iter().collect(),
    }
}

fn change<'a>(path: &'a str, edit: &'a Value) -> Option<Change<'a>> {
    Some(Change { path, old: first(edit, &OLD).unwrap_or_default(), new: first(edit, &NEW)? })
}

/// The first of these fields that is a text.
pub fn first<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| value.get(name)?.as_str())
}
