//! Working copies of sessions.

use roost_workspace::Error;
use roost_workspace::git::{DiffLimits, GitKind};

use super::{Repo, kind};

#[tokio::test]
async fn a_session_works_beside_the_workspace_and_its_work_is_merged() {
    let repo = Repo::new();
    let git = repo.git();
    let session = git.add_session_worktree("ab12").await.unwrap();
    assert_eq!(
        (session.branch.as_str(), session.base.as_str()),
        ("roost/ab12", repo.run(&["rev-parse", "HEAD"]).as_str())
    );
    assert!(git.status().await.unwrap().is_clean(), "git ignores the folder");
    assert_eq!(git.session_worktrees().await.unwrap(), std::slice::from_ref(&session));

    std::fs::write(session.path.join("file"), "one\nagent\n").unwrap();
    std::fs::write(session.path.join("new"), "x\n").unwrap();
    let diff = git.worktree_diff("ab12", DiffLimits::default()).await.unwrap();
    assert_eq!(diff.iter().map(|diff| diff.path.as_str()).collect::<Vec<_>>(), ["file", "new"]);
    assert_eq!(repo.read("file"), "one\ntwo\n");

    assert_eq!(kind(git.merge_worktree("ab12", None).await), GitKind::Dirty);
    let merged = git.merge_worktree("ab12", Some("by the agent")).await.unwrap();
    assert!(merged.conflicted.is_empty());
    assert_eq!(repo.read("file"), "one\nagent\n");
    git.discard_worktree("ab12").await.unwrap();
    assert!(git.session_worktrees().await.unwrap().is_empty() && !session.path.exists());
    assert_eq!(git.branches().await.unwrap().all.len(), 1);
}

#[tokio::test]
async fn two_sessions_do_not_see_each_other_and_a_conflict_is_a_result() {
    let repo = Repo::new();
    let git = repo.git();
    for name in ["one", "two"] {
        let session = git.add_session_worktree(name).await.unwrap();
        std::fs::write(session.path.join("file"), name).unwrap();
    }
    assert!(git.merge_worktree("one", Some("one")).await.unwrap().conflicted.is_empty());
    assert_eq!(git.merge_worktree("two", Some("two")).await.unwrap().conflicted, ["file"]);
}

#[tokio::test]
async fn a_worktree_lies_beneath_the_workspace_or_is_refused() {
    let repo = Repo::new();
    std::fs::create_dir(repo.path().join("../outside")).unwrap();
    std::os::unix::fs::symlink("../outside", repo.path().join(".roost")).unwrap();
    let refused = repo.git().add_session_worktree("x").await;
    assert!(matches!(refused, Err(Error::PathTraversal { .. } | Error::Io { .. })), "{refused:?}");
    assert_eq!(std::fs::read_dir(repo.path().join("../outside")).unwrap().count(), 0);
}

#[tokio::test]
async fn names_that_lead_elsewhere_are_refused() {
    let repo = Repo::new();
    for name in ["", "..", "a/b", "-x", "a b", "x.lock"] {
        assert_eq!(kind(repo.git().add_session_worktree(name).await), GitKind::BadName, "{name:?}");
    }
    assert_eq!(kind(repo.git().discard_worktree("nobody").await), GitKind::NoSuchPath);
    assert_eq!(kind(Repo::empty().git().add_session_worktree("x").await), GitKind::NoCommits);
}
