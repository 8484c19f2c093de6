//! What the session's commands do to a connection with a server.

use roost_engine::adapter::{AdapterError, Answer, Draft, TaskEnd};
use roost_model::ids::QuestionId;
use roost_model::payload::NoticeSource;
use roost_model::tool::ToolCallIdentity;
use roost_process::{Batch, Stdin};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::asks::{self, Wait};
use super::map;
use super::note::TurnNote;
use super::past::PastState;
use super::socket;
use super::turn::{Approval, METHOD, Turn};
use crate::host::json_rpc::{CallResult, Peer};
use crate::host::waiting::not_pending;
use crate::host::{Connection, ExitReport, Outbox, Reply, Task, Then, Writer, reply};

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

/// What is done with an answer.
pub(super) enum Pending {
    /// It is passed on.
    Reply(Reply<CallResult>),
    /// It says that the turn began.
    Begun(Reply),
    /// It says what became of a turn since this time, in milliseconds since 1970, when nobody listened; `last` if it is
    /// not asked again.
    Resumed { since: u64, last: bool, to: Reply<Option<PastState>> },
    /// It says that nothing of the turn is left.
    Cleaned,
    /// Nothing.
    Ignored,
}

/// A connection with a server, over its socket.
pub(super) struct CodexConnection {
    pub(super) dialog: Dialog,
    pub(super) messages: socket::Reader,
    /// Kept open, where it is ours: its end could be read as a wish to stop.
    pub(super) _stdin: Option<Stdin>,
    pub(super) note: TurnNote,
}

/// What was said over a connection, as far as it matters for what is said next.
pub(super) struct Dialog {
    pub(super) peer: Peer<Pending>,
    /// Codex's id of the thread, once it is known.
    pub(super) thread: Option<String>,
    pub(super) out: Outbox<Turn>,
}

impl Dialog {
    /// One that has not begun.
    pub(super) fn new(writer: Writer) -> Self {
        Self { peer: Peer::new(writer, None), thread: None, out: Outbox::default() }
    }
}

impl Connection for CodexConnection {
    const NAME: &'static str = "Codex";
    const STDIO: bool = false;

    type Turn = Turn;
    type Command = Command;
    type Message = Vec<String>;

    fn outbox(&mut self) -> &mut Outbox<Turn> {
        &mut self.dialog.out
    }

    fn on_command(&mut self, command: Command) -> Then {
        self.dialog.command(command);
        Then::Continue
    }

    fn on_stdout(&mut self, lines: Batch<'_>) -> Then {
        lines.for_each(|line| self.outbox().notice(map::noise(NoticeSource::Stdout, line.text().into_owned())));
        Then::Continue
    }

    fn on_stderr(&mut self, line: String) {
        self.outbox().notice(map::noise(NoticeSource::Stderr, line));
    }

    async fn next_message(&mut self) -> Option<Vec<String>> {
        self.messages.next_batch().await
    }

    async fn on_message(&mut self, texts: Vec<String>) -> Then {
        texts.iter().for_each(|text| self.dialog.message(text));
        // Leaves word of a turn that has begun, before anybody counts on it.
        if let Some(turn) = &mut self.dialog.out.turn
            && let Some(to) = turn.begun.take()
        {
            self.note.write(turn.id.as_deref().unwrap_or_default()).await;
            reply(to, Ok(()));
        }
        Then::Continue
    }

    async fn on_turn_delivered(&mut self) {
        self.note.remove().await;
    }

    fn on_exit(&mut self, exit: &ExitReport) {
        let Dialog { peer, out, .. } = &mut self.dialog;
        for pending in peer.drain() {
            match pending {
                Pending::Reply(to) => reply(to, Err(exit.error("before it answered"))),
                Pending::Begun(to) => reply(to, Err(exit.error("before the turn began"))),
                Pending::Resumed { to, .. } => reply(to, Err(exit.error("before it was heard again"))),
                Pending::Cleaned | Pending::Ignored => {}
            }
        }
        if let Some(turn) = &mut out.turn {
            turn.finish(TaskEnd::Failed(Box::new(exit.failure())), &mut out.drafts);
        }
    }
}

