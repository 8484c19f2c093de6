//! Reads the agent's lines: updates the turn, answers the agent's requests, completes ours, and fills the outbox.

use agent_client_protocol_schema::v1 as acp;
use roost_engine::adapter::{AdapterError, Draft, Fact, TaskEnd};
use roost_model::failure::FailureCode;
use roost_model::payload::{NoticeLevel, NoticeSource, RequestStatus};
use roost_process::Line;
use serde_json::Value;
use serde_json::value::RawValue;

use super::connection::{AcpConnection, PendingReply, cancelled};
use super::failure;
use super::map;
use super::questions;
use super::tools::TurnEnd;
use super::turn::{AcpTurn, PendingPermission};
use super::wire::{self, AcpMessage};
use crate::host::json_rpc::{self, CallResult, RpcError, RpcId};
use crate::host::{notice, reply, skipped_line};

/// The notification by which the agent reports everything that it does in a turn.
const UPDATE: &str = "session/update";

impl AcpConnection {
    /// Handles one line of the agent's stdout. A line that is too long, unknown or no JSON-RPC becomes a notice.
    pub(super) fn on_line(&mut self, line: Line<'_>) {
        if let Line::TooLong { bytes, .. } = line {
            self.report(skipped_line(bytes));
            return;
        }
        let text = line.text();
        let message = match wire::parse(&text) {
            AcpMessage::Chunk(chunk) => {
                // Before the session is bound, this is a replay of its history.
                if self.native.as_ref().is_some_and(|native| *native != chunk.session) {
                    let raw = serde_json::from_str(&text).ok();
                    self.foreign(format!("an update for session {}, which is not open here", chunk.session), raw);
                } else if let Some((turn, drafts)) = self.out.live() {
                    turn.mapper.chunk(chunk, drafts);
                }
                return;
            }
            AcpMessage::Rpc(message) => message,
        };
        match message {
            json_rpc::Incoming::Notification { method, params } if method == UPDATE => self.update(params),
            json_rpc::Incoming::Notification { method, params } => {
                // Custom notifications are the agent's own business; `$/` ones are about requests, and an agent that
                // cancels one does not wait for its answer.
                if !method.starts_with(['_', '$']) {
                    self.report(map::unknown(&format!("a notification that Roost does not know: {method}"), params));
                }
            }
            json_rpc::Incoming::Request { id, method, params } => self.request(id, &method, params),
            json_rpc::Incoming::Response { id, result } => self.response(id, result),
            json_rpc::Incoming::Noise if text.trim().is_empty() => {}
            json_rpc::Incoming::Noise => self.noise(text.into_owned()),
        }
    }

    fn noise(&mut self, message: String) {
        if self.out.turn.is_some() {
            self.out.drafts.push(notice(NoticeLevel::Info, NoticeSource::Stdout, message));
        }
    }

    fn foreign(&mut self, message: String, raw: Option<Value>) {
        self.report(map::foreign(message, raw));
    }

    /// Reports a message without a meaning here: in the running turn, else in the next one.
    fn report(&mut self, draft: Draft) {
        match self.out.live() {
            Some((_, drafts)) => drafts.push(draft),
            None => self.backlog.push(draft),
        }
    }

    fn update(&mut self, params: &RawValue) {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct UpdateTarget {
            session_id: String,
        }
        // Outside of a turn agents replay history and announce commands; neither belongs to a task.
        let Some((turn, drafts)) = self.out.live() else {
            match serde_json::from_str::<acp::SessionNotification>(params.get()) {
                Ok(notification) => {
                    // Advances the total, so that the next turn is not charged for it.
                    map::cost_so_far(&notification).and_then(|total| self.cost.record_total(total));
                }
                Err(_) => self.backlog.push(map::unknown(map::UNKNOWN_UPDATE, params)),
            }
            return;
        };
        match serde_json::from_str::<UpdateTarget>(params.get()) {
            Ok(target) if self.native.as_deref() == Some(&*target.session_id) => {
                turn.mapper.update(params, &mut self.cost, drafts);
                for (call, terminal) in turn.mapper.tools.take_shown_terminals() {
                    self.client.iter_mut().for_each(|client| client.show_terminal(call.clone(), &terminal));
                }
            }
            Ok(target) => {
                let message = format!("an update for session {}, which is not open here", target.session_id);
                drafts.push(map::unknown(&message, params));
            }
            Err(_) => drafts.push(map::unknown("an update without a session", params)),
        }
    }

