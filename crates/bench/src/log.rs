//! `log`: append and follow without anything around it, and whether it slows down as it grows.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use roost_log::{Filter, Log, LogOptions, SqliteLog, Start, StateLock};
use roost_model::event::{EventBody, NewEvent, RuntimeRef, Trace};
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::payload::{
    ModelOutputDeltaKind, ModelOutputDeltaPayload, SessionClosedPayload, SessionCreatedPayload,
};
use roost_model::runtime::RuntimeName;
use roost_model::time::Timestamp;
use tempfile::TempDir;

use crate::Outcome;
use crate::figure::{Table, Target, median};

const EVENTS: u64 = 200_000;
const BATCH: u64 = 64;
const SMALL: u64 = 10_000;
const LARGE: u64 = 1_000_000;
/// Events timed at each size.
const WINDOW: u64 = 50_000;
const WINDOWS: usize = 5;

/// Adds the rate of append and follow with 1, 10 and 100 streams, and the cost of an append as the log grows.
pub(crate) fn run(table: &mut Table) -> Outcome {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        for streams in [1, 10, 100] {
            let (_folder, _lock, log) = open()?;
            let names: Vec<_> = (0..streams).map(|_| SessionId::new()).collect();
            let follower = count(log.clone(), EVENTS);
            let start = Instant::now();
            append(&log, &names, EVENTS).await?;
            follower.await??;
            let rate = EVENTS as f64 / start.elapsed().as_secs_f64();
            table.add("log", format!("append and follow, {streams} streams"), rate, "events/s", Target::None);
        }
        let (small, large) = (at(SMALL).await?, at(LARGE).await?);
        table.add("log", "append with 10^4 stored", small, "us/event", Target::None);
        table.add("log", "append with 10^6 stored", large, "us/event", Target::None);
        table.add("log", "10^6 / 10^4", large / small, "x", Target::AtMost(1.2));
        Ok(())
    })
}

/// Microseconds per appended event when this many are stored: the median of [`WINDOWS`] windows.
async fn at(stored: u64) -> Outcome<f64> {
    let (_folder, _lock, log) = open()?;
    let session = [SessionId::new()];
    append(&log, &session, stored).await?;
    let mut windows = vec![];
    for _ in 0..WINDOWS {
        let start = Instant::now();
        append(&log, &session, WINDOW).await?;
        windows.push(start.elapsed().as_secs_f64() * 1e6 / WINDOW as f64);
    }
    Ok(median(windows))
}

/// Fills the log of this state directory with events of sessions that are over.
pub(crate) fn fill(state: &Path, sessions: usize, events: u64) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let lock = StateLock::acquire(state, "roost-bench")?;
        let store = SqliteLog::open(&lock, LogOptions::default())?;
        let log: Arc<dyn Log> = Arc::new(store.clone());
        let names: Vec<_> = (0..sessions).map(|_| SessionId::new()).collect();
        for session in &names {
            log.append(&session.into(), vec![event(session, Timestamp::now(), created())]).await?;
        }
        append(&log, &names, events).await?;
        for session in &names {
            let closed = SessionClosedPayload { reason: "bench".into() };
            log.append(&session.into(), vec![event(session, Timestamp::now(), closed)]).await?;
        }
        store.close().await;
        Ok(())
    })
}

fn open() -> Outcome<(TempDir, StateLock, Arc<dyn Log>)> {
    let folder = tempfile::tempdir()?;
    let lock = StateLock::acquire(folder.path(), "roost-bench")?;
    let log = Arc::new(SqliteLog::open(&lock, LogOptions::default())?);
    Ok((folder, lock, log))
}

/// Appends batches to the streams in turn and returns when everything is committed.
async fn append(log: &Arc<dyn Log>, streams: &[SessionId], events: u64) -> Outcome {
    let mut receipt = None;
    for batch in 0..events.div_ceil(BATCH) {
        let session = &streams[batch as usize % streams.len()];
        let size = BATCH.min(events - batch * BATCH);
        let now = Timestamp::now();
        let new = (0..size).map(|_| delta(session, now)).collect();
        receipt = Some(log.append(&session.into(), new).await?);
    }
    if let Some(receipt) = receipt {
        receipt.await?;
    }
    Ok(())
}

fn delta(session: &SessionId, time: Timestamp) -> NewEvent {
    let delta = ModelOutputDeltaPayload {
        kind: ModelOutputDeltaKind::TextDelta,
        block_id: "block_1".into(),
        delta: "x".repeat(200),
        tool_call_id: None,
        language: None,
    };
    event(session, time, delta)
}

fn created() -> SessionCreatedPayload {
    SessionCreatedPayload {
        contract_version: "1".into(),
        runtime: RuntimeName::Demo,
        cwd: "/".into(),
        credential_namespace: "default".into(),
        title: None,
        model: None,
        permission_mode: Mode::Ask.into(),
        mode: Mode::Ask,
        workspace_id: None,
        isolation: None,
        env: Vec::new(),
        mcp_servers: Vec::new(),
        runtime_config: None,
        runtime_config_hash: None,
        adopted: None,
        forked: None,
    }
}

fn event(session: &SessionId, time: Timestamp, body: impl Into<EventBody>) -> NewEvent {
    let (trace, runtime) = (Trace::session(session.clone()), RuntimeRef::new(RuntimeName::Demo));
    NewEvent { time, trace, runtime, body: body.into() }
}

fn count(log: Arc<dyn Log>, events: u64) -> tokio::task::JoinHandle<Outcome> {
    tokio::spawn(async move {
        let mut follower = log.follow(Filter::all(), Start::Beginning).await?;
        let mut seen = 0;
        while seen < events {
            seen += follower.next().await?.iter().count() as u64;
        }
        Ok(())
    })
}
