//! A home for one Claude Code, a model for it to ask, and tasks run at the adapter's own boundary.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use roost_adapters::AgentCommand;
use roost_adapters::claude::{ClaudeAdapter, adapter};
use roost_engine::adapter::{
    Answer, Draft, Fact, OpenSession, RuntimeAdapter, RuntimeSession, SentInput, StartedTask, TaskControl, TaskEnd,
    TaskInput,
};
use roost_model::content::AssistantContentBlock;
use roost_model::failure::TaskError;
use roost_model::ids::SessionId;
use roost_model::mode::Mode;
use roost_model::payload::{QuestionAskedPayload, ToolCallRequestedPayload, UsageReportedPayload};
use roost_model::runtime::{CreateSessionInput, RuntimeEnv};
use roost_model::tool::{ToolCallIdentity, ToolManifest};
use roost_process::{Holder, Ladder};
use serde_json::{Map, Value};
use testkit::agents::{Agent, Sandbox, variables};
use testkit::model::ModelServer;
use testkit::soon;

pub(super) use crate::codex::live::{WatchedTask, input};

/// A variable in the environment of every process that is started here, by which it is found again.
const MARK: &str = "ROOST_CLAUDE_PLACE";

/// How often the list of processes is looked at.
pub(super) const POLL: Duration = Duration::from_millis(10);

/// A home, a working directory and a model.
pub(super) struct LiveClaude {
    sandbox: Sandbox,
    pub(super) model: ModelServer,
    pub(super) env: BTreeMap<String, String>,
    pub(super) adapter: ClaudeAdapter,
}

/// What comes of a tool call that is asked about.
pub(super) enum Verdict {
    Allow,
    AllowEdited(Value),
    Deny(&'static str),
    /// What the host's own tool says.
    Ran(Value),
}

/// A task from its start to its end.
pub(super) struct Done {
    pub(super) input: SentInput,
    pub(super) facts: Vec<Fact>,
    /// The native messages that were kept.
    pub(super) raw: Vec<Value>,
}

impl LiveClaude {
    /// The pinned Claude Code in a new home.
    pub(super) fn new() -> Self {
        Self::with(Agent::Claude.program())
    }

    /// Another program in its stead.
    pub(super) fn with(program: PathBuf) -> Self {
        Self::start(program, Map::new())
    }

    /// The pinned Claude Code with these settings of the configuration.
    pub(super) fn configured(config: Map<String, Value>) -> Self {
        Self::start(Agent::Claude.program(), config)
    }

    fn start(program: PathBuf, config: Map<String, Value>) -> Self {
        let model = ModelServer::start();
        let sandbox = Sandbox::new(&model.url());
        let variables = variables(Agent::Claude, &sandbox.home(), &model.url());
        let mut env: BTreeMap<_, _> = variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        env.insert(MARK.into(), sandbox.home().display().to_string());
        let holder = Holder {
            program: env!("CARGO_BIN_EXE_roost").into(),
            args: vec!["hold".into()],
            records: sandbox.home().join("records"),
            ladder: Ladder::default(),
            wall: None,
        };
        let command = AgentCommand { program: program.into(), args: Vec::new(), env: Vec::new() };
        Self { adapter: adapter(command, config, Arc::new(holder)), sandbox, model, env }
    }

    pub(super) fn home(&self) -> PathBuf {
        self.sandbox.home()
    }

    pub(super) fn work(&self) -> PathBuf {
        self.sandbox.work()
    }

    /// The bare CLI, as somebody would start it in a terminal.
    pub(super) fn bare(&self) -> std::process::Command {
        self.sandbox.command(Agent::Claude)
    }

    pub(super) fn env(&self) -> RuntimeEnv {
        let cwd = self.work().display().to_string();
        RuntimeEnv { cwd, env: self.env.clone(), credential_namespace: "default".into(), isolation: None }
    }

    /// What a new session is opened with.
    pub(super) fn open(&self) -> OpenSession {
        OpenSession {
            session_id: SessionId::new(),
            env: self.env(),
            input: CreateSessionInput::default(),
            mode: Mode::Ask,
            mcp_servers: Vec::new(),
        }
    }

    pub(super) async fn session(&self) -> Box<dyn RuntimeSession> {
        soon("a session is made", self.adapter.create_session(self.open())).await.unwrap()
    }

    /// Waits until nothing that was started here runs any more.
    pub(super) async fn is_empty(&self) {
        let gone = async {
            while !self.processes().is_empty() {
                tokio::time::sleep(POLL).await;
            }
        };
        soon("every process is gone", gone).await;
    }

    /// Waits until no process that was started here runs this program.
    pub(super) async fn until_nothing_runs(&self, program: &str) {
        let ends = async {
            while self.running(program) > 0 {
                tokio::time::sleep(POLL).await;
            }
        };
        soon("a program ends", ends).await;
    }

    /// The processes that were started here and run this program.
    pub(super) fn running(&self, program: &str) -> usize {
        let runs =
            |path: &&PathBuf| std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim() == program);
        self.processes().iter().filter(runs).count()
    }

