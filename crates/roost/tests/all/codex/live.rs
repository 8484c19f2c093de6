//! One Codex in a home of its own, and its tasks as a test watches them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use roost_adapters::AgentCommand;
use roost_adapters::codex::{self, CodexAdapter};
use roost_engine::adapter::{
    AdapterError, Answer, Draft, Fact, OpenSession, Reattached, RuntimeAdapter, RuntimeSession, RuntimeTask, SentInput,
    StartedTask, TaskControl, TaskEnd, TaskInput,
};
use roost_model::content::{AssistantContentBlock, TranscriptMessage};
use roost_model::ids::{RuntimeSessionId, SessionId, TaskId};
use roost_model::mode::Mode;
use roost_model::payload::{ContextStrategy, ContextWindow};
use roost_model::runtime::{CreateSessionInput, InteractionMode, RuntimeEnv};
use roost_model::tool::ToolCallIdentity;
use roost_model::tool::ToolManifest;
use roost_process::{Holder, Ladder, records, tree};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value};
use tempfile::TempDir;
use testkit::agents::{Agent, Sandbox, variables};
use testkit::soon;

use super::MODEL;

/// A Codex that can be used.
pub(crate) struct Live {
    pub(crate) adapter: CodexAdapter,
    pub(crate) sandbox: Sandbox,
    records: TempDir,
}

impl Live {
    pub(crate) fn new() -> Self {
        Self::with(Agent::Codex.program())
    }

    /// One that is started by another program.
    pub(crate) fn with(program: PathBuf) -> Self {
        let (sandbox, records) = (Sandbox::new(&MODEL.url()), TempDir::new().unwrap());
        Self { adapter: adapter(program, records.path()), sandbox, records }
    }

    /// The same home with another program.
    pub(crate) fn with_program(self, program: PathBuf) -> Self {
        Self { adapter: adapter(program, self.records.path()), ..self }
    }

    pub(crate) fn env(&self) -> RuntimeEnv {
        let env = variables(Agent::Codex, &self.sandbox.home(), &MODEL.url());
        RuntimeEnv {
            cwd: self.sandbox.work().display().to_string(),
            env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            credential_namespace: "default".into(),
            isolation: None,
        }
    }

    pub(crate) fn open(&self) -> OpenSession {
        OpenSession {
            session_id: SessionId::new(),
            env: self.env(),
            input: CreateSessionInput::default(),
            mode: Mode::Ask,
            mcp_servers: Vec::new(),
        }
    }

    pub(crate) async fn session(&self) -> Box<dyn RuntimeSession> {
        soon("Codex starts", self.adapter.create_session(self.open())).await.unwrap()
    }

    pub(crate) async fn resume(&self, native: &RuntimeSessionId) -> Result<Box<dyn RuntimeSession>, AdapterError> {
        soon("Codex starts again", self.adapter.resume_session(self.open(), native.clone())).await
    }

    /// Goes on with what an earlier daemon left.
    pub(crate) async fn reattach(&self) -> Reattached {
        let records = records::load(self.records.path().into()).await.unwrap();
        let [record] = records.as_slice() else { panic!("{records:?}") };
        soon("Codex is taken over", self.adapter.reattach(record)).await.unwrap()
    }

    /// Where runs are recorded.
    pub(crate) fn records(&self) -> &Path {
        self.records.path()
    }

    /// Signals Codex itself.
    pub(crate) async fn signal(&self, signal: Signal) {
        let records = records::load(self.records.path().into()).await.unwrap();
        let pid = Pid::from_raw(i32::try_from(records[0].runtime.pid).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// The command lines of what Codex started.
    pub(crate) async fn commands(&self) -> Vec<String> {
        let runs = records::load(self.records.path().into()).await.unwrap();
        let pids = runs.iter().flat_map(|record| tree::alive(&record.run));
        let command = |pid: u32| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).replace('\0', " ")
        };
        pids.map(command).collect()
    }

