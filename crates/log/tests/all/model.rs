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
    Follow { filter: ModelFilter },
    Read { follower: usize },
}

/// A filter that the model understands too.
#[derive(Clone, Debug)]
struct ModelFilter {
    streams: [bool; 3],
    only_ends: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct ReadEvent {
    stream: String,
    seq: Seq,
    is_end: bool,
    cursor: Cursor,
}

struct Reader {
    follower: Follower,
    filter: ModelFilter,
    /// How many events the log had when it started.
    from: usize,
    seen: Vec<ReadEvent>,
}

impl ModelFilter {
    fn filter(&self) -> Filter {
        let streams = STREAMS.iter().zip(self.streams).filter(|(_, wanted)| *wanted).map(|(name, _)| (*name).into());
        let filter = if self.streams == [true; 3] { Filter::all() } else { Filter::streams(streams) };
        if self.only_ends { filter.types([NormalizedEventType::TaskCompleted]) } else { filter }
    }

    fn matching(&self, events: &[ReadEvent]) -> Vec<ReadEvent> {
        let wanted = |event: &&ReadEvent| {
            let stream = STREAMS.iter().position(|name| *name == event.stream).unwrap();
            self.streams[stream] && (event.is_end || !self.only_ends)
        };
        events.iter().filter(wanted).cloned().collect()
    }
}

async fn read(follower: &mut Follower, seen: &mut Vec<ReadEvent>) {
    for entry in &next(follower).await.unwrap() {
        let is_end = entry.event().unwrap().body.ends_task();
        seen.push(ReadEvent { stream: entry.stream().to_string(), seq: entry.seq(), is_end, cursor: entry.cursor() });
    }
}

async fn settle(receipts: &mut Vec<Receipt>) {
    for receipt in receipts.drain(..) {
        receipt.await.unwrap();
    }
}

async fn run(steps: Vec<Step>, ring_bytes: usize, resume: Vec<(prop::sample::Index, ModelFilter)>) {
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
            Step::Follow { filter } => {
                settle(&mut receipts).await;
                let follower = home.log.follow(filter.filter(), Start::Now).await.unwrap();
                readers.push(Reader { follower, filter, from: total, seen: Vec::new() });
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
        let expected = reader.filter.matching(&everything[reader.from..]);
        while reader.seen.len() < expected.len() {
            read(&mut reader.follower, &mut reader.seen).await;
        }
        assert_eq!(reader.seen, expected);
    }
    for (index, filter) in resume.into_iter().filter(|_| total > 0) {
        let at = index.index(total);
        let expected = filter.matching(&everything[at + 1..]);
        let mut follower = home.log.follow(filter.filter(), Start::After(everything[at].cursor)).await.unwrap();
        let mut seen = Vec::new();
        while seen.len() < expected.len() {
            read(&mut follower, &mut seen).await;
        }
        assert_eq!(seen, expected);
    }
}

fn model_filter() -> impl Strategy<Value = ModelFilter> {
    (any::<[bool; 3]>(), any::<bool>()).prop_map(|(streams, only_ends)| ModelFilter { streams, only_ends })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..3_usize, 0..300_usize, any::<bool>())
            .prop_map(|(stream, events, wait)| Step::Append { stream, events, wait }),
        1 => model_filter().prop_map(|filter| Step::Follow { filter }),
        3 => (0..8_usize).prop_map(|follower| Step::Read { follower }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_follower_gets_exactly_what_it_asked_for(
        steps in prop::collection::vec(step(), 1..40),
        ring_bytes in prop_oneof![Just(0_usize), Just(20_000), Just(200_000), Just(8_000_000)],
        resume in prop::collection::vec((any::<prop::sample::Index>(), model_filter()), 4),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(run(steps, ring_bytes, resume));
    }
}
