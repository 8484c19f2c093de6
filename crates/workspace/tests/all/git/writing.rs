//! Stage, discard, commit, checkout, stash, init: what is changed here.

use roost_workspace::git::{Branch, GitKind, NewCommit, StashDo};

use super::{Repo, kind, names, paths};

const STRANGE: [&str; 6] = ["-rf", "a b", "line\nfeed", "*", ":(top)x", "[a]"];

#[tokio::test]
async fn files_are_staged_and_unstaged_by_their_literal_names() {
    let repo = Repo::new();
    for name in STRANGE {
        repo.write(name, "x");
    }
    repo.write("ax", "must stay as it is");
    let git = repo.git();
    git.stage(&paths(&STRANGE)).await.unwrap();
    let status = git.status().await.unwrap();
    assert_eq!((status.staged.len(), names(&status.untracked)), (STRANGE.len(), vec!["? ax".to_owned()]));
    git.unstage(&paths(&["*"])).await.unwrap();
    let status = git.status().await.unwrap();
    assert_eq!(names(&status.untracked), ["? *", "? ax"]);
}

#[tokio::test]
async fn a_deletion_is_staged_too_and_a_first_commit_can_be_unstaged() {
    let repo = Repo::new();
    std::fs::remove_file(repo.path().join("file")).unwrap();
    repo.git().stage(&paths(&["file"])).await.unwrap();
    assert_eq!(names(&repo.git().status().await.unwrap().staged), ["D file"]);

    let repo = Repo::empty();
    repo.write("file", "x");
    repo.git().stage(&paths(&["."])).await.unwrap();
    assert_eq!(names(&repo.git().status().await.unwrap().staged), ["A file"]);
    repo.git().unstage(&paths(&["file"])).await.unwrap();
    assert_eq!(names(&repo.git().status().await.unwrap().untracked), ["? file"]);
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
async fn a_name_that_is_not_utf_8_keeps_no_other_from_being_discarded() {
    use std::os::unix::ffi::OsStrExt;
    let strange = std::ffi::OsStr::from_bytes(b"bad-\xff");
    let repo = Repo::new();
    repo.write(strange, "old\n");
    repo.commit("a strange name");
    repo.write(strange, "precious\n");
    repo.write("file", "changed");
    assert_eq!(repo.git().discard(&paths(&["."])).await.unwrap(), ["file"]);
    assert_eq!(std::fs::read_to_string(repo.path().join(strange)).unwrap(), "precious\n");
}

#[tokio::test]
async fn a_discarded_link_is_removed_and_not_what_it_leads_to() {
    let repo = Repo::new();
    std::fs::write(repo.path().join("../outside"), "precious").unwrap();
    std::os::unix::fs::symlink("../outside", repo.path().join("link")).unwrap();
    repo.git().discard(&paths(&["link"])).await.unwrap();
    assert!(!repo.exists("link") && repo.exists("../outside"));
}

#[tokio::test]
async fn a_commit_holds_what_is_staged_and_names_its_session_if_wanted() {
    let repo = Repo::new();
    repo.write("a", "x");
    repo.write("b", "x");
    repo.run(&["add", "a", "b"]);
    repo.write("file", "not staged");
    let new = NewCommit { message: "add two\n\nIn so many words.".into(), session: Some("0190-ab".into()) };
    let committed = repo.git().commit(&new).await.unwrap();
    assert_eq!((committed.files, committed.subject.as_str()), (2, "add two"));
    assert!(committed.sha.starts_with(&committed.short_sha));
    let message = repo.run(&["log", "-1", "--format=%B"]);
    assert!(message.ends_with("Roost-Session: 0190-ab"), "{message}");
}

#[tokio::test]
async fn the_users_own_hooks_decide_about_a_commit() {
    use std::os::unix::fs::PermissionsExt;
    let repo = Repo::new();
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\necho no such commit here >&2\nexit 1\n");
    let hook = repo.path().join(".git/hooks/pre-commit");
    std::fs::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    repo.write("a", "x");
    repo.run(&["add", "a"]);
    let refused = repo.git().commit(&NewCommit { message: "x".into(), session: None }).await.unwrap_err();
    assert!(refused.to_string().contains("no such commit here"), "{refused}");
}

#[tokio::test]
async fn branches_are_made_left_and_deleted() {
    let repo = Repo::new().with_remote();
    repo.run(&["push", "--quiet", "origin", "main:theirs"]);
    let git = repo.git();
    let branch = |name: &str| Branch::parse(name).unwrap();
    let switched = git.checkout(&branch("a/b"), true).await.unwrap();
    assert_eq!((switched.from.as_str(), switched.to.as_str()), ("main", "a/b"));
    assert_eq!(git.checkout(&branch("origin/theirs"), false).await.unwrap().to, "theirs");
    assert_eq!(git.status().await.unwrap().upstream.as_deref(), Some("origin/theirs"));
    repo.write("x", "x");
    repo.commit("only here");
    git.checkout(&branch("main"), false).await.unwrap();
    assert_eq!(kind(git.delete_branch(&branch("theirs"), false).await), GitKind::Dirty);
    git.delete_branch(&branch("theirs"), true).await.unwrap();
    assert_eq!(git.delete_remote_branch(&branch("theirs")).await.unwrap(), "origin");
    assert_eq!(git.branches().await.unwrap().all.len(), 3);
    git.set_upstream(&branch("a/b"), &branch("origin/main")).await.unwrap();
    assert_eq!(kind(git.checkout(&branch("nowhere"), false).await), GitKind::NoSuchRef);
    assert_eq!(kind(git.checkout(&branch("main"), true).await), GitKind::Exists);
}

#[tokio::test]
async fn a_checkout_that_would_lose_changes_is_refused() {
    let repo = Repo::torn();
    repo.write("file", "precious");
    assert_eq!(kind(repo.git().checkout(&Branch::parse("other").unwrap(), false).await), GitKind::Dirty);
    assert_eq!(repo.read("file"), "precious");
}

#[tokio::test]
async fn changes_are_put_aside_and_brought_back() {
    let repo = Repo::new();
    let git = repo.git();
    assert_eq!(kind(git.stash(None, false).await), GitKind::Nothing);
    repo.write("file", "changed");
    repo.write("new", "x");
    let stash = git.stash(Some("--later: maybe"), true).await.unwrap();
    assert_eq!((stash.index, stash.branch.as_str(), stash.message.as_str()), (0, "main", "--later: maybe"));
    assert!(git.status().await.unwrap().is_clean());
    git.stash_do(StashDo::Apply, 0).await.unwrap();
    assert_eq!((repo.read("file").as_str(), repo.exists("new")), ("changed", true));
    git.stash_do(StashDo::Drop, 0).await.unwrap();
    assert!(git.stashes().await.unwrap().is_empty());
    assert!(matches!(kind(git.stash_do(StashDo::Pop, 7).await), GitKind::Nothing | GitKind::NoSuchRef));
}

#[tokio::test]
async fn what_comes_back_in_conflict_is_a_result() {
    let repo = Repo::new();
    let git = repo.git();
    repo.write("file", "aside\ntwo\n");
    git.stash(None, false).await.unwrap();
    repo.write("file", "meanwhile\ntwo\n");
    repo.commit("meanwhile");
    let popped = git.stash_do(StashDo::Pop, 0).await.unwrap();
    assert_eq!(popped.conflicted, ["file"]);
    assert_eq!(git.stashes().await.unwrap().len(), 1, "it is kept");
}

#[tokio::test]
async fn a_folder_becomes_a_repository_once() {
    let repo = Repo::none();
    std::fs::write(repo.folder.path().join("home/.gitconfig"), "[user]\nname = Ada\nemail = ada@example.org\n")
        .unwrap();
    repo.write("a", "x");
    let git = repo.git();
    let made = git.init(&Branch::parse("trunk").unwrap(), Some("first")).await.unwrap();
    assert_eq!((made.branch.as_str(), made.commit.unwrap().files), ("trunk", 1));
    assert_eq!(kind(git.init(&Branch::parse("main").unwrap(), None).await), GitKind::Exists);
}
