//! Hello, goodbye, and what keeps a connection alive in between.

use std::time::Duration;

use futures::{FutureExt, StreamExt};
use roost_rpc::Method;
use serde_json::{Value, json};
use testkit::{facts, soon};
use tokio_tungstenite::tungstenite::Message;

use crate::kit::{Client, Door};
use crate::stage::events_named;

/// Lets this much time pass for every timer at once.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

#[tokio::test]
async fn initialize_comes_first_on_a_connection() {
    let door = Door::open().await;
    let token = door.token().await;
    let mut client = door.connect(&token).await.unwrap();
    for method in Method::ALL.iter().filter(|method| method.scope() < roost_rpc::Scope::Admin) {
        if *method != Method::Initialize {
            let fault = client.call(method.name(), json!({})).await.unwrap_err();
            assert_eq!(fault["data"]["code"], "NOT_INITIALIZED", "{}: {fault}", method.name());
        }
    }
    client.hello().await;
    client.call("status/health", json!({})).await.unwrap();
}

#[tokio::test]
async fn a_single_request_over_http_needs_no_hello() {
    let door = Door::open().await;
    let token = door.token().await;
    let (status, answer) = door.rpc(&token, "status/health", json!({})).await;
    assert_eq!((status, &answer["result"]["status"]), (200, &json!("ok")));
    let (_, answer) = door.rpc(&token, "initialize", json!({})).await;
    assert_eq!(answer["result"]["protocolVersion"], "1.0");
    // What follows events has nowhere to send them to.
    for method in ["events/subscribe", "workspace/subscriptions"] {
        let (_, answer) = door.rpc(&token, method, json!({})).await;
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
    }
}

#[tokio::test]
async fn a_client_may_introduce_itself_in_either_spelling() {
    let door = Door::open().await;
    let token = door.token().await;
    let spellings = [
        json!({ "clientInfo": { "name": "a", "version": "1" }, "protocolVersion": "1.0", "rootPath": "/", "capabilities": {} }),
        json!({ "client_info": { "name": "a", "version": "1" }, "protocol_version": "1.0", "root_path": "/" }),
        json!({ "client_info": { "name": "a" }, "capabilities": { "notifications": ["agent_log"] } }),
        json!({}),
    ];
    for spelling in spellings {
        let mut client = door.connect(&token).await.unwrap();
        let hello = client.call("initialize", spelling).await.unwrap();
        assert_eq!(hello["serverInfo"], json!({ "name": "cdev", "version": "0.0.0" }));
        assert_eq!(hello["server_info"], hello["serverInfo"]);
    }
}

#[tokio::test]
async fn no_version_of_the_protocol_is_refused_and_the_answer_says_which_one_is_spoken() {
    let door = Door::open().await;
    let token = door.token().await;
    for version in ["1", "1.0", "1.7.2", "2.0", "0.9", "x", ""] {
        for field in ["protocolVersion", "protocol_version"] {
            let mut client = door.connect(&token).await.unwrap();
            let hello = client.call("initialize", json!({ field: version })).await.unwrap();
            assert_eq!(hello["protocolVersion"], "1.0", "{version}");
        }
    }
}

