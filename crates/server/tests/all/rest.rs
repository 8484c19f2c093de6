//! The REST routes of seed 004.

use serde_json::{Value, json};
use testkit::facts;
use testkit::fake::EngineMessage;

use crate::kit::Door;
use crate::stage::unlimited;

async fn get(door: &Door, token: &str, path: &str) -> (u16, Value) {
    let (status, body) = door.get(path, Some(token)).await;
    (status, crate::sound::message(&json!({ "result": serde_json::from_str::<Value>(&body).unwrap() }).to_string())["result"].clone())
}

#[tokio::test]
async fn the_status_is_the_methods_own() {
    let door = Door::open().await;
    let token = door.token().await;
    let (status, body) = get(&door, &token, "/api/status").await;
    assert_eq!(status, 200);
    for field in ["session_id", "version", "repo_path", "repo_name", "claude_state"] {
        assert!(body[field].is_string(), "{field}: {body}");
    }
    assert_eq!((&body["connected_clients"], &body["git_enabled"]), (&json!(0), &json!(true)));
}

#[tokio::test]
async fn an_agent_is_run_asked_answered_and_stopped_over_http() {
    let mut door = Door::open_with(unlimited).await;
    let access = door.token().await;
    let token = Some(access.as_str());
    for agent in ["/api/claude", "/api/agent"] {
        let (status, ran) =
            door.post(&format!("{agent}/run"), token, &json!({ "prompt": "hello", "mode": "new" })).await;
        assert_eq!(
            (status, &ran["status"], &ran["prompt"], &ran["mode"]),
            (200, &json!("started"), &json!("hello"), &json!("new"))
        );
        let (_runtime, mut task) = door.runtimes().task().await;
        let (status, refused) = door.post(&format!("{agent}/run"), token, &json!({ "prompt": "more" })).await;
        assert_eq!((status, &refused["code"]), (409, &json!("CLAUDE_ALREADY_RUNNING")));
        assert_eq!(refused["details"]["details"]["current_state"], "running");
        task.say_all([facts::requested("call"), facts::asks("call")]).await;
        let mut watcher = door.client().await;
        watcher.call("session/watch", json!({ "session_id": ran["session_id"] })).await.unwrap();
        watcher.event("claude_permission").await;
        let (_, state) = get(&door, &access, &format!("{agent}/status")).await;
        assert_eq!((&state["state"], &state["session_id"]), (&json!("waiting"), &ran["session_id"]));
        let answer = json!({ "tool_use_id": "call", "response": "approved" });
        let (status, sent) = door.post(&format!("{agent}/respond"), token, &answer).await;
        assert_eq!((status, sent), (200, json!({ "status": "sent", "tool_use_id": "call" })));
        assert_eq!(task.next_message().await, EngineMessage::Approved("call".into()));
        let path = format!("{agent}/stop");
        let nothing = json!({});
        let stop = door.post(&path, token, &nothing);
        let ends = async {
            assert_eq!(task.next_message().await, EngineMessage::Stop);
            task.finish().await;
        };
        let ((status, stopped), ()) = tokio::join!(stop, ends);
        assert_eq!((status, &stopped["status"]), (200, &json!("stopped")));
        let (status, refused) = door.post(&format!("{agent}/stop"), token, &json!({})).await;
        assert_eq!((status, &refused["code"]), (409, &json!("CLAUDE_NOT_RUNNING")));
        assert!(refused["error"].is_string());
    }
}

