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

use crate::line_parts::{LinePart, RunPart};
use crate::shell::{Join, PlainCommand, PlainWord, parse_plain};
use folders::FolderTracker;

pub(crate) use folders::join as join_folder;

/// The commands of a plain line, each with whether it only reads; `None` if the line is not plain, or if what one of
/// its commands does depends on more than its own words.
pub(crate) fn parse_parts(text: &str) -> Option<Vec<LinePart>> {
    parse_line(text, Shells::One)
}

/// How many more shells the line may start; one inside another is enough.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shells {
    One,
    None,
}

fn parse_line(text: &str, shells: Shells) -> Option<Vec<LinePart>> {
    let mut folders = FolderTracker::default();
    let mut parts = Vec::new();
    for command in parse_plain(text)? {
        let here = folders.before(command.join);
        // What ran before could have put a link where the folder was.
        if command.program == "cd" && command.assignments.is_empty() && parts.iter().all(LinePart::only_reads) {
            folders.change(builtins::cd(&command)?, command.join);
            parts.push(LinePart::Read { git_folders: Vec::new() });
        } else if let Some(git_folders) = read_part(&command, &here, shells) {
            parts.push(LinePart::Read { git_folders });
        } else {
            // What another command prints may be a program to this one.
            if command.join == Join::Pipe {
                return None;
            }
            let words = std::iter::once(command.program.as_str()).chain(literals(&command.args)?);
            let argv = words.map(str::to_owned).collect();
            parts.push(LinePart::Run(RunPart::new(&command.assignments, argv, here)?));
        }
    }
    Some(parts)
}

/// If the command only reads: the folders in which it runs git, where that is what it runs.
fn read_part(command: &PlainCommand, here: &[String], shells: Shells) -> Option<Vec<String>> {
    if !command.assignments.is_empty() {
        return None;
    }
    let below = |folder: &str| here.iter().map(|here| folders::join(here, folder)).collect::<Vec<_>>();
    match command.program.as_str() {
        "git" => Some(below(&git::reads(&command.args)?)),
        "bash" | "sh" if shells == Shells::One && !table::tells_version(&command.program, &command.args) => {
            let [PlainWord::Literal(option), PlainWord::Literal(script)] = command.args.as_slice() else { return None };
            let inner = matches!(option.as_str(), "-c" | "-lc").then(|| parse_line(script, Shells::None))??;
            let reads = inner.iter().all(LinePart::only_reads);
            reads.then(|| inner.iter().flat_map(LinePart::git_folders).flat_map(|folder| below(folder)).collect())
        }
        _ => reads(command).then(Vec::new),
    }
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
