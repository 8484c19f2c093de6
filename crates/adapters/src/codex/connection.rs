//! The connection to one app server, and what the session's commands do to it. Messages from the server are handled in
//! [`super::reader`].

use roost_engine::adapter::{AdapterError, Answer, Draft, TaskEnd};
use roost_model::ids::QuestionId;
use roost_model::payload::NoticeLevel;
use roost_model::tool::ToolCallIdentity;
use roost_process::{Batch, Stdin};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::map;
use super::requests::{self, ApprovalKind};
use super::resume_point::TurnMarker;
use super::resume_result::PastTurnState;
use super::socket;
use super::turn::{CodexTurn, PendingApproval, TurnStart};
use crate::host::json_rpc::{CallResult, Peer};
use crate::host::pending_decisions::not_pending;
use crate::host::{Connection, ExitReport, Outbox, PumpAction, Reply, Task, Writer, reply};

/// A command from the session to the task that owns the connection.
pub(super) enum CodexCommand {
    /// Sends a request that belongs to no task, such as `initialize`; answered with its result.
    Call { method: &'static str, params: Value, to: Reply<CallResult> },
    /// Sends a notification without parameters.
    Notify { method: &'static str },
    /// Sets the thread that later turns and notifications belong to.
    Bind { thread: String },
    /// Starts a turn. Answered when Codex has accepted it and the turn marker is on disk.
    Begin { start: TurnStart, drafts: mpsc::Sender<Vec<Draft>>, to: Reply },
    /// Takes over a turn that an earlier daemon started.
    Adopt { thread: String, turn: String, drafts: mpsc::Sender<Vec<Draft>> },
    /// Fetches what the adopted turn did since `since`, in milliseconds since 1970. `last` says that the session will
    /// not ask again, so an unsure state counts as the end. Answered with `None` if Codex does not know the turn.
    CatchUp { since: u64, last: bool, to: Reply<Option<PastTurnState>> },
    /// Answers a tool call that waits for an approval or a result.
    Decide { call: ToolCallIdentity, decision: ToolDecision, to: Reply },
    /// Answers a question that the turn asked.
    Answer { question: QuestionId, answer: Answer, to: Reply },
    /// Adds input to the running turn; answered with the result of `turn/steer`.
    Steer { input: Value, to: Reply<CallResult> },
    /// Interrupts the running turn.
    Cancel { to: Reply },
}

/// How a tool call is answered.
pub(super) enum ToolDecision {
    Allow,
    Deny {
        reason: String,
    },
    /// The result of a tool that the host ran.
    Result(Value),
}

/// What to do with the response to a request that we sent.
pub(super) enum PendingCall {
    /// Pass it on to whoever sent the request.
    Forward(Reply<CallResult>),
    /// It answers `turn/start` and carries the id of the turn.
    TurnStart(Reply),
    /// It answers the `thread/resume` of [`CodexCommand::CatchUp`] and carries what the turn did meanwhile.
    CatchUp { since: u64, last: bool, to: Reply<Option<PastTurnState>> },
    /// It answers the cleanup of background terminals; the turn may end now.
    Cleanup,
    /// Ignore it: the request was sent for its effect.
    Ignore,
}

/// The connection to one app server, over its socket.
pub(super) struct CodexConnection {
    pub(super) dialog: Dialog,
    pub(super) messages: socket::Reader,
    /// Held open for as long as the connection lives: Codex could read its end as a wish to stop. `None` for a server
    /// that an earlier daemon started.
    pub(super) _stdin: Option<Stdin>,
    pub(super) marker: TurnMarker,
}

/// The state of the conversation with the server: open requests, the thread, and the running turn.
pub(super) struct Dialog {
    pub(super) peer: Peer<PendingCall>,
    /// Codex's id of the thread; `None` until one is started or resumed.
    pub(super) thread: Option<String>,
    pub(super) out: Outbox<CodexTurn>,
}

impl Dialog {
    /// The state of a new connection, without a thread.
    pub(super) fn new(writer: Writer) -> Self {
        Self { peer: Peer::new(writer, None), thread: None, out: Outbox::default() }
    }
}

impl Connection for CodexConnection {
    const NAME: &'static str = "Codex";
    const STDIO: bool = false;

    type Turn = CodexTurn;
    type Command = CodexCommand;
    type Message = Vec<String>;

    fn outbox(&mut self) -> &mut Outbox<CodexTurn> {
        &mut self.dialog.out
    }

    fn on_command(&mut self, command: CodexCommand) -> PumpAction {
        self.dialog.on_command(command);
        PumpAction::Continue
    }

    fn on_stdout(&mut self, lines: Batch<'_>) -> PumpAction {
        self.outbox().stdout_noise(lines);
        PumpAction::Continue
    }

    fn on_stderr(&mut self, line: String) {
        self.outbox().stderr_noise(line);
    }

    async fn next_message(&mut self) -> Option<Vec<String>> {
        self.messages.next_batch().await
    }

    async fn on_message(&mut self, texts: Vec<String>) -> PumpAction {
        texts.iter().for_each(|text| self.dialog.on_message(text));
        // The marker is on disk before the session hears that the turn has started, so a later daemon finds the turn.
        if let Some(turn) = &mut self.dialog.out.turn
            && let Some(to) = turn.start_reply.take()
        {
            self.marker.write(turn.id.as_deref().unwrap_or_default()).await;
            reply(to, Ok(()));
        }
        PumpAction::Continue
    }

    async fn on_turn_delivered(&mut self) {
        self.marker.remove().await;
    }

    fn on_exit(&mut self, exit: &ExitReport) {
        let Dialog { peer, out, .. } = &mut self.dialog;
        for pending in peer.drain() {
            match pending {
                PendingCall::Forward(to) => reply(to, Err(exit.error("before it answered"))),
                PendingCall::TurnStart(to) => reply(to, Err(exit.error("before the turn began"))),
                PendingCall::CatchUp { to, .. } => reply(to, Err(exit.error("before it was heard again"))),
                PendingCall::Cleanup | PendingCall::Ignore => {}
            }
        }
        if let Some(turn) = &mut out.turn {
            turn.finish(TaskEnd::Failed(Box::new(exit.failure())), &mut out.drafts);
        }
    }
}

impl Dialog {
    fn on_command(&mut self, command: CodexCommand) {
        match command {
            CodexCommand::Call { method, params, to } => self.call(method, &params, to),
            CodexCommand::Notify { method } => {
                // A server that does not read says so at the next request.
                let _ = self.peer.notify(method, None);
            }
            CodexCommand::Bind { thread } => self.thread = Some(thread),
            CodexCommand::Begin { start, drafts, to } => self.begin(start, drafts, to),
            CodexCommand::Adopt { thread, turn, drafts } => {
                (self.thread, self.out.turn) = (Some(thread), Some(CodexTurn::adopted(turn, drafts)));
            }
            CodexCommand::CatchUp { since, last, to } => self.catch_up(since, last, to),
            CodexCommand::Decide { call, decision, to } => reply(to, self.decide(&call, decision)),
            CodexCommand::Answer { question, answer, to } => reply(to, self.answer_question(&question, answer)),
            CodexCommand::Steer { input, to } => match self.steer_params(&input) {
                Ok(params) => self.call("turn/steer", &params, to),
                Err(error) => reply(to, Err(error)),
            },
            CodexCommand::Cancel { to } => reply(to, self.cancel()),
        }
    }

    fn call(&mut self, method: &str, params: &Value, to: Reply<CallResult>) {
        if let Err((PendingCall::Forward(to), error)) = self.peer.call(method, params, PendingCall::Forward(to)) {
            reply(to, Err(error));
        }
    }

    /// Sends a request and ignores its response.
    fn call_and_ignore(&mut self, method: &str, params: &Value) -> Result<(), AdapterError> {
        self.peer.call(method, params, PendingCall::Ignore).map_err(|(_, error)| error)
    }

    fn begin(&mut self, start: TurnStart, drafts: mpsc::Sender<Vec<Draft>>, to: Reply) {
        let TurnStart { method, params, warning } = start;
        if let Err(error) = self.out.refuse_if_busy::<CodexConnection>() {
            return reply(to, Err(error));
        }
        if let Err((PendingCall::TurnStart(to), error)) = self.peer.call(method, &params, PendingCall::TurnStart(to)) {
            return reply(to, Err(error));
        }
        self.out.begin(CodexTurn::new(Task::new(method, drafts)));
        self.out.drafts.extend(warning.map(|warning| map::notice(NoticeLevel::Warning, warning, None)));
    }

    /// Subscribes to the thread again. Codex then repeats the requests that it still waits on.
    fn catch_up(&mut self, since: u64, last: bool, to: Reply<Option<PastTurnState>>) {
        let params = json!({ "threadId": self.thread });
        let then = PendingCall::CatchUp { since, last, to };
        if let Err((PendingCall::CatchUp { to, .. }, error)) = self.peer.call("thread/resume", &params, then) {
            reply(to, Err(error));
        }
    }

    /// Answers the approval that this decision is about. It is an error if Codex has asked again meanwhile: the
    /// decision was about another attempt.
    fn decide(&mut self, call: &ToolCallIdentity, decision: ToolDecision) -> Result<(), AdapterError> {
        let waiting = self.out.turn.as_mut().and_then(|turn| turn.approvals.answer(call));
        let PendingApproval { id, approval } = waiting.ok_or_else(|| not_pending(call))?;
        let answer = match &decision {
            ToolDecision::Allow => approval.allow(),
            ToolDecision::Deny { reason } => approval.deny(reason),
            ToolDecision::Result(result) => requests::host_result(result, true),
        };
        if let ToolDecision::Deny { reason } = &decision
            && approval != ApprovalKind::HostTool
        {
            self.send_denial_reason(reason);
        }
        self.peer.answer(&id, &answer)?;
        if let (ToolDecision::Allow, Some(turn)) = (&decision, &mut self.out.turn) {
            turn.mapper.tools.on_allowed(&call.tool_call_id, &mut self.out.drafts);
        }
        Ok(())
    }

    /// Tells the agent why a call was refused, as a steering message, because a refusal has no field for it. It is
    /// sent before the refusal, so the agent reads both together. A turn that takes no input goes on without it.
    fn send_denial_reason(&mut self, reason: &str) {
        let text = format!("A tool call was refused: {reason}");
        if let Ok(params) = self.steer_params(&json!([{ "type": "text", "text": text }])) {
            let _ = self.call_and_ignore("turn/steer", &params);
        }
    }

    /// The parameters of `turn/steer`; an error if no turn is running that could take input.
    fn steer_params(&self, input: &Value) -> Result<Value, AdapterError> {
        let turn = self.out.turn.as_ref().filter(|turn| turn.end.is_none() && !turn.task.is_over() && !turn.cancelled);
        match (turn.and_then(|turn| turn.id.as_ref()), &self.thread) {
            (Some(turn), Some(thread)) => Ok(json!({ "threadId": thread, "expectedTurnId": turn, "input": input })),
            _ => Err(AdapterError::NotPending("more input".into())),
        }
    }

    fn answer_question(&mut self, question: &QuestionId, answer: Answer) -> Result<(), AdapterError> {
        let waiting = self.out.turn.as_mut().and_then(|turn| turn.questions.remove(question));
        let (id, format) = waiting.ok_or_else(|| AdapterError::NotPending(format!("an answer to {question}")))?;
        self.peer.answer(&id, &format.answer(answer))
    }

    /// Interrupts the turn. Codex withdraws its own open requests then, so ours are dropped too.
    fn cancel(&mut self) -> Result<(), AdapterError> {
        let turn = self.out.turn.as_mut().filter(|turn| turn.end.is_none() && !turn.task.is_over());
        let (Some(turn), Some(thread)) = (turn, &self.thread) else {
            return Err(AdapterError::NotPending("a stop".into()));
        };
        turn.cancelled = true;
        turn.approvals.take_all();
        turn.questions.clear();
        let params = json!({ "threadId": thread, "turnId": turn.id });
        self.call_and_ignore("turn/interrupt", &params)
    }
}
