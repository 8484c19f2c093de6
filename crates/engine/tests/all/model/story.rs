//! Everything that must be true of a history once the engine is down.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use roost_log::Log;
use roost_model::approval::ApprovalEnd;
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::SessionId;
use roost_model::session::SessionStatus;
use roost_model::tool::{PolicyDecision, PolicyResult, PolicySource, ToolCallIdentity};
use testkit::fake::EngineMessage;

use super::Run;

type Checked = Result<(), TestCaseError>;

/// Checks the whole history.
pub(super) async fn check(run: &Run) -> Checked {
    let mut calls = Calls::default();
    for session in &run.sessions {
        let events = run.host.events(session).await;
        let ran = tasks(session, &events)?;
        accounted(run, session, ran).await?;
        for event in &events {
            calls.see(&event.body)?;
        }
    }
    calls.are_over()?;
    prop_assert_eq!(run.host.log.pending(None).await.unwrap(), vec![]);
    told_what_was_decided(run, &calls)
}

/// Events without a gap, one task at a time, each with one end that is its last; the prompts that ran, in order.
fn tasks(id: &SessionId, events: &[NormalizedEvent]) -> Result<Vec<u32>, TestCaseError> {
    let (mut running, mut ran, mut over) = (None, Vec::new(), BTreeSet::new());
    for (event, seq) in events.iter().zip(1..) {
        prop_assert_eq!(event.seq, seq);
        prop_assert_eq!(&event.trace.session_id, id);
        let Some(task) = &event.trace.task_id else { continue };
        if let EventBody::TaskStarted(start) = &event.body {
            prop_assert_eq!(running.replace(task.clone()), None, "two tasks at once");
            ran.push(start.messages[0].text().parse::<u32>().unwrap());
        }
        prop_assert_eq!(running.as_ref(), Some(task), "not the running task: {:?}", event);
        if event.body.ends_task() {
            prop_assert!(over.insert(task.clone()), "ended twice");
            running = None;
        }
    }
    prop_assert_eq!(running, None);
    Ok(ran)
}

/// Every prompt ran once, in order, or is held; nothing is open.
async fn accounted(run: &Run, id: &SessionId, ran: Vec<u32>) -> Checked {
    let record = run.host.record(id).await;
    prop_assert_eq!(record.open_task, None);
    prop_assert!(matches!(record.status, SessionStatus::Created | SessionStatus::Closed));
    prop_assert!(ran.is_sorted(), "the queue's order is not kept: {:?}", ran);
    prop_assert!(record.queue.iter().all(|prompt| prompt.held));
    let waiting = record.queue.iter().map(|prompt| prompt.message.text().parse::<u32>().unwrap());
    let mut accounted: Vec<_> = ran.into_iter().chain(waiting).collect();
    accounted.sort_unstable();
    prop_assert_eq!(accounted, run.said.get(id).cloned().unwrap_or_default(), "a prompt was lost or ran twice");
    Ok(())
}

/// What an attempt at a call has had so far.
#[derive(Debug, Default)]
struct Attempt {
    words: Vec<(PolicySource, PolicyResult)>,
    asked: bool,
    resolved: Option<(PolicyDecision, ApprovalEnd)>,
    decision: Option<PolicyDecision>,
    started: bool,
    completed: bool,
}

/// Every attempt at every call, and every question.
#[derive(Default)]
struct Calls {
    attempts: BTreeMap<(String, u32), Attempt>,
    questions: BTreeMap<String, u32>,
}

impl Calls {
    fn known(&mut self, identity: &ToolCallIdentity) -> Result<&mut Attempt, TestCaseError> {
        let found = self.attempts.get_mut(&(identity.tool_call_id.to_string(), identity.attempt));
        found.ok_or_else(|| TestCaseError::fail(format!("{identity:?} was never requested")))
    }

    fn see(&mut self, event: &EventBody) -> Checked {
        match event {
            EventBody::ToolCallRequested(call) => {
                let key = (call.identity.tool_call_id.to_string(), call.identity.attempt);
                prop_assert!(self.attempts.insert(key, Attempt::default()).is_none(), "requested twice: {call:?}");
            }
            EventBody::ToolCallPolicyEvaluated(word) => {
                let attempt = self.known(&word.identity)?;
                prop_assert!(attempt.decision.is_none(), "a word after the decision: {word:?}");
                attempt.words.push((word.source, word.result));
            }
            EventBody::ApprovalRequested(asked) => {
                let attempt = self.known(&asked.identity)?;
                prop_assert!(!std::mem::replace(&mut attempt.asked, true), "asked twice: {asked:?}");
                prop_assert!(attempt.decision.is_none());
            }
            EventBody::ApprovalResolved(resolved) => {
                let attempt = self.known(&resolved.identity)?;
                prop_assert!(attempt.asked && attempt.decision.is_none(), "nobody was asked: {resolved:?}");
                let before = attempt.resolved.replace((resolved.decision, resolved.end));
                prop_assert_eq!(before, None, "resolved twice: {:?}", resolved);
                let answered = resolved.end == ApprovalEnd::Answered;
                prop_assert_eq!(answered, resolved.answered_by.is_some());
                prop_assert!(answered || resolved.decision == PolicyDecision::Deny, "{resolved:?}");
            }
            EventBody::ToolCallApproved(call) => self.decide(&call.identity, PolicyDecision::Allow)?,
            EventBody::ToolCallDenied(call) => self.decide(&call.identity, PolicyDecision::Deny)?,
            EventBody::ToolCallStarted(call) => {
                let attempt = self.known(&call.identity)?;
                prop_assert_eq!(
                    (attempt.decision, attempt.started),
                    (Some(PolicyDecision::Allow), false),
                    "{:?}",
                    call
                );
                attempt.started = true;
            }
            EventBody::ToolCallCompleted(call) => {
                let attempt = self.known(&call.identity)?;
                prop_assert_eq!((attempt.started, attempt.completed), (true, false), "{:?}", call);
                attempt.completed = true;
            }
            EventBody::QuestionAsked(asked) => {
                prop_assert_eq!(self.questions.insert(asked.question_id.to_string(), 0), None);
            }
            EventBody::QuestionResolved(resolved) => match self.questions.get_mut(resolved.question_id.as_str()) {
                Some(times) => *times += 1,
                None => prop_assert!(false, "never asked: {resolved:?}"),
            },
            _ => {}
        }
        Ok(())
    }

