use serde_json::json;

use super::*;

#[test]
fn requests_of_version_2_become_requests_of_version_1() {
    let cases = [
        ("session/new", json!({ "cwd": "/w" }), Ok(("session/new", json!({ "cwd": "/w", "mcpServers": [] })))),
        (
            "session/new",
            json!({ "cwd": "/w", "mcpServers": [{ "type": "stdio", "name": "a", "command": "/a" }] }),
            Ok((
                "session/new",
                json!({ "cwd": "/w", "mcpServers": [{ "name": "a", "command": "/a", "args": [], "env": [] }] }),
            )),
        ),
        (
            "session/resume",
            json!({ "sessionId": "s", "replayFrom": { "type": "start" } }),
            Ok(("session/load", json!({ "sessionId": "s", "mcpServers": [] }))),
        ),
        (
            "session/resume",
            json!({ "sessionId": "s", "replayFrom": null }),
            Ok(("session/resume", json!({ "sessionId": "s", "mcpServers": [] }))),
        ),
        ("session/resume", json!({ "sessionId": "s", "replayFrom": { "type": "end" } }), Err(-32602)),
        ("auth/login", json!({ "methodId": "m" }), Ok(("authenticate", json!({ "methodId": "m" })))),
        ("authenticate", json!({ "methodId": "m" }), Err(-32601)),
        ("session/load", json!({}), Err(-32601)),
        ("session/set_mode", json!({}), Err(-32601)),
    ];
    for (method, params, expected) in cases {
        let translated = request(method.to_owned(), params.clone()).map_err(|error| i32::from(error.code));
        let expected = expected.map(|(method, params)| (method.to_owned(), params));
        assert_eq!(translated, expected, "{method} {params}");
    }
}

#[test]
fn a_diff_becomes_a_change_with_a_patch_of_absolute_paths() {
    let modified = diff(&json!({ "type": "diff", "path": "/w/a", "oldText": "x\n", "newText": "y\n" }));
    let patch = "diff --git /w/a /w/a\n--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-x\n+y\n";
    assert_eq!(modified["changes"], json!([{ "operation": "modify", "path": "/w/a" }]));
    assert_eq!(modified["patch"], json!({ "format": "git_patch", "text": patch }));
    let added = diff(&json!({ "type": "diff", "path": "/w/a", "newText": "y\n" }));
    assert_eq!(added["changes"][0]["operation"], "add");
    assert!(added["patch"]["text"].as_str().unwrap().contains("--- /dev/null\n+++ /w/a"), "{added}");
}
