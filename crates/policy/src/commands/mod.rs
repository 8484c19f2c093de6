//! What well-known commands do. A command that no table knows is a `Write`: it runs, but nothing worse is known of it.

mod dangerous;
mod git;
mod network;
mod read_only;

use crate::class::{Classes, ToolClass};
use crate::shell::{Line, Reached, Redirect, Simple, Word, base};

/// The classes of everything that a line runs.
pub(crate) fn classes_of(line: &Line) -> Classes {
    let mut classes = Classes::from(ToolClass::ReadOnly);
    if line.substitution || line.background || enters_another_repository(line) {
        classes.add(ToolClass::Write);
    }
    line.reach(&mut |reached| match reached {
        Reached::Command(command) => classes.add(of_command(command)),
        Reached::Behind(argv) => classes.add(behind(argv)),
        Reached::Opaque(_) => classes.add(Classes::ANYTHING),
    });
    classes
}

/// Git runs what the configuration of the repository says, so reading another one is not only reading.
fn enters_another_repository(line: &Line) -> bool {
    let runs = |name| line.commands.iter().any(|command| command.argv.first().and_then(Word::literal) == Some(name));
    runs("cd") && runs("git")
}

fn of_command(command: &Simple) -> Classes {
    let Some(program) = command.argv.first() else {
        return if command.redirects.iter().any(writes_to_a_device) { ToolClass::Dangerous } else { ToolClass::Write }
            .into();
    };
    let Some(program) = program.literal() else { return Classes::ANYTHING };
    let args = Args(&command.argv[1..]);
    let name = base(program);
    let bare = command.redirects.is_empty() && !command.assigns;
    if bare && read_only::matches(program, args) && !dangerous::matches(name, args) {
        return ToolClass::ReadOnly.into();
    }
    let mut classes = Classes::from(ToolClass::Write);
    if network::matches(name, args) {
        classes = ToolClass::Network.into();
    }
    let runs_input = command.piped && dangerous::runs_its_input(name, args);
    if runs_input || dangerous::matches(name, args) || command.redirects.iter().any(writes_to_a_device) {
        classes.add(ToolClass::Dangerous);
    }
    classes
}

/// What might begin at some argument of a program that runs others.
fn behind(argv: &[Word]) -> Classes {
    match &argv[0] {
        Word::Dynamic => Classes::ANYTHING,
        Word::Pattern(_) => ToolClass::Write.into(),
        Word::Literal(_) => {
            let mut classes = of_command(&Simple { argv: argv.to_vec(), ..Simple::default() });
            classes.add(ToolClass::Write);
            classes
        }
    }
}

fn writes_to_a_device(redirect: &Redirect) -> bool {
    let harmless = ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];
    let device = |target: &str| target.starts_with("/dev/") && !harmless.contains(&target);
    redirect.writes && redirect.target.literal().is_some_and(device)
}

/// A program's arguments; those that are not certain have no text.
#[derive(Clone, Copy)]
struct Args<'a>(&'a [Word]);

impl<'a> Args<'a> {
    fn certain(self) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter_map(Word::literal)
    }

    /// All of them, if all are certain.
    fn all(self) -> Option<Vec<&'a str>> {
        self.0.iter().map(Word::literal).collect()
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
