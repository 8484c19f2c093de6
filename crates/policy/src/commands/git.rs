//! Parses git's arguments. Git is most of what agents run, and its commands have all four classes; the read-only ones
//! are in `read_only/git.rs`.

use super::Args;
use crate::shell::Word;

/// The parsed arguments of git.
pub(super) struct GitCall<'a> {
    /// An option overrides the configuration (`-c`, `--exec-path=`), which may name programs to run.
    pub(super) reconfigured: bool,
    /// The subcommand, such as `status`; empty if it is not certain.
    pub(super) command: &'a str,
    /// The arguments after the subcommand.
    pub(super) rest: &'a [Word],
}

/// Parses git's arguments. An uncertain word in the place of the subcommand is an unknown subcommand.
pub(super) fn parse<'a>(args: Args<'a>) -> GitCall<'a> {
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
            command => return GitCall { reconfigured, command, rest: &args.0[at + 1..] },
        }
        at += 1;
    }
    GitCall { reconfigured, command: "help", rest: &[] }
}
