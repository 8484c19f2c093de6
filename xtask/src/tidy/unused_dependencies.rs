//! Every dependency of a crate is named in its code: one that is not costs build time for nothing.
//!
//! An ordinary dependency must be named in `src`; one that only tests name belongs in `[dev-dependencies]`.

use super::repo::{File, Package, Repo};

pub(crate) fn check(repo: &Repo) -> Vec<String> {
    repo.packages.iter().flat_map(|package| unused(repo, package)).collect()
}

fn unused(repo: &Repo, package: &Package) -> Vec<String> {
    let inside = |file: &&File, folder: &str| file.path.starts_with(&format!("{}/{folder}", package.folder));
    let named = |name: &str, folder: &str| {
        repo.rust_files().filter(|file| inside(file, folder)).any(|file| names(&file.text, &name.replace('-', "_")))
    };
    let complaint = |name: &str, only_in_tests: bool| match (named(name, ""), named(name, "src/"), only_in_tests) {
        (false, _, _) => Some(format!("{}/Cargo.toml: {name} is used nowhere; remove it", package.folder)),
        (true, false, false) => {
            Some(format!("{}/Cargo.toml: only tests use {name}; move it to [dev-dependencies]", package.folder))
        }
        _ => None,
    };
    package.dependencies.iter().filter_map(|one| complaint(&one.name, one.only_in_tests)).collect()
}

/// Whether a text names a crate as the beginning of a path, such as `serde::Serialize` or `use serde;`.
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        let begins = !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
            || before.ends_with("::")
                && !before[..before.len() - 2].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        begins && (after.starts_with("::") || before.ends_with("use ") && after.starts_with([';', ' ']))
    })
}

#[cfg(test)]
mod tests {
    use super::super::repo::Dependency;
    use super::*;

    #[test]
    fn a_crate_is_named_by_the_beginning_of_a_path() {
        for (text, expected) in [
            ("use bytes::Bytes;", true),
            ("use bytes;", true),
            ("use bytes as b;", true),
            ("fn f() -> ::bytes::Bytes", true),
            ("tokio_util::bytes::Bytes", false),
            ("let bytes = 1;", false),
            ("my_bytes::x", false),
            ("bytes_util::x", false),
        ] {
            assert_eq!(names(text, "bytes"), expected, "{text}");
        }
    }

    #[test]
    fn dependencies_that_no_code_names_are_reported() {
        let mut repo = Repo::from_files(&[
            ("crates/a/src/lib.rs", "use serde_json::Value;"),
            ("crates/a/tests/all/main.rs", "use insta::x; use toml::Table;"),
            ("crates/ab/src/lib.rs", "use sha2::Sha256;"),
        ]);
        let dependency = |name: &str, only_in_tests| Dependency { name: name.into(), only_in_tests };
        repo.packages.push(Package {
            folder: "crates/a".into(),
            dependencies: vec![
                dependency("serde-json", false),
                dependency("sha2", false),
                dependency("toml", false),
                dependency("insta", true),
                dependency("tempfile", true),
            ],
            ..Package::default()
        });
        assert_eq!(
            check(&repo),
            [
                "crates/a/Cargo.toml: sha2 is used nowhere; remove it",
                "crates/a/Cargo.toml: only tests use toml; move it to [dev-dependencies]",
                "crates/a/Cargo.toml: tempfile is used nowhere; remove it",
            ]
        );
    }
}
