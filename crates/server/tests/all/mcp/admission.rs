//! Who may use `/mcp`, and what is refused before anything is called.

use roost_model::scope::Scope;
use serde_json::json;
use testkit::mcp_fixture::FixtureEra::Legacy;

use super::client::McpClient;
use super::fixture_gateway::FixtureGateway;
use crate::kit::Door;

async fn door() -> Door {
    let gateway = FixtureGateway::start(&[("old", Legacy)]).await;
    Door::open_with_gateway(gateway.endpoint.clone(), |_| {}).await
}

#[tokio::test]
async fn tools_need_a_token_that_may_operate() {
    let door = door().await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(door.post("/mcp", None, &list).await.0, 401);
    let observer = door.pair(Some(Scope::Observe)).await["access_token"].as_str().unwrap().to_owned();
    let (status, answer) = door.post("/mcp", Some(&observer), &list).await;
    assert_eq!(status, 403, "{answer}");
}

#[tokio::test]
async fn pages_of_others_and_other_kinds_of_content_are_refused() {
    let door = door().await;
    let token = door.token().await;
    for (headers, expected) in [
        ("Origin: https://evil.example\r\nContent-Type: application/json\r\n", 403),
        ("Content-Type: text/plain\r\n", 415),
        ("Content-Type: application/json\r\nAccept: text/html\r\n", 406),
    ] {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n{headers}Content-Length: {}\r\n\
             Connection: close\r\n\r\n{body}",
            body.len()
        );
        assert_eq!(door.raw(&request).await.0, expected, "{headers}");
    }
}

#[tokio::test]
async fn what_is_no_message_is_refused_with_an_error_of_the_protocol() {
    let door = door().await;
    let client = McpClient::new(&door, "/mcp").await;
    for (body, code) in [("{", -32700), ("[]", -32600), (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600)] {
        let answer = client.send("POST", "", body).await;
        assert_eq!(answer.status, 400, "{body}");
        assert_eq!(answer.last().await["error"]["code"], code, "{body}");
    }
    assert_eq!(McpClient::new(&door, "/mcp/nobody").await.request("tools/list", json!({})).await.status, 404);
    assert_eq!(McpClient::new(&door, "/mcp/OLD").await.request("tools/list", json!({})).await.status, 404);
}

#[tokio::test]
async fn get_tells_people_what_is_here_and_clients_that_there_is_no_stream() {
    let door = door().await;
    let token = door.token().await;
    let get = async |accept: &str| {
        let request = format!(
            "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nAccept: {accept}\r\n\
             Connection: close\r\n\r\n"
        );
        door.raw(&request).await
    };
    let (status, _, body) = get("application/json").await;
    assert!(status == 200 && body.contains("\"protocol\":\"jsonrpc-2.0\""), "{body}");
    assert_eq!(get("text/event-stream").await.0, 405);
}
