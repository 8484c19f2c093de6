//! Discard: what is named goes, and nothing else.

use std::os::unix::fs::symlink;

use roost_workspace::Error;
use roost_workspace::git::GitKind;

use super::{Repo, kind, names, paths};

/// The message of a refusal; panics if it was none.
fn refusal<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    match result {
        Err(error @ Error::Git { kind: GitKind::Dirty, .. }) => error.to_string(),
        other => panic!("{other:?} does not say that something would be lost"),
    }
}

#[tokio::test]
async fn a_discard_takes_back_what_is_named_and_nothing_else() {
    let repo = Repo::new();
    repo.write("dir/known", "old\n");
    repo.commit("more");
    repo.write("file", "changed");
    repo.write("dir/known", "changed");
    repo.write("dir/new", "precious");
    repo.write("new", "not wanted");
    let git = repo.git();
    assert_eq!(git.discard(&paths(&["dir", "new"])).await.unwrap(), ["dir/known", "new"]);
    assert_eq!((repo.read("dir/known").as_str(), repo.read("dir/new").as_str()), ("old\n", "precious"));
    assert!(!repo.exists("new"), "it was named");
    assert_eq!(repo.read("file"), "changed");
    assert_eq!(git.discard(&paths(&["."])).await.unwrap(), ["file"]);
    assert_eq!(repo.read("dir/new"), "precious");
}

#[tokio::test]
async fn a_discard_keeps_what_is_staged_and_what_is_ignored() {
    let repo = Repo::new();
    repo.write(".gitignore", "secret\n");
    repo.write("file", "staged");
    repo.run(&["add", "--all"]);
    repo.write("file", "unstaged");
    repo.write("secret", "precious");
    let git = repo.git();
    git.discard(&paths(&["file"])).await.unwrap();
    assert_eq!(repo.read("file"), "staged");
    assert_eq!(kind(git.discard(&paths(&["secret"])).await), GitKind::NoSuchPath);
    assert_eq!(repo.read("secret"), "precious");
}

#[tokio::test]
async fn a_discarded_link_is_removed_and_not_what_it_leads_to() {
    let repo = Repo::new();
    std::fs::write(repo.path().join("../outside"), "precious").unwrap();
    symlink("../outside", repo.path().join("link")).unwrap();
    repo.git().discard(&paths(&["link"])).await.unwrap();
    assert!(!repo.exists("link") && repo.exists("../outside"));
}

#[tokio::test]
async fn a_folder_in_the_place_of_a_file_is_kept_with_all_that_was_not_named() {
    let repo = Repo::new();
    repo.write(".gitignore", "ignored\n");
    repo.commit("more");
    std::fs::remove_file(repo.path().join("file")).unwrap();
    repo.write("file/new", "precious");
    repo.write("file/deep/ignored", "precious");
    let git = repo.git();
    for named in [&["file"][..], &["."], &["file", "file/new"]] {
        let why = refusal(git.discard(&paths(named)).await);
        assert!(why.contains("file/deep/ignored"), "{why}");
        assert_eq!(why.contains("file/new"), !named.contains(&"file/new"), "{why}");
        assert_eq!((repo.read("file/new").as_str(), repo.read("file/deep/ignored").as_str()), ("precious", "precious"));
    }
    std::fs::remove_file(repo.path().join("file/deep/ignored")).unwrap();
    git.discard(&paths(&["file", "file/new"])).await.unwrap();
    assert_eq!(repo.read("file"), "one\ntwo\n");
}

#[tokio::test]
async fn a_link_or_a_file_in_the_place_of_a_folder_is_kept_unless_it_is_named() {
    let repo = Repo::new();
    repo.write("dir/known", "old\n");
    repo.write("other/known", "old\n");
    repo.commit("more");
    for folder in ["dir", "other"] {
        std::fs::remove_dir_all(repo.path().join(folder)).unwrap();
    }
    std::fs::create_dir(repo.path().join("../outside")).unwrap();
    std::fs::write(repo.path().join("../outside/known"), "precious").unwrap();
    symlink("../outside", repo.path().join("dir")).unwrap();
    repo.write("other", "precious");
    let git = repo.git();
    for (named, in_the_way) in [("dir/known", "dir"), ("other/known", "other")] {
        let why = refusal(git.discard(&paths(&[named])).await);
        assert!(why.contains(&format!("{in_the_way:?}")), "{why}");
    }
    assert_eq!((repo.read("../outside/known").as_str(), repo.read("other").as_str()), ("precious", "precious"));
    assert!(repo.path().join("dir").is_symlink());
    git.discard(&paths(&["dir", "dir/known"])).await.unwrap();
    assert_eq!((repo.read("dir/known").as_str(), repo.read("../outside/known").as_str()), ("old\n", "precious"));
}