    fn processes(&self) -> Vec<PathBuf> {
        let mark = format!("{MARK}={}\0", self.home().display()).into_bytes();
        let all = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let is_ours = |path: &PathBuf| {
            let environ = std::fs::read(path.join("environ")).unwrap_or_default();
            environ.windows(mark.len()).any(|window| window == mark)
        };
        all.filter(is_ours).collect()
    }
}

pub(super) fn input_with(text: &str, tools: ToolManifest) -> TaskInput {
    TaskInput { tool_manifest: Some(tools), ..input(text) }
}

pub(super) async fn start(session: &mut Box<dyn RuntimeSession>, input: TaskInput) -> WatchedTask {
    WatchedTask::begin_with(session, input).await
}

/// Runs a task to its end; whatever asks is told this.
pub(super) async fn run(
    session: &mut Box<dyn RuntimeSession>,
    input: TaskInput,
    mut decide: impl FnMut(&ToolCallRequestedPayload) -> Verdict,
) -> Done {
    let StartedTask { input, mut task } = soon("a task starts", session.start_task(input)).await.unwrap();
    let (mut facts, mut kept) = (Vec::new(), Vec::new());
    let ends = async {
        loop {
            for Draft { fact, raw } in task.drafts.recv().await.expect("the task ends with a fact") {
                match &fact {
                    Fact::ToolAsks(call) | Fact::HostToolAsks(call) => {
                        send_verdict(&*task.control, &call.identity, decide(call)).await;
                    }
                    Fact::Question(asked) => task.control.send_answer(&asked.question_id, second(asked)).await.unwrap(),
                    _ => {}
                }
                kept.extend(raw);
                let ended = matches!(fact, Fact::Ended(_));
                facts.push(fact);
                if ended {
                    return;
                }
            }
        }
    };
    soon("the task ends", ends).await;
    Done { input, facts, raw: kept }
}

/// Runs a task in which everything is allowed.
pub(super) async fn run_allowing(session: &mut Box<dyn RuntimeSession>, prompt: &str) -> Done {
    run(session, input(prompt), |_| Verdict::Allow).await
}

async fn send_verdict(control: &dyn TaskControl, call: &ToolCallIdentity, verdict: Verdict) {
    let sent = match verdict {
        Verdict::Allow => control.send_tool_approved(call).await,
        Verdict::AllowEdited(input) => control.send_tool_edited(call, input).await,
        Verdict::Deny(reason) => control.send_tool_denied(call, reason).await,
        Verdict::Ran(result) => control.send_tool_result(call, result).await,
    };
    sent.unwrap();
}

/// The second choice of every field.
fn second(asked: &QuestionAskedPayload) -> Answer {
    let answers = asked.fields.iter().map(|field| (field.id.clone(), vec![field.options[1].value.clone()]));
    Answer::Given(answers.collect())
}

/// Reads a task until something happens in it.
pub(super) async fn wait_for(task: &mut WatchedTask, what: &str, happens: impl Fn(&Fact) -> bool) -> Fact {
    soon(what, task.until(|fact| happens(fact).then(|| fact.clone()))).await
}

/// Reads a task to its end.
pub(super) async fn wait_for_end(task: &mut WatchedTask) -> TaskEnd {
    match wait_for(task, "the task ends", |fact| matches!(fact, Fact::Ended(_))).await {
        Fact::Ended(end) => end,
        other => panic!("{other:?}"),
    }
}

impl Done {
    pub(super) fn end(&self) -> &TaskEnd {
        match self.facts.last() {
            Some(Fact::Ended(end)) => end,
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn failure(&self) -> &TaskError {
        match self.end() {
            TaskEnd::Failed(error) => error,
            other => panic!("{other:?}"),
        }
    }

    /// Everything that was said.
    pub(super) fn text(&self) -> String {
        let blocks = self.facts.iter().flat_map(|fact| match fact {
            Fact::Output(output) => output.content.as_slice(),
            _ => &[],
        });
        let texts = blocks.map(|block| match block {
            AssistantContentBlock::Text { text } => text.as_str(),
            other => panic!("{other:?}"),
        });
        texts.collect()
    }

    pub(super) fn usage(&self) -> Vec<&UsageReportedPayload> {
        let used = self.facts.iter().filter_map(|fact| match fact {
            Fact::Usage(usage) => Some(usage),
            _ => None,
        });
        used.collect()
    }

    /// The tools that asked for permission.
    pub(super) fn asking_tools(&self) -> Vec<&str> {
        let asked = self.facts.iter().filter_map(|fact| match fact {
            Fact::ToolAsks(call) | Fact::HostToolAsks(call) => Some(call.name.as_str()),
            _ => None,
        });
        asked.collect()
    }
}

/// Every file below a folder, with its content.
pub(super) fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => {
                files.insert(path.clone(), std::fs::read(&path).unwrap());
            }
        }
    }
    files
}
