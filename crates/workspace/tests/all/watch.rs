//! What is told while somebody follows a workspace. Tests wait for what is told, as long as it takes.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use roost_workspace::watch::{Change, ChangeKind, RescanReason, WorkspaceEvent, WorkspaceFollower};
use roost_workspace::{Repository, Root};

use crate::test_folder::TestFolder;

const LONG: Duration = Duration::from_secs(60);

async fn follow(repository: &Arc<Repository>) -> WorkspaceFollower {
    let follow = repository.follow();
    tokio::time::timeout(LONG, follow.ready()).await.expect("it is watched");
    follow
}

async fn next(follow: &mut WorkspaceFollower) -> WorkspaceEvent {
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
async fn until(follow: &mut WorkspaceFollower, path: &str) -> Vec<String> {
    let mut all = Vec::new();
    loop {
        match next(follow).await {
            WorkspaceEvent::Files(changes) => {
                all.extend(changes.iter().map(draw));
                if changes.iter().any(|change| change.path == path) {
                    return all;
                }
            }
            WorkspaceEvent::Git | WorkspaceEvent::Rescanned(..) => {}
            WorkspaceEvent::Failed(error) => panic!("{error}"),
        }
    }
}

/// How many of this process watch a folder.
fn watchers(folder: &Path) -> usize {
    let mark = format!("ino:{:x} ", folder.metadata().unwrap().ino());
    let all = fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
    let of_one = |info: String| info.lines().filter(|line| line.starts_with("inotify") && line.contains(&mark)).count();
    all.map(|entry| fs::read_to_string(entry.path()).map_or(0, of_one)).sum()
}

/// Waits until nobody watches a folder.
async fn until_unwatched(folder: &Path) {
    let unwatched = async {
        while watchers(folder) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LONG, unwatched).await.expect("it is watched no more");
}

async fn until_git(follow: &mut WorkspaceFollower) {
    while !matches!(next(follow).await, WorkspaceEvent::Git) {}
}

#[tokio::test]
async fn files_that_come_change_move_and_go_are_told_with_their_size() {
    let place = TestFolder::repository(&["old", "moves", "goes"]);
    let repository = place.open();
    let mut follow = follow(&repository).await;

    place.write("new", "12345");
    let WorkspaceEvent::Files(changes) = next(&mut follow).await else { panic!("a change of a file comes first") };
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
    let place = TestFolder::repository(&["a/b/one", "a/two"]);
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
    let place = TestFolder::repository(&[]);
    place.write(".gitignore", "target/\n*.log\n");
    fs::create_dir_all(place.path("target")).unwrap();
    let mut follow = follow(&place.open()).await;
    assert_eq!((watchers(&place.path("")), watchers(&place.path("target"))), (1, 0));
    place.write_all(&["target/x", "a.log", "sub/b.log", "sub/target/y", "sub/seen"]);
    place.write("last", "");
    let mut told = until(&mut follow, "last").await;
    told.retain(|change| !change.contains("seen") && !change.contains("last"));
    assert_eq!(told, [""; 0]);
}

#[tokio::test]
async fn other_rules_of_what_is_ignored_take_effect_at_once() {
    let place = TestFolder::repository(&["a"]);
    place.write_all(&["b.log", "built/c"]);
    let repository = place.open();
    let mut follow = follow(&repository).await;
    assert!(repository.index().get("b.log").is_some());
    place.write(".gitignore", "*.log\nbuilt\n");
    while !matches!(next(&mut follow).await, WorkspaceEvent::Rescanned(_, RescanReason::Rules)) {}
    assert!(repository.index().get("b.log").is_none());
    // What is ignored by now costs nothing any more, once the thread of the old watcher has ended.
    until_unwatched(&place.path("built")).await;
}

#[tokio::test]
async fn a_file_that_is_saved_by_way_of_another_was_modified() {
    let place = TestFolder::repository(&["text"]);
    let mut follow = follow(&place.open()).await;
    place.write("text.tmp", "new text");
    fs::rename(place.path("text.tmp"), place.path("text")).unwrap();
    let told = until(&mut follow, "text").await;
    assert!(told.contains(&"~text".into()), "{told:?}");
}

#[tokio::test]
async fn what_is_done_in_a_terminal_is_told_in_repositories_worktrees_and_submodules() {
    let place = TestFolder::repository(&["a"]);
    let linked = place.outside("linked");
    place.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let other = TestFolder::repository(&["x"]);
    place.git(&["submodule", "--quiet", "add", other.path("").to_str().unwrap(), "module"]);

    let mut all = Vec::new();
    for folder in [place.path(""), linked, place.path("module")] {
        let repository = Arc::new(Repository::new(Root::open(&folder).unwrap(), None));
        let follow = follow(&repository).await;
        all.push((folder.to_str().unwrap().to_owned(), repository, follow));
    }
    // Nothing but git's own folder tells of these; the second comes when the quiet at the start is over.
    for (folder, _, follow) in &mut all {
        place.git(&["-C", folder, "commit", "-q", "--allow-empty", "-m", "second"]);
        until_git(follow).await;
    }
    for (folder, repository, follow) in &mut all {
        place.git(&["-C", folder, "rm", "-q", "--cached", "-r", "."]);
        while repository.index().files().any(|file| file.is_tracked()) {
            until_git(follow).await;
        }
    }
}

#[tokio::test]
async fn a_folder_that_becomes_a_repository_is_watched_as_one() {
    let place = TestFolder::empty();
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
    let place = TestFolder::repository(&["a"]);
    let repository = place.open();
    repository.current().await.unwrap();
    let folders = [place.path(""), place.path(".git")];
    let all = || folders.each_ref().map(|folder| watchers(folder));
    assert_eq!((repository.status().is_fresh, all()), (false, [0, 0]), "nothing runs where nobody follows");
    let mut first = follow(&repository).await;
    let mut second = follow(&repository).await;
    assert_eq!(all(), [1, 1]);
    place.write("b", "");
    until(&mut first, "b").await;
    until(&mut second, "b").await;
    drop(first);
    assert!(repository.status().is_fresh);
    drop(second);
    for folder in &folders {
        until_unwatched(folder).await;
    }
    assert!(!repository.status().is_fresh);
    let mut again = follow(&repository).await;
    place.write("c", "");
    until(&mut again, "c").await;
}

#[tokio::test]
async fn a_folder_that_is_removed_is_told_and_breaks_nothing() {
    let place = TestFolder::repository(&["a", "b/c"]);
    let repository = place.open();
    let mut follow = follow(&repository).await;
    fs::remove_dir_all(place.path("")).unwrap();
    until(&mut follow, "b/c").await;
    while !repository.index().is_empty() {
        next(&mut follow).await;
    }
}

/// So many events the kernel keeps for one watcher.
fn queue() -> usize {
    fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap().trim().parse().unwrap()
}

/// The only thread of this test's runtime works here and takes nothing meanwhile, so the kernel's queue runs over.
#[tokio::test]
async fn what_the_kernel_cannot_keep_is_looked_up_and_told_once() {
    let place = TestFolder::repository(&["a", "goes", "folder/was"]);
    let repository = place.open();
    let mut follow = follow(&repository).await;
    // Each is two events about the same two files; what waits on the way from the kernel to us is far less than it adds.
    for _ in 0..queue() / 4 + 8192 {
        fs::rename(place.path("a"), place.path("b")).unwrap();
        fs::rename(place.path("b"), place.path("a")).unwrap();
    }
    fs::remove_file(place.path("goes")).unwrap();
    fs::remove_dir_all(place.path("folder")).unwrap();
    place.write_all(&["folder/is", "new/deep/file"]);

    let mut rescans = Vec::new();
    while rescans.is_empty() {
        if let WorkspaceEvent::Rescanned(changed, why) = next(&mut follow).await {
            rescans.push((changed, why));
        }
    }
    let index = repository.index();
    let paths: Vec<_> = index.files().map(|file| file.path()).collect();
    assert_eq!(paths, ["a", "folder/is", "new/deep/file"]);
    for path in ["folder/later", "new/deep/later"] {
        place.write(path, "");
        loop {
            match next(&mut follow).await {
                WorkspaceEvent::Files(changes) if changes.iter().any(|change| change.path == path) => break,
                WorkspaceEvent::Rescanned(changed, why) => rescans.push((changed, why)),
                _ => {}
            }
        }
    }
    assert_eq!(rescans, [(4, RescanReason::Lost)], "two files went, two came, and it is told once");
}

/// The thread that tells of changes is the one that begins to watch: one must not wait for the other.
#[tokio::test]
async fn more_new_folders_than_can_wait_to_be_told_are_all_watched() {
    let place = TestFolder::repository(&[]);
    let repository = place.open();
    let mut follow = follow(&repository).await;
    let folders = 5000;
    for n in 0..folders {
        place.write(&format!("{n}/file"), "");
    }
    while repository.index().len() < folders {
        next(&mut follow).await;
    }
    let last = format!("{}/later", folders - 1);
    place.write(&last, "");
    until(&mut follow, &last).await;
}

#[test]
fn a_workspace_with_more_folders_than_the_system_watches_says_so_and_is_looked_at_from_time_to_time() {
    let mut inside = Command::new("unshare");
    inside.args(["--map-root-user", "sh", "-c"]);
    inside.arg(format!("echo 16 > {WATCHES} && exec \"$0\" \"$@\"")).arg(std::env::current_exe().unwrap());
    inside.args(["--exact", "--ignored", "--nocapture", "watch::where_few_folders_can_be_watched"]);
    let output = inside.output().expect("unshare of util-linux is installed");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}\nThis test needs limits of its own (unshare): run it as root, or allow user namespaces."
    );
}

