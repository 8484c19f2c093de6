//! The life of a service as its supervisor leads it.

use std::sync::Arc;

use async_trait::async_trait;
use roost_gateway::endpoint::{Backend, Endpoint, EndpointSettings};
use roost_gateway::governor::{CallReport, GatewayCall, Governor, Permit, Ticket};
use roost_gateway::lifecycle::ServiceFault;
use roost_gateway::principal::Principal;
use roost_gateway::services::ServiceError;
use roost_model::event::EventBody;
use roost_model::service::Lifecycle::{Crashed, Quarantined, Running, Starting, Stopped, Stopping};
use roost_model::service::{Health, Lifecycle};
use serde_json::json;
use serde_json::value::RawValue;
use testkit::mcp_servers::{Behaviour, tool};
use testkit::soon;

use super::kit::{Gateway, manifest, no_capabilities};

#[tokio::test]
async fn a_service_runs_after_its_handshake_only_and_every_state_is_recorded() {
    let gateway = Gateway::start().await;
    gateway.server("docs").on_connect(Behaviour::Hangs);
    let id = gateway.services.apply(&manifest("docs", json!({}))).await.unwrap().id.clone();
    let starting = gateway.services.start_service(&id);
    let view = tokio::select! {
        started = starting => panic!("it hangs: {started:?}"),
        view = gateway.until(&id, |view| view.progress.is_some()) => view,
    };
    assert_eq!((view.life.lifecycle, view.progress.as_deref()), (Starting, Some("connecting")));
    assert_eq!(gateway.services.catalog().missing[0].reason, "it is starting");
    soon("it stops", gateway.services.stop_service(&id)).await.unwrap();
    gateway.server("docs").on_connect(Behaviour::Answers);
    let running = soon("it starts", gateway.services.start_service(&id)).await.unwrap();
    assert_eq!((running.life.lifecycle, running.life.health), (Running, Health::Healthy));
    assert_eq!(running.progress, None);
    assert_eq!(gateway.offered(), [("docs".to_owned(), vec!["echo".to_owned()])]);
    soon("it stops", gateway.services.stop_service(&id)).await.unwrap();
    assert_eq!(gateway.states(&id).await, [Starting, Stopping, Stopped, Starting, Running, Stopping, Stopped]);
}

#[tokio::test]
async fn a_crashed_service_comes_back_and_is_listed_again() {
    let gateway = Gateway::start().await;
    let running = gateway.run("docs", json!({})).await;
    gateway.server("docs").offer(vec![tool("echo", "says it"), tool("other", "says more")]);
    gateway.server("docs").crash();
    let back = gateway.until(&running.id, |view| view.life.lifecycle == Running && view.tools.len() == 2).await;
    assert_eq!(back.life.restart_count, 1);
    assert_eq!(gateway.states(&running.id).await, [Starting, Running, Crashed, Starting, Running]);
    assert_eq!(gateway.offered()[0].1, ["echo", "other"]);
}

#[tokio::test]
async fn what_fails_too_often_is_quarantined_until_a_person_lets_it_out() {
    let gateway = Gateway::start().await;
    gateway.server("docs").on_connect(Behaviour::Fails(ServiceFault::Unreachable));
    let policy = json!({ "spec": { "restartPolicy": { "mode": "on-failure", "maxRestarts": 1 } } });
    let failed = gateway.run("docs", policy).await;
    assert_eq!((failed.life.lifecycle, failed.life.health), (Crashed, Health::Unreachable));
    assert!(failed.life.next_attempt.is_some());
    let id = failed.id.clone();
    gateway.until_state(&id, Quarantined).await;
    gateway.server("docs").on_connect(Behaviour::Answers);
    for _ in 0..2 {
        let refused = gateway.services.start_service(&id).await;
        assert!(matches!(refused, Err(ServiceError::Refused(_))), "{refused:?}");
        gateway.services.stop_service(&id).await.unwrap();
    }
    let gateway = gateway.restart().await;
    assert_eq!(gateway.services.get(&id).unwrap().life.lifecycle, Quarantined, "also after a restart of the daemon");
    assert_eq!(gateway.services.unquarantine(&id).await.unwrap().life.lifecycle, Stopped);
    assert_eq!(gateway.services.start_service(&id).await.unwrap().life.lifecycle, Running);
    let refused = gateway.services.unquarantine(&id).await;
    assert!(matches!(refused, Err(ServiceError::Refused(_))), "{refused:?}");
}

