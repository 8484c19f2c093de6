//! Builtins of the shell, which could change the shell itself.

use super::literals;
use crate::shell::{PlainCommand, PlainWord};

/// The folder that `cd` goes to; only one that is named in full, from a command that is no process of its own.
pub(super) fn cd(command: &PlainCommand) -> Option<&str> {
    let [PlainWord::Literal(folder)] = command.args.as_slice() else { return None };
    // What `..` means after a link depends on the shell's settings.
    let certain = !folder.is_empty() && !folder.starts_with(['-', '+']) && !folder.split('/').any(|part| part == "..");
    (certain && !command.in_pipeline).then_some(folder)
}

/// `printf FORMAT WORD…`; `-v` and `%n` set variables, and zsh calculates what `%d` is given.
pub(super) fn printf(args: &[PlainWord]) -> bool {
    let Some((format, words)) = args.split_first() else { return false };
    let Some(format) = format.literal().filter(|format| !format.starts_with('-')) else { return false };
    let mut parts = format.split('%');
    parts.next();
    let mut numbers = false;
    while let Some(part) = parts.next() {
        // `%%` leaves an empty part; what follows it is text.
        if part.is_empty() {
            if parts.next().is_none() {
                return false;
            }
            continue;
        }
        let directive = part.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
        match directive.chars().next() {
            Some('s' | 'b' | 'q') => {}
            Some('d' | 'i' | 'u' | 'x' | 'o') => numbers = true,
            _ => return false,
        }
    }
    let is_number =
        |word: &PlainWord| word.literal().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    words.iter().all(|word| matches!(word, PlainWord::Literal(_))) && (!numbers || words.iter().all(is_number))
}

/// `test` about a file or a text; bash calculates what `-v` and its like are given.
pub(super) fn test(args: &[PlainWord]) -> bool {
    let Some(args) = literals(args) else { return false };
    let args = if let ["!", args @ ..] = args.as_slice() { args } else { &args };
    match args {
        [operator, word] => {
            let files = ["-e", "-f", "-d", "-L", "-h", "-r", "-w", "-x", "-s", "-S", "-p", "-b", "-c", "-z", "-n"];
            files.contains(operator) && !word.is_empty()
        }
        [_, "=" | "!=", _] => true,
        _ => false,
    }
}

/// `command -v NAME…` tells where a program is; without it, the program would run.
pub(super) fn command(args: &[PlainWord]) -> bool {
    let Some(args) = literals(args) else { return false };
    matches!(args.as_slice(), ["-v" | "-V", names @ ..] if !names.is_empty() && !names.iter().any(|name| name.starts_with('-')))
}
