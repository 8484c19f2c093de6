//! Push, pull, fetch, merge, remotes: what goes between repositories.

use roost_workspace::git::{GitKind, Provider, Push, Remote, Rev};
use tokio::sync::mpsc;

use super::{Repo, kind, names};

fn origin() -> Remote {
    Remote::parse("origin").unwrap()
}

fn rev(name: &str) -> Rev {
    Rev::parse(name).unwrap()
}

#[tokio::test]
async fn commits_are_pushed_and_counted_and_progress_is_told() {
    let repo = Repo::new().with_remote();
    for content in ["1", "2"] {
        repo.write("file", content);
        repo.commit(content);
    }
    let (progress, mut told) = mpsc::channel(100);
    let git = repo.git().with_progress(progress);
    assert_eq!(git.push(&Push::default()).await.unwrap().commits, 2);
    drop(git);
    let mut phases = Vec::new();
    while let Some(progress) = told.recv().await {
        phases.push(progress.phase);
    }
    assert!(phases.contains(&"Writing objects".to_owned()), "{phases:?}");
    assert_eq!(repo.git().push(&Push::default()).await.unwrap().commits, 0);
}

#[tokio::test]
async fn a_new_branch_is_pushed_once_it_is_said_where_to() {
    let repo = Repo::new().with_remote();
    repo.run(&["switch", "--quiet", "-c", "new"]);
    let git = repo.git();
    assert_eq!(kind(git.push(&Push::default()).await), GitKind::NoUpstream);
    let pushed = git.push(&Push { set_upstream: true, ..Push::default() }).await.unwrap();
    assert_eq!(pushed.upstream.as_deref(), Some("origin/new"));
    assert_eq!(git.status().await.unwrap().upstream.as_deref(), Some("origin/new"));
}

#[tokio::test]
async fn a_push_over_what_others_pushed_is_refused() {
    let repo = Repo::new().with_remote();
    repo.somebody_pushes("file", "theirs");
    repo.write("file", "ours");
    repo.commit("ours");
    assert_eq!(kind(repo.git().push(&Push::default()).await), GitKind::Rejected);
    let forced = repo.git().push(&Push { force: true, ..Push::default() }).await;
    assert_eq!(kind(forced), GitKind::Rejected, "even by force, as nobody has seen it yet");
    repo.run(&["fetch", "--quiet"]);
    repo.git().push(&Push { force: true, ..Push::default() }).await.unwrap();
}

#[tokio::test]
async fn a_pull_brings_commits_or_the_files_in_conflict() {
    let repo = Repo::new().with_remote();
    repo.somebody_pushes("file", "theirs\ntwo\n");
    repo.somebody_pushes("other", "x");
    let git = repo.git();
    let pulled = git.pull(false).await.unwrap();
    assert_eq!((pulled.commits, pulled.files, pulled.conflicted.len()), (2, 2, 0));

    for rebase in [false, true] {
        repo.somebody_pushes("file", &format!("theirs {rebase}\ntwo\n"));
        repo.write("file", format!("ours {rebase}\ntwo\n"));
        repo.commit("ours");
        let pulled = git.pull(rebase).await.unwrap();
        assert_eq!(pulled.conflicted, ["file"], "rebase: {rebase}");
        assert_eq!(names(&git.status().await.unwrap().conflicted), ["! file"]);
        git.abort_merge().await.unwrap();
        assert_eq!(repo.read("file"), format!("ours {rebase}\ntwo\n"));
        repo.run(&["reset", "--quiet", "--hard", "origin/main"]);
    }
}

#[tokio::test]
async fn a_fetch_tells_what_is_new_what_moved_and_what_is_gone() {
    let repo = Repo::new().with_remote();
    repo.run(&["push", "--quiet", "origin", "main:old"]);
    repo.somebody_pushes("file", "theirs");
    repo.run(&["-C", "../there", "push", "--quiet", "origin", "HEAD:new", ":old"]);
    let fetched = repo.git().fetch(&origin(), true).await.unwrap();
    assert_eq!(fetched.updated, ["origin/main"]);
    assert_eq!(fetched.new, ["origin/new"]);
    assert_eq!(fetched.pruned, ["origin/old"]);
    assert_eq!(fetched.commits, 1);
}

#[tokio::test]
async fn a_merge_with_conflicts_is_a_result_and_can_be_taken_back() {
    let repo = Repo::torn();
    let git = repo.git();
    let before = repo.run(&["rev-parse", "HEAD"]);
    let merged = git.merge(&rev("other"), false, None).await.unwrap();
    assert_eq!(merged.conflicted, ["file"]);
    assert_eq!(kind(git.merge(&rev("other"), false, None).await), GitKind::Conflict, "one at a time");
    git.abort_merge().await.unwrap();
    assert_eq!(repo.run(&["rev-parse", "HEAD"]), before);
    assert_eq!(kind(git.abort_merge().await), GitKind::Nothing);
    assert_eq!(kind(git.merge(&rev("nowhere"), false, None).await), GitKind::NoSuchRef);
}

#[tokio::test]
async fn a_merge_can_be_a_commit_of_its_own() {
    let repo = Repo::new();
    repo.run(&["switch", "--quiet", "-c", "side"]);
    repo.write("side", "x");
    repo.commit("side");
    repo.run(&["switch", "--quiet", "main"]);
    let merged = repo.git().merge(&rev("side"), true, Some("--together")).await.unwrap();
    assert_eq!(merged.sha, repo.run(&["rev-parse", "HEAD"]));
    assert_eq!(repo.run(&["log", "-1", "--format=%s"]), "--together");
}

#[tokio::test]
async fn remotes_are_added_listed_and_removed() {
    let repo = Repo::new().with_remote();
    let git = repo.git();
    let hub = Remote::parse("hub").unwrap();
    assert_eq!(kind(git.add_remote(&hub, "https://me:secret@github.com/a/b.git").await), GitKind::BadAddress);
    let added = git.add_remote(&hub, "https://me@github.com/a/b.git").await.unwrap();
    assert_eq!((added.fetch_url.as_str(), added.provider), ("https://me@github.com/a/b.git", Provider::Github));
    // One that somebody set by hand is not told.
    repo.run(&["config", "remote.hub.url", "https://me:secret@github.com/a/b.git"]);
    assert_eq!(git.remotes().await.unwrap()[0].fetch_url, "https://me:***@github.com/a/b.git");
    assert_eq!(kind(git.add_remote(&hub, "../x").await), GitKind::RemoteExists);
    assert_eq!(kind(git.add_remote(&Remote::parse("x").unwrap(), "ext::sh -c id").await), GitKind::BadAddress);
    let all = git.remotes().await.unwrap();
    assert_eq!(all.iter().map(|remote| remote.name.as_str()).collect::<Vec<_>>(), ["hub", "origin"]);
    assert_eq!(all[1].branches, ["main"]);
    git.remove_remote(&hub).await.unwrap();
    assert_eq!(kind(git.remove_remote(&hub).await), GitKind::NoRemote);
}