#[tokio::test]
async fn parameters_by_position_are_none_or_the_one_object() {
    let door = Door::open().await;
    let mut client = door.client().await;
    for (params, served) in [("[]", true), ("[ {} ]", true), ("[{}, {}]", false), ("[1]", false), ("7", false)] {
        client.send(&format!(r#"{{"jsonrpc":"2.0","id":"p","method":"status/health","params":{params}}}"#)).await;
        let answer = client.reply().await;
        assert_eq!(answer.get("result").is_some(), served, "{params}: {answer}");
        if !served {
            assert_eq!(answer["error"]["code"], -32602);
        }
    }
}

#[tokio::test]
async fn a_version_in_the_header_is_agreed_on_or_refused_with_those_that_there_are() {
    let door = Door::open().await;
    let authorization = format!("Bearer {}", door.token().await);
    let good = ("Authorization", authorization.as_str());
    for (version, served) in
        [("1.0.0", true), ("2.2.0", true), ("2", true), ("3.0", false), ("0.1", false), ("x", false)]
    {
        let header = ("X-Cdev-Protocol-Version", version);
        let (status, _, body) = door.http("GET /api/status", &[good, header], "").await;
        assert_eq!(status, if served { 200 } else { 400 }, "{version}");
        if !served {
            assert_eq!(serde_json::from_str::<Value>(&body).unwrap()["supported"], json!(["1.x", "2.x"]));
        }
        let knocked = door.upgrade("/ws", &[good, header]).await;
        assert_eq!(knocked.err(), (!served).then_some(400), "{version}");
    }
}

#[tokio::test]
async fn a_second_hello_changes_nothing() {
    let mut door = Door::open().await;
    let mut client = door.client().await;
    let first = client.id().await;
    assert_eq!(client.id().await, first);
    let scene = door.scene(&mut client).await;
    scene.agent.say(facts::output("once")).await;
    scene.agent.finish().await;
    let events = client.until("stream_read_complete").await;
    let said =
        events_named(&events, "claude_message").into_iter().filter(|said| said["content"][0]["text"] == "once").count();
    assert_eq!(said, 1);
}

#[tokio::test]
async fn initialized_is_a_notification_and_answered_with_an_object_where_it_is_none() {
    let door = Door::open().await;
    let mut client = door.client().await;
    client.send(r#"{"jsonrpc":"2.0","method":"initialized"}"#).await;
    assert_eq!(client.call("initialized", json!({})).await.unwrap(), json!({}));
}

#[tokio::test]
async fn hello_tells_everything_that_seed_000_asks_for() {
    let door = Door::open().await;
    let hello = door.connect(&door.token().await).await.unwrap().hello().await;
    let capabilities = &hello["capabilities"];
    let registry = &capabilities["runtimeRegistry"];
    assert_eq!(registry["schemaVersion"], "1.0");
    assert!(registry["generatedAt"].is_string());
    assert_eq!(registry["defaultRuntime"], registry["routing"]["defaultAgentType"]);
    assert_eq!(registry["routing"]["agentTypeField"], "agent_type");
    let required = ["session/start", "session/send", "session/stop", "session/input", "session/respond"];
    assert_eq!(registry["routing"]["requiredOnMethods"], json!(required));
    let runtimes = registry["runtimes"].as_array().unwrap();
    let ids: Vec<_> = runtimes.iter().map(|runtime| runtime["id"].clone()).collect();
    assert_eq!(json!(ids), capabilities["supportedAgents"]);
    for runtime in runtimes {
        for field in ["id", "displayName", "status", "sessionListSource", "sessionMessagesSource", "sessionWatchSource"]
        {
            assert!(runtime[field].is_string(), "{field}: {runtime}");
        }
        let facts = [
            "requiresWorkspaceActivationOnResume",
            "requiresSessionResolutionOnNewSession",
            "supportsResume",
            "supportsInteractiveQuestions",
            "supportsPermissions",
        ];
        for field in facts {
            assert!(runtime[field].is_boolean(), "{field}: {runtime}");
        }
        // Every method that a client is sent to is one that is served.
        for operation in
            ["history", "messages", "watch", "unwatch", "start", "send", "stop", "input", "respond", "state"]
        {
            let method = runtime["methods"][operation].as_str().unwrap();
            assert!(Method::from_name(method).is_some(), "{method}");
        }
        assert!(runtime["availability"]["installed"].is_boolean(), "{runtime}");
        assert!(runtime["capabilities"].is_object(), "{runtime}");
    }
}

#[tokio::test]
async fn the_status_tells_the_union_of_what_clients_read() {
    let door = Door::open().await;
    let status = door.client().await.call("status/get", json!({})).await.unwrap();
    for field in [
        "session_id",
        "claude_state",
        "agent_state",
        "agent_type",
        "version",
        "agent_version",
        "repo_path",
        "repo_name",
    ] {
        assert!(status[field].is_string(), "{field}: {status}");
    }
    for field in ["connected_clients", "uptime_seconds"] {
        assert!(status[field].is_u64(), "{field}: {status}");
    }
    for field in ["watcher_enabled", "git_enabled", "is_git_repo"] {
        assert!(status[field].is_boolean(), "{field}: {status}");
    }
    assert_eq!((&status["claude_state"], &status["repo_name"]), (&json!("idle"), &json!("repo")));
}

#[tokio::test]
async fn the_methods_are_described_where_clients_look_for_them() {
    let door = Door::open().await;
    let (status, document) = door.get("/api/rpc/discover", Some(&door.token().await)).await;
    let document: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(status, 200);
    assert!(document["openrpc"].as_str().unwrap().starts_with("1."), "{}", document["openrpc"]);
    let described: Vec<_> =
        document["methods"].as_array().unwrap().iter().map(|method| method["name"].clone()).collect();
    assert_eq!(json!(described), json!(Method::ALL.iter().map(|method| method.name()).collect::<Vec<_>>()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_is_answered_and_then_ends_the_connection_and_not_the_daemon() {
    let door = Door::open().await;
    let token = door.token().await;
    for _ in 0..50 {
        let mut client = door.connect(&token).await.unwrap();
        client.hello().await;
        assert_eq!(client.call("shutdown", json!({})).await.unwrap(), json!({ "success": true }));
        assert_eq!(client.closed().await.map(|(code, _)| code), Some(1000));
    }
    door.client().await.call("status/health", json!({})).await.unwrap();
}

/// What a client is told while the door closes, and how it ends.
async fn farewell(client: &mut Client) -> (Vec<Value>, Option<(u16, String)>) {
    let mut told = std::mem::take(&mut client.events);
    loop {
        match soon("a farewell", client.next_or_close()).await {
            Ok(message) => told.push(message),
            Err(close) => return (told, close),
        }
    }
}

#[tokio::test]
async fn a_door_that_closes_says_session_end_and_then_1001() {
    let door = Door::open().await;
    let (mut client, mut local) = (door.client().await, door.local().await);
    let mut stranger = door.connect(&door.token().await).await.unwrap();
    door.close().await;
    for client in [&mut client, &mut stranger] {
        let (told, close) = farewell(client).await;
        let last = told.last().unwrap();
        assert_eq!((&last["method"], &last["params"]["reason"]), (&json!("event/session_end"), &json!("shutdown")));
        assert!(last["params"]["timestamp"].is_string());
        assert_eq!(close, Some((1001, "server shutting down".into())));
    }
    let (told, close) = farewell(&mut local).await;
    assert_eq!((&told.last().unwrap()["method"], close), (&json!("event/session_end"), None));
}

#[tokio::test]
async fn a_client_that_is_behind_is_told_of_the_end_all_the_same() {
    let mut door = Door::open().await;
    let (mut driver, mut client) = (door.client().await, door.client().await);
    let scene = door.scene(&mut driver).await;
    client.call("session/watch", json!({ "session_id": scene.session })).await.unwrap();
    // More than is buffered on the way and in the queue of what is to be written; the client does not read meanwhile.
    for k in 0..800 {
        scene.agent.say(facts::output(&format!("{k} {}", "x".repeat(8000)))).await;
    }
    scene.agent.say(facts::output("that was it")).await;
    while driver.event("claude_message").await["content"][0]["text"] != "that was it" {}
    // It catches up as fast as it can, for it has a second.
    let read = async {
        let (mut frames, mut last) = (0, String::new());
        loop {
            match client.socket().next().await {
                Some(Ok(Message::Text(text))) => (frames, last) = (frames + 1, text.to_string()),
                Some(Ok(Message::Close(frame))) => return (frames, last, frame.map(|frame| frame.code.into())),
                Some(Ok(_)) => {}
                None | Some(Err(_)) => return (frames, last, None::<u16>),
            }
        }
    };
    let ((frames, last, close), _) = tokio::join!(soon("a farewell", read), door.close());
    assert!(frames > 64, "it was not behind");
    assert_eq!((crate::sound::message(&last)["method"].as_str(), close), (Some("event/session_end"), Some(1001)));
}

#[tokio::test]
async fn nothing_is_listened_on_any_more_after_the_end() {
    let door = Door::open().await;
    let (address, socket) = (door.address, door.server.socket().to_owned());
    door.client().await;
    let _harness = door.close().await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    assert!(!socket.exists());
}

#[tokio::test]
async fn a_client_that_hears_nothing_else_hears_a_heartbeat_every_30_seconds() {
    let door = Door::open().await;
    let mut client = door.client().await;
    let mut sequences = Vec::new();
    for _ in 0..2 {
        pass(Duration::from_secs(30)).await;
        let beat = client.reply().await;
        assert_eq!(beat["event"], "heartbeat");
        assert_eq!(beat["timestamp"], beat["payload"]["server_time"]);
        assert_eq!(beat["payload"]["claude_status"], "idle");
        assert!(beat["payload"]["uptime_seconds"].is_u64());
        assert!(beat.get("jsonrpc").is_none() && beat.as_object().unwrap().len() == 3, "{beat}");
        sequences.push(beat["payload"]["sequence"].as_u64().unwrap());
    }
    assert!(sequences[0] < sequences[1], "{sequences:?}");
}

#[tokio::test]
async fn a_ping_is_answered_at_once_and_one_comes_every_81_seconds() {
    use futures::SinkExt;
    let door = Door::open().await;
    // The app pings before it says hello.
    let mut client = door.connect(&door.token().await).await.unwrap();
    client.socket().send(Message::Ping("anyone?".into())).await.unwrap();
    let pong = soon("a pong", client.socket().next()).await.unwrap().unwrap();
    assert_eq!(pong, Message::Pong("anyone?".into()));
    pass(Duration::from_secs(81)).await;
    let pinged = async {
        loop {
            if let Message::Ping(_) = client.socket().next().await.unwrap().unwrap() {
                return;
            }
        }
    };
    soon("a ping", pinged).await;
}

#[tokio::test]
async fn a_daemon_that_a_client_started_leaves_when_nobody_needs_it_any_more() {
    const PATIENCE: Duration = Duration::from_secs(600);
    let mut door = Door::open_with(|settings| settings.idle_exit = Some(PATIENCE)).await;
    let token = door.token().await;
    let mut client = door.client().await;
    let scene = door.scene(&mut client).await;
    let is = async |metric: &str| {
        let shown = async { while !door.get("/metrics", Some(&token)).await.1.contains(metric) {} };
        soon(metric, shown).await;
    };
    // Somebody is connected; then nobody is, but an agent works.
    is("roost_connected_clients 1").await;
    pass(PATIENCE).await;
    drop(client);
    is("roost_connected_clients 0").await;
    pass(PATIENCE).await;
    is("roost_active_tasks 1").await;
    assert!(door.server.asked_to_stop().now_or_never().is_none());
    scene.agent.finish().await;
    is("roost_active_tasks 0").await;
    pass(PATIENCE).await;
    soon("the daemon leaves", door.server.asked_to_stop()).await;
}
