//! A call about a session reads it from the log once, however many parts of Roost need it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use roost_engine::Engine;
use roost_log::{
    BackPage, BoxFuture, DatedRule, Filter, Follower, Health, Log, LogOptions, Page, Receipt, Result, RowChange,
    RowKind, Seq, SqliteLog, Start, Storage, StreamId,
};
use roost_model::approval::Pending;
use roost_model::event::{NewEvent, NormalizedEventType};
use roost_model::ids::SessionId;
use roost_model::session::SessionRecord;
use roost_model::time::Timestamp;
use serde_json::json;
use testkit::{Harness, Home};
use tokio::sync::watch;

use crate::kit::Door;

/// A log that counts how often a session is read from it.
#[derive(Clone)]
struct CountingLog {
    log: SqliteLog,
    reads: Arc<AtomicUsize>,
}

impl Log for CountingLog {
    fn session(&self, id: &str) -> BoxFuture<'_, Result<Option<SessionRecord>>> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.log.session(id)
    }

    fn append(&self, stream: &StreamId, events: Vec<NewEvent>) -> BoxFuture<'_, Result<Receipt>> {
        self.log.append(stream, events)
    }

    fn keep(&self, changes: Vec<RowChange>, events: Vec<NewEvent>) -> BoxFuture<'_, Result<()>> {
        self.log.keep(changes, events)
    }

    fn rows(&self, kind: RowKind) -> BoxFuture<'_, Result<Vec<(String, String)>>> {
        self.log.rows(kind)
    }

    fn row(&self, kind: RowKind, id: &str) -> BoxFuture<'_, Result<Option<String>>> {
        self.log.row(kind, id)
    }

    fn read(&self, stream: &StreamId, after: Seq, limit: usize) -> BoxFuture<'_, Result<Page>> {
        self.log.read(stream, after, limit)
    }

    fn read_back(
        &self,
        stream: &StreamId,
        before: Seq,
        types: &[NormalizedEventType],
        limit: usize,
    ) -> BoxFuture<'_, Result<BackPage>> {
        self.log.read_back(stream, before, types, limit)
    }

    fn follow(&self, filter: Filter, start: Start) -> BoxFuture<'_, Result<Follower>> {
        self.log.follow(filter, start)
    }

    fn sessions(&self, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>>> {
        self.log.sessions(limit)
    }

    fn open_tasks(&self) -> BoxFuture<'_, Result<Vec<SessionRecord>>> {
        self.log.open_tasks()
    }

    fn unclosed(&self) -> BoxFuture<'_, Result<Vec<SessionRecord>>> {
        self.log.unclosed()
    }

    fn pending(&self, session: Option<&SessionId>) -> BoxFuture<'_, Result<Vec<Arc<Pending>>>> {
        self.log.pending(session)
    }

    fn remembered(&self) -> BoxFuture<'_, Result<Vec<DatedRule>>> {
        self.log.remembered()
    }

    fn oldest(&self) -> BoxFuture<'_, Result<Option<Timestamp>>> {
        self.log.oldest()
    }

    fn storage(&self) -> BoxFuture<'_, Result<Storage>> {
        self.log.storage()
    }

    fn health(&self) -> watch::Receiver<Health> {
        self.log.health()
    }
}

#[tokio::test]
async fn a_call_about_a_live_session_reads_it_once() {
    let home = Home::new();
    let reads = Arc::new(AtomicUsize::new(0));
    let log = SqliteLog::open(&home.lock().await, LogOptions::default()).unwrap();
    let counting = CountingLog { log: log.clone(), reads: reads.clone() };
    let engine = Engine::start(Arc::new(counting.clone()), home.runtimes(), home.config(|_| {})).await.unwrap();
    let harness = Harness { engine: Arc::new(engine), log, home };
    let mut door = Door::over_log(harness, Arc::new(counting), |_| {}).await;
    // At the local door nothing is followed unasked, so nobody else reads the session.
    let mut client = door.local().await;
    let workspace = door.workspace().await;
    let sent = client.call("session/send", json!({ "workspace_id": workspace, "prompt": "go" })).await.unwrap();
    let session = sent["session_id"].as_str().unwrap();
    let (_runtime, _agent) = door.runtimes().task().await;
    door.harness.wait_for(&session.into(), NormalizedEventType::ModelInput).await;
    reads.store(0, Ordering::SeqCst);
    client.call("session/send", json!({ "session_id": session, "prompt": "and then" })).await.unwrap();
    assert_eq!(reads.swap(0, Ordering::SeqCst), 1, "session/send");
    let respond = json!({ "session_id": session, "type": "permission", "response": "yes" });
    client.call("session/respond", respond).await.unwrap_err();
    assert_eq!(reads.swap(0, Ordering::SeqCst), 1, "session/respond");
}
