//! One agent process and the one task that reads it, writes to it and knows what both sides wait for.
//!
//! The pump never waits for anybody: what the session has not taken yet stays in the outbox, and while there is some,
//! the agent's pipe is not read. That is the backpressure; commands are still heard.

use std::collections::HashMap;
use std::time::Instant;

use agent_client_protocol_schema::v1 as acp;
use roost_engine::adapter::{AdapterError, Answer, Draft, Fact, TaskEnd};
use roost_model::failure::{FailureCode, TaskError};
use roost_model::ids::{QuestionId, RequestId};
use roost_model::payload::{NoticeSource, RuntimeRequestStartedPayload};
use roost_model::tool::ToolCallIdentity;
use roost_process::{Control, Exit, Lines, StderrTail, Stdin};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::between::Between;
use super::cost::Spent;
use super::map;
use super::presets::Observed;
use super::questions;
use super::reader::Reader;
use super::turn::{Permission, Turn};
use super::wire::{self, RpcError};
use crate::waiting::not_pending;

/// Messages that may wait for the agent to read them.
const WRITE_QUEUE: usize = 256;
/// How long an agent that closed its output has to exit before it counts as gone.
const EXIT_PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);
/// Where a denial's reason stands in the answer's `_meta`.
const REASON_META: &str = "roost";

pub(super) type Reply<T = ()> = oneshot::Sender<Result<T, AdapterError>>;

/// What the session asks of the connection.
pub(super) enum Command {
    /// A request outside of a task.
    Call { method: &'static str, params: Value, reply: Reply<CallResult> },
    /// The session's id is known, and whether it was made just now.
    Bind { native: String, is_new: bool },
    /// A task: the prompt, and where its drafts go.
    Prompt { params: Value, drafts: mpsc::Sender<Vec<Draft>>, reply: Reply },
    /// A decision about a tool call.
    Decide { call: ToolCallIdentity, decision: Decision, reply: Reply },
    /// An answer to a question.
    Answer { question: QuestionId, answer: Answer, reply: Reply },
    /// The task is to stop.
    Cancel { reply: Reply },
}

/// What was decided about a tool call.
pub(super) enum Decision {
    Allow,
    Deny { reason: String },
}

/// What the agent said to a request.
pub(super) type CallResult = Result<Value, RpcError>;

/// The pump's own state.
pub(super) struct Pump {
    lines: Lines,
    stderr: mpsc::Receiver<String>,
    tail: StderrTail,
    control: Control,
    commands: mpsc::Receiver<Command>,
    writer: mpsc::Sender<Vec<u8>>,
    observed: Observed,
    calls: HashMap<u64, Reply<CallResult>>,
    next_id: u64,
    native: Option<String>,
    turn: Option<Turn>,
    outbox: Vec<Draft>,
    spent: Spent,
    between: Between,
}

/// The parts of a started agent that the pump takes over.
pub(crate) struct Parts {
    pub(super) stdin: Stdin,
    pub(super) lines: Lines,
    pub(super) stderr: mpsc::Receiver<String>,
    pub(super) tail: StderrTail,
    pub(super) control: Control,
}

/// Starts the pump; it ends when the command channel closes or the agent does.
pub(super) fn start(parts: Parts, observed: Observed) -> mpsc::Sender<Command> {
    let (commands, inbox) = mpsc::channel(WRITE_QUEUE);
    let (writer, outgoing) = mpsc::channel(WRITE_QUEUE);
    let Parts { stdin, lines, stderr, tail, control } = parts;
    tokio::spawn(write(stdin, outgoing));
    let pump = Pump {
        lines,
        stderr,
        tail,
        control,
        commands: inbox,
        writer,
        observed,
        calls: HashMap::new(),
        next_id: 1,
        native: None,
        turn: None,
        outbox: Vec::new(),
        spent: Spent::default(),
        between: Between::default(),
    };
    tokio::spawn(pump.run());
    commands
}

/// Writes to the agent until the pump ends or the agent stops reading; then its stdin closes.
async fn write(mut stdin: Stdin, mut outgoing: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = outgoing.recv().await {
        if let Err(error) = stdin.write_all(&line).await {
            tracing::debug!(%error, "An agent no longer reads its input.");
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
                Event::Abandoned => return,
                Event::Delivered => {
                    if self.turn.as_ref().is_some_and(|turn| turn.ended) {
                        self.turn = None;
                    }
                }
                Event::Unwanted => {
                    self.outbox.clear();
                    // Nobody listens any more; what the agent still says about the turn is dropped until it ends.
                    if self.turn.as_ref().is_some_and(|turn| turn.ended) {
                        self.turn = None;
                    }
                }
                Event::Read => {
                    if self.turn.as_ref().is_some_and(Turn::leaves_a_tool) {
                        return self.leave().await;
                    }
                }
                Event::Stderr(line) => {
                    if self.turn.is_some() {
                        self.outbox.push(map::noise(NoticeSource::Stderr, line));
                    }
                }
                Event::Eof => return self.finish().await,
            }
        }
    }

