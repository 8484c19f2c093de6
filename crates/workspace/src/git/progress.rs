//! How far a long operation is, from what git writes to its terminal.

/// One line of progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is done, such as `Writing objects`.
    pub phase: String,
    /// How much of it; absent where git does not know.
    pub percent: Option<u8>,
    /// As git wrote it.
    pub line: String,
}

impl Progress {
    /// The progress that a line tells of: `phase: 12% (3/25)`, or `phase: 3`.
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
