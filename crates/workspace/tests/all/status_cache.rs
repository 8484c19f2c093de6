//! A status that is kept while nothing happens is never another than git's own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::Duration;

use roost_workspace::Repository;
use roost_workspace::git::Git;

use crate::test_folder::TestFolder;

const LONG: Duration = Duration::from_secs(60);

/// Asks until what is answered is kept.
async fn until_cached(repository: &Arc<Repository>, after: &str) {
    let kept = async {
        while !repository.has_cached_status() {
            repository.git_status().await.unwrap();
        }
    };
    tokio::time::timeout(LONG, kept).await.unwrap_or_else(|_| panic!("a status is kept after {after}"));
}

async fn check(place: &TestFolder, repository: &Arc<Repository>, after: &str) {
    let told = repository.git_status().await.unwrap();
    let truth = Git::new(place.root()).status().await.unwrap();
    assert_eq!(*told, truth, "after {after}");
}

fn place() -> TestFolder {
    let place = TestFolder::repository(&["a", "b", "folder/c", "folder/deep/d", ".gitignore"]);
    place.write(".gitignore", "ignored/\n*.log\n");
    place.git(&["commit", "-aqm", "rules"]);
    place
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_just_written_is_in_the_status_every_time() {
    let place = place();
    let repository = place.open();
    let follow = repository.follow();
    follow.ready().await;
    for round in 0..200 {
        let path = format!("folder/new-{round}");
        place.write(&path, "new");
        let status = repository.git_status().await.unwrap();
        assert!(status.untracked.iter().any(|change| change.path == path), "{path} after {round} rounds");
        assert_eq!(status.untracked.len(), round + 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_changes_a_status_ends_what_was_kept_of_it() {
    let place = place();
    let rules = place.outside("rules");
    fs::write(&rules, "").unwrap();
    place.git(&["config", "core.excludesFile", rules.to_str().unwrap()]);
    place.git(&["branch", "other"]);
    place.git(&["remote", "add", "origin", "."]);
    let repository = place.open();
    let follow = repository.follow();
    follow.ready().await;
    let write = |path: &str, text: &str| place.write(path, text);
    let acts: [(&str, &dyn Fn()); 19] = [
        ("a new file", &|| write("new", "1")),
        ("an edit", &|| write("a", "edited")),
        ("an edit of the same size", &|| write("a", "edixed")),
        ("a mode", &|| fs::set_permissions(place.path("b"), fs::Permissions::from_mode(0o755)).unwrap()),
        ("a file in a new folder", &|| write("made/of/folders", "1")),
        ("a file in that folder", &|| write("made/of/more", "1")),
        ("a deletion", &|| fs::remove_file(place.path("folder/c")).unwrap()),
        ("a folder that moved", &|| fs::rename(place.path("made"), place.path("moved")).unwrap()),
        ("an edit where it moved to", &|| write("moved/of/more", "12")),
        ("what is staged", &|| place.git(&["add", "a", "new"])),
        ("a commit", &|| place.git(&["commit", "-qm", "next"])),
        ("a rule", &|| write(".gitignore", "ignored/\nmoved/\n")),
        ("a rule of this clone", &|| write(".git/info/exclude", ".gitignore\n/x-*\n")),
        ("a rule outside", &|| fs::write(&rules, "moved/\nnever\n").unwrap()),
        ("another branch", &|| place.git(&["switch", "-q", "-m", "other"])),
        ("a branch to follow", &|| {
            place.git(&["update-ref", "refs/remotes/origin/other", "other"]);
            place.git(&["branch", "-q", "-u", "origin/other"]);
        }),
        ("where that branch is", &|| place.git(&["update-ref", "refs/remotes/origin/other", "main"])),
        ("a removal from the index", &|| place.git(&["rm", "-q", "--cached", "folder/deep/d"])),
        ("a repository anew", &|| {
            fs::remove_dir_all(place.path(".git")).unwrap();
            place.git(&["init", "-q"]);
            place.git(&["add", "a"]);
        }),
    ];
    for (n, (name, act)) in acts.iter().enumerate() {
        until_cached(&repository, acts.get(n.wrapping_sub(1)).map_or("nothing", |(name, _)| name)).await;
        check(&place, &repository, "nothing").await;
        act();
        check(&place, &repository, name).await;
    }
    // The watcher knows the folder of the repository that was there before, so nothing is kept of the new one.
    place.git(&["commit", "-qm", "first again"]);
    check(&place, &repository, "a commit in a repository anew").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_wholly_watched_is_asked_of_git_every_time() {
    let nested = |place: &TestFolder| {
        place.write("folder/inner/file", "1");
        std::process::Command::new("git")
            .args(["init", "-q"])
            .current_dir(place.path("folder/inner"))
            .status()
            .unwrap();
    };
    let hidden = |place: &TestFolder| {
        place.write("ignored/file", "1");
        place.git(&["add", "-f", "ignored/file"]);
    };
    type Make<'a> = &'a dyn Fn(&TestFolder);
    let cases: [(Make<'_>, &str); 2] = [(&nested, "folder/inner/.git/x"), (&hidden, "ignored/file")];
    for (make, touched) in cases {
        let place = place();
        make(&place);
        let repository = place.open();
        let mut follow = repository.follow();
        follow.ready().await;
        // Long enough for anything else to be kept.
        place.write("last", "1");
        while !matches!(follow.next().await, roost_workspace::watch::WorkspaceEvent::Git) {}
        for round in 0..5 {
            place.write(touched, &format!("{round}"));
            check(&place, &repository, touched).await;
            assert!(!repository.has_cached_status(), "{touched}");
        }
    }
}

#[tokio::test]
async fn nothing_is_kept_of_a_workspace_that_nobody_follows() {
    let place = place();
    let repository = place.open();
    for _ in 0..3 {
        repository.git_status().await.unwrap();
    }
    assert!(!repository.has_cached_status());
    let follow = repository.follow();
    follow.ready().await;
    until_cached(&repository, "a while").await;
    drop(follow);
    place.write("unseen", "1");
    check(&place, &repository, "the last left").await;
    let follow = repository.follow();
    follow.ready().await;
    place.write("seen", "1");
    check(&place, &repository, "another came").await;
    drop(follow);
}
