//! What a tool call would touch, read from its input.

use roost_proto::runtime::RuntimeName;
use serde_json::Value;

use crate::class::Call;
use crate::shell::{self, Line, Opaque, Simple};
use crate::tools::Action;

/// What a call would touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// It runs this command.
    Shell(ParsedCommand),
    /// It reads or changes these files, as the runtime names them.
    Files(Vec<String>),
    /// It goes to this address.
    Url(String),
    /// Something else, or it does not say.
    Other,
}

/// A command as the runtime would run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedCommand {
    /// The line as written; of the shell that a runtime puts around every command, only what it is given.
    pub text: String,
    /// Where it would run, if not where the runtime stands.
    pub cwd: Option<String>,
    /// What it would run.
    pub line: Result<Line, Opaque>,
}

/// The fields in which runtimes name files.
const FILE_FIELDS: [&str; 10] = [
    "file_path",
    "filePath",
    "path",
    "paths",
    "notebook_path",
    "absolute_path",
    "dir_path",
    "filename",
    "locations",
    "file_paths",
];
/// The fields in which runtimes pass a command.
const COMMAND_FIELDS: [&str; 2] = ["command", "cmd"];
/// The fields in which runtimes name the folder that a command runs in.
const CWD_FIELDS: [&str; 4] = ["cwd", "workdir", "directory", "dir_path"];
/// The fields in which runtimes pass a patch.
const PATCH_FIELDS: [&str; 3] = ["patch", "patchText", "input"];

impl Subject {
    pub(crate) fn of(call: &Call<'_>, action: Action) -> Self {
        match action {
            Action::Shell => Self::Shell(command(call)),
            Action::Read | Action::Edit | Action::Delete => Self::Files(files(call.input)),
            Action::Fetch => match call.input.get("url").and_then(Value::as_str) {
                Some(url) => Self::Url(url.to_owned()),
                None => Self::Other,
            },
            Action::Inert | Action::Change | Action::Unknown => Self::Other,
        }
    }

    /// Every path that the caller should resolve before it asks for a decision; some are no paths at all.
    pub fn paths(&self) -> Vec<&str> {
        match self {
            Self::Files(files) => files.iter().map(String::as_str).collect(),
            Self::Shell(command) => {
                let commands = command.line.iter().flat_map(|line| &line.commands);
                let words = commands.flat_map(|simple| {
                    let targets = simple.redirects.iter().map(|redirect| &redirect.target);
                    simple.argv.iter().skip(1).chain(targets)
                });
                let named = words.filter_map(|word| word.literal()).filter(|word| !word.starts_with('-'));
                command.cwd.as_deref().into_iter().chain(named).collect()
            }
            Self::Url(_) | Self::Other => Vec::new(),
        }
    }
}

/// Whether an input passes a command.
pub(crate) fn has_command(input: &Value) -> bool {
    COMMAND_FIELDS.iter().any(|field| input.get(field).is_some())
}

fn command(call: &Call<'_>) -> ParsedCommand {
    let cwd = CWD_FIELDS.iter().find_map(|field| call.input.get(field)?.as_str()).map(str::to_owned);
    let given = COMMAND_FIELDS.iter().find_map(|field| call.input.get(field));
    // Gemini CLI asks with the command as the title, and without the input.
    let titled = *call.runtime == RuntimeName::GeminiCliCore && given.is_none();
    let title = call.title.filter(|_| titled);
    let mut command = match (given, title) {
        (Some(Value::String(text)), _) => in_shell(text, *call.runtime == RuntimeName::CodexSdk),
        (Some(Value::Array(argv)), _) => match argv.iter().map(Value::as_str).collect::<Option<Vec<_>>>() {
            Some(argv) => without_shell(&argv),
            None => unknown("its command is no list of words"),
        },
        (None, Some(text)) => in_shell(text, false),
        _ => unknown("its command is not told"),
    };
    if call.input.get("run_in_background").and_then(Value::as_bool) == Some(true) {
        command.line = command.line.map(|line| Line { background: true, ..line });
    }
    ParsedCommand { cwd, ..command }
}

fn unknown(why: &'static str) -> ParsedCommand {
    ParsedCommand { text: String::new(), cwd: None, line: Err(Opaque(why)) }
}

/// A line for a shell. Codex puts a shell around every command and then shows both as one line.
fn in_shell(text: &str, may_be_wrapped: bool) -> ParsedCommand {
    let line = shell::parse(text);
    if may_be_wrapped
        && let Some(script) =
            line.as_ref().ok().and_then(Line::single).and_then(|argv| wrapped(&argv).map(str::to_owned))
    {
        return in_shell(&script, false);
    }
    ParsedCommand { text: text.to_owned(), cwd: None, line }
}

/// A program with its arguments, which no shell sees unless it is the program.
fn without_shell(argv: &[&str]) -> ParsedCommand {
    match wrapped(argv) {
        Some(script) => in_shell(script, false),
        None => {
            let line = Line { commands: vec![Simple::of(argv)], ..Line::default() };
            let line = if argv.is_empty() { Err(Opaque("its command is empty")) } else { Ok(line) };
            ParsedCommand { text: shell::quote(argv), cwd: None, line }
        }
    }
}

/// The line inside `bash -lc '…'`.
fn wrapped<'a>(argv: &[&'a str]) -> Option<&'a str> {
    let [shell, "-c" | "-lc", script] = argv else { return None };
    let name = shell.strip_prefix("/usr").unwrap_or(shell);
    let name = name.strip_prefix("/bin/").unwrap_or(name);
    matches!(name, "sh" | "bash" | "zsh" | "dash").then_some(*script)
}

fn files(input: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for field in FILE_FIELDS {
        collect(input.get(field), &mut found);
    }
    // Codex lists its changes, or names the files as keys.
    match input.get("changes") {
        Some(Value::Object(changes)) => {
            found.extend(changes.keys().cloned());
            changes.values().for_each(|change| collect(change.get("move_path"), &mut found));
        }
        changes => collect(changes, &mut found),
    }
    for field in ["edits", "content"] {
        if let Some(list @ Value::Array(_)) = input.get(field) {
            collect(Some(list), &mut found);
        }
    }
    let patches = PATCH_FIELDS.iter().filter_map(|field| input.get(field)?.as_str()).chain(input.as_str());
    patches.for_each(|patch| found.extend(patched(patch)));
    found.sort();
    found.dedup();
    found
}

/// File names: a text, a list of them, or a list of things that have a path.
fn collect(value: Option<&Value>, found: &mut Vec<String>) {
    match value {
        Some(Value::String(path)) => found.push(path.clone()),
        Some(Value::Array(list)) => list.iter().for_each(|item| collect(Some(item), found)),
        Some(Value::Object(item)) => {
            for field in ["path", "file_path", "filePath", "move_path"] {
                if let Some(Value::String(path)) = item.get(field) {
                    found.push(path.clone());
                }
            }
        }
        _ => {}
    }
}

/// The files that a patch names, in Codex's format or as a unified diff.
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
