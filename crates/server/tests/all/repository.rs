//! The files of a workspace by name and by content, over the socket and over HTTP.

use std::fs;

use serde_json::{Value, json};

use crate::kit::{Client, Door};
use crate::stage::unlimited;

/// A door with some files in its workspace.
async fn stage() -> (Door, Client) {
    let door = Door::open_with(unlimited).await;
    let repo = door.harness.home.path().join("repo");
    for (path, text) in [
        (".gitignore", "*.log\n"),
        ("README.md", "# Read me\n"),
        ("secret.pem", "x"),
        ("noise.log", "needle\n"),
        ("src/main.rs", "fn main() {\n    // needle\n}\n"),
        ("src/sinks/kafka.rs", "struct Kafka;\n"),
        ("src/logo.png", "\u{0}"),
    ] {
        fs::create_dir_all(repo.join(path).parent().unwrap()).unwrap();
        fs::write(repo.join(path), text).unwrap();
    }
    let client = door.client().await;
    (door, client)
}

fn paths(result: &Value) -> Vec<&str> {
    result.as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn files_are_found_by_name_in_every_mode_and_with_every_filter() {
    let (_door, mut client) = stage().await;
    let cases = [
        (json!({ "query": "mainrs" }), vec!["src/main.rs"]),
        (json!({ "query": "kafka", "mode": "exact" }), vec!["src/sinks/kafka.rs"]),
        (json!({ "query": "src/s", "mode": "prefix" }), vec!["src/sinks/kafka.rs"]),
        (json!({ "query": "md", "mode": "extension" }), vec!["README.md"]),
        (json!({ "query": "a", "file_types": [".md"] }), vec!["README.md"]),
        (json!({ "query": "logo", "exclude_binaries": false }), vec!["src/logo.png"]),
        (json!({ "query": "logo" }), vec![]),
        (json!({ "query": "main", "git_tracked_only": true }), vec![]),
        (json!({ "query": "rs", "mode": "extension", "max_size": 20 }), vec!["src/sinks/kafka.rs"]),
        (json!({ "query": "noise" }), vec![]),
    ];
    for (params, expected) in cases {
        let found = client.call("repository/search", params.clone()).await.unwrap();
        assert_eq!(paths(&found["results"]), expected, "{params}");
        assert_eq!((&found["total"], &found["has_more"]), (&json!(expected.len()), &json!(false)), "{params}");
    }
    let page = client.call("repository/search", json!({ "query": "s", "limit": 1, "offset": 1 })).await.unwrap();
    assert_eq!((page["results"].as_array().unwrap().len(), &page["has_more"]), (1, &json!(true)));
    let best = client.call("repository/search", json!({ "query": "README.md" })).await.unwrap();
    assert_eq!(best["results"][0]["match_score"], 1.0);
}

#[tokio::test]
async fn a_search_goes_on_while_it_is_typed() {
    let (_door, mut client) = stage().await;
    let started = client.call("repository/search/start", json!({ "query": "" })).await.unwrap();
    let id = &started["search_id"];
    let told = client.event("search_results").await;
    assert_eq!((&told["search_id"], &told["total"]), (id, &json!(5)), "{told}");
    for text in ["k", "kaf"] {
        client.call("repository/search/update", json!({ "search_id": id, "query": text })).await.unwrap();
    }
    loop {
        let told = client.event("search_results").await;
        if told["query"] == "kaf" {
            assert_eq!(paths(&told["results"]), ["src/sinks/kafka.rs"]);
            break;
        }
    }
    client.call("repository/search/cancel", json!({ "search_id": id })).await.unwrap();
    let refused = client.call("repository/search/update", json!({ "search_id": id, "query": "x" })).await.unwrap_err();
    assert_eq!(refused["code"], -32602);
}

#[tokio::test]
async fn lines_are_found_in_one_answer_or_as_they_are_found() {
    let (_door, mut client) = stage().await;
    let params = json!({ "pattern": "needle", "context_lines": 1 });
    let found = client.call("repository/grep", params).await.unwrap();
    assert_eq!((paths(&found["files"]), &found["total_matches"]), (vec!["src/main.rs"], &json!(1)));
    let lines = &found["files"][0]["lines"];
    assert_eq!((&lines[1]["line"], &lines[1]["text"]), (&json!(2), &json!("    // needle")));
    assert_eq!(lines[1]["matches"], json!([{ "start": 7, "end": 13 }]));
    assert_eq!((lines.as_array().unwrap().len(), &lines[0]["matches"]), (3, &json!([])));

    let started =
        client.call("repository/grep", json!({ "pattern": "^f.", "regex": true, "stream": true })).await.unwrap();
    assert_eq!(started["status"], "started");
    let told = client.event("grep_results").await;
    assert_eq!((paths(&told["files"]), &told["grep_id"]), (vec!["src/main.rs"], &started["grep_id"]));
    let ended = client.event("grep_completed").await;
    assert_eq!((&ended["total_matches"], &ended["cancelled"]), (&json!(1), &json!(false)));
}

#[tokio::test]
async fn what_cannot_be_searched_is_refused_with_the_reason() {
    let (_door, mut client) = stage().await;
    let cases = [
        ("repository/grep", json!({ "pattern": "(", "regex": true }), "INVALID_PAYLOAD"),
        ("repository/grep", json!({ "pattern": "(", "regex": true, "stream": true }), "INVALID_PAYLOAD"),
        ("repository/grep", json!({ "pattern": "" }), "INVALID_PAYLOAD"),
        ("repository/grep", json!({ "pattern": "x", "directory": "../.." }), "PATH_TRAVERSAL"),
        ("repository/files/list", json!({ "directory": "/etc" }), "PATH_TRAVERSAL"),
        ("repository/files/tree", json!({ "path": "no/such" }), "DIRECTORY_NOT_FOUND"),
        ("repository/search", json!({ "query": "x", "mode": "magic" }), "INVALID_PAYLOAD"),
        ("repository/search", json!({ "query": "x", "workspace_id": "nobody" }), "WORKSPACE_NOT_FOUND"),
        ("repository/search", json!({}), "INVALID_PAYLOAD"),
    ];
    for (method, params, code) in cases {
        let refused = client.call(method, params.clone()).await.unwrap_err();
        assert_eq!(refused["data"]["code"], code, "{method} {params}: {refused}");
    }
}

#[tokio::test]
async fn folders_are_listed_drawn_and_counted() {
    let (_door, mut client) = stage().await;
    let listed = client.call("repository/files/list", json!({})).await.unwrap();
    assert_eq!(paths(&listed["files"]), [".gitignore", "README.md", "secret.pem"]);
    assert_eq!(listed["files"][2]["is_sensitive"], true);
    let folder = &listed["directories"][0];
    assert_eq!(
        (&folder["path"], &folder["file_count"], &folder["folder_count"]),
        (&json!("src"), &json!(3), &json!(1))
    );
    let sorted =
        json!({ "recursive": true, "sort_by": "size", "sort_order": "desc", "limit": 1, "extensions": ["rs"] });
    let listed = client.call("repository/files/list", sorted).await.unwrap();
    assert_eq!((paths(&listed["files"]), &listed["total_files"]), (vec!["src/main.rs"], &json!(2)));
    assert_eq!(listed["pagination"]["has_more"], true);

    let tree = client.call("repository/files/tree", json!({ "depth": 1 })).await.unwrap();
    assert_eq!((&tree["name"], &tree["root"]["children"][0]["path"]), (&json!("repo"), &json!("src")));
    assert_eq!((&tree["total_nodes"], &tree["max_depth_reached"]), (&json!(4), &json!(true)));

    let stats = client.call("repository/stats", json!({})).await.unwrap();
    assert_eq!((&stats["total_files"], &stats["total_directories"]), (&json!(6), &json!(2)));
    assert_eq!((&stats["binary_files"], &stats["sensitive_files"]), (&json!(1), &json!(1)));
    let rust = &stats["languages"][0];
    assert_eq!((&rust["language"], &rust["files"], &rust["lines"]), (&json!("Rust"), &json!(2), &json!(4)));
    assert_eq!(stats["files_by_extension"]["rs"], 2);

    // On a busy machine the answers above made the index look again, and it still does.
    let status = loop {
        let status = client.call("repository/index/status", json!({})).await.unwrap();
        if status["status"] != "indexing" {
            break status;
        }
    };
    assert_eq!((&status["status"], &status["total_files"]), (&json!("ready"), &json!(6)));
    let rebuilt = client.call("repository/index/rebuild", json!({ "force": true })).await.unwrap();
    assert!(["started", "already_indexing"].contains(&rebuilt["status"].as_str().unwrap()));
}

#[tokio::test]
async fn the_same_is_served_over_http() {
    let (door, _client) = stage().await;
    let token = door.token().await;
    let cases = [
        ("search?q=main&extensions=rs,md&limit=5", "results", vec!["src/main.rs"]),
        ("search?q=123", "results", vec![]),
        ("files/list?directory=src&sort=size&order=desc", "files", vec!["src/main.rs", "src/logo.png"]),
        ("grep?pattern=needle", "files", vec!["src/main.rs"]),
    ];
    for (route, field, expected) in cases {
        let (status, body) = door.get(&format!("/api/repository/{route}"), Some(&token)).await;
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, paths(&body[field])), (200, expected), "{route}: {body}");
    }
    for route in ["files/tree?path=src&depth=1", "stats", "index/status"] {
        assert_eq!(door.get(&format!("/api/repository/{route}"), Some(&token)).await.0, 200, "{route}");
    }
    let (status, body) = door.post("/api/repository/index/rebuild", Some(&token), &json!({})).await;
    assert_eq!(status, 200, "{body}");
}

#[tokio::test]
async fn a_file_that_was_just_written_is_found() {
    let (door, mut client) = stage().await;
    let id = door.workspace().await;
    client.call("workspace/subscribe", json!({ "workspace_id": id })).await.unwrap();
    fs::write(door.harness.home.path().join("repo/fresh.rs"), "").unwrap();
    client.event("file_changed").await;
    let found = client.call("repository/search", json!({ "query": "fresh" })).await.unwrap();
    assert_eq!(paths(&found["results"]), ["fresh.rs"]);
}
