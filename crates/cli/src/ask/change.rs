//! The change to files that a tool call would make, read from its input; every runtime names the fields differently.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use roost_rpc::file_change::{Patch, PatchKind, patches};
use serde_json::{Map, Value};
use similar::TextDiff;

const PATH: [&str; 5] = ["path", "file_path", "filePath", "abs_path", "filename"];
const CONTENT: [&str; 6] = ["content", "contents", "new_content", "newContent", "file_text", "fileText"];
const OLD: [&str; 6] = ["old_string", "oldString", "old_text", "oldText", "old_str", "oldStr"];
const NEW: [&str; 6] = ["new_string", "newString", "new_text", "newText", "new_str", "newStr"];
const ALL: [&str; 2] = ["replace_all", "replaceAll"];

/// The largest file that is compared.
const MAX_FILE: u64 = 4 << 20;
/// After this time the diff is finished with a coarser result.
const PATIENCE: Duration = Duration::from_millis(500);
/// Lines of a file shown around a change.
const AROUND: usize = 3;

/// The edits of one file that a call would make, in order.
#[derive(Debug, PartialEq)]
pub(super) struct FileEdits {
    path: String,
    edits: Vec<Edit>,
}

#[derive(Debug, PartialEq)]
enum Edit {
    /// Replaces the content of the file.
    Whole(String),
    /// Replaces a text in the file, once or everywhere.
    Replace { old: String, new: String, all: bool },
    /// The lines of a finished diff, shown as they are: the agent applies them by itself.
    Patch(Vec<String>),
}

/// The changes that an input describes, and the fields that do so.
pub(super) fn changes(input: &Map<String, Value>) -> Option<(Vec<FileEdits>, Vec<&str>)> {
    from_fields(input).or_else(|| from_contents(input)).or_else(|| from_patches(input))
}

/// Codex's way: a list of files, each with its diff.
fn from_patches(input: &Map<String, Value>) -> Option<(Vec<FileEdits>, Vec<&str>)> {
    let change = |patch: &Patch<'_>| {
        let deleted = (patch.kind == PatchKind::Delete).then(|| "(the file is deleted)".to_owned());
        let moved = patch.moved_to.map(|to| format!("(the file is moved to {to})"));
        let diff = patch.diff();
        let lines = deleted.into_iter().chain(moved).chain(diff.lines().map(str::to_owned)).collect();
        FileEdits { path: patch.path.to_owned(), edits: vec![Edit::Patch(lines)] }
    };
    let patches = patches(input.get("changes")?);
    (!patches.is_empty()).then(|| (patches.iter().map(change).collect(), vec!["changes"]))
}

/// A path and what becomes of it, in fields of their own.
fn from_fields(input: &Map<String, Value>) -> Option<(Vec<FileEdits>, Vec<&str>)> {
    let (path_key, path) = text(input, &PATH)?;
    let mut keys = vec![path_key];
    let edits = if let Some((key, content)) = text(input, &CONTENT) {
        keys.push(key);
        vec![Edit::Whole(content.to_owned())]
    } else if let Some(Value::Array(edits)) = input.get("edits") {
        keys.push("edits");
        let edits = edits.iter().map(|edit| replacement(edit.as_object()?).map(|(edit, _)| edit));
        edits.collect::<Option<Vec<_>>>()?
    } else {
        let (edit, used) = replacement(input)?;
        keys.extend(used);
        vec![edit]
    };
    Some((vec![FileEdits { path: path.to_owned(), edits }], keys))
}

/// ACP's way of showing a change: a list of contents, some of which are diffs.
fn from_contents(input: &Map<String, Value>) -> Option<(Vec<FileEdits>, Vec<&str>)> {
    let Some(Value::Array(contents)) = input.get("content") else { return None };
    let change = |content: &Value| {
        let content = content.as_object().filter(|content| content.get("type").is_some_and(|kind| kind == "diff"))?;
        let edit = match text(content, &OLD) {
            Some(_) => replacement(content)?.0,
            None => Edit::Whole(text(content, &NEW)?.1.to_owned()),
        };
        Some(FileEdits { path: text(content, &PATH)?.1.to_owned(), edits: vec![edit] })
    };
    // One that is not a diff must be shown as it is.
    let changes = contents.iter().map(change).collect::<Option<Vec<_>>>().filter(|changes| !changes.is_empty())?;
    Some((changes, vec!["content"]))
}

