//! Somebody who answers what waits: rightly, wrongly, twice, or for the wrong session.

use std::collections::BTreeMap;

use proptest::prelude::*;
use roost_engine::adapter::Answer;
use roost_engine::{Decision, Error, Response, ResponseTo};
use roost_log::Log;
use roost_model::approval::{Answerer, ApprovalScope, PendingAsk};
use roost_model::ids::SessionId;
use testkit::{Harness, soon};

/// What is said about the nth thing that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct PersonAction {
    nth: usize,
    allows: bool,
    how: AnswerKind,
}

/// AnswerKind it is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerKind {
    Rightly,
    /// The same again, with the same key.
    Repeated,
    /// Somebody else says the opposite at once.
    Contradicted,
    OtherAttempt,
    OtherInput,
    OtherSession,
}

pub(super) fn person_action() -> impl Strategy<Value = PersonAction> {
    let how = prop_oneof![
        6 => Just(AnswerKind::Rightly),
        1 => Just(AnswerKind::Repeated),
        1 => Just(AnswerKind::Contradicted),
        1 => Just(AnswerKind::OtherAttempt),
        1 => Just(AnswerKind::OtherInput),
        1 => Just(AnswerKind::OtherSession),
    ];
    (0..8_usize, prop::bool::weighted(0.7), how).prop_map(|(nth, allows, how)| PersonAction { nth, allows, how })
}

/// The answers that were acknowledged.
#[derive(Default)]
pub(super) struct Person {
    pub(super) allowed: Vec<String>,
    pub(super) denied: Vec<String>,
    pub(super) answered: Vec<String>,
    count: u32,
}

impl Person {
    pub(super) async fn say(&mut self, host: &Harness, sessions: &[SessionId], says: PersonAction) {
        let waiting = host.log.pending(None).await.unwrap();
        let Some(pending) = (!waiting.is_empty()).then(|| &waiting[says.nth % waiting.len()]) else { return };
        let id = pending.id().to_owned();
        let to = match &pending.ask {
            PendingAsk::Approval(asked) => {
                let identity = &asked.identity;
                let other = says.how == AnswerKind::OtherAttempt;
                let input =
                    if says.how == AnswerKind::OtherInput { "sha256:0".into() } else { identity.input_hash.clone() };
                ResponseTo::Approval {
                    call: identity.tool_call_id.clone(),
                    attempt: Some(identity.attempt + u32::from(other)),
                    input_hash: Some(input),
                    decision: decision(says.allows),
                }
            }
            PendingAsk::Question(asked) => {
                let answer = if says.allows { Answer::Given(BTreeMap::new()) } else { Answer::Declined };
                ResponseTo::Question { question: asked.question_id.clone(), answer }
            }
        };
        let is_question = matches!(to, ResponseTo::Question { .. });
        let right = is_question || !matches!(says.how, AnswerKind::OtherAttempt | AnswerKind::OtherInput);
        let session = match says.how {
            AnswerKind::OtherSession => sessions.iter().find(|session| **session != pending.session_id).unwrap(),
            _ => &pending.session_id,
        };
        self.count += 1;
        let response = Response { to, by: Answerer::default(), key: Some(self.count.to_string()) };
        let answered = send(host, session, response.clone()).await;
        if !right || says.how == AnswerKind::OtherSession {
            assert!(!answered, "a wrong answer was taken: {says:?}");
            return;
        }
        if !answered {
            return;
        }
        match (is_question, says.allows) {
            (true, _) => self.answered.push(id),
            (false, true) => self.allowed.push(id),
            (false, false) => self.denied.push(id),
        }
        match says.how {
            // It may be over by now, but it is never an answer to something else.
            AnswerKind::Repeated => _ = send(host, session, response).await,
            AnswerKind::Contradicted => {
                let opposite = match response.to {
                    ResponseTo::Approval { call, attempt, input_hash, .. } => {
                        ResponseTo::Approval { call, attempt, input_hash, decision: decision(!says.allows) }
                    }
                    question => question,
                };
                let opposite = Response { to: opposite, by: Answerer::default(), key: None };
                assert!(!send(host, session, opposite).await, "two answers were taken");
            }
            _ => {}
        }
    }
}

fn decision(allows: bool) -> Decision {
    let scope = ApprovalScope::Once;
    if allows { Decision::Allow { scope } } else { Decision::Deny { scope, reason: None } }
}

/// Whether an answer was acknowledged; it may come too late, and its runtime may be gone.
async fn send(host: &Harness, session: &SessionId, response: Response) -> bool {
    match soon("an answer", host.engine.respond(session.as_str(), response)).await {
        Ok(()) => true,
        Err(
            Error::NotPending(_)
            | Error::AlreadyAnswered { .. }
            | Error::AttemptMismatch(_)
            | Error::InputHashMismatch(_)
            | Error::Adapter(_),
        ) => false,
        Err(error) => panic!("{error}"),
    }
}
