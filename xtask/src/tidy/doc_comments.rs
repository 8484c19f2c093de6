//! A doc comment adds something to the name below it: one or two words only repeat it. Write a sentence, or nothing.
//!
//! Words that `clap` prints as help may be that short; give them as `help = "…"`.

use super::repo::Repo;

/// A doc comment of at most this many words is reported.
const TOO_FEW: usize = 2;
const MARKERS: [&str; 2] = ["///", "//!"];

pub(crate) fn check(repo: &Repo) -> Vec<String> {
    let sources = repo.rust_files().filter(|file| file.path.contains("/src/"));
    let short = sources.flat_map(|file| short_comments(&file.text).into_iter().map(move |found| (&file.path, found)));
    short
        .map(|(path, (line, text))| format!("{path}:{line}: \"{text}\" explains nothing; say more or remove it"))
        .collect()
}

/// The doc comments that are too short, each with the number of its first line.
fn short_comments(text: &str) -> Vec<(usize, String)> {
    let mut comments: Vec<(&str, usize, Vec<&str>)> = Vec::new();
    let mut open = None;
    for (number, line) in (1..).zip(text.lines()) {
        let Some((marker, words)) = doc_line(line) else {
            open = None;
            continue;
        };
        match comments.last_mut() {
            Some((_, _, known)) if open == Some(marker) => known.extend(words),
            _ => comments.push((marker, number, words)),
        }
        open = Some(marker);
    }
    let short = comments.into_iter().filter(|(_, _, words)| words.len() <= TOO_FEW);
    short.map(|(_, number, words)| (number, words.join(" "))).collect()
}

/// The marker and the words of a line of a doc comment. Four slashes begin an ordinary comment.
fn doc_line(line: &str) -> Option<(&'static str, Vec<&str>)> {
    let line = line.trim_start();
    let marker = MARKERS.into_iter().find(|marker| line.starts_with(marker))?;
    let words = &line[marker.len()..];
    (!words.starts_with('/')).then(|| (marker, words.split_whitespace().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_of_one_or_two_words_are_short() {
        for (text, expected) in [
            ("/// Yes.\nfn a() {}", vec![(1, "Yes.")]),
            ("//! The id.\n\nfn a() {}", vec![(1, "The id.")]),
            ("///\nfn a() {}", vec![(1, "")]),
            ("struct A {\n    /// Its id.\n    id: u8,\n}", vec![(2, "Its id.")]),
            ("//! One two.\n/// Three four.", vec![(1, "One two."), (2, "Three four.")]),
            ("/// A.\nfn a() {}\n/// B.\nfn b() {}", vec![(1, "A."), (3, "B.")]),
            ("/// Two words\n/// on two lines.\nfn a() {}", vec![]),
            ("/// Three words here.\nfn a() {}", vec![]),
            ("// Why.\nfn a() {} /// No.\n//// Rule.", vec![]),
        ] {
            let expected: Vec<_> =
                expected.into_iter().map(|(line, text): (_, &str)| (line, text.to_owned())).collect();
            assert_eq!(short_comments(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_short_comment_is_reported_in_sources_and_not_in_tests() {
        let text = "fn a() {}\n/// Its id.\nfn b() {}";
        let found = check(&Repo::from_files(&[
            ("crates/a/src/lib.rs", text),
            ("crates/a/tests/all/main.rs", text),
            ("xtask/src/main.rs", text),
        ]));
        let expected = ["crates/a/src/lib.rs", "xtask/src/main.rs"]
            .map(|path| format!("{path}:2: \"Its id.\" explains nothing; say more or remove it"));
        assert_eq!(found, expected);
    }
}
