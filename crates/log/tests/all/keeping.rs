//! The host's own rows: kept in the transaction of the events that tell of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use roost_log::{
    Error, Filter, Health, Log, LogOptions, Retention, RowChange, RowKind, SqliteLog, Start, StateLock, check, rebuild,
};
use roost_model::event::NewEvent;
use roost_model::payload::{DevicePairedPayload, WorkspaceAddedPayload};
use roost_model::scope::Scope;
use roost_model::time::Timestamp;
use tempfile::TempDir;

use crate::kit::*;

fn put(kind: RowKind, id: &str, body: &str) -> RowChange {
    RowChange { kind, id: id.into(), body: Some(body.into()) }
}

fn delete(kind: RowKind, id: &str) -> RowChange {
    RowChange { kind, id: id.into(), body: None }
}

fn paired(device: &str) -> NewEvent {
    let paired = DevicePairedPayload { device_id: device.into(), name: "phone".into(), scope: Scope::Operate };
    NewEvent::for_host(Timestamp::from_millis(NOW), paired)
}

async fn rows(log: &dyn Log, kind: RowKind) -> Vec<(String, String)> {
    log.rows(kind).await.unwrap()
}

fn row(id: &str, body: &str) -> (String, String) {
    (id.into(), body.into())
}

async fn reopened(dir: &TempDir, log: SqliteLog) -> SqliteLog {
    log.close().await;
    drop(log);
    open(dir.path(), LogOptions::default())
}

#[tokio::test]
async fn rows_survive_a_reopen_in_the_order_of_their_ids_and_apart_by_kind() {
    let Home { dir, log } = Home::new();
    let changes = [("b", "1"), ("a", "2"), ("c", "3")].map(|(id, body)| put(RowKind::Device, id, body));
    log.keep(changes.into(), vec![]).await.unwrap();
    log.keep(vec![put(RowKind::Secret, "a", "{}")], vec![]).await.unwrap();
    let log = reopened(&dir, log).await;
    assert_eq!(rows(&log, RowKind::Device).await, [row("a", "2"), row("b", "1"), row("c", "3")]);
    assert_eq!(rows(&log, RowKind::Secret).await, [row("a", "{}")]);
    assert_eq!(rows(&log, RowKind::Workspace).await, []);
    assert_eq!(rows(&log, RowKind::Cursor).await, []);
}

#[tokio::test]
async fn of_several_changes_to_a_row_the_last_counts() {
    let Home { dir, log } = Home::new();
    log.keep(vec![put(RowKind::Device, "a", "1"), put(RowKind::Device, "a", "2")], vec![]).await.unwrap();
    assert_eq!(rows(&log, RowKind::Device).await, [row("a", "2")]);
    log.keep(vec![delete(RowKind::Device, "a"), delete(RowKind::Device, "never there")], vec![]).await.unwrap();
    let log = reopened(&dir, log).await;
    assert_eq!(rows(&log, RowKind::Device).await, []);
}

#[tokio::test]
async fn events_are_kept_with_their_rows_and_without_any() {
    let Home { dir, log } = Home::new();
    log.keep(vec![put(RowKind::Device, "dev_1", "{}")], vec![paired("dev_1")]).await.unwrap();
    log.keep(vec![], vec![paired("dev_2")]).await.unwrap();
    log.keep(vec![], vec![]).await.unwrap();
    let log = reopened(&dir, log).await;
    assert_eq!(read_all(&log, "host").await.len(), 2);
    assert_eq!(rows(&log, RowKind::Device).await, [row("dev_1", "{}")]);
}

#[tokio::test]
async fn a_row_and_its_event_are_stored_both_or_neither() {
    for table in ["rows", "blocks"] {
        let Home { dir, log } = Home::new();
        let fails =
            format!("CREATE TRIGGER broken BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'the disk broke'); END;");
        let other = rusqlite::Connection::open(dir.path().join("roost.db")).unwrap();
        other.execute_batch(&fails).unwrap();
        let failed = log.keep(vec![put(RowKind::Device, "dev_1", "{}")], vec![paired("dev_1")]).await;
        assert!(failed.is_err(), "{table}");
        other.execute_batch("DROP TRIGGER broken").unwrap();
        drop(other);
        let log = reopened(&dir, log).await;
        assert_eq!((read_all(&log, "host").await.len(), rows(&log, RowKind::Device).await.len()), (0, 0), "{table}");
    }
}

#[tokio::test]
async fn events_of_the_host_reach_whoever_follows_all_and_make_no_session() {
    let Home { dir, log } = Home::new();
    let mut follower = log.follow(Filter::all(), Start::Now).await.unwrap();
    let added = WorkspaceAddedPayload { workspace_id: "w1".into(), name: "engine".into(), path: "/engine".into() };
    log.keep(vec![], vec![paired("dev_1"), NewEvent::for_host(Timestamp::from_millis(NOW), added)]).await.unwrap();
    assert_eq!(take(&mut follower, 2).await, places("host", 2));
    assert_eq!(log.sessions(10).await.unwrap(), []);
    assert_eq!(log.session("host").await.unwrap(), None);
    log.close().await;
    assert_eq!(check(dir.path()).unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn a_log_open_for_reading_shows_rows_and_keeps_none() {
    let home = Home::new();
    home.log.keep(vec![put(RowKind::Cursor, "page", "\"7\"")], vec![]).await.unwrap();
    let reader = SqliteLog::open_read_only(home.path()).unwrap();
    assert_eq!(rows(&reader, RowKind::Cursor).await, [row("page", "\"7\"")]);
    let refused = reader.keep(vec![delete(RowKind::Cursor, "page")], vec![]).await;
    assert!(matches!(refused, Err(Error::ReadOnly)), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_delays_what_is_kept_and_loses_nothing() {
    let pages = Arc::new(AtomicU32::new(32));
    let home = Home::with(LogOptions { page_limit: Some(pages.clone()), ..LogOptions::default() });
    let mut health = home.log.health();
    let body = noise(0, 1 << 20);
    let keeping = tokio::spawn({
        let (log, change) = (home.log.clone(), put(RowKind::Workspace, "w1", &body));
        async move { log.keep(vec![change], vec![paired("dev_1")]).await }
    });
    let stalled = health.wait_for(|health| matches!(health, Health::Stalled { .. }));
    tokio::time::timeout(DEADLINE, stalled).await.unwrap().unwrap();
    assert!(!keeping.is_finished(), "what is not stored must not be acknowledged");
    assert_eq!(rows(&home.log, RowKind::Workspace).await, []);
    pages.store(u32::MAX - 1, Ordering::Release);
    keeping.await.unwrap().unwrap();
    assert_eq!(rows(&home.log, RowKind::Workspace).await, [row("w1", &body)]);
    assert_eq!(read_all(&home.log, "host").await.len(), 1);
}

#[tokio::test]
async fn rows_outlive_their_events_and_a_rebuild() {
    let Home { dir, log } = Home::new();
    log.keep(vec![put(RowKind::Device, "dev_1", "{}")], vec![paired("dev_1")]).await.unwrap();
    let rules = Retention { max_age: Duration::ZERO, ..Retention::default() };
    assert_eq!(log.retain(rules, Timestamp::from_millis(NOW + 1)).await.unwrap().events, 1);
    log.close().await;
    drop(log);
    assert_eq!(rebuild(&StateLock::acquire(dir.path(), "test").unwrap()).unwrap(), Default::default());
    let log = open(dir.path(), LogOptions::default());
    assert_eq!(rows(&log, RowKind::Device).await, [row("dev_1", "{}")]);
}