const WATCHES: &str = "/proc/sys/user/max_inotify_watches";

/// The clock jumps to the next look whenever nothing else is to be done.
#[tokio::test(start_paused = true)]
#[ignore = "not a test: what the test above runs under limits of its own"]
async fn where_few_folders_can_be_watched() {
    let folders: Vec<_> = (10..50).map(|n| format!("{n}/file")).collect();
    let place = TestFolder::repository(&folders.iter().map(String::as_str).collect::<Vec<_>>());
    let repository = place.open();
    let mut following = follow(&repository).await;
    let WorkspaceEvent::Failed(error) = next(&mut following).await else { panic!("it is told first") };
    assert!(
        error.to_string().contains("max_user_watches") && error.to_string().contains("every 10 seconds"),
        "{error}"
    );
    assert_eq!(follow(&repository).await.trouble(), Some(error), "whoever comes later learns it too");
    assert!(!repository.status().is_fresh, "the index must not be trusted for long");

    place.write("49/new", "");
    let mut told = next(&mut following).await;
    while !matches!(told, WorkspaceEvent::Rescanned(1, RescanReason::Blind)) {
        told = next(&mut following).await;
    }
    assert!(repository.index().get("49/new").is_some());
    until_git(&mut following).await;

    fs::write(WATCHES, "1000").unwrap();
    while following.trouble().is_some() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    tokio::time::resume();
    assert!(repository.status().is_fresh);
    place.write("49/newer", "");
    until(&mut following, "49/newer").await;
}
