//! Redacts values that can be recognised by their shape, such as `ghp_…` or a private key.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::REDACTED;

/// All shapes in one expression, so that a text is scanned once. If two match at the same place, the first one wins.
///
/// A prefix that occurs in no other word is found anywhere, even in the middle of a word. The others must begin a word,
/// because `task-0123…` contains `sk-0123…`.
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
    # The signature of an address that Azure has signed.
  | (?<signature> [?&;]sig= ) [A-Za-z0-9%+/=_-]{32,}
  | hooks\.slack\.com/services/[A-Za-z0-9/]+
  | (?:
        # Our own: for pairing, access and refreshing.
        cdev_[a-z]_[A-Za-z0-9_-]{16,}
      | sk-(?:proj|ant|svcacct|admin|or)-[A-Za-z0-9_-]{8,}
      | gh[pousr]_[A-Za-z0-9]{16,} | github_pat_[A-Za-z0-9_]{16,}
      | gl(?:pat|dt|rt|rtr|cbt|ptt|ft|soat|imt|agent|oas|ffct)-[A-Za-z0-9_-]{16,} | glsa_[A-Za-z0-9]{16,}
      | xox[abcdeoprs]-[A-Za-z0-9%-]{8,} | xapp-[A-Za-z0-9-]{16,}
      | (?:AKIA|ASIA)[A-Z0-9]{16} | AIza[A-Za-z0-9_-]{30,} | GOCSPX-[A-Za-z0-9_-]{20,}
      | npm_[A-Za-z0-9]{30,} | pypi-[A-Za-z0-9_-]{40,} | dckr_pat_[A-Za-z0-9_-]{16,} | do[opr]_v1_[a-f0-9]{40,}
      | [sr]k_(?:live|test)_[A-Za-z0-9]{16,} | whsec_[A-Za-z0-9+/=]{24,} | sq0[a-z]{3}-[A-Za-z0-9_-]{20,}
      | shp(?:at|ss|ca|pa)_[A-Za-z0-9]{16,} | lin_(?:api|oauth)_[A-Za-z0-9]{16,}
      | hv[sbr]\.[A-Za-z0-9_-]{20,} | tskey-[a-z]+-[A-Za-z0-9-]{16,}
      | AGE-SECRET-KEY-1[A-Z0-9]{40,}
      | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*
      | (?-u:\b) (?:
            # `sk-some-class-name` is a word.
            sk-(?: [A-Za-z_-]{0,60}[0-9][A-Za-z0-9_-]{12,} | [A-Za-z_-]{12,60}[0-9][A-Za-z0-9_-]* )
          | xai-[A-Za-z0-9]{20,} | gsk_[A-Za-z0-9]{30,} | hf_[A-Za-z0-9]{30,} | r8_[A-Za-z0-9]{30,}
          | pplx-[A-Za-z0-9]{30,} | nvapi-[A-Za-z0-9_-]{30,} | ntn_[A-Za-z0-9]{30,} | sbp_[a-f0-9]{40,}
          | ya29\.[A-Za-z0-9_-]{16,} | SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}
            # A bot of Telegram.
          | [0-9]{8,10}:AA[A-Za-z0-9_-]{32,} ) )
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

/// Replaces the secret but keeps what precedes it and tells what it was, such as `Bearer`.
fn replacement(found: &Captures<'_>) -> String {
    let before = |name| found.name(name).map(|kept| kept.as_str());
    match (before("login"), before("bearer").or(before("signature"))) {
        (Some(login), _) => format!("{login}{REDACTED}@"),
        (None, Some(kept)) => format!("{kept}{REDACTED}"),
        (None, None) => REDACTED.to_owned(),
    }
}