    async fn next(&mut self) -> Event {
        let full = !self.outbox.is_empty();
        let drafts = self.turn.as_ref().filter(|_| full).map(|turn| turn.drafts.clone());
        let Self { lines, stderr, commands, writer, calls, native, turn, outbox, spent, between, .. } = self;
        tokio::select! {
            // Commands first: a stop must be heard in the middle of a flood.
            biased;
            command = commands.recv() => command.map_or(Event::Abandoned, Event::Command),
            room = async { match &drafts { Some(drafts) => drafts.reserve().await.ok(), None => None } }, if full => match room {
                Some(room) => {
                    room.send(std::mem::take(outbox));
                    Event::Delivered
                }
                None => Event::Unwanted,
            },
            Some(line) = stderr.recv(), if !full => Event::Stderr(line),
            batch = lines.next_batch(), if !full => match batch {
                Ok(Some(batch)) => {
                    let mut reader = Reader { writer, calls, native, turn, outbox, spent, between };
                    batch.for_each(|line| reader.line(line));
                    Event::Read
                }
                Ok(None) | Err(_) => Event::Eof,
            },
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Call { method, params, reply } => {
                let id = self.next_id;
                self.next_id += 1;
                match send(&self.writer, wire::request(id, method, &params)) {
                    Ok(()) => {
                        self.calls.insert(id, reply);
                    }
                    Err(error) => answer(reply, Err(error)),
                }
            }
            Command::Bind { native, is_new } => {
                self.native = Some(native);
                if is_new {
                    self.spent = Spent::NOTHING;
                }
            }
            Command::Prompt { params, drafts, reply } => answer(reply, self.prompt(params, drafts)),
            Command::Decide { call, decision, reply } => answer(reply, self.decide(&call, &decision)),
            Command::Answer { question, answer: given, reply } => answer(reply, self.give(&question, given)),
            Command::Cancel { reply } => answer(reply, self.cancel()),
        }
    }

    fn prompt(&mut self, params: Value, drafts: mpsc::Sender<Vec<Draft>>) -> Result<(), AdapterError> {
        if self.turn.is_some() {
            let message = "the agent has not ended its last turn yet".into();
            return Err(AdapterError::Runtime { message, raw: None });
        }
        let prompt = self.next_id;
        self.next_id += 1;
        send(&self.writer, wire::request(prompt, "session/prompt", &params))?;
        let request = RequestId::new();
        let (request_id, method) = (request.clone(), "session/prompt".to_owned());
        self.outbox = self.between.take();
        self.outbox.push(Fact::RequestStarted(RuntimeRequestStartedPayload { request_id, method }).into());
        let begins = params.pointer("/prompt/0/text").and_then(Value::as_str).unwrap_or_default();
        let is_command = begins.trim_start().starts_with(['/', '$']);
        self.turn = Some(Turn { is_command, ..Turn::new(prompt, request, Instant::now(), drafts, self.observed) });
        Ok(())
    }

    fn decide(&mut self, call: &ToolCallIdentity, decision: &Decision) -> Result<(), AdapterError> {
        let turn = self.turn.as_mut().ok_or_else(|| not_pending(call))?;
        let permission = turn.permissions.answer(call).ok_or_else(|| not_pending(call))?;
        let mut response = acp::RequestPermissionResponse::new(choose(&permission.options, decision));
        if let Decision::Deny { reason } = decision {
            // The protocol has no place for a reason; agents that know us find it here.
            let meta = json!({ REASON_META: { "reason": reason } });
            response = response.meta(meta.as_object().cloned());
            turn.refused = true;
        }
        send(&self.writer, wire::response(&permission.id, Ok(&response)))?;
        if matches!(decision, Decision::Allow) {
            // Agents do not reliably say that an allowed call runs: from here on it does.
            self.outbox.push(Fact::ToolStarted(call.tool_call_id.clone()).into());
        }
        Ok(())
    }

