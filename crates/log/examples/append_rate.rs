//! How many events a second the log takes and a follower sees: `cargo run --release -p roost-log --example
//! append_rate`, or with `-- STREAMS BATCH` for one case only.

use std::time::Instant;

use roost_log::{Filter, Log, LogOptions, SqliteLog, Start, StateLock, StreamId};
use roost_model::event::{NewEvent, RuntimeRef, Trace};
use roost_model::ids::{SessionId, TaskId};
use roost_model::payload::{ModelOutputDeltaKind, ModelOutputDeltaPayload};
use roost_model::runtime::RuntimeName;
use roost_model::time::Timestamp;

const EVENTS: usize = 1_000_000;
const WORDS: [&str; 24] = [
    "the ",
    "function ",
    "returns ",
    "a ",
    "stream ",
    "of ",
    "events ",
    "that ",
    "is ",
    "never ",
    "empty ",
    "let ",
    "mut ",
    "self.",
    "next()",
    "\n",
    "if ",
    "we ",
    "append ",
    "before ",
    "anyone ",
    "reads, ",
    "nothing ",
    "breaks. ",
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<usize> = std::env::args().skip(1).map(|arg| arg.parse()).collect::<Result<_, _>>()?;
    let cases = match args[..] {
        [streams, batch] => vec![(streams, batch)],
        _ => vec![(1, 64), (1, 1), (10, 64), (100, 64), (100, 1)],
    };
    for (streams, batch) in cases {
        let dir = tempfile::tempdir()?;
        let log = SqliteLog::open(&StateLock::acquire(dir.path(), "rate")?, LogOptions::default())?;
        let mut follower = log.follow(Filter::all(), Start::Now).await?;
        let begin = Instant::now();
        let counter = tokio::spawn(async move {
            let mut seen = 0;
            while seen < EVENTS / batch * batch {
                seen += follower.next().await?.iter().filter(|entry| entry.seq() > 0).count();
            }
            Ok::<_, roost_log::Error>(seen)
        });
        let sessions: Vec<_> = (0..streams).map(|n| SessionId::from(format!("session-{n}"))).collect();
        let task = TaskId::new();
        for n in 0..EVENTS / batch {
            let session = &sessions[n % streams];
            let events = (0..batch).map(|k| delta(session, &task, n * batch + k)).collect();
            drop(log.append(&StreamId::from(session), events).await?);
        }
        let seen = counter.await??;
        let took = begin.elapsed();
        let rate = seen as f64 / took.as_secs_f64();
        println!("{streams:>3} streams, batches of {batch:>2}: {rate:>9.0} events/s, {:.2} µs each", 1e6 / rate);
        log.close().await;
    }
    Ok(())
}

/// An event with 250 bytes of text, which is about as compressible as prose.
fn delta(session: &SessionId, task: &TaskId, n: usize) -> NewEvent {
    let mut seed = n as u64;
    let mut text = String::with_capacity(256);
    while text.len() < 245 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(WORDS[(seed >> 33) as usize % WORDS.len()]);
    }
    NewEvent {
        time: Timestamp::now(),
        trace: Trace { task_id: Some(task.clone()), ..Trace::session(session.clone()) },
        runtime: RuntimeRef::new(RuntimeName::Demo),
        body: ModelOutputDeltaPayload {
            kind: ModelOutputDeltaKind::TextDelta,
            block_id: "block-1".into(),
            delta: text,
            tool_call_id: None,
            language: None,
        }
        .into(),
    }
}
