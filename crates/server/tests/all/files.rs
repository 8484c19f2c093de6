//! Files of a workspace, over the socket and over HTTP.

use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::kit::Door;
use crate::stage::unlimited;

/// The folder of the door's workspace, beside a secret.
fn folder(door: &Door) -> PathBuf {
    let home = door.harness.home.path();
    std::fs::write(home.join("secret"), "s3cret").unwrap();
    home.join("repo")
}

#[tokio::test]
async fn a_text_is_read_as_it_is_and_a_picture_in_base64() {
    let door = Door::open().await;
    let mut client = door.client().await;
    let repo = folder(&door);
    std::fs::write(repo.join("notes.md"), "# Größe\n").unwrap();
    let picture = [b"\x89PNG\r\n\x1a\n".as_slice(), &[7; 100]].concat();
    std::fs::write(repo.join("a.png"), &picture).unwrap();
    let id = door.workspace().await;
    for method in ["file/get", "workspace/file/get"] {
        let text = client.call(method, json!({ "workspace_id": id, "path": "notes.md" })).await.unwrap();
        let expected = json!({
            "path": "notes.md", "content": "# Größe\n", "encoding": "utf-8", "truncated": false, "size": 10,
            "offset": 0, "media_type": "text/markdown", "is_sensitive": false,
        });
        assert_eq!(text, expected);
    }
    let shown = client.call("file/get", json!({ "path": "a.png" })).await.unwrap();
    assert_eq!((&shown["encoding"], &shown["media_type"]), (&json!("base64"), &json!("image/png")));
    assert_eq!(BASE64_STANDARD.decode(shown["content"].as_str().unwrap()).unwrap(), picture);
    std::fs::write(repo.join(".env"), "KEY=1").unwrap();
    assert_eq!(client.call("file/get", json!({ "path": ".env" })).await.unwrap()["is_sensitive"], true);
}

#[tokio::test]
async fn whoever_wants_all_of_a_file_or_nothing_is_refused_a_part_of_it() {
    let door = Door::open().await;
    let mut client = door.client().await;
    std::fs::write(folder(&door).join("long.txt"), "x".repeat(3 << 10)).unwrap();
    let part = client.call("file/get", json!({ "path": "long.txt", "max_size_kb": 2 })).await.unwrap();
    assert_eq!((&part["truncated"], &part["size"]), (&json!(true), &json!(3 << 10)));
    let whole = json!({ "path": "long.txt", "max_size_kb": 2, "truncate": false });
    let fault = client.call("file/get", whole).await.unwrap_err();
    let found = json!([fault["code"], fault["data"]["code"], fault["data"]["size"], fault["data"]["max_size"]]);
    assert_eq!(found, json!([-32021, "FILE_TOO_LARGE", 3 << 10, 2 << 10]), "{fault}");
    let whole = json!({ "path": "long.txt", "truncate": false });
    assert_eq!(client.call("file/get", whole).await.unwrap()["truncated"], false);
}

#[tokio::test]
async fn what_does_not_fit_into_an_answer_is_read_in_pieces() {
    let door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let repo = folder(&door);
    // Control characters take six times their size in JSON.
    let text = "\u{1}".repeat(300_000);
    std::fs::write(repo.join("odd.txt"), &text).unwrap();
    let picture = [b"\x89PNG\r\n\x1a\n".as_slice(), &vec![9; 1_500_000]].concat();
    std::fs::write(repo.join("big.png"), &picture).unwrap();
    let refused = client.call("file/get", json!({ "path": "big.png", "max_size_kb": 10000 })).await.unwrap_err();
    assert_eq!((&refused["code"], &refused["data"]["size"]), (&json!(-32021), &json!(picture.len())));
    for (path, expected) in [("odd.txt", text.as_bytes()), ("big.png", &picture)] {
        let mut read = Vec::new();
        loop {
            let params = json!({ "path": path, "offset": read.len(), "max_size_kb": 10000 });
            let piece = client.call("file/get", params).await.unwrap();
            let content = piece["content"].as_str().unwrap();
            match piece["encoding"].as_str() {
                Some("utf-8") => read.extend(content.as_bytes()),
                _ => read.extend(BASE64_STANDARD.decode(content).unwrap()),
            }
            if piece["truncated"] == false {
                break;
            }
        }
        assert!(read == expected, "{path}");
    }
}

