//! Decisions: the policy's, a person's, and whatever ends the waiting for one.

use std::collections::BTreeMap;

use roost_model::approval::{Answerer, ApprovalEnd, ApprovalScope};
use roost_model::event::EventBody;
use roost_model::ids::{QuestionId, ToolCallId};
use roost_model::pattern::{CallPattern, RememberedRule};
use roost_model::payload::*;
use roost_model::time::Timestamp;
use roost_model::tool::{PolicyDecision, PolicyResult, PolicySource, ToolPolicyEvaluation};
use serde_json::Value;

use super::{CallState, Ledger, RUNTIME_WITHDRAWN, TASK_ENDED, denied, evaluated, word};
use crate::command::ResponseTo;

/// What goes along with asking a person.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// The calls that an answer for longer than once would cover.
    pub offer: Option<CallPattern>,
    /// When nobody's answer counts any more.
    pub expires_at: Option<Timestamp>,
}

/// What a person is asked about.
#[derive(Clone, Copy, Debug)]
pub struct AskedAbout<'a> {
    /// The call.
    pub request: &'a ToolCallRequestedPayload,
    /// The calls that an answer for longer than once would cover.
    pub offer: Option<&'a CallPattern>,
}

/// What came of asking a person about a tool call.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// What was decided.
    pub decision: PolicyDecision,
    /// How it came to that.
    pub end: ApprovalEnd,
    /// For how long it counts.
    pub scope: ApprovalScope,
    /// Why.
    pub reason: Option<String>,
    /// Who answered.
    pub answered_by: Option<Answerer>,
    /// The input that it runs with, where a person changed it.
    pub edited_input: Option<Value>,
    /// What is remembered of it.
    pub remembered: Option<RememberedRule>,
}

impl Verdict {
    /// Nobody allowed it, for this reason.
    pub fn denied(end: ApprovalEnd, reason: &str) -> Self {
        let (decision, scope, reason) = (PolicyDecision::Deny, ApprovalScope::Once, Some(reason.to_owned()));
        Self { decision, end, scope, reason, answered_by: None, edited_input: None, remembered: None }
    }

    fn word(&self) -> ToolPolicyEvaluation {
        let result = match self.decision {
            PolicyDecision::Allow => PolicyResult::Allow,
            PolicyDecision::Deny => PolicyResult::Deny,
        };
        match (self.end, self.decision) {
            (ApprovalEnd::Answered, PolicyDecision::Allow) => word(PolicySource::User, result, "user_approved"),
            (ApprovalEnd::Answered, PolicyDecision::Deny) => word(PolicySource::User, result, "user_denied"),
            (ApprovalEnd::Expired, _) => word(PolicySource::Codesdk, result, "approval_expired"),
            (ApprovalEnd::Withdrawn, _) => word(PolicySource::Runtime, result, RUNTIME_WITHDRAWN),
            (ApprovalEnd::Stopped | ApprovalEnd::TaskEnded | ApprovalEnd::HostRestarted, _) => {
                word(PolicySource::Codesdk, result, TASK_ENDED)
            }
        }
    }
}

/// What came of a question.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// How it ended.
    pub outcome: QuestionOutcome,
    /// The answers by field.
    pub answers: BTreeMap<String, Vec<String>>,
    /// Who answered.
    pub answered_by: Option<Answerer>,
    /// Why it was not answered.
    pub reason: Option<String>,
}

impl Resolution {
    /// Nobody will answer any more.
    pub fn cancelled(reason: &str) -> Self {
        Self::unanswered(QuestionOutcome::Cancelled, reason)
    }

    /// Nobody answered.
    pub fn unanswered(outcome: QuestionOutcome, reason: &str) -> Self {
        Self { outcome, answers: BTreeMap::new(), answered_by: None, reason: Some(reason.to_owned()) }
    }
}

impl Ledger {
    /// Records the policy's words about a call that waits. The last one counts: if it says ask, a person is asked on
    /// these terms.
    pub fn decide(
        &mut self,
        id: &ToolCallId,
        words: Vec<ToolPolicyEvaluation>,
        reason: &str,
        terms: Terms,
    ) -> Vec<EventBody> {
        let mode = self.mode;
        let Some(call) = self.calls.get_mut(id).filter(|call| call.state == CallState::Requested) else {
            return Vec::new();
        };
        let mut events = Vec::new();
        for word in words {
            events.push(evaluated(&call.identity, &word));
            call.judged |= word.source != PolicySource::Runtime;
            call.words.push(word);
        }
        let Some(last) = call.words.last() else { return events };
        match last.result {
            PolicyResult::Allow => {
                events.push(ToolCallApprovedPayload { identity: call.identity.clone() }.into());
                self.reach(id, CallState::Approved);
            }
            PolicyResult::Deny => {
                events.push(denied(call, mode, reason));
                call.denial = Some(reason.into());
                self.reach(id, CallState::Denied);
            }
            PolicyResult::Ask => {
                let rule = last.rule.clone();
                let Some(request) = &call.request else { return events };
                let asked = ApprovalRequestedPayload {
                    identity: call.identity.clone(),
                    name: call.name.clone(),
                    title: request.title.clone(),
                    kind: request.kind,
                    input: request.input.clone(),
                    input_ref: request.input_ref.clone(),
                    rule,
                    offer: terms.offer.clone(),
                    expires_at: terms.expires_at,
                };
                events.push(asked.into());
                (call.state, call.offer) = (CallState::Pending, terms.offer);
            }
        }
        events
    }

