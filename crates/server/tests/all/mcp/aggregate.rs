//! `/mcp`: all services at once, under names that tell them apart.

use roost_gateway::breaker::CallOutcome;
use roost_gateway::governor::Access;
use roost_gateway::principal::Principal;
use roost_gateway::trace_context::TraceContext;
use serde_json::{Value, json};
use testkit::mcp_fixture::FixtureEra::{Legacy, Modern};

use super::client::McpClient;
use super::fixture_gateway::FixtureGateway;
use crate::kit::Door;

async fn gateway() -> (FixtureGateway, Door) {
    let gateway = FixtureGateway::start(&[("new", Modern), ("old", Legacy)]).await;
    let door = Door::open_with_gateway(gateway.endpoint.clone(), |_| {}).await;
    (gateway, door)
}

/// The resource of this service that its fixture reports, as the aggregate names it.
fn watched(namespace: &str) -> String {
    format!("roost://{namespace}/test://watched-resource")
}

fn names<'a>(list: &'a Value, member: &str, key: &str) -> Vec<&'a str> {
    list[member].as_array().unwrap().iter().map(|item| item[key].as_str().unwrap()).collect()
}

#[tokio::test]
async fn tools_and_prompts_of_all_services_are_listed_with_their_prefixes_and_can_be_used() {
    let (gateway, door) = gateway().await;
    for client in [McpClient::new(&door, "/mcp").await, McpClient::legacy(&door, "/mcp").await] {
        let tools = client.call("tools/list", json!({})).await;
        let tools = names(&tools, "tools", "name");
        for name in ["new__test_simple_text", "old__test_simple_text"] {
            assert!(tools.contains(&name), "{tools:?}");
            let result = client.call("tools/call", json!({ "name": name })).await;
            assert_eq!(result["content"][0]["text"], "This is a simple text response for testing.");
        }
        let arguments = json!({ "arg1": "a", "arg2": "b" });
        let prompt = json!({ "name": "old__test_prompt_with_arguments", "arguments": arguments });
        let prompt = client.call("prompts/get", prompt).await;
        assert_eq!(prompt["messages"][0]["content"]["text"], "Prompt with arguments: arg1='a', arg2='b'");
        let reference = json!({ "type": "ref/prompt", "name": "new__test_prompt_with_arguments" });
        let argument = json!({ "name": "arg1", "value": "pa" });
        let completed = client.call("completion/complete", json!({ "ref": reference, "argument": argument })).await;
        assert_eq!(completed["completion"]["values"][0], "paris");
    }
    let judged = gateway.governor.judged.lock().clone();
    assert_eq!(judged[0], ("new__test_simple_text".into(), "test_simple_text".into()));
    let finished = gateway.governor.finished.lock();
    assert_eq!(finished.len(), judged.len());
    assert!(finished.iter().all(|(_, report)| report.success && report.response_bytes > 0));
}

#[tokio::test]
async fn resources_are_read_under_the_addresses_that_are_listed_and_linked() {
    let (_gateway, door) = gateway().await;
    let client = McpClient::legacy(&door, "/mcp").await;
    let listed = client.call("resources/list", json!({})).await;
    let uri = "roost://old/test://static-text";
    assert!(names(&listed, "resources", "uri").contains(&uri));
    let read = client.call("resources/read", json!({ "uri": uri })).await;
    assert_eq!(read["contents"][0]["uri"], uri);
    let templates = client.call("resources/templates/list", json!({})).await;
    assert!(names(&templates, "resourceTemplates", "uriTemplate").contains(&"roost://new/test://template/{id}/data"));
    let read = client.call("resources/read", json!({ "uri": "roost://new/test://template/7/data" })).await;
    assert!(read["contents"][0]["text"].as_str().unwrap().contains("\"id\":\"7\""));
    let linked = client.call("tools/call", json!({ "name": "old__test_embedded_resource" })).await;
    assert_eq!(linked["content"][0]["resource"]["uri"], "roost://old/test://embedded-resource");
    let error = client.error("resources/read", json!({ "uri": "test://static-text" })).await;
    assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(-32002), &json!("test://static-text")));
}

#[tokio::test]
async fn a_denied_call_reaches_no_service_and_the_agent_reads_why() {
    let (gateway, door) = gateway().await;
    let client = McpClient::new(&door, "/mcp").await;
    gateway.governor.denied.lock().insert("old__test_simple_text".into());
    let result = client.call("tools/call", json!({ "name": "old__test_simple_text" })).await;
    assert_eq!(result["isError"], true);
    assert_eq!(result["content"][0]["text"], "old__test_simple_text is not allowed here");
    assert!(gateway.backend.outcomes.lock().is_empty());
}

