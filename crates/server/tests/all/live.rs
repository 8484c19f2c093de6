//! What clients are told of a workspace while things happen there, without any agent.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use testkit::soon;

use crate::kit::{Client, Door};
use crate::stage::unlimited;

fn folder(door: &Door) -> PathBuf {
    door.harness.home.path().join("repo")
}

fn git(door: &Door, args: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(args)
        .current_dir(folder(door))
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A door whose workspace is a repository with one commit.
async fn stage() -> (Door, Value) {
    let door = Door::open_with(unlimited).await;
    git(&door, &["init", "--quiet", "--initial-branch=main"]);
    fs::write(folder(&door).join("file"), "one\n").unwrap();
    git(&door, &["add", "--all"]);
    git(&door, &["commit", "--quiet", "--message", "first"]);
    let id = json!({ "workspace_id": door.workspace().await });
    (door, id)
}

async fn subscribe(client: &mut Client, id: &Value) {
    client.call("workspace/subscribe", id.clone()).await.unwrap();
}

/// The state of the repository, once it is as wanted.
async fn status_until(client: &mut Client, wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let status = client.event("git_status_changed").await;
        if wanted(&status) {
            return status;
        }
    }
}

#[tokio::test]
async fn a_change_is_told_to_all_who_follow_with_what_it_means_for_git() {
    let (door, id) = stage().await;
    let (mut one, mut other) = (door.client().await, door.client().await);
    for client in [&mut one, &mut other] {
        subscribe(client, &id).await;
        let status = client.event("git_status_changed").await;
        assert_eq!(
            (&status["branch"], &status["unstaged_count"]),
            (&json!("main"), &json!(0)),
            "how it is comes first"
        );
    }
    fs::write(folder(&door).join("file"), "two\n").unwrap();
    for client in [&mut one, &mut other] {
        let changed = client.event("file_changed").await;
        assert_eq!((&changed["path"], &changed["change"]), (&json!("file"), &json!("modified")));
        assert_eq!((&changed["size"], &changed["workspace_id"]), (&json!(4), &id["workspace_id"]));
        let diff = client.event("git_diff").await;
        assert!(diff["diff"].as_str().unwrap().contains("-one\n+two"), "{diff}");
        assert_eq!((&diff["additions"], &diff["is_new_file"]), (&json!(1), &json!(false)));
        let status = status_until(client, |status| status["unstaged_count"] == 1).await;
        assert_eq!(status["changed_files"], json!(["file"]));
    }
    git(&door, &["commit", "--quiet", "--all", "--message", "second"]);
    for client in [&mut one, &mut other] {
        status_until(client, |status| status["unstaged_count"] == 0 && status["staged_count"] == 0).await;
    }
}

#[tokio::test]
async fn a_rename_is_told_as_one() {
    let (door, id) = stage().await;
    let mut client = door.client().await;
    subscribe(&mut client, &id).await;
    fs::rename(folder(&door).join("file"), folder(&door).join("moved")).unwrap();
    let changed = client.event("file_changed").await;
    assert_eq!((&changed["change"], &changed["old_path"]), (&json!("renamed"), &json!("file")));
    assert_eq!(changed["path"], "moved");
}

#[tokio::test]
async fn who_subscribes_again_is_told_again_how_it_is() {
    let (door, id) = stage().await;
    let mut client = door.client().await;
    for _ in 0..2 {
        subscribe(&mut client, &id).await;
        assert_eq!(client.event("git_status_changed").await["branch"], "main");
        client.call("workspace/unsubscribe", id.clone()).await.unwrap();
    }
}

#[tokio::test]
async fn who_does_not_follow_a_workspace_is_told_nothing_of_it() {
    let (door, id) = stage().await;
    let (mut follower, mut other) = (door.client().await, door.client().await);
    subscribe(&mut follower, &id).await;
    subscribe(&mut other, &id).await;
    other.event("git_status_changed").await;
    other.call("workspace/unsubscribe", id.clone()).await.unwrap();
    fs::write(folder(&door).join("new"), "").unwrap();
    follower.event("file_changed").await;
    let asked = other.ask("status/health", json!({})).await;
    loop {
        let message = other.next().await;
        assert_ne!(message["method"], "event/file_changed");
        if message["id"] == asked {
            break;
        }
    }
}

#[tokio::test]
async fn many_changes_at_once_are_told_as_that() {
    let (door, id) = stage().await;
    let mut client = door.client().await;
    subscribe(&mut client, &id).await;
    fs::create_dir(door.harness.home.path().join("many")).unwrap();
    for n in 0..200 {
        fs::write(door.harness.home.path().join(format!("many/{n}")), "").unwrap();
    }
    fs::rename(door.harness.home.path().join("many"), folder(&door).join("many")).unwrap();
    let told = client.event("files_rescanned").await;
    assert_eq!(told["changed_count"], 200);
}

#[tokio::test]
async fn a_workspace_whose_folder_is_gone_can_be_subscribed_to_and_says_so() {
    let (door, id) = stage().await;
    fs::remove_dir_all(folder(&door)).unwrap();
    let mut client = door.client().await;
    subscribe(&mut client, &id).await;
    assert!(client.event("watch_failed").await["message"].as_str().unwrap().contains("cannot be opened"));
}

