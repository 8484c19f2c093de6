//! The fixture of the contract's tests: an engine over the adapter under test, a log, a working directory and a home.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use roost_engine::adapter::{Answer, McpServer, RuntimeAdapter};
use roost_engine::{
    Accepted, Approver, Config, Decision, Engine, Environments, NewSession, Prompt, Response, ResponseTo, Runtimes,
};
use roost_log::{Filter, Log, LogOptions, SqliteLog, Start, StreamId};
use roost_model::approval::{Answerer, ApprovalScope};
use roost_model::content::AssistantContentBlock;
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::{SessionId, TaskId};
use roost_model::mode::Mode;
use roost_model::payload::{ApprovalRequestedPayload, QuestionAskedPayload};
use roost_model::registry::RuntimeStatus;
use roost_model::runtime::{RuntimeCapabilities, RuntimeEnv};
use roost_process::{Environment, Isolation, Process, records};
use tempfile::TempDir;
use tokio::sync::OnceCell;

use super::lying::{Lie, LyingAdapter};
use super::{Script, Subject};
use crate::harness::{Harness, lock};
use crate::soon;

/// A variable in the environment of every process of a stage, by which it is found again.
const MARK: &str = "ROOST_CONTRACT_STAGE";
/// How often the list of processes is read while waiting for them to end.
const POLL: Duration = Duration::from_millis(10);

/// A running engine over the adapter under test. [`restart_lying`](Stage::restart_lying) and the like replace both.
pub struct Stage {
    /// `None` only between two engines.
    host: Option<Harness<StageHome>>,
    pub(super) adapter: Arc<dyn RuntimeAdapter>,
    pub(super) script: Script,
    /// The session of [`conversation`](Stage::conversation), once it is open.
    conversation: OnceCell<SessionId>,
}

/// The folders of a stage and how its daemons are made. It outlives the engines.
pub(super) struct StageHome {
    dir: TempDir,
    make: Box<dyn Fn(PathBuf) -> Subject>,
    /// The tool server that sessions are opened with; `None` means the script's first.
    offered: Arc<Mutex<Option<McpServer>>>,
    /// The lie about the subject's calls, in tests that want one.
    lie: Option<Lie>,
    /// How often the subject accepted a decision about another attempt.
    believed: Arc<AtomicUsize>,
}

impl StageHome {
    pub(super) fn work(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// The `HOME` of the runtime, which starts empty.
    pub(super) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    /// Opens every session from now on with this tool server.
    pub(super) fn offer(&self, server: &McpServer) {
        *self.offered.lock() = Some(server.clone());
    }

    fn records(&self) -> PathBuf {
        self.dir.path().join("records")
    }

    fn environment(&self) -> Environment {
        let mut environment = Environment::default();
        environment.set("HOME", self.home()).set(MARK, self.dir.path());
        environment.set("PATH", std::env::var_os("PATH").unwrap_or_default());
        environment
    }

    /// Starts a new daemon, which knows only the files of an earlier one.
    async fn start(&self) -> (Subject, Arc<Engine>, SqliteLog) {
        let subject = (self.make)(self.records());
        let log = SqliteLog::open(&lock(&self.dir.path().join("state")).await, LogOptions::default()).unwrap();
        let mut runtimes = Runtimes::default();
        let honest = subject.adapter.clone();
        let adapter: Arc<dyn RuntimeAdapter> = match self.lie {
            Some(lie) => Arc::new(LyingAdapter { honest, lie, believed: self.believed.clone() }),
            None => honest,
        };
        runtimes.register(adapter, RuntimeStatus::Active);
        let (base, namespaces) = (self.environment(), self.dir.path().join("namespaces"));
        let environments = Environments { base, namespaces, isolation: Isolation::Shared };
        let mut config = Config::new(environments, self.records(), self.dir.path().join("artifacts"));
        if let Some(used) = &subject.script.use_server {
            let (offered, first) = (self.offered.clone(), used.servers[0].clone());
            config.mcp_servers = Arc::new(move |_, _| vec![offered.lock().clone().unwrap_or_else(|| first.clone())]);
        }
        let engine = Engine::start(Arc::new(log.clone()), runtimes, config).await.unwrap();
        (subject, Arc::new(engine), log)
    }
}

impl Stage {
    pub(super) async fn open(make: Box<dyn Fn(PathBuf) -> Subject>) -> Self {
        let dir = TempDir::new().unwrap();
        let home = StageHome { dir, make, offered: Arc::default(), lie: None, believed: Arc::default() };
        for folder in [home.work(), home.home()] {
            std::fs::create_dir(folder).unwrap();
        }
        let (Subject { adapter, script }, engine, log) = home.start().await;
        Self { host: Some(Harness { engine, log, home }), adapter, script, conversation: OnceCell::new() }
    }

