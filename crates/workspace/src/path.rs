//! Paths that clients may name.

use std::fmt;
use std::path::Path;

use crate::Error;

/// A path beneath a workspace's root: relative, `/` between its parts, without `.`, `..` and NUL. Empty is the root.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(String);

impl RelPath {
    /// The path of the workspace's own folder.
    pub fn root() -> Self {
        Self(String::new())
    }

    /// Parses and normalises a path; refuses absolute paths, `..` and NUL.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refused = || Error::PathTraversal { path: text.to_owned() };
        if text.starts_with('/') || text.contains('\0') {
            return Err(refused());
        }
        let mut parts = Vec::new();
        for part in text.split('/') {
            match part {
                // `a//b`, `./a` and `a/` are other ways to write a path that is fine.
                "" | "." => {}
                ".." => return Err(refused()),
                part => parts.push(part),
            }
        }
        Ok(Self(parts.join("/")))
    }

    /// The path as text, with `/` between names and none before the first.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the workspace's own folder.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Its last part; empty for the root.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// The folder it is in; the root for the root.
    pub fn parent(&self) -> Self {
        Self(self.0.rsplit_once('/').map_or_else(String::new, |(parent, _)| parent.to_owned()))
    }

    /// The path for the operating system, where the root is `.`.
    pub fn to_path(&self) -> &Path {
        Path::new(if self.is_root() { "." } else { &self.0 })
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_a_place_beneath_the_root_is_taken_and_written_one_way() {
        let cases = [("", ""), (".", ""), ("a", "a"), ("./a//b/", "a/b"), ("-x", "-x"), ("a/..b/c..", "a/..b/c..")];
        for (text, expected) in cases {
            assert_eq!(RelPath::parse(text).unwrap().as_str(), expected, "{text:?}");
        }
    }

    #[test]
    fn what_leads_up_or_anywhere_else_is_refused() {
        for text in ["/", "/etc/passwd", "..", "a/../b", "a/..", "../a", "a\0b", "//x"] {
            assert!(matches!(RelPath::parse(text), Err(Error::PathTraversal { .. })), "{text:?}");
        }
    }
}
