//! Where a shell stands after a line, for runtimes whose shell lives on from one call to the next.

use crate::class::Call;
use crate::shell::{Line, Word, base};
use crate::subject::{ParsedCommand, Subject};
use crate::{class, tools};

/// What a call does to the folder that the runtime's shell stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderEffect {
    /// The shell stays where it is, or every call has a shell of its own.
    Stays,
    /// It may go to these folders, one after the other, each seen from the one before.
    MayGo {
        /// The folders as the line names them.
        folders: Vec<String>,
        /// The line begins with the first of them, so the shell is there for certain if that folder exists.
        begins_with_it: bool,
    },
    /// Nobody knows where it is afterwards.
    Unknown,
}

/// What a call does to the folder of its runtime's shell, whether or not the call is allowed.
pub fn folder_effect(call: &Call<'_>) -> FolderEffect {
    let classified = class::classify(call);
    match &classified.subject {
        Subject::Shell(command) if tools::keeps_folder(call.runtime) => of_command(command),
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
        match (program, &simple.argv[1..]) {
            ("cd" | "pushd", [Word::Literal(folder)]) if is_certain(folder) => folders.push(folder.clone()),
            ("cd" | "pushd" | "popd" | "source" | "." | "eval" | "builtin" | "command", args) => {
                let only_asks = matches!(args, [Word::Literal(option), ..] if program == "command" && option == "-v");
                if !only_asks {
                    return FolderEffect::Unknown;
                }
            }
            _ => {}
        }
    }
    if folders.is_empty() {
        return FolderEffect::Stays;
    }
    FolderEffect::MayGo { begins_with_it: begins_with_change(line), folders }
}

/// A person may allow a line that the parser does not understand; most of those go nowhere.
fn mentions_a_change(text: &str) -> bool {
    let bare = text.replace(['\'', '"', '\\'], "");
    let words = bare.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.');
    words.into_iter().any(|word| ["cd", "pushd", "popd", "source", "eval", "builtin", "."].contains(&word))
}

fn is_certain(folder: &str) -> bool {
    !folder.is_empty() && !folder.starts_with('-') && !folder.split('/').any(|part| part == "..")
}

fn begins_with_change(line: &Line) -> bool {
    let first = line.commands.first().filter(|first| !first.piped && !line.structured && !line.pipeline);
    first.and_then(|first| first.argv.first()).and_then(Word::literal) == Some("cd")
}