    pub(super) fn host(&self) -> &Harness<StageHome> {
        self.host.as_ref().expect("an engine runs")
    }

    /// Stops the engine and starts another whose adapter lies like this.
    pub(super) async fn restart_lying(&mut self, lie: Lie) {
        self.host.as_mut().expect("an engine runs").home.lie = Some(lie);
        self.restart().await;
    }

    /// How often the adapter accepted a decision about another attempt.
    pub(super) fn believed(&self) -> usize {
        self.host().home.believed.load(Ordering::Relaxed)
    }

    /// Stops the engine and starts another with a new adapter, which knows only what is on disk.
    pub(super) async fn restart(&mut self) {
        let home = self.host.take().expect("an engine runs").stop().await;
        let (Subject { adapter, .. }, engine, log) = home.start().await;
        self.adapter = adapter;
        self.conversation = OnceCell::new();
        self.host = Some(Harness { engine, log, home });
    }

    /// Stops the engine and waits until no process of it is left.
    pub(super) async fn close(self) {
        soon("the engine stops", self.host().engine.shutdown("the test is over")).await;
        self.host().log.close().await;
        self.no_process_is_left().await;
    }

    /// The capabilities after a first task: some runtimes tell theirs only when they start.
    pub(super) async fn capabilities(&self) -> RuntimeCapabilities {
        let session = self.conversation().await;
        self.run(&session, self.script.say).await;
        self.adapter.capabilities()
    }

    /// A session that tests may share, because they look at no more than the tasks that they start in it. Starting a
    /// runtime takes most of a test's time.
    pub(super) async fn conversation(&self) -> SessionId {
        self.conversation.get_or_init(|| self.session(Mode::Ask)).await.clone()
    }

    /// Makes way for the next test of a conversation: removes the files that this one left, and ends the conversation
    /// if it failed.
    pub(super) async fn clear(&mut self, failed: bool) {
        for file in self.files() {
            std::fs::remove_file(self.host().home.work().join(file)).unwrap();
        }
        if failed && let Some(session) = self.conversation.take() {
            soon("a close", self.host().engine.close(session.as_str(), "the test failed")).await.unwrap();
        }
    }

    pub(super) async fn session(&self, mode: Mode) -> SessionId {
        let new = NewSession { mode, ..NewSession::within(self.host().home.work()) };
        self.host().engine.create_session(new).await.unwrap()
    }

    /// Sends a prompt and returns when its task has begun.
    pub(super) async fn begin(&self, session: &SessionId, text: &str, approver: Approver) -> TaskId {
        let prompt = Prompt { approver, ..Prompt::text(text) };
        match soon("a prompt is taken", self.host().engine.prompt(session.as_str(), prompt)).await.unwrap() {
            Accepted::Started(task) | Accepted::Steered(task) => task,
            Accepted::Queued(prompt) => {
                let begins = |event: &NormalizedEvent| match &event.body {
                    EventBody::TaskStarted(started) => started.prompt_id.as_ref() == Some(&prompt),
                    _ => false,
                };
                let started = self.host().wait_until(session, "a queued prompt begins", begins).await;
                started.trace.task_id.unwrap()
            }
        }
    }

    /// Runs a prompt while nobody answers approvals, and returns the events of its task.
    pub(super) async fn run(&self, session: &SessionId, text: &str) -> Vec<NormalizedEvent> {
        let task = self.begin(session, text, Approver::Nobody).await;
        self.host().wait_for_end(session, &task).await;
        self.events_of(session, &task).await
    }

    /// Runs a prompt, answers every approval with this decision and every question with its first choice, and returns the
    /// events of its task.
    pub(super) async fn run_answering(
        &self,
        session: &SessionId,
        text: &str,
        decision: Decision,
    ) -> Vec<NormalizedEvent> {
        let task = self.begin(session, text, Approver::Present).await;
        let stream = StreamId::from(session);
        let follower = self.host().log.follow(Filter::stream(stream.clone()), Start::AfterSeq(stream, 0));
        let mut follower = follower.await.unwrap();
        let answering = async {
            loop {
                let batch = follower.next().await.unwrap();
                for entry in &batch {
                    let event = entry.event().unwrap();
                    if event.trace.task_id.as_ref() != Some(&task) {
                        continue;
                    }
                    match &event.body {
                        EventBody::ApprovalRequested(request) => self.answer(session, request, decision.clone()).await,
                        EventBody::QuestionAsked(asked) => self.answer_question(session, asked).await,
                        body if body.ends_task() => return,
                        _ => {}
                    }
                }
            }
        };
        soon("the task ends", answering).await;
        self.events_of(session, &task).await
    }

