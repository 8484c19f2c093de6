//! What the server's messages do: to the turn, to whoever waits for an answer, and to the outbox.

use roost_engine::adapter::{AdapterError, Answer, Fact, TaskEnd};
use roost_model::payload::{NoticeLevel, NoticeSource};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::asks::{self, Ask, Wait};
use super::connection::{Dialog, Pending};
use super::failure;
use super::map::{self, At};
use super::past::{PastState, Resumed};
use super::tools::Tools;
use super::turn::Approval;
use super::wire::TurnParams;
use crate::host::json_rpc::{self, CallResult, Incoming, RpcError, RpcId};
use crate::host::{Reply, reply};

impl Dialog {
    /// Takes one message.
    pub(super) fn message(&mut self, text: &str) {
        match json_rpc::parse(text) {
            Incoming::Notification { method, params } => self.notification(&method, params),
            Incoming::Request { id, method, params } => self.request(id, &method, params),
            Incoming::Response { id, result } => self.response(id, result),
            Incoming::Noise => self.out.notice(map::noise(NoticeSource::Protocol, text.to_owned())),
        }
    }

    fn notification(&mut self, method: &str, params: &RawValue) {
        if method == "serverRequest/resolved" {
            return self.resolved(params);
        }
        let (Some((turn, drafts)), Some(thread)) = (self.out.live(), &self.thread) else {
            // Between turns only what is said to people matters.
            if let Some(Some(draft)) = map::told(method, params) {
                self.out.notice(draft);
            }
            return;
        };
        if method == "turn/completed" {
            if let Ok(ended) = serde_json::from_str::<TurnParams>(params.get())
                && ended.thread_id == *thread
                && turn.id.as_ref().is_none_or(|ours| *ours == ended.turn.id)
            {
                self.ended(ended);
            }
            return;
        }
        turn.mapper.notification(&At { thread, turn: turn.id.as_deref() }, method, params, drafts);
    }

    /// The turn is over. A command that it left behind is ended first: an interrupt alone leaves it running.
    fn ended(&mut self, ended: TurnParams) {
        let (Some(turn), Some(thread)) = (self.out.turn.as_mut(), &self.thread) else { return };
        let end = failure::end(ended.turn.status, ended.turn.error.as_ref());
        let cut = !matches!(end, TaskEnd::Completed(_));
        let mut cleans = || {
            let params = json!({ "threadId": thread });
            self.peer.call("thread/backgroundTerminals/clean", &params, Pending::Cleaned).is_ok()
        };
        if cut && (turn.cancelled || turn.mapper.tools.any_running()) && cleans() {
            turn.end = Some(end);
        } else {
            turn.finish(end, &mut self.out.drafts);
        }
    }

