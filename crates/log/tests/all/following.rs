//! Following: nothing missed, nothing twice, whatever the speed, the filter and the place where it starts.

use roost_log::{Error, Filter, Log, LogOptions, SqliteLog, Start, StreamId};
use roost_model::event::NormalizedEventType;

use crate::kit::*;

#[tokio::test]
async fn a_follower_from_the_beginning_gets_what_is_there_and_what_comes() {
    let home = Home::new();
    store(&home.log, "s", deltas("s", 3)).await;
    let mut follower = home.log.follow(Filter::all(), Start::Beginning).await.unwrap();
    assert_eq!(take(&mut follower, 3).await, places("s", 3));
    store(&home.log, "s", deltas("s", 1)).await;
    assert_eq!(take(&mut follower, 1).await, [("s".into(), 4)]);
}

#[tokio::test]
async fn a_follower_from_now_gets_only_what_comes() {
    let home = Home::new();
    store(&home.log, "s", deltas("s", 3)).await;
    let mut follower = home.log.follow(Filter::all(), Start::Now).await.unwrap();
    store(&home.log, "s", deltas("s", 2)).await;
    assert_eq!(take(&mut follower, 2).await, [("s".into(), 4), ("s".into(), 5)]);
}

#[tokio::test]
async fn every_cursor_resumes_right_after_its_event() {
    for options in [LogOptions::default(), tiny_ring()] {
        let home = Home::with(options);
        for _ in 0..3 {
            store(&home.log, "a", deltas("a", 5)).await;
            store(&home.log, "b", deltas("b", 4)).await;
        }
        let mut follower = home.log.follow(Filter::all(), Start::Beginning).await.unwrap();
        let mut seen = Vec::new();
        while seen.len() < 27 {
            let batch = next(&mut follower).await.unwrap();
            seen.extend(batch.iter().map(|entry| (entry.stream().to_string(), entry.seq(), entry.cursor())));
        }
        for (n, (_, _, cursor)) in seen.iter().enumerate().take(26) {
            let cursor = cursor.to_string().parse().unwrap();
            let mut resumed = home.log.follow(Filter::all(), Start::After(cursor)).await.unwrap();
            let rest: Vec<_> = seen[n + 1..].iter().map(|(stream, seq, _)| (stream.clone(), *seq)).collect();
            assert_eq!(take(&mut resumed, rest.len()).await, rest);
        }
    }
}

#[tokio::test]
async fn a_follower_after_a_seq_starts_with_the_next() {
    let home = Home::new();
    store(&home.log, "s", deltas("s", 300)).await;
    store(&home.log, "s", deltas("s", 300)).await;
    let stream = StreamId::from("s");
    for after in [0, 1, 255, 256, 257, 299, 300, 301, 599] {
        let start = Start::AfterSeq(stream.clone(), after);
        let mut follower = home.log.follow(Filter::stream(stream.clone()), start).await.unwrap();
        let rest = (600 - after) as usize;
        assert_eq!(take(&mut follower, rest).await, places("s", 600)[after as usize..]);
    }
}

#[tokio::test]
async fn a_stream_can_be_followed_before_its_first_event() {
    let home = Home::new();
    let stream = StreamId::from("s");
    let mut follower =
        home.log.follow(Filter::stream(stream.clone()), Start::AfterSeq(stream.clone(), 0)).await.unwrap();
    store(&home.log, "other", deltas("other", 2)).await;
    store(&home.log, "s", deltas("s", 2)).await;
    assert_eq!(take(&mut follower, 2).await, places("s", 2));
}

#[tokio::test]
async fn a_position_that_the_log_never_reached_is_an_error() {
    let home = Home::new();
    store(&home.log, "s", deltas("s", 2)).await;
    let ahead = home.log.follow(Filter::all(), Start::AfterSeq(StreamId::from("s"), 3)).await;
    assert!(matches!(ahead.err(), Some(Error::Ahead { last_seq: 2, .. })));
    let unknown = home.log.follow(Filter::all(), Start::After("b99.1".parse().unwrap())).await;
    assert!(matches!(unknown.err(), Some(Error::UnknownCursor(_))));
}

#[tokio::test]
async fn a_filter_passes_only_what_it_names_from_ring_and_store() {
    for options in [LogOptions::default(), tiny_ring()] {
        let home = Home::with(options);
        for session in ["a", "b", "c"] {
            let events = [vec![created(session), started(session)], deltas(session, 10), vec![completed(session)]];
            store(&home.log, session, events.concat()).await;
        }
        let ends = [NormalizedEventType::TaskCompleted, NormalizedEventType::SessionCreated];
        let filter = Filter::streams(["a".into(), "c".into()]).types(ends);
        let mut follower = home.log.follow(filter, Start::Beginning).await.unwrap();
        let wanted = [("a", 1), ("a", 13), ("c", 1), ("c", 13)].map(|(stream, seq)| (stream.to_owned(), seq));
        assert_eq!(take(&mut follower, 4).await, wanted);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_changes_between_ring_and_store_without_gap_or_double() {
    // The ring holds about one block, so the follower falls off it at almost every turn and catches up again.
    let home = Home::with(LogOptions { ring_bytes: 64 << 10, ..LogOptions::default() });
    let mut follower = home.log.follow(Filter::all(), Start::Beginning).await.unwrap();
    let producer = tokio::spawn({
        let log = home.log.clone();
        async move {
            for n in 0..2000 {
                let receipt = log.append(&StreamId::from("s"), deltas("s", 1 + n % 40)).await.unwrap();
                if n % 7 == 0 {
                    receipt.await.unwrap();
                }
            }
        }
    });
    let total: u64 = (0..2000).map(|n| 1 + n % 40).sum();
    assert_eq!(take(&mut follower, total as usize).await, places("s", total));
    producer.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_that_never_reads_holds_nobody_up_and_loses_nothing() {
    let home = Home::with(tiny_ring());
    let mut slow = home.log.follow(Filter::all(), Start::Now).await.unwrap();
    for _ in 0..100 {
        drop(home.log.append(&StreamId::from("s"), deltas("s", 200)).await.unwrap());
    }
    assert_eq!(store(&home.log, "s", vec![]).await.last, 20_000);
    assert_eq!(take(&mut slow, 20_000).await, places("s", 20_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_follower_sees_what_the_writer_commits() {
    let home = Home::new();
    store(&home.log, "s", deltas("s", 1)).await;
    let reader = SqliteLog::open_read_only(home.path()).unwrap();
    let mut follower = reader.follow(Filter::all(), Start::Now).await.unwrap();
    for n in 2..5 {
        store(&home.log, "s", deltas("s", 1)).await;
        assert_eq!(take(&mut follower, 1).await, [("s".into(), n)]);
    }
}

#[tokio::test]
async fn a_read_only_log_refuses_appends() {
    let home = Home::new();
    let reader = SqliteLog::open_read_only(home.path()).unwrap();
    assert!(matches!(reader.append(&StreamId::from("s"), deltas("s", 1)).await, Err(Error::ReadOnly)));
}
