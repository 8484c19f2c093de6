//! One name, one meaning: a type name that lives in many modules makes a reader look up which one is meant.

use std::collections::{BTreeMap, BTreeSet};

use super::repo::Repo;

/// A type name may be declared in at most this many modules.
const MAX_MODULES: usize = 3;

/// Names that every Rust reader expects to belong to their module: a crate's error, the arguments of a command.
const CONVENTIONS: &[&str] = &["Error", "Args"];

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
    let crowded = modules.iter().filter(|(name, places)| !CONVENTIONS.contains(name) && places.len() > MAX_MODULES);
    let crowded = crowded.map(|(name, places)| {
        let places: Vec<_> = places.iter().copied().collect();
        format!("the type name {name} lives in {} modules, say more in some: {}", places.len(), places.join(", "))
    });
    crowded.collect()
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
        let found = |files: &[(&str, &str)]| check(&Repo::from_files(files));
        assert_eq!(
            found(&files("struct Gadget;"))[0].split(',').next(),
            Some("the type name Gadget lives in 4 modules")
        );
        assert_eq!(found(&files("struct Gadget;")[..3]), [""; 0]);
        assert_eq!(found(&files("struct Error;")), [""; 0]);
        assert_eq!(found(&files("    struct Gadget;")), [""; 0]);
    }
}
