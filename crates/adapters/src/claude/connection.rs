//! The connection with one process of the CLI: its state, and what the session's commands do to it. Lines from the CLI
//! are handled in [`super::reader`].

use std::collections::HashMap;

use roost_engine::adapter::{AdapterError, Answer, Draft, Fact, TaskEnd};
use roost_model::ids::{QuestionId, RuntimeSessionId};
use roost_model::payload::{NoticeLevel, NoticeSource};
use roost_model::tool::{ToolCallIdentity, ToolManifest};
use roost_process::Batch;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::background::Activity;
use super::plan::Plan;
use super::reader::{allowance, denial};
use super::turn::ClaudeTurn;
use super::{host_server, questions, wire};
use crate::host::pending_decisions::{not_pending, question_not_pending};
use crate::host::{Connection, ExitReport, Outbox, PumpAction, Reply, Task, Writer, notice, reply};

/// The method under which a task's request is recorded.
pub(super) const METHOD: &str = "user";

/// The CLI's answer to a control request: its response, or its error message.
pub(super) type CallResult = Result<Value, String>;

/// The session's commands. `to` receives the result once the command is done.
pub(super) enum ClaudeCommand {
    /// Sends a control request; it is answered even if no task runs.
    Call { request: Value, to: Reply<CallResult> },
    /// Replaces the host's tools. The CLI asks for the list only when the host's tool server is a new one to it.
    Offer { tools: ToolManifest },
    /// Returns the permission mode that the CLI reported last.
    Mode { to: Reply<String> },
    /// Begins a task, whose events are sent to `drafts`; an error while another task runs.
    Prompt { prompt: Prompt, drafts: mpsc::Sender<Vec<Draft>>, to: Reply },
    /// Adds a message of the user's to the running task.
    Steer { content: Vec<Value>, to: Reply },
    /// Answers the CLI's pending request about this attempt at a tool call.
    Decide { call: ToolCallIdentity, decision: ToolDecision, to: Reply },
    /// Returns the result of a tool that the host ran for the CLI.
    Result { call: ToolCallIdentity, result: Value, to: Reply },
    /// Answers an open question.
    Answer { question: QuestionId, answer: Answer, to: Reply },
    /// Another prompt waits for the end of the task: if the task only waits for what runs in the background, it ends.
    PromptWaiting { to: Reply },
    /// Interrupts the running task.
    Cancel { to: Reply },
}

/// The start of a task.
pub(super) struct Prompt {
    /// The user message's content blocks, in the CLI's JSON.
    pub(super) content: Vec<Value>,
    /// Warnings from before the task, such as tool servers that cannot be reached; reported as its first events.
    pub(super) notices: Vec<String>,
}

/// The host's decision about a tool call.
pub(super) enum ToolDecision {
    Allow,
    /// The tool runs with this input instead of the model's.
    AllowEdited(Value),
    /// The tool does not run; the model is shown this reason.
    Deny(String),
}

/// The task has waited long enough for what the CLI does in the background.
pub(super) struct WaitOver;

/// The error that the CLI printed outside of a task, which is as a rule why it then exits.
#[derive(Debug)]
pub(super) enum Complaint {
    /// The session to resume is not on the CLI's disk.
    UnknownSession(RuntimeSessionId),
    Other(String),
}

/// The state of the connection with one process.
pub(super) struct ClaudeConnection {
    pub(super) writer: Writer,
    /// What the CLI works on, in the foreground and in the background.
    pub(super) activity: Activity,
    /// Control requests of ours that the CLI has not answered, by request id.
    pub(super) calls: HashMap<String, Reply<CallResult>>,
    pub(super) out: Outbox<ClaudeTurn>,
    /// The host's tools, as offered to the CLI.
    pub(super) tools: ToolManifest,
    /// The CLI's own permission mode: the one it was started in, then whatever it reported last.
    pub(super) mode: String,
    pub(super) complaint: Option<Complaint>,
    /// How many messages had no meaning here; logged when the connection ends.
    pub(super) unknown: u64,
    /// The CLI's id of the session that it was told to resume or fork; `None` for a new one.
    pub(super) known_as: Option<RuntimeSessionId>,
    pub(super) plan: Plan,
    /// The model that the CLI reported last.
    pub(super) model: Option<String>,
    /// US dollars that the process has cost up to its last turn; the CLI reports only the running total.
    pub(super) cost_so_far: f64,
    /// How many control requests were sent; the next one's id is made from it.
    pub(super) requests: u64,
}