#[tokio::test]
async fn a_folder_is_listed_in_both_forms() {
    let door = Door::open().await;
    let mut client = door.client().await;
    let repo = folder(&door);
    std::fs::create_dir_all(repo.join("src/inner")).unwrap();
    std::fs::create_dir(repo.join("node_modules")).unwrap();
    for name in ["src/main.rs", "a.txt", "b.txt", ".hidden"] {
        std::fs::write(repo.join(name), "12345").unwrap();
    }
    let listed = client.call("file/list", json!({})).await.unwrap();
    let names: Vec<_> = listed["entries"].as_array().unwrap().iter().map(|entry| &entry["name"]).collect();
    assert_eq!(names, ["src", "a.txt", "b.txt"]);
    assert_eq!(
        (&listed["entries"][0]["type"], &listed["entries"][0]["children_count"]),
        (&json!("directory"), &json!(2))
    );
    let id = door.workspace().await;
    let page = json!({ "workspace_id": id, "limit": 1, "offset": 1 });
    let page = client.call("workspace/files/list", page).await.unwrap();
    assert_eq!((&page["total_files"], &page["total_directories"]), (&json!(2), &json!(2)));
    assert_eq!((&page["files"][0]["path"], &page["pagination"]["has_more"]), (&json!("b.txt"), &json!(false)));
    let src = page["directories"].as_array().unwrap().iter().find(|folder| folder["name"] == "src").unwrap();
    assert_eq!(
        (&src["file_count"], &src["folder_count"], &src["total_size_display"]),
        (&json!(1), &json!(1), &json!("5 B"))
    );
}

#[tokio::test]
async fn nothing_outside_the_workspace_is_read_whatever_is_asked_for() {
    let door = Door::open_with(unlimited).await;
    let mut client = door.client().await;
    let repo = folder(&door);
    let home = door.harness.home.path();
    std::fs::create_dir(home.join("repo-x")).unwrap();
    std::fs::write(home.join("repo-x/secret"), "s3cret").unwrap();
    for (target, link) in
        [("../secret", "up"), ("..", "parent"), ("../repo-x", "neighbour"), ("/etc/hostname", "absolute")]
    {
        std::os::unix::fs::symlink(target, repo.join(link)).unwrap();
    }
    assert!(std::process::Command::new("mkfifo").arg(repo.join("pipe")).status().unwrap().success());
    let id = door.workspace().await;
    let table = [
        ("../secret", -32022, "PATH_TRAVERSAL"),
        ("a/../../secret", -32022, "PATH_TRAVERSAL"),
        ("/etc/passwd", -32022, "PATH_TRAVERSAL"),
        ("a\0b", -32022, "PATH_TRAVERSAL"),
        ("up", -32022, "PATH_TRAVERSAL"),
        ("parent/secret", -32022, "PATH_TRAVERSAL"),
        ("neighbour/secret", -32022, "PATH_TRAVERSAL"),
        ("absolute", -32022, "PATH_TRAVERSAL"),
        ("pipe", -32023, "FILE_READ_ERROR"),
        ("", -32023, "FILE_READ_ERROR"),
        ("nothing", -32020, "FILE_NOT_FOUND"),
        ("--help", -32020, "FILE_NOT_FOUND"),
        ("new\nline", -32020, "FILE_NOT_FOUND"),
    ];
    for (path, code, word) in table {
        for method in ["file/get", "workspace/file/get"] {
            let fault = client.call(method, json!({ "workspace_id": id, "path": path })).await.unwrap_err();
            assert_eq!(
                (&fault["code"], &fault["data"]["code"]),
                (&json!(code), &json!(word)),
                "{method} {path:?}: {fault}"
            );
            assert!(!fault.to_string().contains("s3cret"), "{fault}");
        }
    }
    for path in ["..", "parent", "neighbour", "/"] {
        for (method, key) in [("file/list", "path"), ("workspace/files/list", "directory")] {
            let fault = client.call(method, json!({ "workspace_id": id, key: path })).await.unwrap_err();
            assert_eq!(fault["code"], -32022, "{method} {path}: {fault}");
        }
    }
}