#[tokio::test]
async fn sessions_are_listed_read_and_deleted_over_http() {
    let mut door = Door::open_with(unlimited).await;
    let token = door.token().await;
    let mut client = door.client().await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        let scene = door.scene(&mut client).await;
        scene.agent.say(facts::output("done")).await;
        scene.agent.finish().await;
        client.until("stream_read_complete").await;
        sessions.push(scene.session);
    }
    let (status, list) = get(&door, &token, "/api/claude/sessions?limit=2&offset=1").await;
    assert_eq!((status, &list["total"], &list["limit"], &list["offset"]), (200, &json!(3), &json!(2), &json!(1)));
    let ids: Vec<_> = list["sessions"].as_array().unwrap().iter().map(|one| one["session_id"].clone()).collect();
    assert_eq!(json!(ids), json!([sessions[1], sessions[0]]));
    for field in ["summary", "last_updated"] {
        assert!(list["sessions"][0][field].is_string());
    }
    let (_, list) = get(&door, &token, "/api/claude/sessions").await;
    assert_eq!((&list["current"], &list["offset"]), (&json!(sessions[2]), &json!(0)));
    let session = &sessions[0];
    let (_, page) =
        get(&door, &token, &format!("/api/claude/sessions/messages?session_id={session}&limit=1&order=desc")).await;
    assert_eq!((&page["total"], &page["has_more"], &page["cache_hit"]), (&json!(2), &json!(true), &json!(false)));
    assert_eq!(page["messages"][0]["message"]["content"][0]["text"], "done");
    let (_, page) =
        get(&door, &token, &format!("/api/agent/sessions/elements?session_id={session}&agent_type=fake")).await;
    assert!(!page["elements"].as_array().unwrap().is_empty());
    let authorization = format!("Bearer {token}");
    let delete = async |path: String| {
        let (status, _, body) = door.http(&format!("DELETE {path}"), &[("Authorization", &authorization)], "").await;
        (status, serde_json::from_str::<Value>(&body).unwrap())
    };
    let (status, gone) = delete(format!("/api/claude/sessions?session_id={session}")).await;
    assert_eq!((status, &gone["message"], &gone["session_id"]), (200, &json!("Session deleted"), &json!(session)));
    let (status, gone) = delete("/api/claude/sessions".into()).await;
    assert_eq!((status, &gone["deleted"]), (200, &json!(2)));
}

#[tokio::test]
async fn a_refusal_has_the_status_of_its_kind() {
    let door = Door::open().await;
    let token = door.token().await;
    let gets = [
        ("/api/claude/sessions/messages", 400, "INVALID_PAYLOAD"),
        ("/api/claude/sessions/messages?session_id=x", 404, "SESSION_NOT_FOUND"),
        ("/api/claude/sessions?limit=many", 400, "INVALID_PAYLOAD"),
        ("/api/agent/sessions?agent_type=hal", 400, "INVALID_PAYLOAD"),
        ("/api/claude/sessions/messages?session_id=../../x", 404, "SESSION_NOT_FOUND"),
    ];
    for (path, status, code) in gets {
        let (found, body) = get(&door, &token, path).await;
        assert_eq!((found, &body["code"]), (status, &json!(code)), "{path}: {body}");
        assert!(body["error"].is_string());
    }
    let posts = [
        ("/api/claude/run", json!({}), 400),
        ("/api/claude/run", json!([]), 400),
        ("/api/claude/run", json!({ "prompt": "x", "permission_mode": "yolo" }), 400),
        ("/api/claude/run", json!({ "prompt": "x", "mode": "continue" }), 400),
        ("/api/claude/respond", json!({ "tool_use_id": "x" }), 500),
        ("/api/claude/stop", json!({}), 409),
    ];
    for (path, body, status) in posts {
        assert_eq!(door.post(path, Some(&token), &body).await.0, status, "{path} {body}");
    }
    assert_eq!(door.get("/api/nothing", Some(&token)).await.0, 404);
    assert_eq!(door.get("/api/claude/run", Some(&token)).await.0, 405);
}

#[tokio::test]
async fn big_answers_are_compressed_for_who_can_read_it_and_sockets_are_not() {
    let door = Door::open().await;
    let authorization = format!("Bearer {}", door.token().await);
    let good = ("Authorization", authorization.as_str());
    let (_, head, _) = door.http("GET /api/rpc/discover", &[good, ("Accept-Encoding", "gzip")], "").await;
    assert!(head.contains("content-encoding: gzip"), "{head}");
    let (_, head, _) = door.http("GET /api/rpc/discover", &[good], "").await;
    assert!(!head.contains("content-encoding"), "{head}");
    let (_, headers) =
        door.upgrade("/ws", &[good, ("Sec-WebSocket-Extensions", "permessage-deflate")]).await.ok().unwrap();
    assert!(!headers.contains_key("sec-websocket-extensions"));
}
