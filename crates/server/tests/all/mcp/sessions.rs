//! Legacy clients: sessions, streams that can be resumed, and what they are asked and told.

use std::sync::Arc;

use serde_json::json;
use testkit::mcp_fixture::FixtureEra::{Legacy, Modern};
use testkit::mcp_fixture::McpFixture;
use testkit::soon;

use super::client::McpClient;
use super::fixture_gateway::FixtureGateway;
use crate::kit::Door;

async fn gateway() -> (FixtureGateway, Door) {
    let gateway = FixtureGateway::start(&[("old", Legacy), ("new", Modern)]).await;
    let door = Door::open_with_gateway(gateway.endpoint.clone(), |_| {}).await;
    (gateway, door)
}

#[tokio::test]
async fn a_session_belongs_to_its_device_and_its_address_until_it_is_ended() {
    let (_gateway, door) = gateway().await;
    let owner = McpClient::legacy(&door, "/mcp/old").await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(owner.post(list.clone()).await.status, 200);
    let stranger = McpClient::new(&door, "/mcp/old").await;
    assert_eq!(stranger.with_session_of(&owner).post(list.clone()).await.status, 404, "of another device");
    assert_eq!(owner.at("/mcp").post(list.clone()).await.status, 404, "at another address");
    assert_eq!(stranger.post(list.clone()).await.status, 400, "without a session");
    assert_eq!(stranger.with_session_of(&owner).send("DELETE", "", "").await.status, 404);
    assert_eq!(owner.send("DELETE", "", "").await.status, 204);
    assert_eq!(owner.post(list).await.status, 404, "after its end");
}

#[tokio::test]
async fn a_service_of_either_era_asks_a_legacy_client_on_the_stream_of_its_call() {
    let (gateway, door) = gateway().await;
    for namespace in ["old", "new"] {
        let client = McpClient::legacy(&door, &format!("/mcp/{namespace}")).await;
        let call = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
        let mut answer = client.request("tools/call", call).await;
        let question = answer.next().await.unwrap();
        assert_eq!(
            (&question["method"], &question["params"]["message"]),
            (&json!("elicitation/create"), &json!("Who?"))
        );
        let reply = json!({ "action": "accept", "content": { "username": "u", "email": "e" } });
        let reply = json!({ "jsonrpc": "2.0", "id": question["id"], "result": reply });
        assert_eq!(client.post(reply.clone()).await.status, 202);
        let result = answer.last().await;
        let text = result["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("\"accept\"") && text.contains("\"username\":\"u\""), "{namespace}: {text}");
        assert_eq!(client.post(reply).await.status, 400, "a second answer");
    }
    assert_eq!(gateway.governor.judged.lock().len(), 2, "each call is judged once");
}

#[tokio::test]
async fn a_client_whose_roots_changed_tells_the_services_that_it_uses_and_that_can_know() {
    let (gateway, door) = gateway().await;
    let (client, idle) = (McpClient::legacy(&door, "/mcp").await, McpClient::legacy(&door, "/mcp").await);
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" });
    assert_eq!(idle.post(changed.clone()).await.status, 202);
    client.call("tools/call", json!({ "name": "old__test_simple_text", "arguments": {} })).await;
    assert_eq!(client.post(changed).await.status, 202);
    let mut told = gateway.backend.told.subscribe();
    let told = soon("a service is told", told.wait_for(|told| !told.is_empty())).await.unwrap().clone();
    assert_eq!(told, [("old".to_owned(), "notifications/roots/list_changed".to_owned())]);
}

#[tokio::test]
async fn a_client_whose_connection_broke_comes_back_to_its_answer() {
    let (_gateway, door) = gateway().await;
    let client = McpClient::legacy(&door, "/mcp/old").await;
    let call = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
    let mut broken = client.request("tools/call", call).await;
    let first = broken.line("id:").await;
    assert!(first.ends_with("_0"), "the stream begins with an id to come back to: {first}");
    let at = broken.line("id:").await;
    let question = broken.next().await.unwrap();
    drop(broken);
    let reply = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } });
    assert_eq!(client.post(reply).await.status, 202);
    let resumed = client.send("GET", &format!("Last-Event-ID: {at}\r\n"), "").await;
    assert_eq!(resumed.status, 200);
    let result = resumed.last().await;
    assert!(result["result"]["content"][0]["text"].as_str().unwrap().contains("decline"), "{result}");
}