/// Lets everything pass and keeps nothing.
struct Anything;

#[async_trait]
impl Governor for Anything {
    async fn judge(&self, _: &GatewayCall<'_>) -> Permit {
        Permit::Allowed(Ticket(0))
    }

    async fn finish(&self, _: Ticket, _: CallReport, _: Option<&RawValue>) {}
}

#[tokio::test]
async fn calls_that_fail_quarantine_a_service_only_if_it_answers_no_probe_either() {
    let gateway = Gateway::start().await;
    let impatient = json!({ "spec": { "origin": { "timeoutMs": 100 } } });
    let id = gateway.run("docs", impatient).await.id.clone();
    let settings = EndpointSettings::new("0.0.0");
    let endpoint = Endpoint::new(gateway.services.clone(), Arc::new(Anything), settings).unwrap();
    let call = async |name: &str| {
        let principal = Principal::Session(name.into());
        endpoint.call_tool_for(&principal, json!({ "name": "docs__echo", "arguments": {} })).await
    };
    let server = gateway.server("docs");
    let fail_often = async || {
        server.on_call(Behaviour::Hangs);
        let failed = futures::future::join_all((0..16).map(|_| call("careless"))).await;
        assert!(failed.iter().all(Result::is_err));
        server.on_call(Behaviour::Answers);
    };
    fail_often().await;
    soon("it is probed", server.probed(1)).await;
    gateway.services.introspect(&id).await.unwrap();
    assert_eq!(gateway.services.get(&id).unwrap().life.lifecycle, Running, "only the calls of one were slow");
    call("careful").await.unwrap();
    server.on_probe(Behaviour::Fails(ServiceFault::Timeout));
    fail_often().await;
    let out = gateway.until_state(&id, Quarantined).await;
    assert_eq!(out.life.last_error.as_deref(), Some("most of its recent calls failed"));
    assert!(gateway.offered().is_empty());
}

#[tokio::test]
async fn calls_that_the_service_answers_say_nothing_against_it_whatever_it_answers() {
    let gateway = Gateway::start().await;
    let id = gateway.run("docs", json!({})).await.id.clone();
    let settings = EndpointSettings::new("0.0.0");
    let endpoint = Endpoint::new(gateway.services.clone(), Arc::new(Anything), settings).unwrap();
    let server = gateway.server("docs");
    server.on_call(Behaviour::Fails(ServiceFault::Broken));
    server.on_probe(Behaviour::Fails(ServiceFault::Broken));
    for _ in 0..32 {
        let params = json!({ "name": "docs__echo", "arguments": { "wrong": true } });
        endpoint.call_tool_for(&Principal::Session("a".into()), params).await.unwrap_err();
    }
    gateway.services.introspect(&id).await.unwrap();
    assert_eq!(gateway.services.get(&id).unwrap().life.lifecycle, Running);
}

#[tokio::test]
async fn probes_find_every_health_and_the_service_stays_in_use() {
    let gateway = Gateway::probing().await;
    let id = gateway.run("docs", json!({})).await.id.clone();
    for (fault, health) in [
        (ServiceFault::Timeout, Health::Timeout),
        (ServiceFault::Unauthorized, Health::Unauthorized),
        (ServiceFault::Broken, Health::Degraded),
    ] {
        gateway.server("docs").on_probe(Behaviour::Fails(fault));
        let ill = gateway.until(&id, |view| view.life.health == health).await;
        assert_eq!((ill.life.lifecycle, ill.life.last_error.is_some()), (Running, true));
    }
    gateway.server("docs").on_probe(Behaviour::Answers);
    let well = gateway.until(&id, |view| view.life.health == Health::Healthy).await;
    assert_eq!(well.life.last_error, None);
}