    fn resolved(&mut self, params: &RawValue) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Resolved {
            request_id: RpcId,
        }
        if let (Some(turn), Ok(resolved)) = (self.out.turn.as_mut(), serde_json::from_str::<Resolved>(params.get())) {
            turn.resolved(&resolved.request_id, &mut self.out.drafts);
        }
    }

    fn request(&mut self, id: RpcId, method: &str, params: &RawValue) {
        let none = Tools::default();
        let live = self.out.live().filter(|(turn, _)| turn.end.is_none() && !turn.cancelled);
        let tools = live.as_ref().map_or(&none, |(turn, _)| &turn.mapper.tools);
        let ask = match asks::read(method, params, tools) {
            Ok(ask) => ask,
            Err(error) => return self.refuse(&id, &error),
        };
        match (ask, live) {
            (Ask::Tool { turn: at, item, wait }, Some((turn, drafts))) => {
                let asked = turn.mapper.tools.asked(&at, item, drafts);
                let identity = asked.identity.clone();
                let fact = match wait {
                    Wait::HostTool => Fact::HostToolAsks(asked),
                    _ => Fact::ToolAsks(asked),
                };
                drafts.push(fact.into());
                if let Some(void) = turn.approvals.ask(&identity, Approval { id, wait }) {
                    self.answer_quietly(&void.id, &void.wait.deny("asked again"));
                }
            }
            (Ask::Question { question, form }, Some((turn, drafts))) => {
                turn.questions.insert(question.question_id.clone(), (id, form));
                drafts.push(Fact::Question(question).into());
            }
            (Ask::Answered { answer, why }, _) => {
                self.answer_quietly(&id, &answer);
                self.out.notice(map::notice(NoticeLevel::Warning, why.to_owned(), None));
            }
            // Nobody can be asked between turns; Codex must not wait for ever.
            (Ask::Tool { wait, .. }, None) => {
                self.answer_quietly(&id, &wait.deny("nobody can be asked between two tasks"));
            }
            (Ask::Question { form, .. }, None) => {
                self.answer_quietly(&id, &form.answer(Answer::Declined));
            }
        }
    }

    fn response(&mut self, id: u64, result: Result<&RawValue, RpcError>) {
        let value = json_rpc::owned(result);
        match self.peer.take(id) {
            Some(Pending::Reply(to)) => reply(to, Ok(value)),
            Some(Pending::Begun(to)) => self.begun(to, value),
            Some(Pending::Resumed { since, last, to }) => {
                let heard = self.resumed(since, last, value);
                reply(to, heard);
            }
            Some(Pending::Cleaned) => {
                if let Some(turn) = &mut self.out.turn
                    && let Some(end) = turn.end.take()
                {
                    turn.finish(end, &mut self.out.drafts);
                }
            }
            Some(Pending::Ignored) => {}
            None => self
                .out
                .notice(map::noise(NoticeSource::Protocol, format!("an answer to request {id}, which is not open"))),
        }
    }

    /// Tells what the turn did while nobody listened; `None` if Codex does not know it.
    fn resumed(&mut self, since: u64, last: bool, result: CallResult) -> Result<Option<PastState>, AdapterError> {
        let answer = result.map_err(failure::rejected)?;
        // It may have been heard to its end meanwhile.
        let Some((turn, drafts)) = self.out.live() else { return Ok(Some(PastState::Ended)) };
        let turns = serde_json::from_value::<Resumed>(answer).map(|resumed| resumed.thread.turns).unwrap_or_default();
        let Some(past) = turns.into_iter().find(|past| turn.id.as_ref() == Some(&past.turn.id)) else {
            self.out.turn = None;
            return Ok(None);
        };
        let state = past.state();
        let missed = past.items.into_iter().filter(|item| item.completed_at_ms.is_some_and(|at| at >= since));
        missed.for_each(|missed| turn.mapper.missed(&past.turn.id, missed.item, drafts));
        if state == PastState::Ended || last && state == PastState::Unsure {
            turn.finish(failure::end(past.turn.status, past.turn.error.as_ref()), drafts);
        }
        Ok(Some(state))
    }

    fn begun(&mut self, to: Reply, result: CallResult) {
        let begun = result.map(|value| value.pointer("/turn/id").and_then(Value::as_str).map(str::to_owned));
        match (begun, &mut self.out.turn) {
            (Ok(Some(id)), Some(turn)) => {
                turn.id = Some(id);
                turn.begun = Some(to);
            }
            (Err(error), _) => {
                self.out.turn = None;
                reply(to, Err(failure::rejected(error)));
            }
            (Ok(_), _) => {
                self.out.turn = None;
                let message = "Codex began a turn without an id".into();
                reply(to, Err(AdapterError::Runtime { message, raw: None }));
            }
        }
    }

    /// Answers on behalf of nobody; a server that does not read does not wait either.
    fn answer_quietly(&self, id: &RpcId, result: &Value) {
        let _ = self.peer.answer(id, result);
    }

    fn refuse(&mut self, id: &RpcId, error: &RpcError) {
        let _ = self.peer.refuse(id, error);
        self.out.notice(map::notice(NoticeLevel::Warning, error.message.clone(), None));
    }
}
