//! What the session's commands do to a connection with an agent.

use std::convert::Infallible;

use agent_client_protocol_schema::v1 as acp;
use roost_engine::adapter::{AdapterError, Answer, Draft, Fact, TaskEnd};
use roost_model::ids::QuestionId;
use roost_model::payload::NoticeSource;
use roost_model::tool::ToolCallIdentity;
use roost_process::Batch;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::between::Between;
use super::cost::Spent;
use super::map;
use super::presets::Observed;
use super::questions;
use super::turn::{PROMPT, Permission, Turn};
use crate::host::json_rpc::{CallResult, Peer};
use crate::host::waiting::not_pending;
use crate::host::{Connection, ExitReport, Outbox, Reply, Task, Then, Writer, reply};

/// Where a denial's reason stands in the answer's `_meta`.
const REASON_META: &str = "roost";

/// What the session asks of the connection.
pub(super) enum Command {
    /// A request outside of a task.
    Call { method: &'static str, params: Value, to: Reply<CallResult> },
    /// The session's id is known, and whether it was made just now.
    Bind { native: String, is_new: bool },
    /// A task: the prompt, and where its drafts go.
    Prompt { params: Value, drafts: mpsc::Sender<Vec<Draft>>, to: Reply },
    /// A decision about a tool call.
    Decide { call: ToolCallIdentity, decision: Decision, to: Reply },
    /// An answer to a question.
    Answer { question: QuestionId, answer: Answer, to: Reply },
    /// The task is to stop.
    Cancel { to: Reply },
}

/// What was decided about a tool call.
pub(super) enum Decision {
    Allow,
    Deny { reason: String },
}

/// What is done with an answer.
pub(super) enum Pending {
    /// It is passed on.
    Reply(Reply<CallResult>),
    /// It ends the turn.
    Prompt,
}

/// A connection with an agent.
pub(super) struct AcpConnection {
    pub(super) peer: Peer<Pending>,
    observed: Observed,
    /// The agent's id of the session, once it is known.
    pub(super) native: Option<String>,
    pub(super) out: Outbox<Turn>,
    pub(super) spent: Spent,
    pub(super) between: Between,
}

impl AcpConnection {
    /// A connection with an agent that was seen to do this.
    pub(super) fn new(writer: Writer, observed: Observed) -> Self {
        let (native, out, spent, between) = Default::default();
        Self { peer: Peer::new(writer, Some("2.0")), observed, native, out, spent, between }
    }
}

impl Connection for AcpConnection {
    const NAME: &'static str = "the agent";

    type Turn = Turn;
    type Command = Command;
    type Message = Infallible;

    fn outbox(&mut self) -> &mut Outbox<Turn> {
        &mut self.out
    }

    fn on_command(&mut self, command: Command) -> Then {
        match command {
            Command::Call { method, params, to } => {
                if let Err((Pending::Reply(to), error)) = self.peer.call(method, &params, Pending::Reply(to)) {
                    reply(to, Err(error));
                }
            }
            Command::Bind { native, is_new } => {
                self.native = Some(native);
                if is_new {
                    self.spent = Spent::NOTHING;
                }
            }
            Command::Prompt { params, drafts, to } => reply(to, self.prompt(&params, drafts)),
            Command::Decide { call, decision, to } => reply(to, self.decide(&call, &decision)),
            Command::Answer { question, answer, to } => reply(to, self.give(&question, answer)),
            Command::Cancel { to } => reply(to, self.cancel()),
        }
        Then::Continue
    }

    fn on_stdout(&mut self, lines: Batch<'_>) -> Then {
        lines.for_each(|line| self.line(line));
        // An agent that leaves a tool running after its turn is ended.
        if self.out.turn.as_ref().is_some_and(Turn::leaves_a_tool) { Then::Leave } else { Then::Continue }
    }

    fn on_stderr(&mut self, line: String) {
        if self.out.turn.is_some() {
            self.out.drafts.push(map::noise(NoticeSource::Stderr, line));
        }
    }

    fn on_exit(&mut self, exit: &ExitReport) {
        for pending in self.peer.drain() {
            if let Pending::Reply(to) = pending {
                reply(to, Err(exit.error("before it answered")));
            }
        }
        if let Some((turn, drafts)) = self.out.live() {
            turn.mapper.end(drafts);
            turn.task.end(TaskEnd::Failed(Box::new(exit.failure())), drafts);
        }
    }
}

impl AcpConnection {
    fn prompt(&mut self, params: &Value, drafts: mpsc::Sender<Vec<Draft>>) -> Result<(), AdapterError> {
        self.out.refuse_if_busy::<Self>()?;
        self.peer.call(PROMPT, params, Pending::Prompt).map_err(|(_, error)| error)?;
        let begins = params.pointer("/prompt/0/text").and_then(Value::as_str).unwrap_or_default();
        let is_command = begins.trim_start().starts_with(['/', '$']);
        let mut drafts_so_far = self.between.take();
        self.out.begin(Turn { is_command, ..Turn::new(Task::new(PROMPT, drafts), self.observed) });
        drafts_so_far.append(&mut self.out.drafts);
        self.out.drafts = drafts_so_far;
        Ok(())
    }

    fn decide(&mut self, call: &ToolCallIdentity, decision: &Decision) -> Result<(), AdapterError> {
        let turn = self.out.turn.as_mut().ok_or_else(|| not_pending(call))?;
        let permission = turn.permissions.answer(call).ok_or_else(|| not_pending(call))?;
        let mut response = acp::RequestPermissionResponse::new(choose(&permission.options, decision));
        if let Decision::Deny { reason } = decision {
            // The protocol has no place for a reason; agents that know us find it here.
            let meta = json!({ REASON_META: { "reason": reason } });
            response = response.meta(meta.as_object().cloned());
            turn.refused = true;
        }
        self.peer.answer(&permission.id, &response)?;
        if matches!(decision, Decision::Allow) {
            // Agents do not reliably say that an allowed call runs: from here on it does.
            self.out.drafts.push(Fact::ToolStarted(call.tool_call_id.clone()).into());
        }
        Ok(())
    }

    fn give(&mut self, question: &QuestionId, given: Answer) -> Result<(), AdapterError> {
        let waiting = self.out.turn.as_mut().and_then(|turn| turn.questions.remove(question));
        let (id, form) = waiting.ok_or_else(|| AdapterError::NotPending(format!("an answer to {question}")))?;
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
        for (_, (id, form)) in turn.questions.drain() {
            self.peer.answer(&id, &questions::response(&form, Answer::Cancelled))?;
        }
        Ok(())
    }

    /// Nobody will decide about this; an agent that does not read its input does not wait for it either.
    pub(super) fn give_up(&self, permission: &Permission) {
        let _ = self.peer.answer(&permission.id, &cancelled());
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

/// The answer to a request for permission that nobody decides about.
pub(super) fn cancelled() -> acp::RequestPermissionResponse {
    acp::RequestPermissionResponse::new(acp::RequestPermissionOutcome::Cancelled)
}
