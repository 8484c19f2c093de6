//! A call of git, taken apart: it is most of what agents run, and any of the four classes. What only reads is in
//! `read_only/git.rs`.

use super::Args;
use crate::shell::Word;

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
