//! What the server's events do: to the turn, and to the outbox.

use roost_engine::adapter::{Answer, Fact};
use roost_model::payload::NoticeSource;
use serde_json::{Value, json};

use super::family::Family;
use super::map;
use super::questions;
use super::turn::Turn;
use super::wire::{self, Event, Info, Part, PartKind, Status, Told};
use crate::host::Outbox;

/// A request whose answer nobody waits for.
#[derive(Debug, PartialEq)]
pub(super) struct Errand {
    pub(super) path: String,
    pub(super) body: Value,
}

impl Errand {
    /// Stops what this session does.
    pub(super) fn abort(session: &str) -> Self {
        Self { path: format!("/session/{session}/abort"), body: json!({}) }
    }

    /// Refuses a permission.
    pub(super) fn refuse(permission: &str, reason: &str) -> Self {
        let body = json!({ "reply": "reject", "message": reason });
        Self { path: format!("/permission/{permission}/reply"), body }
    }

    /// Takes a question off the server, which would ask it again for ever. It ends the turn that asks.
    pub(super) fn drop_question(question: &str) -> Self {
        Self { path: format!("/question/{question}/reject"), body: json!({}) }
    }
}

/// Reads events into the outbox; what is known of the session by them.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) family: Family,
    /// The last message of the user's that belongs to an earlier turn; their ids ascend.
    pub(super) last_prompt: String,
    pub(super) out: Outbox<Turn>,
    /// What is to be said to the server because of what was read.
    pub(super) errands: Vec<Errand>,
}

impl Reader {
    /// Takes one event.
    pub(super) fn message(&mut self, text: &str) {
        match wire::parse(text) {
            Told::Quiet => {}
            Told::Event(event) => self.event(*event),
            Told::Unknown(event) => self.out.notice(map::unknown(event)),
            Told::Noise => self.out.notice(map::noise(NoticeSource::Protocol, text.to_owned())),
        }
    }

    fn event(&mut self, event: Event) {
        let Some((turn, drafts)) = self.out.live() else { return self.between(event) };
        let is_first = |session: &str| session == self.family.first();
        match event {
            Event::Session { info } => self.family.hear(info),
            Event::Message { info } if is_first(&info.session) => self.info(info),
            Event::Part { part } => self.part(part),
            Event::Delta { session, part, field, delta } if is_first(&session) => {
                if field == "text" {
                    turn.mapper.delta(&part, &delta, drafts);
                }
            }
            Event::Status { session, status } if is_first(&session) => self.status(status),
            Event::Idle { session } if is_first(&session) => self.idle(),
            Event::Error { session, error } => {
                if let (true, Some(error)) = (session.is_none_or(|session| is_first(&session)), error) {
                    turn.failed(error);
                    if !turn.busy {
                        // It never began; no other word will follow.
                        self.idle();
                    }
                }
            }
            Event::Permission(permission) if !self.family.has(&permission.session) => {}
            Event::Permission(permission) if turn.cancelled => {
                self.errands.push(Errand::refuse(&permission.id, "the task is being stopped"));
            }
            Event::Permission(permission) => turn.mapper.tools.asked(permission, drafts),
            Event::PermissionReplied(replied) => turn.mapper.tools.settled(&replied.request),
            Event::Question(question) if self.family.has(&question.session) && turn.cancelled => {
                self.errands.push(Errand::drop_question(&question.id));
            }
            Event::Question(question) if self.family.has(&question.session) => {
                let (question, asked) = questions::of(question);
                if !turn.questions.contains_key(&question.question_id) {
                    turn.questions.insert(question.question_id.clone(), asked);
                    drafts.push(Fact::Question(question).into());
                }
            }
            Event::QuestionReplied(replied) | Event::QuestionRejected(replied) => {
                let known = turn.questions.iter().find(|(_, asked)| asked.native == replied.request);
                if let Some(question) = known.map(|(question, _)| question.clone()) {
                    turn.questions.remove(&question);
                    drafts.push(Fact::QuestionWithdrawn(question).into());
                }
            }
            Event::Todo { session, todos } if is_first(&session) => drafts.push(map::planned(todos)),
            // Of other sessions.
            Event::Message { .. }
            | Event::Delta { .. }
            | Event::Status { .. }
            | Event::Idle { .. }
            | Event::Question(_)
            | Event::Todo { .. } => {}
        }
    }

    /// Nobody can be asked between turns; OpenCode must not wait for ever.
    fn between(&mut self, event: Event) {
        match event {
            Event::Session { info } => self.family.hear(info),
            Event::Permission(permission) if self.family.has(&permission.session) => {
                self.errands.push(Errand::refuse(&permission.id, "nobody can be asked between two tasks"));
            }
            Event::Question(question) if self.family.has(&question.session) => {
                let (_, asked) = questions::of(question);
                let path = format!("/question/{}/reply", asked.native);
                self.errands.push(Errand { path, body: asked.answer(Answer::Declined) });
            }
            _ => {}
        }
    }

    fn info(&mut self, info: Info) {
        let Some(turn) = &mut self.out.turn else { return };
        match info.role.as_str() {
            "user" if info.id > self.last_prompt => {
                turn.prompts.insert(info.id);
            }
            "assistant" => {
                turn.answered(info);
                self.stop_again();
            }
            _ => {}
        }
    }

    fn part(&mut self, part: Part) {
        let Some(turn) = &mut self.out.turn else { return };
        // What an agent that ours started says is said to ours, but its tools are tools.
        let is_helper = part.session != self.family.first() && self.family.has(&part.session);
        let of_helper = is_helper && matches!(part.kind, PartKind::Tool { .. });
        if of_helper || turn.is_ours(&part.message) {
            turn.mapper.part(part, &mut self.out.drafts);
        }
    }

    fn status(&mut self, status: Status) {
        let Some(turn) = &mut self.out.turn else { return };
        match status {
            Status::Busy => {
                turn.busy = true;
                self.stop_again();
            }
            Status::Retry { attempt, message } => {
                turn.busy = true;
                let message = format!("the provider did not answer (try {attempt}): {message}");
                self.out.drafts.push(map::warning(message, None));
            }
            // `session.idle` follows.
            Status::Idle | Status::Other => {}
        }
    }

    /// A stop that came before OpenCode had begun stopped nothing.
    fn stop_again(&mut self) {
        if self.out.turn.as_ref().is_some_and(Turn::wants_stop) {
            self.errands.push(Errand::abort(self.family.first()));
        }
    }

    fn idle(&mut self) {
        let Some(turn) = &mut self.out.turn else { return };
        let Some(end) = turn.settled() else { return };
        // They stay with the server for ever.
        let stale = turn.mapper.tools.drop_pending();
        self.errands.extend(stale.iter().map(|stale| Errand::refuse(stale, "the task is over")));
        self.errands.extend(turn.questions.drain().map(|(_, asked)| Errand::drop_question(&asked.native)));
        if let Some(last) = turn.prompts.iter().max() {
            self.last_prompt.clone_from(last);
        }
        turn.finish(end, &mut self.out.drafts);
    }
}
