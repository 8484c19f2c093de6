//! Every crate takes the workspace lints, and only crates/process may allow `unsafe`.

use super::repo::Repo;

const MAY_HOLD_UNSAFE: &str = "crates/process/";
// Written in two halves so that this file passes its own rule.
const UNSAFE_LINT: &str = concat!("unsafe", "_code");

pub(crate) fn check(repo: &Repo) -> Vec<String> {
    let manifests = repo.packages.iter().map(|package| format!("{}/Cargo.toml", package.folder));
    let without_lints = manifests
        .filter(|path| !repo.file(path).is_some_and(|file| inherits_lints(&file.text)))
        .map(|path| format!("{path}: add [lints] workspace = true"));
    // The workspace denies unsafe; a crate can escape that only by naming the lint.
    let escapes = repo
        .rust_files()
        .filter(|file| !file.path.starts_with(MAY_HOLD_UNSAFE) && file.text.contains(UNSAFE_LINT))
        .map(|file| format!("{}: names the lint {UNSAFE_LINT}; unsafe belongs in {MAY_HOLD_UNSAFE}", file.path));
    let denied = repo.file("Cargo.toml").is_none_or(|file| file.text.contains(&format!("{UNSAFE_LINT} = \"deny\"")));
    let not_denied = (!denied).then(|| format!("Cargo.toml: the workspace lints must deny {UNSAFE_LINT}"));
    without_lints.chain(escapes).chain(not_denied).collect()
}

fn inherits_lints(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim);
    lines.any(|line| line == "[lints]")
        && lines.take_while(|line| !line.starts_with('[')).any(|line| line == "workspace = true")
}

#[cfg(test)]
mod tests {
    use super::super::repo::Package;
    use super::*;

    #[test]
    fn a_manifest_inherits_lints_only_by_its_own_section() {
        for (manifest, expected) in [
            ("[package]\n\n[lints]\nworkspace = true\n", true),
            ("[lints]\n\n[dependencies]\nworkspace = true\n", false),
            ("[lints.rust]\nworkspace = true\n", false),
            ("", false),
        ] {
            assert_eq!(inherits_lints(manifest), expected, "{manifest:?}");
        }
    }

    #[test]
    fn a_crate_without_the_workspace_lints_is_reported() {
        let mut repo = Repo::from_files(&[("crates/a/Cargo.toml", "[package]")]);
        repo.packages.push(Package { folder: "crates/a".into(), ..Package::default() });
        assert_eq!(check(&repo), ["crates/a/Cargo.toml: add [lints] workspace = true"]);
    }

    #[test]
    fn only_the_process_crate_may_allow_unsafe() {
        let allow = format!("#![allow({UNSAFE_LINT})]");
        let found =
            check(&Repo::from_files(&[("crates/process/src/lib.rs", &allow), ("crates/log/src/lib.rs", &allow)]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/log/src/lib.rs: "), "{found:?}");
    }

    #[test]
    fn a_workspace_that_stops_denying_unsafe_is_reported() {
        let found = check(&Repo::from_files(&[("Cargo.toml", "[workspace.lints.rust]\n")]));
        assert_eq!(found, [format!("Cargo.toml: the workspace lints must deny {UNSAFE_LINT}")]);
    }
}
