//! The connection with an agent: its state, and what the session's commands do to it. Lines from the agent are handled
//! in [`super::reader`].

use std::future::pending;

use agent_client_protocol_schema::v1 as acp;
use roost_engine::adapter::{AdapterError, Answer, Draft, Fact};
use roost_model::ids::QuestionId;
use roost_model::mode::Mode;
use roost_model::payload::{NoticeLevel, NoticeSource};
use roost_model::tool::ToolCallIdentity;
use roost_process::Batch;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::client_requests::{AgentClient, ClientWork, PendingClientRequest};
use super::cost::SessionCost;
use super::notice_backlog::NoticeBacklog;
use super::presets::{AgentProfile, StderrLine};
use super::questions;
use super::tools::TurnEnd;
use super::turn::{AcpTurn, PROMPT, PendingPermission};
use crate::host::json_rpc::{CallResult, Peer, RpcError};
use crate::host::pending_decisions::{not_pending, question_not_pending};
use crate::host::{Connection, ExitReport, Outbox, PumpAction, Reply, Task, Writer, notice, reply};

/// The member of the answer's `_meta` that carries the reason of a denial.
const REASON_META: &str = "roost";
/// The error code of a denied request about a file or a terminal: the protocol has none of its own.
const DENIED: i64 = -32603;
/// The protocol's error code of a cancelled request.
const CANCELLED: i64 = -32800;

/// The session's commands. `to` receives the result once the command is done.
pub(super) enum AcpCommand {
    /// Sends a request that belongs to no task.
    Call { method: &'static str, params: Value, to: Reply<CallResult> },
    /// Sets the agent's id of the session. A new session has cost nothing yet; the cost of an old one is unknown.
    Bind { native: String, is_new: bool },
    /// Reports these notices in the next task.
    Tell { notices: Vec<Draft> },
    /// Begins a task, whose events are sent to `drafts`; an error while another task runs.
    Prompt { params: Value, mode: Mode, drafts: mpsc::Sender<Vec<Draft>>, to: Reply },
    /// Answers the agent's pending permission request about this attempt at a tool call.
    Decide { call: ToolCallIdentity, decision: ToolDecision, to: Reply },
    /// Answers an open question.
    Answer { question: QuestionId, answer: Answer, to: Reply },
    /// Cancels the running task.
    Cancel { to: Reply },
}

/// The host's decision about a tool call.
pub(super) enum ToolDecision {
    Allow,
    Deny { reason: String },
}

/// What to do with the agent's answer to a request of ours.
pub(super) enum PendingReply {
    /// Pass it on to the session.
    Call(Reply<CallResult>),
    /// End the turn: it answers `session/prompt`.
    Prompt,
}

/// The state of the connection with one agent process.
pub(super) struct AcpConnection {
    pub(super) peer: Peer<PendingReply>,
    profile: AgentProfile,
    /// The agent's id of the session; `None` before [`AcpCommand::Bind`].
    pub(super) native: Option<String>,
    pub(super) out: Outbox<AcpTurn>,
    pub(super) cost: SessionCost,
    /// Messages without a meaning here that came while no turn ran.
    pub(super) backlog: NoticeBacklog,
    /// What does the agent's requests about files and terminals; `None` if nothing was offered to it.
    pub(super) client: Option<AgentClient>,
}

impl AcpConnection {
    /// A connection without a session, with an agent of this profile.
    pub(super) fn new(writer: Writer, profile: AgentProfile, client: Option<AgentClient>) -> Self {
        let (native, out, cost, backlog) = Default::default();
        Self { peer: Peer::new(writer, Some("2.0")), profile, native, out, cost, backlog, client }
    }
}

impl Connection for AcpConnection {
    const NAME: &'static str = "the agent";

    type Turn = AcpTurn;
    type Command = AcpCommand;
    type Message = ClientWork;

    fn outbox(&mut self) -> &mut Outbox<AcpTurn> {
        &mut self.out
    }

