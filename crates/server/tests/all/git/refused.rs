//! What is refused: a clear code and word each.

use serde_json::{Value, json};

use super::{Terminal, stage};
use crate::kit::Door;
use crate::stage::unlimited;

#[tokio::test]
async fn bad_names_paths_and_repositories_have_a_clear_code_each() {
    let door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let id = door.workspace().await;
    let target = json!({ "workspace_id": id });
    let none = client.call("git/status", target.clone()).await.unwrap_err();
    assert_eq!((&none["code"], &none["data"]["code"]), (&json!(-32030), &json!("NOT_A_GIT_REPO")));
    assert_eq!(client.call("git/state", target.clone()).await.unwrap()["state"], "no_git");
    Terminal::open(&door);
    let table = [
        ("git/fetch", json!({ "remote": "--upload-pack=x" }), -32602),
        ("git/checkout", json!({ "branch": "-b" }), -32602),
        ("git/log", json!({ "branch": "--output=x" }), -32602),
        ("git/merge", json!({ "branch": "a..b" }), -32602),
        ("git/remote/add", json!({ "name": "x", "url": "ext::sh -c id" }), -32602),
        ("git/diff", json!({ "path": "../secret" }), -32022),
        ("git/diff", json!({ "path": "/etc/passwd" }), -32022),
        ("git/stage", json!({ "paths": ["../secret"] }), -32022),
        ("git/discard", json!({ "paths": ["a\u{0}b"] }), -32022),
        ("git/discard", json!({ "paths": [] }), -32602),
        ("git/stage", json!({ "paths": ["nowhere"] }), -32031),
        ("git/push", json!({}), -32031),
        ("git/commit", json!({ "message": "nothing" }), -32031),
        ("git/commit", json!({}), -32602),
        ("git/status", json!({ "workspace_id": "nobody" }), -32054),
        ("workspace/worktree/add", json!({ "name": "../x" }), -32602),
    ];
    for (method, params, code) in table {
        let fault = client.call(method, params).await.unwrap_err();
        assert_eq!(fault["code"], code, "{method}: {fault}");
        // The name of what was to be done, whatever part of it failed.
        if let Value::String(operation) = &fault["data"]["operation"] {
            assert!(method.ends_with(operation), "{method}: {fault}");
        }
    }
}

#[tokio::test]
async fn every_word_that_clients_look_for_is_said() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    let outside = terminal.folder.with_file_name("a file");
    std::fs::write(&outside, "x").unwrap();
    let fresh = client
        .call("workspace/add", json!({ "path": terminal.folder.with_file_name("fresh"), "create_if_missing": true }));
    let fresh = fresh.await.unwrap()["id"].clone();
    client.call("git/remote/add", json!({ "workspace_id": id, "name": "x", "url": "https://h/p" })).await.unwrap();
    client.call("workspace/worktree/add", json!({ "workspace_id": id, "name": "w" })).await.unwrap();
    let table = [
        ("git/init", json!({ "workspace_id": id }), "GIT_ALREADY_INITIALIZED"),
        ("git/status", json!({ "workspace_id": fresh }), "GIT_NOT_INITIALIZED"),
        ("git/remote/add", json!({ "workspace_id": id, "name": "x", "url": "https://h/p" }), "REMOTE_ALREADY_EXISTS"),
        ("git/remote/add", json!({ "workspace_id": id, "name": "y", "url": "ext::sh -c id" }), "INVALID_REMOTE_URL"),
        ("git/remote/remove", json!({ "workspace_id": id, "name": "nobody" }), "REMOTE_NOT_FOUND"),
        ("git/fetch", json!({ "workspace_id": id, "remote": "nobody" }), "REMOTE_NOT_FOUND"),
        ("workspace/worktree/add", json!({ "workspace_id": id, "name": "w", "branch": "z" }), "DIRECTORY_EXISTS"),
        ("file/list", json!({ "workspace_id": id, "path": "file" }), "NOT_A_DIRECTORY"),
        ("workspace/add", json!({ "path": outside }), "NOT_A_DIRECTORY"),
    ];
    for (method, params, word) in table {
        let fault = client.call(method, params).await.unwrap_err();
        assert_eq!(fault["data"]["error_code"], word, "{method}: {fault}");
    }
    client.call("git/init", json!({ "workspace_id": fresh })).await.unwrap();
    let fault = client.call("workspace/worktree/add", json!({ "workspace_id": fresh, "name": "w" })).await.unwrap_err();
    assert_eq!(fault["data"]["error_code"], "NO_COMMITS", "{fault}");
}

#[tokio::test]
async fn a_folder_of_the_machine_is_no_remote_for_those_who_come_from_afar() {
    let door = Door::open_with(unlimited).await;
    let (mut afar, terminal, id) = stage(&door).await;
    terminal.git(&["init", "--quiet", "--bare", "../outside"]);
    let outside = terminal.folder.with_file_name("outside");
    let add = |name: &str, url: &str| json!({ "workspace_id": id, "name": name, "url": url });
    let (path, url) = (outside.to_str().unwrap(), format!("file://{}", outside.display()));
    for address in [path, &url, "../outside", "outside"] {
        let refused = afar.call("git/remote/add", add("x", address)).await.unwrap_err();
        assert_eq!(refused["data"]["code"], "FORBIDDEN", "{address}: {refused}");
    }
    afar.call("git/remote/add", add("far", "git@example.invalid:x")).await.unwrap();
    door.local().await.call("git/remote/add", add("near", "../outside")).await.unwrap();
    let tokens = door.pair(Some(roost_rpc::Scope::Admin)).await;
    let mut admin = door.connect(tokens["access_token"].as_str().unwrap()).await.unwrap();
    admin.hello().await;
    admin.call("git/remote/add", add("admin", &url)).await.unwrap();
}

#[tokio::test]
async fn a_commit_is_attributed_only_to_a_session_of_its_workspace() {
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    let other = json!({ "path": terminal.folder.with_file_name("other"), "create_if_missing": true });
    let other = client.call("workspace/add", other).await.unwrap()["id"].clone();
    let started = client.call("session/start", json!({ "workspace_id": other, "mode": "new" })).await.unwrap();
    terminal.write("file", "x\n");
    terminal.git(&["add", "--all"]);
    let before = terminal.git(&["rev-parse", "HEAD"]);
    let commit = json!({ "workspace_id": id, "message": "not its", "session_id": started["session_id"] });
    let refused = client.call("git/commit", commit).await.unwrap_err();
    assert_eq!((&refused["code"], &refused["data"]["field"]), (&json!(-32602), &json!("session_id")));
    assert_eq!(terminal.git(&["rev-parse", "HEAD"]), before);
}

#[tokio::test]
async fn a_name_that_is_no_text_is_listed_as_such() {
    use std::os::unix::ffi::OsStrExt;
    let door = Door::open_with(unlimited).await;
    let (mut client, terminal, id) = stage(&door).await;
    std::fs::write(terminal.folder.join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
    let status = client.call("git/status", json!({ "workspace_id": id })).await.unwrap();
    assert_eq!(status["untracked"], json!([{ "path": "caf\u{fffd}", "status": "?", "not_utf8": true }]));
}
