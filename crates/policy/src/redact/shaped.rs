//! Values that give themselves away by their shape.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::REDACTED;

/// Everything at once, so that a text is read once. Words are tried in this order where two begin at the same place.
const SHAPES: &str = r"(?x)
    -----BEGIN\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?-----
        (?: (?:[A-Za-z0-9+/=:,.\ \t\r\n-]|\\[nrt])*? -----END\ [A-Z0-9\ ]*PRIVATE\ KEY(?:\ BLOCK)?-----
          # Without an end, all that could belong to it goes: what is read must be used up, or it would be read again.
          | (?:[A-Za-z0-9+/=:,.\ \t\r\n-]|\\[nrt])* )
    # Either side of the colon may be the token.
  | (?<login> :// ) [^\ \t\r\n/:@?\#\x22'`\\\[\]]* : [^\ \t\r\n/?\#\x22'`\\\[\]]+ @
  | (?<bearer> (?-u:\b)[Bb](?:earer|EARER)[\ \t]+ )
        # `Bearer authentication` is a phrase.
        (?: [A-Za-z._~+/=-]*[0-9][A-Za-z0-9._~+/=-]* | [A-Za-z0-9._~+/=-]{16,} )
  | (?-u:\b) (?:
        sk-(?:proj|ant|svcacct|admin|or)-[A-Za-z0-9_-]{8,}
        # `sk-some-class-name` is a word.
      | sk-(?: [A-Za-z_-]{0,60}[0-9][A-Za-z0-9_-]{12,} | [A-Za-z_-]{12,60}[0-9][A-Za-z0-9_-]* )
      | gh[pousr]_[A-Za-z0-9]{16,} | github_pat_[A-Za-z0-9_]{16,} | glpat-[A-Za-z0-9_-]{16,}
      | xox[abeoprs]-[A-Za-z0-9-]{8,} | xapp-[A-Za-z0-9-]{16,}
      | (?:AKIA|ASIA)[A-Z0-9]{16} | AIza[A-Za-z0-9_-]{30,} | ya29\.[A-Za-z0-9_-]{16,}
      | npm_[A-Za-z0-9]{30,} | pypi-[A-Za-z0-9_-]{40,} | hf_[A-Za-z0-9]{30,} | dop_v1_[a-f0-9]{40,}
      | [sr]k_(?:live|test)_[A-Za-z0-9]{16,} | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
      | AGE-SECRET-KEY-1[A-Z0-9]{40,}
      | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]* )
        # What follows without a gap belongs to it; else a second look would see something new there.
        [A-Za-z0-9_-]*
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

/// What stands before a secret and tells what it was is kept.
fn replacement(found: &Captures<'_>) -> String {
    match (found.name("login"), found.name("bearer")) {
        (Some(login), _) => format!("{}{REDACTED}@", login.as_str()),
        (None, Some(bearer)) => format!("{}{REDACTED}", bearer.as_str()),
        (None, None) => REDACTED.to_owned(),
    }
}
