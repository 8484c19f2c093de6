//! Retention and compaction: what goes, what stays, and how readers are told.

use std::time::Duration;

use roost_log::{Error, Filter, Log, LogOptions, Retention, SqliteLog, Start, StateLock, StreamId, check, rebuild};
use roost_model::event::NewEvent;
use roost_model::time::Timestamp;

use crate::kit::*;

const DAY: i64 = 24 * 60 * 60 * 1000;
const KEEP_A_DAY: Retention = Retention { max_age: Duration::from_hours(24), max_bytes: u64::MAX };

fn old(events: Vec<NewEvent>) -> Vec<NewEvent> {
    events.into_iter().map(|event| at(NOW - 2 * DAY, event)).collect()
}

/// A log where an ended session has two old blocks and a new one, and a running one has only old blocks.
async fn aged() -> Home {
    let home = Home::with(tiny_ring());
    store(&home.log, "ended", old(vec![created("ended"), known_as("ended", "native"), started("ended")])).await;
    store(&home.log, "ended", old(deltas("ended", 10))).await;
    store(&home.log, "running", old(vec![created("running")])).await;
    store(&home.log, "running", old(vec![started("running")])).await;
    store(&home.log, "running", old(deltas("running", 10))).await;
    store(&home.log, "ended", old(vec![completed("ended")])).await;
    store(&home.log, "ended", deltas("ended", 2)).await;
    home
}

async fn retain(log: &SqliteLog, rules: Retention) -> roost_log::Retained {
    log.retain(rules, Timestamp::from_millis(NOW)).await.unwrap()
}

#[tokio::test]
async fn retention_removes_old_prefixes_and_keeps_running_tasks() {
    let home = aged().await;
    let removed = retain(&home.log, KEEP_A_DAY).await;
    assert_eq!((removed.blocks, removed.events), (4, 15));
    let first_stored = |stream: &'static str, after| {
        let log = home.log.clone();
        async move { log.read(&stream.into(), after, 1).await.unwrap().batch.iter().next().unwrap().seq() }
    };
    assert_eq!(first_stored("ended", 14).await, 15);
    assert_eq!(first_stored("running", 1).await, 2);
}

#[tokio::test]
async fn a_reader_behind_retention_is_told_where_to_resume() {
    let home = aged().await;
    retain(&home.log, KEEP_A_DAY).await;
    let stream = StreamId::from("ended");
    let read = home.log.read(&stream, 3, 10).await;
    assert!(matches!(read, Err(Error::Truncated { resume_at: 15, .. })));
    let follow = home.log.follow(Filter::stream(stream.clone()), Start::AfterSeq(stream.clone(), 3)).await;
    assert!(matches!(follow.err(), Some(Error::Truncated { resume_at: 15, .. })));
    let start = Start::AfterSeq(stream.clone(), 14);
    let mut resumed = home.log.follow(Filter::stream(stream), start).await.unwrap();
    assert_eq!(take(&mut resumed, 2).await, [("ended".into(), 15), ("ended".into(), 16)]);
}

#[tokio::test]
async fn a_follower_that_retention_overtakes_is_told_once_and_goes_on_with_what_is_left() {
    let home = aged().await;
    let mut follower = home.log.follow(Filter::all(), Start::Beginning).await.unwrap();
    retain(&home.log, KEEP_A_DAY).await;
    assert!(matches!(next(&mut follower).await, Err(Error::Truncated { .. })));
    let left = take(&mut follower, 13).await;
    assert_eq!(left.first().unwrap(), &("running".into(), 2));
    assert_eq!(left.last().unwrap(), &("ended".into(), 16));
}

