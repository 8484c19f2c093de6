//! Finds commands, folders and files in a tool call's input, by the names of its fields.

use serde_json::Value;

/// The fields in which runtimes pass a command.
const COMMAND: [&str; 2] = ["command", "cmd"];
/// The fields in which runtimes name the folder that a command runs in.
const FOLDER: [&str; 4] = ["cwd", "workdir", "directory", "dir_path"];
/// The fields of a shell tool that say nothing about what runs: words for people, limits, the call's own id.
const SILENT: [&str; 13] = [
    "description",
    "justification",
    "locations",
    "max_output_tokens",
    "reason",
    "status",
    "timeout",
    "timeout_ms",
    "timeout_seconds",
    "title",
    "tool_call_id",
    "type",
    "yield_time_ms",
];
/// The fields in which runtimes pass a patch.
const PATCH: [&str; 3] = ["patch", "patchText", "input"];

/// The parsed input of a shell tool.
pub(crate) struct ShellFields<'a> {
    pub(crate) command: Option<&'a Value>,
    pub(crate) cwd: Option<&'a str>,
    pub(crate) in_background: bool,
    /// Every other field is known not to change what runs.
    pub(crate) understood: bool,
}

/// Parses a shell tool's input. `silent` are further fields that cannot change what runs. Any other field might (`env`,
/// `stdin`, `shell`, `args`, a second command), so the input then counts as not understood.
pub(crate) fn parse_shell<'a>(input: &'a Value, silent: &[&str]) -> ShellFields<'a> {
    let mut fields = ShellFields { command: None, cwd: None, in_background: false, understood: input.is_object() };
    for (name, value) in input.as_object().into_iter().flatten().filter(|(_, value)| !is_empty(value)) {
        let fits = match name.as_str() {
            name if COMMAND.contains(&name) => *fields.command.get_or_insert(value) == value,
            name if FOLDER.contains(&name) => {
                value.as_str().is_some_and(|folder| *fields.cwd.get_or_insert(folder) == folder)
            }
            "run_in_background" | "is_background" => {
                fields.in_background = true;
                true
            }
            "sandbox_permissions" => value == "use_default",
            // What an agent shows beside its question; a change of a file is more than that.
            "content" => !mentions_diff(value),
            name => SILENT.contains(&name) || silent.contains(&name),
        };
        fields.understood &= fits;
    }
    fields
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

fn mentions_diff(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().any(mentions_diff),
        Value::Object(fields) => {
            fields.get("type").is_some_and(|kind| kind == "diff") || fields.values().any(mentions_diff)
        }
        _ => false,
    }
}

/// Whether an input passes a command, or something that could be one.
pub(crate) fn has_command(input: &Value) -> bool {
    let named = ["command", "cmd", "script", "shell", "args", "argv", "code"];
    named.iter().any(|field| input.get(field).is_some_and(|value| !is_empty(value)))
}

/// The files that an input names: in fields whose names mean a file, as keys or entries of `changes`, and in patches.
pub(crate) fn files(input: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(input, &mut found);
    // A list of changes is collected already; some runtimes name the files as keys instead.
    if let Some(Value::Object(changes)) = input.get("changes") {
        found.extend(changes.keys().cloned());
    }
    let patches = PATCH.iter().filter_map(|field| input.get(field)?.as_str()).chain(input.as_str());
    patches.for_each(|patch| found.extend(patched(patch)));
    found.sort();
    found.dedup();
    found
}

/// Further names of fields that hold a file or folder.
const FILE_FIELDS: [&str; 12] =
    ["cwd", "workdir", "dir", "root", "target", "destination", "dest", "src", "source", "from", "to", "output"];

/// Whether a field of this name holds the name of a file or folder.
fn names_a_file(field: &str) -> bool {
    let words = words(field);
    let speaks = ["path", "file", "uri", "location", "folder", "directory"];
    // `profile` is not a file, and `file_text` is not its name.
    let other = ["profile", "text", "content", "pattern", "size", "type", "mime", "regex", "count", "limit"];
    let named = words.iter().any(|word| speaks.iter().any(|speaks| word.contains(speaks)));
    (named || FILE_FIELDS.contains(&words.concat().as_str()))
        && !words.iter().any(|word| other.contains(&word.as_str()))
}

