//! Which plain lines only read: every argument of every command must be known to that command's own table.
//!
//! A program may write with an option (`sort -o`), with a second operand (`uniq in out`) or by what its little language
//! says (`sed`'s `w`), and a shell's builtin may change the shell itself (`printf -v PATH`). So nothing here asks whether
//! an argument looks bad; it asks whether the table has it.

mod builtins;
mod find;
mod folders;
mod git;
mod options;
mod scripts;
mod table;
mod xargs;

use crate::shell::{PlainCommand, PlainWord, parse_plain};
use folders::Folders;

pub(crate) use folders::join as join_folder;

/// A line that only reads, and what that depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The folders in which git would run, as the line names them; `.` is where the shell stands. Git runs what the
    /// configuration of a repository says, so each must belong to the workspace's own.
    pub(crate) git_folders: Vec<String>,
}

/// What a line reads, if it only reads.
pub(crate) fn reading(text: &str) -> Option<Reading> {
    of_line(text, Shells::One)
}

/// Whether a line may be given to a further shell; one inside another is enough.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shells {
    One,
    None,
}

fn of_line(text: &str, shells: Shells) -> Option<Reading> {
    let commands = parse_plain(text)?;
    let mut folders = Folders::default();
    let mut reading = Reading::default();
    for command in &commands {
        let here = folders.before(command.join);
        match command.program.as_str() {
            "cd" => folders.change(builtins::cd(command)?, command.join),
            "git" => {
                let at = git::reads(&command.args)?;
                reading.git_folders.extend(here.iter().map(|folder| folders::join(folder, &at)));
            }
            "bash" | "sh" if shells == Shells::One && !table::tells_version(&command.program, &command.args) => {
                let [PlainWord::Literal(option), PlainWord::Literal(script)] = command.args.as_slice() else {
                    return None;
                };
                let inner = matches!(option.as_str(), "-c" | "-lc").then(|| of_line(script, Shells::None))??;
                let at = |folder: &String| here.iter().map(|here| folders::join(here, folder)).collect::<Vec<_>>();
                reading.git_folders.extend(inner.git_folders.iter().flat_map(at));
            }
            _ if !reads(command) => return None,
            _ => {}
        }
    }
    reading.git_folders.sort();
    reading.git_folders.dedup();
    Some(reading)
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

/// The words as text, if all are certain.
fn literals(args: &[PlainWord]) -> Option<Vec<&str>> {
    args.iter().map(PlainWord::literal).collect()
}
