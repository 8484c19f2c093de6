//! Every command that a line may run, those behind `sh -c`, `env`, `xargs`, `sudo`, … included.

use super::{Line, Simple, Word, parse};

/// How many shells inside shells are followed.
const DEEPEST: usize = 4;

/// Programs that run the program named in their arguments, or a line that one of them is; where it begins there is
/// not worth knowing.
const RUNNERS: [&str; 55] = [
    "builtin",
    "busybox",
    "bwrap",
    "caffeinate",
    "catchsegv",
    "chroot",
    "chrt",
    "dbus-run-session",
    "doas",
    "entr",
    "env",
    "exec",
    "expect",
    "fakeroot",
    "firejail",
    "flock",
    "gdb",
    "hyperfine",
    "ionice",
    "linux32",
    "linux64",
    "ltrace",
    "nice",
    "nohup",
    "nsenter",
    "numactl",
    "parallel",
    "perf",
    "pkexec",
    "prlimit",
    "proot",
    "rlwrap",
    "runuser",
    "screen",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "sg",
    "ssh",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "tmux",
    "toybox",
    "unbuffer",
    "unshare",
    "valgrind",
    "watch",
    "xargs",
];

/// Those of them that hand a whole argument to a shell.
const LINE_RUNNERS: [&str; 14] = [
    "expect",
    "flock",
    "git",
    "hyperfine",
    "parallel",
    "runuser",
    "screen",
    "script",
    "sg",
    "ssh",
    "su",
    "tmux",
    "watch",
    "entr",
];

/// Shells that take a line as an argument.
pub(crate) const SHELLS: [&str; 16] = [
    "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "tcsh", "csh", "mksh", "yash", "rbash", "posh", "oksh", "nu",
    "pwsh",
];

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
            "git" => command.argv.iter().any(git_runs),
            _ => RUNNERS.contains(&program),
        };
        if runs {
            for at in 1..command.argv.len() {
                see(Reached::Behind(&command.argv[at..]));
                inner(&command.argv[at..], depth, see);
                if LINE_RUNNERS.contains(&program) {
                    line_in(&command.argv[at], depth, see);
                }
            }
        }
        inner(&command.argv, depth, see);
    }
}

/// A line that is one argument (`script -c 'a b'`, `rebase --exec='a b'`).
fn line_in(word: &Word, depth: usize, see: &mut dyn FnMut(Reached<'_>)) {
    let Some(text) = word.literal() else { return };
    let line = if text.starts_with('-') { text.split_once('=').map_or("", |(_, value)| value) } else { text };
    if line.contains(|c: char| !c.is_ascii_alphanumeric() && !"-_./:@".contains(c)) {
        follow(line, depth, see);
    } else if line.len() < text.len() && !line.is_empty() {
        see(Reached::Behind(&[Word::Literal(line.to_owned())]));
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
        Some(script) => follow(&script, depth, see),
    }
}

fn follow(script: &str, depth: usize, see: &mut dyn FnMut(Reached<'_>)) {
    match parse(script) {
        Ok(line) if depth < DEEPEST => reach(&line, depth + 1, see),
        _ => see(Reached::Opaque(script)),
    }
}

fn takes_a_line(word: &Word) -> bool {
    word.literal().is_some_and(|flag| flag.starts_with('-') && !flag.starts_with("--") && flag.contains('c'))
}

fn finds_and_runs(word: &Word) -> bool {
    word.literal().is_some_and(|flag| flag.starts_with("-exec") || flag.starts_with("-ok"))
}

/// Words of git that run what follows them.
fn git_runs(word: &Word) -> bool {
    let runs = ["foreach", "run", "-x", "--extcmd", "--tree-filter", "--index-filter", "--msg-filter", "--env-filter"];
    word.literal().is_some_and(|word| {
        let name = word.split('=').next().unwrap_or(word);
        // Git accepts any beginning of a long option.
        runs.contains(&name)
            || (name.len() > 3 && "--exec".starts_with(name))
            || (name.len() > 4 && "--extcmd".starts_with(name))
    })
}

/// The program's name without its folder.
pub(crate) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
