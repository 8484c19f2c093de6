//! Names of branches, remotes and revisions as a client may write them: none of them can be taken for an option.

use std::fmt;

use super::GitKind;
use crate::Error;

/// Bytes of a name at most, as file systems allow.
const MAX: usize = 250;

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $valid:path) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Checks the text and makes it a name.
            pub fn parse(text: &str) -> Result<Self, Error> {
                if text.len() <= MAX && $valid(text) {
                    return Ok(Self(text.to_owned()));
                }
                let shown: String = text.chars().take(80).collect();
                let message = format!(concat!("{:?} is no ", $what), shown);
                Err(Error::Git { operation: "name", message, kind: GitKind::BadName })
            }

            /// The checked text, safe to give to git as an argument.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name! {
    /// A branch's name, such as `feature/x`.
    Branch, "name of a branch", is_branch
}
name! {
    /// A remote's name, such as `origin`.
    Remote, "name of a remote", is_branch
}
name! {
    /// A revision: a branch, a tag, a commit's id, or one of them with `~2`, `^` or `@{1}` after it.
    Rev, "name of a revision", is_rev
}

/// The rules of `git check-ref-format --branch`.
fn is_branch(text: &str) -> bool {
    let bad = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    !text.is_empty()
        && text != "@"
        && text != "HEAD"
        && !text.starts_with('-')
        && !text.ends_with('.')
        && !text.contains("..")
        && !text.contains("@{")
        && !text.contains(bad)
        && text.split('/').all(|part| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock"))
}

/// A name of a ref or an id, then steps back from it. Ranges, paths and searches in messages are none.
fn is_rev(text: &str) -> bool {
    let steps = text.find(['~', '^', '@']).unwrap_or(text.len());
    let (name, steps) = text.split_at(steps);
    let is_step = |c: char| c.is_ascii_alphanumeric() || "~^@{}-".contains(c);
    (name == "HEAD" || is_branch(name) || (name.is_empty() && steps.starts_with('@'))) && steps.chars().all(is_step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_takes_for_a_branch_is_one() {
        for text in ["main", "feature/x", "a.b", "-".repeat(0).as_str(), "ünïcode", "x@y", "a{b}", "1"] {
            assert_eq!(Branch::parse(text).is_ok(), !text.is_empty(), "{text:?}");
        }
    }

    #[test]
    fn what_could_be_an_option_or_is_no_ref_is_refused() {
        let refused = [
            "",
            "-x",
            "--upload-pack=x",
            "--output=/tmp/x",
            "a..b",
            "a b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a.lock/b",
            "a.",
            "@",
            "a@{b",
            "HEAD",
            "a\nb",
            "a\0b",
            "a\u{7f}",
        ];
        for text in refused {
            assert!(Branch::parse(text).is_err(), "{text:?}");
            assert!(Remote::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_revision_may_step_back_and_nothing_else() {
        for text in ["HEAD", "HEAD~2", "main^", "v1.0^{commit}", "0123abc", "main@{upstream}", "@{u}", "@", "origin/x"]
        {
            assert!(Rev::parse(text).is_ok(), "{text:?}");
        }
        for text in ["", "-x", "--all", "^main", "a..b", "a...b", "HEAD:secret", ":/fix", ":x", "a b", "~1", "a~ b"] {
            assert!(Rev::parse(text).is_err(), "{text:?}");
        }
    }
}
