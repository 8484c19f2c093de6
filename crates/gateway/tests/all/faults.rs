//! Servers that do what servers should not do.

use std::sync::Arc;
use std::time::Duration;

use roost_gateway::lifecycle::ServiceFault;
use roost_gateway::upstream::{LogSource, ServerAnswer, Upstream, UpstreamEnd, UpstreamError};
use serde_json::{Value, json};
use testkit::mcp_fixture::{FixtureEra, McpFixture, http};
use testkit::soon;

use crate::scripted_http::ScriptedHttp;
use crate::support::{Gateway, call, probe_program};

fn program(fault: &str) -> Value {
    let args = ["server", fault];
    json!({ "type": "stdio_mcp", "command": probe_program(), "args": args, "timeoutMs": 1000 })
}

fn remote(server: &ScriptedHttp) -> Value {
    json!({ "type": "remote_mcp", "endpoint": server.endpoint, "transport": "streamable_http", "timeoutMs": 1000 })
}

pub(crate) async fn call_tool(upstream: &dyn Upstream, name: &str) -> Result<ServerAnswer, UpstreamError> {
    call(upstream, "tools/call", json!({ "name": name, "arguments": {} })).await
}

/// The failure of a bad call, after which a good one still works.
pub(crate) async fn fails_alone(upstream: &dyn Upstream) -> UpstreamError {
    let (bad, good) = tokio::join!(call_tool(upstream, "bad"), call_tool(upstream, "good"));
    good.unwrap().unwrap();
    call_tool(upstream, "good").await.unwrap().unwrap();
    bad.unwrap_err()
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_connection_is_ready_when_the_servers_own_stream_is_open_or_known_not_to_exist() {
    let server = ScriptedHttp::start(String::new()).await;
    let connected = Gateway::new().connect(remote(&server)).await.unwrap();
    assert_eq!(server.stream_requests(), 1);
    connected.upstream.close().await;
}

#[tokio::test]
async fn a_server_that_hangs_when_it_is_told_that_the_handshake_is_over_holds_nobody_up() {
    let server = ScriptedHttp::start(String::new()).await;
    server.silent_at("notifications/initialized");
    let refused = soon("the connection fails", Gateway::new().connect(remote(&server))).await.err().unwrap();
    assert_eq!(refused.fault, ServiceFault::Timeout, "{refused}");
}

#[tokio::test]
async fn a_connection_is_ready_when_a_modern_server_reports_its_changes() {
    let (listening, address) = tokio::sync::oneshot::channel();
    let fixture = Arc::new(McpFixture::new(FixtureEra::Modern));
    let serving = tokio::spawn(http::serve(fixture, ([127, 0, 0, 1], 0).into(), |at| listening.send(at).unwrap()));
    let endpoint = format!("http://{}/mcp", address.await.unwrap());
    let origin = json!({ "type": "remote_mcp", "endpoint": endpoint, "transport": "streamable_http" });
    let gateway = Gateway::new();
    for _ in 0..20 {
        let mut connected = gateway.connect(origin.clone()).await.unwrap();
        call_tool(&*connected.upstream, "test_trigger_tool_change").await.unwrap().unwrap();
        let said = soon("the change is told", connected.unasked.recv()).await.unwrap();
        assert_eq!(said.method, "notifications/tools/list_changed");
        connected.upstream.close().await;
    }
    serving.abort();
}

#[tokio::test]
async fn a_bad_answer_of_a_program_fails_its_own_call_only() {
    let gateway = Gateway::new();
    for (fault, expected) in [
        ("silent", UpstreamError::Timeout(SECOND)),
        ("wrong-id", UpstreamError::Timeout(SECOND)),
        ("not-json", UpstreamError::Timeout(SECOND)),
    ] {
        let connected = gateway.connect(program(fault)).await.unwrap();
        assert_eq!(fails_alone(&*connected.upstream).await, expected, "{fault}");
        connected.upstream.close().await;
    }
    assert!(gateway.log.has(LogSource::Stdout, "\"result\":"), "what is not JSON is in the log");
    assert!(gateway.log.has(LogSource::Stderr, "a server with the fault"));
}

#[tokio::test]
async fn an_answer_of_100_megabytes_is_not_read_into_memory_and_fails_its_call() {
    let gateway = Gateway::new();
    let mut origin = program("huge");
    origin["timeoutMs"] = json!(60_000);
    let connected = gateway.connect(origin).await.unwrap();
    let failed = fails_alone(&*connected.upstream).await;
    assert!(matches!(failed, UpstreamError::AnswerTooLarge { bytes: 100_000_000.., .. }), "{failed}");
    connected.upstream.close().await;
}

#[tokio::test]
async fn a_program_that_ends_says_how_and_takes_its_calls_with_it() {
    let gateway = Gateway::new();
    let connected = gateway.connect(program("exits")).await.unwrap();
    let failed = call_tool(&*connected.upstream, "bad").await.unwrap_err();
    let why = "its program ended with exit code 3: out of luck";
    assert_eq!(failed, UpstreamError::Gone(why.into()));
    assert_eq!(connected.upstream.ended().await, UpstreamEnd::Failed(ServiceFault::Unreachable, why.into()));
}

#[tokio::test]
async fn a_program_that_ends_when_it_is_asked_for_its_era_is_started_again_as_one_of_old() {
    let gateway = Gateway::new();
    let connected = gateway.connect(program("ends-at-discovery")).await.unwrap();
    call_tool(&*connected.upstream, "good").await.unwrap().unwrap();
    connected.upstream.close().await;
}

#[tokio::test]
async fn a_program_gets_its_own_variables_and_none_of_the_daemon() {
    let gateway = Gateway::new();
    let mut origin = program("environment");
    origin["env"] = json!([{ "name": "GREETING", "value": "hi" }, { "name": "TOKEN", "secretRef": "env:TEST_TOKEN" }]);
    let connected = gateway.connect(origin).await.unwrap();
    let said = call_tool(&*connected.upstream, "bad").await.unwrap().unwrap();
    let said: Value = serde_json::from_str(said.get()).unwrap();
    let mut names: Vec<&str> = said["variables"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    names.retain(|variable| !["PATH=", "HOME=", "ROOST_RUN="].iter().any(|own| variable.starts_with(own)));
    assert_eq!(names, ["GREETING=hi", "TOKEN=s3cret"]);
    connected.upstream.close().await;
}

#[tokio::test]
async fn the_arguments_of_calls_are_in_no_log() {
    let gateway = Gateway::new();
    let server = ScriptedHttp::start(String::new()).await;
    for origin in [program("wrong-id"), remote(&server)] {
        let connected = gateway.connect(origin).await.unwrap();
        let secret = json!({ "name": "good", "arguments": { "key": "s3cret-argument" } });
        call(&*connected.upstream, "tools/call", secret).await.unwrap().unwrap();
        connected.upstream.close().await;
    }
    for source in [LogSource::Gateway, LogSource::Stdout, LogSource::Stderr] {
        assert!(!gateway.log.has(source, "s3cret-argument"), "{source:?}");
    }
}

#[tokio::test]
async fn a_program_that_is_missing_is_named() {
    let refused =
        Gateway::new().connect(json!({ "type": "stdio_mcp", "command": "no-such-program" })).await.err().unwrap();
    assert_eq!(refused.fault, ServiceFault::Unreachable);
    assert!(refused.message.contains("no-such-program"), "{refused}");
}

#[tokio::test]
async fn a_bad_answer_over_http_fails_its_own_call_only() {
    let json_of = |body: &str| {
        format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
    };
    let stream_of =
        |body: &str| format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}");
    let cases = [
        ("wrong id", json_of(r#"{"id":999999,"result":{}}"#), Some(ServiceFault::Broken), "no answer to the request"),
        ("not JSON", json_of("{"), Some(ServiceFault::Broken), "no answer to the request"),
        (
            "a page",
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n".into(),
            Some(ServiceFault::Broken),
            "text/html",
        ),
        (
            "an announced giant",
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 104857600\r\n\r\n".into(),
            None,
            "maxPayloadBytes",
        ),
        ("an endless event", stream_of(&format!("data: {}", "a".repeat(2 << 20))), None, "maxPayloadBytes"),
        (
            "a closed stream",
            stream_of("data: {\"method\":\"notifications/message\"}\n\n"),
            Some(ServiceFault::Unreachable),
            "closed the stream",
        ),
        (
            "a redirect",
            "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://169.254.169.254/latest\r\ncontent-length: 0\r\n\r\n"
                .into(),
            Some(ServiceFault::Broken),
            "redirects to http://169.254.169.254",
        ),
        (
            "a broken gateway",
            "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n".into(),
            Some(ServiceFault::Unreachable),
            "502",
        ),
        (
            "no entry",
            "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n".into(),
            Some(ServiceFault::Unauthorized),
            "roost services login",
        ),
    ];
    let gateway = Gateway::new();
    for (case, response, fault, why) in cases {
        let server = ScriptedHttp::start(response).await;
        let connected = gateway.connect(remote(&server)).await.unwrap();
        let failed = fails_alone(&*connected.upstream).await;
        let found = match &failed {
            UpstreamError::Failed(found, _) => Some(*found),
            _ => None,
        };
        assert!(found == fault && failed.to_string().contains(why), "{case}: {failed}");
        connected.upstream.close().await;
    }
}

#[tokio::test]
async fn what_changes_nothing_is_asked_twice_where_a_connection_breaks_and_calls_never_are() {
    let gateway = Gateway::new();
    let server = ScriptedHttp::start("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n".into()).await;
    let connected = gateway.connect(remote(&server)).await.unwrap();
    for (method, expected) in [("tools/list", 2), ("resources/read", 2), ("ping", 2), ("tools/call", 1)] {
        server.drop_connections(1);
        let answer = call(&*connected.upstream, method, json!({ "name": "good", "uri": "test://a" })).await;
        assert_eq!((answer.is_ok(), server.requests(method)), (expected == 2, expected), "{method}: {answer:?}");
    }
    server.drop_connections(2);
    let twice = call(&*connected.upstream, "prompts/list", json!({})).await;
    assert!(matches!(twice, Err(UpstreamError::Failed(ServiceFault::Unreachable, _))), "{twice:?}");
    assert_eq!(server.requests("prompts/list"), 2);
    connected.upstream.close().await;
}

#[tokio::test]
async fn a_call_over_http_names_its_trace_in_a_header() {
    let gateway = Gateway::new();
    let server = ScriptedHttp::start(String::new()).await;
    let connected = gateway.connect(remote(&server)).await.unwrap();
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (named, expected) in [("nonsense\r\nx-evil: 1", None), (trace, Some(trace))] {
        let params = json!({ "name": "good", "_meta": { "traceparent": named } });
        call(&*connected.upstream, "tools/call", params).await.unwrap().unwrap();
        assert_eq!(server.trace().as_deref(), expected);
    }
    connected.upstream.close().await;
}

#[tokio::test]
async fn a_server_over_http_that_never_answers_times_out() {
    let gateway = Gateway::new();
    let server = ScriptedHttp::start(String::new()).await;
    let connected = gateway.connect(remote(&server)).await.unwrap();
    assert_eq!(fails_alone(&*connected.upstream).await, UpstreamError::Timeout(SECOND));
    connected.upstream.close().await;
}

#[tokio::test]
async fn a_session_that_the_server_has_forgotten_is_made_anew() {
    let gateway = Gateway::new();
    let server = ScriptedHttp::start("HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n".into()).await;
    let mut connected = gateway.connect(remote(&server)).await.unwrap();
    call(&*connected.upstream, "resources/subscribe", json!({ "uri": "test://a" })).await.unwrap().unwrap();
    server.forget_session();
    call_tool(&*connected.upstream, "good").await.unwrap().unwrap();
    assert_eq!((server.sessions(), server.subscriptions()), (2, 2), "it forgot the subscription, too");
    for changed in ["notifications/tools/list_changed", "notifications/resources/updated"] {
        assert_eq!(connected.unasked.recv().await.unwrap().method, changed, "it may be another server now");
    }
    connected.upstream.close().await;
    assert_eq!(server.sessions_ended(), 1);
}

#[tokio::test]
async fn an_address_in_a_private_network_is_not_connected_to() {
    let gateway = Gateway::new();
    let server = ScriptedHttp::start(String::new()).await;
    let addresses = ["http://169.254.169.254/latest/meta-data", "http://10.0.0.1/mcp", "http://[::ffff:10.0.0.1]/mcp"];
    for endpoint in addresses {
        let origin = json!({ "type": "remote_mcp", "endpoint": endpoint, "transport": "streamable_http" });
        let refused = gateway.connect(origin).await.err().unwrap();
        assert!(refused.message.contains("allowed_hosts"), "{endpoint}: {refused}");
    }
    assert_eq!(server.sessions(), 0);
}

#[tokio::test]
async fn a_server_that_does_not_listen_is_unreachable() {
    let origin = json!({ "type": "remote_mcp", "endpoint": "http://127.0.0.1:1/mcp", "transport": "streamable_http" });
    let refused = Gateway::new().connect(origin).await.err().unwrap();
    assert_eq!(refused.fault, ServiceFault::Unreachable);
    assert!(refused.message.contains("no connection can be made"), "{refused}");
}
