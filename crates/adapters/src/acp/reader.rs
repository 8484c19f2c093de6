//! What the agent's lines do: to the turn, to whoever waits for an answer, and to the outbox.

use std::collections::HashMap;

use agent_client_protocol_schema::v1 as acp;
use roost_engine::adapter::{Draft, Fact, TaskEnd};
use roost_model::failure::FailureCode;
use roost_model::payload::{NoticeSource, RequestStatus, RuntimeRequestCompletedPayload};
use roost_process::Line;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::between::Between;
use super::connection::{CallResult, Reply, answer, cancel, send};
use super::cost::Spent;
use super::failure;
use super::map;
use super::questions;
use super::turn::{Permission, Turn};
use super::wire::{self, Incoming, RpcError, RpcId};

/// The method that the agent reports with.
const UPDATE: &str = "session/update";

/// Reads lines into the outbox; the parts of the pump that reading touches.
pub(super) struct Reader<'a> {
    pub(super) writer: &'a mpsc::Sender<Vec<u8>>,
    pub(super) calls: &'a mut HashMap<u64, Reply<CallResult>>,
    pub(super) native: &'a Option<String>,
    pub(super) turn: &'a mut Option<Turn>,
    pub(super) outbox: &'a mut Vec<Draft>,
    pub(super) spent: &'a mut Spent,
    pub(super) between: &'a mut Between,
}

impl Reader<'_> {
    /// Takes one line.
    pub(super) fn line(&mut self, line: Line<'_>) {
        if let Line::TooLong { bytes } = line {
            self.keep(map::skipped(bytes));
            return;
        }
        let text = line.text();
        match wire::parse(&text) {
            Incoming::Chunk(chunk) => {
                // Before it is known which session is open, agents replay it.
                if self.native.as_ref().is_some_and(|native| *native != chunk.session) {
                    let raw = serde_json::from_str(&text).ok();
                    self.foreign(format!("an update for session {}, which is not open here", chunk.session), raw);
                } else if let Some(turn) = self.turn.as_mut().filter(|turn| !turn.ended) {
                    turn.mapper.chunk(chunk, self.outbox);
                }
            }
            Incoming::Notification { method, params } if method == UPDATE => self.update(params),
            Incoming::Notification { method, params } => {
                // Custom notifications are the agent's own business; `$/` ones are about requests, and an agent that
                // cancels one does not wait for its answer.
                if !method.starts_with(['_', '$']) {
                    self.keep(map::unknown(&format!("a notification that Roost does not know: {method}"), params));
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

    fn foreign(&mut self, message: String, raw: Option<Value>) {
        self.keep(map::foreign(message, raw));
    }

    /// Tells what means nothing to us, now or in the next turn.
    fn keep(&mut self, draft: Draft) {
        match self.turn.as_ref().filter(|turn| !turn.ended) {
            Some(_) => self.outbox.push(draft),
            None => self.between.keep(draft),
        }
    }

    fn update(&mut self, params: &RawValue) {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Head {
            session_id: String,
        }
        // Outside of a turn agents replay history and announce commands: nothing that happened just now.
        let Some(turn) = self.turn.as_mut().filter(|turn| !turn.ended) else {
            match serde_json::from_str::<acp::SessionNotification>(params.get()) {
                Ok(told) => {
                    // What was spent then is not of the next turn.
                    map::cost_so_far(&told).and_then(|total| self.spent.now(total));
                }
                Err(_) => self.between.keep(map::unknown(map::UNKNOWN_UPDATE, params)),
            }
            return;
        };
        match serde_json::from_str::<Head>(params.get()) {
            Ok(head) if self.native.as_deref() == Some(&*head.session_id) => {
                turn.mapper.update(params, self.spent, self.outbox);
            }
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
                        let asked = turn.mapper.asked(request.tool_call, self.outbox);
                        let permission = Permission { id, options: request.options };
                        let void = turn.permissions.ask(&asked.identity, permission);
                        void.iter().for_each(|permission| cancel(self.writer, permission));
                        self.outbox.push(Fact::ToolAsks(asked).into());
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
                self.outbox.extend(value.as_ref().ok().and_then(map::prompt_usage));
                self.outbox.push(Fact::Ended(end(value, turn)).into());
            }
            None => {
                let raw = value.or_else(serde_json::to_value).ok();
                self.foreign(format!("an answer to request {id}, which is not open"), raw);
            }
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

fn end(result: CallResult, turn: &Turn) -> TaskEnd {
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
        // A cancelled turn must not end in an error, but some agents do that.
        Err(_) if turn.cancelled => return TaskEnd::Stopped("cancelled".into()),
        Err(error) => error,
    };
    TaskEnd::Failed(Box::new(failure::failed(error)))
}
