//! `server-everything`, the reference server of others, over each transport.

use roost_gateway::era::{Era, NEWEST_LEGACY};
use roost_gateway::upstream::{Upstream, UpstreamEnd, UpstreamError, probe};
use serde_json::{Value, json};

use crate::support::{Beside, Gateway, PATIENCE, call, client, converse, everything, result};

fn stdio() -> Value {
    json!({ "type": "stdio_mcp", "command": "node", "args": [everything(), "stdio"] })
}

fn http(server: &Beside) -> Value {
    let endpoint = format!("http://127.0.0.1:{}/mcp", server.port);
    json!({ "type": "remote_mcp", "endpoint": endpoint, "transport": "streamable_http" })
}

/// Uses a part of everything.
async fn use_everything(upstream: &dyn Upstream) {
    assert_eq!(upstream.profile().era, Era::Legacy(NEWEST_LEGACY.into()));
    let tools = result(upstream, "tools/list", json!({})).await;
    assert!(tools["tools"].as_array().unwrap().iter().any(|tool| tool["name"] == "echo"), "{tools}");
    let echo = json!({ "name": "echo", "arguments": { "message": "hello" } });
    let echoed = result(upstream, "tools/call", echo).await;
    assert_eq!(echoed["content"][0]["text"], "Echo: hello");
    let refused = call(upstream, "no/such/method", json!({})).await.unwrap().unwrap_err();
    assert!(refused.get().contains("-32601"), "{refused}");
    probe(upstream, PATIENCE).await.unwrap();

    let (mut progress, client) = (0, client(json!({})));
    let long = json!({
        "name": "trigger-long-running-operation", "arguments": { "duration": 0.2, "steps": 2 },
        "_meta": { "progressToken": "mine" },
    });
    let answer = converse(upstream, &client, "tools/call", long, |method, params| {
        if method == "notifications/progress" {
            assert_eq!(params["progressToken"], "mine");
            progress += 1;
        }
        None
    });
    assert!(answer.await["content"][0]["text"].as_str().unwrap().contains("completed"));
    assert_eq!(progress, 2);
}

/// Lets the server ask its client.
async fn answer_a_question(gateway: &Gateway, origin: Value) {
    let client = client(json!({ "elicitation": {}, "sampling": {} }));
    let connected = gateway.connect_as(origin, &client).await.unwrap();
    let upstream = &*connected.upstream;
    let ask = json!({ "name": "trigger-sampling-request", "arguments": { "prompt": "say hi", "maxTokens": 5 } });
    let mut asked = Vec::new();
    let answer = converse(upstream, &client, "tools/call", ask, |method, _| {
        asked.push(method.to_owned());
        let content = json!({ "type": "text", "text": "hi there" });
        Some(json!({ "role": "assistant", "model": "m", "content": content }))
    });
    let answer = answer.await;
    assert!(answer.to_string().contains("hi there"), "{answer}");
    assert!(asked.contains(&"sampling/createMessage".to_owned()), "{asked:?}");
    upstream.close().await;
}

#[tokio::test]
async fn everything_works_over_stdio() {
    let gateway = Gateway::new();
    let connected = gateway.connect(stdio()).await.unwrap();
    use_everything(&*connected.upstream).await;
    connected.upstream.close().await;
    assert_eq!(connected.upstream.ended().await, UpstreamEnd::Closed);
    let closed = call(&*connected.upstream, "ping", json!({})).await.unwrap_err();
    assert!(matches!(closed, UpstreamError::Gone(_)), "{closed}");
    answer_a_question(&gateway, stdio()).await;
}

#[tokio::test]
async fn everything_works_over_streamable_http() {
    let gateway = Gateway::new();
    let server = Beside::everything("streamableHttp").await;
    let connected = gateway.connect(http(&server)).await.unwrap();
    use_everything(&*connected.upstream).await;
    connected.upstream.close().await;
    answer_a_question(&gateway, http(&server)).await;
}

#[tokio::test]
async fn everything_works_over_the_transport_of_2024() {
    let gateway = Gateway::new();
    let server = Beside::everything("sse").await;
    let endpoint = format!("http://127.0.0.1:{}/sse", server.port);
    let origin = json!({ "type": "remote_mcp", "endpoint": endpoint, "transport": "sse_http" });
    let connected = gateway.connect(origin.clone()).await.unwrap();
    use_everything(&*connected.upstream).await;
    connected.upstream.close().await;
    answer_a_question(&gateway, origin).await;
}

#[tokio::test]
async fn a_server_that_is_killed_ends_the_connection() {
    let gateway = Gateway::new();
    let mut server = Beside::everything("streamableHttp").await;
    let connected = gateway.connect(http(&server)).await.unwrap();
    server.kill().await;
    let failed = call(&*connected.upstream, "tools/list", json!({})).await.unwrap_err();
    assert!(matches!(failed, UpstreamError::Failed(..) | UpstreamError::Gone(_)), "{failed}");
    assert!(matches!(connected.upstream.ended().await, UpstreamEnd::Failed(..)));
}