#[tokio::test]
async fn the_routes_are_the_methods() {
    let door = Door::open().await;
    let token = door.token().await;
    let repo = folder(&door);
    std::fs::write(repo.join("7"), "seven").unwrap();
    let (status, body) = door.get("/api/file?path=7", Some(&token)).await;
    assert_eq!((status, &serde_json::from_str::<Value>(&body).unwrap()["content"]), (200, &json!("seven")));
    let (status, body) = door.get("/api/files/list", Some(&token)).await;
    assert_eq!((status, &serde_json::from_str::<Value>(&body).unwrap()["total_count"]), (200, &json!(1)));
    for (path, expected) in [("/api/file", 400), ("/api/file?path=no", 404), ("/api/file?path=../secret", 400)] {
        assert_eq!(door.get(path, Some(&token)).await.0, expected, "{path}");
    }
    assert_eq!(door.get("/api/file?path=7", None).await.0, 401);
}

#[tokio::test]
async fn a_file_is_served_as_it_is_whole_or_in_part_and_a_browser_runs_nothing_of_it() {
    let door = Door::open().await;
    let repo = door.harness.home.path().join("repo");
    std::fs::write(repo.join("page.html"), "<script>alert(1)</script>").unwrap();
    std::os::unix::fs::symlink("/etc/hostname", repo.join("out")).unwrap();
    let authorization = format!("Bearer {}", door.token().await);
    let ask = async |path: &str, range: Option<&str>| {
        let mut headers = vec![("Authorization", authorization.as_str())];
        headers.extend(range.map(|range| ("Range", range)));
        door.http(&format!("GET /api/file/raw?path={path}"), &headers, "").await
    };
    let (status, headers, body) = ask("page.html", None).await;
    assert_eq!((status, body.as_str()), (200, "<script>alert(1)</script>"));
    let headers = headers.to_lowercase();
    for expected in [
        "content-type: text/html",
        "x-content-type-options: nosniff",
        "content-security-policy: sandbox",
        "content-length: 25",
    ] {
        assert!(headers.contains(expected), "{expected}: {headers}");
    }
    for (range, status, content, part) in [
        ("bytes=1-6", 206, "content-range: bytes 1-6/25", "script"),
        ("bytes=-9", 206, "content-range: bytes 16-24/25", "</script>"),
        ("bytes=20-", 206, "content-range: bytes 20-24/25", "ript>"),
        ("bytes=30-", 416, "content-range: bytes */25", ""),
    ] {
        let (answered, headers, body) = ask("page.html", Some(range)).await;
        assert_eq!((answered, body.as_str()), (status, part), "{range}");
        assert!(headers.to_lowercase().contains(content), "{range}: {headers}");
    }
    for (path, status, code) in
        [("out", 400, "PATH_TRAVERSAL"), ("../x", 400, "PATH_TRAVERSAL"), ("none", 404, "FILE_NOT_FOUND")]
    {
        let (answered, _, body) = ask(path, None).await;
        assert!(answered == status && body.contains(code), "{path}: {answered} {body}");
    }
}

#[tokio::test]
async fn a_folder_with_more_than_fits_into_an_answer_is_listed_in_parts() {
    let door = Door::open().await;
    let folder = door.harness.home.path().join("repo/many");
    std::fs::create_dir(&folder).unwrap();
    let name = |n: usize| format!("{n:05}{}", "x".repeat(200));
    for n in 0..4000 {
        std::fs::write(folder.join(name(n)), "").unwrap();
    }
    let mut client = door.client().await;
    let mut names = Vec::new();
    while names.len() < 4000 {
        let list = client.call("file/list", json!({ "path": "many", "offset": names.len() })).await.unwrap();
        assert_eq!(list["total_count"], 4000);
        let part = list["entries"].as_array().unwrap();
        assert!(!part.is_empty());
        names.extend(part.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()));
    }
    assert_eq!(names, (0..4000).map(name).collect::<Vec<_>>());
    let one = client.call("file/list", json!({ "path": "many", "limit": 1 })).await.unwrap();
    assert_eq!(one["entries"].as_array().unwrap().len(), 1);
}