#[tokio::test]
async fn a_workspace_that_is_removed_is_followed_no_more() {
    let (door, id) = stage().await;
    let mut client = door.client().await;
    subscribe(&mut client, &id).await;
    client.call("workspace/remove", id).await.unwrap();
    fs::write(folder(&door).join("new"), "").unwrap();
    assert!(client.call("workspace/list", json!({})).await.is_ok());
}

#[tokio::test]
async fn the_last_state_of_a_repository_is_told_however_fast_it_changes() {
    let (door, id) = stage().await;
    let mut client = door.client().await;
    subscribe(&mut client, &id).await;
    for round in ["a", "b"] {
        for n in 0..20 {
            git(&door, &["checkout", "--quiet", "-b", &format!("{round}{n}")]);
        }
        status_until(&mut client, |status| status["branch"] == format!("{round}19")).await;
    }
}

/// How many of this process watch the workspace's folder.
fn watchers(door: &Door) -> usize {
    let mark = format!("ino:{:x} ", folder(door).metadata().unwrap().ino());
    let all = fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
    let of_one = |info: String| info.lines().filter(|line| line.starts_with("inotify") && line.contains(&mark)).count();
    all.map(|entry| fs::read_to_string(entry.path()).map_or(0, of_one)).sum()
}

#[tokio::test]
async fn one_watcher_serves_all_who_follow_a_workspace_and_ends_with_the_last_of_them() {
    let (door, id) = stage().await;
    let (mut one, mut other) = (door.client().await, door.client().await);
    for client in [&mut one, &mut other] {
        client.call("workspace/list", json!({})).await.unwrap();
        client.call("git/status", id.clone()).await.unwrap();
    }
    assert_eq!(watchers(&door), 0, "nobody follows it");
    for client in [&mut one, &mut other] {
        subscribe(client, &id).await;
        client.event("git_status_changed").await;
    }
    assert_eq!(watchers(&door), 1);
    one.call("workspace/unsubscribe", id.clone()).await.unwrap();
    fs::write(folder(&door).join("new"), "").unwrap();
    other.event("file_changed").await;
    // It needs not say goodbye.
    drop(other);
    soon("nobody watches", async {
        while watchers(&door) > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn another_branch_is_recorded_once_whoever_checks_it_out() {
    let (door, id) = stage().await;
    let mut client = door.client().await;
    client.call("events/subscribe", json!({ "format": "cdev" })).await.unwrap();
    subscribe(&mut client, &id).await;
    git(&door, &["checkout", "--quiet", "-b", "terminal"]);
    let switched = client.event("git_branch_changed").await;
    assert_eq!((&switched["from_branch"], &switched["to_branch"]), (&json!("main"), &json!("terminal")), "{switched}");
    let checkout = |branch: &str| json!({ "workspace_id": id["workspace_id"], "branch": branch });
    client.call("git/checkout", checkout("main")).await.unwrap();
    status_until(&mut client, |status| status["branch"] == "main").await;
    git(&door, &["checkout", "--quiet", "terminal"]);
    status_until(&mut client, |status| status["branch"] == "terminal").await;
    let recorded = door.harness.types(&roost_model::ids::SessionId::host()).await;
    assert_eq!(recorded.iter().filter(|name| *name == "git.branch.changed").count(), 3, "{recorded:?}");
}

#[tokio::test]
async fn who_follows_everything_follows_what_comes_later_until_one_is_named() {
    let (door, id) = stage().await;
    let mut client = door.client().await;
    client.call("workspace/subscribeAll", json!({})).await.unwrap();
    let other = door.harness.home.path().join("other");
    fs::create_dir(&other).unwrap();
    let added = door.local().await.call("workspace/add", json!({ "path": other })).await.unwrap();
    let told = async {
        // It is followed soon after it was added.
        for n in 0.. {
            fs::write(other.join("file"), n.to_string()).unwrap();
            let changed = tokio::time::timeout(std::time::Duration::from_millis(300), client.event("file_changed"));
            if let Ok(changed) = changed.await {
                return changed["workspace_id"].clone();
            }
        }
        unreachable!()
    };
    assert_eq!(soon("the new workspace is followed", told).await, added["id"]);

    subscribe(&mut client, &id).await;
    fs::write(other.join("unheard"), "").unwrap();
    fs::write(folder(&door).join("file"), "heard\n").unwrap();
    loop {
        let changed = client.event("file_changed").await;
        assert_ne!(changed["path"], "unheard", "{changed}");
        if changed["workspace_id"] == id["workspace_id"] {
            break;
        }
    }
}

#[tokio::test]
async fn a_workspace_that_is_removed_is_watched_no_more() {
    let (door, id) = stage().await;
    let mut client = door.client().await;
    let watched = || -> usize {
        let infos = fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
        let infos = infos.filter_map(|info| fs::read_to_string(info.path()).ok());
        infos.map(|info| info.lines().filter(|line| line.starts_with("inotify wd:")).count()).sum()
    };
    // Who searches has the index kept up to date for a while.
    client.call("repository/search", json!({ "workspace_id": id["workspace_id"], "query": "file" })).await.unwrap();
    let until = async |wanted: fn(usize) -> bool| {
        while !wanted(watched()) {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    soon("it is watched", until(|count| count > 0)).await;
    client.call("workspace/remove", id).await.unwrap();
    soon("it is watched no more", until(|count| count == 0)).await;
}
