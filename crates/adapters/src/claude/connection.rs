//! One process and the one task that reads it, writes to it and tells it what was decided.
//!
//! The pump never waits for anybody: what the session has not taken yet stays in the outbox, and while there is some,
//! the process's pipe is not read. That is the backpressure; commands are still heard.

use std::time::Duration;

use roost_engine::adapter::{AdapterError, Answer, Draft, Fact, TaskEnd};
use roost_model::failure::{FailureCode, TaskError};
use roost_model::ids::{QuestionId, RequestId};
use roost_model::payload::{NoticeLevel, NoticeSource, RuntimeRequestStartedPayload};
use roost_model::tool::{ToolCallIdentity, ToolManifest};
use roost_process::{Control, Exit, Lines, StderrTail, Stdin};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::talk::{CallResult, METHOD, Reply, Talk, allowance, answer, denial, live};
use super::turn::Turn;
use super::{host_server, map, questions, wire};
use crate::locks::Lock;
use crate::waiting::not_pending;

/// Messages that may wait for the process to read them.
const WRITE_QUEUE: usize = 256;
/// How long a process that closed its output has to exit before it counts as gone.
const EXIT_PATIENCE: Duration = Duration::from_secs(2);

/// What the session asks of the connection.
pub(super) enum Command {
    /// A request outside of a task.
    Call { request: Value, reply: Reply<CallResult> },
    /// The host's tools are these from now on.
    Offer { tools: ToolManifest },
    /// Which permission mode the CLI was last told to be in?
    Mode { reply: Reply<String> },
    /// A task, and where its drafts go.
    Prompt { prompt: Prompt, drafts: mpsc::Sender<Vec<Draft>>, reply: Reply },
    /// More from the user in a task that runs.
    Steer { content: Vec<Value>, reply: Reply },
    /// A decision about a tool call.
    Decide { call: ToolCallIdentity, decision: Decision, reply: Reply },
    /// What a tool of the host's said.
    Result { call: ToolCallIdentity, result: Value, reply: Reply },
    /// An answer to a question.
    Answer { question: QuestionId, answer: Answer, reply: Reply },
    /// The task is to stop.
    Cancel { reply: Reply },
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

/// The parts of a started process that the pump takes over.
pub(super) struct Parts {
    pub(super) stdin: Stdin,
    pub(super) lines: Lines,
    pub(super) stderr: mpsc::Receiver<String>,
    pub(super) tail: StderrTail,
    pub(super) control: Control,
    /// Held until nothing of the process is left.
    pub(super) lock: Lock,
    /// The permission mode that it was started in.
    pub(super) mode: &'static str,
}

struct Pump {
    lines: Lines,
    stderr: mpsc::Receiver<String>,
    tail: StderrTail,
    control: Control,
    commands: mpsc::Receiver<Command>,
    talk: Talk,
}

/// Starts the pump; it ends when the command channel closes or the process does, and the process with it.
pub(super) fn start(parts: Parts) -> (mpsc::Sender<Command>, JoinHandle<()>) {
    let (commands, inbox) = mpsc::channel(WRITE_QUEUE);
    let (writer, outgoing) = mpsc::channel(WRITE_QUEUE);
    let Parts { stdin, lines, stderr, tail, control, lock, mode } = parts;
    tokio::spawn(write(stdin, outgoing));
    let talk = Talk::new(writer, mode);
    let pump = Pump { lines, stderr, tail, control: control.clone(), commands: inbox, talk };
    let ended = tokio::spawn(async move {
        pump.run().await;
        control.stop().await;
        drop(lock);
    });
    (commands, ended)
}

/// Writes to the process until the pump ends or nobody reads any more; then its stdin closes.
async fn write(mut stdin: Stdin, mut outgoing: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = outgoing.recv().await {
        if let Err(error) = stdin.write_all(&line).await {
            tracing::debug!(%error, "Claude Code no longer reads its input.");
            return;
        }
    }
}

/// What can happen to a connection.
enum Event {
    Command(Command),
    Abandoned,
    Delivered,
    Unwanted,
    Read,
    Stderr(String),
    Eof,
}

impl Pump {
    async fn run(mut self) {
        loop {
            match self.next().await {
                Event::Command(command) => self.command(command),
                Event::Abandoned => break,
                Event::Delivered => self.forget_ended(),
                Event::Unwanted => {
                    // Nobody listens any more; what the agent still says about the task is dropped until it ends.
                    self.talk.outbox.clear();
                    self.forget_ended();
                }
                Event::Read => {}
                Event::Stderr(line) => self.talk.note(map::notice(NoticeLevel::Info, NoticeSource::Stderr, line)),
                Event::Eof => {
                    self.finish().await;
                    break;
                }
            }
        }
        if self.talk.unknown > 0 {
            tracing::info!(count = self.talk.unknown, "Claude Code sent messages that Roost does not know.");
        }
    }