    fn on_command(&mut self, command: AcpCommand) -> PumpAction {
        match command {
            AcpCommand::Call { method, params, to } => {
                if let Err((PendingReply::Call(to), error)) = self.peer.call(method, &params, PendingReply::Call(to)) {
                    reply(to, Err(error));
                }
            }
            AcpCommand::Bind { native, is_new } => {
                self.native = Some(native);
                if is_new {
                    self.cost = SessionCost::ZERO;
                }
            }
            AcpCommand::Tell { notices } => notices.into_iter().for_each(|notice| self.backlog.push(notice)),
            AcpCommand::Prompt { params, mode, drafts, to } => {
                self.client.iter_mut().for_each(|client| client.begin_task(mode));
                reply(to, self.prompt(&params, drafts));
            }
            AcpCommand::Decide { call, decision, to } => reply(to, self.decide(&call, &decision)),
            AcpCommand::Answer { question, answer, to } => reply(to, self.answer_question(&question, answer)),
            AcpCommand::Cancel { to } => reply(to, self.cancel()),
        }
        PumpAction::Continue
    }

    fn on_stdout(&mut self, lines: Batch<'_>) -> PumpAction {
        lines.for_each(|line| self.on_line(line));
        // The process is stopped if a cancelled turn is over and one of its tools still runs.
        if self.out.turn.as_ref().is_some_and(AcpTurn::leaves_a_tool) {
            PumpAction::Leave
        } else {
            PumpAction::Continue
        }
    }

    fn on_stderr(&mut self, line: String) {
        if self.out.turn.is_some() {
            let (level, message) = match (self.profile.read_stderr)(&line) {
                StderrLine::Plain => (NoticeLevel::Info, line),
                StderrLine::Debug => return,
                StderrLine::Warning(message) => (NoticeLevel::Warning, message),
            };
            self.out.drafts.push(notice(level, NoticeSource::Stderr, message));
        }
    }

    async fn next_message(&mut self) -> Option<ClientWork> {
        match &mut self.client {
            Some(client) => Some(client.next_done().await),
            None => pending().await,
        }
    }

    async fn on_message(&mut self, done: ClientWork) -> PumpAction {
        if let Some((id, answer)) = done.answer {
            let sent = match answer {
                Ok(answer) => self.peer.answer(&id, &answer),
                Err(error) => self.peer.refuse(&id, &error),
            };
            self.warn_if_unread(sent);
        }
        if let (Some(completed), Some((_, drafts))) = (done.completed, self.out.live()) {
            drafts.push(Fact::ToolCompleted(completed).into());
        }
        PumpAction::Continue
    }

    fn on_exit(&mut self, exit: &ExitReport) {
        for pending in self.peer.drain() {
            if let PendingReply::Call(to) = pending {
                reply(to, Err(exit.error("before it answered")));
            }
        }
        if let Some((turn, drafts)) = self.out.live() {
            turn.mapper.end(TurnEnd::Exited, drafts);
            turn.task.fail(exit, drafts);
        }
    }
}

impl AcpConnection {
    fn prompt(&mut self, params: &Value, drafts: mpsc::Sender<Vec<Draft>>) -> Result<(), AdapterError> {
        self.out.refuse_if_busy::<Self>()?;
        self.peer.call(PROMPT, params, PendingReply::Prompt).map_err(|(_, error)| error)?;
        let begins = params.pointer("/prompt/0/text").and_then(Value::as_str).unwrap_or_default();
        let is_command = begins.trim_start().starts_with(['/', '$']);
        let mut drafts_so_far = self.backlog.drain();
        self.out.begin(AcpTurn { is_command, ..AcpTurn::new(Task::new(PROMPT, drafts), self.profile) });
        drafts_so_far.append(&mut self.out.drafts);
        self.out.drafts = drafts_so_far;
        Ok(())
    }