impl ClaudeConnection {
    /// A connection with a process that was started in this permission mode and has not been sent anything.
    pub(super) fn new(writer: Writer, mode: &str) -> Self {
        Self {
            writer,
            activity: Activity::new(),
            calls: HashMap::new(),
            out: Outbox::default(),
            tools: ToolManifest::default(),
            mode: mode.to_owned(),
            complaint: None,
            unknown: 0,
            known_as: None,
            plan: Plan::default(),
            model: None,
            cost_so_far: 0.0,
            requests: 0,
        }
    }
}

impl Drop for ClaudeConnection {
    fn drop(&mut self) {
        if self.unknown > 0 {
            tracing::info!(count = self.unknown, "Claude Code sent messages that Roost does not know.");
        }
    }
}

impl Connection for ClaudeConnection {
    const NAME: &'static str = "Claude Code";

    type Turn = ClaudeTurn;
    type Command = ClaudeCommand;
    type Message = WaitOver;

    fn outbox(&mut self) -> &mut Outbox<ClaudeTurn> {
        &mut self.out
    }

    fn on_command(&mut self, command: ClaudeCommand) -> PumpAction {
        match command {
            ClaudeCommand::Call { request, to } => match self.request(&request) {
                Ok(id) => {
                    self.calls.insert(id, to);
                }
                Err(error) => reply(to, Err(error)),
            },
            ClaudeCommand::Offer { tools } => self.tools = tools,
            ClaudeCommand::Mode { to } => reply(to, Ok(self.mode.clone())),
            ClaudeCommand::Prompt { prompt, drafts, to } => reply(to, self.prompt(prompt, drafts)),
            ClaudeCommand::Steer { content, to } => reply(to, self.steer(&content)),
            ClaudeCommand::Decide { call, decision, to } => reply(to, self.decide(&call, decision)),
            ClaudeCommand::Result { call, result, to } => reply(to, self.send_host_result(&call, &result, false)),
            ClaudeCommand::Answer { question, answer, to } => reply(to, self.answer_question(&question, answer)),
            ClaudeCommand::PromptWaiting { to } => {
                if let Some((turn, _)) = self.out.live() {
                    turn.prompt_waiting = true;
                }
                self.end_if_at_rest();
                reply(to, Ok(()));
            }
            ClaudeCommand::Cancel { to } => reply(to, self.cancel()),
        }
        PumpAction::Continue
    }

    fn on_stdout(&mut self, lines: Batch<'_>) -> PumpAction {
        lines.for_each(|line| self.on_line(line));
        PumpAction::Continue
    }

    fn on_stderr(&mut self, line: String) {
        self.report(notice(NoticeLevel::Info, NoticeSource::Stderr, line));
    }

    async fn next_message(&mut self) -> Option<WaitOver> {
        let waits = self.out.live().is_some_and(|(turn, _)| turn.result.is_some());
        match self.activity.deadline().filter(|_| waits) {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
        Some(WaitOver)
    }

    async fn on_message(&mut self, _: WaitOver) -> PumpAction {
        self.activity.drop_follow_up();
        self.end_task();
        PumpAction::Continue
    }

    fn on_exit(&mut self, exit: &ExitReport) {
        let unanswered = match self.complaint.take() {
            Some(Complaint::UnknownSession(session)) => AdapterError::UnknownSession(session),
            Some(Complaint::Other(why)) => exit.error(&format!("before it answered: {why}")),
            None => exit.error("before it answered"),
        };
        for (_, to) in self.calls.drain() {
            reply(to, Err(unanswered.clone()));
        }
        if let Some((turn, drafts)) = self.out.live() {
            turn.mapper.end(true, drafts);
            turn.task.fail(exit, drafts);
        }
    }
}

impl ClaudeConnection {
    fn prompt(&mut self, prompt: Prompt, drafts: mpsc::Sender<Vec<Draft>>) -> Result<(), AdapterError> {
        self.out.refuse_if_busy::<Self>()?;
        let uuid = uuid::Uuid::new_v4().to_string();
        self.send(wire::prompt(&uuid, &prompt.content))?;
        self.out.begin(ClaudeTurn::new(uuid, Task::new(METHOD, drafts)));
        let warn = |message: String| notice(NoticeLevel::Warning, NoticeSource::Protocol, message);
        self.out.drafts.extend(prompt.notices.into_iter().map(warn));
        Ok(())
    }

