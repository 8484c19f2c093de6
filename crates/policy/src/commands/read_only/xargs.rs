//! `xargs` with a program that reads whatever it is given.

use super::options::{KnownOptions, Operands};
use super::table;
use crate::shell::PlainWord;

const XARGS: KnownOptions = KnownOptions {
    flags: "0rtx",
    valued: "nLPsd",
    long: "null no-run-if-empty max-args= max-lines= max-procs= delimiter= verbose",
    numeric: false,
    operands: Operands::Named,
};

/// Whether the program that `xargs` starts only reads, whatever names it is given.
pub(super) fn reads(args: &[PlainWord]) -> bool {
    let mut rest = args;
    let program = loop {
        let Some((PlainWord::Literal(word), after)) = rest.split_first() else { return false };
        if !word.starts_with('-') {
            rest = after;
            break word;
        }
        // An option's value is the next word only if the option is the last of its word.
        let value = after.first().and_then(PlainWord::literal);
        let is_pair = match (word.as_str(), value) {
            ("-I", value) => value == Some("{}"),
            (_, Some(_)) => XARGS.accepts(&rest[..2]),
            (_, None) => false,
        };
        let taken = if XARGS.accepts(&rest[..1]) {
            1
        } else if is_pair {
            2
        } else {
            return false;
        };
        let Some(after) = rest.get(taken..) else { return false };
        rest = after;
    };
    // The names that come in may be those of options.
    let mut all = rest.to_vec();
    all.push(PlainWord::Files("*".to_owned()));
    table::reads(program, &all)
}