#[tokio::test]
async fn a_call_goes_on_when_its_connection_breaks_before_it_said_anything() {
    let (_gateway, door) = gateway().await;
    let client = McpClient::legacy(&door, "/mcp/old").await;
    let call = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
    // A client that takes no stream is answered at the end, and the question waits unread.
    let unread = client.write_for_json("tools/call", &call).await;
    let mut resumed = soon("the stream of the call", async {
        loop {
            let stream = client.send("GET", "Last-Event-ID: 1_0\r\n", "").await;
            if stream.status == 200 {
                break stream;
            }
        }
    })
    .await;
    let question = resumed.next().await.unwrap();
    drop(unread);
    let reply = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" } });
    assert_eq!(client.post(reply).await.status, 202);
    let result = resumed.last().await;
    assert!(result["result"]["content"][0]["text"].as_str().unwrap().contains("decline"), "{result}");
}

#[tokio::test]
async fn a_session_is_told_of_changed_lists_and_of_the_resources_that_it_subscribed_to() {
    let (gateway, door) = gateway().await;
    for namespace in ["old", "new"] {
        let client = McpClient::legacy(&door, &format!("/mcp/{namespace}")).await;
        let mut stream = client.send("GET", "", "").await;
        assert_eq!(stream.status, 200);
        assert_eq!(client.send("GET", "", "").await.status, 409, "a second stream");
        client.call("tools/call", json!({ "name": "test_trigger_tool_change" })).await;
        assert_eq!(stream.next().await.unwrap()["method"], "notifications/tools/list_changed");
        client.call("resources/subscribe", json!({ "uri": "test://watched-resource" })).await;
        // A modern service is listened to by a stream that opens beside the answer.
        let fixture = gateway.backend.fixture(namespace).clone();
        let touching = async {
            loop {
                fixture.touch("test://unwatched");
                fixture.touch("test://watched-resource");
                tokio::task::yield_now().await;
            }
        };
        let told = async { stream.next().await.unwrap() };
        let told = tokio::select! { told = told => told, () = touching => unreachable!() };
        assert_eq!(told["method"], "notifications/resources/updated", "{namespace}");
        assert_eq!(told["params"]["uri"], "test://watched-resource");
        client.send("DELETE", "", "").await;
        soon("the end of the stream", async { while stream.next().await.is_some() {} }).await;
    }
}

#[tokio::test]
async fn calls_whose_clients_hung_up_before_the_first_byte_are_kept_for_a_while_only() {
    let (gateway, door) = gateway().await;
    let client = McpClient::legacy(&door, "/mcp/old").await;
    let call = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    let governor = &gateway.governor;
    let until = async |what: &str, is_so: &dyn Fn() -> bool| {
        soon(what, async {
            while !is_so() {
                tokio::task::yield_now().await;
            }
        })
        .await;
    };
    for number in 1..=40 {
        let unread = client.write_for_json("tools/call", &call).await;
        until("the call", &|| governor.judged.lock().len() == number).await;
        drop(unread);
        assert_eq!(client.post(cancel.clone()).await.status, 202);
        until("its end", &|| governor.finished.lock().len() == number).await;
    }
    let mut kept = 0;
    for number in 1..=40 {
        let stream = client.send("GET", &format!("Last-Event-ID: {number}_0\r\n"), "").await;
        kept += usize::from(stream.status == 200);
    }
    assert!(kept <= 32, "{kept} are kept");
}

#[tokio::test]
async fn a_session_whose_requests_never_end_is_told_to_wait() {
    let (_gateway, door) = gateway().await;
    let client = McpClient::legacy(&door, "/mcp/old").await;
    let call = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
    let mut running = Vec::new();
    let refused = soon("a refusal", async {
        loop {
            let mut answer = client.request("tools/call", call.clone()).await;
            if answer.status != 200 {
                break (answer.status, answer.next().await.unwrap());
            }
            answer.next().await.unwrap();
            running.push(answer);
        }
    })
    .await;
    assert_eq!((refused.0, running.len()), (429, 256), "{}", refused.1);
    assert!(refused.1["error"]["message"].as_str().unwrap().contains("too many requests"), "{}", refused.1);
}

