//! Redacts secrets that follow an option of a command: `curl -u me:hunter2`, `mysql --password hunter2`.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

use super::{REDACTED, is_secret_name};

/// Options whose value is `user:password`.
const LOGIN: [&str; 4] = ["-u", "--user", "-U", "--proxy-user"];

/// An option and its value as a shell line or a list in JSON has them: `-u a:b`, `-ua:b`, `--user=a:b`, `"-u", "a:b"`.
/// Quotes are escaped where the line itself is in JSON. What begins with a dash is the next option and no value.
const OPTION: &str = r#"(?x)
    (?<before> ^ | [\s"'`\[(,=] )
    (?<option> --[A-Za-z][A-Za-z-]{0,40} | -[uU] )
    (?:
        (?<single> (?: \\*["'][\ \t\r\n]*,[\ \t\r\n]* | [\ \t]*=?[\ \t]* ) ' ) (?<in_single> [^-'\r\n] [^'\r\n]* )
      | (?<double> (?: \\*["'][\ \t\r\n]*,[\ \t\r\n]* | [\ \t]*=?[\ \t]* ) \\*" )
            (?<in_double> [^-"\\\r\n] (?: [^"\\\r\n] | \\[^"\\\r\n] )* )
      | (?<bare> [\ \t]+ | = | ) (?<word> [^-\s"'`\\] (?: [^\s"'`\\] | \\[^\s"'\\] )* )
    )
"#;

static FOUND: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(OPTION).ok());

/// Replaces every secret behind an option.
pub(super) fn redact(text: &str) -> Cow<'_, str> {
    // Most texts hold no option at all.
    if !text.contains('-') {
        return Cow::Borrowed(text);
    }
    match &*FOUND {
        Some(option) => option.replace_all(text, |found: &Captures<'_>| replacement(text, found)),
        // A text that cannot be searched is not shown; the tests see to it that this never happens.
        None => Cow::Borrowed(REDACTED),
    }
}

fn replacement(text: &str, found: &Captures<'_>) -> String {
    let part = |name| found.name(name).map_or("", |part| part.as_str());
    let (option, bare) = (part("option"), part("bare"));
    let gap = [part("single"), part("double"), bare].concat();
    let value = [part("in_single"), part("in_double"), part("word")].concat();
    let is_secret = match gap.as_str() {
        // `-update:x` is an option of its own, unless the line is one for curl.
        "" => option.len() == 2 && is_login(&value) && line_before(text, found).contains("curl"),
        _ => (LOGIN.contains(&option) && is_login(&value)) || (is_secret_option(option) && is_likely(&value)),
    };
    let value = if is_secret { REDACTED } else { &value };
    format!("{}{option}{gap}{value}", part("before"))
}

fn line_before<'a>(text: &'a str, found: &Captures<'_>) -> &'a str {
    /// Nobody writes a longer line for curl by hand, and a bound keeps one long line from being read again and again.
    const LONGEST: usize = 1_000;
    let end = found.get(0).map_or(0, |all| all.start());
    let start = text.floor_char_boundary(end.saturating_sub(LONGEST));
    text[start..end].rsplit('\n').next().unwrap_or_default()
}

/// Which items of a list are secrets because of the option before them: a command line as an array.
pub(super) fn secrets_of_list(items: &[Value]) -> impl Iterator<Item = bool> + '_ {
    let option = |at: usize| items.get(at.checked_sub(1)?)?.as_str();
    items.iter().enumerate().map(move |(at, item)| {
        let (Some(option), Some(value)) = (option(at), item.as_str()) else { return false };
        (LOGIN.contains(&option) && is_login(value)) || (is_secret_option(option) && !value.starts_with('-'))
    })
}

fn is_secret_option(option: &str) -> bool {
    option.strip_prefix("--").is_some_and(is_secret_name)
}

/// Whether this is `user:password`; `1000:1000` is a user and a group, `https://…` an address.
fn is_login(value: &str) -> bool {
    let Some((user, password)) = value.split_once(':') else { return false };
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let stands_for_one = password.starts_with(['$', '<', '{', '%', '*', '[']) || password.starts_with("//");
    let is_group = number(user) && number(password);
    !(password.is_empty() || stands_for_one || is_group)
}

/// Whether the value of an option is likely a secret: `--token to` is a phrase, while a secret has a digit.
fn is_likely(value: &str) -> bool {
    let stands_for_one = value.starts_with(['$', '<', '{', '%', '*', '[', '-']);
    value.len() >= 6 && value.contains(|c: char| c.is_ascii_digit()) && !stands_for_one
}
