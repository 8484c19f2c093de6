//! What a tool call would touch, read from its input.

use serde_json::Value;

use crate::class::Call;
use crate::commands;
use crate::fields;
use crate::line_parts::LinePart;
use crate::shell::{self, Opaque, ShellLine, SimpleCommand};
use crate::toolset::Action;

/// What a call would use or change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// It runs this command.
    Shell(ParsedCommand),
    /// It reads or changes these files, as the runtime names them.
    Files(Vec<String>),
    /// It fetches this address.
    Url(String),
    /// Something else, or the input does not say what.
    Other,
}

/// A command as the runtime would run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedCommand {
    /// The line as written. If the runtime wraps every command in `bash -lc '…'`, the line inside.
    pub text: String,
    /// The folder that the input names; `None` means the runtime's current folder.
    pub cwd: Option<String>,
    /// The parsed line, or why it is not understood.
    pub line: Result<ShellLine, Opaque>,
    /// The commands of a line that the closed grammar accepts, if the rest of the input cannot change what they do.
    pub(crate) parts: Option<Vec<LinePart>>,
    /// Every field of the input is understood.
    pub(crate) understood: bool,
}

impl Subject {
    pub(crate) fn from_call(call: &Call<'_>, action: Action) -> Self {
        match action {
            Action::Shell => Self::Shell(command(call)),
            Action::Read | Action::Edit | Action::Delete => Self::Files(fields::files(call.input)),
            Action::Fetch => match call.input.get("url").and_then(Value::as_str) {
                Some(url) => Self::Url(url.to_owned()),
                None => Self::Other,
            },
            Action::Inert | Action::Change | Action::Unknown => Self::Other,
        }
    }
}

fn command(call: &Call<'_>) -> ParsedCommand {
    let fields = fields::parse_shell(call.input, call.tools.silent_fields);
    let mut command = match fields.command {
        Some(Value::String(text)) => in_shell(text, call.tools.wraps_commands),
        Some(Value::Array(argv)) => match argv.iter().map(Value::as_str).collect::<Option<Vec<_>>>() {
            Some(argv) => without_shell(&argv),
            None => unknown("its command is no list of words"),
        },
        _ => unknown("its command is not told"),
    };
    if fields.in_background {
        command.line = command.line.map(|line| ShellLine { background: true, ..line });
    }
    command.understood = fields.understood;
    command.cwd = fields.cwd.map(str::to_owned);
    if fields.understood && !fields.in_background {
        command.parts = commands::parse_parts(&command.text);
    }
    command
}

fn unknown(why: &'static str) -> ParsedCommand {
    parsed(String::new(), Err(Opaque(why)))
}

fn parsed(text: String, line: Result<ShellLine, Opaque>) -> ParsedCommand {
    ParsedCommand { text, cwd: None, line, parts: None, understood: false }
}

/// Parses a line for a shell; `may_be_wrapped` unwraps the `bash -lc '…'` that some runtimes put around every command.
fn in_shell(text: &str, may_be_wrapped: bool) -> ParsedCommand {
    let line = shell::parse(text);
    if may_be_wrapped
        && let Some(script) =
            line.as_ref().ok().and_then(ShellLine::single).and_then(|argv| wrapped(&argv).map(str::to_owned))
    {
        return in_shell(&script, false);
    }
    parsed(text.to_owned(), line)
}

/// A program with its arguments, run without a shell unless the program itself is one.
fn without_shell(argv: &[&str]) -> ParsedCommand {
    match wrapped(argv) {
        Some(script) => in_shell(script, false),
        None => {
            let line = ShellLine { commands: vec![SimpleCommand::from_argv(argv)], ..ShellLine::default() };
            let line = if argv.is_empty() { Err(Opaque("its command is empty")) } else { Ok(line) };
            parsed(shell::quote(argv), line)
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
