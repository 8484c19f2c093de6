//! What runtimes keep by themselves: looked for where it can be, and taken over once.

use std::collections::BTreeSet;

use roost_engine::{Adoption, Error, HistoryEntry, NAMESPACE};
use roost_model::session::SessionStatus;
use roost_process::Isolation;
use testkit::fake::How;
use testkit::{Harness, Home};

const ID: &str = "019a0000-0000-7000-8000-000000000001";

/// An engine whose runtime is kept apart like this and keeps one conversation.
async fn engine(isolation: Isolation) -> Harness {
    let home = Home::new();
    home.adapter.past.keep(home.path(), ID, 1, &["what is a hen", "a bird"]);
    home.start_with(|config| _ = config.isolation.insert("fake".into(), isolation)).await
}

async fn list(harness: &Harness) -> Vec<HistoryEntry> {
    let namespaces = ["anna", NAMESPACE].map(ToOwned::to_owned);
    let cwd = harness.home.path().to_str().unwrap();
    harness.engine.native_history().list(cwd, &BTreeSet::from(namespaces), None).await.sessions
}

#[tokio::test]
async fn a_runtime_is_asked_in_every_place_where_its_sessions_keep_something() {
    let table: [(Isolation, &[(&str, bool)]); 3] = [
        (Isolation::Shared, &[("default", false)]),
        (Isolation::Namespaced, &[("anna", true), ("default", true)]),
        (Isolation::Ephemeral, &[]),
    ];
    for (isolation, expected) in table {
        let harness = engine(isolation).await;
        let found = list(&harness).await;
        let asked = harness.home.adapter.past.asked();
        let asked: Vec<_> =
            asked.iter().map(|env| (env.credential_namespace.as_str(), env.isolation.is_some())).collect();
        assert_eq!(asked, expected);
        assert_eq!(found.len(), expected.len());
    }
}

#[tokio::test]
async fn what_is_taken_over_is_a_session_of_its_own_id_and_place_and_is_listed_no_more() {
    let mut harness = engine(Isolation::Shared).await;
    let kept = list(&harness).await.remove(0);
    let id = harness.engine.adopt(&kept, Adoption::default()).await.unwrap();
    assert_eq!(id.as_str(), ID);
    let record = harness.record(&id).await;
    assert_eq!((record.status, record.messages), (SessionStatus::Created, 2));
    assert_eq!(record.title.as_deref(), Some("what is a hen"));
    assert_eq!(harness.engine.adopt(&kept, Adoption::default()).await.unwrap(), id, "there is one already");
    let mut listing = harness.engine.native_history().list(&kept.cwd, &[NAMESPACE.to_owned()].into(), None).await;
    listing.leave_out(&[record]);
    assert_eq!(listing.sessions, []);

    harness.begin(&id, "and an egg").await;
    let opening = harness.runtimes().opening().await;
    assert!(matches!(&opening.how, How::Resume(_, native) if native.as_str() == ID), "{:?}", opening.how);
}

#[tokio::test]
async fn what_its_runtime_keeps_no_more_cannot_be_taken_over() {
    let harness = engine(Isolation::Shared).await;
    let mut kept = list(&harness).await.remove(0);
    kept.session.id = "gone".into();
    let refused = harness.engine.adopt(&kept, Adoption::default()).await;
    assert!(matches!(refused, Err(Error::UnknownSession(id)) if id == "gone"));
}
