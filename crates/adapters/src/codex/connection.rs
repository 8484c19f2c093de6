//! One server process and the one task that reads it, writes to it and knows what both sides wait for.
//!
//! The pump never waits for anybody: what the session has not taken yet stays in the outbox, and while there is some,
//! the server's socket is not read. That is the backpressure; commands are still heard.

use roost_engine::adapter::{AdapterError, Answer, Draft, Fact, TaskEnd};
use roost_model::failure::{FailureCode, TaskError};
use roost_model::ids::{QuestionId, RequestId};
use roost_model::payload::{NoticeSource, RuntimeRequestStartedPayload};
use roost_model::tool::ToolCallIdentity;
use roost_process::{Control, Exit, Lines, StderrTail, Stdin};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::asks::{self, Wait};
use super::calls::{CallResult, Calls, Pending, Reply, reply};
use super::map;
use super::note::TurnNote;
use super::past::PastState;
use super::reader::Reader;
use super::socket;
use super::turn::{Approval, METHOD, Turn};
use crate::waiting::not_pending;

/// Messages that may wait for the server to read them.
const WRITE_QUEUE: usize = 256;
/// How long a server that hung up has to exit before it counts as gone.
const EXIT_PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);

/// What the session asks of the connection.
pub(super) enum Command {
    /// A request outside of a task.
    Call { method: &'static str, params: Value, to: Reply<CallResult> },
    /// A notification.
    Notify { method: &'static str },
    /// The thread is known.
    Bind { thread: String },
    /// A task: what its turn begins with, and where its drafts go.
    Begin { params: Value, drafts: mpsc::Sender<Vec<Draft>>, to: Reply },
    /// A turn that another daemon began.
    Adopt { thread: String, turn: String, drafts: mpsc::Sender<Vec<Draft>> },
    /// What the turn did since this time, when nobody listened.
    CatchUp { since: u64, last: bool, to: Reply<Option<PastState>> },
    /// A decision about a tool call.
    Decide { call: ToolCallIdentity, decision: Decision, to: Reply },
    /// An answer to a question.
    Answer { question: QuestionId, answer: Answer, to: Reply },
    /// More from the user.
    Steer { input: Value, to: Reply<CallResult> },
    /// The task is to stop.
    Cancel { to: Reply },
}

/// What was decided about a tool call.
pub(super) enum Decision {
    Allow,
    Deny {
        reason: String,
    },
    /// The host ran it, and this is what it said.
    Result(Value),
}

/// The parts of a started server that the pump takes over.
pub(super) struct Parts {
    pub(super) reader: socket::Reader,
    pub(super) writer: socket::Writer,
    /// Kept open, where it is ours: its end could be read as a wish to stop.
    pub(super) stdin: Option<Stdin>,
    pub(super) stdout: Lines,
    pub(super) stderr: mpsc::Receiver<String>,
    pub(super) tail: StderrTail,
    pub(super) control: Control,
    pub(super) note: TurnNote,
    /// What is to be told with the first task.
    pub(super) early: Vec<Draft>,
}

/// Starts the pump; it ends when the command channel closes or the server does.
pub(super) fn start(parts: Parts) -> mpsc::Sender<Command> {
    let (commands, inbox) = mpsc::channel(WRITE_QUEUE);
    let (writer, outgoing) = mpsc::channel(WRITE_QUEUE);
    let Parts { reader, writer: sink, stdin, stdout, stderr, tail, control, note, early } = parts;
    tokio::spawn(sink.run(outgoing));
    let pump = Pump {
        messages: reader,
        _stdin: stdin,
        stdout,
        stderr,
        tail,
        control,
        note,
        commands: inbox,
        calls: Calls::new(writer),
        thread: None,
        turn: None,
        outbox: Vec::new(),
        early,
        quiet: false,
    };
    tokio::spawn(pump.run());
    commands
}

/// The pump's own state.
struct Pump {
    messages: socket::Reader,
    _stdin: Option<Stdin>,
    stdout: Lines,
    stderr: mpsc::Receiver<String>,
    tail: StderrTail,
    control: Control,
    note: TurnNote,
    commands: mpsc::Receiver<Command>,
    calls: Calls,
    thread: Option<String>,
    turn: Option<Turn>,
    outbox: Vec<Draft>,
    early: Vec<Draft>,
    /// Nothing comes from stdout any more.
    quiet: bool,
}

/// What can happen to a connection.
enum Event {
    Command(Command),
    Abandoned,
    Delivered,
    Messages(Vec<String>),
    Noise(NoticeSource, Vec<String>),
    Quiet,
    HungUp,
}

impl Pump {
    async fn run(mut self) {
        loop {
            match self.next().await {
                Event::Command(command) => self.command(command),
                Event::Abandoned => return,
                Event::Delivered => {
                    if self.turn.take_if(|turn| turn.over).is_some() {
                        self.note.remove().await;
                    }
                }
                Event::Messages(texts) => {
                    let mut reader = self.reader();
                    texts.iter().for_each(|text| reader.message(text));
                    self.note_turn().await;
                }
                Event::Noise(source, lines) => {
                    let mut reader = self.reader();
                    lines.into_iter().for_each(|line| reader.notice(map::noise(source, line)));
                }
                Event::Quiet => self.quiet = true,
                Event::HungUp => return self.finish().await,
            }
        }
    }

    /// Leaves word of a turn that has begun, before anybody counts on it.
    async fn note_turn(&mut self) {
        if let Some(turn) = &mut self.turn
            && let Some(to) = turn.begun.take()
        {
            self.note.write(turn.id.as_deref().unwrap_or_default()).await;
            reply(to, Ok(()));
        }
    }

    fn reader(&mut self) -> Reader<'_> {
        let Self { calls, thread, turn, outbox, early, .. } = self;
        Reader { calls, thread, turn, outbox, early }
    }

    async fn next(&mut self) -> Event {
        let full = !self.outbox.is_empty();
        let drafts = self.turn.as_ref().filter(|_| full).map(|turn| turn.drafts.clone());
        let Self { messages, stdout, stderr, commands, outbox, quiet, .. } = self;
        tokio::select! {
            // Commands first: a stop must be heard in the middle of a flood.
            biased;
            command = commands.recv() => command.map_or(Event::Abandoned, Event::Command),
            room = async { match &drafts { Some(drafts) => drafts.reserve().await.ok(), None => None } }, if full => {
                let told = std::mem::take(outbox);
                // Where nobody listens any more, what is still said about the turn is dropped until it ends.
                if let Some(room) = room {
                    room.send(told);
                }
                Event::Delivered
            }
            Some(line) = stderr.recv(), if !full => Event::Noise(NoticeSource::Stderr, vec![line]),
            texts = messages.next_batch(), if !full => texts.map_or(Event::HungUp, Event::Messages),
            batch = stdout.next_batch(), if !full && !*quiet => match batch {
                Ok(Some(batch)) => {
                    let mut lines = Vec::new();
                    batch.for_each(|line| lines.push(line.text().into_owned()));
                    Event::Noise(NoticeSource::Stdout, lines)
                }
                Ok(None) | Err(_) => Event::Quiet,
            },
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Call { method, params, to } => self.call(method, &params, to),
            Command::Notify { method } => {
                // A server that does not read says so at the next request.
                let _ = self.calls.notify(method);
            }
            Command::Bind { thread } => self.thread = Some(thread),
            Command::Begin { params, drafts, to } => self.begin(&params, drafts, to),
            Command::Adopt { thread, turn, drafts } => {
                (self.thread, self.turn) = (Some(thread), Some(Turn::adopted(turn, drafts)));
            }
            Command::CatchUp { since, last, to } => self.catch_up(since, last, to),
            Command::Decide { call, decision, to } => reply(to, self.decide(&call, decision)),
            Command::Answer { question, answer, to } => reply(to, self.give(&question, answer)),
            Command::Steer { input, to } => match self.steering(&input) {
                Ok(params) => self.call("turn/steer", &params, to),
                Err(error) => reply(to, Err(error)),
            },
            Command::Cancel { to } => reply(to, self.cancel()),
        }
    }

    fn call(&mut self, method: &str, params: &Value, to: Reply<CallResult>) {
        if let Err((Pending::Reply(to), error)) = self.calls.call(method, params, Pending::Reply(to)) {
            reply(to, Err(error));
        }
    }

    fn begin(&mut self, params: &Value, drafts: mpsc::Sender<Vec<Draft>>, to: Reply) {
        if self.turn.is_some() {
            let message = "Codex has not ended its last turn yet".into();
            return reply(to, Err(AdapterError::Runtime { message, raw: None }));
        }
        if let Err((Pending::Begun(to), error)) = self.calls.call(METHOD, params, Pending::Begun(to)) {
            return reply(to, Err(error));
        }
        let (request, method) = (RequestId::new(), METHOD.to_owned());
        let started = RuntimeRequestStartedPayload { request_id: request.clone(), method };
        self.outbox = vec![Fact::RequestStarted(started).into()];
        self.outbox.append(&mut self.early);
        self.turn = Some(Turn::new(request, drafts));
    }

    /// Listens to the thread again; what Codex waits for it asks once more.
    fn catch_up(&mut self, since: u64, last: bool, to: Reply<Option<PastState>>) {
        let params = json!({ "threadId": self.thread });
        let then = Pending::Resumed { since, last, to };
        if let Err((Pending::Resumed { to, .. }, error)) = self.calls.call("thread/resume", &params, then) {
            reply(to, Err(error));
        }
    }

    /// Answers the question that this decision is about; Codex may have asked again meanwhile.
    fn decide(&mut self, call: &ToolCallIdentity, decision: Decision) -> Result<(), AdapterError> {
        let waiting = self.turn.as_mut().and_then(|turn| turn.approvals.answer(call));
        let Approval { id, wait } = waiting.ok_or_else(|| not_pending(call))?;
        let answer = match &decision {
            Decision::Allow => wait.allow(),
            Decision::Deny { reason } => wait.deny(reason),
            Decision::Result(result) => asks::host_result(result, true),
        };
        if let Decision::Deny { reason } = &decision
            && wait != Wait::HostTool
        {
            self.explain(reason);
        }
        self.calls.answer(&id, &answer)?;
        if let (Decision::Allow, Some(turn)) = (&decision, &mut self.turn) {
            turn.mapper.tools.allowed(&call.tool_call_id, &mut self.outbox);
        }
        Ok(())
    }

    /// A refusal has no place for its reason, so the agent is told by a message. Said before the refusal, it is read
    /// together with it; a turn that takes no messages goes on without.
    fn explain(&mut self, reason: &str) {
        let text = format!("A tool call was refused: {reason}");
        if let Ok(params) = self.steering(&json!([{ "type": "text", "text": text }])) {
            let _ = self.calls.tell("turn/steer", &params);
        }
    }

    fn steering(&self, input: &Value) -> Result<Value, AdapterError> {
        let turn = self.turn.as_ref().filter(|turn| turn.end.is_none() && !turn.over && !turn.cancelled);
        match (turn.and_then(|turn| turn.id.as_ref()), &self.thread) {
            (Some(turn), Some(thread)) => Ok(json!({ "threadId": thread, "expectedTurnId": turn, "input": input })),
            _ => Err(AdapterError::NotPending("more input".into())),
        }
    }

    fn give(&mut self, question: &QuestionId, given: Answer) -> Result<(), AdapterError> {
        let waiting = self.turn.as_mut().and_then(|turn| turn.questions.remove(question));
        let (id, form) = waiting.ok_or_else(|| AdapterError::NotPending(format!("an answer to {question}")))?;
        self.calls.answer(&id, &form.answer(given))
    }

    /// Codex closes what it waits for by itself when it is interrupted.
    fn cancel(&mut self) -> Result<(), AdapterError> {
        let turn = self.turn.as_mut().filter(|turn| turn.end.is_none() && !turn.over);
        let (Some(turn), Some(thread)) = (turn, &self.thread) else {
            return Err(AdapterError::NotPending("a stop".into()));
        };
        turn.cancelled = true;
        turn.approvals.take_all();
        turn.questions.clear();
        self.calls.tell("turn/interrupt", &json!({ "threadId": thread, "turnId": turn.id }))
    }

    /// The server is gone: tells whoever waits for it how.
    async fn finish(mut self) {
        let exit = tokio::time::timeout(EXIT_PATIENCE, self.control.wait_exit()).await;
        let how = match exit {
            Ok(Exit::Code(code)) => format!("exited with code {code}"),
            Ok(Exit::Signal(signal)) => format!("was killed by signal {signal}"),
            Ok(_) => "ended".to_owned(),
            Err(_) => "hung up".to_owned(),
        };
        let stderr_tail = Some(self.tail.text()).filter(|text| !text.is_empty());
        let exited = |when: &str| AdapterError::Exited {
            message: format!("Codex {how} {when}"),
            stderr_tail: stderr_tail.clone(),
        };
        for pending in self.calls.drain() {
            match pending {
                Pending::Reply(to) => reply(to, Err(exited("before it answered"))),
                Pending::Begun(to) => reply(to, Err(exited("before the turn began"))),
                Pending::Resumed { to, .. } => reply(to, Err(exited("before it was heard again"))),
                Pending::Cleaned | Pending::Ignored => {}
            }
        }
        let Some(mut turn) = self.turn.take() else { return };
        while let Ok(line) = self.stderr.try_recv() {
            self.outbox.push(map::noise(NoticeSource::Stderr, line));
        }
        let mut error = TaskError::new(FailureCode::RuntimeExited, format!("Codex {how} in the middle of the task"));
        error.stderr_tail = stderr_tail;
        turn.finish(TaskEnd::Failed(Box::new(error)), &mut self.outbox);
        // Nobody listens: then nobody needs to know.
        let _ = turn.drafts.send(self.outbox).await;
    }
}
