//! Records what clients report of runs: the events, and in the same transaction the rows of the runs they are about.
//!
//! One task owns the summaries, so that no two reports fold into the same row at once; what is queued while it waits for
//! a commit goes into the next one.

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use lru::LruCache;
use parking_lot::Mutex;
use roost_log::{Log, RowChange, RowKind, Seq, StreamId};
use roost_model::event::NewEvent;
use roost_model::ids::RunId;
use roost_model::run::{AgentEvent, RunSummary};
use roost_model::time::Timestamp;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::{RunsError, reported};

/// Reports that may wait; when so many do, those who send more wait too.
const QUEUE: usize = 1024;
/// The most reports of one transaction.
const BATCH: usize = 256;
/// Reported runs that are kept; the run that was not heard of for longest makes room. Their events stay in the log.
const MAX_RUNS: NonZeroUsize = NonZeroUsize::new(10_000).unwrap();
/// Summaries that are kept in memory.
const CACHED_RUNS: NonZeroUsize = NonZeroUsize::new(256).unwrap();
/// Keys that are remembered, the latest ones.
const MAX_KEYS: NonZeroUsize = NonZeroUsize::new(16_384).unwrap();
/// Events of the host's stream in which a restarted daemon looks for keys, the latest ones: several of the biggest reports.
const EVENTS_AFTER_RESTART: usize = 100_000;
/// Of them, those that are read at once.
const PAGE: usize = 4096;

/// A key, and the run within which it is unique.
type RunKey = (Option<RunId>, String);

/// Events that were sent together.
struct QueuedReport {
    events: Vec<AgentEvent>,
    reply: oneshot::Sender<Result<(), RunsError>>,
}

/// The queue of reports, and the task that records them.
pub(super) struct Recorder {
    queue: Mutex<Option<mpsc::Sender<QueuedReport>>>,
    recording: Mutex<Option<JoinHandle<()>>>,
    /// The reported runs, the one that changed last first.
    runs: Arc<Mutex<LruCache<RunId, ()>>>,
}

impl Recorder {
    pub(super) async fn start(log: Arc<dyn Log>) -> Result<Self, RunsError> {
        let rows = log.rows(RowKind::Run).await?;
        let mut known: Vec<RunSummary> = rows.iter().filter_map(|(_, body)| serde_json::from_str(body).ok()).collect();
        known.sort_by_key(|run| run.updated_at);
        let mut runs = LruCache::new(MAX_RUNS);
        for run in known {
            runs.put(run.run_id, ());
        }
        let runs = Arc::new(Mutex::new(runs));
        let keys = stored_keys(&*log).await?;
        let (queue, reports) = mpsc::channel(QUEUE);
        let task = Recording { log, runs: runs.clone(), cache: LruCache::new(CACHED_RUNS), keys };
        let recording = tokio::spawn(task.run(reports));
        Ok(Self { queue: Mutex::new(Some(queue)), recording: Mutex::new(Some(recording)), runs })
    }

    /// Records these events; resolves when they are committed.
    pub(super) async fn record(&self, events: Vec<AgentEvent>) -> Result<(), RunsError> {
        let queue = self.queue.lock().clone().ok_or(RunsError::Closing)?;
        let (reply, answer) = oneshot::channel();
        queue.send(QueuedReport { events, reply }).await.map_err(|_| RunsError::Closing)?;
        answer.await.unwrap_or(Err(RunsError::Closing))
    }

    /// The runs that were reported last.
    pub(super) fn latest(&self, limit: usize) -> Vec<RunId> {
        self.runs.lock().iter().map(|(run, ())| run.clone()).take(limit).collect()
    }

    pub(super) async fn close(&self) {
        self.queue.lock().take();
        let recording = self.recording.lock().take();
        if let Some(recording) = recording {
            // The task ends when its queue is empty; a panic of it was logged where it happened.
            let _ = recording.await;
        }
    }
}

