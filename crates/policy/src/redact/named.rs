//! Redacts values that follow the name of a secret (`password=…`, `"token": "…"`).

use std::borrow::Cow;

use super::REDACTED;

/// A name that contains one of these, anywhere, is the name of a secret.
const ANYWHERE: [&str; 15] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "privatekey",
    "authorization",
    "accesskey",
    "accountkey",
    "accesssignature",
    // The header of our own local secret.
    "roostlocal",
    "signingkey",
    "encryptionkey",
    "credential",
    "authtoken",
];
/// A name that ends with one of these is the name of a secret.
const AT_END: [&str; 3] = ["token", "cookie", "cookies"];
/// A name that ends with one of these describes a secret and does not hold it.
const ABOUT: [&str; 20] = [
    "tokens",
    "count",
    "type",
    "limit",
    "usage",
    "budget",
    "url",
    "uri",
    "endpoint",
    "env",
    "envvar",
    "name",
    "path",
    "file",
    "id",
    "length",
    "pagetoken",
    "nexttoken",
    "progresstoken",
    "continuationtoken",
];
/// Last words of a name that are secrets only there: `PWD` is a folder, `pass` a result, `DB_PASS` a secret.
const LAST_WORDS: [&str; 2] = ["pass", "pwd"];
/// The longest name, in bytes; longer texts are not taken for names.
const LONGEST_NAME: usize = 64;
/// The longest word, in bytes, that is taken for a secret only because it follows the name of one.
const LONGEST_GUESS: usize = 512;

/// Whether a field or variable of this name holds a secret. Case, `_`, `-`, `.` and spaces do not count.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.trim();
    if name.len() > LONGEST_NAME {
        return false;
    }
    if let Some((_, word)) = name.rsplit_once(['_', '-', '.', ' '])
        && LAST_WORDS.iter().any(|secret| word.eq_ignore_ascii_case(secret))
    {
        return true;
    }
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let secret = ANYWHERE.iter().any(|part| plain.contains(part)) || AT_END.iter().any(|part| plain.ends_with(part));
    secret && !ABOUT.iter().any(|end| plain.ends_with(end))
}

/// Headers whose value is the rest of the line.
fn is_header(name: &str) -> bool {
    ["authorization", "proxy-authorization", "cookie", "set-cookie"]
        .iter()
        .any(|header| name.eq_ignore_ascii_case(header))
}

/// Replaces every value behind a secret's name.
pub(super) fn redact(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut from = 0;
    while let Some(found) = memchr::memchr2(b':', b'=', &text.as_bytes()[from..]) {
        let separator = from + found;
        from = separator + 1;
        if separator < copied {
            continue;
        }
        if let Some((start, end)) = value_at(text, copied, separator) {
            out.push_str(&text[copied..start]);
            out.push_str(REDACTED);
            copied = end;
            from = end.max(from);
        }
    }
    if copied == 0 { Cow::Borrowed(text) } else { Cow::Owned(out + &text[copied..]) }
}

/// The secret behind the separator at this place, if the name before it is a secret's.
fn value_at(text: &str, after: usize, separator: usize) -> Option<(usize, usize)> {
    let before = &text[after..separator];
    // `name := value`
    let before = if text.as_bytes()[separator] == b'=' { before.strip_suffix(':').unwrap_or(before) } else { before };
    let spaced = before.ends_with([' ', '\t']);
    let before = before.trim_end_matches([' ', '\t']);
    let unquoted = before.trim_end_matches(['"', '\'']);
    let quoted_name = unquoted.len() < before.len();
    let unquoted = if quoted_name { unquoted.trim_end_matches('\\') } else { unquoted };
    let name = last_name(unquoted);
    if name.is_empty() || !is_secret_name(name) {
        return None;
    }
    let behind = text[separator + 1..].trim_start_matches([' ', '\t']);
    let start = text.len() - behind.len();
    let spaced = spaced || start > separator + 1;
    let colon = text.as_bytes()[separator] == b':';
    // `==`, `=>`, `::` and `:=` separate no name from a value.
    if behind.starts_with(REDACTED) || behind.starts_with(['=', '>', ':']) {
        return None;
    }
    if let Some((open, length)) = quoted_value(behind) {
        return (length > 0 && !behind[open..].starts_with(REDACTED)).then_some((start + open, start + open + length));
    }
    if colon && !quoted_name && is_header(name) {
        let length = behind.find(['\n', '\r', '"', '\'', '\\']).unwrap_or(behind.len());
        return (length > 0).then_some((start, start + length));
    }
    let ends = |c: char| c.is_whitespace() || "\"'`&<>;,()[]{}|\\".contains(c);
    let sure = quoted_name || !(colon || spaced);
    // Without a bound, `token:token:token:…` would be read once for every colon in it.
    let seen = if sure { behind } else { &behind[..behind.floor_char_boundary(LONGEST_GUESS)] };
    let value = &seen[..seen.find(ends).unwrap_or(seen.len())];
    let stands_for_one = value.starts_with(['$', '%', '*', '#']) || value.starts_with("//");
    let word =
        ["true", "false", "null", "none", "undefined", "nil"].iter().any(|word| value.eq_ignore_ascii_case(word));
    // `password: string` and `token = next()` are code; a secret that stands like this has a digit and ends the word.
    let follows = behind[value.len()..].chars().next();
    let likely =
        value.len() >= 6 && value.contains(|c: char| c.is_ascii_digit()) && !matches!(follows, Some('(' | '[' | '{'));
    let secret = !value.is_empty() && !stands_for_one && !word && (sure || likely);
    secret.then_some((start, start + value.len()))
}

/// The name that the text ends with.
fn last_name(text: &str) -> &str {
    let start = text.len().saturating_sub(LONGEST_NAME);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let tail = &text[start..];
    let no_name = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | '.');
    &tail[tail.rfind(no_name).map_or(0, |at| at + tail[at..].chars().next().map_or(1, char::len_utf8))..]
}

/// Where a quoted value begins and how long it is; JSON inside JSON has its quotes escaped, and so on.
fn quoted_value(text: &str) -> Option<(usize, usize)> {
    let escapes = text.len() - text.trim_start_matches('\\').len();
    let quote = *text.as_bytes().get(escapes).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let open = escapes + 1;
    let mut run = 0;
    for (at, byte) in text.as_bytes()[open..].iter().enumerate() {
        match *byte {
            b'\\' => run += 1,
            b'\n' => return Some((open, at)),
            byte if byte == quote && run % (2 * (escapes + 1)) == escapes => return Some((open, at - escapes)),
            _ => run = 0,
        }
    }
    Some((open, text.len() - open))
}
