//! An engine over the fake runtime and a real log, in a directory of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use roost_engine::{Accepted, Config, Engine, Environments, Error, NewSession, Prompt, Runtimes};
use roost_log::{Filter, Log, LogOptions, SqliteLog, Start, StateLock, StreamId};
use roost_model::event::{NormalizedEvent, NormalizedEventType};
use roost_model::ids::{PromptId, SessionId, TaskId};
use roost_model::mode::Mode;
use roost_model::registry::RuntimeStatus;
use roost_model::runtime::ResumeModel;
use roost_model::session::SessionRecord;
use roost_process::records::Record;
use roost_process::{Environment, Isolation, Process, RunId};
use tempfile::TempDir;

use crate::fake::{FakeAdapter, FakeRuntimes};
use crate::soon;

/// How often a state lock that is still held is tried again.
const LOCK_POLL: Duration = Duration::from_millis(5);

/// A temporary state directory and a fake runtime. It outlives the engines that are started in it.
pub struct Home {
    dir: TempDir,
    /// The engine's side of the fake runtime.
    pub adapter: Arc<FakeAdapter>,
    /// The test's side of the fake runtime.
    pub runtimes: FakeRuntimes,
    /// The status with which the runtime is registered; `Active` unless a test changes it.
    pub status: RuntimeStatus,
}

/// A running engine and what it runs in: a home with the fake runtime, unless another is named.
pub struct Harness<H = Home> {
    /// The engine under test.
    pub engine: Arc<Engine>,
    /// The log that the engine writes; tests read their events from it.
    pub log: SqliteLog,
    /// The folders and the runtime, which the next engine gets too.
    pub home: H,
}

impl Home {
    /// An empty directory, and a runtime that continues sessions natively.
    pub fn new() -> Self {
        Self::with(ResumeModel::Native)
    }

    /// An empty directory, and a runtime that continues sessions like this.
    pub fn with(resume_model: ResumeModel) -> Self {
        let (adapter, runtimes) = FakeAdapter::with(resume_model);
        Self { dir: TempDir::new().unwrap(), adapter, runtimes, status: RuntimeStatus::Active }
    }

    /// The temporary directory; also the working directory of sessions.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Starts an engine with the default limits.
    pub async fn start(self) -> Harness {
        self.start_with(|_| {}).await
    }

    /// Starts an engine with other limits.
    pub async fn start_with(self, configure: impl FnOnce(&mut Config)) -> Harness {
        self.start_on(LogOptions::default(), configure).await
    }

    /// Starts an engine with other limits on a log with other options.
    pub async fn start_on(self, options: LogOptions, configure: impl FnOnce(&mut Config)) -> Harness {
        let log = SqliteLog::open(&self.lock().await, options).unwrap();
        let engine = Engine::start(Arc::new(log.clone()), self.runtimes(), self.config(configure)).await.unwrap();
        Harness { engine: Arc::new(engine), log, home: self }
    }

    /// The configuration of an engine in this home, with the caller's changes.
    pub fn config(&self, configure: impl FnOnce(&mut Config)) -> Config {
        let namespaces = self.path().join("namespaces");
        let environments = Environments { base: Environment::default(), namespaces, isolation: Isolation::Shared };
        let mut config = Config::new(environments, self.records(), self.path().join("artifacts"));
        configure(&mut config);
        config
    }

    /// A registry with the fake runtime as its only one.
    pub fn runtimes(&self) -> Runtimes {
        let mut runtimes = Runtimes::default();
        runtimes.register(self.adapter.clone(), self.status);
        runtimes
    }

    /// Writes a record as if a process of this session had outlived its daemon; there is no such process.
    pub fn leave_process(&self, session: &SessionId) {
        let nobody = Process { pid: u32::MAX, start_time: 1 };
        let record = Record {
            run: RunId::fresh(),
            label: session.to_string(),
            boot: "another".into(),
            holder: nobody,
            runtime: nobody,
            cgroup: None,
        };
        std::fs::create_dir_all(self.records()).unwrap();
        let path = self.records().join(format!("{}.json", record.run));
        std::fs::write(path, serde_json::to_vec(&record).unwrap()).unwrap();
    }

    fn records(&self) -> PathBuf {
        self.path().join("records")
    }

    /// Takes the state lock; waits until an earlier engine has released it.
    pub async fn lock(&self) -> StateLock {
        lock(self.path()).await
    }
}