    fn decide(&mut self, call: &ToolCallIdentity, decision: &ToolDecision) -> Result<(), AdapterError> {
        let turn = self.out.turn.as_mut().ok_or_else(|| not_pending(call))?;
        if let Some(request) = turn.client_requests.answer(call) {
            return self.decide_client_request(call, request, decision);
        }
        let permission = turn.permissions.answer(call).ok_or_else(|| not_pending(call))?;
        let mut response = acp::RequestPermissionResponse::new(choose(&permission.options, decision));
        if let ToolDecision::Deny { reason } = decision {
            // The protocol has no place for a reason; agents that know Roost find it here.
            let meta = json!({ REASON_META: { "reason": reason } });
            response = response.meta(meta.as_object().cloned());
            turn.refused = true;
        }
        self.peer.answer(&permission.id, &response)?;
        if matches!(decision, ToolDecision::Allow) {
            // Agents do not reliably say that an allowed call runs: from here on it does.
            self.out.drafts.push(Fact::ToolStarted(call.tool_call_id.clone()).into());
        }
        Ok(())
    }

    fn decide_client_request(
        &mut self,
        call: &ToolCallIdentity,
        request: PendingClientRequest,
        decision: &ToolDecision,
    ) -> Result<(), AdapterError> {
        match (decision, &mut self.client) {
            (ToolDecision::Allow, Some(client)) => {
                self.out.drafts.push(Fact::ToolStarted(call.tool_call_id.clone()).into());
                client.run(call, request);
                Ok(())
            }
            (ToolDecision::Deny { reason }, _) => self.peer.refuse(&request.id, &denied(reason)),
            // Nothing is asked where there is no client.
            (ToolDecision::Allow, None) => Ok(()),
        }
    }

    fn answer_question(&mut self, question: &QuestionId, given: Answer) -> Result<(), AdapterError> {
        let waiting = self.out.turn.as_mut().and_then(|turn| turn.questions.remove(question));
        let (id, form) = waiting.ok_or_else(|| question_not_pending(question))?;
        self.peer.answer(&id, &questions::response(&form, given))
    }

    fn cancel(&mut self) -> Result<(), AdapterError> {
        let Some((turn, _)) = self.out.live() else {
            return Err(AdapterError::NotPending("a stop".into()));
        };
        turn.cancelled = true;
        self.peer.notify("session/cancel", Some(&json!({ "sessionId": self.native })))?;
        // The protocol wants open requests answered as cancelled; some agents wait for exactly that.
        for permission in turn.permissions.take_all() {
            self.peer.answer(&permission.id, &cancelled())?;
        }
        for request in turn.client_requests.take_all() {
            self.peer.refuse(&request.id, &RpcError { code: CANCELLED, message: "cancelled".into(), data: None })?;
        }
        for (_, (id, form)) in turn.questions.drain() {
            self.peer.answer(&id, &questions::response(&form, Answer::Cancelled))?;
        }
        Ok(())
    }

    /// Answers a replaced permission request as cancelled. A failure is ignored: an agent that does not read its input
    /// does not wait for the answer.
    pub(super) fn give_up(&self, permission: &PendingPermission) {
        let _ = self.peer.answer(&permission.id, &cancelled());
    }
}

/// The offered option for a decision, a one-time option before a lasting one; `Cancelled` if none matches.
fn choose(options: &[acp::PermissionOption], decision: &ToolDecision) -> acp::RequestPermissionOutcome {
    use acp::PermissionOptionKind as Kind;
    let kinds = match decision {
        ToolDecision::Allow => [Kind::AllowOnce, Kind::AllowAlways],
        ToolDecision::Deny { .. } => [Kind::RejectOnce, Kind::RejectAlways],
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

/// The answer to a request about a file or a terminal that was denied.
fn denied(reason: &str) -> RpcError {
    RpcError { code: DENIED, message: format!("not allowed: {reason}"), data: None }
}

/// The answer to a permission request that will not be decided.
pub(super) fn cancelled() -> acp::RequestPermissionResponse {
    acp::RequestPermissionResponse::new(acp::RequestPermissionOutcome::Cancelled)
}
