//! The session directory: what events add up to, found by every name.

use roost_log::{Log, LogOptions};
use roost_model::session::{SessionStatus, TaskOutcome};

use crate::kit::*;

#[tokio::test]
async fn a_session_is_what_its_events_add_up_to() {
    let home = Home::new();
    store(&home.log, "s", vec![created("s"), started("s"), delta("s", "x"), completed("s")]).await;
    let record = home.log.session("s").await.unwrap().unwrap();
    assert_eq!(record.status, SessionStatus::Active);
    assert_eq!((record.tasks, record.last_outcome), (1, Some(TaskOutcome::Completed)));
}

#[tokio::test]
async fn a_session_is_found_by_every_id_that_a_runtime_gave_it() {
    let home = Home::new();
    store(&home.log, "s", vec![created("s"), known_as("s", "first"), known_as("s", "second")]).await;
    for name in ["s", "first", "second"] {
        let found = home.log.session(name).await.unwrap().map(|record| record.session_id.to_string());
        assert_eq!(found.as_deref(), Some("s"), "{name}");
    }
    assert!(home.log.session("third").await.unwrap().is_none());
}

#[tokio::test]
async fn an_id_that_two_runtimes_gave_means_the_session_that_changed_last() {
    let home = Home::new();
    store(&home.log, "old", vec![created("old"), known_as("old", "same")]).await;
    store(&home.log, "new", vec![created("new"), at(NOW + 5, known_as("new", "same"))]).await;
    assert_eq!(home.log.session("same").await.unwrap().unwrap().session_id.as_str(), "new");
}

#[tokio::test]
async fn sessions_are_listed_by_their_last_change() {
    let home = Home::new();
    for (session, millis) in [("a", 3), ("b", 1), ("c", 2)] {
        store(&home.log, session, vec![at(NOW + millis, created(session))]).await;
    }
    let ids = |records: Vec<roost_model::session::SessionRecord>| {
        records.into_iter().map(|record| record.session_id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ids(home.log.sessions(10).await.unwrap()), ["a", "c", "b"]);
    assert_eq!(ids(home.log.sessions(2).await.unwrap()), ["a", "c"]);
}

#[tokio::test]
async fn open_tasks_are_those_without_an_end_also_after_reopening() {
    let Home { dir, log } = Home::new();
    store(&log, "done", vec![created("done"), started("done"), completed("done")]).await;
    store(&log, "open", vec![created("open"), started("open")]).await;
    log.close().await;
    drop(log);
    let log = open(dir.path(), LogOptions::default());
    let open = log.open_tasks().await.unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!((open[0].session_id.as_str(), open[0].open_task.as_ref().unwrap().first_seq), ("open", 2));
    store(&log, "open", vec![completed("open")]).await;
    assert!(log.open_tasks().await.unwrap().is_empty());
}

#[tokio::test]
async fn an_event_of_a_session_in_another_stream_does_not_change_the_session() {
    let home = Home::new();
    store(&home.log, "audit", vec![created("s")]).await;
    assert!(home.log.session("s").await.unwrap().is_none());
}
