//! Working copies of sessions and others, and who is named for what was done in them.

use std::path::PathBuf;

use serde_json::json;

use super::stage;
use crate::kit::Door;
use crate::stage::unlimited;

#[tokio::test]
async fn a_session_works_in_its_own_worktree_and_its_work_is_merged() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    let started = client.call("session/start", json!({ "workspace_id": id, "worktree": true })).await.unwrap();
    assert_eq!((&started["outcome"], &started["workspace_id"]), (&json!("started"), &id));
    let folder = PathBuf::from(started["project_path"].as_str().unwrap());
    assert!(folder.starts_with(terminal.folder.join(".roost/worktrees")), "{folder:?}");
    let listed = client.call("workspace/worktree/list", json!({ "workspace_id": id })).await.unwrap();
    let worktree = &listed["worktrees"][1];
    assert_eq!((&worktree["session_id"], &worktree["is_main"]), (&started["session_id"], &json!(false)));
    let name = worktree["name"].clone();
    assert_eq!(worktree["branch"], format!("roost/{}", name.as_str().unwrap()));

    std::fs::write(folder.join("file"), "by the agent\n").unwrap();
    let target = json!({ "workspace_id": id, "name": name });
    let diff = client.call("workspace/worktree/diff", target.clone()).await.unwrap();
    assert_eq!(diff["diffs"][0]["path"], "file");
    let refused = client.call("workspace/worktree/merge", target.clone()).await.unwrap_err();
    assert_eq!(refused["data"]["kind"], "UNCOMMITTED_CHANGES");
    let merge = json!({ "workspace_id": id, "name": name, "message": "agent's work" });
    assert_eq!(client.call("workspace/worktree/merge", merge).await.unwrap()["success"], true);
    assert_eq!(terminal.read("file"), "by the agent\n");
    client.call("workspace/worktree/discard", target).await.unwrap();
    assert!(!folder.exists());
    let history = client.call("workspace/session/history", json!({ "workspace_id": id })).await.unwrap();
    assert_eq!(history["total"], 1, "the session stays the workspace's");
}

#[tokio::test]
async fn a_commit_names_the_session_that_made_it_if_wanted() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    let started = client.call("session/start", json!({ "workspace_id": id, "mode": "new" })).await.unwrap();
    terminal.write("file", "x\n");
    terminal.git(&["add", "--all"]);
    let commit = json!({ "workspace_id": id, "message": "made by it", "session_id": started["session_id"] });
    client.call("git/commit", commit).await.unwrap();
    let message = terminal.git(&["log", "-1", "--format=%B"]);
    assert!(message.ends_with(&format!("Roost-Session: {}", started["session_id"].as_str().unwrap())), "{message}");
}

#[tokio::test]
async fn a_worktree_that_a_client_made_is_compared_and_merged_like_a_sessions_own() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    let add = json!({ "workspace_id": id, "name": "mine", "branch": "feature/x" });
    let made = client.call("workspace/worktree/add", add).await.unwrap()["worktree"].clone();
    assert_eq!(made["base"], terminal.git(&["rev-parse", "HEAD"]));
    std::fs::write(PathBuf::from(made["path"].as_str().unwrap()).join("new"), "x\n").unwrap();
    let target = json!({ "workspace_id": id, "name": "mine" });
    let diff = client.call("workspace/worktree/diff", target.clone()).await.unwrap();
    assert_eq!(diff["diffs"][0]["path"], "new");
    let started = client.call("session/start", json!({ "workspace_id": id, "mode": "new" })).await.unwrap();
    let session = started["session_id"].clone();
    let merge = json!({ "workspace_id": id, "name": "mine", "message": "its work", "session_id": session });
    assert_eq!(client.call("workspace/worktree/merge", merge).await.unwrap()["success"], true);
    let told = loop {
        let told = client.event("git_operation_completed").await;
        if told["operation"] == "worktree/merge" {
            break told;
        }
    };
    assert_eq!(told["branch"], "feature/x");
    let message = terminal.git(&["log", "-1", "--format=%B"]);
    assert!(message.ends_with(&format!("Roost-Session: {}", session.as_str().unwrap())), "{message}");
    client.call("workspace/worktree/discard", target).await.unwrap();
    assert_eq!(terminal.git(&["branch", "--format=%(refname:short)"]), "main");
}

#[tokio::test]
async fn nobody_removes_or_merges_what_a_session_works_on() {
    let mut door = Door::open_with(unlimited).await;
    let (mut client, _terminal, id) = stage(&door).await;
    let started = client.call("session/start", json!({ "workspace_id": id, "worktree": true })).await.unwrap();
    let session = started["session_id"].clone();
    let folder = PathBuf::from(started["project_path"].as_str().unwrap());
    client.call("session/send", json!({ "session_id": session, "prompt": "go" })).await.unwrap();
    let _task = door.runtimes().task().await;
    let name = folder.file_name().unwrap().to_str().unwrap();
    for (method, force) in [("remove", false), ("remove", true), ("merge", false), ("discard", false)] {
        let mut params = json!({ "workspace_id": id, "name": name });
        if force {
            params["force"] = json!(true);
        }
        let refused = client.call(&format!("workspace/worktree/{method}"), params).await.unwrap_err();
        assert_eq!(
            (&refused["code"], &refused["data"]["session_id"]),
            (&json!(-32011), &session),
            "{method}: {refused}"
        );
        assert!(folder.exists());
    }
}