    /// A decision follows from the last word, and from the person if one was asked.
    fn decide(&mut self, identity: &ToolCallIdentity, decision: PolicyDecision) -> Checked {
        let attempt = self.known(identity)?;
        let word = match decision {
            PolicyDecision::Allow => PolicyResult::Allow,
            PolicyDecision::Deny => PolicyResult::Deny,
        };
        let last = attempt.words.last().copied();
        prop_assert_eq!(last.map(|(_, result)| result), Some(word), "{:?}: {:?}", identity, attempt);
        let resolved = attempt.resolved.map(|(decision, _)| decision);
        prop_assert_eq!(resolved, attempt.asked.then_some(decision), "{:?}: {:?}", identity, attempt);
        let by_person = last.is_some_and(|(source, _)| source == PolicySource::User);
        prop_assert_eq!(by_person, matches!(attempt.resolved, Some((_, ApprovalEnd::Answered))), "{:?}", attempt);
        prop_assert_eq!(attempt.decision.replace(decision), None, "decided twice: {:?}", identity);
        Ok(())
    }

    fn are_over(&self) -> Checked {
        for (key, attempt) in &self.attempts {
            let ran = attempt.decision == Some(PolicyDecision::Allow);
            prop_assert!(attempt.decision.is_some(), "{:?} was never decided", key);
            prop_assert_eq!((attempt.started, attempt.completed), (ran, ran), "{:?}", key);
            prop_assert_eq!(attempt.asked, attempt.resolved.is_some(), "{:?}", key);
        }
        prop_assert!(self.questions.values().all(|times| *times == 1), "{:?}", self.questions);
        Ok(())
    }

    /// Some attempt at this call was decided like this.
    fn was(&self, call: &str, decision: PolicyDecision) -> bool {
        self.attempts_at(call).any(|attempt| attempt.decision == Some(decision))
    }

    /// How many attempts at this call were allowed.
    fn allowed(&self, call: &str) -> usize {
        self.attempts_at(call).filter(|attempt| attempt.decision == Some(PolicyDecision::Allow)).count()
    }

    fn attempts_at(&self, call: &str) -> impl Iterator<Item = &Attempt> {
        self.attempts.iter().filter(move |((id, _), _)| id == call).map(|(_, attempt)| attempt)
    }
}

/// Runtimes and the host's tools heard what was decided and nothing else, and nothing that was acknowledged is lost.
fn told_what_was_decided(run: &Run, calls: &Calls) -> Checked {
    let (mut approved, mut denied, mut answered) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for told in run.agents.received_messages() {
        match told {
            EngineMessage::Approved(call) | EngineMessage::Edited(call, _) => _ = approved.insert(call.to_string()),
            EngineMessage::Denied(call, _) => _ = denied.insert(call.to_string()),
            EngineMessage::Answer(question, _) => _ = answered.insert(question.to_string()),
            EngineMessage::Result(..)
            | EngineMessage::Steer(_)
            | EngineMessage::Stop
            | EngineMessage::PromptWaiting => {}
        }
    }
    // What runs on the host may be cancelled before its first step, but it never runs more often than it was allowed.
    let ran = run.tools.ran();
    for call in &ran {
        let times = ran.iter().filter(|other| *other == call).count();
        prop_assert!(times <= calls.allowed(call), "a tool of the host's ran too often: {call}");
    }
    for call in approved.iter().chain(&ran) {
        prop_assert!(calls.was(call, PolicyDecision::Allow), "{call} ran or may run, and nobody allowed it");
    }
    prop_assert!(denied.iter().all(|call| calls.was(call, PolicyDecision::Deny)), "{:?}", denied);
    for call in &run.person.allowed {
        prop_assert!(calls.was(call, PolicyDecision::Allow), "the allow of {call} is not in the log");
        // The host's own calls carry an `h`; they are begun, not told.
        prop_assert!(approved.contains(call) || call.contains("-h"), "the allow of {call} was lost");
    }
    for call in &run.person.denied {
        prop_assert!(denied.contains(call), "the denial of {call} was lost");
    }
    for question in &run.person.answered {
        prop_assert!(answered.contains(question), "the answer to {question} was lost");
    }
    Ok(())
}
