//! Patterns for what a call touches: commands, files, hosts or an exact input.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::assignments::without_assignments;
use crate::shell::{Word, base};

/// What a call must touch for a rule to apply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// A program with exactly these arguments; a last word `*` stands for any further ones. Variables that are set for
    /// it come first, as `NAME=value`.
    Command(Vec<String>),
    /// Files, as a glob relative to the workspace, or an absolute one.
    File(String),
    /// A host, or `*.domain` for every host below a domain.
    Host(String),
    /// The call whose input has this hash.
    Exact(String),
}

/// The last word of a command pattern that leaves the further arguments open.
pub(crate) const ANY: &str = "*";

impl Pattern {
    /// Why the pattern is invalid; `None` if it is valid.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        match self {
            Self::Command(words) => match words.split_last() {
                None => Some("a command pattern needs a program"),
                Some((last, [])) if last == ANY => Some("a command pattern must name the program"),
                Some((_, first)) if first.iter().any(|word| word == ANY) => Some("`*` must be a command's last word"),
                Some(_) if without_assignments(words).first().is_none_or(|word| word == ANY) => {
                    Some("a command pattern must name the program behind its assignments")
                }
                Some(_) if words.iter().any(|word| word.contains('\0')) => Some("a command has no NUL"),
                Some(_) => None,
            },
            Self::Host(host) => {
                let domain = host.strip_prefix("*.").unwrap_or(host);
                let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':');
                let fine = !domain.is_empty() && domain.chars().all(usual);
                (!fine).then_some("a host is a name like `example.org` or `*.example.org`, without scheme and path")
            }
            Self::File(glob) => glob.is_empty().then_some("a file pattern needs a path"),
            Self::Exact(hash) => (!hash.starts_with("sha256:")).then_some("an input hash begins with `sha256:`"),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(words) => f.write_str(&words.join(" ")),
            Self::File(text) | Self::Host(text) | Self::Exact(text) => f.write_str(text),
        }
    }
}

/// Whether a denied command is, or might be, the one in `argv`: options may stand anywhere, and what is not certain
/// might be anything.
pub(crate) fn might_be(denied: &[String], argv: &[Word]) -> bool {
    // A denied command is denied whatever is set before it.
    let denied = without_assignments(denied);
    let words = denied.strip_suffix(&[ANY.to_owned()]).unwrap_or(denied);
    let Some((program, wanted)) = words.split_first() else { return false };
    if argv.first().and_then(Word::literal).map(base) != Some(base(program)) {
        return false;
    }
    let mut args = argv[1..].iter();
    wanted.iter().all(|word| {
        let mut may_skip = false;
        args.by_ref()
            .map_while(|arg| match arg.literal() {
                Some(arg) if arg == word => Some(true),
                None => Some(true),
                Some(arg) if arg.starts_with('-') => {
                    may_skip = true;
                    Some(false)
                }
                // It may be the value of the option before it.
                Some(_) => std::mem::take(&mut may_skip).then_some(false),
            })
            .any(|found| found)
    })
}

/// The host of a web address, in lower case; `None` if two parsers could read the address differently.
pub(crate) fn host_of(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let web = ["http", "https", "ws", "wss"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    if !web || url.contains(|c: char| c == '\\' || c.is_whitespace() || c.is_control()) {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    host_in(authority)
}

/// The host that a word of a command may name: in an address, or in `user@host:path`.
pub(crate) fn host_in_word(word: &str) -> Option<String> {
    match word.split_once("://") {
        Some((_, rest)) => host_in(rest.split(['/', '?', '#', '\\']).next()?),
        None => host_in(word.split('/').next()?),
    }
}

fn host_in(authority: &str) -> Option<String> {
    let host = authority.rsplit('@').next()?;
    let host = if let Some(v6) = host.strip_prefix('[') { v6.split(']').next()? } else { host.split(':').next()? };
    let host = host.strip_suffix('.').unwrap_or(host);
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '_');
    (!host.is_empty() && host.chars().all(usual)).then(|| host.to_ascii_lowercase())
}
