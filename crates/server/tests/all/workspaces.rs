//! The folders that agents may work in.

use serde_json::{Value, json};

use crate::kit::{Client, Door};
use crate::stage::unlimited;

async fn add(client: &mut Client, params: Value) -> Result<Value, Value> {
    client.call("workspace/add", params).await
}

#[tokio::test]
async fn a_folder_becomes_a_workspace_with_everything_that_clients_decode() {
    let door = Door::open().await;
    let mut client = door.client().await;
    let folder = door.harness.home.path().join("made/here");
    let params = json!({ "name": "Here", "path": folder, "create_if_missing": true, "auto_start": true });
    let added = add(&mut client, params).await.unwrap();
    assert!(folder.is_dir());
    assert_eq!((&added["name"], &added["auto_start"], &added["exists"]), (&json!("Here"), &json!(true), &json!(true)));
    assert_eq!((&added["is_git_repo"], &added["git_state"]), (&json!(false), &json!("no_git")));
    let of_sessions =
        [&added["sessions"], &added["active_session_count"], &added["has_active_session"], &added["active_session_id"]];
    assert_eq!(of_sessions, [&json!([]), &json!(0), &json!(false), &json!("")]);
    assert!(added["created_at"].is_string());
    let listed = client.call("workspace/list", json!({ "include_git": true, "git_limit": 5 })).await.unwrap();
    assert_eq!(listed["workspaces"].as_array().unwrap().len(), 2);
    assert_eq!(listed["workspaces"][1], added);
    let id = json!({ "workspace_id": added["id"] });
    assert_eq!(client.call("workspace/get", id.clone()).await.unwrap(), added);
    let status = client.call("workspace/status", id.clone()).await.unwrap();
    assert_eq!((&status["workspace_name"], &status["git_tracker_state"]), (&json!("Here"), &json!("not_git")));
    assert_eq!((&status["is_being_watched"], &status["watched_session_id"]), (&json!(false), &json!("")));
    let updated =
        client.call("workspace/update", json!({ "workspace_id": added["id"], "name": "There" })).await.unwrap();
    assert_eq!((&updated["name"], &updated["auto_start"]), (&json!("There"), &json!(true)));
    let removed = client.call("workspace/remove", id.clone()).await.unwrap();
    assert_eq!(removed["success"], true);
    let told = client.event("workspace_removed").await;
    assert_eq!((&told["id"], &told["name"], &told["path"]), (&added["id"], &json!("There"), &added["path"]));
    assert!(told.get("session_id").is_none(), "{told}");
    for method in ["workspace/get", "workspace/remove", "workspace/status", "workspace/session/history"] {
        let fault = client.call(method, id.clone()).await.unwrap_err();
        assert_eq!(
            (&fault["data"]["code"], &fault["data"]["workspace_id"]),
            (&json!("WORKSPACE_NOT_FOUND"), &added["id"])
        );
    }
    assert!(folder.is_dir(), "the folder itself is nobody's to remove");
}

