//! The fake adapter, and the test's side of the runtimes that the engine opens through it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use roost_engine::adapter::{AdapterError, Availability, OpenSession, Reattached, RuntimeAdapter, RuntimeSession};
use roost_engine::facts::RuntimeFacts;
use roost_engine::plain::{PlainSetting, Takes};
use roost_engine::{NativeMessage, NativeSession};
use roost_model::ids::RuntimeSessionId;
use roost_model::runtime::{
    AuthModel, AuthStatus, CancellationModel, McpSupport, PermissionModel, ResumeModel, RuntimeCapabilities,
    RuntimeEnv, RuntimeIsolationMode, RuntimeName, RuntimeStateModel, ToolExecutionModel, ToolReplaySafety,
};
use roost_process::records::Record;
use tokio::sync::{mpsc, oneshot, watch};

use super::STEPS;
use super::past::FakePast;
use super::session::{self, FakeSession};
use super::task::{self, FakeTask};
use crate::soon;

/// The fake's static facts: no known tools, and one setting that a device may choose.
static FACTS: RuntimeFacts = RuntimeFacts {
    plain_settings: &[PlainSetting { path: &["effort"], takes: Takes::OneOf(&["low", "high"]) }],
    thought_level: Some("effort"),
    steers: true,
    ..RuntimeFacts::UNKNOWN
};

/// The engine's side of the fake runtime.
pub struct FakeAdapter {
    name: RuntimeName,
    resume_model: ResumeModel,
    reattaches: AtomicBool,
    takes_images: AtomicBool,
    openings: mpsc::Sender<Opening>,
    /// What the adapter answers about its availability; while it is `None`, whoever asks waits.
    found: watch::Sender<Option<Availability>>,
    /// The history of conversations that the runtime has by itself.
    pub past: FakePast,
}

/// The test's side of the fake runtime.
pub struct FakeRuntimes {
    openings: mpsc::Receiver<Opening>,
}

/// The way in which the engine opens a runtime.
#[derive(Clone, Debug)]
pub enum How {
    /// As a new session.
    Create(OpenSession),
    /// As the continuation of this native session.
    Resume(OpenSession, RuntimeSessionId),
    /// As a fork of this native session.
    Fork(OpenSession, RuntimeSessionId),
    /// As the process of this record, which outlived its daemon.
    Reattach(Record),
}

/// A runtime that the engine is waiting for; the test accepts or refuses it. Dropped, it fails to start.
pub struct Opening {
    /// What the engine asked for.
    pub how: How,
    answer: oneshot::Sender<Result<Reattached, AdapterError>>,
}

impl FakeAdapter {
    /// A runtime called `fake` that continues sessions natively.
    pub fn new() -> (Arc<Self>, FakeRuntimes) {
        Self::with(ResumeModel::Native)
    }

    /// A runtime that continues sessions like this.
    pub fn with(resume_model: ResumeModel) -> (Arc<Self>, FakeRuntimes) {
        Self::named("fake", resume_model)
    }

    /// A runtime of this id that continues sessions like this.
    pub fn named(id: &str, resume_model: ResumeModel) -> (Arc<Self>, FakeRuntimes) {
        let (sender, openings) = mpsc::channel(STEPS);
        let (name, reattaches, takes_images) = (RuntimeName::from_id(id), false.into(), true.into());
        let found = watch::Sender::new(Some(Availability::Installed { version: None }));
        let past = FakePast::default();
        let adapter = Self { name, resume_model, reattaches, takes_images, openings: sender, found, past };
        (Arc::new(adapter), FakeRuntimes { openings })
    }

    /// Sets the availability from now on; with `None`, whoever asks waits for the next call of this.
    pub fn is_found(&self, found: Option<Availability>) {
        self.found.send_replace(found);
    }

    /// Waits until somebody asks for its availability and has to wait.
    pub async fn looked_for(&self) {
        let looked = async {
            while self.found.receiver_count() == 0 {
                tokio::task::yield_now().await;
            }
        };
        soon("somebody looks for the runtime", looked).await;
    }

    /// Waits until nobody waits for its availability any more.
    pub async fn given_up(&self) {
        soon("nobody looks for the runtime", self.found.closed()).await;
    }

    /// From now on the test is offered processes that outlived a daemon.
    pub fn offer_survivors(&self) {
        self.reattaches.store(true, Ordering::Relaxed);
    }

    /// From now on it takes no images.
    pub fn refuse_images(&self) {
        self.takes_images.store(false, Ordering::Relaxed);
    }

