//! The repository of a workspace, over the socket and over HTTP, with the real git.

mod refused;
mod slow;
mod worktrees;

use serde_json::{Value, json};

use crate::kit::{Client, Door};
use crate::stage::unlimited;
use crate::terminal::Terminal;

async fn stage(door: &Door) -> (Client, Terminal, Value) {
    let client = door.client().await;
    (client, Terminal::open(door), json!(door.workspace().await))
}

#[tokio::test]
async fn what_an_agent_changed_is_seen_staged_and_committed_and_everyone_hears_of_it() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    let mut other = door.client().await;
    terminal.write("file", "one\nthree\n");
    terminal.write("new", "x\n");
    let status = client.call("git/status", json!({ "workspace_id": id })).await.unwrap();
    assert_eq!(status["unstaged"], json!([{ "path": "file", "status": "M", "additions": 1, "deletions": 1 }]));
    assert_eq!(status["untracked"], json!([{ "path": "new", "status": "?" }]));
    assert_eq!((&status["branch"], &status["is_clean"]), (&json!("main"), &json!(false)));
    let diff = client.call("git/diff", json!({ "workspace_id": id, "path": "file" })).await.unwrap();
    assert!(diff["diff"].as_str().unwrap().contains("-two\n+three"), "{diff}");
    let all = client.call("workspace/git/diff", json!({ "workspace_id": id })).await.unwrap();
    assert_eq!(all["diffs"].as_array().unwrap().len(), 2);

    // Sent at once, done in order.
    let paths = json!({ "workspace_id": id, "paths": ["file", "new"] });
    let staging = client.ask("git/stage", paths).await;
    let committing = client.ask("git/commit", json!({ "workspace_id": id, "message": "both" })).await;
    assert_eq!(client.answer(staging).await.unwrap(), json!({ "success": true, "staged": ["file", "new"] }));
    let committed = client.answer(committing).await.unwrap();
    assert_eq!((&committed["files_committed"], &committed["pushed"]), (&json!(2), &json!(false)));
    assert_eq!(terminal.git(&["rev-parse", "--short", "HEAD"]), committed["sha"].as_str().unwrap());
    for client in [&mut client, &mut other] {
        let staged = client.event("git_operation_completed").await;
        assert_eq!((&staged["operation"], &staged["files_affected"]), (&json!("stage"), &json!(2)));
        let done = client.event("git_operation_completed").await;
        assert_eq!(
            (&done["operation"], &done["success"], &done["workspace_id"]),
            (&json!("commit"), &json!(true), &id)
        );
        assert_eq!(done["sha"], terminal.git(&["rev-parse", "HEAD"]));
    }
}

#[tokio::test]
async fn a_branch_is_made_and_its_change_told_and_both_are_in_the_log() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    let made = client.call("git/checkout", json!({ "workspace_id": id, "branch": "a/b", "create": true })).await;
    assert_eq!(
        made.unwrap(),
        json!({ "success": true, "branch": "a/b", "from_branch": "main", "message": "Switched to a/b" })
    );
    let changed = client.event("git_branch_changed").await;
    assert_eq!((&changed["from_branch"], &changed["to_branch"]), (&json!("main"), &json!("a/b")));
    assert!(changed["cursor"].is_string(), "it is durable: {changed}");
    let branches = client.call("git/branches", json!({ "workspace_id": id })).await.unwrap();
    assert_eq!((&branches["current"], branches["branches"].as_array().unwrap().len()), (&json!("a/b"), 2));
    terminal.git(&["switch", "--quiet", "main"]);
    let deleted = client.call("git/branch/delete", json!({ "workspace_id": id, "branch": "a/b" })).await.unwrap();
    assert_eq!(deleted["deleted_remote"], false);
}

#[tokio::test]
async fn commits_go_out_and_come_in_with_progress_and_conflicts_are_results() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    let terminal = terminal.with_remote();
    let target = json!({ "workspace_id": id });
    terminal.write("file", "ours\ntwo\n");
    terminal.git(&["commit", "--quiet", "--all", "--message", "ours"]);
    let pushed = client.call("git/push", target.clone()).await.unwrap();
    assert_eq!((&pushed["success"], &pushed["commits_pushed"]), (&json!(true), &json!(1)));
    let progress = client.event("git_operation_progress").await;
    assert_eq!((&progress["operation"], &progress["workspace_id"]), (&json!("push"), &id));
    assert_eq!(client.event("git_operation_completed").await["commits_pushed"], 1);

    terminal.git(&["reset", "--quiet", "--hard", "HEAD~"]);
    terminal.write("file", "mine\ntwo\n");
    terminal.git(&["commit", "--quiet", "--all", "--message", "mine"]);
    let pulled = client.call("git/pull", target.clone()).await.unwrap();
    assert_eq!((&pulled["success"], &pulled["conflicted_files"]), (&json!(false), &json!(["file"])));
    let told = client.event("git_operation_completed").await;
    assert_eq!((&told["success"], &told["conflicted_files"]), (&json!(false), &json!(["file"])));
    let refused = client.call("git/merge", json!({ "workspace_id": id, "branch": "origin/main" })).await.unwrap_err();
    assert_eq!((&refused["code"], &refused["data"]["kind"]), (&json!(-32032), &json!("CONFLICTS")));
    client.call("git/merge/abort", target.clone()).await.unwrap();
    assert_eq!(terminal.read("file"), "mine\ntwo\n");
    let state = client.call("git/get_status", target).await.unwrap();
    assert_eq!((&state["state"], &state["ahead"], &state["behind"]), (&json!("diverged"), &json!(1), &json!(1)));
    assert_eq!((&state["remote"], &state["has_upstream"]), (&json!("origin"), &json!(true)));
}

