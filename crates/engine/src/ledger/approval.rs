//! Decisions about tool calls and questions: by the policy, by a person, or by whatever ends the wait for one.

use std::collections::BTreeMap;

use roost_model::approval::{Answerer, ApprovalEnd, ApprovalScope, PendingKind};
use roost_model::event::EventBody;
use roost_model::ids::{QuestionId, ToolCallId};
use roost_model::pattern::{CallPattern, RememberedRule};
use roost_model::payload::*;
use roost_model::time::Timestamp;
use roost_model::tool::{PolicyDecision, PolicyResult, PolicySource, ToolClass, ToolPolicyEvaluation};
use serde_json::Value;

use super::{CallState, Ledger, RUNTIME_WITHDRAWN, TASK_ENDED, denied_event, evaluation, evaluation_event};
use crate::command::ResponseTo;

/// What a person is offered when the policy asks.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// How much harm the call can do; `None` if nothing looked.
    pub class: Option<ToolClass>,
    /// The pattern that an answer with a longer scope than "once" would remember; `None` allows only "once".
    pub offer: Option<CallPattern>,
    /// When the call is denied if nobody has answered; `None` means never.
    pub expires_at: Option<Timestamp>,
}

/// A tool call that waits for a person.
#[derive(Clone, Copy, Debug)]
pub struct PendingApproval<'a> {
    /// The attempt that the answer will be about.
    pub request: &'a ToolCallRequestedPayload,
    /// The pattern that an answer with a longer scope than "once" would remember.
    pub offer: Option<&'a CallPattern>,
    /// The rule because of which it is asked about.
    pub rule: Option<&'a str>,
}

/// The result of asking a person about a tool call.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Deny, unless somebody allowed it.
    pub decision: PolicyDecision,
    /// Whether somebody answered, or what ended the wait instead.
    pub end: ApprovalEnd,
    /// Which calls it counts for; `Once` unless a person chose more.
    pub scope: ApprovalScope,
    /// Why it was denied; the agent reads it.
    pub reason: Option<String>,
    /// `None` if nobody answered.
    pub answered_by: Option<Answerer>,
    /// The input to run with, if a person changed it.
    pub edited_input: Option<Value>,
    /// The rule that decides about later calls; `None` for the scope `Once`.
    pub remembered: Option<RememberedRule>,
}

impl Verdict {
    /// A denial without an answer, for this reason.
    pub fn denied(end: ApprovalEnd, reason: &str) -> Self {
        let (decision, scope, reason) = (PolicyDecision::Deny, ApprovalScope::Once, Some(reason.to_owned()));
        Self { decision, end, scope, reason, answered_by: None, edited_input: None, remembered: None }
    }

    fn evaluation(&self) -> ToolPolicyEvaluation {
        let result = match self.decision {
            PolicyDecision::Allow => PolicyResult::Allow,
            PolicyDecision::Deny => PolicyResult::Deny,
        };
        match (self.end, self.decision) {
            (ApprovalEnd::Answered, PolicyDecision::Allow) => evaluation(PolicySource::User, result, "user_approved"),
            (ApprovalEnd::Answered, PolicyDecision::Deny) => evaluation(PolicySource::User, result, "user_denied"),
            (ApprovalEnd::Expired, _) => evaluation(PolicySource::Codesdk, result, "approval_expired"),
            (ApprovalEnd::Withdrawn, _) => evaluation(PolicySource::Runtime, result, RUNTIME_WITHDRAWN),
            (ApprovalEnd::Stopped | ApprovalEnd::TaskEnded | ApprovalEnd::HostRestarted, _) => {
                evaluation(PolicySource::Codesdk, result, TASK_ENDED)
            }
        }
    }
}

/// The result of asking a person a question of the runtime.
#[derive(Clone, Debug)]
pub struct Resolution {
    /// Answered, declined or cancelled.
    pub outcome: QuestionOutcome,
    /// The chosen or typed values by the id of the form's field; empty unless it was answered.
    pub answers: BTreeMap<String, Vec<String>>,
    /// `None` if nobody answered.
    pub answered_by: Option<Answerer>,
    /// Why there is no answer.
    pub reason: Option<String>,
}

impl Resolution {
    /// The question was withdrawn, or its task is over.
    pub fn cancelled(reason: &str) -> Self {
        Self::unanswered(QuestionOutcome::Cancelled, reason)
    }

    /// A resolution without answers, for this reason.
    pub fn unanswered(outcome: QuestionOutcome, reason: &str) -> Self {
        Self { outcome, answers: BTreeMap::new(), answered_by: None, reason: Some(reason.to_owned()) }
    }
}