    fn steer(&mut self, content: &[Value]) -> Result<(), AdapterError> {
        let uuid = uuid::Uuid::new_v4().to_string();
        let line = wire::prompt(&uuid, content);
        let turn = self.live_turn()?;
        turn.unacknowledged.insert(uuid);
        self.send(line)
    }

    /// Answers the pending request about this attempt. If the CLI has asked again meanwhile, the decision is refused.
    fn decide(&mut self, call: &ToolCallIdentity, decision: ToolDecision) -> Result<(), AdapterError> {
        let waiting = self.out.live().and_then(|(turn, _)| turn.permissions.answer(call));
        let Some(waiting) = waiting else {
            return match decision {
                // A denied tool of the host's: the model gets the reason as the result.
                ToolDecision::Deny(reason) => self.send_host_result(call, &reason.into(), true),
                _ => Err(not_pending(call)),
            };
        };
        let input = match decision {
            ToolDecision::Deny(reason) => return self.send(denial(&waiting.id, &reason)),
            ToolDecision::Allow => waiting.input,
            ToolDecision::AllowEdited(input) => input,
        };
        self.send(allowance(&waiting.id, &input))?;
        // The CLI does not say that an allowed call runs: from here on it does.
        self.out.drafts.push(Fact::ToolStarted(call.tool_call_id.clone()).into());
        Ok(())
    }

    fn send_host_result(
        &mut self,
        call: &ToolCallIdentity,
        result: &Value,
        is_error: bool,
    ) -> Result<(), AdapterError> {
        let waiting = self.out.live().and_then(|(turn, _)| turn.host_calls.answer(call));
        let waiting = waiting.ok_or_else(|| not_pending(call))?;
        self.send(wire::response(&waiting.id, &host_server::tool_result(&waiting.message, result, is_error)))
    }

    fn answer_question(&mut self, question: &QuestionId, given: Answer) -> Result<(), AdapterError> {
        let waiting = self.out.live().and_then(|(turn, _)| turn.questions.remove(question));
        let waiting = waiting.ok_or_else(|| question_not_pending(question))?;
        self.send(wire::response(&waiting.id, &questions::response(&waiting.input, given)))
    }

    /// Interrupts the turn and stops what runs in the background. The CLI cancels its own open requests; those for the
    /// host's tools are answered here. Between two turns of a task no `result` follows, so the task ends here.
    fn cancel(&mut self) -> Result<(), AdapterError> {
        let turn = self.live_turn()?;
        turn.cancelled = true;
        let is_between_turns = turn.result.is_some();
        let calls = turn.host_calls.take_all();
        self.request(&json!({ "subtype": "interrupt" }))?;
        for task_id in self.activity.task_ids() {
            self.request(&json!({ "subtype": "stop_task", "task_id": task_id }))?;
        }
        for waiting in calls {
            let result = host_server::tool_result(&waiting.message, &"the task is being stopped".into(), true);
            self.send(wire::response(&waiting.id, &result))?;
        }
        if is_between_turns && let Some((turn, drafts)) = self.out.live() {
            turn.mapper.end(true, drafts);
            turn.task.end(TaskEnd::Stopped("interrupted".into()), drafts);
        }
        Ok(())
    }

    fn live_turn(&mut self) -> Result<&mut ClaudeTurn, AdapterError> {
        let live = self.out.live().map(|(turn, _)| turn);
        live.ok_or_else(|| AdapterError::NotPending("anything: no task runs".into()))
    }
}
