//! Manifests are checked, stored with their events, and never lost or mixed up.

use roost_gateway::services::ServiceError;
use roost_log::RowKind;
use roost_model::service::Lifecycle;
use serde_json::json;
use testkit::soon;

use super::kit::{Gateway, manifest};

#[tokio::test]
async fn a_declared_service_is_registered_and_survives_a_restart() {
    let gateway = Gateway::start().await;
    let declared = gateway.services.apply(&manifest("docs", json!({ "spec": { "autostart": false } }))).await.unwrap();
    assert_eq!((declared.life.lifecycle, declared.stored.version), (Lifecycle::Registered, 1));
    let gateway = gateway.restart().await;
    let found = gateway.services.get(&declared.id).unwrap();
    assert_eq!((&found.stored, found.life.lifecycle), (&declared.stored, Lifecycle::Registered));
    let names: Vec<_> = gateway.events().await.iter().map(|event| event.body.name().to_owned()).collect();
    assert_eq!(names, ["service.manifest_applied"]);
}

#[tokio::test]
async fn a_wrong_manifest_is_refused_with_its_place_and_stores_nothing() {
    let gateway = Gateway::start().await;
    for (change, pointer) in [
        (json!({ "spec": { "origin": { "timeoutMs": 1 } } }), "/spec/origin/timeoutMs"),
        (json!({ "spec": { "toolNamespace": "runtime" } }), "/spec/toolNamespace"),
    ] {
        match gateway.services.apply(&manifest("docs", change)).await {
            Err(ServiceError::Invalid(invalid)) => assert_eq!(invalid.pointer, pointer),
            other => panic!("{other:?}"),
        }
    }
    assert!(gateway.log.rows(RowKind::Service).await.unwrap().is_empty());
    assert!(gateway.events().await.is_empty());
}

#[tokio::test]
async fn two_services_cannot_have_the_same_id_or_names_that_collide() {
    let gateway = Gateway::start().await;
    let id = json!({ "metadata": { "serviceId": "svc_000000000001" } });
    gateway.services.apply(&manifest("docs", id.clone())).await.unwrap();
    let same_name = json!({ "spec": { "toolNamespace": "Docs" } });
    let below = json!({ "spec": { "toolNamespace": "docs__api" } });
    for (module, change) in [("other", id), ("third", same_name), ("fourth", below)] {
        let refused = gateway.services.apply(&manifest(module, change)).await;
        assert!(matches!(refused, Err(ServiceError::Conflict(_))), "{module}: {refused:?}");
    }
    assert_eq!(gateway.services.list().len(), 1);
}

#[tokio::test]
async fn many_services_declared_at_once_are_all_kept() {
    let gateway = Gateway::start().await;
    let manifests: Vec<_> = (0..20).map(|n| manifest(&format!("s{n}"), json!({}))).collect();
    let applied = manifests.iter().map(|manifest| gateway.services.apply(manifest));
    for applied in futures::future::join_all(applied).await {
        applied.unwrap();
    }
    assert_eq!(gateway.log.rows(RowKind::Service).await.unwrap().len(), 20);
}

#[tokio::test]
async fn a_new_manifest_of_a_running_service_is_a_new_version_and_starts_it_again() {
    let gateway = Gateway::start().await;
    let running = gateway.run("docs", json!({})).await;
    let limited = manifest("docs", json!({ "spec": { "origin": { "allowedTools": [] } } }));
    let applied = gateway.services.apply(&limited).await.unwrap();
    assert_eq!((applied.stored.version, applied.life.lifecycle), (2, Lifecycle::Running));
    assert_eq!(gateway.offered(), [("docs".to_owned(), vec![])]);
    let disabled = manifest("docs", json!({ "spec": { "enabled": false } }));
    let applied = gateway.services.apply(&disabled).await.unwrap();
    assert_eq!(applied.life.lifecycle, Lifecycle::Stopped);
    let refused = gateway.services.start_service(&running.id).await;
    assert!(matches!(refused, Err(ServiceError::Disabled(_))), "{refused:?}");
}

#[tokio::test]
async fn a_removed_service_is_gone_with_its_row_and_an_unknown_one_is_an_error() {
    let gateway = Gateway::start().await;
    let running = gateway.run("docs", json!({})).await;
    gateway.services.remove(&running.id).await.unwrap();
    assert!(gateway.server("docs").principals().is_empty());
    assert!(gateway.offered().is_empty());
    assert_eq!(gateway.servers.forgotten(), std::slice::from_ref(&running.id));
    assert!(gateway.log.rows(RowKind::Service).await.unwrap().is_empty());
    assert_eq!(gateway.events().await.last().unwrap().body.name(), "service.removed");
    let gone = gateway.services.start_service(&running.id).await;
    assert!(matches!(gone, Err(ServiceError::Unknown(_))), "{gone:?}");
    assert!(matches!(gateway.services.remove(&running.id).await, Err(ServiceError::Unknown(_))));
}

#[tokio::test]
async fn a_removal_is_told_when_the_list_forgets_the_service_and_not_before() {
    let gateway = Gateway::start().await;
    let running = gateway.run("docs", json!({})).await;
    let busy = gateway.servers.hold_store().await;
    let is_told = || async { gateway.events().await.iter().any(|event| event.body.name() == "service.removed") };
    let look = async {
        gateway.servers.until_forgotten(&running.id).await;
        assert_eq!((gateway.services.list().len(), is_told().await), (1, false));
        drop(busy);
    };
    let (removed, ()) = soon("it is removed", async { tokio::join!(gateway.services.remove(&running.id), look) }).await;
    removed.unwrap();
    assert_eq!((gateway.services.list().len(), is_told().await), (0, true));
}

#[tokio::test]
async fn a_manifest_that_cannot_be_stored_is_refused_and_the_one_before_stays() {
    let gateway = Gateway::start().await;
    let before = gateway.services.apply(&manifest("docs", json!({}))).await.unwrap();
    gateway.close_log().await;
    let refused = gateway.services.apply(&manifest("docs", json!({ "metadata": { "displayName": "Docs" } }))).await;
    assert!(matches!(refused, Err(ServiceError::Log(_))), "{refused:?}");
    let refused = gateway.services.apply(&manifest("more", json!({}))).await;
    assert!(matches!(refused, Err(ServiceError::Log(_))), "{refused:?}");
    let views = gateway.services.list();
    assert_eq!((views.len(), &views[0].stored), (1, &before.stored));
}

#[tokio::test]
async fn two_that_apply_a_service_at_once_are_served_one_after_the_other() {
    let gateway = Gateway::start().await;
    let named = |name: &str| manifest("docs", json!({ "metadata": { "displayName": name } }));
    let (one, other) = (named("One"), named("Other"));
    let (one, other) = tokio::join!(gateway.services.apply(&one), gateway.services.apply(&other));
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.id, other.id);
    let last = gateway.services.get(&one.id).unwrap();
    assert_eq!((gateway.services.list().len(), last.stored.version), (1, 2));
    let names: Vec<_> = gateway.events().await.iter().map(|event| event.body.name().to_owned()).collect();
    assert_eq!(names, ["service.manifest_applied"; 2]);
    let gateway = gateway.restart().await;
    assert_eq!(gateway.services.get(&last.id).unwrap().stored, last.stored);
}
