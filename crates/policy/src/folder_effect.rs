//! How a call changes the current folder of the shell, for runtimes that keep one shell for all calls.

use crate::class::{self, Call};
use crate::shell::{Join, PlainWord, Word, base, parse_plain};
use crate::subject::{ParsedCommand, Subject};

/// The effect of a call on the current folder of the runtime's shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderEffect {
    /// The folder does not change, or every call has a shell of its own.
    Stays,
    /// The shell may go to these folders one after the other, each relative to the one before.
    MayGo {
        /// The folders as the line names them.
        folders: Vec<String>,
        /// If the line succeeds, its first command was a `cd` to an absolute path, the first of `folders`.
        certainly: bool,
    },
    /// The shell may be anywhere afterwards.
    Unknown,
}

/// The effect that a call would have on the current folder of its runtime's shell, if it ran.
pub fn folder_effect(call: &Call<'_>) -> FolderEffect {
    let classified = class::classify(call);
    match &classified.subject {
        Subject::Shell(command) if call.tools.shell_lasts => command_effect(command),
        _ => FolderEffect::Stays,
    }
}

fn command_effect(command: &ParsedCommand) -> FolderEffect {
    let Ok(line) = &command.line else {
        return if mentions_a_change(&command.text) { FolderEffect::Unknown } else { FolderEffect::Stays };
    };
    let mut folders = Vec::new();
    for simple in &line.commands {
        let Some(program) = simple.argv.first() else { continue };
        let Some(program) = program.literal().map(base) else { return FolderEffect::Unknown };
        let args = &simple.argv[1..];
        match program {
            "cd" | "pushd" | "chdir" => match args {
                [Word::Literal(folder)] if is_certain(folder) => folders.push(folder.clone()),
                _ => return FolderEffect::Unknown,
            },
            "popd" | "source" | "." | "eval" => return FolderEffect::Unknown,
            // These run a builtin of the shell itself.
            "builtin" | "command" | "exec" | "time" | "noglob" | "nocorrect" | "repeat" | "-"
                if args.iter().any(|word| word.literal().is_none_or(|word| CHANGES.contains(&word))) =>
            {
                return FolderEffect::Unknown;
            }
            _ => {}
        }
    }
    if folders.is_empty() {
        return FolderEffect::Stays;
    }
    FolderEffect::MayGo { certainly: goes_certainly(&command.text), folders }
}

/// Commands that change the folder, or run others that might.
const CHANGES: [&str; 8] = ["cd", "pushd", "popd", "chdir", "source", ".", "eval", "builtin"];

/// Whether a line that the parser does not understand mentions a command that changes the folder. A person may allow
/// such a line, and most of them stay in the folder.
fn mentions_a_change(text: &str) -> bool {
    let bare = text.replace(['\'', '"', '\\'], "");
    let words = bare.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
    words.into_iter().any(|word| CHANGES.contains(&word))
}

fn is_certain(folder: &str) -> bool {
    !folder.is_empty() && !folder.starts_with(['-', '+']) && !folder.split('/').any(|part| part == "..")
}

/// Whether a line can only succeed if its first command, a `cd` to a full path, did.
fn goes_certainly(text: &str) -> bool {
    let Some(commands) = parse_plain(text) else { return false };
    let Some((first, rest)) = commands.split_first() else { return false };
    let goes =
        first.program == "cd" && matches!(first.args.as_slice(), [PlainWord::Literal(to)] if to.starts_with('/'));
    goes && first.assignments.is_empty()
        && rest.first().is_none_or(|second| second.join == Join::And)
        && rest.iter().all(|command| matches!(command.join, Join::And | Join::Pipe))
}