/// The keys of the latest events, as a restarted daemon finds them in the log, whatever retention removed of it.
async fn stored_keys(log: &dyn Log) -> Result<LruCache<RunKey, ()>, RunsError> {
    let mut latest_first = Vec::new();
    let (mut before, mut seen) = (Seq::MAX, 0);
    while seen < EVENTS_AFTER_RESTART && latest_first.len() < MAX_KEYS.get() {
        let page = log.read_back(&StreamId::host(), before, &[], PAGE).await?;
        let Some(first) = page.batch.iter().next().map(|entry| entry.seq()) else { break };
        let events = page.batch.iter().filter_map(|entry| AgentEvent::from_body(&entry.event().ok()?.body));
        let keys: Vec<_> = events.filter_map(|event| Some((event.run_id(), event.idempotency_key?))).collect();
        latest_first.extend(keys.into_iter().rev());
        (before, seen) = (first, seen + page.batch.len());
        if !page.has_more {
            break;
        }
    }
    let mut keys = LruCache::new(MAX_KEYS);
    for key in latest_first.into_iter().take(MAX_KEYS.get()).rev() {
        keys.put(key, ());
    }
    Ok(keys)
}

/// The task that records.
struct Recording {
    log: Arc<dyn Log>,
    runs: Arc<Mutex<LruCache<RunId, ()>>>,
    cache: LruCache<RunId, RunSummary>,
    keys: LruCache<RunKey, ()>,
}

impl Recording {
    async fn run(mut self, mut queue: mpsc::Receiver<QueuedReport>) {
        let mut batch = Vec::with_capacity(BATCH);
        while queue.recv_many(&mut batch, BATCH).await > 0 {
            let (mut events, mut replies) = (Vec::new(), Vec::new());
            for QueuedReport { events: sent, reply } in batch.drain(..) {
                events.extend(sent);
                replies.push(reply);
            }
            let recorded = self.record(events).await;
            if let Err(error) = &recorded {
                tracing::error!(%error, "Events of agent runs could not be recorded.");
            }
            for reply in replies {
                let answer = match &recorded {
                    Ok(()) => Ok(()),
                    Err(error) => Err(RunsError::NotRecorded(error.to_string())),
                };
                // Who no longer waits has lost nothing.
                let _ = reply.send(answer);
            }
        }
    }

    async fn record(&mut self, events: Vec<AgentEvent>) -> Result<(), RunsError> {
        // One time for all, so that a replay, which goes by the time of an event, gives the same rows.
        let now = Timestamp::now();
        let mut changed: BTreeMap<RunId, RunSummary> = BTreeMap::new();
        let mut new_keys = HashSet::new();
        let mut new_events = Vec::with_capacity(events.len());
        for event in events {
            let run = event.run_id();
            if let Some(key) = event.idempotency_key.clone() {
                let key = (run.clone(), key);
                if self.keys.get(&key).is_some() || !new_keys.insert(key) {
                    continue;
                }
            }
            if let Some(run) = run {
                let before = match changed.remove(&run) {
                    Some(summary) => summary,
                    None => self.summary(&run).await?.unwrap_or_else(|| RunSummary::new(run.clone(), now)),
                };
                changed.insert(run, before.after(&event, now));
            }
            new_events.push(NewEvent::for_host(now, event.into_body()));
        }
        let mut rows = Vec::with_capacity(changed.len());
        for (run, summary) in &changed {
            let body = serde_json::to_string(summary).map_err(|error| RunsError::NotRecorded(error.to_string()))?;
            rows.push(RowChange { kind: RowKind::Run, id: run.to_string(), body: Some(body) });
        }
        rows.extend(self.make_room(&changed));
        self.log.keep(rows, new_events).await?;
        for (run, summary) in changed {
            self.runs.lock().put(run.clone(), ());
            self.cache.put(run, summary);
        }
        for key in new_keys {
            self.keys.put(key, ());
        }
        Ok(())
    }

    async fn summary(&mut self, run: &RunId) -> Result<Option<RunSummary>, RunsError> {
        match self.cache.get(run) {
            Some(summary) => Ok(Some(summary.clone())),
            None => reported(&*self.log, run).await,
        }
    }

    /// The rows of the oldest runs that must go so that these fit in.
    fn make_room(&mut self, changed: &BTreeMap<RunId, RunSummary>) -> Vec<RowChange> {
        let mut runs = self.runs.lock();
        let new = changed.keys().filter(|run| !runs.contains(run)).count();
        let too_many = (runs.len() + new).saturating_sub(MAX_RUNS.get());
        let old = runs.iter().rev().map(|(run, ())| run).filter(|run| !changed.contains_key(run));
        let oldest: Vec<_> = old.take(too_many).cloned().collect();
        for run in &oldest {
            runs.pop(run);
            self.cache.pop(run);
        }
        oldest.into_iter().map(|run| RowChange { kind: RowKind::Run, id: run.to_string(), body: None }).collect()
    }
}
