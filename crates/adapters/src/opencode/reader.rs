//! Handles the server's events: they change the turn and fill the outbox.

use roost_engine::adapter::{Answer, Fact};
use roost_model::payload::NoticeSource;
use serde_json::{Value, json};

use super::map;
use super::questions;
use super::session_tree::SessionTree;
use super::turn::OpencodeTurn;
use super::wire::{self, MessageInfo, MessagePart, PartKind, ServerEvent, SessionStatus, StreamLine};
use crate::host::{Outbox, noise};
use crate::provider_errors::ProviderRetry;

/// A POST request to the server.
#[derive(Debug, PartialEq)]
pub(super) struct OutgoingRequest {
    pub(super) path: String,
    pub(super) body: Value,
}

impl OutgoingRequest {
    /// Stops the running turn of a session.
    pub(super) fn abort(session: &str) -> Self {
        Self { path: format!("/session/{session}/abort"), body: json!({}) }
    }

    /// Refuses a permission; the agent reads the reason.
    pub(super) fn refuse(permission: &str, reason: &str) -> Self {
        let body = json!({ "reply": "reject", "message": reason });
        Self { path: format!("/permission/{permission}/reply"), body }
    }

    /// Rejects a question, which the server would keep forever otherwise. This ends the turn that asked it.
    pub(super) fn drop_question(question: &str) -> Self {
        Self { path: format!("/question/{question}/reject"), body: json!({}) }
    }
}

/// Handles the events of one session and its descendants.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) tree: SessionTree,
    /// The id of the last prompt of earlier turns; ids ascend, so a later one belongs to the running turn.
    pub(super) last_prompt: String,
    pub(super) out: Outbox<OpencodeTurn>,
    /// Requests that the events made necessary; the connection sends them.
    pub(super) outgoing: Vec<OutgoingRequest>,
}

impl Reader {
    /// Handles one event of the stream.
    pub(super) fn on_message(&mut self, text: &str) {
        match wire::parse(text) {
            StreamLine::Ignored => {}
            StreamLine::Event(event) => self.on_event(*event),
            StreamLine::Unknown(event) => self.out.notice(map::unknown_event(event)),
            StreamLine::Noise => self.out.notice(noise(NoticeSource::Protocol, text.to_owned())),
        }
    }

    fn on_event(&mut self, event: ServerEvent) {
        let Some((turn, drafts)) = self.out.live() else { return self.on_event_between_turns(event) };
        let is_root = |session: &str| session == self.tree.root();
        match event {
            ServerEvent::Session { info } => self.tree.add(info),
            ServerEvent::Message { info } if is_root(&info.session) => self.on_message_info(info),
            ServerEvent::Part { part } => self.on_part(part),
            ServerEvent::Delta { session, part, field, delta } if is_root(&session) => {
                if field == "text" {
                    turn.mapper.on_delta(&part, &delta, drafts);
                }
            }
            ServerEvent::Status { session, status } if is_root(&session) => self.on_status(status),
            ServerEvent::Idle { session } if is_root(&session) => self.on_idle(),
            ServerEvent::Error { session, error } => {
                if let (true, Some(error)) = (session.is_none_or(|session| is_root(&session)), error) {
                    turn.on_error(error);
                    if !turn.busy {
                        // The turn never started, so no idle event will follow.
                        self.on_idle();
                    }
                }
            }
            ServerEvent::Permission(permission) if !self.tree.contains(&permission.session) => {}
            ServerEvent::Permission(permission) if turn.cancelled => {
                self.outgoing.push(OutgoingRequest::refuse(&permission.id, "the task is being stopped"));
            }
            ServerEvent::Permission(permission) => turn.mapper.tools.on_permission_asked(permission, drafts),
            ServerEvent::PermissionReplied(reply) => turn.mapper.tools.on_permission_replied(&reply.request),
            ServerEvent::Question(question) if self.tree.contains(&question.session) && turn.cancelled => {
                self.outgoing.push(OutgoingRequest::drop_question(&question.id));
            }
            ServerEvent::Question(question) if self.tree.contains(&question.session) => {
                let (question, pending) = questions::from_request(question);
                if !turn.questions.contains_key(&question.question_id) {
                    turn.questions.insert(question.question_id.clone(), pending);
                    drafts.push(Fact::Question(question).into());
                }
            }
            ServerEvent::QuestionReplied(reply) | ServerEvent::QuestionRejected(reply) => {
                let known = turn.questions.iter().find(|(_, pending)| pending.native == reply.request);
                if let Some(question) = known.map(|(question, _)| question.clone()) {
                    turn.questions.remove(&question);
                    drafts.push(Fact::QuestionWithdrawn(question).into());
                }
            }
            ServerEvent::Todo { session, todos } if is_root(&session) => drafts.push(map::plan_draft(todos)),
            // Events of other sessions.
            ServerEvent::Message { .. }
            | ServerEvent::Delta { .. }
            | ServerEvent::Status { .. }
            | ServerEvent::Idle { .. }
            | ServerEvent::Question(_)
            | ServerEvent::Todo { .. } => {}
        }
    }

