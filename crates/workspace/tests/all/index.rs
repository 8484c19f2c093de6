//! What the index knows of a folder.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::time::Duration;

use roost_workspace::index::{Content, Index, scan};
use roost_workspace::{Error, Repository, Root};
use tokio_util::sync::CancellationToken;

use crate::test_folder::TestFolder;

/// Paths, those that git tracks with a star.
fn paths(index: &Index) -> Vec<String> {
    index.files().map(|file| format!("{}{}", if file.is_tracked() { "*" } else { "" }, file.path())).collect()
}

#[test]
fn what_git_tracks_and_what_it_does_not_ignore_is_there() {
    let place = TestFolder::repository(&["a/one.rs", "a/gone.rs", "kept.log", ".github/ci.yml", ".gitignore"]);
    place.write(".gitignore", "*.log\ntarget/\n");
    place.write_all(&["new.rs", "other.log", "target/out.rs", "a/line\nbreak", "a/-dash"]);
    fs::remove_file(place.path("a/gone.rs")).unwrap();
    symlink("/etc", place.path("link")).unwrap();
    fs::write(place.path("").join(OsStr::from_bytes(b"no-\xff-text")), "x").unwrap();

    let scan = scan(&place.root()).unwrap();
    let expected =
        ["*.github/ci.yml", "*.gitignore", "a/-dash", "a/line\nbreak", "*a/one.rs", "*kept.log", "link", "new.rs"];
    assert_eq!(paths(&scan.index), expected);
    assert_eq!(scan.unnamed, 1);
    assert!(scan.index.get("link").unwrap().is_link());
    assert_eq!(scan.index.get("new.rs").unwrap().size(), 6);
}

#[test]
fn a_folder_without_a_repository_honours_its_gitignore_too() {
    let place = TestFolder::empty();
    place.write(".gitignore", "node_modules\n");
    place.write_all(&["b", "a/c", "node_modules/x/y"]);
    assert_eq!(paths(&scan(&place.root()).unwrap().index), [".gitignore", "a/c", "b"]);
}

#[test]
fn folders_beneath_a_repository_worktrees_and_submodules_know_what_is_tracked() {
    let place = TestFolder::repository(&["sub/in/a", "top"]);
    place.write("sub/in/new", "");
    let beneath = scan(&Root::open(&place.path("sub/in")).unwrap()).unwrap();
    assert_eq!(paths(&beneath.index), ["*a", "new"]);

    let linked = place.outside("linked");
    place.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    assert_eq!(paths(&scan(&Root::open(&linked).unwrap()).unwrap().index), ["*sub/in/a", "*top"]);

    let other = TestFolder::repository(&["x", "y"]);
    place.git(&["submodule", "--quiet", "add", other.path("").to_str().unwrap(), "module"]);
    assert_eq!(paths(&scan(&Root::open(&place.path("module")).unwrap()).unwrap().index), ["*x", "*y"]);
}

#[test]
fn a_broken_git_index_hides_no_file_and_is_told() {
    let place = TestFolder::repository(&["a", "b"]);
    fs::write(place.path(".git/index"), "DIRC, but not really").unwrap();
    let scan = scan(&place.root()).unwrap();
    assert_eq!(paths(&scan.index), ["a", "b"]);
    assert!(scan.git_error.unwrap().to_string().contains("git status"));
}

#[test]
fn a_repository_without_commits_and_one_of_sha256_are_read() {
    for format in ["sha1", "sha256"] {
        let place = TestFolder::empty();
        place.git(&["init", "-q", "--object-format", format]);
        assert!(scan(&place.root()).unwrap().index.is_empty());
        place.write_all(&["a", "b"]);
        place.git(&["add", "a"]);
        assert_eq!(paths(&scan(&place.root()).unwrap().index), ["*a", "b"], "{format}");
    }
}

#[test]
fn a_missing_folder_is_an_error_and_not_an_empty_one() {
    let place = TestFolder::empty();
    let root = place.root();
    fs::remove_dir(place.path("")).unwrap();
    let gone = Repository::new(root, None).rebuild();
    assert!(matches!(gone, Ok(0) | Err(Error::NotFound { .. })), "{gone:?}");
    assert!(matches!(Root::open(&place.path("")), Err(Error::NoRoot { .. })));
}

#[tokio::test]
async fn sizes_are_those_of_now_not_those_that_git_remembers() {
    let place = TestFolder::repository(&["a"]);
    place.write("a", "longer than before");
    assert_eq!(place.open().current().await.unwrap().get("a").unwrap().size(), 18);
}

#[tokio::test]
async fn a_restart_knows_at_once_what_was_there_and_then_what_is() {
    let place = TestFolder::repository(&["a", "b"]);
    let first = place.open();
    first.current().await.unwrap();
    first.read_contents(&CancellationToken::new());
    place.write("c", "new");
    fs::remove_file(place.path("a")).unwrap();

    let second = place.open();
    let warm = second.current().await.unwrap();
    assert!(warm.get("b").is_some());
    second.rebuild().unwrap();
    assert_eq!(paths(&second.index()), ["*b", "c"]);
    assert_eq!(second.index().get("b").unwrap().content(), Some(Content::Lines(1)), "what was read is still known");
}

#[tokio::test]
async fn an_index_that_nobody_keeps_fresh_is_not_trusted_for_long() {
    let place = TestFolder::empty();
    let repository = place.open();
    assert!(repository.current().await.unwrap().is_empty());
    place.write("a", "");
    tokio::time::timeout(Duration::from_secs(60), async {
        while repository.current().await.unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the file is found");
}

#[test]
fn lines_are_counted_and_what_is_no_text_is_found_out() {
    let place = TestFolder::empty();
    place.write("three", "a\nb\nc");
    place.write("two", "a\nb\n");
    place.write("none", "");
    place.write("odd.txt", "a\0b");
    let repository = place.open();
    repository.rebuild().unwrap();
    let index = repository.read_contents(&CancellationToken::new());
    let content = |path: &str| index.get(path).unwrap().content().unwrap();
    assert_eq!(content("three"), Content::Lines(3));
    assert_eq!(content("two"), Content::Lines(2));
    assert_eq!(content("none"), Content::Lines(0));
    assert_eq!(content("odd.txt"), Content::Binary);
    assert!(index.get("odd.txt").unwrap().is_binary());
}

#[test]
fn rules_of_what_is_ignored_count_from_the_repository_on_and_not_from_above_it() {
    for is_git in [true, false] {
        let place = if is_git { TestFolder::repository(&[]) } else { TestFolder::empty() };
        std::fs::write(place.outside(".gitignore"), "*\n").unwrap();
        place.write(".gitignore", "*.log\n");
        place.write_all(&["a/b/new", "a/b/x.log"]);
        let repository = place.open();
        repository.rebuild().unwrap();
        let index = repository.index();
        let paths: Vec<_> = index.files().map(|file| file.path()).collect();
        assert_eq!(paths, [".gitignore", "a/b/new"], "a repository: {is_git}");
    }
}
