//! Where a shell stands after a line, for runtimes whose shell lives on from one call to the next.

use crate::class::{self, Call};
use crate::shell::{Join, PlainWord, Word, base, parse_plain};
use crate::subject::{ParsedCommand, Subject};

/// What a call does to the folder that the runtime's shell stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderEffect {
    /// The shell stays where it is, or every call has a shell of its own.
    Stays,
    /// It may go to these folders, one after the other, each seen from the one before.
    MayGo {
        /// The folders as the line names them.
        folders: Vec<String>,
        /// If the line succeeds, it has gone to the first of them, a full path, before anything else.
        certainly: bool,
    },
    /// Nobody knows where it is afterwards.
    Unknown,
}

/// What a call does to the folder of its runtime's shell, whether or not the call is allowed.
pub fn folder_effect(call: &Call<'_>) -> FolderEffect {
    let classified = class::classify(call);
    match &classified.subject {
        Subject::Shell(command) if call.tools.shell_lasts => of_command(command),
        _ => FolderEffect::Stays,
    }
}

fn of_command(command: &ParsedCommand) -> FolderEffect {
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

/// Words that change the folder, or run others that might.
const CHANGES: [&str; 8] = ["cd", "pushd", "popd", "chdir", "source", ".", "eval", "builtin"];

/// A person may allow a line that the parser does not understand; most of those go nowhere.
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
    goes && rest.first().is_none_or(|second| second.join == Join::And)
        && rest.iter().all(|command| matches!(command.join, Join::And | Join::Pipe))
}