    /// Handles an event while no turn runs. Nobody can be asked then, and OpenCode must not wait forever, so
    /// permissions are refused and questions declined.
    fn on_event_between_turns(&mut self, event: ServerEvent) {
        match event {
            ServerEvent::Session { info } => self.tree.add(info),
            ServerEvent::Permission(permission) if self.tree.contains(&permission.session) => {
                self.outgoing.push(OutgoingRequest::refuse(&permission.id, "nobody can be asked between two tasks"));
            }
            ServerEvent::Question(question) if self.tree.contains(&question.session) => {
                let (_, pending) = questions::from_request(question);
                let path = format!("/question/{}/reply", pending.native);
                self.outgoing.push(OutgoingRequest { path, body: pending.answer(Answer::Declined) });
            }
            _ => {}
        }
    }

    fn on_message_info(&mut self, info: MessageInfo) {
        let Some(turn) = &mut self.out.turn else { return };
        match info.role.as_str() {
            "user" if info.id > self.last_prompt => {
                turn.prompts.insert(info.id);
            }
            "assistant" => {
                turn.on_answer(info);
                self.stop_again();
            }
            _ => {}
        }
    }

    fn on_part(&mut self, part: MessagePart) {
        let Some(turn) = &mut self.out.turn else { return };
        // Messages of a subagent are meant for our agent, not for the user; its tool calls are recorded.
        let is_helper = part.session != self.tree.root() && self.tree.contains(&part.session);
        let of_helper = is_helper && matches!(part.kind, PartKind::Tool { .. });
        if of_helper || turn.is_ours(&part.message) {
            turn.mapper.on_part(part, &mut self.out.drafts);
        }
    }

    fn on_status(&mut self, status: SessionStatus) {
        let Some(turn) = &mut self.out.turn else { return };
        match status {
            SessionStatus::Busy => {
                turn.busy = true;
                self.stop_again();
            }
            SessionStatus::Retry { attempt, message } => {
                turn.busy = true;
                turn.mapper.discard_open_texts();
                let retry = ProviderRetry { runtime: "OpenCode", attempt, status: None, reason: &message };
                self.out.drafts.push(map::warning(retry.message(), None));
            }
            // `session.idle` follows.
            SessionStatus::Idle | SessionStatus::Other => {}
        }
    }

    /// Sends the stop again: one that arrived before OpenCode started to work had no effect.
    fn stop_again(&mut self) {
        if self.out.turn.as_ref().is_some_and(OpencodeTurn::wants_stop) {
            self.outgoing.push(OutgoingRequest::abort(self.tree.root()));
        }
    }

    fn on_idle(&mut self) {
        let Some(turn) = &mut self.out.turn else { return };
        let Some(end) = turn.end_if_idle() else { return };
        // OpenCode does not withdraw these by itself.
        let stale = turn.mapper.tools.drop_pending();
        self.outgoing.extend(stale.iter().map(|stale| OutgoingRequest::refuse(stale, "the task is over")));
        self.outgoing
            .extend(turn.questions.drain().map(|(_, pending)| OutgoingRequest::drop_question(&pending.native)));
        if let Some(last) = turn.prompts.iter().max() {
            self.last_prompt.clone_from(last);
        }
        turn.finish(end, &mut self.out.drafts);
    }
}
