//! Classifies shell commands. A command that is in no table is a `Write`: it runs something, but nothing worse is
//! known.

mod dangerous;
mod git;
mod network;
mod read_only;

pub(crate) use read_only::{join_folder, parse_parts};

use crate::class::{Classes, ToolClass};
use crate::shell::{ReachedCommand, Redirect, ShellLine, SimpleCommand, Word, base};

/// The classes of everything that a line runs, if it is not read-only.
pub(crate) fn line_classes(line: &ShellLine) -> Classes {
    let mut classes = Classes::from(ToolClass::ReadOnly);
    classes.add(ToolClass::Write);
    line.reach(&mut |reached| match reached {
        ReachedCommand::Command(command) => classes.add(command_classes(command)),
        ReachedCommand::Behind { argv, fed, for_many } => classes.add(classes_behind(argv, fed, for_many)),
        ReachedCommand::Opaque(_) => classes.add(Classes::ANYTHING),
    });
    classes
}

fn command_classes(command: &SimpleCommand) -> Classes {
    let mut classes = Classes::from(ToolClass::Write);
    if command.redirects.iter().any(writes_to_a_device) {
        classes.add(ToolClass::Dangerous);
    }
    let Some(program) = command.argv.first() else { return classes };
    let Some(program) = program.literal() else { return Classes::ANYTHING };
    let args = Args(&command.argv[1..]);
    let name = base(program);
    if network::matches(name, args) {
        classes.add(ToolClass::Network);
    }
    if (command.is_fed() && dangerous::runs_its_input(name, args)) || dangerous::matches(name, args) {
        classes.add(ToolClass::Dangerous);
    }
    classes
}

/// The classes of the program that might begin at some argument of another program.
fn classes_behind(argv: &[Word], fed: bool, for_many: bool) -> Classes {
    match &argv[0] {
        Word::Dynamic => Classes::ANYTHING,
        Word::Pattern(_) => ToolClass::Write.into(),
        Word::Literal(program) => {
            let mut classes =
                command_classes(&SimpleCommand { argv: argv.to_vec(), piped: fed, ..SimpleCommand::default() });
            // One file that goes is a write; every file that is found is not.
            if for_many && ["rm", "unlink", "rmdir", "truncate"].contains(&base(program)) {
                classes.add(ToolClass::Dangerous);
            }
            classes
        }
    }
}

fn writes_to_a_device(redirect: &Redirect) -> bool {
    let harmless = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];
    let device = |target: &str| target.starts_with("/dev/") && !harmless.contains(&target);
    redirect.writes && redirect.target.literal().is_some_and(device)
}

/// A program's arguments. The methods only see those that are literal.
#[derive(Clone, Copy)]
struct Args<'a>(&'a [Word]);

impl<'a> Args<'a> {
    fn certain(self) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter_map(Word::literal)
    }

    fn has(self, word: &str) -> bool {
        self.certain().any(|arg| arg == word)
    }

    /// Whether a one-letter option is there, alone or among others (`-rf`).
    fn has_short(self, letters: &str) -> bool {
        self.certain()
            .any(|arg| arg.starts_with('-') && !arg.starts_with("--") && arg[1..].contains(|c| letters.contains(c)))
    }

    /// Whether a long option may be there; programs accept any beginning of it.
    fn has_long(self, options: &[&str]) -> bool {
        self.certain().any(|arg| {
            let name = arg.split('=').next().unwrap_or(arg);
            let long = name.starts_with("--") && name.len() > 2;
            long && options.iter().any(|option| option.starts_with(name) || name.starts_with(option))
        })
    }
}