/// The words of a field's name, in lower case: `filePath` and `file_path` are both `file` and `path`.
fn words(field: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in field.chars() {
        let begins = !c.is_alphanumeric() || (c.is_uppercase() && words.last().is_some_and(|word| !word.is_empty()));
        if begins {
            words.push(String::new());
        }
        let letters = c.to_lowercase().filter(|c| c.is_alphanumeric());
        if let Some(last) = words.last_mut() {
            last.extend(letters);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Fields of a read, besides its files, that only say what to look for or how to show it.
const OF_READS: [&str; 14] = [
    "content",
    "description",
    "encoding",
    "exclude",
    "filter",
    "glob",
    "id",
    "include",
    "kind",
    "pattern",
    "query",
    "reason",
    "regex",
    "title",
];
/// Fields of an edit: the old text, the new text, and the position.
const OF_EDITS: [&str; 16] = [
    "after",
    "before",
    "content",
    "contents",
    "diff",
    "edit",
    "insert",
    "instruction",
    "new",
    "old",
    "patch",
    "replace",
    "search",
    "source",
    "text",
    "type",
];
/// Fields of a tool that only records thoughts or plans.
const OF_THOUGHTS: [&str; 10] =
    ["content", "description", "message", "note", "plan", "reason", "summary", "text", "thought", "title"];

/// Whether every text of the input is in a field that a read has.
pub(crate) fn reads_only(input: &Value) -> bool {
    every_text(input, "", &|field, words| names_a_file(field) || words.iter().any(|word| known(&OF_READS, word)))
}

/// Whether every text of the input is in a field that an edit has.
pub(crate) fn edits_only(input: &Value) -> bool {
    let is_known = |word: &String| known(&OF_EDITS, word) || known(&OF_READS, word);
    every_text(input, "", &|field, words| names_a_file(field) || words.iter().any(is_known))
}

/// Whether every text of the input is in a field that a thinking tool has.
pub(crate) fn thinks_only(input: &Value) -> bool {
    every_text(input, "", &|_, words| words.iter().any(|word| known(&OF_THOUGHTS, word)))
}

/// Whether a word is one of these, in the singular or the plural.
fn known(list: &[&str], word: &str) -> bool {
    list.contains(&word) || word.strip_suffix('s').is_some_and(|word| list.contains(&word))
}

/// Whether all texts of a value are in fields that pass the test. The items of a list count as in the list's field.
fn every_text(value: &Value, field: &str, passes: &dyn Fn(&str, &[String]) -> bool) -> bool {
    match value {
        Value::String(text) => text.is_empty() || passes(field, &words(field)),
        Value::Array(list) => list.iter().all(|value| every_text(value, field, passes)),
        Value::Object(fields) => fields.iter().all(|(name, value)| every_text(value, name, passes)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(list) => list.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(path) if names_a_file(name) && !path.is_empty() => found.push(from_uri(path)),
                    Value::Array(list) if names_a_file(name) => {
                        found.extend(list.iter().filter_map(Value::as_str).map(from_uri));
                        collect(value, found);
                    }
                    _ => collect(value, found),
                }
            }
        }
        _ => {}
    }
}

/// The path of a `file:` address, with its `%xx` decoded; any other text is a path as it is.
fn from_uri(text: &str) -> String {
    let Some(rest) = text.strip_prefix("file:") else { return text.to_owned() };
    let path = rest.strip_prefix("//").map_or(rest, |rest| rest.find('/').map_or(rest, |start| &rest[start..]));
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| byte == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The files that a patch names, as an `*** Update File:` patch or as a unified diff.
fn patched(patch: &str) -> impl Iterator<Item = String> {
    let own = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
    patch.lines().filter_map(move |line| {
        if let Some(path) = own.iter().find_map(|start| line.strip_prefix(start)) {
            return Some(path.trim().to_owned());
        }
        let path = line.strip_prefix("--- ").or_else(|| line.strip_prefix("+++ "))?;
        let path = path.split('\t').next().unwrap_or(path);
        let path = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
        (path != "/dev/null").then(|| path.to_owned())
    })
}