#[tokio::test]
async fn a_log_is_paged_with_its_graph() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    for name in ["second", "third"] {
        terminal.git(&["commit", "--quiet", "--allow-empty", "--message", name]);
    }
    let page = json!({ "workspace_id": id, "limit": 1, "offset": 1, "graph": true });
    let log = client.call("git/log", page).await.unwrap();
    assert_eq!((&log["total_count"], &log["has_more"], &log["max_columns"]), (&json!(3), &json!(true), &json!(1)));
    let commit = &log["commits"][0];
    assert_eq!((&commit["subject"], &commit["graph_position"]["column"]), (&json!("second"), &json!(0)));
    assert_eq!(commit["author_email"], "ada@example.org");
}

#[tokio::test]
async fn what_is_put_aside_comes_back() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    terminal.write("file", "changed\n");
    let target = json!({ "workspace_id": id });
    let put = client.call("git/stash", json!({ "workspace_id": id, "message": "later" })).await.unwrap();
    assert_eq!((&put["name"], &put["message"]), (&json!("stash@{0}"), &json!("later")));
    assert_eq!(client.call("git/stash/list", target.clone()).await.unwrap()["count"], 1);
    assert_eq!(client.call("git/stash/pop", target).await.unwrap()["has_conflicts"], false);
    assert_eq!(terminal.read("file"), "changed\n");
}

#[tokio::test]
async fn workspaces_tell_how_their_repositories_are_and_one_that_is_gone_spoils_none() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    terminal.write("new", "x");
    let gone = door.harness.home.path().join("gone");
    client.call("workspace/add", json!({ "path": gone, "create_if_missing": true })).await.unwrap();
    std::fs::remove_dir(&gone).unwrap();
    let listed = client.call("workspace/list", json!({ "include_git": true })).await.unwrap();
    let workspace = &listed["workspaces"][0];
    assert_eq!((&workspace["is_git_repo"], &workspace["git_state"]), (&json!(true), &json!("no_remote")));
    assert_eq!(
        workspace["git"],
        json!({
            "initialized": true, "has_remotes": false, "branch": "main", "ahead": 0, "behind": 0, "staged_count": 0,
            "unstaged_count": 0, "untracked_count": 1, "has_conflicts": false, "state": "no_remote",
        })
    );
    assert_eq!(
        (&listed["workspaces"][1]["exists"], &listed["workspaces"][1]["git_state"]),
        (&json!(false), &json!("no_git"))
    );
    let status = client.call("workspace/status", json!({ "workspace_id": id })).await.unwrap();
    assert_eq!(status["git_tracker_state"], "healthy");
    let gone = json!({ "workspace_id": listed["workspaces"][1]["id"] });
    let status = client.call("workspace/status", gone).await.unwrap();
    assert_eq!(status["git_tracker_state"], "unavailable");
}

#[tokio::test]
async fn every_route_of_the_seed_answers_over_http() {
    let door = Door::open_with(unlimited).await;
    let token = door.token().await;
    let get = async |path: &str| {
        let (status, body) = door.get(path, Some(&token)).await;
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    let post = async |path: &str, body: Value| door.post(path, Some(&token), &body).await;
    assert_eq!(get("/api/git/status").await.0, 404);
    assert_eq!(post("/api/git/stage", json!({ "paths": ["file"] })).await.0, 404);
    let terminal = Terminal::open(&door).with_remote();
    terminal.write("file", "one\nchanged\n");
    terminal.write("new", "x\n");
    let (status, body) = get("/api/git/status").await;
    assert_eq!((status, &body["unstaged"][0]["path"]), (200, &json!("file")));
    let (_, body) = get("/api/git/diff?path=file").await;
    assert_eq!((&body["path"], &body["is_truncated"]), (&json!("file"), &json!(false)));
    assert_eq!(post("/api/git/stage", json!({ "paths": ["file"] })).await.1["staged"], json!(["file"]));
    let (_, body) = get("/api/git/diff").await;
    let mut paths: Vec<_> = body["diffs"].as_object().unwrap().keys().map(String::as_str).collect();
    paths.sort();
    assert_eq!((paths, &body["truncated_paths"]), (vec!["file (staged)", "new"], &json!([])));
    assert_eq!(post("/api/git/unstage", json!({ "paths": ["file"] })).await.1["unstaged"], json!(["file"]));
    assert_eq!(post("/api/git/discard", json!({ "paths": ["new"] })).await.1["discarded"], json!(["new"]));
    let (status, body) = post("/api/git/commit", json!({ "message": "nothing staged" })).await;
    assert_eq!((status, &body["success"], &body["code"]), (200, &json!(false), &json!("GIT_ERROR")));
    post("/api/git/stage", json!({ "paths": ["file"] })).await;
    assert_eq!(post("/api/git/commit", json!({ "message": "staged" })).await.1["success"], true);
    assert_eq!(post("/api/git/push", json!({})).await.1["commits_pushed"], 1);
    assert_eq!(post("/api/git/pull", json!({})).await.1["success"], true);
    assert_eq!(post("/api/git/checkout", json!({ "branch": "x", "create": true })).await.1["branch"], "x");
    assert_eq!(get("/api/git/branches").await.1["current"], "x");
    assert_eq!(get("/api/git/log?limit=1&branch=main").await.1["commits"][0]["subject"], "staged");
    assert_eq!(get("/api/workspace/worktree/list").await.1["count"], 1);
}