impl Ledger {
    /// Records the policy's evaluations of a call. The last one decides: if its result is `Ask`, the call waits for a
    /// person on these terms. Returns nothing if the call is decided already.
    pub fn decide(
        &mut self,
        id: &ToolCallId,
        evaluations: Vec<ToolPolicyEvaluation>,
        reason: &str,
        terms: Terms,
    ) -> Vec<EventBody> {
        let mode = self.mode;
        let Some(call) = self.calls.get_mut(id).filter(|call| call.state == CallState::Requested) else {
            return Vec::new();
        };
        let mut events = Vec::new();
        for evaluation in evaluations {
            events.push(evaluation_event(&call.identity, &evaluation));
            call.judged |= evaluation.source != PolicySource::Runtime;
            call.evaluations.push(evaluation);
        }
        let Some(last) = call.evaluations.last() else { return events };
        match last.result {
            PolicyResult::Allow => {
                events.push(ToolCallApprovedPayload { identity: call.identity.clone() }.into());
                self.set_state(id, CallState::Approved);
            }
            PolicyResult::Deny => {
                events.push(denied_event(call, mode, reason));
                call.denial = Some(reason.into());
                self.set_state(id, CallState::Denied);
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
                    class: terms.class,
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

    /// Records the result of asking a person. Returns nothing if the call does not wait any more.
    pub fn answer(&mut self, id: &ToolCallId, verdict: Verdict) -> Vec<EventBody> {
        let mode = self.mode;
        let still_waits_for = self.waits_for(|call| call != id, |_| true);
        let Some(call) = self.calls.get_mut(id).filter(|call| call.state == CallState::Pending) else {
            return Vec::new();
        };
        let evaluation = verdict.evaluation();
        let mut events = vec![evaluation_event(&call.identity, &evaluation)];
        call.evaluations.push(evaluation);
        let Verdict { decision, end, scope, reason, answered_by, edited_input, remembered } = verdict;
        call.edited.clone_from(&edited_input);
        let denial = reason.clone().unwrap_or_else(|| "denied".into());
        let identity = call.identity.clone();
        let resolved = ApprovalResolvedPayload {
            identity,
            decision,
            end,
            scope,
            reason,
            answered_by,
            edited_input,
            remembered,
            still_waits_for,
        };
        events.push(resolved.into());
        match decision {
            PolicyDecision::Allow => {
                events.push(ToolCallApprovedPayload { identity: call.identity.clone() }.into());
                self.set_state(id, CallState::Approved);
            }
            PolicyDecision::Deny => {
                events.push(denied_event(call, mode, &denial));
                call.denial = Some(denial);
                self.set_state(id, CallState::Denied);
            }
        }
        events
    }

    /// Denies every tool call that waits for a person and cancels every open question.
    pub fn close_pending(&mut self, end: ApprovalEnd, reason: &str) -> Vec<EventBody> {
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

    /// Records a question that is open from now on; its id must be new.
    pub fn ask(&mut self, question: QuestionAskedPayload) -> EventBody {
        self.questions.push((question.question_id.clone(), false));
        question.into()
    }

    /// Records the result of an open question; `None` if it is not open.
    pub fn resolve(&mut self, id: &QuestionId, resolution: Resolution) -> Option<EventBody> {
        let still_waits_for = self.waits_for(|_| true, |question| question != id);
        let (question_id, resolved) = self.questions.iter_mut().find(|(known, resolved)| known == id && !resolved)?;
        *resolved = true;
        let question_id = question_id.clone();
        let Resolution { outcome, answers, answered_by, reason } = resolution;
        Some(QuestionResolvedPayload { question_id, outcome, answers, answered_by, reason, still_waits_for }.into())
    }

    /// What the session waits for: an approval among these calls, else a question among these.
    fn waits_for(
        &self,
        is_call: impl Fn(&ToolCallId) -> bool,
        is_question: impl Fn(&QuestionId) -> bool,
    ) -> Option<PendingKind> {
        if self.open.values().any(|call| is_call(call) && self.is_pending(call)) {
            return Some(PendingKind::Approval);
        }
        let is_open = self.questions.iter().any(|(question, resolved)| !resolved && is_question(question));
        is_open.then_some(PendingKind::Question)
    }

    /// The request of a call that is not over yet.
    pub fn request_of(&self, id: &ToolCallId) -> Option<&ToolCallRequestedPayload> {
        self.calls.get(id)?.request.as_deref()
    }

    /// The requests of the other calls that were allowed and have not ended.
    pub fn allowed_and_open(&self, except: &ToolCallId) -> impl Iterator<Item = &ToolCallRequestedPayload> {
        let is_open = |call: &&super::CallRecord| matches!(call.state, CallState::Approved | CallState::Running);
        let others = self.calls.iter().filter(move |(id, _)| *id != except).map(|(_, call)| call);
        others.filter(is_open).filter_map(|call| call.request.as_deref())
    }

    /// The call, if it waits for a person.
    pub fn pending_approval(&self, id: &ToolCallId) -> Option<PendingApproval<'_>> {
        let call = self.calls.get(id).filter(|call| call.state == CallState::Pending)?;
        let rule = call.evaluations.last().and_then(|last| last.rule.as_deref());
        Some(PendingApproval { request: call.request.as_deref()?, offer: call.offer.as_ref(), rule })
    }

    /// The input that a person put in the place of the call's own, if one did.
    pub fn edited_input(&self, id: &ToolCallId) -> Option<&Value> {
        self.calls.get(id)?.edited.as_ref()
    }

    /// Why a call was denied, if it was.
    pub fn denial(&self, id: &ToolCallId) -> Option<&str> {
        self.calls.get(id)?.denial.as_deref()
    }

    /// Whether the call or question that this response names waits for an answer.
    pub(crate) fn waits(&self, to: &ResponseTo) -> bool {
        match to {
            ResponseTo::Approval { call, .. } => self.is_pending(call),
            ResponseTo::Question { question, .. } => self.is_open(question),
        }
    }

    /// Whether this call waits for a person.
    pub fn is_pending(&self, id: &ToolCallId) -> bool {
        self.calls.get(id).is_some_and(|call| call.state == CallState::Pending)
    }

    /// Whether this question was asked and is not resolved.
    pub fn is_open(&self, id: &QuestionId) -> bool {
        self.questions.iter().any(|(known, resolved)| known == id && !resolved)
    }
}
