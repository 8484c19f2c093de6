//! Pictures and files for prompts.

use serde_json::{Value, json};

use crate::kit::Door;

/// A picture whose bytes are text, so that it fits into a test's request.
const PICTURE: &str = "GIF89a and the rest of a small picture";

async fn send(door: &Door, token: &str, field: &str, content: &str) -> (u16, Value) {
    send_to(door, token, "/api/images", field, content).await
}

async fn send_to(door: &Door, token: &str, path: &str, field: &str, content: &str) -> (u16, Value) {
    let body = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"a.gif\"\r\n\
         Content-Type: image/gif\r\n\r\n{content}\r\n--edge--\r\n"
    );
    let authorization = format!("Bearer {token}");
    let headers = [("Authorization", authorization.as_str()), ("Content-Type", "multipart/form-data; boundary=edge")];
    let (status, _, body) = door.http(&format!("POST {path}"), &headers, &body).await;
    (status, serde_json::from_str(&body).unwrap_or(Value::Null))
}

async fn get(door: &Door, token: &str, path: &str) -> (u16, Value) {
    let (status, body) = door.get(path, Some(token)).await;
    (status, serde_json::from_str(&body).unwrap_or(Value::Null))
}

#[tokio::test]
async fn a_picture_is_taken_listed_and_removed() {
    let door = Door::open().await;
    let token = door.token().await;
    let (status, taken) = send(&door, &token, "file", PICTURE).await;
    assert_eq!((status, &taken["success"], &taken["mime_type"]), (200, &json!(true), &json!("image/gif")), "{taken}");
    let lies = door.harness.home.path().join("repo").join(taken["local_path"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(&lies).unwrap(), PICTURE);
    let (_, listed) = get(&door, &token, "/api/images").await;
    assert_eq!((&listed["count"], &listed["total_size_bytes"]), (&json!(1), &json!(PICTURE.len())));
    assert_eq!(listed["images"][0]["id"], taken["id"]);
    let (_, stats) = get(&door, &token, "/api/images/stats").await;
    assert_eq!((&stats["can_accept_upload"], &stats["max_single_size_mb"]), (&json!(true), &json!(10)));
    let path = format!("/api/images/validate?path={}", taken["local_path"].as_str().unwrap());
    assert_eq!(get(&door, &token, &path).await.1["valid"], true);
    assert_eq!(get(&door, &token, "/api/images/validate?path=../secret").await.1["valid"], false);
    let authorization = format!("Bearer {token}");
    let request = format!("DELETE /api/images?id={}", taken["id"].as_str().unwrap());
    let (status, _, removed) = door.http(&request, &[("Authorization", &authorization)], "").await;
    let removed: Value = serde_json::from_str(&removed).unwrap();
    assert_eq!((status, &removed["success"], &removed["id"]), (200, &json!(true), &taken["id"]));
    assert!(!lies.exists());
    let (status, gone) = get(&door, &token, &format!("/api/images?id={}", taken["id"].as_str().unwrap())).await;
    assert_eq!((status, &gone["error"]), (404, &json!("image_not_found")));
}

#[tokio::test]
async fn what_is_not_taken_is_refused_in_the_words_that_the_app_knows() {
    let door = Door::open().await;
    let token = door.token().await;
    assert_eq!(
        send(&door, &token, "other", PICTURE).await,
        (400, json!({ "error": "missing_file", "message": "the form has no field \"file\"" }))
    );
    let (status, refused) = send(&door, &token, "file", "no picture, only words").await;
    assert_eq!((status, &refused["error"]), (415, &json!("unsupported_type")));
    let huge = format!("GIF89a{}", "x".repeat(10 << 20));
    let (status, refused) = send(&door, &token, "file", &huge).await;
    assert_eq!((status, &refused["error"]), (413, &json!("image_too_large")));
    let (status, refused) = get(&door, &token, "/api/images?workspace_id=nobody").await;
    assert_eq!((status, &refused["error"]), (404, &json!("invalid_workspace")));
    assert_eq!(get(&door, &token, "/api/images").await.1["count"], 0);
    for _ in 0..7 {
        assert_eq!(send(&door, &token, "file", PICTURE).await.0, 200);
    }
    let (status, refused) = send(&door, &token, "file", PICTURE).await;
    assert_eq!((status, &refused["error"]), (429, &json!("rate_limit_exceeded")));
}

#[tokio::test]
async fn whoever_may_only_look_sends_no_picture() {
    let door = Door::open().await;
    let paired = door.pair(Some(roost_rpc::Scope::Observe)).await;
    let token = paired["access_token"].as_str().unwrap();
    assert_eq!(send(&door, token, "file", PICTURE).await.0, 403);
    assert_eq!(get(&door, token, "/api/images").await.0, 200);
}

#[tokio::test]
async fn a_file_of_any_kind_is_taken_and_a_session_in_another_folder_finds_it() {
    let door = Door::open().await;
    let token = door.token().await;
    let (status, taken) = send_to(&door, &token, "/api/uploads", "file", "only words").await;
    assert_eq!((status, &taken["mime_type"], &taken["name"]), (200, &json!("text/plain"), &json!("a.gif")), "{taken}");
    assert_eq!(std::fs::read_to_string(taken["absolute_path"].as_str().unwrap()).unwrap(), "only words");
    let (_, listed) = get(&door, &token, "/api/uploads").await;
    assert_eq!((&listed["count"], &listed["files"][0]["id"]), (&json!(1), &taken["id"]));
    assert_eq!(get(&door, &token, "/api/images").await.1["count"], 0);
    let (status, gone) = get(&door, &token, "/api/uploads?id=nothing").await;
    assert_eq!((status, &gone["error"]), (404, &json!("file_not_found")));
}

#[tokio::test]
async fn how_much_is_taken_is_configured() {
    let door = Door::open_with(|settings| settings.limits.uploads.one = 20).await;
    let token = door.token().await;
    let (status, refused) = send(&door, &token, "file", PICTURE).await;
    assert_eq!((status, &refused["error"]), (413, &json!("image_too_large")));
    assert_eq!(send_to(&door, &token, "/api/uploads", "file", "only words").await.0, 200);
}

#[tokio::test]
async fn a_file_that_is_too_big_for_a_request_comes_in_parts() {
    let door = Door::open_with(|settings| {
        crate::stage::unlimited(settings);
        settings.limits.uploads.one = 8;
        settings.limits.uploads.all = 64;
    })
    .await;
    let token = door.token().await;
    assert_eq!(send_to(&door, &token, "/api/uploads", "file", "more than eight").await.0, 413);
    let (status, begun) = send_to(&door, &token, "/api/uploads?parts=true", "file", "one two ").await;
    assert_eq!((status, &begun["offset"], &begun["complete"]), (200, &json!(8), &json!(false)), "{begun}");
    let upload = format!("/api/uploads?upload_id={}", begun["id"].as_str().unwrap());
    // A part that came already is refused, and the next byte is told.
    let (status, refused) = send_to(&door, &token, &format!("{upload}&offset=0"), "file", "one two ").await;
    assert_eq!((status, &refused["error"]), (409, &json!("offset_mismatch")));
    assert_eq!(get(&door, &token, &upload).await, (200, json!({ "id": begun["id"], "offset": 8, "complete": false })));
    let (_, more) = send_to(&door, &token, &format!("{upload}&offset=8"), "file", "three ").await;
    assert_eq!(more["offset"], 14);
    let (status, taken) = send_to(&door, &token, &format!("{upload}&offset=14&complete=true"), "file", "four").await;
    assert_eq!((status, &taken["success"], &taken["size"]), (200, &json!(true), &json!(18)), "{taken}");
    let lies = door.harness.home.path().join("repo").join(taken["local_path"].as_str().unwrap());
    assert_eq!(std::fs::read_to_string(&lies).unwrap(), "one two three four");
    assert_eq!(get(&door, &token, &upload).await.0, 404, "it is complete");
}

#[tokio::test]
async fn nobody_else_goes_on_with_an_upload_and_no_upload_grows_beyond_what_all_may_have() {
    let door = Door::open_with(|settings| {
        crate::stage::unlimited(settings);
        settings.limits.uploads.one = 8;
        settings.limits.uploads.all = 12;
    })
    .await;
    let (token, other) = (door.token().await, door.token().await);
    let (_, begun) = send_to(&door, &token, "/api/uploads?parts=true", "file", "12345678").await;
    let id = begun["id"].as_str().unwrap();
    let upload = format!("/api/uploads?upload_id={id}");
    assert_eq!(send_to(&door, &other, &upload, "file", "x").await.0, 404);
    assert_eq!(send_to(&door, &token, &format!("/api/images?upload_id={id}"), "file", "x").await.0, 404);
    let (status, refused) = send_to(&door, &token, &upload, "file", "90abc").await;
    assert_eq!((status, &refused["error"]), (413, &json!("file_too_large")), "{refused}");
    assert_eq!(get(&door, &token, &upload).await.0, 404, "it cannot become complete");
    assert_eq!(get(&door, &token, "/api/uploads").await.1["count"], 0);
}
