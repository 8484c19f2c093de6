//! Every command that a line may run, those behind `sh -c`, `env`, `xargs`, `sudo`, … included.

use super::{Line, Simple, Word, parse};

/// How many shells inside shells are followed.
const DEEPEST: usize = 4;

/// Programs that run the program named in their arguments; where it begins there is not worth knowing.
const RUNNERS: [&str; 28] = [
    "builtin",
    "busybox",
    "caffeinate",
    "chroot",
    "doas",
    "env",
    "exec",
    "flock",
    "ionice",
    "ltrace",
    "nice",
    "nohup",
    "nsenter",
    "parallel",
    "pkexec",
    "setsid",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "time",
    "timeout",
    "toybox",
    "unshare",
    "watch",
    "xargs",
];

/// Shells that take a line as an argument.
pub(crate) const SHELLS: [&str; 7] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "fish"];

/// Something that a line may run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reached<'a> {
    /// A command of the line, or of a line inside it.
    Command(&'a Simple),
    /// Arguments of a program that runs another, from a place where that other one might begin.
    Behind(&'a [Word]),
    /// A line inside the line that is not understood, with its text where it is known.
    Opaque(&'a str),
}

impl Line {
    /// Shows every command that the line may run.
    pub(crate) fn reach(&self, see: &mut dyn FnMut(Reached<'_>)) {
        reach(self, 0, see);
    }
}

fn reach(line: &Line, depth: usize, see: &mut dyn FnMut(Reached<'_>)) {
    for command in &line.commands {
        see(Reached::Command(command));
        let Some(program) = command.argv.first().and_then(Word::literal).map(base) else { continue };
        let runs = match program {
            "find" => command.argv.iter().any(finds_and_runs),
            "command" => !matches!(command.argv.get(1).and_then(Word::literal), Some("-v" | "-V")),
            _ => RUNNERS.contains(&program),
        };
        if runs {
            for at in 1..command.argv.len() {
                see(Reached::Behind(&command.argv[at..]));
                inner(&command.argv[at..], depth, see);
            }
        }
        inner(&command.argv, depth, see);
    }
}

/// The line that a shell or `eval` is given.
fn inner(argv: &[Word], depth: usize, see: &mut dyn FnMut(Reached<'_>)) {
    let Some(program) = argv.first().and_then(Word::literal).map(base) else { return };
    let script = if program == "eval" {
        argv[1..].iter().map(Word::literal).collect::<Option<Vec<_>>>().map(|words| words.join(" "))
    } else if SHELLS.contains(&program) {
        let Some(at) = argv.iter().position(takes_a_line) else { return };
        argv.get(at + 1).and_then(Word::literal).map(str::to_owned)
    } else {
        return;
    };
    match script {
        None => see(Reached::Opaque("")),
        Some(script) if depth == DEEPEST => see(Reached::Opaque(&script)),
        Some(script) => match parse(&script) {
            Ok(line) => reach(&line, depth + 1, see),
            Err(_) => see(Reached::Opaque(&script)),
        },
    }
}

fn takes_a_line(word: &Word) -> bool {
    word.literal().is_some_and(|flag| flag.starts_with('-') && !flag.starts_with("--") && flag.contains('c'))
}

fn finds_and_runs(word: &Word) -> bool {
    word.literal().is_some_and(|flag| flag.starts_with("-exec") || flag.starts_with("-ok"))
}

/// The program's name without its folder.
pub(crate) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