#[tokio::test]
async fn a_client_with_too_many_sessions_loses_its_own_oldest_and_nobody_else_one() {
    let (_gateway, door) = gateway().await;
    let other = McpClient::legacy(&door, "/mcp/old").await;
    let first = McpClient::legacy(&door, "/mcp/old").await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    for _ in 0..255 {
        first.initialize().await;
    }
    assert_eq!(first.post(ping.clone()).await.status, 200, "256 sessions of one device");
    let last = first.initialize().await;
    let last = last.initialize().await;
    assert_eq!(last.post(ping.clone()).await.status, 200);
    assert_eq!(first.post(ping.clone()).await.status, 200, "what is used stays");
    assert_eq!(other.post(ping).await.status, 200);
}

#[tokio::test]
async fn a_subscription_outlives_the_connection_of_its_service() {
    let (gateway, door) = gateway().await;
    for namespace in ["old", "new"] {
        let client = McpClient::legacy(&door, &format!("/mcp/{namespace}")).await;
        let mut stream = client.send("GET", "", "").await;
        let uri = json!({ "uri": "test://watched-resource" });
        client.call("resources/subscribe", uri.clone()).await;
        gateway.backend.lose_connections().await;
        let told = stream.next().await.unwrap();
        assert_eq!(
            (&told["method"], &told["params"]),
            (&json!("notifications/resources/updated"), &uri),
            "{namespace}"
        );
        gateway.backend.fixture(namespace).touch("test://watched-resource");
        assert_eq!(stream.next().await.unwrap()["params"], uri, "{namespace}");
        client.call("resources/unsubscribe", uri.clone()).await;
        // Whoever comes after waits until the service was told.
        client.call("resources/subscribe", uri.clone()).await;
        let told: Vec<_> = gateway.backend.told.borrow().iter().filter(|told| told.0 == namespace).cloned().collect();
        let methods: Vec<_> = told.iter().map(|(_, method)| method.trim_start_matches("resources/")).collect();
        let is_told_again = methods == ["subscribe", "subscribe", "unsubscribe", "subscribe"];
        assert!(is_told_again || methods == ["subscribe", "subscribe"], "never unsubscribed last: {methods:?}");
        gateway.backend.fixture(namespace).touch("test://watched-resource");
        assert_eq!(stream.next().await.unwrap()["params"], uri, "{namespace}");
    }
}

#[tokio::test]
async fn who_subscribes_while_another_does_gets_the_services_own_answer() {
    let (gateway, door) = gateway().await;
    let first = McpClient::legacy(&door, "/mcp/old").await;
    let second = first.initialize().await;
    let uri = json!({ "uri": "test://watched-resource" });
    let (refuse_first, refuse_second) = (gateway.backend.hold_subscription(), gateway.backend.hold_subscription());
    let mut told = gateway.backend.told.subscribe();
    let refusal = |why: &str| Err(json!({ "code": -32000, "message": why }));
    let asking = async {
        let answers = futures::future::join(
            first.error("resources/subscribe", uri.clone()),
            second.error("resources/subscribe", uri.clone()),
        );
        soon("both are refused", answers).await
    };
    let refusing = async {
        told.wait_for(|told| told.len() == 1).await.unwrap();
        refuse_first.send(refusal("first")).unwrap();
        told.wait_for(|told| told.len() == 2).await.unwrap();
        refuse_second.send(refusal("second")).unwrap();
    };
    let ((a, b), ()) = tokio::join!(asking, refusing);
    let mut refusals = [a["message"].as_str().unwrap().to_owned(), b["message"].as_str().unwrap().to_owned()];
    refusals.sort();
    assert_eq!(refusals, ["first", "second"]);
    first.call("resources/subscribe", uri).await;
}

#[tokio::test]
async fn a_lazy_session_has_its_stream_and_its_end_at_its_own_address() {
    let (_gateway, door) = gateway().await;
    let client = McpClient::legacy(&door, "/mcp?surface=lazy").await;
    assert_eq!(client.send("GET", "", "").await.status, 200);
    assert_eq!(client.at("/mcp").send("DELETE", "", "").await.status, 404);
    assert_eq!(client.send("DELETE", "", "").await.status, 204);
}