    async fn open(&self, how: How) -> Result<Reattached, AdapterError> {
        let gone = || AdapterError::Spawn("the test is over".into());
        let (answer, answered) = oneshot::channel();
        self.openings.send(Opening { how, answer }).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

impl FakeRuntimes {
    /// The next runtime that the engine wants.
    pub async fn opening(&mut self) -> Opening {
        soon("the engine opens a runtime", self.openings.recv()).await.expect("the adapter is alive")
    }

    /// The next runtime that the engine wants, however long that takes; `None` when no engine is left.
    pub async fn next(&mut self) -> Option<Opening> {
        self.openings.recv().await
    }

    /// The next runtime that the engine wants, opened.
    pub async fn session(&mut self) -> FakeSession {
        self.opening().await.accept()
    }

    /// The next runtime that the engine wants, opened, and its first task.
    pub async fn task(&mut self) -> (FakeSession, FakeTask) {
        let mut session = self.session().await;
        let task = session.task().await;
        (session, task)
    }

    /// True if the engine has asked for no runtime that the test has not taken.
    pub fn is_idle(&self) -> bool {
        self.openings.is_empty()
    }
}

impl Opening {
    /// Opens it; its native id is the one it is resumed by, or `native-` and the session's.
    pub fn accept(self) -> FakeSession {
        let native = match &self.how {
            How::Create(open) | How::Fork(open, _) => format!("native-{}", open.session_id),
            How::Resume(_, native) => native.to_string(),
            How::Reattach(record) => format!("native-{}", record.label),
        };
        self.accept_as(&native)
    }

    /// Opens it under this native id.
    pub fn accept_as(self, native: &str) -> FakeSession {
        let (session, fake) = session::pair(native.into());
        let _ = self.answer.send(Ok(Reattached { session: Box::new(session), task: None }));
        fake
    }

    /// Opens it with a task that runs already.
    pub fn accept_running(self, native: &str) -> (FakeSession, FakeTask) {
        let (session, fake) = session::pair(native.into());
        let (task, running) = task::pair(None);
        let _ = self.answer.send(Ok(Reattached { session: Box::new(session), task: Some(running) }));
        (fake, task)
    }

    /// Fails the engine's request with this error.
    pub fn refuse(self, error: AdapterError) {
        let _ = self.answer.send(Err(error));
    }

    /// Waits until the engine no longer wants it.
    pub async fn abandoned(&mut self) {
        soon("the engine gives up a runtime that is being opened", self.answer.closed()).await;
    }
}

#[async_trait]
impl RuntimeAdapter for FakeAdapter {
    fn name(&self) -> RuntimeName {
        self.name.clone()
    }

    fn display_name(&self) -> &str {
        "Fake"
    }

    fn facts(&self) -> &'static RuntimeFacts {
        &FACTS
    }

    fn capabilities(&self) -> RuntimeCapabilities {
        RuntimeCapabilities {
            supports_streaming: true,
            supports_tool_calls: true,
            supports_parallel_tool_calls: true,
            supports_stop: true,
            supports_artifacts: false,
            supports_session_create: true,
            supports_session_resume: self.resume_model == ResumeModel::Native,
            supports_usage_reporting: true,
            supports_non_interactive: true,
            max_outstanding_tool_calls: None,
            auth_model: AuthModel::Unknown,
            tool_execution_model: ToolExecutionModel::RuntimeInternal,
            permission_model: PermissionModel::Hybrid,
            state_model: RuntimeStateModel::InProcess,
            resume_model: self.resume_model,
            tool_replay_safety: ToolReplaySafety::RequiresReapproval,
            mcp_support: McpSupport::None,
            mcp_transports: None,
            cancellation_model: CancellationModel::BestEffort,
            supported_isolation_modes: vec![RuntimeIsolationMode::InProcess],
            recommended_isolation_mode: RuntimeIsolationMode::InProcess,
        }
    }

    fn asks_questions(&self) -> bool {
        true
    }

    fn takes_images(&self) -> bool {
        self.takes_images.load(Ordering::Relaxed)
    }

    async fn availability(&self, _: &RuntimeEnv) -> Availability {
        let mut found = self.found.subscribe();
        let found = found.wait_for(Option::is_some).await.ok().and_then(|found| found.clone());
        found.expect("the sender lives as long as the adapter")
    }

    async fn auth_status(&self, _: &RuntimeEnv) -> AuthStatus {
        let auth_model = AuthModel::Unknown;
        AuthStatus { ok: true, logged_in: true, auth_model, account_label: None, details: None }
    }

    async fn ensure_login(&self, _: &RuntimeEnv) -> Option<String> {
        None
    }

    async fn create_session(&self, open: OpenSession) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        self.open(How::Create(open)).await.map(|opened| opened.session)
    }

    async fn resume_session(
        &self,
        open: OpenSession,
        native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        if self.resume_model != ResumeModel::Native {
            return Err(AdapterError::UnknownSession(native));
        }
        self.open(How::Resume(open, native)).await.map(|opened| opened.session)
    }

    async fn fork_session(
        &self,
        open: OpenSession,
        native: RuntimeSessionId,
    ) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        self.open(How::Fork(open, native)).await.map(|opened| opened.session)
    }

    async fn past_sessions(&self, env: &RuntimeEnv) -> io::Result<Vec<NativeSession>> {
        self.past.sessions(env)
    }

    async fn past_messages(&self, _: &RuntimeEnv, id: &RuntimeSessionId) -> io::Result<Option<Vec<NativeMessage>>> {
        Ok(self.past.messages(id.as_str()))
    }

    async fn past_stamp(&self, _: &RuntimeEnv, id: &RuntimeSessionId) -> Option<u64> {
        self.past.stamp(id.as_str())
    }

    async fn reattach(&self, record: &Record) -> Option<Reattached> {
        if !self.reattaches.load(Ordering::Relaxed) {
            return None;
        }
        self.open(How::Reattach(record.clone())).await.ok()
    }
}