    pub(super) async fn run_allowing(&self, session: &SessionId, text: &str) -> Vec<NormalizedEvent> {
        self.run_answering(session, text, Decision::Allow { scope: ApprovalScope::Once }).await
    }

    pub(super) async fn answer(&self, session: &SessionId, request: &ApprovalRequestedPayload, decision: Decision) {
        let identity = &request.identity;
        self.respond(
            session,
            ResponseTo::Approval {
                call: identity.tool_call_id.clone(),
                attempt: Some(identity.attempt),
                input_hash: Some(identity.input_hash.clone()),
                decision,
            },
        )
        .await;
    }

    /// Answers with the first option of every field.
    async fn answer_question(&self, session: &SessionId, asked: &QuestionAskedPayload) {
        let first = |options: &[roost_model::payload::QuestionOption]| match options {
            [first, ..] => first.value.clone(),
            [] => "because".to_owned(),
        };
        let answers = asked.fields.iter().map(|field| (field.id.clone(), vec![first(&field.options)])).collect();
        let (question, answer) = (asked.question_id.clone(), Answer::Given(answers));
        self.respond(session, ResponseTo::Question { question, answer }).await;
    }

    async fn respond(&self, session: &SessionId, to: ResponseTo) {
        let by = Answerer { from: Some("contract".into()), ..Answerer::default() };
        let response = Response { to, by, key: None };
        soon("an answer is taken", self.host().engine.respond(session.as_str(), response)).await.unwrap();
    }

    pub(super) async fn events_of(&self, session: &SessionId, task: &TaskId) -> Vec<NormalizedEvent> {
        let all = self.host().events(session).await;
        all.into_iter().filter(|event| event.trace.task_id.as_ref() == Some(task)).collect()
    }

    /// The environment of a session's runtime, with another `HOME`.
    pub(super) fn env_with_home(&self, home: &Path) -> RuntimeEnv {
        let mut environment = self.host().home.environment();
        environment.set("HOME", home);
        let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
        RuntimeEnv {
            cwd: self.host().home.work().display().to_string(),
            env: environment.iter().map(|(name, value)| (text(name), text(value))).collect(),
            credential_namespace: "default".into(),
            isolation: None,
        }
    }

    /// The process of the only running runtime; panics if there are none or several.
    pub(super) async fn runtime_process(&self) -> Process {
        let records = records::load(self.host().home.records()).await.unwrap();
        assert_eq!(records.len(), 1, "{records:?}");
        records[0].runtime
    }

    /// Waits until every process that was started here has ended.
    pub(super) async fn no_process_is_left(&self) {
        let gone = async {
            while !self.processes().is_empty() {
                tokio::time::sleep(POLL).await;
            }
        };
        soon("every process of the runtime is gone", gone).await;
    }

    fn processes(&self) -> Vec<PathBuf> {
        let mark = format!("{MARK}={}\0", self.host().home.dir.path().display()).into_bytes();
        let all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_ours = |path: &PathBuf| {
            let environ = std::fs::read(path.join("environ")).unwrap_or_default();
            environ.windows(mark.len()).any(|window| window == mark)
        };
        all.filter(is_ours).collect()
    }

    /// The names of the files in the working directory.
    pub(super) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.host().home.work()).unwrap().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

/// The agent's text of all these events, joined.
pub(super) fn text(events: &[NormalizedEvent]) -> String {
    let blocks = events.iter().flat_map(|event| match &event.body {
        EventBody::ModelOutputCompleted(output) => output.content.as_slice(),
        _ => &[],
    });
    let texts = blocks.map(|block| match block {
        AssistantContentBlock::Text { text } => text.as_str(),
        other => panic!("the script wants a short text: {other:?}"),
    });
    texts.collect()
}

/// The type names of these events, such as `task.started`.
pub(super) fn names(events: &[NormalizedEvent]) -> Vec<&str> {
    events.iter().map(|event| event.body.name()).collect()
}