/// Takes the lock of a state directory; waits until an earlier engine has released it.
pub(crate) async fn lock(state: &Path) -> StateLock {
    let taken = async {
        loop {
            match StateLock::acquire(state, "test") {
                Ok(lock) => return lock,
                Err(roost_log::Error::Held { .. }) => tokio::time::sleep(LOCK_POLL).await,
                Err(error) => panic!("{error}"),
            }
        }
    };
    soon("the state directory is free", taken).await
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Harness {
    /// Starts an engine with the default limits in a new home.
    pub async fn start() -> Self {
        Home::new().start().await
    }

    /// The test's side of the fake runtime.
    pub fn runtimes(&mut self) -> &mut FakeRuntimes {
        &mut self.home.runtimes
    }

    /// The request for a session in this home's directory.
    pub fn new_session(&self, mode: Mode) -> NewSession {
        NewSession { mode, ..NewSession::within(self.home.path()) }
    }

    /// Creates a session in the mode `ask`.
    pub async fn session(&self) -> SessionId {
        self.session_in(Mode::Ask).await
    }

    /// Creates a session in this mode.
    pub async fn session_in(&self, mode: Mode) -> SessionId {
        self.engine.create_session(self.new_session(mode)).await.unwrap()
    }
}

impl<H> Harness<H> {
    /// Sends a prompt to a session.
    pub async fn prompt(&self, session: &SessionId, text: &str) -> Result<Accepted, Error> {
        soon("a prompt is answered", self.engine.prompt(session.as_str(), Prompt::text(text))).await
    }

    /// Sends a prompt to a session that is idle; panics if it is queued.
    pub async fn begin(&self, session: &SessionId, text: &str) -> TaskId {
        match self.prompt(session, text).await.unwrap() {
            Accepted::Started(task) => task,
            other => panic!("the session is busy: {other:?}"),
        }
    }

    /// Sends a prompt to a session that is busy; panics if it starts at once.
    pub async fn queue(&self, session: &SessionId, text: &str) -> PromptId {
        match self.prompt(session, text).await.unwrap() {
            Accepted::Queued(prompt) => prompt,
            other => panic!("the prompt does not wait: {other:?}"),
        }
    }

    /// All events that the session has by now.
    pub async fn events(&self, session: &SessionId) -> Vec<NormalizedEvent> {
        let (mut events, stream) = (Vec::new(), StreamId::from(session));
        loop {
            let page = self.log.read(&stream, events.len() as u64, 4096).await.unwrap();
            events.extend(page.batch.iter().map(|entry| entry.event().unwrap().clone()));
            if events.len() as u64 >= page.last_seq {
                return events;
            }
        }
    }

    /// The types of all events that the session has by now.
    pub async fn types(&self, session: &SessionId) -> Vec<String> {
        self.events(session).await.iter().map(|event| event.body.name().to_owned()).collect()
    }

    /// Waits for the session's first event of this type.
    pub async fn wait_for(&self, session: &SessionId, wanted: NormalizedEventType) -> NormalizedEvent {
        self.wait_until(session, wanted.as_str(), |event| event.body.event_type() == Some(wanted)).await
    }

    /// Waits for the end of this task.
    pub async fn wait_for_end(&self, session: &SessionId, task: &TaskId) -> NormalizedEvent {
        let ends = |event: &NormalizedEvent| event.body.ends_task() && event.trace.task_id.as_ref() == Some(task);
        self.wait_until(session, "the end of the task", ends).await
    }

    /// Waits for the first of the session's events that fits.
    pub async fn wait_until(
        &self,
        session: &SessionId,
        what: &str,
        fits: impl Fn(&NormalizedEvent) -> bool,
    ) -> NormalizedEvent {
        let stream = StreamId::from(session);
        let mut follower = self.log.follow(Filter::stream(stream.clone()), Start::AfterSeq(stream, 0)).await.unwrap();
        let found = async {
            loop {
                let batch = follower.next().await.unwrap();
                if let Some(found) = batch.iter().map(|entry| entry.event().unwrap()).find(|event| fits(event)) {
                    return found.clone();
                }
            }
        };
        soon(what, found).await
    }

    /// The session's record in the log.
    pub async fn record(&self, session: &SessionId) -> SessionRecord {
        self.log.session(session.as_str()).await.unwrap().unwrap()
    }

    /// Closes the log under the engine, as `kill -9` would: nothing more is recorded.
    pub async fn crash(self) -> H {
        self.log.close().await;
        self.home
    }

    /// Shuts the engine down and closes the log.
    pub async fn stop(self) -> H {
        soon("the engine stops", self.engine.shutdown("the test is over")).await;
        self.log.close().await;
        self.home
    }
}
