//! Appending: numbers without a gap, stored before seen, waiting instead of growing or losing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use roost_log::{Appended, Error, Filter, Health, Log, LogOptions, SqliteLog, Start, StreamId};
use roost_model::event::NormalizedEvent;

use crate::kit::*;

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_appenders_get_numbers_without_gap_or_double() {
    let home = Home::new();
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..12 {
        let log = home.log.clone();
        tasks.spawn(async move {
            let stream = format!("s{}", task % 4);
            for _ in 0..50 {
                drop(log.append(&StreamId::from(&*stream), deltas(&stream, 1 + task)).await.unwrap());
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    for stream in ["s0", "s1", "s2", "s3"] {
        let last = store(&home.log, stream, vec![]).await.last;
        let lines = read_all(&home.log, stream).await;
        assert_eq!(lines.len() as u64, last);
        for (seq, line) in (1..).zip(lines) {
            assert_eq!(serde_json::from_str::<NormalizedEvent>(&line).unwrap().seq, seq);
        }
    }
}

#[tokio::test]
async fn a_receipt_tells_where_the_events_went() {
    let home = Home::new();
    assert_eq!(store(&home.log, "s", deltas("s", 3)).await, Appended { first: 1, last: 3 });
    assert_eq!(store(&home.log, "s", deltas("s", 600)).await, Appended { first: 4, last: 603 });
    assert_eq!(store(&home.log, "t", deltas("t", 1)).await, Appended { first: 1, last: 1 });
}

#[tokio::test]
async fn numbers_go_on_after_reopening() {
    let home = Home::new();
    store(&home.log, "s", deltas("s", 5)).await;
    let Home { dir, log } = home;
    log.close().await;
    drop(log);
    let log = open(dir.path(), LogOptions::default());
    assert_eq!(store(&log, "s", deltas("s", 1)).await, Appended { first: 6, last: 6 });
}

#[tokio::test]
async fn an_event_comes_back_as_it_was_appended() {
    let home = Home::new();
    let event = started("s");
    store(&home.log, "s", vec![event.clone()]).await;
    let page = home.log.read(&StreamId::from("s"), 0, 10).await.unwrap();
    let entry = page.batch.iter().next().unwrap();
    assert_eq!(*entry.event().unwrap(), event.numbered(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_follower_sees_another_connection_finds() {
    let home = Home::new();
    let other = {
        store(&home.log, "s", deltas("s", 1)).await;
        SqliteLog::open_read_only(home.path()).unwrap()
    };
    let stream = StreamId::from("s");
    let mut follower = home.log.follow(Filter::all(), Start::Now).await.unwrap();
    for _ in 0..50 {
        drop(home.log.append(&stream, deltas("s", 10)).await.unwrap());
        let batch = next(&mut follower).await.unwrap();
        let seen = batch.iter().last().unwrap().seq();
        assert!(other.read(&stream, seen - 1, 1).await.unwrap().last_seq >= seen);
    }
}

#[tokio::test]
async fn closing_commits_what_is_queued_and_refuses_what_comes_later() {
    let home = Home::new();
    let stream = StreamId::from("s");
    let mut receipts = Vec::new();
    for _ in 0..100 {
        receipts.push(home.log.append(&stream, deltas("s", 100)).await.unwrap());
    }
    home.log.close().await;
    for receipt in receipts {
        receipt.await.unwrap();
    }
    assert!(matches!(home.log.append(&stream, deltas("s", 1)).await, Err(Error::Closed)));
}

#[tokio::test]
async fn a_follower_of_a_closed_log_reads_the_rest_and_is_told() {
    let home = Home::new();
    let mut follower = home.log.follow(Filter::all(), Start::Beginning).await.unwrap();
    store(&home.log, "s", deltas("s", 3)).await;
    home.log.close().await;
    assert_eq!(take(&mut follower, 3).await, places("s", 3));
    assert!(matches!(next(&mut follower).await, Err(Error::Closed)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_delays_appends_and_loses_none() {
    let pages = Arc::new(AtomicU32::new(64));
    let home = Home::with(LogOptions { page_limit: Some(pages.clone()), ..LogOptions::default() });
    let mut health = home.log.health();
    let producer = tokio::spawn({
        let log = home.log.clone();
        async move {
            let mut receipts = Vec::new();
            for n in 0..200 {
                let events =
                    (0..100).map(|k| delta("s", &format!("{} {}", n * 100 + k, noise(n * 100 + k, 200)))).collect();
                receipts.push(log.append(&StreamId::from("s"), events).await.unwrap());
            }
            receipts
        }
    });
    let stalled = health.wait_for(|health| matches!(health, Health::Stalled { .. }));
    tokio::time::timeout(DEADLINE, stalled).await.unwrap().unwrap();
    assert!(!producer.is_finished(), "a producer must wait when nothing can be stored");
    pages.store(u32::MAX - 1, Ordering::Release);
    for receipt in producer.await.unwrap() {
        receipt.await.unwrap();
    }
    assert_eq!(*health.borrow_and_update(), Health::Ok);
    let lines = read_all(&home.log, "s").await;
    assert_eq!(lines.len(), 20_000);
    for (n, line) in lines.iter().enumerate() {
        assert!(line.contains(&format!("\"{n} ")), "event {n} is out of order");
    }
}

#[tokio::test]
async fn a_log_that_cannot_be_written_says_so_to_everyone() {
    let home = Home::new();
    store(&home.log, "s", deltas("s", 1)).await;
    let mut follower = home.log.follow(Filter::all(), Start::Now).await.unwrap();
    let other = rusqlite::Connection::open(home.path().join("roost.db")).unwrap();
    other.execute_batch("DROP TABLE blocks").unwrap();
    let stream = StreamId::from("s");
    let receipt = home.log.append(&stream, deltas("s", 1)).await.unwrap();
    assert!(matches!(receipt.await, Err(Error::Store(_))));
    assert!(matches!(next(&mut follower).await, Err(Error::Failed { .. })));
    assert!(matches!(home.log.append(&stream, deltas("s", 1)).await, Err(Error::Failed { .. })));
    assert!(matches!(*home.log.health().borrow(), Health::Failed { .. }));
}

#[tokio::test]
async fn an_event_that_is_too_big_is_refused_and_costs_no_number() {
    let home = Home::new();
    let huge = delta("s", &"x".repeat(130 << 20));
    let refused = home.log.append(&StreamId::from("s"), vec![huge]).await;
    assert!(matches!(refused, Err(Error::TooBig { .. })));
    assert_eq!(store(&home.log, "s", vec![delta("s", &"y".repeat(64 << 20))]).await, Appended { first: 1, last: 1 });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_on_a_full_disk_can_be_closed() {
    let pages = Arc::new(AtomicU32::new(16));
    let home = Home::with(LogOptions { page_limit: Some(pages), ..LogOptions::default() });
    let receipt = home.log.append(&StreamId::from("s"), vec![delta("s", &noise(0, 1 << 20))]).await.unwrap();
    let mut health = home.log.health();
    let stalled = health.wait_for(|health| matches!(health, Health::Stalled { .. }));
    tokio::time::timeout(DEADLINE, stalled).await.unwrap().unwrap();
    tokio::time::timeout(DEADLINE, home.log.close()).await.unwrap();
    assert!(matches!(receipt.await, Err(Error::Store(_))));
}
