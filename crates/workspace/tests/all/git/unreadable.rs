//! Names that are no UTF-8: seen, staged and discarded with their folder, and never taken for another file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use roost_workspace::git::{DiffLimits, GitKind, Side};

use super::{Repo, kind, names, paths};

const NAME: &[u8] = b"dir/caf\xe9";
const SHOWN: &str = "dir/caf\u{fffd}";

fn write(repo: &Repo, content: &str) {
    repo.write(OsStr::from_bytes(NAME), content);
}

fn read(repo: &Repo) -> String {
    std::fs::read_to_string(repo.path().join(OsStr::from_bytes(NAME))).unwrap()
}

#[tokio::test]
async fn they_are_listed_as_such_and_staged_with_their_folder() {
    let repo = Repo::new();
    write(&repo, "one\n");
    let git = repo.git();
    let status = git.status().await.unwrap();
    assert_eq!(names(&status.untracked), [format!("? {SHOWN}")]);
    assert_eq!(status.untracked[0].raw.as_deref(), Some(NAME), "so that nobody takes the shown name for the real one");
    assert_eq!(kind(git.stage(&paths(&[SHOWN])).await), GitKind::NoSuchPath);
    git.stage(&paths(&["dir"])).await.unwrap();
    let staged = git.status().await.unwrap().staged;
    assert_eq!((names(&staged), staged[0].additions), (vec![format!("A {SHOWN}")], Some(1)));
}

#[tokio::test]
async fn a_folder_with_one_is_discarded_whole_and_loses_nothing_that_is_new() {
    let repo = Repo::new();
    write(&repo, "old");
    repo.write("dir/known", "old");
    repo.commit("more");
    write(&repo, "changed");
    repo.write("dir/known", "changed");
    repo.write(OsStr::from_bytes(b"dir/new\xff"), "precious");
    assert_eq!(repo.git().discard(&paths(&["dir"])).await.unwrap(), [SHOWN, "dir/known"]);
    assert_eq!((read(&repo).as_str(), repo.read("dir/known").as_str()), ("old", "old"));
    assert!(repo.exists(OsStr::from_bytes(b"dir/new\xff")));
}

#[tokio::test]
async fn the_name_that_is_shown_names_another_file_or_none() {
    let repo = Repo::new();
    write(&repo, "precious");
    let git = repo.git();
    assert_eq!(kind(git.discard(&paths(&["dir", SHOWN])).await), GitKind::NoSuchPath);
    repo.write(SHOWN, "its namesake\n");
    let diffs = git.diff_all(&[Side::Unstaged], DiffLimits::default()).await.unwrap();
    assert_eq!(diffs.iter().filter(|diff| diff.diff.contains("its namesake")).count(), 1);
    assert_eq!(diffs.len(), 2);
    assert_eq!(git.discard(&paths(&["dir", SHOWN])).await.unwrap(), [SHOWN]);
    assert!(!repo.exists(SHOWN));
    assert_eq!(read(&repo), "precious");
}
