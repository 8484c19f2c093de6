//! Programs with a language of their own: `sed` and `awk`.

use super::options::{KnownOptions, Operands};
use crate::shell::PlainWord;

/// `sed` with commands that only choose, change or number what is printed. Options come first, because some systems
/// take one behind a file for a file.
pub(super) fn sed(args: &[PlainWord]) -> bool {
    const LONG: [&str; 6] = ["--quiet", "--silent", "--regexp-extended", "--separate", "--unbuffered", "--null-data"];
    let mut scripts = Vec::new();
    let mut rest = args;
    while let Some((PlainWord::Literal(word), after)) = rest.split_first() {
        if !word.starts_with('-') || word == "-" {
            break;
        }
        rest = after;
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else {
            match word.strip_prefix("--expression=") {
                Some(script) => scripts.push(script),
                None if LONG.contains(&word.as_str()) => {}
                None => return false,
            }
            continue;
        };
        // What follows an `e` in its word is the script.
        let (flags, takes_script) = letters.strip_suffix('e').map_or((letters, false), |flags| (flags, true));
        if !flags.chars().all(|flag| "nErsuz".contains(flag)) {
            return false;
        }
        if takes_script {
            let Some((PlainWord::Literal(script), after)) = rest.split_first() else { return false };
            scripts.push(script);
            rest = after;
        }
    }
    if scripts.is_empty() {
        let Some((PlainWord::Literal(script), after)) = rest.split_first() else { return false };
        scripts.push(script);
        rest = after;
    }
    scripts.into_iter().all(is_harmless_sed) && rest.iter().all(is_file)
}

/// Whether a word can only be the name of a file.
fn is_file(word: &PlainWord) -> bool {
    word.literal() == Some("-") || !word.may_be_option()
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

/// What follows a text that ends with this character. Versions differ about one between brackets, and about classes of
/// characters there, so whatever two of them could read differently is refused.
fn delimited(text: &str, end: char) -> Option<&str> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()?),
            '\n' => return None,
            '[' => {
                let inside = bracket(&text[at + 1..])?;
                if inside.contains([end, '\\', '\n']) {
                    return None;
                }
                chars.by_ref().take(inside.chars().count() + 1).for_each(drop);
            }
            c if c == end => return Some(&text[at + end.len_utf8()..]),
            _ => {}
        }
    }
    None
}

/// What stands between brackets, after the first one.
fn bracket(text: &str) -> Option<&str> {
    let first = text.strip_prefix('^').unwrap_or(text);
    // A `]` that comes first is one of the characters.
    let skipped = text.len() - first.len() + usize::from(first.starts_with(']'));
    let mut at = skipped;
    loop {
        let rest = &text[at..];
        let next = rest.find(['[', ']'])?;
        if rest[next..].starts_with(']') {
            return Some(&text[..at + next]);
        }
        at += next + 1;
        match text[at..].strip_prefix(':') {
            Some(class) => {
                let length = class.find(":]")?;
                if !class[..length].bytes().all(|byte| byte.is_ascii_lowercase()) {
                    return None;
                }
                at += 1 + length + 2;
            }
            None if text[at..].starts_with(['.', '=']) => return None,
            None => {}
        }
    }
}

const AWK: KnownOptions = KnownOptions {
    flags: "",
    valued: "Fv",
    long: "field-separator= assign=",
    numeric: false,
    operands: Operands::Named,
};

/// `awk` with a program that can neither start another nor write a file: for that it would need one of these.
pub(super) fn awk(args: &[PlainWord]) -> bool {
    const REACHES_OUT: [&str; 5] = ["system", "getline", "close", "fflush", "include"];
    // gawk connects to hosts by files of this name, which a program could also name as its own operand.
    let names_hosts = |word: &PlainWord| match word {
        PlainWord::Literal(text) | PlainWord::Files(text) => text.contains("inet") || text.contains("ARGV"),
        PlainWord::Variable => true,
    };
    if args.iter().any(names_hosts) {
        return false;
    }
    let Some(operands) = AWK.operands_of(args) else { return false };
    let Some(program) = operands.first().and_then(|word| word.literal()) else { return false };
    // `>=` compares, a `>` alone may write.
    !program.replace(">=", "").contains(['>', '|', '@']) && !REACHES_OUT.iter().any(|word| program.contains(word))
}
