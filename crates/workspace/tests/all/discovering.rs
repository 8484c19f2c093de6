//! Repositories are found as far as a search may go.

use std::fs;
use std::path::{Path, PathBuf};

use roost_workspace::discover::{DiscoverLimits, Discovery, discover};
use tempfile::TempDir;

/// A home with repositories at several depths.
fn home() -> (TempDir, Vec<PathBuf>) {
    let home = TempDir::new().unwrap();
    let repository = |path: &str| fs::create_dir_all(home.path().join(path).join(".git")).unwrap();
    for path in ["near", "a/far", "a/b/c/d/e/too-far", "near/inside", ".hidden/repo", "node_modules/repo"] {
        repository(path);
    }
    fs::create_dir_all(home.path().join("tree")).unwrap();
    fs::write(home.path().join("tree/.git"), "gitdir: ../near/.git/worktrees/tree\n").unwrap();
    std::os::unix::fs::symlink(home.path().join("near"), home.path().join("link")).unwrap();
    let roots = vec![home.path().to_owned()];
    (home, roots)
}

fn names(found: &Discovery, home: &Path) -> Vec<String> {
    let name = |path: &PathBuf| path.strip_prefix(home).unwrap().to_string_lossy().into_owned();
    found.repositories.iter().map(|repository| name(&repository.path)).collect()
}

#[test]
fn repositories_are_found_but_nothing_inside_hidden_behind_links_or_too_far_away() {
    let (home, roots) = home();
    let found = discover(&roots, DiscoverLimits::default(), |_| true);
    assert_eq!(names(&found, home.path()), ["a/far", "near", "tree"]);
    assert!(found.skipped > 0, "the folder that is too deep is counted");
    let deeper = discover(&roots, DiscoverLimits { depth: 9, ..DiscoverLimits::default() }, |_| true);
    assert!(names(&deeper, home.path()).contains(&"a/b/c/d/e/too-far".to_owned()));
}

#[test]
fn a_search_ends_when_it_is_told_to_and_keeps_what_it_has() {
    let (home, roots) = home();
    let mut steps = Vec::new();
    let found = discover(&roots, DiscoverLimits::default(), |found| {
        steps.push(found.repositories.len());
        found.repositories.is_empty()
    });
    assert_eq!(names(&found, home.path()).len(), 1);
    assert!(steps.is_sorted());
    let one = discover(&roots, DiscoverLimits { repositories: 1, ..DiscoverLimits::default() }, |_| true);
    assert_eq!(one.repositories.len(), 1);
}

#[test]
fn a_folder_that_is_not_there_spoils_nothing() {
    let (home, mut roots) = home();
    roots.insert(0, home.path().join("nowhere"));
    assert_eq!(discover(&roots, DiscoverLimits::default(), |_| true).repositories.len(), 3);
}

#[test]
fn a_pipe_in_place_of_a_repositorys_settings_is_not_waited_for() {
    let (home, roots) = home();
    let pipe = home.path().join("near/.git/config");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let found = discover(&roots, DiscoverLimits::default(), |_| true);
    assert!(names(&found, home.path()).contains(&"near".to_owned()));
}