    fn give(&mut self, question: &QuestionId, given: Answer) -> Result<(), AdapterError> {
        let waiting = self.turn.as_mut().and_then(|turn| turn.questions.remove(question));
        let (id, form) = waiting.ok_or_else(|| AdapterError::NotPending(format!("an answer to {question}")))?;
        send(&self.writer, wire::response(&id, Ok(&questions::response(&form, given))))
    }

    fn cancel(&mut self) -> Result<(), AdapterError> {
        let Some(turn) = self.turn.as_mut().filter(|turn| !turn.ended) else {
            return Err(AdapterError::NotPending("a stop".into()));
        };
        turn.cancelled = true;
        send(&self.writer, wire::notification("session/cancel", &json!({ "sessionId": self.native })))?;
        // The protocol wants open requests answered as cancelled; some agents wait for exactly that.
        for permission in turn.permissions.take_all() {
            let response = acp::RequestPermissionResponse::new(acp::RequestPermissionOutcome::Cancelled);
            send(&self.writer, wire::response(&permission.id, Ok(&response)))?;
        }
        for (_, (id, form)) in turn.questions.drain() {
            send(&self.writer, wire::response(&id, Ok(&questions::response(&form, Answer::Cancelled))))?;
        }
        Ok(())
    }

    /// Ends an agent that leaves a tool running after its turn. No new task may reach it, so it goes deaf before anybody
    /// hears that the turn is over.
    async fn leave(mut self) {
        self.commands.close();
        if let Some(turn) = self.turn.take() {
            // Nobody listens: then nobody needs to know.
            let _ = turn.drafts.send(self.outbox).await;
        }
        self.control.stop().await;
    }

    /// The agent is gone: tells whoever waits for it how.
    async fn finish(mut self) {
        let exit = tokio::time::timeout(EXIT_PATIENCE, self.control.wait_exit()).await;
        let how = match exit {
            Ok(Exit::Code(code)) => format!("exited with code {code}"),
            Ok(Exit::Signal(signal)) => format!("was killed by signal {signal}"),
            Ok(_) => "ended".to_owned(),
            Err(_) => "closed its output".to_owned(),
        };
        let stderr_tail = Some(self.tail.text()).filter(|text| !text.is_empty());
        for (_, reply) in self.calls.drain() {
            let message = format!("the agent {how} before it answered");
            let stderr_tail = stderr_tail.clone();
            answer(reply, Err(AdapterError::Exited { message, stderr_tail }));
        }
        let Some(mut turn) = self.turn.take() else { return };
        if !turn.ended {
            while let Ok(line) = self.stderr.try_recv() {
                self.outbox.push(map::noise(NoticeSource::Stderr, line));
            }
            turn.mapper.end(&mut self.outbox);
            let message = format!("the agent {how} in the middle of the task");
            let mut error = TaskError::new(FailureCode::RuntimeExited, message);
            error.stderr_tail = stderr_tail;
            self.outbox.push(Fact::Ended(TaskEnd::Failed(Box::new(error))).into());
        }
        // Nobody listens: then nobody needs to know.
        let _ = turn.drafts.send(self.outbox).await;
    }
}

/// The option that says this and no more; a denial without a matching option can only be a cancel.
fn choose(options: &[acp::PermissionOption], decision: &Decision) -> acp::RequestPermissionOutcome {
    use acp::PermissionOptionKind as Kind;
    let kinds = match decision {
        Decision::Allow => [Kind::AllowOnce, Kind::AllowAlways],
        Decision::Deny { .. } => [Kind::RejectOnce, Kind::RejectAlways],
    };
    let chosen = kinds.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind));
    match chosen {
        Some(option) => {
            let selected = acp::SelectedPermissionOutcome::new(option.option_id.clone());
            acp::RequestPermissionOutcome::Selected(selected)
        }
        None => acp::RequestPermissionOutcome::Cancelled,
    }
}

/// Nobody will decide about this; an agent that does not read its input does not wait for it either.
pub(super) fn cancel(writer: &mpsc::Sender<Vec<u8>>, permission: &Permission) {
    let response = acp::RequestPermissionResponse::new(acp::RequestPermissionOutcome::Cancelled);
    let _ = send(writer, wire::response(&permission.id, Ok(&response)));
}

pub(super) fn send(writer: &mpsc::Sender<Vec<u8>>, line: Vec<u8>) -> Result<(), AdapterError> {
    writer
        .try_send(line)
        .map_err(|_| AdapterError::Runtime { message: "the agent does not read its input".into(), raw: None })
}

pub(super) fn answer<T>(reply: Reply<T>, result: Result<T, AdapterError>) {
    // Whoever asked may have given up; the agent was told all the same.
    let _ = reply.send(result);
}
