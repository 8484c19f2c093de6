//! What is told while somebody follows a workspace. Tests wait for what is told, as long as it takes.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use roost_workspace::watch::{Change, ChangeKind, Follow, Live};
use roost_workspace::{Repository, Root};

use crate::place::Place;

const LONG: Duration = Duration::from_secs(60);

async fn follow(repository: &Arc<Repository>) -> Follow {
    let follow = repository.follow();
    tokio::time::timeout(LONG, follow.ready()).await.expect("it is watched");
    follow
}

async fn next(follow: &mut Follow) -> Live {
    tokio::time::timeout(LONG, follow.next()).await.expect("something is told")
}

fn draw(change: &Change) -> String {
    match &change.kind {
        ChangeKind::Created => format!("+{}", change.path),
        ChangeKind::Modified => format!("~{}", change.path),
        ChangeKind::Deleted => format!("-{}", change.path),
        ChangeKind::Renamed { from } => format!("{from}>{}", change.path),
    }
}

/// All changes of files until that of `path`, with it.
async fn until(follow: &mut Follow, path: &str) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        match next(follow).await {
            Live::Files(changes) => {
                all.extend(changes.iter().map(draw));
                if changes.iter().any(|change| change.path == path) {
                    return all;
                }
            }
            Live::Git | Live::Rescanned(_) => {}
            Live::Failed(error) => panic!("{error}"),
        }
    }
}

async fn until_git(follow: &mut Follow) {
    while !matches!(next(follow).await, Live::Git) {}
}

#[tokio::test]
async fn files_that_come_change_move_and_go_are_told_with_their_size() {
    let place = Place::repository(&["old", "moves", "goes"]);
    let repository = place.open();
    let mut follow = follow(&repository).await;

    place.write("new", "12345");
    let Live::Files(changes) = next(&mut follow).await else { panic!("a change of a file comes first") };
    assert!(changes.iter().any(|change| draw(change) == "+new" && change.size.is_some()), "{changes:?}");
    assert_eq!(repository.index().get("new").unwrap().size(), 5);

    place.write("old", "another text");
    assert!(until(&mut follow, "old").await.contains(&"~old".into()));
    fs::rename(place.path("moves"), place.path("moved")).unwrap();
    assert!(until(&mut follow, "moved").await.contains(&"moves>moved".into()));
    fs::remove_file(place.path("goes")).unwrap();
    assert!(until(&mut follow, "goes").await.contains(&"-goes".into()));
    let index = repository.index();
    let paths: Vec<_> = index.files().map(|file| file.path()).collect();
    assert_eq!(paths, ["moved", "new", "old"]);
}

#[tokio::test]
async fn folders_are_told_by_their_files_and_watched_where_they_are() {
    let place = Place::repository(&["a/b/one", "a/two"]);
    let repository = place.open();
    let mut follow = follow(&repository).await;

    fs::rename(place.path("a"), place.path("c")).unwrap();
    let told = until(&mut follow, "c/two").await;
    assert!(told.contains(&"a/b/one>c/b/one".into()) && told.contains(&"a/two>c/two".into()), "{told:?}");

    place.write("c/b/three", "");
    assert!(until(&mut follow, "c/b/three").await.contains(&"+c/b/three".into()));
    place.write("new/deep/er/four", "");
    assert!(until(&mut follow, "new/deep/er/four").await.contains(&"+new/deep/er/four".into()));
    place.write("new/deep/er/five", "");
    until(&mut follow, "new/deep/er/five").await;
    fs::remove_dir_all(place.path("c")).unwrap();
    until(&mut follow, "c/two").await;
    place.write("end", "");
    until(&mut follow, "end").await;
    let index = repository.index();
    let paths: Vec<_> = index.files().map(|file| file.path()).collect();
    assert_eq!(paths, ["end", "new/deep/er/five", "new/deep/er/four"]);
}

