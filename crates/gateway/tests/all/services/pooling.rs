//! Connections belong to one principal and the capabilities of its client.

use std::sync::Arc;
use std::time::Duration;

use roost_gateway::endpoint::Backend;
use roost_gateway::lifecycle::ServiceFault;
use roost_gateway::principal::Principal;
use roost_gateway::services::{Pool, ServiceLog};
use roost_gateway::upstream::{Upstream, UpstreamRequest};
use serde_json::json;
use testkit::DEADLINE;
use testkit::mcp_servers::{Behaviour, FakeServers};
use tokio::sync::broadcast;

use super::kit::{Gateway, client, manifest, no_capabilities};

fn session(name: &str) -> Principal {
    Principal::Session(name.into())
}

#[tokio::test]
async fn a_connection_is_shared_by_equal_clients_of_one_principal_and_by_nobody_else() {
    let gateway = Gateway::start().await;
    let id = gateway.run("docs", json!({})).await.id.clone();
    let sampling = || client(json!({ "sampling": {}, "roots": {} }));
    let same_in_another_order = client(json!({ "roots": {}, "sampling": {} }));
    for (principal, client) in [
        (session("a"), sampling()),
        (session("a"), same_in_another_order),
        (session("a"), no_capabilities()),
        (session("b"), sampling()),
        (Principal::Local, no_capabilities()),
    ] {
        gateway.services.upstream(&id, &principal, &client).await.unwrap();
    }
    let local = Principal::Local;
    assert_eq!(gateway.server("docs").principals(), [local, session("a"), session("a"), session("b")]);
}

#[tokio::test]
async fn a_client_that_says_ever_new_things_about_itself_gets_no_connection_for_each() {
    let gateway = Gateway::start().await;
    let id = gateway.run("docs", json!({})).await.id.clone();
    let asked = async |name: &str, capabilities| {
        gateway.services.upstream(&id, &session(name), &client(capabilities)).await.map(drop)
    };
    asked("b", json!({})).await.unwrap();
    for n in 0..20 {
        asked("a", json!({ "sampling": {}, "experimental": { "n": n } })).await.unwrap();
    }
    assert_eq!(gateway.server("docs").principals(), [Principal::Local, session("b"), session("a")]);
    for n in 0..8 {
        let mut capabilities = json!({});
        for (bit, capability) in ["sampling", "roots", "elicitation"].into_iter().enumerate() {
            if n >> bit & 1 == 1 {
                capabilities[capability] = json!({});
            }
        }
        asked("a", capabilities).await.unwrap();
    }
    let [a, b, local] = [session("a"), session("b"), Principal::Local];
    assert_eq!(gateway.server("docs").principals(), [local, b, a.clone(), a.clone(), a.clone(), a]);
}

