//! One agent process and the one task that reads it, writes to it and knows what both sides wait for.
//!
//! The pump never waits for anybody: what the session has not taken yet stays in the outbox, and while there is some,
//! the agent's pipe is not read. That is the backpressure; commands are still heard.

use std::collections::HashMap;
use std::time::Instant;

use agent_client_protocol::v1::schema as acp;
use roost_engine::adapter::{AdapterError, Answer, Draft, Fact, TaskEnd};
use roost_process::{Control, Exit, Line, Lines, StderrTail, Stdin};
use roost_proto::failure::{FailureCode, TaskError};
use roost_proto::ids::{QuestionId, RequestId, ToolCallId};
use roost_proto::payload::{NoticeSource, RequestStatus, RuntimeRequestCompletedPayload, RuntimeRequestStartedPayload};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::map::{self, Mapper};
use super::questions::{self, Form};
use super::tools::Asked;
use super::wire::{self, Incoming, RpcError, RpcId};

/// Messages that may wait for the agent to read them.
const WRITE_QUEUE: usize = 256;
/// How long an agent that closed its output has to exit before it counts as gone.
const EXIT_PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);
/// Where a denial's reason stands in the answer's `_meta`.
pub(crate) const REASON_META: &str = "roost";
/// The method that the agent reports with.
const UPDATE: &str = "session/update";

pub(super) type Reply<T = ()> = oneshot::Sender<Result<T, AdapterError>>;

