//! A commit says nothing about the machine it was made on: no home folders, no package mirrors.

use super::repo::Repo;

// Written in two halves so that this file passes its own rule.
const FOLDERS: &[&str] = &[concat!("/ro", "ot/"), concat!("/wo", "rk/")];
const HOSTS: &[&str] = &[
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("registry.npm", "js.org"),
    concat!("registry.yarn", "pkg.com"),
    concat!("pypi", ".org"),
    concat!("files.python", "hosted.org"),
];
/// Settings by which a file would bind everybody to one mirror, whatever its name.
const MIRROR_SETTINGS: &[&str] = &[
    concat!("replace-", "with"),
    concat!("index", "-url"),
    concat!("--reg", "istry"),
    concat!("registry", "=http"),
    concat!("\"resolved\"", ": \"http"),
];
const CARGO_SOURCE: &str = "source = \"registry+";
const PUBLIC_CARGO_INDEX: &str = "https://github.com/rust-lang/crates.io-index\"";

pub(crate) fn check(repo: &Repo) -> Vec<String> {
    let lines =
        repo.files.iter().flat_map(|file| file.text.lines().enumerate().map(move |(at, line)| (file, at + 1, line)));
    lines.filter_map(|(file, at, line)| Some(format!("{}:{at}: {}", file.path, problem(&file.path, line)?))).collect()
}

fn problem(path: &str, line: &str) -> Option<String> {
    if let Some(folder) = FOLDERS.iter().find(|folder| has_absolute(line, folder)) {
        return Some(format!("names the machine's folder {folder}"));
    }
    if let Some(host) = HOSTS.iter().find(|host| line.contains(*host)) {
        return Some(format!("names the package registry {host}"));
    }
    let mirror = MIRROR_SETTINGS.iter().any(|setting| line.contains(setting))
        || path.ends_with("Cargo.lock") && is_private_source(line);
    mirror.then(|| "binds the project to a package mirror".to_owned())
}

/// A match in the middle of a longer path is a folder of the repository, not of a machine.
fn has_absolute(line: &str, folder: &str) -> bool {
    let inside_path = |c: char| c.is_alphanumeric() || "._-})>*~".contains(c);
    line.match_indices(folder).any(|(at, _)| !line[..at].ends_with(inside_path))
}

fn is_private_source(line: &str) -> bool {
    line.strip_prefix(CARGO_SOURCE).is_some_and(|index| index != PUBLIC_CARGO_INDEX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_machine_folders_are_reported_and_relative_ones_are_not() {
        for folder in FOLDERS {
            for (line, reported) in [
                (format!("cwd = \"{folder}x\""), true),
                (format!("{folder}x"), true),
                (format!("docs{folder}x"), false),
                (format!("${{dir}}{folder}x"), false),
            ] {
                assert_eq!(problem("a.md", &line).is_some(), reported, "{line}");
            }
        }
    }

    #[test]
    fn registries_and_mirrors_are_reported() {
        for text in HOSTS.iter().chain(MIRROR_SETTINGS) {
            assert!(problem("a", &format!("x {text} y")).is_some(), "{text}");
        }
    }

    #[test]
    fn a_lock_file_names_only_the_public_index() {
        let public = format!("{CARGO_SOURCE}{PUBLIC_CARGO_INDEX}");
        let private = format!("{CARGO_SOURCE}https://mirror.example/index\"");
        let found = check(&Repo::from_files(&[("Cargo.lock", &format!("{public}\n{private}\n"))]));
        assert_eq!(found, ["Cargo.lock:2: binds the project to a package mirror"]);
    }
}
