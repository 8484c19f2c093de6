//! What the session's commands do to a conversation with the CLI.

use std::convert::Infallible;

use roost_engine::adapter::{AdapterError, Answer, Draft, Fact, TaskEnd};
use roost_model::ids::QuestionId;
use roost_model::payload::{NoticeLevel, NoticeSource};
use roost_model::tool::{ToolCallIdentity, ToolManifest};
use roost_process::Batch;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::talk::{CallResult, Complaint, METHOD, Talk, allowance, denial};
use super::turn::Turn;
use super::{host_server, map, questions, wire};
use crate::host::waiting::not_pending;
use crate::host::{Connection, ExitReport, Outbox, Reply, Task, Then, reply};

/// What the session asks of the connection.
pub(super) enum Command {
    /// A request outside of a task.
    Call { request: Value, to: Reply<CallResult> },
    /// The host's tools are these from now on.
    Offer { tools: ToolManifest },
    /// Which permission mode the CLI was last told to be in?
    Mode { to: Reply<String> },
    /// A task, and where its drafts go.
    Prompt { prompt: Prompt, drafts: mpsc::Sender<Vec<Draft>>, to: Reply },
    /// More from the user in a task that runs.
    Steer { content: Vec<Value>, to: Reply },
    /// A decision about a tool call.
    Decide { call: ToolCallIdentity, decision: Decision, to: Reply },
    /// What a tool of the host's said.
    Result { call: ToolCallIdentity, result: Value, to: Reply },
    /// An answer to a question.
    Answer { question: QuestionId, answer: Answer, to: Reply },
    /// The task is to stop.
    Cancel { to: Reply },
}

/// What a task begins with.
pub(super) struct Prompt {
    /// The blocks of the message.
    pub(super) content: Vec<Value>,
    /// What came up before there was a task to tell it in.
    pub(super) notices: Vec<String>,
}

/// What was decided about a tool call.
pub(super) enum Decision {
    Allow,
    /// With this input instead of its own.
    AllowEdited(Value),
    Deny(String),
}

impl Connection for Talk {
    const NAME: &'static str = "Claude Code";

    type Turn = Turn;
    type Command = Command;
    type Message = Infallible;

    fn outbox(&mut self) -> &mut Outbox<Turn> {
        &mut self.out
    }

    fn on_command(&mut self, command: Command) -> Then {
        match command {
            Command::Call { request, to } => match self.ask(&request) {
                Ok(id) => {
                    self.calls.insert(id, to);
                }
                Err(error) => reply(to, Err(error)),
            },
            Command::Offer { tools } => self.tools = tools,
            Command::Mode { to } => reply(to, Ok(self.mode.clone())),
            Command::Prompt { prompt, drafts, to } => reply(to, self.prompt(prompt, drafts)),
            Command::Steer { content, to } => reply(to, self.steer(&content)),
            Command::Decide { call, decision, to } => reply(to, self.decide(&call, decision)),
            Command::Result { call, result, to } => reply(to, self.host_told(&call, &result, false)),
            Command::Answer { question, answer, to } => reply(to, self.give(&question, answer)),
            Command::Cancel { to } => reply(to, self.cancel()),
        }
        Then::Continue
    }

    fn on_stdout(&mut self, lines: Batch<'_>) -> Then {
        lines.for_each(|line| self.line(line));
        Then::Continue
    }

    fn on_stderr(&mut self, line: String) {
        self.note(map::notice(NoticeLevel::Info, NoticeSource::Stderr, line));
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
            turn.mapper.end(drafts);
            turn.task.end(TaskEnd::Failed(Box::new(exit.failure())), drafts);
        }
    }
}

impl Talk {
    fn prompt(&mut self, prompt: Prompt, drafts: mpsc::Sender<Vec<Draft>>) -> Result<(), AdapterError> {
        self.out.refuse_if_busy::<Self>()?;
        let uuid = uuid::Uuid::new_v4().to_string();
        self.send(wire::prompt(&uuid, &prompt.content))?;
        self.out.begin(Turn::new(uuid, Task::new(METHOD, drafts)));
        let warn = |notice: String| map::notice(NoticeLevel::Warning, NoticeSource::Protocol, notice);
        self.out.drafts.extend(prompt.notices.into_iter().map(warn));
        Ok(())
    }

    fn steer(&mut self, content: &[Value]) -> Result<(), AdapterError> {
        let uuid = uuid::Uuid::new_v4().to_string();
        let line = wire::prompt(&uuid, content);
        let turn = self.running()?;
        turn.unheard.insert(uuid);
        self.send(line)
    }

    /// Answers the question that this decision is about; the CLI may have asked again meanwhile.
    fn decide(&mut self, call: &ToolCallIdentity, decision: Decision) -> Result<(), AdapterError> {
        let waiting = self.out.live().and_then(|(turn, _)| turn.permissions.answer(call));
        let Some(waiting) = waiting else {
            return match decision {
                // The host ran nothing; the model hears why.
                Decision::Deny(reason) => self.host_told(call, &reason.into(), true),
                _ => Err(not_pending(call)),
            };
        };
        let input = match decision {
            Decision::Deny(reason) => return self.send(denial(&waiting.id, &reason)),
            Decision::Allow => waiting.input,
            Decision::AllowEdited(input) => input,
        };
        self.send(allowance(&waiting.id, &input))?;
        // The CLI does not say that an allowed call runs: from here on it does.
        self.out.drafts.push(Fact::ToolStarted(call.tool_call_id.clone()).into());
        Ok(())
    }

    fn host_told(&mut self, call: &ToolCallIdentity, result: &Value, is_error: bool) -> Result<(), AdapterError> {
        let waiting = self.out.live().and_then(|(turn, _)| turn.host_calls.answer(call));
        let waiting = waiting.ok_or_else(|| not_pending(call))?;
        self.send(wire::response(&waiting.id, &host_server::told(&waiting.message, result, is_error)))
    }

    fn give(&mut self, question: &QuestionId, given: Answer) -> Result<(), AdapterError> {
        let waiting = self.out.live().and_then(|(turn, _)| turn.questions.remove(question));
        let waiting = waiting.ok_or_else(|| AdapterError::NotPending(format!("an answer to {question}")))?;
        self.send(wire::response(&waiting.id, &questions::response(&waiting.input, given)))
    }

    /// The CLI withdraws by itself what it waits for, but for the host's tools.
    fn cancel(&mut self) -> Result<(), AdapterError> {
        let turn = self.running()?;
        turn.cancelled = true;
        let calls = turn.host_calls.take_all();
        self.ask(&json!({ "subtype": "interrupt" }))?;
        for waiting in calls {
            let told = host_server::told(&waiting.message, &"the task is being stopped".into(), true);
            self.send(wire::response(&waiting.id, &told))?;
        }
        Ok(())
    }

    fn running(&mut self) -> Result<&mut Turn, AdapterError> {
        let live = self.out.live().map(|(turn, _)| turn);
        live.ok_or_else(|| AdapterError::NotPending("anything: no task runs".into()))
    }
}
