//! Values that give themselves away by their shape.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::REDACTED;

/// Everything at once, so that a text is read once. Words are tried in this order where two begin at the same place.
const SHAPES: &str = r"(?x)
    (?<pem> -----BEGIN\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?-----
        (?: (?:[A-Za-z0-9+/=:,.\ \t\r\n-]|\\[nrt])*? -----END\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?-----
          | (?:[A-Za-z0-9+/=\ \t\r\n]|\\[nrt])* ) )
  | (?<login> ://[^\s/:@?\#\x22'`]* : ) (?<password> [^\s/?\#\x22'`]+ ) @
  | (?<bearer> (?-u:\b)[Bb](?:earer|EARER)[\ \t]+ ) (?<bearing> [A-Za-z0-9._~+/=-]{8,} )
  | (?-u:\b) (?<sure>
        sk-(?:proj|ant|svcacct|admin|or)-[A-Za-z0-9_-]{8,}
      | gh[pousr]_[A-Za-z0-9]{16,} | github_pat_[A-Za-z0-9_]{16,} | glpat-[A-Za-z0-9_-]{16,}
      | xox[abeoprs]-[A-Za-z0-9-]{8,} | xapp-[A-Za-z0-9-]{16,}
      | (?:AKIA|ASIA)[A-Z0-9]{16} | AIza[A-Za-z0-9_-]{30,} | ya29\.[A-Za-z0-9_-]{16,}
      | npm_[A-Za-z0-9]{30,} | pypi-[A-Za-z0-9_-]{40,} | hf_[A-Za-z0-9]{30,} | dop_v1_[a-f0-9]{40,}
      | [sr]k_(?:live|test)_[A-Za-z0-9]{16,} | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
      | AGE-SECRET-KEY-1[A-Z0-9]{40,}
      | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]* )
  | (?-u:\b) (?<likely> sk-[A-Za-z0-9_-]{16,} )
";

static SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(SHAPES).ok());

/// Replaces everything that has a secret's shape.
pub(super) fn redact(text: &str) -> Cow<'_, str> {
    match &*SHAPE {
        Some(shape) => shape.replace_all(text, replacement),
        // A text that cannot be searched is not shown; the tests see to it that this never happens.
        None => Cow::Borrowed(REDACTED),
    }
}

fn replacement(found: &Captures<'_>) -> String {
    let part = |name| found.name(name).map(|part| part.as_str());
    if let Some(login) = part("login") {
        return format!("{login}{REDACTED}@");
    }
    let has_digit = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    let whole = found.get(0).map_or("", |whole| whole.as_str());
    match (part("bearer"), part("bearing"), part("likely")) {
        // "Bearer authentication" is a phrase.
        (Some(_), Some(value), _) if value.len() < 16 && !has_digit(value) => whole.to_owned(),
        (Some(bearer), ..) => format!("{bearer}{REDACTED}"),
        // `sk-some-class-name` is a word.
        (.., Some(value)) if !has_digit(value) => whole.to_owned(),
        _ => REDACTED.to_owned(),
    }
}
