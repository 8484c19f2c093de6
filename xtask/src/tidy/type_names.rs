//! One name, one meaning: a type name that lives in many modules makes a reader look up which one is meant.

use std::collections::{BTreeMap, BTreeSet};

use super::repo::Repo;

/// A type name may be declared in at most this many modules.
const MAX_MODULES: usize = 3;

/// Names that every Rust reader expects to belong to their module: a crate's error, the arguments of a command.
const CONVENTIONS: &[&str] = &["Error", "Args"];

/// Names that live in more modules today, with how many; the list only becomes shorter.
const KNOWN: &[(&str, usize)] = &[
    ("About", 5),
    ("Answer", 5),
    ("Asked", 4),
    ("Block", 6),
    ("Call", 6),
    ("Command", 8),
    ("Decision", 4),
    ("Event", 5),
    ("Folders", 4),
    ("Head", 4),
    ("Incoming", 5),
    ("Line", 8),
    ("Lines", 4),
    ("Live", 4),
    ("Mapper", 5),
    ("Part", 5),
    ("Pending", 5),
    ("Running", 4),
    ("Said", 4),
    ("State", 4),
    ("Status", 4),
    ("Tool", 5),
    ("Tools", 4),
    ("Turn", 7),
];

/// The keywords that declare a type, each with the space that follows it.
const KEYWORDS: &[&str] = &["struct ", "enum ", "trait ", "type ", "union "];

pub(crate) fn check(repo: &Repo) -> Vec<String> {
    let mut modules: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let sources = repo.rust_files().filter(|file| file.path.starts_with("crates/") && file.path.contains("/src/"));
    for file in sources {
        for name in file.text.lines().filter_map(declared) {
            modules.entry(name).or_default().insert(&file.path);
        }
    }
    let known = |name: &str| KNOWN.iter().find(|(known, _)| *known == name).map_or(MAX_MODULES, |(_, most)| *most);
    let crowded = modules.iter().filter(|(name, places)| !CONVENTIONS.contains(name) && places.len() > known(name));
    let crowded = crowded.map(|(name, places)| {
        let places: Vec<_> = places.iter().copied().collect();
        format!("the type name {name} lives in {} modules, say more in some: {}", places.len(), places.join(", "))
    });
    let count = |name: &str| modules.get(name).map_or(0, BTreeSet::len);
    let outdated = KNOWN.iter().filter(|(name, most)| count(name) < *most).map(|(name, most)| {
        let now = count(name);
        let todo = if now > MAX_MODULES { format!("lower it to {now}") } else { "take it off".into() };
        format!("xtask/src/tidy/type_names.rs: {name} is listed with {most} modules and lives in {now}; {todo}")
    });
    crowded.chain(outdated).collect()
}

/// The name of the type that a line declares at the top level of its module. Indented declarations, as in functions and
/// traits, do not count: nobody else can see them.
fn declared(line: &str) -> Option<&str> {
    let item = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1.trim_start(),
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let name = KEYWORDS.iter().find_map(|keyword| item.strip_prefix(keyword))?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    Some(&name[..end]).filter(|name| name.starts_with(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_is_known_by_its_first_words() {
        for (line, expected) in [
            ("pub struct Line {", Some("Line")),
            ("pub(crate) enum Line<'a> {", Some("Line")),
            ("trait Line: Send {", Some("Line")),
            ("type Line = String;", Some("Line")),
            ("pub(in crate::a) struct Line;", Some("Line")),
            ("    struct Line;", None),
            ("use crate::Line;", None),
            ("impl Line {", None),
            ("// struct Line", None),
        ] {
            assert_eq!(declared(line), expected, "{line}");
        }
    }

    #[test]
    fn a_name_in_more_than_three_modules_is_reported_unless_it_is_a_convention() {
        let paths: Vec<_> = (0..4).map(|at| format!("crates/c{at}/src/lib.rs")).collect();
        let files = |text| paths.iter().map(|path| (path.as_str(), text)).collect::<Vec<_>>();
        let found = |files: &[(&str, &str)]| {
            let found = check(&Repo::from_files(files));
            found.into_iter().filter(|line| line.starts_with("the type name")).collect::<Vec<_>>()
        };
        assert_eq!(
            found(&files("struct Gadget;"))[0].split(',').next(),
            Some("the type name Gadget lives in 4 modules")
        );
        assert_eq!(found(&files("struct Gadget;")[..3]), [""; 0]);
        assert_eq!(found(&files("struct Error;")), [""; 0]);
        assert_eq!(found(&files("    struct Gadget;")), [""; 0]);
    }

    #[test]
    fn a_listed_name_is_listed_because_it_is_needed() {
        let found = check(&Repo::from_files(&[]));
        assert_eq!(found.len(), KNOWN.len(), "{found:?}");
        assert!(KNOWN.iter().all(|(name, most)| *most > MAX_MODULES && !CONVENTIONS.contains(name)));
    }
}
