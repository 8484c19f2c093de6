//! Decides which plain lines are read-only: every argument of every command must be in that command's own table.
//!
//! A program may write with an option (`sort -o`), with a second operand (`uniq in out`) or by what its little language
//! says (`sed`'s `w`), and a shell's builtin may change the shell itself (`printf -v PATH`). So nothing here asks
//! whether an argument looks bad; it asks whether the table has it.

mod builtins;
mod find;
mod folders;
mod git;
mod options;
mod scripts;
mod table;
mod xargs;

use crate::shell::{PlainCommand, PlainWord, parse_plain};
use folders::FolderTracker;

pub(crate) use folders::join as join_folder;

/// A read-only line, and the condition for that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReadOnlyLine {
    /// The folders in which git would run, as the line names them; `.` is the shell's current folder. Git runs programs
    /// that a repository's configuration names, so each must belong to the workspace's own repository.
    pub(crate) git_folders: Vec<String>,
}

/// Parses a line; `None` if it might do more than read.
pub(crate) fn parse_read_only(text: &str) -> Option<ReadOnlyLine> {
    parse_line(text, Shells::One)
}

/// How many more shells the line may start; one inside another is enough.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shells {
    One,
    None,
}

fn parse_line(text: &str, shells: Shells) -> Option<ReadOnlyLine> {
    let commands = parse_plain(text)?;
    let mut folders = FolderTracker::default();
    let mut read_only = ReadOnlyLine::default();
    for command in &commands {
        let here = folders.before(command.join);
        match command.program.as_str() {
            "cd" => folders.change(builtins::cd(command)?, command.join),
            "git" => {
                let at = git::reads(&command.args)?;
                read_only.git_folders.extend(here.iter().map(|folder| folders::join(folder, &at)));
            }
            "bash" | "sh" if shells == Shells::One && !table::tells_version(&command.program, &command.args) => {
                let [PlainWord::Literal(option), PlainWord::Literal(script)] = command.args.as_slice() else {
                    return None;
                };
                let inner = matches!(option.as_str(), "-c" | "-lc").then(|| parse_line(script, Shells::None))??;
                let at = |folder: &String| here.iter().map(|here| folders::join(here, folder)).collect::<Vec<_>>();
                read_only.git_folders.extend(inner.git_folders.iter().flat_map(at));
            }
            _ if !reads(command) => return None,
            _ => {}
        }
    }
    read_only.git_folders.sort();
    read_only.git_folders.dedup();
    Some(read_only)
}

fn reads(command: &PlainCommand) -> bool {
    let args = command.args.as_slice();
    match command.program.as_str() {
        "echo" => true,
        "printf" => builtins::printf(args),
        "test" => builtins::test(args),
        "[" => matches!(args.split_last(), Some((last, args)) if last.literal() == Some("]") && builtins::test(args)),
        "command" => builtins::command(args),
        "find" => find::reads(args),
        "sed" => scripts::sed(args),
        "awk" | "gawk" | "mawk" => scripts::awk(args),
        "date" => table::date(args),
        "xargs" => xargs::reads(args),
        program => table::reads(program, args) || table::tells_version(program, args),
    }
}

/// The words as text; `None` if one of them is not literal.
fn literals(args: &[PlainWord]) -> Option<Vec<&str>> {
    args.iter().map(PlainWord::literal).collect()
}