    /// Records what came of asking a person; nothing if nobody is asked any more.
    pub fn answer(&mut self, id: &ToolCallId, verdict: Verdict) -> Vec<EventBody> {
        let mode = self.mode;
        let Some(call) = self.calls.get_mut(id).filter(|call| call.state == CallState::Pending) else {
            return Vec::new();
        };
        let word = verdict.word();
        let mut events = vec![evaluated(&call.identity, &word)];
        call.words.push(word);
        let Verdict { decision, end, scope, reason, answered_by, edited_input, remembered } = verdict;
        call.edited.clone_from(&edited_input);
        let told = reason.clone().unwrap_or_else(|| "denied".into());
        let identity = call.identity.clone();
        events.push(
            ApprovalResolvedPayload { identity, decision, end, scope, reason, answered_by, edited_input, remembered }
                .into(),
        );
        match decision {
            PolicyDecision::Allow => {
                events.push(ToolCallApprovedPayload { identity: call.identity.clone() }.into());
                self.reach(id, CallState::Approved);
            }
            PolicyDecision::Deny => {
                events.push(denied(call, mode, &told));
                call.denial = Some(told);
                self.reach(id, CallState::Denied);
            }
        }
        events
    }

    /// Records that nobody is asked any more, about anything.
    pub fn close_asks(&mut self, end: ApprovalEnd, reason: &str) -> Vec<EventBody> {
        let is_asked = |id: &&ToolCallId| self.is_pending(id);
        let calls: Vec<_> = self.open.values().filter(is_asked).cloned().collect();
        let open = self.questions.iter().filter(|(_, resolved)| !resolved);
        let questions: Vec<_> = open.map(|(id, _)| id.clone()).collect();
        let mut events = Vec::new();
        for call in calls {
            events.extend(self.answer(&call, Verdict::denied(end, reason)));
        }
        for question in questions {
            events.extend(self.resolve(&question, Resolution::cancelled(reason)));
        }
        events
    }

    /// Records what came of an open question.
    pub fn resolve(&mut self, id: &QuestionId, resolution: Resolution) -> Option<EventBody> {
        let (question_id, resolved) = self.questions.iter_mut().find(|(known, resolved)| known == id && !resolved)?;
        *resolved = true;
        let question_id = question_id.clone();
        let Resolution { outcome, answers, answered_by, reason } = resolution;
        Some(QuestionResolvedPayload { question_id, outcome, answers, answered_by, reason }.into())
    }

    /// What was asked for by a call that is not decided yet.
    pub fn request_of(&self, id: &ToolCallId) -> Option<&ToolCallRequestedPayload> {
        self.calls.get(id)?.request.as_deref()
    }

    /// What a person is asked, if one is.
    pub fn asked_about(&self, id: &ToolCallId) -> Option<AskedAbout<'_>> {
        let call = self.calls.get(id).filter(|call| call.state == CallState::Pending)?;
        Some(AskedAbout { request: call.request.as_deref()?, offer: call.offer.as_ref() })
    }

    /// The input that a call was allowed to run with, where a person changed it.
    pub fn edited_input(&self, id: &ToolCallId) -> Option<&Value> {
        self.calls.get(id)?.edited.as_ref()
    }

    /// Why a call was denied, if it was.
    pub fn denial(&self, id: &ToolCallId) -> Option<&str> {
        self.calls.get(id)?.denial.as_deref()
    }

    /// Somebody is asked what this is an answer to.
    pub(crate) fn waits(&self, to: &ResponseTo) -> bool {
        match to {
            ResponseTo::Approval { call, .. } => self.is_pending(call),
            ResponseTo::Question { question, .. } => self.is_open(question),
        }
    }

    /// A person is asked about this call.
    pub fn is_pending(&self, id: &ToolCallId) -> bool {
        self.calls.get(id).is_some_and(|call| call.state == CallState::Pending)
    }

    /// Somebody is asked this question.
    pub fn is_open(&self, id: &QuestionId) -> bool {
        self.questions.iter().any(|(known, resolved)| known == id && !resolved)
    }
}