fn replacement(fields: &Map<String, Value>) -> Option<(Edit, Vec<&str>)> {
    let ((old_key, old), (new_key, new)) = (text(fields, &OLD)?, text(fields, &NEW)?);
    let all = ALL.iter().find_map(|key| Some((*key, fields.get(*key)?.as_bool()?)));
    let edit = match old {
        // Nothing is replaced: a new file.
        "" => Edit::Whole(new.to_owned()),
        old => Edit::Replace { old: old.to_owned(), new: new.to_owned(), all: all.is_some_and(|(_, all)| all) },
    };
    Some((edit, [old_key, new_key].into_iter().chain(all.map(|(key, _)| key)).collect()))
}

fn text<'a>(fields: &'a Map<String, Value>, names: &[&'static str]) -> Option<(&'static str, &'a str)> {
    names.iter().find_map(|name| Some((*name, fields.get(*name)?.as_str()?)))
}

impl FileEdits {
    /// The change as the input says it, compared with no file.
    pub(super) fn alone(&self) -> Vec<String> {
        let edit_lines = |edit: &Edit| match edit {
            Edit::Whole(text) => unified("", text),
            Edit::Replace { old, new, .. } => unified(old, new),
            Edit::Patch(lines) => lines.clone(),
        };
        [self.path.clone()].into_iter().chain(self.edits.iter().flat_map(edit_lines)).collect()
    }

    /// The change as a unified diff of the file as it is now, each line without its end.
    pub(super) fn diff(&self, cwd: &Path) -> Vec<String> {
        let path = cwd.join(&self.path);
        let mut lines = vec![heading(cwd, &path)];
        let before = match read(&path) {
            Ok(before) => before,
            Err(reason) => {
                lines.push(format!("({reason})"));
                None
            }
        };
        lines[0].push_str(if before.is_none() && !path.exists() { " (new file)" } else { "" });
        let mut after = before.clone().unwrap_or_default();
        for edit in &self.edits {
            match edit {
                Edit::Whole(text) => after.clone_from(text),
                // Some agents put the whole file here, others only the part that changes.
                Edit::Replace { old, new, all: true } if after.contains(old) => after = after.replace(old, new),
                Edit::Replace { old, new, .. } if after.contains(old) => after = after.replacen(old, new, 1),
                Edit::Replace { old, new, .. } => {
                    lines.push("(what it wants to replace is not in the file)".into());
                    lines.extend(unified(old, new));
                }
                Edit::Patch(patch) => lines.extend_from_slice(patch),
            }
        }
        let before = before.unwrap_or_default();
        if before != after {
            lines.extend(unified(&before, &after));
        } else if lines.len() == 1 {
            lines.push("(changes nothing)".into());
        }
        lines
    }
}

/// The path as seen from the workspace, and where it really leads.
fn heading(cwd: &Path, path: &Path) -> String {
    let near = |path: &Path| path.strip_prefix(cwd).unwrap_or(path).display().to_string();
    // A file that is not there yet is where its folder leads.
    let there = path.canonicalize().ok().or_else(|| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)));
    let real: PathBuf = there.unwrap_or_else(|| path.to_owned());
    let home = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let mut text = near(path);
    if real != path && real.strip_prefix(&home).ok() != path.strip_prefix(cwd).ok() {
        text.push_str(&format!(" → {}", real.display()));
    }
    if !real.starts_with(&home) {
        text.push_str(" (outside of the workspace)");
    }
    text
}

/// The file's text; `None` if there is no file.
fn read(path: &Path) -> Result<Option<String>, String> {
    let metadata = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        metadata => metadata.map_err(|error| format!("cannot be read: {error}"))?,
    };
    // Opening a pipe or a device may wait for ever.
    if !metadata.is_file() {
        return Err("not a plain file".into());
    }
    if metadata.len() > MAX_FILE {
        return Err("too large to be compared; only what is new is shown".into());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| format!("cannot be read: {error}"))?;
    file.take(MAX_FILE).read_to_end(&mut bytes).map_err(|error| format!("cannot be read: {error}"))?;
    String::from_utf8(bytes).map(Some).map_err(|_| "not a text; only what is new is shown".into())
}

fn unified(before: &str, after: &str) -> Vec<String> {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(before, after);
    let text = diff.unified_diff().context_radius(AROUND).to_string();
    text.lines().map(str::to_owned).collect()
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