#[tokio::test(start_paused = true)]
async fn a_connection_on_which_somebody_waits_for_news_is_not_idle() {
    let servers = FakeServers::default();
    let pool = Pool::new("svc".into(), Arc::new(servers.clone()), ServiceLog::default(), broadcast::Sender::new(8));
    let declared = manifest("docs", json!({}));
    let server = servers.at(declared["spec"]["origin"]["endpoint"].as_str().unwrap());
    let declared = serde_json::from_value(declared).unwrap();
    let held = pool.get(&declared, &session("a"), &no_capabilities()).await.unwrap().hold();
    pool.get(&declared, &session("b"), &no_capabilities()).await.unwrap();
    let much_later = async || {
        tokio::time::advance(Duration::from_mins(6)).await;
        pool.close_idle().await;
    };
    much_later().await;
    assert_eq!(server.principals(), [session("a")]);
    drop(held);
    much_later().await;
    assert_eq!(server.principals(), []);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_kept_is_not_closed_for_being_idle_and_still_makes_room() {
    let servers = FakeServers::default();
    let pool = Pool::new("svc".into(), Arc::new(servers.clone()), ServiceLog::default(), broadcast::Sender::new(8));
    let declared = manifest("docs", json!({}));
    let server = servers.at(declared["spec"]["origin"]["endpoint"].as_str().unwrap());
    let declared = serde_json::from_value(declared).unwrap();
    let connect = async |name: &str| pool.get(&declared, &session(name), &no_capabilities()).await.unwrap();
    let kept = connect("a").await.keep();
    tokio::time::advance(Duration::from_hours(1)).await;
    pool.close_idle().await;
    assert_eq!(server.principals(), [session("a")]);
    for n in 0..15 {
        tokio::time::advance(Duration::from_secs(1)).await;
        connect(&n.to_string()).await;
    }
    assert!(!server.principals().contains(&session("a")), "it was used longest ago");
    drop(kept);
    let kept = connect("a").await.keep();
    drop(kept);
    tokio::time::advance(Duration::from_mins(6)).await;
    pool.close_idle().await;
    assert_eq!(server.principals(), []);
}

#[tokio::test]
async fn two_that_ask_at_once_wait_for_the_same_connection() {
    let gateway = Gateway::start().await;
    let id = gateway.run("docs", json!({})).await.id.clone();
    let asked = (0..10).map(|_| async {
        gateway.services.upstream(&id, &session("a"), &no_capabilities()).await.unwrap();
    });
    futures::future::join_all(asked).await;
    assert_eq!(gateway.server("docs").principals(), [Principal::Local, session("a")]);
}

#[tokio::test]
async fn the_idle_connection_that_was_used_longest_ago_makes_room_and_a_busy_one_never_does() {
    let gateway = Gateway::start().await;
    let id = gateway.run("docs", json!({})).await.id.clone();
    let mut connections = Vec::new();
    for n in 0..15 {
        let name = session(&n.to_string());
        connections.push(gateway.services.upstream(&id, &name, &no_capabilities()).await.unwrap());
    }
    gateway.server("docs").on_call(Behaviour::Hangs);
    let (profile, method) = (no_capabilities(), "tools/call");
    let call = |upstream: Arc<dyn Upstream>| {
        let profile = profile.clone();
        tokio::spawn(async move {
            let (client, patience) = (&profile, DEADLINE);
            upstream.call(UpstreamRequest { method, params: None, client, patience, interjections: None }).await
        })
    };
    let first = call(connections[0].clone());
    tokio::task::yield_now().await;
    gateway.services.upstream(&id, &session("late"), &no_capabilities()).await.unwrap();
    let open = gateway.server("docs").principals();
    assert_eq!(open.len(), 16);
    assert!(open.contains(&session("0")), "it is busy: {open:?}");
    assert!(!open.contains(&session("1")), "{open:?}");
    let late = gateway.services.upstream(&id, &session("late"), &no_capabilities()).await.unwrap();
    let busy: Vec<_> = connections.drain(2..).chain([late]).map(call).collect();
    tokio::task::yield_now().await;
    let refused = gateway.services.upstream(&id, &session("too late"), &no_capabilities()).await;
    assert!(refused.err().unwrap().contains("are in use; try again later"));
    busy.iter().chain([&first]).for_each(|call| call.abort());
}

#[tokio::test]
async fn a_connection_that_broke_is_made_again_when_it_is_next_needed() {
    let gateway = Gateway::start().await;
    let id = gateway.run("docs", json!({})).await.id.clone();
    gateway.services.upstream(&id, &session("a"), &no_capabilities()).await.unwrap();
    gateway.server("docs").crash();
    gateway.until(&id, |view| view.life.restart_count == 1 && view.offered.is_some()).await;
    gateway.services.upstream(&id, &session("a"), &no_capabilities()).await.unwrap();
    assert_eq!(gateway.server("docs").principals(), [Principal::Local, session("a")]);
}

#[tokio::test]
async fn a_stopped_service_has_no_connections_and_says_why_there_are_none() {
    let gateway = Gateway::start().await;
    let id = gateway.run("docs", json!({})).await.id.clone();
    gateway.services.upstream(&id, &session("a"), &no_capabilities()).await.unwrap();
    gateway.services.stop_service(&id).await.unwrap();
    assert!(gateway.server("docs").principals().is_empty());
    let refused = gateway.services.upstream(&id, &session("a"), &no_capabilities()).await.err().unwrap();
    assert!(refused.ends_with("cannot be used: it is stopped"), "{refused}");
}

#[tokio::test]
async fn what_a_server_says_to_one_principal_is_known_to_be_for_it() {
    let gateway = Gateway::start().await;
    let id = gateway.run("docs", json!({})).await.id.clone();
    let mut unasked = gateway.services.unasked();
    gateway.server("docs").say("notifications/resources/updated").await;
    let said = unasked.recv().await.unwrap();
    assert_eq!((&said.service, &said.principal), (&id, &Principal::Local));
    assert_eq!(said.method, "notifications/resources/updated");
}

#[tokio::test(start_paused = true)]
async fn a_caller_waits_for_a_connection_no_longer_than_a_start_may_take() {
    let servers = FakeServers::default();
    let pool = Pool::new("svc".into(), Arc::new(servers.clone()), ServiceLog::default(), broadcast::Sender::new(8));
    let declared = manifest("docs", json!({}));
    servers.at(declared["spec"]["origin"]["endpoint"].as_str().unwrap()).on_connect(Behaviour::Hangs);
    let declared = serde_json::from_value(declared).unwrap();
    let (principal, client) = (session("a"), no_capabilities());
    let refused = tokio::time::timeout(Duration::from_mins(3), pool.get(&declared, &principal, &client));
    let refused = refused.await.unwrap().err().unwrap();
    assert_eq!((refused.fault, refused.message.contains("within 120 s")), (ServiceFault::Timeout, true), "{refused}");
    assert!(pool.is_empty(), "it takes no room");
}
