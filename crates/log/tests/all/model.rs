//! The log against a model: whatever is appended, followed and resumed, in whatever order, every follower gets exactly
//! the part of the log that it asked for.

use std::collections::HashMap;

use proptest::prelude::*;
use roost_log::{Cursor, Filter, Follower, Log, LogOptions, Receipt, Seq, Start, StreamId};
use roost_model::event::NormalizedEventType;

use crate::kit::*;

const STREAMS: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Debug)]
enum Step {
    Append { stream: usize, events: usize, wait: bool },
    Follow { wish: Wish },
    Read { follower: usize },
}

/// A filter that the model understands too.
#[derive(Clone, Debug)]
struct Wish {
    streams: [bool; 3],
    only_ends: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Seen {
    stream: String,
    seq: Seq,
    is_end: bool,
    cursor: Cursor,
}

struct Reader {
    follower: Follower,
    wish: Wish,
    /// How many events the log had when it started.
    from: usize,
    seen: Vec<Seen>,
}

impl Wish {
    fn filter(&self) -> Filter {
        let streams = STREAMS.iter().zip(self.streams).filter(|(_, wanted)| *wanted).map(|(name, _)| (*name).into());
        let filter = if self.streams == [true; 3] { Filter::all() } else { Filter::streams(streams) };
        if self.only_ends { filter.types([NormalizedEventType::TaskCompleted]) } else { filter }
    }

    fn of(&self, events: &[Seen]) -> Vec<Seen> {
        let wanted = |event: &&Seen| {
            let stream = STREAMS.iter().position(|name| *name == event.stream).unwrap();
            self.streams[stream] && (event.is_end || !self.only_ends)
        };
        events.iter().filter(wanted).cloned().collect()
    }
}

async fn read(follower: &mut Follower, seen: &mut Vec<Seen>) {
    for entry in &next(follower).await.unwrap() {
        let is_end = entry.event().unwrap().body.ends_task();
        seen.push(Seen { stream: entry.stream().to_string(), seq: entry.seq(), is_end, cursor: entry.cursor() });
    }
}

async fn settle(receipts: &mut Vec<Receipt>) {
    for receipt in receipts.drain(..) {
        receipt.await.unwrap();
    }
}

async fn run(steps: Vec<Step>, ring_bytes: usize, resume: Vec<(prop::sample::Index, Wish)>) {
    let home = Home::with(LogOptions { ring_bytes, ..LogOptions::default() });
    let (mut receipts, mut readers, mut total) = (Vec::new(), Vec::<Reader>::new(), 0);
    let mut lasts = HashMap::new();
    for step in steps {
        match step {
            Step::Append { stream, events, wait } => {
                let name = STREAMS[stream];
                let make = |n| if n % 5 == 0 { completed(name) } else { delta(name, "x") };
                let events: Vec<_> = (0..events).map(make).collect();
                total += events.len();
                *lasts.entry(name.to_owned()).or_insert(0) += events.len() as Seq;
                receipts.push(home.log.append(&StreamId::from(name), events).await.unwrap());
                if wait {
                    settle(&mut receipts).await;
                }
            }
            Step::Follow { wish } => {
                settle(&mut receipts).await;
                let follower = home.log.follow(wish.filter(), Start::Now).await.unwrap();
                readers.push(Reader { follower, wish, from: total, seen: Vec::new() });
            }
            Step::Read { follower } => {
                let count = readers.len().max(1);
                if let Some(reader) = readers.get_mut(follower % count) {
                    // It may have nothing to read; then it must not wait for ever.
                    let _ = tokio::time::timeout(
                        std::time::Duration::from_millis(1),
                        read(&mut reader.follower, &mut reader.seen),
                    )
                    .await;
                }
            }
        }
    }
    settle(&mut receipts).await;

    let mut everything = Vec::new();
    let mut follower = home.log.follow(Filter::all(), Start::Beginning).await.unwrap();
    while everything.len() < total {
        read(&mut follower, &mut everything).await;
    }
    for (name, last) in lasts {
        let places: Vec<_> = everything.iter().filter(|seen| seen.stream == name).map(|seen| seen.seq).collect();
        assert_eq!(places, (1..=last).collect::<Vec<_>>());
    }
    for mut reader in readers {
        let expected = reader.wish.of(&everything[reader.from..]);
        while reader.seen.len() < expected.len() {
            read(&mut reader.follower, &mut reader.seen).await;
        }
        assert_eq!(reader.seen, expected);
    }
    for (index, wish) in resume.into_iter().filter(|_| total > 0) {
        let at = index.index(total);
        let expected = wish.of(&everything[at + 1..]);
        let mut follower = home.log.follow(wish.filter(), Start::After(everything[at].cursor)).await.unwrap();
        let mut seen = Vec::new();
        while seen.len() < expected.len() {
            read(&mut follower, &mut seen).await;
        }
        assert_eq!(seen, expected);
    }
}

fn wish() -> impl Strategy<Value = Wish> {
    (any::<[bool; 3]>(), any::<bool>()).prop_map(|(streams, only_ends)| Wish { streams, only_ends })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3_usize, 0..300_usize, any::<bool>())
            .prop_map(|(stream, events, wait)| Step::Append { stream, events, wait }),
        1 => wish().prop_map(|wish| Step::Follow { wish }),
        3 => (0..8_usize).prop_map(|follower| Step::Read { follower }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_follower_gets_exactly_what_it_asked_for(
        steps in prop::collection::vec(step(), 1..40),
        ring_bytes in prop_oneof![Just(0_usize), Just(20_000), Just(200_000), Just(8_000_000)],
        resume in prop::collection::vec((any::<prop::sample::Index>(), wish()), 4),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(run(steps, ring_bytes, resume));
    }
}
