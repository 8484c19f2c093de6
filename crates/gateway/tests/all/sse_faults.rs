//! Servers of 2024 that do what servers should not do.

use roost_gateway::lifecycle::ServiceFault;
use roost_gateway::upstream::{LogSource, UpstreamEnd, UpstreamError};
use serde_json::{Value, json};
use testkit::soon;

use crate::faults::{call_tool, fails_alone};
use crate::scripted_http::ScriptedHttp;
use crate::scripted_sse::{Bad, ScriptedSse};
use crate::support::Gateway;

fn remote(endpoint: &str) -> Value {
    json!({ "type": "remote_mcp", "endpoint": endpoint, "transport": "sse_http", "timeoutMs": 1000 })
}

#[tokio::test]
async fn messages_go_to_no_other_server_than_the_one_with_the_stream() {
    let (gateway, other) = (Gateway::new(), ScriptedHttp::start(String::new()).await);
    for (first, why) in [
        (format!("event: endpoint\ndata: {}\n\n", other.endpoint), "messages to be sent to another server"),
        ("event: endpoint\ndata: http://169.254.169.254/latest\n\n".into(), "http://169.254.169.254"),
        ("event: endpoint\ndata: //169.254.169.254/latest\n\n".into(), "http://169.254.169.254"),
        ("event: endpoint\ndata: file:///etc/passwd\n\n".into(), "to another server"),
        ("event: endpoint\ndata: http://[\n\n".into(), "invalid"),
        ("data: {}\n\n".into(), "does not begin with the address"),
        (String::new(), "does not begin with the address"),
    ] {
        let server = ScriptedSse::start(&first, Bad::Close).await;
        let refused = gateway.connect(remote(&server.endpoint)).await.err().unwrap();
        assert_eq!(refused.fault, ServiceFault::Broken, "{first}");
        assert!(refused.message.contains(why), "{first}: {refused}");
    }
    assert_eq!((other.sessions(), other.stream_requests()), (0, 0), "nothing was sent there");
}

#[tokio::test]
async fn messages_go_to_any_address_of_the_same_server() {
    for address in ["/messages", "?id=1", "{origin}/other?id=1"] {
        let server = ScriptedSse::start(&format!("event: endpoint\ndata: {address}\n\n"), Bad::Close).await;
        let connected = Gateway::new().connect(remote(&server.endpoint)).await.unwrap();
        call_tool(&*connected.upstream, "good").await.unwrap().unwrap();
        connected.upstream.close().await;
    }
}

#[tokio::test]
async fn a_message_that_the_server_does_not_take_fails_its_own_call_only() {
    let gateway = Gateway::new();
    for (bad, expected) in [
        (Bad::Status("500 Oops"), Some((ServiceFault::Broken, "500"))),
        (Bad::Status("404 Not Found"), Some((ServiceFault::Broken, "404"))),
        (Bad::Status("503 Busy"), Some((ServiceFault::Unreachable, "503"))),
        (Bad::Status("401 Unauthorized"), Some((ServiceFault::Unauthorized, "roost services login"))),
        (Bad::Status("307 Elsewhere\r\nlocation: http://169.254.169.254/"), Some((ServiceFault::Broken, "redirects"))),
        (Bad::Silence, None),
        (Bad::Event("data: {\"id\":999999,\"result\":{}}\n\n".into()), None),
        (Bad::Event("data: {\n\n".into()), None),
    ] {
        let server = ScriptedSse::with(bad).await;
        let connected = gateway.connect(remote(&server.endpoint)).await.unwrap();
        let failed = fails_alone(&*connected.upstream).await;
        match expected {
            Some((fault, why)) => assert!(
                matches!(&failed, UpstreamError::Failed(found, said) if *found == fault && said.contains(why)),
                "{failed}"
            ),
            None => assert!(matches!(failed, UpstreamError::Timeout(_)), "{failed}"),
        }
        connected.upstream.close().await;
    }
    assert!(gateway.log.has(LogSource::Gateway, "no message of MCP"));
}

#[tokio::test]
async fn a_stream_that_ends_or_cannot_be_read_ends_the_connection_and_its_calls() {
    let gateway = Gateway::new();
    let giant = format!("data: {}", "a".repeat(2 << 20));
    for (bad, why) in [(Bad::Close, "closed its stream"), (Bad::Event(giant), "cannot be read")] {
        let server = ScriptedSse::with(bad).await;
        let connected = gateway.connect(remote(&server.endpoint)).await.unwrap();
        let failed = call_tool(&*connected.upstream, "bad").await.unwrap_err();
        assert!(matches!(&failed, UpstreamError::Gone(said) if said.contains(why)), "{failed}");
        let end = soon("the end", connected.upstream.ended()).await;
        assert!(matches!(end, UpstreamEnd::Failed(ServiceFault::Unreachable, _)), "{end:?}");
    }
}
