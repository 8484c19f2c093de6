//! The source files that documents name exist, so that a rename cannot leave the map behind.

use super::repo::Repo;

/// The top-level folders whose files documents name by their whole path.
const FOLDERS: &[&str] = &["crates/", "xtask/", "clients/"];

pub(crate) fn check(repo: &Repo) -> Vec<String> {
    let documents = repo.files.iter().filter(|file| file.path.ends_with(".md") && file.path != "CHANGELOG.md");
    let missing = documents.flat_map(|document| {
        let lines = document.text.lines().enumerate();
        let names = lines.flat_map(|(at, line)| code_spans(line).flat_map(expand).map(move |name| (at + 1, name)));
        let missing = names.filter(|(_, name)| is_source(name) && !exists(repo, name));
        missing.map(|(line, name)| format!("{}:{line}: there is no {name}", document.path)).collect::<Vec<_>>()
    });
    missing.collect()
}

/// The texts between single backticks of a line.
fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// The names that one pair of braces stands for: `a/{b,c}.rs` is two.
fn expand(name: &str) -> Vec<String> {
    let parts = name.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?)));
    match parts {
        Some((head, (choices, tail))) => choices.split(',').map(|choice| format!("{head}{choice}{tail}")).collect(),
        None => vec![name.to_owned()],
    }
}

/// Whether this names a file or folder of the checkout; commands, patterns and placeholders do not.
fn is_source(name: &str) -> bool {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || "/_-.".contains(c));
    is_plain && (name.ends_with(".rs") || FOLDERS.iter().any(|folder| name.starts_with(folder)))
}

/// Whole paths are compared from the root; a shorter name stands for any file that ends so.
fn exists(repo: &Repo, name: &str) -> bool {
    let folder = format!("{}/", name.trim_end_matches('/'));
    let ending = format!("/{name}");
    repo.files.iter().any(|file| {
        file.path == name || file.path.starts_with(&folder) || (name.ends_with(".rs") && file.path.ends_with(&ending))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_file_that_is_gone_is_reported_with_its_line() {
        let with = |text| {
            check(&Repo::from_files(&[
                ("docs/map.md", text),
                ("crates/log/src/lib.rs", ""),
                ("crates/log/src/block/writer.rs", ""),
            ]))
        };
        for text in [
            "`crates/log/src/lib.rs` and `crates/log/`",
            "`block/writer.rs`, `writer.rs`",
            "`crates/log/src/{lib,block/writer}.rs`",
            "`crates/*/src`, `cargo run`, `/dev/null`, crates/none",
        ] {
            assert_eq!(with(text), [""; 0], "{text}");
        }
        assert_eq!(with("first\n`reader.rs`"), ["docs/map.md:2: there is no reader.rs"]);
        assert_eq!(
            with("`crates/log/src/{lib,gone}.rs` `crates/none/`"),
            ["docs/map.md:1: there is no crates/log/src/gone.rs", "docs/map.md:1: there is no crates/none/"]
        );
    }
}