impl Dialog {
    fn command(&mut self, command: Command) {
        match command {
            Command::Call { method, params, to } => self.call(method, &params, to),
            Command::Notify { method } => {
                // A server that does not read says so at the next request.
                let _ = self.peer.notify(method, None);
            }
            Command::Bind { thread } => self.thread = Some(thread),
            Command::Begin { params, drafts, to } => self.begin(&params, drafts, to),
            Command::Adopt { thread, turn, drafts } => {
                (self.thread, self.out.turn) = (Some(thread), Some(Turn::adopted(turn, drafts)));
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
        if let Err((Pending::Reply(to), error)) = self.peer.call(method, params, Pending::Reply(to)) {
            reply(to, Err(error));
        }
    }

    /// Sends a request whose answer does not matter.
    fn tell(&mut self, method: &str, params: &Value) -> Result<(), AdapterError> {
        self.peer.call(method, params, Pending::Ignored).map_err(|(_, error)| error)
    }

    fn begin(&mut self, params: &Value, drafts: mpsc::Sender<Vec<Draft>>, to: Reply) {
        if let Err(error) = self.out.refuse_if_busy::<CodexConnection>() {
            return reply(to, Err(error));
        }
        if let Err((Pending::Begun(to), error)) = self.peer.call(METHOD, params, Pending::Begun(to)) {
            return reply(to, Err(error));
        }
        self.out.begin(Turn::new(Task::new(METHOD, drafts)));
    }

    /// Listens to the thread again; what Codex waits for it asks once more.
    fn catch_up(&mut self, since: u64, last: bool, to: Reply<Option<PastState>>) {
        let params = json!({ "threadId": self.thread });
        let then = Pending::Resumed { since, last, to };
        if let Err((Pending::Resumed { to, .. }, error)) = self.peer.call("thread/resume", &params, then) {
            reply(to, Err(error));
        }
    }

    /// Answers the question that this decision is about; Codex may have asked again meanwhile.
    fn decide(&mut self, call: &ToolCallIdentity, decision: Decision) -> Result<(), AdapterError> {
        let waiting = self.out.turn.as_mut().and_then(|turn| turn.approvals.answer(call));
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
        self.peer.answer(&id, &answer)?;
        if let (Decision::Allow, Some(turn)) = (&decision, &mut self.out.turn) {
            turn.mapper.tools.allowed(&call.tool_call_id, &mut self.out.drafts);
        }
        Ok(())
    }

    /// A refusal has no place for its reason, so the agent is told by a message. Said before the refusal, it is read
    /// together with it; a turn that takes no messages goes on without.
    fn explain(&mut self, reason: &str) {
        let text = format!("A tool call was refused: {reason}");
        if let Ok(params) = self.steering(&json!([{ "type": "text", "text": text }])) {
            let _ = self.tell("turn/steer", &params);
        }
    }

    fn steering(&self, input: &Value) -> Result<Value, AdapterError> {
        let turn = self.out.turn.as_ref().filter(|turn| turn.end.is_none() && !turn.task.is_over() && !turn.cancelled);
        match (turn.and_then(|turn| turn.id.as_ref()), &self.thread) {
            (Some(turn), Some(thread)) => Ok(json!({ "threadId": thread, "expectedTurnId": turn, "input": input })),
            _ => Err(AdapterError::NotPending("more input".into())),
        }
    }

    fn give(&mut self, question: &QuestionId, given: Answer) -> Result<(), AdapterError> {
        let waiting = self.out.turn.as_mut().and_then(|turn| turn.questions.remove(question));
        let (id, form) = waiting.ok_or_else(|| AdapterError::NotPending(format!("an answer to {question}")))?;
        self.peer.answer(&id, &form.answer(given))
    }

    /// Codex closes what it waits for by itself when it is interrupted.
    fn cancel(&mut self) -> Result<(), AdapterError> {
        let turn = self.out.turn.as_mut().filter(|turn| turn.end.is_none() && !turn.task.is_over());
        let (Some(turn), Some(thread)) = (turn, &self.thread) else {
            return Err(AdapterError::NotPending("a stop".into()));
        };
        turn.cancelled = true;
        turn.approvals.take_all();
        turn.questions.clear();
        let params = json!({ "threadId": thread, "turnId": turn.id });
        self.tell("turn/interrupt", &params)
    }
}
