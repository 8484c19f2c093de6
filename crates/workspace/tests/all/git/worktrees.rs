//! Working copies of sessions.

use roost_workspace::Error;
use roost_workspace::git::{Branch, DiffLimits, GitKind, Rev};

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

    assert_eq!(kind(git.merge_worktree("ab12", None, None).await), GitKind::Dirty);
    let (branch, merged) = git.merge_worktree("ab12", Some("by the agent"), None).await.unwrap();
    assert!(branch == "roost/ab12" && merged.conflicted.is_empty());
    assert_eq!(repo.read("file"), "one\nagent\n");
    assert_eq!(git.discard_worktree("ab12").await.unwrap(), None);
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
    assert!(git.merge_worktree("one", Some("one"), None).await.unwrap().1.conflicted.is_empty());
    assert_eq!(git.merge_worktree("two", Some("two"), None).await.unwrap().1.conflicted, ["file"]);
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

#[tokio::test]
async fn a_worktree_of_any_branch_is_compared_merged_and_discarded() {
    let repo = Repo::new();
    repo.run(&["branch", "theirs"]);
    repo.write("file", "one\ntwo\nthree\n");
    repo.commit("second");
    let git = repo.git();
    let branch = |name: &str| Branch::parse(name).unwrap();
    for (name, of, base) in [("new", "feature/x", Some("HEAD~")), ("old", "theirs", None)] {
        let base = base.map(|base| Rev::parse(base).unwrap());
        let made = git.add_worktree(name, &branch(of), base.as_ref()).await.unwrap();
        std::fs::write(made.path.join(name), "x").unwrap();
        let diff = git.worktree_diff(name, DiffLimits::default()).await.unwrap();
        assert_eq!(diff.iter().map(|diff| diff.path.as_str()).collect::<Vec<_>>(), [name]);
        let (merged, _) = git.merge_worktree(name, Some("mine"), None).await.unwrap();
        assert_eq!(merged, of);
        assert_eq!(repo.read(name), "x");
    }
    assert_eq!(git.session_worktrees().await.unwrap().len(), 2);
    assert_eq!(kind(git.add_worktree("new", &branch("y"), None).await), GitKind::FolderExists);
    assert_eq!(git.discard_worktree("new").await.unwrap(), None);
    assert_eq!(git.discard_worktree("old").await.unwrap().as_deref(), Some("theirs"), "a branch that was there stays");
    assert_eq!(repo.run(&["branch", "--format=%(refname:short)"]), "main\ntheirs");
}

#[tokio::test]
async fn a_merge_names_the_session_if_wanted() {
    let repo = Repo::new();
    let git = repo.git();
    let session = git.add_session_worktree("ab12").await.unwrap();
    std::fs::write(session.path.join("new"), "x").unwrap();
    repo.write("file", "meanwhile");
    repo.commit("meanwhile");
    git.merge_worktree("ab12", Some("by the agent"), Some("0190-ab")).await.unwrap();
    for (rev, subject) in [("HEAD", "Merge branch 'roost/ab12'"), ("HEAD^2", "by the agent")] {
        let message = repo.run(&["log", "-1", "--format=%B", rev]);
        assert_eq!(message, format!("{subject}\n\nRoost-Session: 0190-ab"));
    }
}
