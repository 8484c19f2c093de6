//! What no client should send is answered, and harms nobody else.

use futures::SinkExt;
use serde_json::{Value, json};
use testkit::soon;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_tungstenite::MaybeTlsStream;
use tokio_tungstenite::tungstenite::Message;

use crate::kit::{Client, Door};

const HEALTH: &str = r#"{"jsonrpc":"2.0","id":"h","method":"status/health"}"#;

/// The TCP stream below the WebSocket.
fn bytes(client: &mut Client) -> &mut TcpStream {
    match client.socket().get_mut() {
        MaybeTlsStream::Plain(stream) => stream,
        _ => panic!("it is encrypted"),
    }
}

async fn is_served(client: &mut Client) {
    let health = client.call("status/health", json!({})).await.unwrap();
    assert_eq!((&health["status"], &health["healthy"]), (&json!("ok"), &json!(true)));
}

/// Frames that hold no request, with the code and the id of the answer.
fn frames() -> Vec<(String, i32, Value)> {
    let deep = |open: &str, close: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"status/get","params":{}0{}}}"#,
            open.repeat(50_000),
            close.repeat(50_000)
        )
    };
    vec![
        ("".into(), -32700, Value::Null),
        ("{".into(), -32700, Value::Null),
        (HEALTH[..30].into(), -32700, Value::Null),
        (format!("{HEALTH}{HEALTH}"), -32700, Value::Null),
        ("nonsense".into(), -32700, Value::Null),
        (deep("[", "]"), -32700, Value::Null),
        (deep(r#"{"a":"#, "}"), -32700, Value::Null),
        ("[".repeat(100_000), -32700, Value::Null),
        ("[]".into(), -32600, Value::Null),
        ("7".into(), -32600, Value::Null),
        ("null".into(), -32600, Value::Null),
        (r#""text""#.into(), -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":4}"#.into(), -32600, json!(4)),
        (r#"{"jsonrpc":"2.0","id":4,"method":null}"#.into(), -32600, json!(4)),
        (r#"{"jsonrpc":"1.0","id":4,"method":"status/health"}"#.into(), -32600, json!(4)),
        (r#"{"jsonrpc":2.0,"id":4,"method":"status/health"}"#.into(), -32600, json!(4)),
        (r#"{"id":4,"method":"status/health"}"#.into(), -32600, json!(4)),
        (r#"{"jsonrpc":"2.0","id":{},"method":"status/health"}"#.into(), -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"status/health"}"#.into(), -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":true,"method":"status/health"}"#.into(), -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":4,"method":"no/such"}"#.into(), -32601, json!(4)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"session/get","params":["x"]}"#.into(), -32602, json!(4)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"session/get","params":"x"}"#.into(), -32602, json!(4)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"session/get","params":{"session_id":7}}"#.into(), -32602, json!(4)),
        (r#"{"jsonrpc":"2.0","id":4,"method":"session/list","params":{"limit":-1}}"#.into(), -32602, json!(4)),
    ]
}

#[tokio::test]
async fn a_frame_that_holds_no_request_is_answered_and_leaves_the_connection_open() {
    let door = Door::open().await;
    let mut client = door.client().await;
    for (frame, code, id) in frames() {
        client.send(&frame).await;
        let answer = client.reply().await;
        let start: String = frame.chars().take(80).collect();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{start}: {answer}");
        assert!(answer["error"]["data"]["code"].is_string(), "{answer}");
        is_served(&mut client).await;
    }
}

#[tokio::test]
async fn a_line_that_holds_no_request_is_answered_on_the_local_socket_too() {
    let door = Door::open().await;
    let mut client = door.local().await;
    // An empty line is a pause there, not a message.
    for (frame, code, id) in frames().into_iter().filter(|(frame, ..)| !frame.is_empty()) {
        client.send(&frame).await;
        let answer = client.reply().await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{answer}");
    }
    is_served(&mut client).await;
}

#[tokio::test]
async fn a_body_that_holds_no_request_is_answered_over_http_too() {
    let door = Door::open().await;
    let token = door.token().await;
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    for (frame, code, id) in frames().into_iter().filter(|(frame, ..)| !frame.is_empty()) {
        let (status, _, body) = door.http("POST /api/rpc", &headers, &frame).await;
        let answer: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{answer}");
        let is_request = [-32601, -32602].contains(&code);
        assert_eq!(status, if is_request { 200 } else { 400 }, "{answer}");
    }
}

#[tokio::test]
async fn ids_of_every_legal_type_come_back_as_they_came() {
    let door = Door::open().await;
    let mut client = door.client().await;
    for id in [json!(0), json!(-7), json!(1.5), json!("a \"quoted\" one"), json!("7"), Value::Null] {
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "status/health" }).to_string()).await;
        let answer = client.reply().await;
        assert_eq!(answer["id"], id);
        assert_eq!(answer["result"]["status"], "ok");
    }
}

#[tokio::test]
async fn a_binary_frame_is_answered_and_leaves_the_connection_open() {
    let door = Door::open().await;
    let mut client = door.client().await;
    client.socket().send(Message::binary(HEALTH.as_bytes().to_vec())).await.unwrap();
    let answer = client.reply().await;
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32700), &Value::Null));
    is_served(&mut client).await;
}

#[tokio::test]
async fn a_text_frame_that_is_not_utf_8_closes_its_connection_with_1007() {
    let door = Door::open().await;
    let (mut client, mut other) = (door.client().await, door.client().await);
    // A masked text frame of two bytes that are no text.
    bytes(&mut client).write_all(&[0x81, 0x82, 0, 0, 0, 0, 0xff, 0xfe]).await.unwrap();
    assert_eq!(client.closed().await.map(|(code, _)| code), Some(1007));
    is_served(&mut other).await;
}

#[tokio::test]
async fn a_line_that_is_not_utf_8_is_answered_and_leaves_the_local_connection_open() {
    let door = Door::open().await;
    let mut client = door.local().await;
    client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}\n").await;
    assert_eq!(client.reply().await["error"]["code"], -32700);
    is_served(&mut client).await;
}

#[tokio::test]
async fn a_frame_against_the_protocol_closes_its_connection_with_1002() {
    let door = Door::open().await;
    let mut client = door.client().await;
    // A text frame that is not masked, as no client may send it.
    bytes(&mut client).write_all(&[0x81, 0x02, b'{', b'}']).await.unwrap();
    assert_eq!(client.closed().await.map(|(code, _)| code), Some(1002));
}

#[tokio::test]
async fn a_frame_beyond_the_limit_closes_its_connection_with_1009() {
    let door = Door::open_with(|settings| settings.limits.max_frame_bytes = 4096).await;
    let mut client = door.client().await;
    client.send(&format!("{HEALTH}{}", " ".repeat(4096))).await;
    assert_eq!(client.closed().await.map(|(code, _)| code), Some(1009));
}

#[tokio::test]
async fn a_line_beyond_the_limit_is_answered_and_leaves_the_local_connection_open() {
    let door = Door::open_with(|settings| settings.limits.max_frame_bytes = 4096).await;
    let mut client = door.local().await;
    for _ in 0..2 {
        client.send(&" ".repeat(100_000)).await;
        assert_eq!(client.reply().await["error"]["code"], -32600);
        is_served(&mut client).await;
    }
    // What comes with it in one piece is served too.
    client.send(&format!("{}\n{HEALTH}", "x".repeat(5000))).await;
    assert_eq!(client.reply().await["error"]["code"], -32600);
    assert_eq!(client.reply().await["result"]["status"], "ok");
}

#[tokio::test]
async fn a_frame_that_never_ends_is_forgotten_with_its_client() {
    let door = Door::open().await;
    let mut local = door.local().await;
    let mut client = door.client().await;
    // A frame of 256 bytes, of which one comes.
    bytes(&mut client).write_all(&[0x81, 0xfe, 0x01, 0x00, 0, 0, 0, 0, b'{']).await.unwrap();
    drop(client);
    let gone = async { while local.call("daemon/status", json!({})).await.unwrap()["clients"] != 1 {} };
    soon("the client is gone", gone).await;
}

#[tokio::test]
async fn fields_that_nobody_knows_are_ignored() {
    let door = Door::open().await;
    let mut client = door.client().await;
    client.send(r#"{"jsonrpc":"2.0","id":1,"method":"status/health","params":{"later":[1]},"extra":{}}"#).await;
    assert_eq!(client.reply().await["result"]["status"], "ok");
    let hello =
        json!({ "client_info": { "name": "x", "platform": "iOS" }, "capabilities": { "new": true }, "locale": "de" });
    client.call("initialize", hello).await.unwrap();
}

#[tokio::test]
async fn a_field_that_is_missing_is_named() {
    let door = Door::open().await;
    let mut client = door.client().await;
    let table = [
        ("session/send", json!({ "session_id": "x" }), "prompt"),
        ("session/send", json!({ "prompt": "x" }), "workspace_id"),
        ("session/send", json!({ "prompt": "x", "mode": "continue" }), "session_id"),
        ("session/start", json!({}), "workspace_id"),
        ("session/stop", json!({}), "session_id"),
        ("session/respond", json!({ "session_id": "x", "type": "question" }), "response"),
        ("session/state", json!({}), "session_id"),
        ("session/messages", json!({ "limit": 5 }), "session_id"),
        ("workspace/session/history", json!({}), "workspace_id"),
        ("workspace/session/activate", json!({ "workspace_id": "x" }), "session_id"),
        ("client/session/focus", json!({ "session_id": "x" }), "workspace_id"),
        ("workspace/add", json!({ "name": "x" }), "path"),
        ("agent/run", json!({}), "prompt"),
        ("agent/respond", json!({ "response": "yes" }), "tool_use_id"),
        ("permission/respond", json!({ "tool_use_id": "x" }), "decision"),
        ("events/ack", json!({ "name": "x" }), "cursor"),
        ("log/read", json!({}), "session_id"),
    ];
    for (method, params, field) in table {
        let fault = client.call(method, params).await.unwrap_err();
        assert_eq!(fault["code"], -32602, "{method}: {fault}");
        assert_eq!(fault["message"], format!("{field} is required"), "{method}");
        assert_eq!((&fault["data"]["field"], &fault["data"]["code"]), (&json!(field), &json!("INVALID_PAYLOAD")));
    }
}

#[tokio::test]
async fn ids_that_are_paths_are_no_sessions() {
    let door = Door::open().await;
    let mut client = door.client().await;
    let workspace = door.workspace().await;
    for id in ["../../etc/passwd", "/etc/passwd", "..", "", "a/../b", "x.jsonl", "host", "%2e%2e"] {
        for method in
            ["session/get", "session/messages", "session/state", "session/watch", "log/read", "session/delete"]
        {
            let fault = client.call(method, json!({ "session_id": id })).await.unwrap_err();
            assert_eq!(
                (&fault["code"], &fault["data"]["session_id"]),
                (&json!(-32010), &json!(id)),
                "{method} {fault}"
            );
        }
        let params = json!({ "session_id": id, "workspace_id": workspace });
        let fault = client.call("workspace/session/delete", params).await.unwrap_err();
        assert_eq!(fault["code"], -32010, "{id}: {fault}");
    }
}

#[tokio::test]
async fn a_batch_is_answered_together_and_each_request_by_its_id() {
    let door = Door::open().await;
    let mut client = door.client().await;
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "status/health" },
        { "jsonrpc": "2.0", "method": "initialized" },
        5,
        { "jsonrpc": "2.0", "id": "two", "method": "no/such" },
        [],
        { "jsonrpc": "2.0", "id": 3, "method": "session/get", "params": { "session_id": "x" } },
    ]);
    let expected = [
        (json!(1), Value::Null),
        (Value::Null, json!(-32600)),
        (json!("two"), json!(-32601)),
        (Value::Null, json!(-32600)),
        (json!(3), json!(-32010)),
    ];
    client.send(&batch.to_string()).await;
    let answers = client.reply().await;
    let found: Vec<_> =
        answers.as_array().unwrap().iter().map(|one| (one["id"].clone(), one["error"]["code"].clone())).collect();
    assert_eq!(found, expected);
    let (status, over_http) = door.post("/api/rpc", Some(&door.token().await), &batch).await;
    let found: Vec<_> =
        over_http.as_array().unwrap().iter().map(|one| (one["id"].clone(), one["error"]["code"].clone())).collect();
    assert_eq!((status, found), (200, expected.to_vec()));
}

#[tokio::test]
async fn a_batch_of_notifications_is_answered_with_nothing() {
    let door = Door::open().await;
    let mut client = door.client().await;
    let batch = json!([{ "jsonrpc": "2.0", "method": "initialized" }, { "jsonrpc": "2.0", "method": "no/such" }]);
    client.send(&batch.to_string()).await;
    let id = client.ask("status/health", json!({})).await;
    assert_eq!(client.reply().await["id"], json!(id));
    let token = door.token().await;
    let one = json!({ "jsonrpc": "2.0", "method": "initialized" });
    for body in [batch, one] {
        assert_eq!(door.post("/api/rpc", Some(&token), &body).await, (204, json!("")));
    }
}

#[tokio::test]
async fn a_batch_that_is_too_big_is_refused_as_a_whole() {
    let door = Door::open().await;
    let mut client = door.client().await;
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "status/health" });
    client.send(&json!(vec![call.clone(); 64]).to_string()).await;
    assert_eq!(client.reply().await.as_array().unwrap().len(), 64);
    client.send(&json!(vec![call; 65]).to_string()).await;
    let answer = client.reply().await;
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &Value::Null));
    is_served(&mut client).await;
}