    fn request(&mut self, id: RpcId, method: &str, params: &RawValue) {
        if self.on_client_request(&id, method, params) {
            return;
        }
        let turn = self.out.live();
        match (method, turn) {
            ("session/request_permission", Some((turn, drafts))) => {
                match serde_json::from_str::<acp::RequestPermissionRequest>(params.get()) {
                    Ok(request) => {
                        let call = turn.mapper.on_permission_request(request.tool_call, drafts);
                        let permission = PendingPermission { id, options: request.options };
                        let void = turn.permissions.ask(&call.identity, permission);
                        drafts.push(Fact::ToolAsks(call).into());
                        void.iter().for_each(|permission| self.give_up(permission));
                    }
                    Err(error) => self.refuse(&id, -32602, &error.to_string()),
                }
            }
            // Without a turn nobody can decide, and the agent must not wait for ever.
            ("session/request_permission", None) => {
                let sent = self.peer.answer(&id, &cancelled());
                self.warn_if_unread(sent);
            }
            ("elicitation/create", Some((turn, drafts))) => {
                match serde_json::from_str::<acp::CreateElicitationRequest>(params.get()) {
                    Ok(acp::CreateElicitationRequest { mode: acp::ElicitationMode::Form(form), message, .. }) => {
                        let question = questions::question(message, &form.requested_schema);
                        turn.questions.insert(question.question_id.clone(), (id, form.requested_schema));
                        drafts.push(Fact::Question(question).into());
                    }
                    Ok(_) => self.refuse(&id, -32602, "only forms can be asked here"),
                    Err(error) => self.refuse(&id, -32602, &error.to_string()),
                }
            }
            _ => self.refuse(&id, -32601, &format!("{method} is not offered by this client")),
        }
    }

    /// Handles a request about a file or a terminal; false if it is none, or was not offered.
    fn on_client_request(&mut self, id: &RpcId, method: &str, params: &RawValue) -> bool {
        let Some(client) = &mut self.client else { return false };
        if let Some(begun) = client.on_terminal_request(id, method, params.get()) {
            if let Err(error) = begun {
                self.refuse_with(id, &error);
            }
            return true;
        }
        let Some(read) = client.read(id, method, params.get()) else { return false };
        let is_full = client.is_full();
        match (read, self.out.live()) {
            (Ok((call, request)), Some((turn, drafts))) if !is_full => {
                turn.client_requests.ask(&call.identity, request);
                drafts.push(Fact::ToolAsks(call).into());
            }
            // Nothing is done that nobody can judge or that no record would have.
            (Ok(_), None) => self.refuse(id, -32603, "files and terminals can be used during a turn only"),
            (Ok(_), Some(_)) => self.refuse(id, -32603, "too many requests at once"),
            (Err(error), _) => self.refuse_with(id, &error),
        }
        true
    }

    fn response(&mut self, id: u64, result: Result<&RawValue, RpcError>) {
        let value = json_rpc::owned(result);
        match (self.peer.take(id), self.out.live()) {
            (Some(PendingReply::Call(to)), _) => reply(to, Ok(value)),
            (Some(PendingReply::Prompt), Some((turn, drafts))) => {
                turn.mapper.end(TurnEnd::Answered, drafts);
                let status = if value.is_ok() { RequestStatus::Ok } else { RequestStatus::Error };
                turn.task.request_completed(status, drafts);
                drafts.extend(value.as_ref().ok().and_then(map::prompt_usage));
                let end = end(value, turn);
                turn.task.end(end, drafts);
            }
            (Some(PendingReply::Prompt) | None, _) => {
                let raw = value.or_else(serde_json::to_value).ok();
                self.foreign(format!("an answer to request {id}, which is not open"), raw);
            }
        }
    }

    fn refuse(&mut self, id: &RpcId, code: i64, message: &str) {
        self.refuse_with(id, &RpcError { code, message: message.into(), data: None });
    }

    fn refuse_with(&mut self, id: &RpcId, error: &RpcError) {
        let sent = self.peer.refuse(id, error);
        self.warn_if_unread(sent);
    }

    pub(super) fn warn_if_unread(&mut self, sent: Result<(), AdapterError>) {
        if let Err(error) = sent {
            self.noise(error.to_string());
        }
    }
}

fn end(result: CallResult, turn: &AcpTurn) -> TaskEnd {
    let error = match result {
        Ok(value) if !turn.is_command && map::counts_no_answer(&value) => {
            return TaskEnd::Failed(Box::new(failure::broken_off(value)));
        }
        Ok(value) => {
            return match value.get("stopReason").and_then(Value::as_str) {
                Some("cancelled") if turn.refused && !turn.cancelled => {
                    TaskEnd::Stopped("the agent gave up because a tool call was refused".into())
                }
                Some("cancelled") => TaskEnd::Stopped("cancelled".into()),
                Some(reason) => TaskEnd::Completed(reason.into()),
                None => TaskEnd::failed(FailureCode::RuntimeError, "the agent ended its turn without saying why"),
            };
        }
        // The protocol forbids an error as the end of a cancelled turn, but some agents send one.
        Err(_) if turn.cancelled => return TaskEnd::Stopped("cancelled".into()),
        Err(error) => error,
    };
    TaskEnd::Failed(Box::new(failure::failed(error)))
}