#[tokio::test]
async fn the_trace_of_a_client_and_what_else_it_says_of_its_call_reach_the_service() {
    let (gateway, door) = gateway().await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for client in [McpClient::new(&door, "/mcp").await, McpClient::legacy(&door, "/mcp").await] {
        for name in ["new__test_simple_text", "old__test_simple_text"] {
            let meta = json!({ "traceparent": trace, "tracestate": "a=b", "com.example/own": { "b": 1 } });
            client.call("tools/call", json!({ "name": name, "_meta": meta })).await;
        }
    }
    let called = gateway.backend.called.lock();
    assert_eq!(called.len(), 4);
    for params in &*called {
        let meta = &params["_meta"];
        assert_eq!((&meta["traceparent"], &meta["tracestate"]), (&json!(trace), &json!("a=b")), "{params}");
        assert_eq!(meta["com.example/own"], json!({ "b": 1 }));
    }
}

#[tokio::test]
async fn a_call_without_a_trace_gets_that_of_its_header_or_a_new_one() {
    let (gateway, door) = gateway().await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let client = McpClient::legacy(&door, "/mcp").await;
    let params = json!({ "name": "old__test_simple_text" });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
    client.send("POST", &format!("traceparent: {trace}\r\n"), &call).await.last().await;
    client.send("POST", "traceparent: nonsense\r\n", &call).await.last().await;
    McpClient::new(&door, "/mcp").await.call("tools/call", params).await;
    let called = gateway.backend.called.lock();
    let traces: Vec<_> = called.iter().map(|params| params["_meta"]["traceparent"].as_str().unwrap()).collect();
    assert_eq!(traces[0], trace);
    for new in &traces[1..] {
        assert!(TraceContext::parse(new).is_some(), "{new}");
    }
    assert_ne!(traces[1], traces[2]);
}

#[tokio::test]
async fn what_a_caller_does_wrong_and_what_a_tool_cannot_do_says_nothing_against_the_service() {
    let (gateway, door) = gateway().await;
    let client = McpClient::legacy(&door, "/mcp").await;
    let forged = json!({ "name": "old__test_input_required_result_tampered_state", "requestState": "forged" });
    assert_eq!(client.error("tools/call", forged).await["code"], -32602);
    let failed = client.call("tools/call", json!({ "name": "old__test_error_handling" })).await;
    assert_eq!(failed["isError"], true);
    assert_eq!(*gateway.backend.outcomes.lock(), [CallOutcome::Answered, CallOutcome::Answered]);
}

#[tokio::test]
async fn an_internal_error_of_a_service_says_nothing_against_it_because_wrong_words_can_cause_it() {
    let (gateway, door) = gateway().await;
    let client = McpClient::legacy(&door, "/mcp").await;
    let failed = client.error("resources/read", json!({ "uri": "roost://old/test://no-such-resource" })).await;
    assert!(failed["code"].is_i64(), "{failed}");
    assert_eq!(*gateway.backend.outcomes.lock(), [CallOutcome::Answered]);
}

