//! Finds the changes to files in a tool call's input or result, in the field names of several agents. The web app does the
//! same in ui/src/session/file-change.ts, and both are tested with ui/test/tool-calls.json.

use serde_json::Value;
use similar::TextDiff;

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

const PATHS: [&str; 6] = ["file_path", "path", "filePath", "notebook_path", "abs_path", "absolute_path"];
const OLD: [&str; 5] = ["old_string", "oldText", "oldString", "old_str", "old_text"];
const NEW: [&str; 9] =
    ["new_string", "newText", "newString", "new_str", "new_text", "new_source", "content", "contents", "file_text"];

/// What Codex does with one file, in its own words: an entry of the list `changes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch<'a> {
    /// The file as Codex names it, mostly by an absolute path.
    pub path: &'a str,
    /// Where the file is moved to, unless it stays.
    pub moved_to: Option<&'a str>,
    /// What happens to the file.
    pub kind: PatchKind,
    /// A unified diff of an update, else the whole text that comes or goes.
    text: &'a str,
}

/// What a [`Patch`] does with its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchKind {
    /// Creates the file.
    Add,
    /// Changes a file that is there.
    Update,
    /// Removes the file.
    Delete,
}

impl Patch<'_> {
    /// The change as a unified diff.
    pub fn diff(&self) -> String {
        match self.kind {
            PatchKind::Update => self.text.to_owned(),
            PatchKind::Add => TextDiff::from_lines("", self.text).unified_diff().to_string(),
            PatchKind::Delete => TextDiff::from_lines(self.text, "").unified_diff().to_string(),
        }
    }

    /// The patch as ui/test/tool-calls.json has it.
    #[cfg(test)]
    pub(crate) fn to_json(self) -> Value {
        let mut patch = match self.kind {
            PatchKind::Add => serde_json::json!({ "kind": "add", "before": "", "after": self.text }),
            PatchKind::Update => serde_json::json!({ "kind": "update", "diff": self.text }),
            PatchKind::Delete => serde_json::json!({ "kind": "delete", "before": self.text, "after": "" }),
        };
        patch["path"] = self.path.into();
        if let Some(moved_to) = self.moved_to {
            patch["movedTo"] = moved_to.into();
        }
        patch
    }
}

/// The patches in the field `changes` of an input. None at all if one of its changes is not understood: half of an edit
/// would be shown as all of it.
pub fn patches(changes: &Value) -> Vec<Patch<'_>> {
    fn patch(change: &Value) -> Option<Patch<'_>> {
        let kind = change.get("kind")?;
        let moved_to = kind.get("move_path").or_else(|| kind.get("movePath")).and_then(Value::as_str);
        let kind = match kind.get("type").unwrap_or(kind).as_str()? {
            "add" => PatchKind::Add,
            "update" => PatchKind::Update,
            "delete" => PatchKind::Delete,
            _ => return None,
        };
        Some(Patch { path: first_text(change, &PATHS)?, moved_to, kind, text: first_text(change, &["diff"])? })
    }
    changes.as_array().and_then(|changes| changes.iter().map(patch).collect()).unwrap_or_default()
}

/// The file that an input is about; the first of several.
pub fn path(input: &Value) -> Option<&str> {
    let location = || input.get("locations")?.get(0)?.as_str();
    let patched = || patches(input.get("changes")?).first().map(|patch| patch.path);
    first_text(input, &PATHS).or_else(location).or_else(patched)
}

/// All changes in an input or a result, in order; empty if it contains none, or one that is not understood.
pub fn changes(value: &Value) -> Vec<Change<'_>> {
    if let Some(edits) = value.get("edits").and_then(Value::as_array) {
        let path = path(value);
        return edits.iter().map(|edit| change(path?, edit)).collect::<Option<_>>().unwrap_or_default();
    }
    // ACP's content, as a result or in place of an input.
    let blocks = value.as_array().or_else(|| value.get("content")?.as_array());
    match blocks {
        Some(blocks) => {
            let diffs = blocks.iter().filter(|block| block.get("type").is_some_and(|kind| kind == "diff"));
            diffs.map(|diff| change(path(diff)?, diff)).collect::<Option<_>>().unwrap_or_default()
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