/// What the session asks of the connection.
pub(super) enum Command {
    /// A request outside of a task.
    Call { method: &'static str, params: Value, reply: Reply<CallResult> },
    /// The session's id is known.
    Bind { native: String },
    /// A task: the prompt, and where its drafts go.
    Prompt { params: Value, drafts: mpsc::Sender<Vec<Draft>>, reply: Reply },
    /// A decision about a tool call.
    Decide { call: ToolCallId, decision: Decision, reply: Reply },
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

struct Permission {
    id: RpcId,
    options: Vec<acp::PermissionOption>,
}

pub(super) struct Turn {
    prompt: u64,
    request: RequestId,
    started: Instant,
    mapper: Mapper,
    drafts: mpsc::Sender<Vec<Draft>>,
    permissions: HashMap<ToolCallId, Vec<Permission>>,
    questions: HashMap<QuestionId, (RpcId, Form)>,
    pub(super) cancelled: bool,
    ended: bool,
}

impl Turn {
    /// A turn that begins with this prompt.
    pub(super) fn new(prompt: u64, request: RequestId, started: Instant, drafts: mpsc::Sender<Vec<Draft>>) -> Self {
        Self {
            prompt,
            request,
            started,
            mapper: Mapper::default(),
            drafts,
            permissions: HashMap::new(),
            questions: HashMap::new(),
            cancelled: false,
            ended: false,
        }
    }
}

/// The pump's own state.
pub(super) struct Pump {
    lines: Lines,
    stderr: mpsc::Receiver<String>,
    tail: StderrTail,
    control: Control,
    commands: mpsc::Receiver<Command>,
    writer: mpsc::Sender<Vec<u8>>,
    calls: HashMap<u64, Reply<CallResult>>,
    next_id: u64,
    native: Option<String>,
    turn: Option<Turn>,
    outbox: Vec<Draft>,
}

/// The parts of a started agent that the pump takes over.
pub(super) struct Parts {
    pub(super) stdin: Stdin,
    pub(super) lines: Lines,
    pub(super) stderr: mpsc::Receiver<String>,
    pub(super) tail: StderrTail,
    pub(super) control: Control,
}

/// Starts the pump; it ends when the command channel closes or the agent does.
pub(super) fn start(parts: Parts) -> mpsc::Sender<Command> {
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
        calls: HashMap::new(),
        next_id: 1,
        native: None,
        turn: None,
        outbox: Vec::new(),
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
                Event::Read => {}
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
        let Self { lines, stderr, commands, writer, calls, native, turn, outbox, .. } = self;
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
                    let mut reader = Reader { writer, calls, native, turn, outbox };
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
            Command::Bind { native } => self.native = Some(native),
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
        self.outbox = vec![Fact::RequestStarted(RuntimeRequestStartedPayload { request_id, method }).into()];
        self.turn = Some(Turn::new(prompt, request, Instant::now(), drafts));
        Ok(())
    }

    fn decide(&mut self, call: &ToolCallId, decision: &Decision) -> Result<(), AdapterError> {
        let waiting = self.turn.as_mut().and_then(|turn| turn.permissions.remove(call));
        let waiting = waiting.ok_or_else(|| AdapterError::NotPending(format!("a decision about {call}")))?;
        for permission in waiting {
            let mut response = acp::RequestPermissionResponse::new(choose(&permission.options, decision));
            if let Decision::Deny { reason } = decision {
                // The protocol has no place for a reason; agents that know us find it here.
                let meta = json!({ REASON_META: { "reason": reason } });
                response = response.meta(meta.as_object().cloned());
            }
            send(&self.writer, wire::response(&permission.id, Ok(&response)))?;
        }
        if matches!(decision, Decision::Allow) {
            // Agents do not reliably say that an allowed call runs: from here on it does.
            self.outbox.push(Fact::ToolStarted(call.clone()).into());
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
        for permission in turn.permissions.drain().flat_map(|(_, waiting)| waiting) {
            let response = acp::RequestPermissionResponse::new(acp::RequestPermissionOutcome::Cancelled);
            send(&self.writer, wire::response(&permission.id, Ok(&response)))?;
        }
        for (_, (id, form)) in turn.questions.drain() {
            send(&self.writer, wire::response(&id, Ok(&questions::response(&form, Answer::Cancelled))))?;
        }
        Ok(())
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

/// Reads lines into the outbox; the parts of the pump that reading touches.
pub(super) struct Reader<'a> {
    pub(super) writer: &'a mpsc::Sender<Vec<u8>>,
    pub(super) calls: &'a mut HashMap<u64, Reply<CallResult>>,
    pub(super) native: &'a Option<String>,
    pub(super) turn: &'a mut Option<Turn>,
    pub(super) outbox: &'a mut Vec<Draft>,
}

impl Reader<'_> {
    /// Takes one line.
    pub(super) fn line(&mut self, line: Line<'_>) {
        if let Line::TooLong { bytes } = line {
            if self.turn.is_some() {
                self.outbox.push(map::skipped(bytes));
            }
            return;
        }
        let text = line.text();
        match wire::parse(&text) {
            Incoming::Chunk(chunk) => {
                if self.native.as_deref() != Some(&*chunk.session) {
                    self.noise(format!("an update for session {}, which is not open here", chunk.session));
                } else if let Some(turn) = self.turn.as_mut().filter(|turn| !turn.ended) {
                    turn.mapper.chunk(chunk, self.outbox);
                }
            }
            Incoming::Notification { method, params } if method == UPDATE => self.update(params),
            Incoming::Notification { method, params } => {
                // Custom notifications are the agent's own business; `$/` ones are about requests, and an agent that
                // cancels one does not wait for its answer.
                if self.turn.is_some() && !method.starts_with(['_', '$']) {
                    self.outbox
                        .push(map::unknown(&format!("a notification that Roost does not know: {method}"), params));
                }
            }
            Incoming::Request { id, method, params } => self.request(id, &method, params),
            Incoming::Response { id, result } => self.response(id, result),
            Incoming::Noise if text.trim().is_empty() => {}
            Incoming::Noise => self.noise(text.into_owned()),
        }
    }

    fn noise(&mut self, message: String) {
        if self.turn.is_some() {
            self.outbox.push(map::noise(NoticeSource::Stdout, message));
        }
    }

    fn update(&mut self, params: &RawValue) {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Head {
            session_id: String,
        }
        // Outside of a turn agents replay history and announce commands: nothing that happened just now.
        let Some(turn) = self.turn.as_mut().filter(|turn| !turn.ended) else { return };
        match serde_json::from_str::<Head>(params.get()) {
            Ok(head) if self.native.as_deref() == Some(&*head.session_id) => turn.mapper.update(params, self.outbox),
            Ok(head) => {
                let message = format!("an update for session {}, which is not open here", head.session_id);
                self.outbox.push(map::unknown(&message, params));
            }
            Err(_) => self.outbox.push(map::unknown("an update without a session", params)),
        }
    }

    fn request(&mut self, id: RpcId, method: &str, params: &RawValue) {
        let turn = self.turn.as_mut().filter(|turn| !turn.ended);
        match (method, turn) {
            ("session/request_permission", Some(turn)) => {
                match serde_json::from_str::<acp::RequestPermissionRequest>(params.get()) {
                    Ok(request) => {
                        let Asked { call, anew } = turn.mapper.asked(request.tool_call, self.outbox);
                        let waiting = turn.permissions.entry(call.clone()).or_default();
                        if anew {
                            let void = std::mem::take(waiting);
                            void.iter().for_each(|permission| cancel(self.writer, permission));
                        }
                        waiting.push(Permission { id, options: request.options });
                        self.outbox.push(Fact::ToolAsks(call).into());
                    }
                    Err(error) => self.refuse(&id, -32602, &error.to_string()),
                }
            }
            // Nobody can be asked between turns; the agent must not wait for ever.
            ("session/request_permission", None) => {
                let response = acp::RequestPermissionResponse::new(acp::RequestPermissionOutcome::Cancelled);
                self.send(wire::response(&id, Ok(&response)));
            }
            ("elicitation/create", Some(turn)) => {
                match serde_json::from_str::<acp::CreateElicitationRequest>(params.get()) {
                    Ok(acp::CreateElicitationRequest { mode: acp::ElicitationMode::Form(form), message, .. }) => {
                        let question = questions::question(message, &form.requested_schema);
                        turn.questions.insert(question.question_id.clone(), (id, form.requested_schema));
                        self.outbox.push(Fact::Question(question).into());
                    }
                    Ok(_) => self.refuse(&id, -32602, "only forms can be asked here"),
                    Err(error) => self.refuse(&id, -32602, &error.to_string()),
                }
            }
            _ => self.refuse(&id, -32601, &format!("{method} is not offered by this client")),
        }
    }

    fn response(&mut self, id: u64, result: Result<&RawValue, RpcError>) {
        let value = result.map(|raw| serde_json::from_str(raw.get()).unwrap_or(Value::Null));
        if let Some(reply) = self.calls.remove(&id) {
            return answer(reply, Ok(value));
        }
        match self.turn.as_mut().filter(|turn| turn.prompt == id && !turn.ended) {
            Some(turn) => {
                turn.ended = true;
                turn.mapper.end(self.outbox);
                let status = if value.is_ok() { RequestStatus::Ok } else { RequestStatus::Error };
                let completed = RuntimeRequestCompletedPayload {
                    request_id: turn.request.clone(),
                    method: "session/prompt".into(),
                    status,
                    duration_ms: u64::try_from(turn.started.elapsed().as_millis()).unwrap_or(u64::MAX),
                };
                self.outbox.push(Fact::RequestCompleted(completed).into());
                let usage = value.as_ref().ok().and_then(map::prompt_usage);
                self.outbox.extend(usage.map(|usage| Fact::Usage(usage).into()));
                self.outbox.push(Fact::Ended(end(value, turn.cancelled)).into());
            }
            None => self.noise(format!("an answer to request {id}, which is not open")),
        }
    }

    fn refuse(&mut self, id: &RpcId, code: i64, message: &str) {
        let error = RpcError { code, message: message.into(), data: None };
        self.send(wire::response(id, Err::<&Value, _>(&error)));
    }

    fn send(&mut self, line: Vec<u8>) {
        if let Err(error) = send(self.writer, line) {
            self.noise(error.to_string());
        }
    }
}

fn end(result: CallResult, cancelled: bool) -> TaskEnd {
    let error = match result {
        Ok(value) => {
            return match value.get("stopReason").and_then(Value::as_str) {
                Some("cancelled") => TaskEnd::Stopped("cancelled".into()),
                Some(reason) => TaskEnd::Completed(reason.into()),
                None => TaskEnd::failed(FailureCode::RuntimeError, "the agent ended its turn without saying why"),
            };
        }
        // A cancelled turn must not end in an error, but some agents do that.
        Err(_) if cancelled => return TaskEnd::Stopped("cancelled".into()),
        Err(error) => error,
    };
    TaskEnd::Failed(Box::new(TaskError::from(rejected(error))))
}

/// An agent's error as ours.
pub(super) fn rejected(error: RpcError) -> AdapterError {
    let said = if error.message.is_empty() { "an error without a message" } else { &error.message };
    if error.code == -32000 {
        return AdapterError::NotLoggedIn(format!("the agent wants you to log in first: {said}"));
    }
    let message = format!("the agent answered with error {}: {said}", error.code);
    AdapterError::Runtime { message, raw: serde_json::to_value(&error).ok() }
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
fn cancel(writer: &mpsc::Sender<Vec<u8>>, permission: &Permission) {
    let response = acp::RequestPermissionResponse::new(acp::RequestPermissionOutcome::Cancelled);
    let _ = send(writer, wire::response(&permission.id, Ok(&response)));
}

fn send(writer: &mpsc::Sender<Vec<u8>>, line: Vec<u8>) -> Result<(), AdapterError> {
    writer
        .try_send(line)
        .map_err(|_| AdapterError::Runtime { message: "the agent does not read its input".into(), raw: None })
}

fn answer<T>(reply: Reply<T>, result: Result<T, AdapterError>) {
    // Whoever asked may have given up; the agent was told all the same.
    let _ = reply.send(result);
}