#[tokio::test]
async fn a_request_that_a_service_could_read_otherwise_than_it_was_judged_is_refused() {
    let (gateway, door) = gateway().await;
    let client = McpClient::legacy(&door, "/mcp").await;
    let tool = r#""name":"old__test_simple_text""#;
    for params in [
        format!(r#"{{{tool},"name":"old__test_error_handling"}}"#),
        format!(r#"{{{tool},"Name":"test_error_handling"}}"#),
        format!(r#"{{{tool},"arguments":{{}},"arguments":{{"a":1}}}}"#),
        format!(r#"{{{tool},"arguments":{{}},"argumentſ":{{"a":1}}}}"#),
        format!(r#"{{{tool},"\u006eame":"test_error_handling"}}"#),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let refused = client.send("POST", "", &body).await.last().await;
        assert_eq!(refused["error"]["code"], -32602, "{params}: {refused}");
    }
    assert!(gateway.governor.judged.lock().is_empty());
    assert!(gateway.backend.called.lock().is_empty());
}

#[tokio::test]
async fn what_a_service_lists_is_read_and_every_other_address_counts_as_a_call() {
    let (gateway, door) = gateway().await;
    let client = McpClient::legacy(&door, "/mcp").await;
    client.call("resources/read", json!({ "uri": "roost://old/test://static-text" })).await;
    client.call("resources/read", json!({ "uri": "roost://old/test://template/7/data" })).await;
    client.call("resources/subscribe", json!({ "uri": "roost://old/test://watched-resource" })).await;
    let wanted = [watched("new"), "roost://old/test://not-listed".to_owned()];
    let wanted = json!({ "notifications": { "resourceSubscriptions": wanted } });
    McpClient::new(&door, "/mcp").await.request("subscriptions/listen", wanted).await.next().await.unwrap();
    client.call("prompts/get", json!({ "name": "old__test_simple_prompt" })).await;
    let arguments = json!({ "arg1": "a", "arg2": "b" });
    client.call("prompts/get", json!({ "name": "old__test_prompt_with_arguments", "arguments": arguments })).await;
    use Access::{Call, Read};
    let expected = [
        ("old__resources/read", Read),
        ("old__resources/read", Call),
        ("old__resources/subscribe", Read),
        ("new__resources/subscribe", Read),
        ("old__resources/subscribe", Call),
        ("old__prompts/get", Read),
        ("old__prompts/get", Call),
    ];
    assert_eq!(*gateway.governor.accesses.lock(), expected.map(|(tool, access)| (tool.to_owned(), access)));
    assert_eq!(gateway.governor.finished.lock().len(), expected.len());
}

#[tokio::test]
async fn a_denied_resource_or_prompt_reaches_no_service() {
    let (gateway, door) = gateway().await;
    let client = McpClient::new(&door, "/mcp").await;
    for (method, params) in [
        ("resources/read", json!({ "uri": "roost://new/test://static-text" })),
        ("prompts/get", json!({ "name": "new__test_simple_prompt" })),
        (
            "completion/complete",
            json!({
                "ref": { "type": "ref/prompt", "name": "new__test_prompt_with_arguments" },
                "argument": { "name": "arg1", "value": "pa" },
            }),
        ),
    ] {
        gateway.governor.denied.lock().insert(format!("new__{method}"));
        let denied = client.error(method, params).await;
        assert_eq!(denied["message"], format!("new__{method} is not allowed here"));
    }
    assert!(gateway.backend.called.lock().is_empty());
    gateway.governor.denied.lock().insert("new__resources/subscribe".into());
    let wanted = [watched("new"), watched("old")];
    let wanted = json!({ "notifications": { "resourceSubscriptions": wanted } });
    let acknowledged = client.request("subscriptions/listen", wanted).await.next().await.unwrap();
    let accepted = &acknowledged["params"]["notifications"];
    assert_eq!(*accepted, json!({ "resourceSubscriptions": [watched("old")] }), "what is denied is left out");
    assert_eq!(*gateway.backend.told.borrow(), [("old".to_owned(), "resources/subscribe".to_owned())]);
}

#[tokio::test]
async fn nobody_subscribes_to_more_resources_than_a_session_may_have() {
    let (gateway, door) = gateway().await;
    let client = McpClient::new(&door, "/mcp").await;
    let all: Vec<_> = (0..1025).map(|n| format!("roost://old/test://{n}")).collect();
    let wanted = json!({ "notifications": { "resourceSubscriptions": all } });
    assert_eq!(client.error("subscriptions/listen", wanted).await["code"], -32602);
    assert!(gateway.governor.judged.lock().is_empty());
}

#[tokio::test]
async fn unknown_tools_prompts_and_methods_are_errors_of_the_protocol() {
    let (_gateway, door) = gateway().await;
    let client = McpClient::legacy(&door, "/mcp").await;
    for (method, params, code) in [
        ("tools/call", json!({ "name": "test_simple_text" }), -32602),
        ("tools/call", json!({}), -32602),
        ("prompts/get", json!({ "name": "x" }), -32602),
        ("tools/list", json!({ "cursor": "x" }), -32602),
        ("server/discover", json!({}), -32601),
        ("tasks/get", json!({ "taskId": "x" }), -32601),
        ("logging/setLevel", json!({ "level": "loud" }), -32602),
    ] {
        assert_eq!(client.error(method, params).await["code"], code, "{method}");
    }
}

#[tokio::test]
async fn members_that_the_protocol_does_not_know_reach_no_service_from_an_agent_because_nobody_is_shown_them() {
    let (gateway, door) = gateway().await;
    let meta = json!({ "com.example/own": { "b": 1 } });
    let call = json!({ "name": "new__test_simple_text", "arguments": {}, "_meta": meta, "extra": { "secret": 1 } });
    gateway.endpoint.call_tool_for(&Principal::Session("a".into()), call.clone()).await.unwrap();
    McpClient::new(&door, "/mcp").await.call("tools/call", call).await;
    let called = gateway.backend.called.lock();
    let of_agent = (&called[0]["extra"], &called[0]["_meta"]["com.example/own"]);
    assert_eq!(of_agent, (&Value::Null, &json!({ "b": 1 })), "its _meta passes as it is");
    assert_eq!(called[1]["extra"], json!({ "secret": 1 }));
}

#[tokio::test]
async fn a_lazy_client_finds_describes_and_calls_tools_and_the_policy_sees_the_real_one() {
    let (gateway, door) = gateway().await;
    let client = McpClient::new(&door, "/mcp?surface=lazy").await;
    let tools = client.call("tools/list", json!({})).await;
    assert_eq!(
        names(&tools, "tools", "name"),
        ["runtime__search_tools", "runtime__describe_tool", "runtime__call_tool"]
    );
    let call = async |name: &str, arguments: Value| {
        let result = client.call("tools/call", json!({ "name": name, "arguments": arguments })).await;
        result["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let found: Value =
        serde_json::from_str(&call("runtime__search_tools", json!({ "query": "OLD simple" })).await).unwrap();
    assert_eq!(found["tools"][0]["name"], "old__test_simple_text");
    let described = call("runtime__describe_tool", json!({ "name": "old__test_sampling" })).await;
    assert!(described.contains("inputSchema"), "{described}");
    let called = call("runtime__call_tool", json!({ "name": "old__test_simple_text" })).await;
    assert_eq!(called, "This is a simple text response for testing.");
    assert_eq!(gateway.governor.judged.lock()[0].0, "old__test_simple_text");
}
