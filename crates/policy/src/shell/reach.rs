//! Finds every command that a line may run, also those behind `sh -c`, `env`, `xargs`, `sudo`, ….

use super::{ShellLine, SimpleCommand, Word, parse};

/// How many levels of shells inside shells are followed.
const DEEPEST: usize = 4;

/// Programs that run another program, or a shell line, from their arguments. Any argument may be where it begins.
#[rustfmt::skip]
const RUNNERS: [&str; 89] = [
    "arch", "builtin", "bundle", "bunx", "busybox", "bwrap", "caffeinate", "catchsegv", "chronic", "chroot", "chrt",
    "concurrently", "cross-env", "dbus-run-session", "direnv", "doas", "dotenv", "dumb-init", "entr", "env", "exec",
    "expect", "fakeroot", "firejail", "flock", "gdb", "gosu", "hyperfine", "ionice", "ld-linux-x86-64.so.2",
    "linux32", "linux64", "ltrace", "mise", "nice", "nix-shell", "nocorrect", "nodemon", "noglob", "nohup", "npm",
    "npx", "nsenter", "numactl", "op", "parallel", "perf", "pipx", "pkexec", "pnpm", "poetry", "prlimit", "proot",
    "repeat", "rlwrap", "run0", "runuser", "rush", "screen", "script", "sem", "setarch", "setpriv", "setsid", "sg",
    "ssh", "start-stop-daemon", "stdbuf", "strace", "su", "su-exec", "sudo", "systemd-run", "taskset", "time",
    "timeout", "tini", "tmux", "toybox", "unbuffer", "unshare", "uv", "uvx", "valgrind", "watch", "watchexec",
    "xargs", "xvfb-run", "yarn",
];

/// Those of them that hand a whole argument to a shell.
const LINE_RUNNERS: [&str; 21] = [
    "concurrently",
    "entr",
    "env",
    "expect",
    "flock",
    "git",
    "hyperfine",
    "nix-shell",
    "nodemon",
    "npm",
    "npx",
    "parallel",
    "runuser",
    "screen",
    "script",
    "sg",
    "ssh",
    "su",
    "tmux",
    "watch",
    "watchexec",
];

/// Shells that take a line as an argument.
const SHELLS: [&str; 16] = [
    "sh", "bash", "dash", "zsh", "ksh", "ash", "fish", "tcsh", "csh", "mksh", "yash", "rbash", "posh", "oksh", "nu",
    "pwsh",
];

/// Something that a line may run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReachedCommand<'a> {
    /// A command of the line, or of a line inside it.
    Command(&'a SimpleCommand),
    /// The rest of the arguments of a program that runs others, from an argument where another program might begin.
    Behind {
        /// Never empty; the first word might be the program.
        argv: &'a [Word],
        /// The program's input comes from another command or from the line itself.
        fed: bool,
        /// The program runs for every file that is found, or that its input names.
        for_many: bool,
    },
    /// A line inside the line that is not understood, with its text where it is known.
    Opaque(&'a str),
}

impl ShellLine {
    /// Calls `see` with every command that the line may run.
    pub(crate) fn reach(&self, see: &mut dyn FnMut(ReachedCommand<'_>)) {
        reach(self, 0, see);
    }
}

fn reach(line: &ShellLine, depth: usize, see: &mut dyn FnMut(ReachedCommand<'_>)) {
    for command in &line.commands {
        see(ReachedCommand::Command(command));
        let Some(program) = command.argv.first().and_then(Word::literal).map(base) else { continue };
        let runs = match program {
            "find" => command.argv.iter().any(finds_and_runs),
            "command" => !matches!(command.argv.get(1).and_then(Word::literal), Some("-v" | "-V")),
            "git" => command.argv.iter().any(git_runs),
            "fd" | "fdfind" => command.argv.iter().any(fd_runs),
            _ => RUNNERS.contains(&program),
        };
        if runs {
            let fed = command.is_fed();
            let for_many = ["find", "xargs", "parallel", "fd", "fdfind"].contains(&program);
            for at in 1..command.argv.len() {
                see(ReachedCommand::Behind { argv: &command.argv[at..], fed, for_many });
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
fn line_in(word: &Word, depth: usize, see: &mut dyn FnMut(ReachedCommand<'_>)) {
    let Some(text) = word.literal() else { return };
    let line = match text.strip_prefix("-S") {
        Some(attached) => attached,
        None if text.starts_with('-') => text.split_once('=').map_or("", |(_, value)| value),
        None => text,
    };
    if line.contains(|c: char| !c.is_ascii_alphanumeric() && !"-_./:@".contains(c)) {
        follow(line, depth, see);
    } else if line.len() < text.len() && !line.is_empty() {
        see(ReachedCommand::Behind { argv: &[Word::Literal(line.to_owned())], fed: false, for_many: false });
    }
}

/// The line that a shell or `eval` is given.
fn inner(argv: &[Word], depth: usize, see: &mut dyn FnMut(ReachedCommand<'_>)) {
    let Some(program) = argv.first().and_then(Word::literal).map(base) else { return };
    let script = if program == "eval" {
        argv[1..].iter().map(Word::literal).collect::<Option<Vec<_>>>().map(|words| words.join(" "))
    } else if is_shell(program) {
        let Some(at) = argv.iter().position(takes_a_line) else { return };
        argv.get(at + 1).and_then(Word::literal).map(str::to_owned)
    } else {
        return;
    };
    match script {
        None => see(ReachedCommand::Opaque("")),
        Some(script) => follow(&script, depth, see),
    }
}

fn follow(script: &str, depth: usize, see: &mut dyn FnMut(ReachedCommand<'_>)) {
    match parse(script) {
        Ok(line) if depth < DEEPEST => reach(&line, depth + 1, see),
        _ => see(ReachedCommand::Opaque(script)),
    }
}

fn takes_a_line(word: &Word) -> bool {
    word.literal().is_some_and(|flag| flag.starts_with('-') && !flag.starts_with("--") && flag.contains('c'))
}

fn finds_and_runs(word: &Word) -> bool {
    word.literal().is_some_and(|flag| flag.starts_with("-exec") || flag.starts_with("-ok"))
}

fn fd_runs(word: &Word) -> bool {
    word.literal()
        .is_some_and(|flag| flag.starts_with("--exec") || (flag.starts_with('-') && flag.contains(['x', 'X'])))
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

/// Whether this is a shell, of whatever version (`bash5`, `ksh93`).
pub(crate) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&without_version(program))
}

/// A program's name without the version behind it.
pub(crate) fn without_version(program: &str) -> &str {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    if name.is_empty() { program } else { name }
}