#[tokio::test]
async fn a_file_that_was_only_announced_is_no_more_known_than_any_new_one() {
    let repo = Repo::new();
    repo.write("dir/new", "precious");
    repo.run(&["add", "--intent-to-add", "dir/new"]);
    let git = repo.git();
    assert_eq!(kind(git.discard(&paths(&["dir"])).await), GitKind::NoSuchPath);
    assert_eq!(repo.read("dir/new"), "precious");
    git.discard(&paths(&["dir/new"])).await.unwrap();
    assert!(!repo.exists("dir/new") && git.status().await.unwrap().is_clean());
}

#[tokio::test]
async fn changes_in_a_submodule_are_its_own_business() {
    let repo = Repo::new();
    repo.run(&["init", "--quiet", "module"]);
    repo.run(&["-C", "module", "config", "user.name", "Ada"]);
    repo.run(&["-C", "module", "config", "user.email", "ada@example.org"]);
    repo.write("module/a", "old");
    repo.run(&["-C", "module", "add", "a"]);
    repo.run(&["-C", "module", "commit", "--quiet", "--message", "first"]);
    repo.commit("with a module");
    repo.write("module/a", "precious");
    repo.write("file", "changed");
    let git = repo.git();
    assert_eq!(git.discard(&paths(&["."])).await.unwrap(), ["file"]);
    assert_eq!(kind(git.discard(&paths(&["module"])).await), GitKind::NoSuchPath);
    assert_eq!(repo.read("module/a"), "precious");
}

#[tokio::test]
async fn a_discard_takes_a_name_as_it_is_written_and_nothing_that_it_could_mean() {
    let magic = ["-rf", "--all", ":(glob)**", ":!x", "*", "[ax]", "line\nfeed", "a b", "\"", "\\"];
    for name in magic {
        let repo = Repo::new();
        repo.write(name, "old\n");
        repo.commit("a strange name");
        for file in [name, "file", "a", "x"] {
            repo.write(file, "precious\n");
        }
        assert_eq!(repo.git().discard(&paths(&[name])).await.unwrap(), [name]);
        assert_eq!(repo.read(name), "old\n", "{name:?}");
        repo.run(&["rm", "--quiet", "--force", "--", &format!(":(literal){name}")]);
        repo.commit("it is gone");
        for file in [name, "file", "a", "x"] {
            repo.write(file, "precious\n");
        }
        assert_eq!(repo.git().discard(&paths(&[name])).await.unwrap(), [name]);
        assert!(!repo.exists(name), "{name:?} was new, and named");
        for file in ["file", "a", "x"] {
            assert_eq!(repo.read(file), "precious\n", "{file} beside {name:?}");
        }
    }
}

#[tokio::test]
async fn a_discard_keeps_what_is_new_in_a_folder_a_repository_within_and_what_is_staged_of_a_rename() {
    let repo = Repo::new();
    repo.write("kept/old", "one\ntwo\nthree\n");
    repo.commit("more");
    repo.run(&["mv", "kept/old", "kept/new"]);
    repo.write("kept/new", "one\ntwo\nthree\nfour\n");
    repo.write("fresh/a", "precious");
    repo.write("inner/b", "precious");
    repo.run(&["-C", "inner", "init", "--quiet"]);
    let git = repo.git();
    for folder in ["fresh", "inner", "kept/old"] {
        assert_eq!(kind(git.discard(&paths(&[folder])).await), GitKind::NoSuchPath, "{folder}");
    }
    assert_eq!(git.discard(&paths(&["kept/new"])).await.unwrap(), ["kept/new"]);
    assert_eq!(repo.read("kept/new"), "one\ntwo\nthree\n");
    assert_eq!(names(&git.status().await.unwrap().staged), ["R kept/new"]);
    assert_eq!(kind(git.discard(&paths(&["."])).await), GitKind::NoSuchPath, "nothing is left that git knows");
    assert_eq!((repo.read("fresh/a").as_str(), repo.read("inner/b").as_str()), ("precious", "precious"));
}

#[tokio::test]
async fn a_file_whose_name_is_not_utf_8_is_brought_back_with_its_folder() {
    use std::os::unix::ffi::OsStrExt;
    let strange = std::ffi::OsStr::from_bytes(b"bad-\xff");
    let repo = Repo::new();
    repo.write(strange, "old\n");
    repo.commit("a strange name");
    repo.write(strange, "changed\n");
    repo.write("file", "changed");
    assert_eq!(repo.git().discard(&paths(&["."])).await.unwrap(), ["bad-\u{fffd}", "file"]);
    assert_eq!(std::fs::read_to_string(repo.path().join(strange)).unwrap(), "old\n");
}