#[tokio::test]
async fn what_a_service_remembers_of_a_session_is_kept_until_the_session_ends() {
    let (gateway, door) = gateway().await;
    let client = McpClient::legacy(&door, "/mcp").await;
    let unkept = Arc::strong_count(&gateway.backend.kept);
    for _ in 0..3 {
        client.call("tools/call", json!({ "name": "old__test_simple_text" })).await;
        client.call("tools/call", json!({ "name": "new__test_simple_text" })).await;
    }
    // A connection of the fixture is made anew for each call, and the newest is kept.
    assert_eq!(Arc::strong_count(&gateway.backend.kept), unkept + 2);
    assert_eq!(client.send("DELETE", "", "").await.status, 204);
    assert_eq!(Arc::strong_count(&gateway.backend.kept), unkept);
}

#[tokio::test]
async fn news_that_are_lost_in_the_flood_of_another_service_count_as_changes_of_everything() {
    let (gateway, door) = gateway().await;
    let uri = "roost://old/test://watched-resource";
    let session = McpClient::legacy(&door, "/mcp").await;
    session.call("resources/subscribe", json!({ "uri": uri })).await;
    let wanted = json!({ "toolsListChanged": true, "resourceSubscriptions": [uri] });
    let listener = McpClient::new(&door, "/mcp").await;
    let mut listening = listener.request("subscriptions/listen", json!({ "notifications": wanted })).await;
    listening.next().await.unwrap();
    gateway.backend.flood();
    let mut stream = session.send("GET", "", "").await;
    for (stream, lists) in [(&mut stream, &["tools", "prompts", "resources"][..]), (&mut listening, &["tools"])] {
        for list in lists {
            assert_eq!(stream.next().await.unwrap()["method"], format!("notifications/{list}/list_changed"));
        }
        let changed = stream.next().await.unwrap();
        assert_eq!(
            (&changed["method"], &changed["params"]["uri"]),
            (&json!("notifications/resources/updated"), &json!(uri))
        );
    }
}

#[tokio::test]
async fn notifications_are_not_answered_not_even_unknown_ones() {
    let (_gateway, door) = gateway().await;
    let client = McpClient::legacy(&door, "/mcp").await;
    for method in ["notifications/initialized", "notifications/roots/list_changed", "notifications/unknown"] {
        let mut answer = client.post(json!({ "jsonrpc": "2.0", "method": method })).await;
        assert_eq!((answer.status, answer.next().await), (202, None), "{method}");
    }
}

#[tokio::test]
async fn a_cancelled_request_ends_and_its_permit_is_given_back() {
    let (gateway, door) = gateway().await;
    let client = McpClient::legacy(&door, "/mcp/old").await;
    let call = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
    let mut answer = client.request("tools/call", call).await;
    answer.next().await.unwrap();
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    assert_eq!(client.post(cancel).await.status, 202);
    assert_eq!(answer.next().await, None, "a cancelled request has no answer");
    soon("the report", async {
        while gateway.governor.finished.lock().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert!(!gateway.governor.finished.lock()[0].1.success);
}

#[tokio::test]
async fn a_service_that_asks_for_samples_forever_gets_no_more_answers_in_the_end() {
    let services = vec![
        ("old", McpFixture::new(Legacy).asking_forever()),
        ("new", McpFixture::new(Modern).asking_forever()),
        ("quiet", McpFixture::new(Legacy)),
    ];
    let gateway = FixtureGateway::over(services).await;
    let door = Door::open_with_gateway(gateway.endpoint.clone(), |_| {}).await;
    for (tool, most) in [("old__test_simple_text", 64), ("new__test_simple_text", 16)] {
        let client = McpClient::legacy(&door, "/mcp").await;
        let mut answer = client.request("tools/call", json!({ "name": tool })).await;
        let mut asked = 0;
        let end = loop {
            let said = answer.next().await.unwrap();
            if said["method"] != "sampling/createMessage" {
                break said;
            }
            asked += 1;
            let sample = json!({ "role": "assistant", "model": "m", "content": { "type": "text", "text": "more" } });
            let reply = json!({ "jsonrpc": "2.0", "id": said["id"], "result": sample });
            assert_eq!(client.post(reply).await.status, 202);
            let other = client.call("tools/call", json!({ "name": "quiet__test_simple_text" })).await;
            assert!(other["content"][0]["text"].is_string(), "others are unaffected: {other}");
        };
        assert_eq!((asked, end["error"].is_object()), (most, true), "{tool}: {end}");
    }
}
