//! Parses the progress that git writes to standard error.

/// The progress of a git process, parsed from one line of its standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The phase, such as `Writing objects`.
    pub phase: String,
    /// How much of the phase is done; absent if git does not know.
    pub percent: Option<u8>,
    /// The whole line, trimmed.
    pub line: String,
}

impl Progress {
    /// Parses a line such as `phase: 12% (3/25)` or `phase: 3`; `None` for any other.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        let (phase, rest) = line.trim_start_matches("remote: ").split_once(": ")?;
        let number: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
        if number.is_empty() {
            return None;
        }
        let percent = rest.trim_start()[number.len()..].starts_with('%').then(|| number.parse().ok()).flatten();
        Some(Self { phase: phase.to_owned(), percent, line: line.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_apart_from_other_words() {
        let cases = [
            ("Writing objects:  33% (1/3)", Some(("Writing objects", Some(33)))),
            ("remote: Counting objects: 100% (5/5), done.", Some(("Counting objects", Some(100)))),
            ("Enumerating objects: 5, done.", Some(("Enumerating objects", None))),
            ("To ../remote.git", None),
            ("error: failed to push some refs", None),
            ("", None),
        ];
        for (line, expected) in cases {
            let found = Progress::parse(line);
            assert_eq!(found.as_ref().map(|found| (found.phase.as_str(), found.percent)), expected, "{line}");
        }
    }
}
