//! Repositories and inputs that are not as they should be: a clear failure each, and nothing changed.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use roost_workspace::git::{DiffLimits, Git, GitKind, LogQuery, NewCommit, Push, Remote, Side, Timeouts};
use roost_workspace::{Error, Root};
use tokio_util::sync::CancellationToken;

use super::{Repo, kind, path, paths};

const LIMITS: fn() -> DiffLimits = DiffLimits::default;

#[tokio::test]
async fn a_repository_above_the_workspace_is_none_of_its_business() {
    let repo = Repo::new();
    repo.write("inner/secret", "x");
    let inner = Root::open(&repo.path().join("inner")).unwrap();
    let git = Git::new(inner).with_environment(repo.environment());
    assert_eq!(kind(git.status().await), GitKind::NotARepository);
    assert_eq!(kind(git.stage(&paths(&["secret"])).await), GitKind::NotARepository);
}

#[tokio::test]
async fn a_repository_whose_files_are_elsewhere_is_refused() {
    let repo = Repo::new();
    let outside = repo.path().join("../outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("file"), "precious").unwrap();
    repo.run(&["config", "core.worktree", outside.to_str().unwrap()]);
    let git = repo.git();
    assert_eq!(kind(git.discard(&paths(&["file"])).await), GitKind::NotARepository);
    assert_eq!(kind(git.diff_all(&[Side::Unstaged], LIMITS()).await), GitKind::NotARepository);
    assert_eq!(std::fs::read_to_string(outside.join("file")).unwrap(), "precious");
}

#[tokio::test]
async fn a_diff_reads_nothing_outside_the_workspace() {
    let repo = Repo::new();
    std::fs::write(repo.path().join("../secret"), "secret").unwrap();
    std::os::unix::fs::symlink("../secret", repo.path().join("link")).unwrap();
    std::os::unix::fs::symlink("..", repo.path().join("up")).unwrap();
    let shown = repo.git().diff_file(&path("link"), None, LIMITS()).await.unwrap();
    assert!(!shown.diff.contains("secret"), "{shown:?}");
    let beyond = repo.git().diff_file(&path("up/secret"), None, LIMITS()).await;
    assert!(matches!(kind(beyond), GitKind::NoSuchPath), "beyond a link");
    let all = repo.git().diff_all(&[Side::Unstaged], LIMITS()).await.unwrap();
    assert!(all.iter().all(|diff| !diff.diff.contains("secret")), "{all:?}");
}

#[tokio::test]
async fn a_repository_without_commits_answers_what_it_can() {
    let repo = Repo::empty();
    let git = repo.git();
    assert_eq!(git.status().await.unwrap().branch.as_deref(), Some("main"));
    assert_eq!(git.log(&LogQuery { limit: 1, ..LogQuery::default() }).await.unwrap().total, 0);
    assert_eq!(git.branches().await.unwrap().current.as_deref(), Some("main"));
    repo.write("new", "x\n");
    assert!(git.diff_file(&path("new"), None, LIMITS()).await.unwrap().is_new);
    assert_eq!(kind(git.stash(None, true).await), GitKind::NoCommits);
    let empty = NewCommit { message: "x".into(), session: None };
    assert_eq!(kind(git.commit(&empty).await), GitKind::Nothing);
}

#[tokio::test]
async fn each_broken_repository_has_its_own_failure() {
    let bare = Repo::none();
    bare.run(&["init", "--quiet", "--bare"]);
    assert_eq!(kind(bare.git().status().await), GitKind::Bare);

    let broken = Repo::new();
    broken.write(".git/index", "DIRC rubbish rubbish rubbish rubbish rubbish rubbish");
    assert_eq!(kind(broken.git().status().await), GitKind::Broken);

    let config = Repo::new();
    config.write(".git/config", "[core\n");
    assert_eq!(kind(config.git().status().await), GitKind::Broken);

    let locked = Repo::new();
    locked.write(".git/index.lock", "");
    locked.write("new", "x");
    assert_eq!(locked.git().status().await.unwrap().untracked.len(), 1, "a look needs no lock");
    assert_eq!(kind(locked.git().stage(&paths(&["new"])).await), GitKind::Locked);

    assert_eq!(kind(Repo::none().git().status().await), GitKind::NotARepository);
}

#[tokio::test]
async fn a_shallow_clone_is_a_repository_like_any_other() {
    let repo = Repo::new();
    repo.write("file", "x");
    repo.commit("second");
    let url = format!("file://{}", repo.path().display());
    repo.run(&["clone", "--quiet", "--depth=1", &url, "../shallow"]);
    let root = Root::open(&repo.path().join("../shallow").canonicalize().unwrap()).unwrap();
    let git = Git::new(root).with_environment(repo.environment());
    let log = git.log(&LogQuery { limit: 10, graph: true, ..LogQuery::default() }).await.unwrap();
    assert_eq!((log.commits.len(), log.total), (1, 1));
    assert!(git.status().await.unwrap().is_clean());
}

#[tokio::test]
async fn a_folder_that_went_away_is_said_to_be_gone() {
    let repo = Repo::new();
    let git = repo.git();
    std::fs::remove_dir_all(repo.path()).unwrap();
    let gone = git.status().await;
    assert!(matches!(gone, Err(Error::NoRoot { .. })), "{gone:?}");
}

#[tokio::test]
async fn paths_that_git_does_not_know_are_named_as_such() {
    let repo = Repo::new();
    let git = repo.git();
    assert_eq!(kind(git.stage(&paths(&["nowhere"])).await), GitKind::NoSuchPath);
    assert_eq!(kind(git.stage(&[]).await), GitKind::NoSuchPath);
    assert_eq!(kind(git.discard(&paths(&["nowhere"])).await), GitKind::NoSuchPath);
    assert_eq!(kind(git.diff_file(&path("nowhere"), None, LIMITS()).await), GitKind::NoSuchPath);
}

#[tokio::test]
async fn a_commit_without_words_or_without_an_author_is_refused() {
    let repo = Repo::none();
    repo.run(&["init", "--quiet"]);
    repo.run(&["config", "user.useConfigOnly", "true"]);
    repo.write("new", "x");
    repo.run(&["add", "new"]);
    let commit = |message: &str| NewCommit { message: message.into(), session: None };
    assert_eq!(kind(repo.git().commit(&commit(" \n")).await), GitKind::BadName);
    assert_eq!(kind(repo.git().commit(&commit("x")).await), GitKind::NoIdentity);
}

/// A remote that is a program which never answers, reached as if by ssh.
fn hanging(repo: &Repo) -> std::path::PathBuf {
    let (script, mark) = (repo.path().join("../hang"), repo.path().join("../started"));
    std::fs::write(&script, format!("#!/bin/sh\necho $$ > {}\nexec sleep 600\n", mark.display())).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    repo.run(&["config", "core.sshCommand", script.to_str().unwrap()]);
    repo.run(&["remote", "add", "origin", "ssh://example.invalid/x"]);
    mark
}

/// The process is gone, or about to be: it is asked until it is.
async fn ends(pid: &str) {
    let proc = std::path::Path::new("/proc").join(pid.trim());
    let begun = Instant::now();
    while std::fs::read_to_string(proc.join("stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(begun.elapsed() < Duration::from_secs(60), "{pid} still runs");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_push_that_hangs_is_ended_with_everything_it_started() {
    let repo = Repo::new();
    let mark = hanging(&repo);
    let timeouts = Timeouts { network: Duration::from_secs(3), ..Timeouts::default() };
    let git = repo.git().with_timeouts(timeouts);
    let push = Push { set_upstream: true, ..Push::default() };
    assert_eq!(kind(git.push(&push).await), GitKind::Timeout);
    ends(&std::fs::read_to_string(mark).unwrap()).await;
}

#[tokio::test]
async fn a_fetch_that_nobody_waits_for_any_more_is_ended() {
    let repo = Repo::new();
    let mark = hanging(&repo);
    let git = repo.git();
    let fetch = tokio::spawn(async move { git.fetch(&Remote::parse("origin").unwrap(), false).await });
    let begun = Instant::now();
    while std::fs::read_to_string(&mark).unwrap_or_default().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never started");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    fetch.abort();
    ends(&std::fs::read_to_string(mark).unwrap()).await;
}

#[tokio::test]
async fn a_hook_that_hangs_is_ended_when_somebody_says_so_and_nothing_follows() {
    let repo = Repo::new();
    let mark = repo.path().join("../started");
    let hook = repo.path().join(".git/hooks/pre-commit");
    repo.write(".git/hooks/pre-commit", format!("#!/bin/sh\necho $$ > {}\nexec sleep 600\n", mark.display()));
    std::fs::set_permissions(hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    repo.write("new", "x");
    repo.run(&["add", "new"]);
    let cancelled = CancellationToken::new();
    let git = repo.git().with_cancel(cancelled.clone());
    let committing = git.clone();
    let commit =
        tokio::spawn(async move { committing.commit(&NewCommit { message: "x".into(), session: None }).await });
    let begun = Instant::now();
    while std::fs::read_to_string(&mark).unwrap_or_default().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never started");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    cancelled.cancel();
    assert_eq!(kind(commit.await.unwrap()), GitKind::Cancelled);
    assert!(!repo.exists(".git/index.lock"), "git has ended when it is said to have");
    ends(&std::fs::read_to_string(mark).unwrap()).await;
    assert_eq!(kind(git.stage(&paths(&["new"])).await), GitKind::Cancelled);
}

#[tokio::test]
async fn a_path_is_no_remote() {
    let repo = Repo::new();
    repo.run(&["init", "--quiet", "--bare", "../outside"]);
    std::os::unix::fs::symlink("../outside", repo.path().join("link")).unwrap();
    let remote = Some(Remote::parse("link").unwrap());
    assert_eq!(kind(repo.git().push(&Push { remote, ..Push::default() }).await), GitKind::NoRemote);
    assert_eq!(kind(repo.git().fetch(&Remote::parse("link").unwrap(), false).await), GitKind::NoRemote);
}

#[tokio::test]
async fn an_unreachable_or_unknown_remote_is_named_as_such() {
    let repo = Repo::new();
    repo.run(&["remote", "add", "away", "https://127.0.0.1:1/x"]);
    let fetch = |name: &str| {
        let (git, remote) = (repo.git(), Remote::parse(name).unwrap());
        async move { kind(git.fetch(&remote, false).await) }
    };
    assert_eq!(fetch("away").await, GitKind::Unreachable);
    assert_eq!(fetch("nobody").await, GitKind::NoRemote);
    assert_eq!(kind(Repo::new().git().push(&Push::default()).await), GitKind::NoRemote);
}

#[tokio::test]
async fn a_repository_cannot_make_a_look_start_its_programs() {
    let repo = Repo::new();
    let mark = repo.path().join("../started");
    let script = format!("touch {}; false", mark.display());
    for key in ["core.fsmonitor", "diff.external", "core.pager", "core.editor", "diff.x.textconv"] {
        repo.run(&["config", key, &script]);
    }
    repo.write(".gitattributes", "* diff=x\n");
    repo.write("file", "changed\n");
    let git = repo.git();
    git.status().await.unwrap();
    git.diff_all(&[Side::Unstaged, Side::Staged], LIMITS()).await.unwrap();
    git.log(&LogQuery { limit: 5, ..LogQuery::default() }).await.unwrap();
    assert!(!mark.exists());
}
