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
    assert_eq!(kind(git.check_merged(&branch("theirs")).await), GitKind::Dirty);
    let remote = git.branch_remote("branch/delete", &branch("theirs")).await.unwrap();
    assert_eq!(remote.as_str(), "origin");
    git.delete_branch(&branch("theirs"), true).await.unwrap();
    git.delete_remote_branch(&remote, &branch("theirs")).await.unwrap();
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

/// A folder that is no repository, of somebody who has told git a name.
fn no_repository() -> Repo {
    let repo = Repo::none();
    let identity = "[user]\nname = Ada\nemail = ada@example.org\n";
    std::fs::write(repo.folder.path().join("home/.gitconfig"), identity).unwrap();
    repo
}

#[tokio::test]
async fn an_empty_folder_gets_a_first_commit_without_files() {
    let made = no_repository().git().init(&Branch::parse("main").unwrap(), Some("first")).await.unwrap();
    assert_eq!(made.commit.map(|commit| (commit.subject, commit.files)), Some(("first".to_owned(), 0)));
}

#[tokio::test]
async fn a_folder_becomes_a_repository_once() {
    let repo = no_repository();
    repo.write("a", "x");
    let git = repo.git();
    let made = git.init(&Branch::parse("trunk").unwrap(), Some("first")).await.unwrap();
    assert_eq!((made.branch.as_str(), made.commit.unwrap().files), ("trunk", 1));
    assert_eq!(kind(git.init(&Branch::parse("main").unwrap(), None).await), GitKind::Initialised);
}