#[tokio::test]
async fn a_cursor_is_truncated_only_if_something_after_it_was_removed() {
    let home = aged().await;
    let mut follower = home.log.follow(Filter::all(), Start::Beginning).await.unwrap();
    let mut cursors = Vec::new();
    while cursors.len() < 28 {
        cursors.extend(next(&mut follower).await.unwrap().iter().map(|entry| entry.cursor()));
    }
    retain(&home.log, KEEP_A_DAY).await;
    // Event 26 of all is the last that was removed: the end of the ended session's task.
    for (n, cursor) in (1..).zip(cursors) {
        let resumed = home.log.follow(Filter::all(), Start::After(cursor)).await;
        match n {
            ..26 => assert!(matches!(resumed, Err(Error::Truncated { .. })), "{n}"),
            26 | 27 => assert_eq!(next(&mut resumed.unwrap()).await.unwrap().len(), 28 - n, "{n}"),
            _ => assert!(resumed.is_ok(), "{n}"),
        }
        if n < 28 {
            let mut surviving = home.log.follow(Filter::all(), Start::Surviving(cursor)).await.unwrap();
            next(&mut surviving).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_filter_on_an_untouched_stream_does_not_notice_retention() {
    let home = aged().await;
    store(&home.log, "new", deltas("new", 1)).await;
    let mut follower =
        home.log.follow(Filter::stream("new".into()), Start::After("b0".parse().unwrap())).await.unwrap();
    retain(&home.log, KEEP_A_DAY).await;
    assert_eq!(take(&mut follower, 1).await, places("new", 1));
}

#[tokio::test]
async fn the_directory_is_the_same_after_retention_and_after_a_rebuild() {
    let Home { dir, log } = aged().await;
    let before = log.sessions(10).await.unwrap();
    retain(&log, KEEP_A_DAY).await;
    assert_eq!(log.sessions(10).await.unwrap(), before);
    log.close().await;
    drop(log);
    assert_eq!(check(dir.path()).unwrap().problems, [""; 0]);
    let lock = StateLock::acquire(dir.path(), "test").unwrap();
    assert_eq!(rebuild(&lock).unwrap(), Default::default());
    let log = SqliteLog::open(&lock, LogOptions::default()).unwrap();
    assert_eq!(log.sessions(10).await.unwrap(), before);
    assert_eq!(log.session("native").await.unwrap().unwrap().session_id.as_str(), "ended");
}

#[tokio::test]
async fn numbers_and_cursors_go_on_where_everything_was_removed() {
    let Home { dir, log } = Home::new();
    store(&log, "s", old(deltas("s", 5))).await;
    assert_eq!(retain(&log, KEEP_A_DAY).await.events, 5);
    log.close().await;
    drop(log);
    let log = open(dir.path(), LogOptions::default());
    let mut follower = log.follow(Filter::all(), Start::Beginning).await.unwrap();
    assert_eq!(store(&log, "s", deltas("s", 1)).await.first, 6);
    let batch = next(&mut follower).await.unwrap();
    assert!(batch.iter().next().unwrap().cursor() > "b1".parse().unwrap());
    drop(log);
    assert_eq!(check(dir.path()).unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn too_big_a_database_loses_its_oldest_events_and_gives_the_space_back() {
    let home = Home::new();
    for n in 0..40 {
        store(&home.log, "s", (0..100).map(|k| at(NOW + n, delta("s", &noise(n as usize * 100 + k, 2000)))).collect())
            .await;
    }
    let max_bytes = 4_000_000;
    let removed = retain(&home.log, Retention { max_bytes, ..Retention::default() }).await;
    assert!(removed.events > 500, "{removed:?}");
    let page = home.log.read(&"s".into(), removed.events, 1).await.unwrap();
    assert_eq!((page.batch.iter().next().unwrap().seq(), page.last_seq), (removed.events + 1, 4000));
    home.log.close().await;
    let size = home.path().join("roost.db").metadata().unwrap().len();
    assert!((max_bytes / 2..max_bytes + 500_000).contains(&size), "{size}");
}

#[tokio::test]
async fn compaction_shrinks_cold_blocks_and_changes_nothing_for_readers() {
    let home = aged().await;
    for _ in 0..40 {
        store(&home.log, "long", old(deltas("long", 10))).await;
    }
    let before = read_all(&home.log, "long").await;
    let done = home.log.compact(Timestamp::from_millis(NOW - DAY)).await.unwrap();
    assert!(done.blocks >= 40 && done.saved > 40_000, "{done:?}");
    assert_eq!(read_all(&home.log, "long").await, before);
    assert_eq!(home.log.compact(Timestamp::from_millis(NOW - DAY)).await.unwrap().blocks, 0);
    home.log.close().await;
    assert_eq!(check(home.path()).unwrap().problems, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn appends_go_on_while_retention_works() {
    let home = Home::new();
    for _ in 0..200 {
        drop(home.log.append(&"old".into(), old(deltas("old", 200))).await.unwrap());
    }
    store(&home.log, "old", vec![]).await;
    let retention = tokio::spawn({
        let log = home.log.clone();
        async move { retain(&log, KEEP_A_DAY).await }
    });
    for _ in 0..200 {
        store(&home.log, "new", deltas("new", 20)).await;
    }
    assert_eq!(retention.await.unwrap().events, 40_000);
    assert_eq!(read_all(&home.log, "new").await.len(), 4000);
}
