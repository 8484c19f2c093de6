//! What git does: it is most of what agents run, and any of the four classes.

use super::Args;
use crate::shell::Word;

/// Commands that only read, with almost any option.
const READS: [&str; 24] = [
    "blame",
    "cat-file",
    "check-ignore",
    "cherry",
    "count-objects",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "for-each-ref",
    "grep",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "name-rev",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "show-ref",
    "status",
    "whatchanged",
];

/// Options that make a reading command write a file or run a program; git accepts any beginning of them.
const BUT_NOT: [&str; 4] = ["--output", "--ext-diff", "--open-files-in-pager", "--exec"];

/// Whether git with these arguments changes nothing.
pub(super) fn only_reads(args: &[&str]) -> bool {
    let args = if let ["--no-pager" | "-P", rest @ ..] = args { rest } else { args };
    let among = |allowed: &[&str], args: &[&str]| args.iter().all(|arg| allowed.contains(arg));
    match args {
        [command, args @ ..] if READS.contains(command) => !args.iter().any(|arg| {
            let name = arg.split('=').next().unwrap_or(arg);
            let long = name.starts_with("--") && name.len() > 2;
            let short = arg.starts_with('-') && !arg.starts_with("--");
            (short && arg.contains('O'))
                || (long && BUT_NOT.iter().any(|bad| bad.starts_with(name) || name.starts_with(bad)))
        }),
        ["branch", args @ ..] => {
            among(&["-a", "-r", "-v", "-vv", "--all", "--list", "--remotes", "--show-current"], args)
        }
        ["tag", args @ ..] => among(&["-l", "--list", "-n"], args),
        ["remote", args @ ..] => among(&["-v", "--verbose"], args) || matches!(args, ["get-url", _]),
        ["stash", "list" | "show"] | ["worktree", "list"] | ["reflog"] => true,
        ["config", "--get" | "--get-all", _] | ["config", "--list" | "-l"] => true,
        _ => false,
    }
}

/// A call of git, taken apart.
pub(super) struct Parts<'a> {
    /// It is told to run something else than the repository's configuration says.
    pub(super) reconfigured: bool,
    /// The command.
    pub(super) command: &'a str,
    /// What follows the command.
    pub(super) rest: &'a [Word],
}

/// Takes git's arguments apart; an argument that is not certain is a command that nobody knows.
pub(super) fn parts<'a>(args: Args<'a>) -> Parts<'a> {
    let mut reconfigured = false;
    let mut at = 0;
    while let Some(arg) = args.0.get(at) {
        let arg = arg.literal().unwrap_or("");
        match arg {
            "-C" | "--git-dir" | "--work-tree" | "--namespace" => at += 1,
            "-c" => {
                reconfigured = true;
                at += 1;
            }
            option if option.starts_with('-') => {
                reconfigured |= option.starts_with("--config") || option.starts_with("--exec-path=");
            }
            command => return Parts { reconfigured, command, rest: &args.0[at + 1..] },
        }
        at += 1;
    }
    Parts { reconfigured, command: "help", rest: &[] }
}