    /// What a run leaves where runs are recorded.
    pub(crate) fn left(&self) -> Vec<PathBuf> {
        std::fs::read_dir(self.records.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

pub(crate) fn adapter(program: PathBuf, records: &Path) -> CodexAdapter {
    let holder = Holder {
        program: env!("CARGO_BIN_EXE_roost").into(),
        args: vec!["hold".into()],
        records: records.into(),
        ladder: Ladder::default(),
        wall: None,
    };
    let command = AgentCommand { program: program.into(), args: Vec::new(), env: Vec::new() };
    codex::adapter(command, Map::new(), Arc::new(holder))
}

pub(crate) fn input(text: &str) -> TaskInput {
    TaskInput {
        task_id: TaskId::new(),
        history: Vec::new(),
        messages: vec![TranscriptMessage::user(text)],
        images: Default::default(),
        context_window: ContextWindow {
            strategy: ContextStrategy::None,
            max_chars: None,
            omitted_indices: None,
            overflow: None,
        },
        tool_manifest: None::<ToolManifest>,
        mode: Mode::Ask,
        model: None,
        interaction_mode: InteractionMode::Interactive,
    }
}

/// A task, and what it has told so far.
pub(crate) struct WatchedTask {
    pub(crate) sent: Option<SentInput>,
    task: RuntimeTask,
    unread: std::vec::IntoIter<Draft>,
    pub(crate) seen: Vec<Draft>,
}

/// What is said to everything that asks.
#[derive(Clone)]
pub(crate) enum Say {
    Yes,
    No(&'static str),
}

impl WatchedTask {
    pub(crate) async fn begin(session: &mut Box<dyn RuntimeSession>, text: &str) -> Self {
        Self::begin_with(session, input(text)).await
    }

    pub(crate) async fn begin_with(session: &mut Box<dyn RuntimeSession>, input: TaskInput) -> Self {
        let StartedTask { input, task } = soon("a task starts", session.start_task(input)).await.unwrap();
        Self { sent: Some(input), ..Self::from_task(task) }
    }

    /// One that was begun elsewhere.
    pub(crate) fn from_task(task: RuntimeTask) -> Self {
        Self { sent: None, task, unread: Vec::new().into_iter(), seen: Vec::new() }
    }

    /// The next thing that it tells.
    pub(crate) async fn next(&mut self) -> Fact {
        loop {
            if let Some(draft) = self.unread.next() {
                self.seen.push(draft.clone());
                return draft.fact;
            }
            let batch = soon("the task tells something", self.task.drafts.recv()).await;
            self.unread = batch.expect("the task ends with its end").into_iter();
        }
    }

    pub(crate) fn control(&self) -> &dyn TaskControl {
        &*self.task.control
    }

    /// The first thing that is wanted.
    pub(crate) async fn until<T>(&mut self, mut wanted: impl FnMut(&Fact) -> Option<T>) -> T {
        loop {
            let fact = self.next().await;
            if let Some(found) = wanted(&fact) {
                return found;
            }
            assert!(!matches!(fact, Fact::Ended(_)), "it did not happen: {:#?}", self.seen);
        }
    }

    /// The call that it asks about first.
    pub(crate) async fn asks(&mut self) -> ToolCallIdentity {
        self.until(|fact| match fact {
            Fact::ToolAsks(call) => Some(call.identity.clone()),
            _ => None,
        })
        .await
    }

    pub(crate) async fn say(&self, call: &ToolCallIdentity, say: Say) {
        let control = &self.task.control;
        match say {
            Say::Yes => control.send_tool_approved(call).await.unwrap(),
            Say::No(reason) => control.send_tool_denied(call, reason).await.unwrap(),
        }
    }

    pub(crate) async fn tell_result(&self, call: &ToolCallIdentity, result: Value) {
        self.task.control.send_tool_result(call, result).await.unwrap();
    }

    pub(crate) async fn steer(&self, text: &str) {
        self.task.control.steer(TranscriptMessage::user(text)).await.unwrap();
    }

    pub(crate) async fn stop(&self) {
        self.task.control.stop().await.unwrap();
    }

    /// How it ends, with this said to everything that asks; questions get their last choice.
    pub(crate) async fn end(&mut self, say: Say) -> TaskEnd {
        loop {
            match self.next().await {
                Fact::ToolAsks(call) => self.say(&call.identity, say.clone()).await,
                Fact::Question(question) => {
                    let last = |options: &[roost_model::payload::QuestionOption]| options.last().unwrap().value.clone();
                    let answers = question.fields.iter().map(|field| (field.id.clone(), vec![last(&field.options)]));
                    let answer = Answer::Given(answers.collect::<BTreeMap<_, _>>());
                    self.task.control.send_answer(&question.question_id, answer).await.unwrap();
                }
                Fact::Ended(end) => return end,
                _ => {}
            }
        }
    }

    /// Everything that was said.
    pub(crate) fn text(&self) -> String {
        let said = self.seen.iter().filter_map(|draft| match &draft.fact {
            Fact::Output(output) => Some(&output.content),
            _ => None,
        });
        let texts = said.flatten().map(|block| match block {
            AssistantContentBlock::Text { text } => text.as_str(),
            other => panic!("{other:?}"),
        });
        texts.collect()
    }

    pub(crate) fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.seen.iter().map(|draft| &draft.fact)
    }
}

/// A whole task.
pub(crate) async fn run(session: &mut Box<dyn RuntimeSession>, text: &str, say: Say) -> (TaskEnd, WatchedTask) {
    let mut task = WatchedTask::begin(session, text).await;
    (task.end(say).await, task)
}

/// Runs the script that streams 5,000 pieces, asserts that all of them arrive, and closes the session.
pub(crate) async fn assert_flood_arrives(mut session: Box<dyn RuntimeSession>) {
    let (end, task) = run(&mut session, "SCRIPT:flood", Say::Yes).await;
    assert!(completed(&end), "{end:?}");
    assert_eq!(task.text().split_whitespace().count(), 5000);
    session.close().await;
}

/// The task ended well.
pub(crate) fn completed(end: &TaskEnd) -> bool {
    matches!(end, TaskEnd::Completed(_))
}
