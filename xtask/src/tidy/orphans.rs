//! Every source and test file is compiled: one that no `mod` reaches only looks like it is.
//!
//! Declarations are read line by line; a `mod x;` inside an inline module is not followed.

use std::collections::BTreeSet;

use super::repo::Repo;

/// A `mod` declaration, with its `#[path]` if it has one.
#[derive(Debug, PartialEq, Eq)]
struct Module<'a> {
    name: &'a str,
    path: Option<&'a str>,
}

pub(crate) fn check(repo: &Repo) -> Vec<String> {
    let reached = reached(repo);
    let must_be_reached = |path: &str| {
        let folders = repo.packages.iter().map(|package| package.folder.as_str());
        let mut inside = folders.filter_map(|folder| path.strip_prefix(folder)?.strip_prefix('/'));
        inside.any(|rest| rest.starts_with("src/") || rest.starts_with("tests/"))
    };
    repo.rust_files()
        .filter(|file| must_be_reached(&file.path) && !reached.contains(&file.path))
        .map(|file| format!("{}: no target or mod reaches it, so it is never compiled", file.path))
        .collect()
}

fn reached(repo: &Repo) -> BTreeSet<String> {
    let targets = repo.packages.iter().flat_map(|package| &package.targets);
    // Each file with the folder in which its own modules live.
    let mut open: Vec<(String, String)> = targets.map(|path| (path.clone(), parent(path).to_owned())).collect();
    let mut reached = BTreeSet::new();
    while let Some((path, folder)) = open.pop() {
        let Some(file) = repo.file(&path).filter(|_| !reached.contains(&path)) else {
            continue;
        };
        for module in modules(&file.text) {
            if let Some(named) = module.path {
                let child = resolved(parent(&path), named);
                open.push((child.clone(), parent(&child).to_owned()));
            } else {
                let inner = resolved(&folder, module.name);
                open.push((format!("{inner}.rs"), inner.clone()));
                open.push((format!("{inner}/mod.rs"), inner));
            }
        }
        reached.insert(path);
    }
    reached
}

fn modules(text: &str) -> Vec<Module<'_>> {
    let mut found = Vec::new();
    let mut path = None;
    for line in text.lines() {
        let line = line.split_once("//").map_or(line, |(code, _)| code).trim();
        let (attributes, item) = match line.rfind(']') {
            Some(end) if line.starts_with("#[") => line.split_at(end + 1),
            _ => ("", line),
        };
        path = attributes
            .split_once("path = \"")
            .and_then(|(_, rest)| rest.split_once('"'))
            .map(|(named, _)| named)
            .or(path);
        let item = item.trim();
        if let Some(name) = declared(item) {
            found.push(Module { name, path });
        }
        if !item.is_empty() {
            path = None;
        }
    }
    found
}

fn declared(item: &str) -> Option<&str> {
    let item = match item.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1,
        Some(rest) => rest,
        None => item,
    };
    let name = item.trim_start().strip_prefix("mod ")?.strip_suffix(';')?.trim();
    Some(name.strip_prefix("r#").unwrap_or(name))
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn resolved(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::super::repo::Package;
    use super::*;

    fn orphans(files: &[(&str, &str)], targets: &[&str]) -> Vec<String> {
        let mut repo = Repo::from_files(files);
        let targets = targets.iter().map(|path| (*path).to_owned()).collect();
        repo.packages.push(Package { folder: "crates/a".into(), targets, ..Package::default() });
        check(&repo)
    }

    #[test]
    fn files_behind_every_kind_of_declaration_are_reached() {
        let files = [
            (
                "crates/a/src/lib.rs",
                "pub mod one;\npub(crate) mod two;\n#[cfg(test)]\n#[path = \"odd/name.rs\"]\nmod three;\nmod r#type;",
            ),
            ("crates/a/src/one.rs", "mod inner; // why"),
            ("crates/a/src/one/inner.rs", "#[cfg(test)] mod deep;"),
            ("crates/a/src/one/inner/deep.rs", ""),
            ("crates/a/src/two/mod.rs", "mod leaf;"),
            ("crates/a/src/two/leaf.rs", "#[path = \"../beside.rs\"] mod beside;"),
            ("crates/a/src/beside.rs", ""),
            ("crates/a/src/odd/name.rs", "mod neighbour;"),
            ("crates/a/src/odd/neighbour.rs", ""),
            ("crates/a/src/type.rs", ""),
            ("crates/a/tests/all/main.rs", "mod faults;"),
            ("crates/a/tests/all/faults.rs", ""),
        ];
        assert_eq!(orphans(&files, &["crates/a/src/lib.rs", "crates/a/tests/all/main.rs"]), [""; 0]);
    }

    #[test]
    fn files_that_nothing_declares_are_reported() {
        let files = [
            ("crates/a/src/lib.rs", "// mod gone;\nmod wired { }"),
            ("crates/a/src/gone.rs", "mod child;"),
            ("crates/a/src/gone/child.rs", ""),
            ("crates/a/tests/all/main.rs", ""),
            ("crates/a/tests/all/forgotten.rs", ""),
            ("crates/a/fixtures/data.rs", ""),
        ];
        let found = orphans(&files, &["crates/a/src/lib.rs", "crates/a/tests/all/main.rs"]);
        let named: Vec<_> = found.iter().filter_map(|line| line.split_once(':')).map(|(path, _)| path).collect();
        assert_eq!(named, ["crates/a/src/gone.rs", "crates/a/src/gone/child.rs", "crates/a/tests/all/forgotten.rs"]);
    }
}
