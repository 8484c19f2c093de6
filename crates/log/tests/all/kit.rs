//! What the tests share: a log in its own directory, and events to put into it.

use std::path::Path;
use std::time::Duration;

use roost_log::{Batch, Follower, Log, LogOptions, Seq, SqliteLog, StateLock, StreamId};
use roost_model::event::{EventBody, NewEvent, RuntimeRef, Trace};
use roost_model::ids::{SessionId, TaskId};
use roost_model::mode::{Mode, PermissionMode};
use roost_model::payload::{
    ModelOutputDeltaKind, ModelOutputDeltaPayload, SessionCreatedPayload, SessionUpdatedPayload, TaskCompletedPayload,
    TaskStartedPayload,
};
use roost_model::runtime::{InteractionMode, RuntimeName};
use roost_model::time::Timestamp;
use tempfile::TempDir;

/// Long enough for the slowest machine, short enough to notice a hang.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);
/// The time of all test events, unless they say otherwise.
pub(crate) const NOW: i64 = 1_790_000_000_000;

pub(crate) struct Home {
    pub(crate) dir: TempDir,
    pub(crate) log: SqliteLog,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self::with(LogOptions::default())
    }

    pub(crate) fn with(options: LogOptions) -> Self {
        let dir = TempDir::new().unwrap();
        let log = open(dir.path(), options);
        Self { dir, log }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }
}

pub(crate) fn open(dir: &Path, options: LogOptions) -> SqliteLog {
    let lock = StateLock::acquire(dir, "test").unwrap();
    SqliteLog::open(&lock, options).unwrap()
}

pub(crate) fn tiny_ring() -> LogOptions {
    LogOptions { ring_bytes: 4096, ..LogOptions::default() }
}

pub(crate) fn event(session: &str, body: impl Into<EventBody>) -> NewEvent {
    NewEvent {
        time: Timestamp::from_millis(NOW),
        trace: Trace { task_id: Some(TaskId::from("task_1")), ..Trace::session(SessionId::from(session)) },
        runtime: RuntimeRef::new(RuntimeName::Demo),
        body: body.into(),
    }
}

pub(crate) fn at(millis: i64, event: NewEvent) -> NewEvent {
    NewEvent { time: Timestamp::from_millis(millis), ..event }
}

pub(crate) fn delta(session: &str, text: &str) -> NewEvent {
    let kind = ModelOutputDeltaKind::TextDelta;
    let delta = text.into();
    event(session, ModelOutputDeltaPayload { kind, block_id: "b".into(), delta, tool_call_id: None, language: None })
}

pub(crate) fn deltas(session: &str, count: usize) -> Vec<NewEvent> {
    (0..count).map(|n| delta(session, &n.to_string())).collect()
}

pub(crate) fn created(session: &str) -> NewEvent {
    event(
        session,
        SessionCreatedPayload {
            contract_version: "1".into(),
            runtime: RuntimeName::Demo,
            cwd: "/work".into(),
            credential_namespace: "default".into(),
            title: None,
            model: None,
            permission_mode: PermissionMode::Ask,
            mode: Mode::Ask,
            workspace_id: None,
            isolation: None,
            env: Vec::new(),
            mcp_servers: Vec::new(),
            runtime_config: None,
            runtime_config_hash: None,
            adopted: None,
            forked: None,
        },
    )
}

pub(crate) fn known_as(session: &str, native: &str) -> NewEvent {
    event(session, SessionUpdatedPayload { runtime_session_id: Some(native.into()), ..Default::default() })
}

pub(crate) fn started(session: &str) -> NewEvent {
    event(
        session,
        TaskStartedPayload {
            messages: Vec::new(),
            permission_mode: PermissionMode::Ask,
            mode: Mode::Ask,
            interaction_mode: InteractionMode::NonInteractive,
            prompt_id: None,
        },
    )
}

pub(crate) fn completed(session: &str) -> NewEvent {
    event(session, TaskCompletedPayload { reason: "end_turn".into() })
}

/// A text of this length that cannot be compressed much, and another one for each `n`.
pub(crate) fn noise(n: usize, length: usize) -> String {
    let mut seed = n as u64 + 1;
    let letter = |_| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'0' + (seed >> 33) as u8 % 43)
    };
    (0..length).map(letter).collect()
}

/// Appends and waits for the commit.
pub(crate) async fn store(log: &dyn Log, stream: &str, events: Vec<NewEvent>) -> roost_log::Appended {
    log.append(&StreamId::from(stream), events).await.unwrap().await.unwrap()
}

pub(crate) async fn next(follower: &mut Follower) -> roost_log::Result<Batch> {
    tokio::time::timeout(DEADLINE, follower.next()).await.expect("the follower waits for ever")
}

/// Follows until this many events came.
pub(crate) async fn take(follower: &mut Follower, count: usize) -> Vec<(String, Seq)> {
    let mut seen = Vec::new();
    while seen.len() < count {
        seen.extend(next(follower).await.unwrap().iter().map(|entry| (entry.stream().to_string(), entry.seq())));
    }
    seen
}

/// The places 1 to `last` of a stream.
pub(crate) fn places(stream: &str, last: Seq) -> Vec<(String, Seq)> {
    (1..=last).map(|seq| (stream.to_owned(), seq)).collect()
}

/// Everything stored in a stream.
pub(crate) async fn read_all(log: &dyn Log, stream: &str) -> Vec<String> {
    let (stream, mut lines) = (StreamId::from(stream), Vec::new());
    loop {
        let page = log.read(&stream, lines.len() as Seq, usize::MAX).await.unwrap();
        if page.batch.is_empty() {
            assert_eq!(page.last_seq, lines.len() as Seq);
            return lines;
        }
        lines.extend(page.batch.iter().map(|entry| entry.json().to_owned()));
    }
}
