//! Handles the server's messages: they change the turn, answer open requests, and fill the outbox.

use roost_engine::adapter::{AdapterError, Answer, Fact, TaskEnd};
use roost_model::payload::{NoticeLevel, NoticeSource};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::connection::{CodexConnection, Dialog, PendingCall};
use super::failure;
use super::map::{self, TurnScope};
use super::requests::{self, ApprovalKind, HostRequest};
use super::resume_result::{PastTurnState, ResumeResult};
use super::tools::ItemTracker;
use super::turn::PendingApproval;
use super::wire::TurnParams;
use crate::host::json_rpc::{self, CallResult, Incoming, RpcError, RpcId};
use crate::host::{Handle, Reply, noise, reply};

impl Dialog {
    /// Handles one text frame.
    pub(super) fn on_message(&mut self, text: &str) {
        match json_rpc::parse(text) {
            Incoming::Notification { method, params } => self.on_notification(&method, params),
            Incoming::Request { id, method, params } => self.on_request(id, &method, params),
            Incoming::Response { id, result } => self.on_response(id, result),
            Incoming::Noise => self.out.notice(noise(NoticeSource::Protocol, text.to_owned())),
        }
    }

    fn on_notification(&mut self, method: &str, params: &RawValue) {
        if method == "serverRequest/resolved" {
            return self.on_request_resolved(params);
        }
        let (Some((turn, drafts)), Some(thread)) = (self.out.live(), &self.thread) else {
            // Between turns only notices for people matter.
            if let Some(Some(draft)) = map::notification_draft(method, params) {
                self.out.notice(draft);
            }
            return;
        };
        // The answer to some requests for a turn has no id.
        if method == "turn/started"
            && turn.id.is_none()
            && let Ok(started) = serde_json::from_str::<TurnParams>(params.get())
            && started.thread_id == *thread
        {
            turn.id = Some(started.turn.id);
        }
        if method == "turn/completed" {
            if let Ok(ended) = serde_json::from_str::<TurnParams>(params.get())
                && ended.thread_id == *thread
                && turn.id.as_ref().is_none_or(|ours| *ours == ended.turn.id)
            {
                self.on_turn_completed(ended);
            }
            return;
        }
        turn.mapper.on_notification(&TurnScope { thread, turn: turn.id.as_deref() }, method, params, drafts);
    }

    /// Ends the turn. If it was cut short and may have left commands running, those are cleaned up first: an interrupt
    /// alone leaves them running.
    fn on_turn_completed(&mut self, ended: TurnParams) {
        let (Some(turn), Some(thread)) = (self.out.turn.as_mut(), &self.thread) else { return };
        let end = failure::task_end(ended.turn.status, ended.turn.error.as_ref());
        let cut = !matches!(end, TaskEnd::Completed(_));
        let mut cleans = || {
            let params = json!({ "threadId": thread });
            self.peer.call("thread/backgroundTerminals/clean", &params, PendingCall::Cleanup).is_ok()
        };
        if cut && (turn.cancelled || turn.mapper.tools.any_running()) && cleans() {
            turn.end = Some(end);
        } else {
            turn.finish(end, &mut self.out.drafts);
        }
    }

