//! What takes long, or for ever: others go on meanwhile, and whoever likes ends it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Terminal, stage};
use crate::kit::{Client, Door};
use crate::stage::unlimited;

/// A program that says that it was started, and then never ends.
fn hanging(script: &Path) -> PathBuf {
    let mark = script.with_file_name("started");
    std::fs::write(script, format!("#!/bin/sh\ntouch {}\nexec sleep 600\n", mark.display())).unwrap();
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    mark
}

/// A remote that never answers.
fn silent(terminal: &Terminal) -> PathBuf {
    let script = terminal.folder.with_file_name("hang");
    let mark = hanging(&script);
    terminal.git(&["config", "core.sshCommand", script.to_str().unwrap()]);
    terminal.git(&["remote", "add", "origin", "ssh://example.invalid/x"]);
    mark
}

async fn begun(mark: &Path) {
    testkit::soon("something that hangs", async {
        while !mark.exists() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    })
    .await;
}

/// Ends what runs, until there was something to end.
async fn cancel(client: &mut Client, id: &Value) {
    assert_eq!(client.call("git/cancel", json!({ "workspace_id": id })).await.unwrap()["success"], true);
}

async fn completed(client: &mut Client, operation: &str) -> Value {
    loop {
        let told = client.event("git_operation_completed").await;
        if told["operation"] == operation {
            return told;
        }
    }
}

#[tokio::test]
async fn a_push_that_hangs_keeps_nobody_waiting_and_is_cancelled_by_whoever_likes() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    let mark = silent(&terminal);
    assert_eq!(client.call("git/cancel", json!({ "workspace_id": id })).await.unwrap()["success"], false);
    let pushing = client.ask("git/push", json!({ "workspace_id": id, "set_upstream": true })).await;
    begun(&mark).await;
    terminal.write("file", "meanwhile\n");
    client.call("git/stage", json!({ "workspace_id": id, "paths": ["file"] })).await.unwrap();
    client.call("git/commit", json!({ "workspace_id": id, "message": "meanwhile" })).await.unwrap();
    cancel(&mut client, &id).await;
    let ended = client.answer(pushing).await.unwrap_err();
    assert_eq!((&ended["code"], &ended["data"]["kind"]), (&json!(-32031), &json!("CANCELLED")));
    assert_eq!(completed(&mut client, "push").await["success"], false);
}

#[tokio::test]
async fn a_commit_that_waits_for_its_push_lets_the_next_one_begin() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    let mark = silent(&terminal);
    terminal.git(&["config", "push.autoSetupRemote", "true"]);
    terminal.write("file", "one more\n");
    terminal.git(&["add", "--all"]);
    let first = client.ask("git/commit", json!({ "workspace_id": id, "message": "first", "push": true })).await;
    begun(&mark).await;
    terminal.write("file", "and another\n");
    terminal.git(&["add", "--all"]);
    client.call("git/commit", json!({ "workspace_id": id, "message": "second" })).await.unwrap();
    cancel(&mut client, &id).await;
    let committed = client.answer(first).await.unwrap();
    assert_eq!((&committed["success"], &committed["pushed"]), (&json!(true), &json!(false)));
}

#[tokio::test]
async fn a_hook_that_hangs_is_cancelled_and_the_next_change_has_its_turn() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    let mut other = door.client().await;
    terminal.write("file", "x\n");
    terminal.git(&["add", "--all"]);
    let mark = hanging(&terminal.folder.join(".git/hooks/pre-commit"));
    let committing = client.ask("git/commit", json!({ "workspace_id": id, "message": "never" })).await;
    begun(&mark).await;
    terminal.write("new", "x\n");
    let staging = other.ask("git/stage", json!({ "workspace_id": id, "paths": ["new"] })).await;
    cancel(&mut client, &id).await;
    let ended = client.answer(committing).await.unwrap_err();
    assert_eq!((&ended["data"]["operation"], &ended["data"]["kind"]), (&json!("commit"), &json!("CANCELLED")));
    other.answer(staging).await.unwrap();
}

#[tokio::test]
async fn a_remote_that_was_added_stays_when_it_cannot_be_fetched() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    let mark = silent(&terminal);
    let add = json!({ "workspace_id": id, "name": "other", "url": "ssh://example.invalid/y", "fetch": true });
    let adding = client.ask("git/remote/add", add).await;
    begun(&mark).await;
    cancel(&mut client, &id).await;
    let added = client.answer(adding).await.unwrap();
    assert_eq!((&added["success"], &added["remote"]["name"]), (&json!(true), &json!("other")));
    assert!(added["fetch_error"].as_str().unwrap().contains("cancelled"), "{added}");
    assert_eq!(completed(&mut client, "fetch").await["success"], false);
    assert_eq!(terminal.git(&["remote"]), "origin\nother");
}

#[tokio::test]
async fn a_remote_that_is_added_and_fetched_tells_its_progress_and_branches() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    let _terminal = terminal.with_remote();
    let add = json!({ "workspace_id": id, "name": "other", "url": "../remote", "fetch": true });
    let added = door.local().await.call("git/remote/add", add).await.unwrap();
    assert_eq!((&added["fetched_branches"], &added["fetch_error"]), (&json!(["main"]), &Value::Null));
    assert_eq!(added["remote"]["tracking_branches"], json!(["main"]));
    assert_eq!(completed(&mut client, "fetch").await["success"], true);
}

#[tokio::test]
async fn a_branch_is_deleted_here_though_its_remote_is_silent_and_never_where_commits_would_be_lost() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    let mark = silent(&terminal);
    terminal.git(&["branch", "merged"]);
    let delete = |branch: &str| json!({ "workspace_id": id, "branch": branch, "delete_remote": true });
    let deleting = client.ask("git/branch/delete", delete("merged")).await;
    begun(&mark).await;
    terminal.write("file", "meanwhile\n");
    client.call("git/stage", json!({ "workspace_id": id, "paths": ["file"] })).await.unwrap();
    cancel(&mut client, &id).await;
    let deleted = client.answer(deleting).await.unwrap();
    assert_eq!((&deleted["success"], &deleted["deleted_remote"]), (&json!(true), &json!(false)));
    assert!(deleted["remote_error"].as_str().unwrap().contains("cancelled"), "{deleted}");

    terminal.git(&["switch", "--quiet", "--create", "only-here"]);
    terminal.git(&["commit", "--quiet", "--message", "precious"]);
    terminal.git(&["update-ref", "refs/remotes/origin/only-here", "HEAD"]);
    terminal.git(&["branch", "--quiet", "--set-upstream-to=origin/only-here"]);
    terminal.git(&["switch", "--quiet", "main"]);
    let refused = client.call("git/branch/delete", delete("only-here")).await.unwrap_err();
    assert_eq!(refused["data"]["kind"], "UNCOMMITTED_CHANGES", "{refused}");
    assert_eq!(terminal.git(&["branch", "--list", "only-here", "--format=%(refname:short)"]), "only-here");
}