#[tokio::test]
async fn what_is_no_folder_of_its_own_is_refused() {
    let door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let home = door.harness.home.path().canonicalize().unwrap();
    std::fs::create_dir_all(home.join("repo/inside")).unwrap();
    std::fs::write(home.join("file"), "x").unwrap();
    std::os::unix::fs::symlink(home.join("repo"), home.join("link")).unwrap();
    let table = [
        ("relative/path", -32602),
        ("/", -32602),
        ("", -32602),
        ("/no/such/folder", -32051),
        (home.join("no/such/folder").to_str().unwrap(), -32602),
        (home.join("file").to_str().unwrap(), -32602),
        (home.join("repo").to_str().unwrap(), -32602),
        (home.join("link").to_str().unwrap(), -32602),
        (home.join("repo/../repo").to_str().unwrap(), -32602),
        (home.join("repo/inside").to_str().unwrap(), -32602),
        (home.to_str().unwrap(), -32602),
    ]
    .map(|(path, code)| (path.to_owned(), code));
    for (path, code) in table {
        let fault = add(&mut client, json!({ "path": path })).await.unwrap_err();
        assert_eq!(fault["code"], code, "{path}: {fault}");
    }
    for name in ["", " ", "a\nb", &"x".repeat(500)] {
        let folder = home.join("named");
        let fault =
            add(&mut client, json!({ "path": folder, "name": name, "create_if_missing": true })).await.unwrap_err();
        assert_eq!(fault["code"], -32602, "{name}: {fault}");
    }
    assert_eq!(client.call("workspace/list", json!({})).await.unwrap()["workspaces"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn names_are_unique() {
    let door = Door::open().await;
    let mut client = door.client().await;
    let home = door.harness.home.path().to_owned();
    let make = |folder: &str| json!({ "path": home.join(folder), "name": "same", "create_if_missing": true });
    assert_eq!(add(&mut client, make("a")).await.unwrap()["name"], "same");
    let second = add(&mut client, make("b")).await.unwrap();
    assert_eq!(second["name"], "same 2");
    let fault =
        client.call("workspace/update", json!({ "workspace_id": second["id"], "name": "same" })).await.unwrap_err();
    assert_eq!(fault["code"], -32602);
}

#[tokio::test]
async fn a_workspace_in_use_is_kept_and_its_sessions_outlive_it() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    let id = json!({ "workspace_id": scene.workspace });
    let fault = client.call("workspace/remove", id.clone()).await.unwrap_err();
    assert_eq!(fault["code"], -32603);
    assert!(
        fault["message"].as_str().unwrap().starts_with("cannot remove workspace with 1 active session(s)"),
        "{fault}"
    );
    scene.agent.finish().await;
    client.until("stream_read_complete").await;
    client.call("workspace/remove", id).await.unwrap();
    client.call("session/messages", json!({ "session_id": scene.session })).await.unwrap();
    client.call("session/send", json!({ "session_id": scene.session, "prompt": "still here" })).await.unwrap();
}

#[tokio::test]
async fn a_folder_that_is_gone_spoils_its_own_workspace_and_no_other() {
    let door = Door::open().await;
    let mut client = door.client().await;
    let folder = door.harness.home.path().join("gone");
    let gone = add(&mut client, json!({ "path": folder, "create_if_missing": true })).await.unwrap();
    std::fs::remove_dir(&folder).unwrap();
    let door = door.restarted().await;
    let mut client = door.client().await;
    let list = client.call("workspace/list", json!({})).await.unwrap();
    let exists: Vec<_> = list["workspaces"].as_array().unwrap().iter().map(|one| one["exists"].clone()).collect();
    assert_eq!(json!(exists), json!([true, false]));
    let fault = client.call("session/start", json!({ "workspace_id": gone["id"] })).await.unwrap_err();
    assert_eq!(fault["code"], -32602, "{fault}");
    client.call("session/start", json!({ "workspace_id": list["workspaces"][0]["id"] })).await.unwrap();
    let more = door.harness.home.path().join("more");
    add(&mut client, json!({ "path": more, "create_if_missing": true })).await.unwrap();
    assert_eq!(client.call("workspace/list", json!({})).await.unwrap()["workspaces"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn the_sessions_of_a_workspace_are_listed_the_latest_first_with_the_one_that_was_activated() {
    let mut door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let old = door.scene(&mut client).await;
    old.agent.finish().await;
    client.until("stream_read_complete").await;
    let new = door.scene(&mut client).await;
    let id = json!({ "workspace_id": old.workspace });
    for method in ["workspace/session/history", "session/history"] {
        let history = client.call(method, id.clone()).await.unwrap();
        assert_eq!(history["total"], 2);
        let ids: Vec<_> = history["sessions"].as_array().unwrap().iter().map(|one| one["session_id"].clone()).collect();
        assert_eq!(json!(ids), json!([new.session, old.session]));
        let item = &history["sessions"][0];
        for field in ["summary", "last_updated", "project_path", "started_at", "last_active", "agent_type"] {
            assert!(item[field].is_string(), "{field}: {item}");
        }
        assert_eq!((&item["status"], &item["workspace_id"]), (&json!("running"), &json!(old.workspace)));
    }
    let page = json!({ "workspace_id": old.workspace, "limit": 1, "offset": 1 });
    let history = client.call("workspace/session/history", page).await.unwrap();
    assert_eq!((&history["sessions"][0]["session_id"], &history["total"]), (&json!(old.session), &json!(2)));
    let activate = json!({ "workspace_id": old.workspace, "session_id": old.session });
    assert_eq!(client.call("workspace/session/activate", activate).await.unwrap()["success"], true);
    let workspace = client.call("workspace/get", id.clone()).await.unwrap();
    assert_eq!(workspace["active_session_id"], json!(old.session));
    assert_eq!(client.call("session/start", id).await.unwrap()["session_id"], json!(old.session));
}

#[tokio::test]
async fn a_deleted_session_is_off_every_list_and_its_agent_is_stopped() {
    let mut door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let first = door.scene(&mut client).await;
    let mut second = door.scene(&mut client).await;
    let delete = json!({ "workspace_id": second.workspace, "session_id": second.session });
    second.agent.finish().await;
    let deleted = client.call("workspace/session/delete", delete.clone()).await.unwrap();
    assert_eq!((&deleted["status"], &deleted["deleted"]), (&json!("deleted"), &json!(1)));
    assert!(second.runtime.gone().await);
    let listed = |list: Value| {
        list["sessions"].as_array().unwrap().iter().map(|one| one["session_id"].clone()).collect::<Vec<_>>()
    };
    let id = json!({ "workspace_id": first.workspace });
    for (method, params) in [
        ("session/list", json!({})),
        ("workspace/session/history", id.clone()),
        ("session/active", json!({})),
        ("workspace/get", id.clone()),
    ] {
        assert_eq!(listed(client.call(method, params).await.unwrap()), [json!(first.session)], "{method}");
    }
    first.agent.finish().await;
    let all = client.call("session/delete", json!({})).await.unwrap();
    assert_eq!(all["deleted"], 1);
    assert_eq!(client.call("session/list", json!({})).await.unwrap(), json!({ "sessions": [], "total": 0 }));
}

#[tokio::test]
async fn a_daemon_starts_wherever_it_is_started_and_serves_the_workspaces_that_there_are() {
    let door = Door::open().await;
    let home = door.harness.home.path().to_owned();
    std::os::unix::fs::symlink(home.join("repo"), home.join("link")).unwrap();
    let folder = home.join("a");
    add(&mut door.local().await, json!({ "path": folder, "create_if_missing": true })).await.unwrap();
    let mut harness = door.close().await;
    // Around its workspaces, at the root, and at one of them through a link.
    for (repo, default) in [(home.clone(), "repo"), ("/".into(), "repo"), (home.join("link"), "repo"), (folder, "a")] {
        let door = Door::over(harness, |settings| settings.repo = Some(repo.clone())).await;
        let mut client = door.client().await;
        assert_eq!(client.call("status/get", json!({})).await.unwrap()["repo_name"], default, "{}", repo.display());
        let list = client.call("workspace/list", json!({})).await.unwrap();
        assert_eq!(list["workspaces"].as_array().unwrap().len(), 2, "{}", repo.display());
        harness = door.close().await;
    }
}

#[tokio::test]
async fn repositories_of_the_machine_are_found_remembered_and_looked_up_again() {
    let places = tempfile::TempDir::new().unwrap();
    let usual = places.path().join("usual");
    std::fs::create_dir_all(usual.join("one/.git")).unwrap();
    std::fs::create_dir_all(places.path().join("elsewhere/two/.git")).unwrap();
    let found_in = usual.clone();
    let door = Door::open_with(|settings| {
        settings.workspace_roots = vec![found_in.clone()];
        settings.discover_in = vec![found_in, "/etc".into()];
    })
    .await;
    let mut client = door.client().await;
    let first = client.call("workspace/discover", json!({})).await.unwrap();
    assert_eq!(
        (&first["count"], &first["cached"], &first["repositories"][0]["name"]),
        (&json!(1), &json!(false), &json!("one"))
    );
    let is_progress = |event: &Value| event["method"] == "event/workspace_discover_progress";
    let progress = client.events.drain(..).filter(is_progress).map(|event| event["params"].clone());
    let progress: Vec<_> = progress.collect();
    assert!(progress.len() >= 2, "the first is told at once, the last with what it came to: {progress:?}");
    let ended = progress.last().unwrap();
    assert_eq!((&ended["found_count"], &ended["scanned_paths"]), (&first["count"], &first["scanned_paths"]));
    assert!(progress.iter().all(|one| one["discover_id"] == ended["discover_id"] && one["paths"] == json!([usual])));
    assert_eq!(first["cancelled"], false);
    let late = json!({ "discover_id": ended["discover_id"] });
    assert_eq!(client.call("workspace/discover/cancel", late).await.unwrap()["success"], true, "it is over anyway");
    std::fs::create_dir_all(usual.join("three/.git")).unwrap();
    let second = client.call("workspace/discover", json!({})).await.unwrap();
    assert_eq!(
        (&second["count"], &second["cached"], &second["refresh_in_progress"]),
        (&json!(1), &json!(true), &json!(false))
    );
    let fresh = client.call("workspace/discover", json!({ "fresh": true })).await.unwrap();
    assert_eq!((&fresh["count"], &fresh["cached"]), (&json!(2), &json!(false)));
    add(&mut client, json!({ "path": usual.join("one") })).await.unwrap();
    client.call("workspace/cache/invalidate", json!({})).await.unwrap();
    let again = client.call("workspace/discover", json!({})).await.unwrap();
    let configured: Vec<_> =
        again["repositories"].as_array().unwrap().iter().map(|one| &one["is_configured"]).collect();
    assert_eq!((&again["cached"], configured), (&json!(false), vec![&json!(true), &json!(false)]));
    let outside = [places.path().join("elsewhere"), usual.join("../elsewhere"), "/etc".into()];
    for (path, code) in outside.into_iter().map(|path| (path, -32051)).chain([("relative".into(), -32602)]) {
        let fault = client.call("workspace/discover", json!({ "paths": [path] })).await.unwrap_err();
        assert_eq!(fault["code"], code, "{fault}");
    }
    let mut local = door.local().await;
    let elsewhere = json!({ "paths": [places.path().join("elsewhere")] });
    assert_eq!(local.call("workspace/discover", elsewhere).await.unwrap()["count"], 1);
}

#[tokio::test]
async fn a_workspace_from_before_that_nobody_may_have_now_is_listed_and_removed_and_nothing_else() {
    let door = Door::open_with(unlimited).await;
    let folder = door.harness.home.path().canonicalize().unwrap().join("outer/inner");
    std::fs::create_dir_all(&folder).unwrap();
    let outer = folder.parent().unwrap().to_owned();
    let added = add(&mut door.local().await, json!({ "path": outer })).await.unwrap();
    let id = added["id"].as_str().unwrap().to_owned();
    // From now on Roost keeps something of its own in it.
    let door = Door::over(door.close().await, |settings| settings.config_dir = Some(folder)).await;
    let (mut client, mut local) = (door.client().await, door.local().await);
    for client in [&mut client, &mut local] {
        for (method, params) in [
            ("workspace/get", json!({ "workspace_id": id })),
            ("session/start", json!({ "workspace_id": id, "mode": "new" })),
            ("workspace/file/get", json!({ "workspace_id": id, "path": "inner/roost.toml" })),
            ("git/status", json!({ "workspace_id": id })),
            ("workspace/subscribe", json!({ "workspace_id": id })),
        ] {
            let fault = client.call(method, params).await.unwrap_err();
            let message = fault["message"].as_str().unwrap();
            assert!(message.contains("contains Roost's configuration directory"), "{method}: {message}");
        }
        let listed = client.call("workspace/list", json!({})).await.unwrap();
        assert_eq!(listed["workspaces"].as_array().unwrap().len(), 2);
    }
    client.call("workspace/remove", json!({ "workspace_id": id })).await.unwrap();
}

#[tokio::test]
async fn nothing_is_made_where_no_workspace_may_be() {
    let door = Door::open_with(|settings| settings.workspace_roots = vec![settings.repo.clone().unwrap()]).await;
    let home = door.harness.home.path().canonicalize().unwrap();
    let made = [home.join("beside"), home.join("state/inside"), home.join("repo/.hidden/one")];
    let mut client = door.client().await;
    for folder in &made {
        add(&mut client, json!({ "path": folder, "create_if_missing": true })).await.unwrap_err();
        assert!(!folder.exists(), "{}", folder.display());
    }
    let fault = add(&mut door.local().await, json!({ "path": made[1], "create_if_missing": true })).await.unwrap_err();
    assert!(fault["message"].as_str().unwrap().contains("lies in Roost's state directory"), "{fault}");
    add(&mut door.local().await, json!({ "path": made[0], "create_if_missing": true })).await.unwrap();
}