    fn on_request_resolved(&mut self, params: &RawValue) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct ResolvedParams {
            request_id: RpcId,
        }
        if let (Some(turn), Ok(resolved)) =
            (self.out.turn.as_mut(), serde_json::from_str::<ResolvedParams>(params.get()))
        {
            turn.on_request_resolved(&resolved.request_id, &mut self.out.drafts);
        }
    }

    fn on_request(&mut self, id: RpcId, method: &str, params: &RawValue) {
        let none = ItemTracker::default();
        let live = self.out.live().filter(|(turn, _)| turn.end.is_none() && !turn.cancelled);
        let tools = live.as_ref().map_or(&none, |(turn, _)| &turn.mapper.tools);
        let request = match requests::parse(method, params, tools) {
            Ok(request) => request,
            Err(error) => return self.refuse(&id, &error),
        };
        match (request, live) {
            (HostRequest::Tool { turn: turn_id, item, approval }, Some((turn, drafts))) => {
                let call = turn.mapper.tools.on_approval_requested(&turn_id, item, drafts);
                let identity = call.identity.clone();
                let fact = match approval {
                    ApprovalKind::HostTool => Fact::HostToolAsks(call),
                    _ => Fact::ToolAsks(call),
                };
                drafts.push(fact.into());
                if let Some(void) = turn.approvals.ask(&identity, PendingApproval { id, approval }) {
                    self.answer_quietly(&void.id, &void.approval.deny("asked again"));
                }
            }
            (HostRequest::Question { question, format }, Some((turn, drafts))) => {
                turn.questions.insert(question.question_id.clone(), (id, format));
                drafts.push(Fact::Question(question).into());
            }
            (HostRequest::AutoReply { answer, reason }, _) => {
                self.answer_quietly(&id, &answer);
                self.out.notice(map::notice(NoticeLevel::Warning, reason.to_owned(), None));
            }
            // Nobody can be asked between turns, and Codex must not wait forever.
            (HostRequest::Tool { approval, .. }, None) => {
                self.answer_quietly(&id, &approval.deny("nobody can be asked between two tasks"));
            }
            (HostRequest::Question { format, .. }, None) => {
                self.answer_quietly(&id, &format.answer(Answer::Declined));
            }
        }
    }

    fn on_response(&mut self, id: u64, result: Result<&RawValue, RpcError>) {
        let value = json_rpc::owned(result);
        match self.peer.take(id) {
            Some(PendingCall::Forward(to)) => reply(to, Ok(value)),
            Some(PendingCall::TurnStart(to)) => self.on_turn_started(to, value),
            Some(PendingCall::CatchUp { since, last, to }) => {
                let state = self.on_caught_up(since, last, value);
                reply(to, state);
            }
            Some(PendingCall::Cleanup) => {
                if let Some(turn) = &mut self.out.turn
                    && let Some(end) = turn.end.take()
                {
                    turn.finish(end, &mut self.out.drafts);
                }
            }
            Some(PendingCall::Ignore) => {}
            None => {
                self.out.notice(noise(NoticeSource::Protocol, format!("an answer to request {id}, which is not open")))
            }
        }
    }

    /// Maps what the turn did while no daemon was connected; `None` if Codex does not know the turn. With `last`, an
    /// unsure state counts as the end.
    fn on_caught_up(
        &mut self,
        since: u64,
        last: bool,
        result: CallResult,
    ) -> Result<Option<PastTurnState>, AdapterError> {
        let answer = result.map_err(failure::from_rpc_error)?;
        // Its end may have arrived as a notification meanwhile.
        let Some((turn, drafts)) = self.out.live() else { return Ok(Some(PastTurnState::Ended)) };
        let turns =
            serde_json::from_value::<ResumeResult>(answer).map(|resumed| resumed.thread.turns).unwrap_or_default();
        let Some(past) = turns.into_iter().find(|past| turn.id.as_ref() == Some(&past.turn.id)) else {
            self.out.turn = None;
            return Ok(None);
        };
        let state = past.state();
        let missed = past.items.into_iter().filter(|item| item.completed_at_ms.is_some_and(|at| at >= since));
        missed.for_each(|missed| turn.mapper.on_missed_item(&past.turn.id, missed.item, drafts));
        if state == PastTurnState::Ended || last && state == PastTurnState::Unsure {
            turn.finish(failure::task_end(past.turn.status, past.turn.error.as_ref()), drafts);
        }
        Ok(Some(state))
    }

    fn on_turn_started(&mut self, to: Reply, result: CallResult) {
        let begun = result.map(|value| value.pointer("/turn/id").and_then(Value::as_str).map(str::to_owned));
        match (begun, &mut self.out.turn) {
            (Ok(id), Some(turn)) => {
                turn.id = id.or(turn.id.take());
                turn.start_reply = Some(to);
            }
            (Err(error), _) => {
                self.out.turn = None;
                reply(to, Err(failure::from_rpc_error(error)));
            }
            (Ok(_), None) => reply(to, Err(Handle::<CodexConnection>::gone())),
        }
    }

    /// Answers without asking anybody. An error is ignored: a server that does not read does not wait for the answer
    /// either.
    fn answer_quietly(&self, id: &RpcId, result: &Value) {
        let _ = self.peer.answer(id, result);
    }

    fn refuse(&mut self, id: &RpcId, error: &RpcError) {
        let _ = self.peer.refuse(id, error);
        self.out.notice(map::notice(NoticeLevel::Warning, error.message.clone(), None));
    }
}