#[tokio::test]
async fn what_git_ignores_is_not_told() {
    let place = Place::repository(&[]);
    place.write(".gitignore", "target/\n*.log\n");
    fs::create_dir_all(place.path("target")).unwrap();
    let mut follow = follow(&place.open()).await;
    place.write_all(&["target/x", "a.log", "sub/b.log", "sub/target/y", "sub/seen"]);
    place.write("last", "");
    let mut told = until(&mut follow, "last").await;
    told.retain(|change| !change.contains("seen") && !change.contains("last"));
    assert_eq!(told, [""; 0]);
}

#[tokio::test]
async fn other_rules_of_what_is_ignored_take_effect_at_once() {
    let place = Place::repository(&["a"]);
    place.write_all(&["b.log"]);
    let repository = place.open();
    let mut follow = follow(&repository).await;
    assert!(repository.index().get("b.log").is_some());
    place.write(".gitignore", "*.log\n");
    while !matches!(next(&mut follow).await, Live::Rescanned(_)) {}
    assert!(repository.index().get("b.log").is_none());
}

#[tokio::test]
async fn a_file_that_is_saved_by_way_of_another_was_modified() {
    let place = Place::repository(&["text"]);
    let mut follow = follow(&place.open()).await;
    place.write("text.tmp", "new text");
    fs::rename(place.path("text.tmp"), place.path("text")).unwrap();
    let told = until(&mut follow, "text").await;
    assert!(told.contains(&"~text".into()), "{told:?}");
}

#[tokio::test]
async fn what_is_done_in_a_terminal_is_told_in_repositories_worktrees_and_submodules() {
    let place = Place::repository(&["a"]);
    let linked = place.outside("linked");
    place.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let other = Place::repository(&["x"]);
    place.git(&["submodule", "--quiet", "add", other.path("").to_str().unwrap(), "module"]);

    for folder in [place.path(""), linked, place.path("module")] {
        let repository = Arc::new(Repository::new(Root::open(&folder).unwrap(), None));
        let mut follow = follow(&repository).await;
        commit(&place, &folder);
        until_git(&mut follow).await;
        assert!(repository.index().get("committed").is_none_or(|file| file.is_tracked()), "{folder:?}");
    }
}

fn commit(place: &Place, folder: &Path) {
    fs::write(folder.join("committed"), "").unwrap();
    let folder = folder.to_str().unwrap();
    place.git(&["-C", folder, "add", "committed"]);
    place.git(&["-C", folder, "commit", "-q", "-m", "second"]);
}

#[tokio::test]
async fn a_folder_that_becomes_a_repository_is_watched_as_one() {
    let place = Place::empty();
    place.write("a", "");
    let repository = place.open();
    let mut follow = follow(&repository).await;
    place.git(&["init", "-q"]);
    until_git(&mut follow).await;
    place.git(&["add", "a"]);
    until_git(&mut follow).await;
    assert!(repository.index().get("a").unwrap().is_tracked());
}

#[tokio::test]
async fn all_who_follow_share_one_watcher_which_ends_with_the_last() {
    let place = Place::repository(&["a"]);
    let repository = place.open();
    assert!(!repository.status().is_fresh, "nothing runs for a workspace that nobody follows");
    let mut first = follow(&repository).await;
    let mut second = follow(&repository).await;
    place.write("b", "");
    until(&mut first, "b").await;
    until(&mut second, "b").await;
    drop(first);
    assert!(repository.status().is_fresh);
    drop(second);
    tokio::time::timeout(LONG, async {
        while repository.status().is_fresh {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("the watcher ends");
    let mut again = follow(&repository).await;
    place.write("c", "");
    until(&mut again, "c").await;
}

#[tokio::test]
async fn a_folder_that_is_removed_is_told_and_breaks_nothing() {
    let place = Place::repository(&["a", "b/c"]);
    let repository = place.open();
    let mut follow = follow(&repository).await;
    fs::remove_dir_all(place.path("")).unwrap();
    until(&mut follow, "b/c").await;
    while !repository.index().is_empty() {
        next(&mut follow).await;
    }
}
