//! Agent runs and secrets over HTTP and the local socket: who may report what, and what never comes out.

use roost_model::scope::Scope;
use serde_json::{Value, json};

use crate::kit::Door;

const EVENTS: &str = "/api/agents/events";

async fn send(door: &Door, token: &str, kind: &str, more: &str, body: &str) -> (u16, Value) {
    let head = format!(
        "POST {EVENTS} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: {kind}\r\n{more}\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let (status, _, answer) = door.raw(&head).await;
    (status, serde_json::from_str(&answer).unwrap_or(Value::String(answer)))
}

async fn scoped(door: &Door, scope: Scope) -> String {
    door.pair(Some(scope)).await["access_token"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn many_events_are_reported_as_lines_and_a_repeated_report_is_answered_as_before() {
    let door = Door::open().await;
    let token = door.token().await;
    let line = |at: usize| json!({ "kind": "agent.tool_called", "run_id": format!("r{}", at % 3) }).to_string();
    let lines = (0..1000).map(line).collect::<Vec<_>>().join("\n");
    for _ in 0..2 {
        let answer = send(&door, &token, "application/x-ndjson", "Idempotency-Key: nightly\r\n", &lines).await;
        assert_eq!(answer, (200, json!({ "ok": true, "accepted": 1000 })));
    }
    let (_, runs) = door.get("/api/agents/runs", Some(&token)).await;
    let runs: Value = serde_json::from_str(&runs).unwrap();
    let counts: u64 = runs["items"].as_array().unwrap().iter().map(|run| run["eventCount"].as_u64().unwrap()).sum();
    assert_eq!(counts, 1000);
}

#[tokio::test]
async fn a_report_with_one_bad_line_is_refused_as_a_whole() {
    let door = Door::open().await;
    let token = door.token().await;
    let lines = "{\"kind\":\"agent.run_started\",\"run_id\":\"r\"}\n{\"kind\":\"agent.run_started\"}\n";
    let (status, answer) = send(&door, &token, "application/x-ndjson", "", lines).await;
    assert_eq!(status, 400);
    assert!(answer["error"].as_str().unwrap().contains("event 1: agent.run_started needs \"run_id\""), "{answer}");
    assert_eq!(send(&door, &token, "application/x-ndjson", "", "{\"kind\":").await.0, 400);
    assert_eq!(send(&door, &token, "text/plain", "", lines).await.0, 415, "a page of another origin could send it");
    let (_, runs) = door.get("/api/agents/runs", Some(&token)).await;
    assert_eq!(serde_json::from_str::<Value>(&runs).unwrap(), json!({ "items": [] }));
}

#[tokio::test]
async fn a_device_that_may_only_watch_reads_runs_and_reports_none() {
    let door = Door::open().await;
    let token = scoped(&door, Scope::Observe).await;
    let event = json!({ "kind": "agent.run_started", "run_id": "r" });
    assert_eq!(door.post(EVENTS, Some(&token), &event).await.0, 403);
    assert_eq!(door.get("/api/agents/runs", Some(&token)).await.0, 200);
    assert_eq!(door.post(EVENTS, None, &event).await.0, 401);
}

#[tokio::test]
async fn a_secret_is_nowhere_but_in_its_file() {
    const SECRET: &str = "s3cret-of-the-service";
    let door = Door::open().await;
    let token = scoped(&door, Scope::Admin).await;
    let path = "/api/security/auth/secrets";
    let mut said = Vec::new();
    let set = json!({ "auth_ref": "file:team/token", "secret": SECRET });
    said.push(door.post(path, Some(&token), &set).await.1.to_string());
    let bad = json!({ "auth_ref": "env:X", "secret": SECRET });
    said.push(door.post(path, Some(&token), &bad).await.1.to_string());
    for read in [path, "/api/security/auth/validate?auth_ref=file:team/token", "/api/security/auth/providers"] {
        let (status, answer) = door.get(read, Some(&token)).await;
        assert_eq!(status, 200, "{answer}");
        said.push(answer);
    }
    assert!(said.iter().all(|answer| !answer.contains(SECRET)), "{said:?}");
    door.server.stop().await;
    let home = door.harness.home.path();
    let holding: Vec<_> = ignore::WalkBuilder::new(home)
        .standard_filters(false)
        .build()
        .flatten()
        .filter(|entry| std::fs::read(entry.path()).is_ok_and(|bytes| contains(&bytes, SECRET.as_bytes())))
        .map(|entry| entry.path().strip_prefix(home).unwrap().display().to_string())
        .collect();
    assert_eq!(holding, ["state/secrets/team/token"]);
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