    async fn next(&mut self) -> Event {
        let Self { lines, stderr, commands, talk, .. } = self;
        let full = !talk.outbox.is_empty();
        let drafts = talk.turn.as_ref().filter(|_| full).map(|turn| turn.drafts.clone());
        tokio::select! {
            // Commands first: a stop must be heard in the middle of a flood.
            biased;
            command = commands.recv() => command.map_or(Event::Abandoned, Event::Command),
            room = async { match &drafts { Some(drafts) => drafts.reserve().await.ok(), None => None } }, if full => match room {
                Some(room) => {
                    room.send(std::mem::take(&mut talk.outbox));
                    Event::Delivered
                }
                None => Event::Unwanted,
            },
            Some(line) = stderr.recv(), if !full => Event::Stderr(line),
            batch = lines.next_batch(), if !full => match batch {
                Ok(Some(batch)) => {
                    batch.for_each(|line| talk.line(line));
                    Event::Read
                }
                Ok(None) | Err(_) => Event::Eof,
            },
        }
    }

    fn forget_ended(&mut self) {
        if self.talk.turn.as_ref().is_some_and(|turn| turn.ended) {
            self.talk.turn = None;
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Call { request, reply } => match self.talk.ask(&request) {
                Ok(id) => {
                    self.talk.calls.insert(id, reply);
                }
                Err(error) => answer(reply, Err(error)),
            },
            Command::Offer { tools } => self.talk.tools = tools,
            Command::Mode { reply } => answer(reply, Ok(self.talk.mode.clone())),
            Command::Prompt { prompt, drafts, reply } => answer(reply, self.prompt(prompt, drafts)),
            Command::Steer { content, reply } => answer(reply, self.steer(&content)),
            Command::Decide { call, decision, reply } => answer(reply, self.decide(&call, decision)),
            Command::Result { call, result, reply } => answer(reply, self.host_told(&call, &result, false)),
            Command::Answer { question, answer: given, reply } => answer(reply, self.give(&question, given)),
            Command::Cancel { reply } => answer(reply, self.cancel()),
        }
    }

    fn prompt(&mut self, prompt: Prompt, drafts: mpsc::Sender<Vec<Draft>>) -> Result<(), AdapterError> {
        let talk = &mut self.talk;
        if talk.turn.is_some() {
            let message = "Claude Code has not ended its last turn yet".into();
            return Err(AdapterError::Runtime { message, raw: None });
        }
        let uuid = uuid::Uuid::new_v4().to_string();
        talk.send(wire::prompt(&uuid, &prompt.content))?;
        let request = RequestId::new();
        let started = RuntimeRequestStartedPayload { request_id: request.clone(), method: METHOD.into() };
        talk.outbox = vec![Fact::RequestStarted(started).into()];
        let warn = |notice: String| map::notice(NoticeLevel::Warning, NoticeSource::Protocol, notice);
        talk.outbox.extend(prompt.notices.into_iter().map(warn));
        talk.turn = Some(Turn::new(uuid, request, drafts));
        Ok(())
    }

    fn steer(&mut self, content: &[Value]) -> Result<(), AdapterError> {
        let uuid = uuid::Uuid::new_v4().to_string();
        let line = wire::prompt(&uuid, content);
        let turn = running(&mut self.talk)?;
        turn.unheard.insert(uuid);
        self.talk.send(line)
    }