#[tokio::test]
async fn a_service_that_probes_cannot_reach_is_lost_with_the_connections_of_everybody() {
    let gateway = Gateway::probing().await;
    let id = gateway.run("docs", json!({ "spec": { "restartPolicy": { "mode": "never" } } })).await.id.clone();
    let session = Principal::Session("a".into());
    gateway.services.upstream(&id, &session, &no_capabilities()).await.unwrap();
    gateway.server("docs").on_probe(Behaviour::Fails(ServiceFault::Unreachable));
    let lost = gateway.until_state(&id, Crashed).await;
    assert_eq!((lost.life.health, lost.life.next_attempt), (Health::Unreachable, None));
    assert!(gateway.offered().is_empty());
    soon("the connections end", async {
        while !gateway.server("docs").principals().is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    let health = gateway.events().await.into_iter().filter_map(|event| match event.body {
        EventBody::ServiceStateChanged(changed) => Some((changed.lifecycle, changed.health)),
        _ => None,
    });
    let before = health.skip_while(|state| *state != (Running, Health::Healthy)).nth(1);
    assert_eq!(before, Some((Running, Health::Unreachable)), "one probe is not enough");
}

#[tokio::test]
async fn a_service_that_is_well_again_is_listed_again() {
    let gateway = Gateway::probing().await;
    let id = gateway.run("docs", json!({})).await.id.clone();
    gateway.server("docs").on_probe(Behaviour::Fails(ServiceFault::Unauthorized));
    gateway.until(&id, |view| view.life.health == Health::Unauthorized).await;
    gateway.server("docs").offer(vec![tool("echo", "says it"), tool("other", "says more")]);
    gateway.server("docs").on_probe(Behaviour::Answers);
    let well = gateway.until(&id, |view| view.life.health == Health::Healthy).await;
    assert_eq!(well.tools.len(), 2);
}

#[tokio::test]
async fn after_a_restart_of_the_daemon_nothing_claims_to_run_until_it_is_verified() {
    let gateway = Gateway::start().await;
    let running = gateway.run("docs", json!({})).await;
    let stopped = gateway.run("idle", json!({ "spec": { "autostart": false } })).await;
    gateway.server("docs").on_connect(Behaviour::Hangs);
    let gateway = gateway.restart().await;
    let starting = gateway.until(&running.id, |view| view.life.lifecycle != Lifecycle::Registered).await;
    assert_eq!(starting.life.lifecycle, Starting);
    gateway.server("docs").attempted(2).await;
    assert!(gateway.offered().is_empty());
    assert_eq!(gateway.services.get(&stopped.id).unwrap().life.lifecycle, Lifecycle::Registered);
}

#[tokio::test]
async fn a_program_that_ends_by_itself_is_started_again_only_if_its_policy_says_always() {
    let gateway = Gateway::start().await;
    let done = gateway.run("once", json!({})).await;
    gateway.server("once").exit();
    assert_eq!(gateway.until_state(&done.id, Stopped).await.life.last_error, None);
    let always = gateway.run("again", json!({ "spec": { "restartPolicy": { "mode": "always" } } })).await;
    gateway.server("again").exit();
    gateway.until(&always.id, |view| view.life.restart_count == 1 && view.life.lifecycle == Running).await;
}

#[tokio::test]
async fn a_restart_ends_the_connection_and_makes_another() {
    let gateway = Gateway::start().await;
    let id = gateway.run("docs", json!({})).await.id.clone();
    let restarted = gateway.services.restart_service(&id).await.unwrap();
    assert_eq!(restarted.life.lifecycle, Running);
    assert_eq!(gateway.server("docs").principals().len(), 1);
    assert_eq!(gateway.states(&id).await, [Starting, Running, Stopping, Stopped, Starting, Running]);
}
