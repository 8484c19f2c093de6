//! Nothing half done is committed: no skipped tests, no placeholders, no debugging.

use super::repo::Repo;

// Written in two halves so that this file passes its own rule.
const BANNED: &[(&str, &str)] = &[
    (concat!("#[", "ignore"), "run the test or remove it; long ones go to a full_* test binary"),
    (concat!("todo", "!("), "finish it"),
    (concat!("dbg", "!("), "remove it"),
    (concat!("FIX", "ME"), "fix it, or open an issue"),
];
const NO_TEST: &str = "ignore = \"not a test: ";
const NOTE: &str = concat!("TO", "DO");
const SOURCES: &[&str] = &[".rs", ".toml", ".sh", ".ts", ".js", ".svelte", ".css", ".ci/run"];

/// What is built from sources, and holds other people's notes as well.
const BUILT: &str = "ui/dist/";

pub(crate) fn check(repo: &Repo) -> Vec<String> {
    let is_source = |path: &str| SOURCES.iter().any(|end| path.ends_with(end)) && !path.starts_with(BUILT);
    let sources = repo.files.iter().filter(|file| is_source(&file.path));
    let lines =
        sources.flat_map(|file| file.text.lines().enumerate().map(move |(at, line)| (&file.path, at + 1, line)));
    lines
        .flat_map(|(path, at, line)| problems(line).map(move |(what, advice)| format!("{path}:{at}: {what}: {advice}")))
        .collect()
}

fn problems(line: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    // What only looks like a test, such as the child process of one, may say so.
    let banned = BANNED.iter().copied().filter(move |(what, _)| line.contains(what) && !line.contains(NO_TEST));
    let note = has_note_without_issue(line).then_some((NOTE, "name its issue, as in (#12) after the word"));
    banned.chain(note)
}

fn has_note_without_issue(line: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(NOTE).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + NOTE.len()..]);
        !before.ends_with(part_of_word) && !after.starts_with(part_of_word) && !starts_with_issue(after)
    })
}

fn starts_with_issue(text: &str) -> bool {
    let number = text.strip_prefix("(#").and_then(|rest| rest.split_once(')')).map(|(number, _)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_leftover_is_reported_with_its_line() {
        for (what, _) in BANNED {
            let text = format!("fn main() {{\n    {what}");
            let found = check(&Repo::from_files(&[("a.rs", &text), ("notes.md", &text)]));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with(&format!("a.rs:2: {what}: ")), "{found:?}");
        }
    }

    #[test]
    fn what_was_built_is_nobodys_note() {
        let found = check(&Repo::from_files(&[("ui/dist/assets/a.js", NOTE), ("ui/src/a.ts", NOTE)]));
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn what_is_not_a_test_may_say_so() {
        let line = concat!("#[", "ignore = \"not a test: the child of one\"]");
        assert_eq!(problems(line).count(), 0);
    }

    #[test]
    fn a_note_for_later_must_name_its_issue() {
        for (after, reported) in
            [("(#12): x", false), ("_LIST", false), (": x", true), ("(#): x", true), ("(me)", true)]
        {
            assert_eq!(has_note_without_issue(&format!("// {NOTE}{after}")), reported, "{after}");
        }
    }
}
