//! Finds the changes to files in a tool call's input or result, in the field names of several agents.

use serde_json::Value;

/// A change to a file. `old` is empty for a new file, and if the input does not say what was there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    /// Path of the file, as the agent gave it.
    pub path: &'a str,
    /// The text that is replaced.
    pub old: &'a str,
    /// The text that replaces it.
    pub new: &'a str,
}

const PATHS: [&str; 5] = ["file_path", "path", "filePath", "notebook_path", "abs_path"];
const OLD: [&str; 4] = ["old_string", "oldText", "oldString", "old_str"];
const NEW: [&str; 7] = ["new_string", "newText", "newString", "new_str", "new_source", "content", "file_text"];

/// The path of the file that an input is about, if it names one.
pub fn path(input: &Value) -> Option<&str> {
    let location = || input.get("locations")?.get(0)?.as_str();
    first_text(input, &PATHS).or_else(location)
}

/// All changes in an input or a result, in order; empty if it contains none.
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
    Some(Change { path, old: first_text(edit, &OLD).unwrap_or_default(), new: first_text(edit, &NEW)? })
}

/// The value of the first of these fields that is a text.
pub fn first_text<'a>(value: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| value.get(name)?.as_str())
}
