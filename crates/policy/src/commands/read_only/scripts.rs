//! Programs with a language of their own: `sed` and `awk`.

use super::options::{Known, Operands};
use crate::shell::PlainWord;

const SED: Known = Known {
    flags: "nErsuz",
    valued: "e",
    long: "quiet silent regexp-extended expression= separate unbuffered null-data",
    numeric: false,
    operands: Operands::Named,
};

/// `sed` with commands that only choose, change or number what is printed.
pub(super) fn sed(args: &[PlainWord]) -> bool {
    let Some(operands) = SED.operands_of(args) else { return false };
    let mut scripts = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.literal() {
            // `-ne SCRIPT`, but not `-eSCRIPT`, which hides the script among the letters.
            Some(flags) if flags.starts_with('-') && !flags.starts_with("--") && flags.contains('e') => {
                let (true, Some(script)) = (flags.ends_with('e'), words.next().and_then(PlainWord::literal)) else {
                    return false;
                };
                scripts.push(script);
            }
            Some(long) if long.starts_with("--e") => match long.split_once('=') {
                Some((_, script)) => scripts.push(script),
                None => return false,
            },
            _ => {}
        }
    }
    if scripts.is_empty() {
        let Some(script) = operands.first().and_then(|word| word.literal()) else { return false };
        scripts.push(script);
    }
    scripts.into_iter().all(is_harmless_sed)
}

/// Whether a script is nothing but addresses with `p`, `d`, `q` or `=`, and substitutions that print at the most.
fn is_harmless_sed(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', ';']);
        if rest.is_empty() {
            return true;
        }
        let Some(after) = sed_command(rest) else { return false };
        rest = after.trim_start_matches(' ');
        if !(rest.is_empty() || rest.starts_with(';')) {
            return false;
        }
    }
}

/// What follows the first command of a script, if it is a known one.
fn sed_command(script: &str) -> Option<&str> {
    let mut rest = sed_address(script)?;
    if let Some(after) = rest.strip_prefix(',') {
        rest = sed_address(after).filter(|end| end.len() < after.len())?;
    }
    rest = rest.trim_start_matches(' ');
    rest = rest.strip_prefix('!').unwrap_or(rest);
    let command = rest.chars().next()?;
    rest = &rest[command.len_utf8()..];
    match command {
        'p' | 'd' | 'q' | '=' => Some(rest),
        's' => {
            let delimiter = rest.chars().next().filter(|c| matches!(c, '/' | '|' | '#' | ',' | ':'))?;
            let rest = delimited(&rest[1..], delimiter)?;
            let rest = delimited(rest, delimiter)?;
            Some(rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, 'g' | 'p' | 'i' | 'I')))
        }
        _ => None,
    }
}

/// What follows an address: a line's number, `$`, or a pattern between slashes.
fn sed_address(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('$') {
        return Some(rest);
    }
    if let Some(rest) = text.strip_prefix('/') {
        return delimited(rest, '/');
    }
    Some(text.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '~' | '+')))
}

/// What follows a text that ends with this character. Versions differ about one between brackets, so both readings
/// must agree.
fn delimited(text: &str, end: char) -> Option<&str> {
    let mut chars = text.char_indices();
    let mut bracket: Option<usize> = None;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if bracket.is_none() => drop(chars.next()?),
            '\n' => return None,
            '[' if bracket.is_none() => bracket = Some(at),
            // A `]` that comes first, or after `^`, is one of the characters.
            ']' if bracket.is_some_and(|start| at > start + 1 && &text[start + 1..at] != "^") => bracket = None,
            c if c == end => return if bracket.is_none() { Some(&text[at + 1..]) } else { None },
            _ => {}
        }
    }
    None
}

const AWK: Known =
    Known { flags: "", valued: "Fv", long: "field-separator= assign=", numeric: false, operands: Operands::Named };

/// `awk` with a program that can neither start another nor write a file: for that it would need one of these.
pub(super) fn awk(args: &[PlainWord]) -> bool {
    const REACHES_OUT: [&str; 5] = ["system", "getline", "close", "fflush", "include"];
    let Some(operands) = AWK.operands_of(args) else { return false };
    let Some(program) = operands.first().and_then(|word| word.literal()) else { return false };
    // `>=` compares, a `>` alone may write.
    !program.replace(">=", "").contains(['>', '|', '@']) && !REACHES_OUT.iter().any(|word| program.contains(word))
}