    /// Answers the question that this decision is about; the CLI may have asked again meanwhile.
    fn decide(&mut self, call: &ToolCallIdentity, decision: Decision) -> Result<(), AdapterError> {
        let waiting = live(&mut self.talk.turn).and_then(|turn| turn.permissions.answer(call));
        let Some(waiting) = waiting else {
            return match decision {
                // The host ran nothing; the model hears why.
                Decision::Deny(reason) => self.host_told(call, &reason.into(), true),
                _ => Err(not_pending(call)),
            };
        };
        let input = match decision {
            Decision::Deny(reason) => return self.talk.send(denial(&waiting.id, &reason)),
            Decision::Allow => waiting.input,
            Decision::AllowEdited(input) => input,
        };
        self.talk.send(allowance(&waiting.id, &input))?;
        // The CLI does not say that an allowed call runs: from here on it does.
        self.talk.outbox.push(Fact::ToolStarted(call.tool_call_id.clone()).into());
        Ok(())
    }

    fn host_told(&mut self, call: &ToolCallIdentity, result: &Value, is_error: bool) -> Result<(), AdapterError> {
        let waiting = live(&mut self.talk.turn).and_then(|turn| turn.host_calls.answer(call));
        let waiting = waiting.ok_or_else(|| not_pending(call))?;
        self.talk.send(wire::response(&waiting.id, &host_server::told(&waiting.message, result, is_error)))
    }

    fn give(&mut self, question: &QuestionId, given: Answer) -> Result<(), AdapterError> {
        let waiting = live(&mut self.talk.turn).and_then(|turn| turn.questions.remove(question));
        let waiting = waiting.ok_or_else(|| AdapterError::NotPending(format!("an answer to {question}")))?;
        self.talk.send(wire::response(&waiting.id, &questions::response(&waiting.input, given)))
    }

    /// The CLI withdraws by itself what it waits for, but for the host's tools.
    fn cancel(&mut self) -> Result<(), AdapterError> {
        let turn = running(&mut self.talk)?;
        turn.cancelled = true;
        let calls = turn.host_calls.take_all();
        self.talk.ask(&json!({ "subtype": "interrupt" }))?;
        for waiting in calls {
            let told = host_server::told(&waiting.message, &"the task is being stopped".into(), true);
            self.talk.send(wire::response(&waiting.id, &told))?;
        }
        Ok(())
    }

    /// The process is gone: tells whoever waits for it how.
    async fn finish(&mut self) {
        let exit = tokio::time::timeout(EXIT_PATIENCE, self.control.wait_exit()).await;
        let how = match exit {
            Ok(Exit::Code(code)) => format!("exited with code {code}"),
            Ok(Exit::Signal(signal)) => format!("was killed by signal {signal}"),
            Ok(Exit::Unknown) => "ended".to_owned(),
            Err(_) => "closed its output".to_owned(),
        };
        let stderr_tail = Some(self.tail.text()).filter(|text| !text.is_empty());
        let talk = &mut self.talk;
        let why = talk.complaint.take().map(|complaint| format!(": {complaint}")).unwrap_or_default();
        for (_, reply) in talk.calls.drain() {
            let message = format!("Claude Code {how} before it answered{why}");
            answer(reply, Err(AdapterError::Exited { message, stderr_tail: stderr_tail.clone() }));
        }
        let Some(mut turn) = talk.turn.take() else { return };
        if !turn.ended {
            while let Ok(line) = self.stderr.try_recv() {
                talk.outbox.push(map::notice(NoticeLevel::Info, NoticeSource::Stderr, line));
            }
            turn.mapper.end(&mut talk.outbox);
            let message = format!("Claude Code {how} in the middle of the task");
            let mut error = TaskError::new(FailureCode::RuntimeExited, message);
            error.stderr_tail = stderr_tail;
            talk.outbox.push(Fact::Ended(TaskEnd::Failed(Box::new(error))).into());
        }
        // Nobody listens: then nobody needs to know.
        let _ = turn.drafts.send(std::mem::take(&mut talk.outbox)).await;
    }
}

fn running(talk: &mut Talk) -> Result<&mut Turn, AdapterError> {
    live(&mut talk.turn).ok_or_else(|| AdapterError::NotPending("anything: no task runs".into()))
}
