//! The books of one task: what is open, what was decided, and what must be written when.
//!
//! Runtimes announce tools late, twice, or not at all, and leave them open when they stop. The ledger takes whatever
//! comes and gives back events that always obey the contract: requested first, exactly one decision, started and
//! completed once and only when approved, and nothing open when the task ends. A decision is about one attempt with one
//! input: see [`attempts`]. Pure: no I/O, no clock.

use std::collections::{BTreeMap, HashMap};

use roost_model::approval::ApprovalEnd;
use roost_model::event::EventBody;
use roost_model::failure::{FailureCode, TaskError};
use roost_model::ids::{QuestionId, ToolCallId};
use roost_model::mode::{Mode, PermissionMode};
use roost_model::pattern::CallPattern;
use roost_model::payload::*;
use roost_model::tool::{
    PolicyDecision, PolicyResult, PolicySource, ToolCallIdentity, ToolPolicyEvaluation, ToolPolicySnapshot,
};
use serde_json::Value;

use crate::adapter::{Fact, TaskEnd, ToolOutcome};
use crate::spill::{self, INLINE};

mod approval;
mod attempts;
mod host;

pub use approval::{AskedAbout, Resolution, Terms, Verdict};
pub(crate) use attempts::REPLACED;
pub use attempts::adds_to;
pub use host::HostCall;

/// The rule under which a call that a runtime ran without asking is recorded.
pub const UNASKED: &str = "runtime:unasked";
/// The rule under which a call is denied that was still undecided when its task ended.
const TASK_ENDED: &str = "task_ended";
/// The rule under which a call is denied that the runtime itself gave up.
const RUNTIME_WITHDRAWN: &str = "runtime:withdrawn";
/// What is said about something that the runtime no longer waits for.
const WITHDRAWN: &str = "withdrawn by the runtime";

/// A runtime ran a tool that it had no leave to run. It gets no second chance: the task ends with its process.
#[derive(Debug)]
struct Violation(String);

impl From<Violation> for TaskEnd {
    fn from(Violation(what): Violation) -> Self {
        let message = format!("the runtime broke its word: {what}; it was ended");
        Self::failed(FailureCode::PolicyViolation, message)
    }
}

/// Where a tool call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallState {
    Requested,
    /// A person is asked.
    Pending,
    Approved,
    Running,
    Completed,
    Denied,
}

#[derive(Debug)]
struct Call {
    place: u64,
    identity: ToolCallIdentity,
    name: String,
    kind: Option<ToolKind>,
    state: CallState,
    words: Vec<ToolPolicyEvaluation>,
    /// The attempt, as the adapter last counted it.
    told_attempt: u32,
    /// The runtime waits, or waited, to hear about this attempt.
    asked: bool,
    /// The question that the runtime waits with, or was answered, as the adapter named it; a ledger that was read back
    /// from the log does not know it.
    question: Option<ToolCallIdentity>,
    /// The policy or a person decided about the call, in this attempt or an earlier one.
    judged: bool,
    /// What the call was announced as, where that is not what the runtime asked about in the end.
    claimed: Option<Box<ToolCallRequestedPayload>>,
    /// What was asked for, kept until it is decided.
    request: Option<Box<ToolCallRequestedPayload>>,
    /// The calls that an answer for longer than once would cover.
    offer: Option<CallPattern>,
    /// The input that a person gave it instead of its own.
    edited: Option<Value>,
    /// Why it was denied.
    denial: Option<String>,
    /// The host is to run it.
    host: bool,
}

/// A decision that the engine is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// May this tool run?
    Tool(ToolCallId),
    /// What does the user say?
    Question(QuestionId),
}

impl Asked {
    /// The id under which it is answered.
    pub fn id(&self) -> &str {
        match self {
            Self::Tool(call) => call.as_str(),
            Self::Question(question) => question.as_str(),
        }
    }
}

/// What the engine must do about a fact, after its events are written.
#[derive(Debug, PartialEq)]
pub enum Next {
    /// Nothing.
    Nothing,
    /// Decide, and tell the runtime.
    Decide(Asked),
    /// Close the task.
    End(TaskEnd),
}

/// The books of one task.
#[derive(Debug)]
pub struct Ledger {
    mode: Mode,
    calls: HashMap<ToolCallId, Call>,
    /// The calls that are neither denied nor completed, by their place in the order of announcement.
    open: BTreeMap<u64, ToolCallId>,
    /// The place of the next call.
    next_place: u64,
    /// Every question, and whether it is resolved.
    questions: Vec<(QuestionId, bool)>,
    /// The questions that the runtime still waits with although their calls are others by now.
    void: Vec<ToolCallIdentity>,
}

impl Ledger {
    /// Empty books for a task in this mode.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            calls: HashMap::new(),
            open: BTreeMap::new(),
            next_place: 0,
            questions: Vec::new(),
            void: Vec::new(),
        }
    }

    /// Books as they stood after these events of the task.
    pub fn replay<'a>(mode: Mode, events: impl IntoIterator<Item = &'a EventBody>) -> Self {
        let mut ledger = Self::new(mode);
        for event in events {
            ledger.recall(event);
        }
        ledger
    }

    /// Takes what the runtime did and adds what is to be written to `events`.
    pub fn enter(&mut self, fact: Fact, events: &mut Vec<EventBody>) -> Next {
        match fact {
            Fact::Delta(delta) if delta.delta.len() <= INLINE => events.push(delta.into()),
            Fact::Delta(mut delta) => {
                let whole = std::mem::take(&mut delta.delta);
                let piece = |text: &str| ModelOutputDeltaPayload { delta: text.into(), ..delta.clone() };
                events.extend(spill::pieces(&whole).map(|text| piece(text).into()));
            }
            Fact::RequestStarted(request) => events.push(request.into()),
            Fact::RequestCompleted(request) => events.push(request.into()),
            Fact::Output(output) => events.push(output.into()),
            Fact::Usage(usage) => events.push(usage.into()),
            Fact::Plan(plan) => events.push(plan.into()),
            Fact::Notice(notice) => events.push(notice.into()),
            // State, mode and queue are the engine's; a runtime that could set them could allow itself everything.
            Fact::Session(update) => {
                let SessionUpdatedPayload { title, model, runtime_session_id, reason, .. } = update;
                let own = SessionUpdatedPayload { title, model, runtime_session_id, reason, ..Default::default() };
                events.push(own.into());
            }
            Fact::ToolRequested(request) => return self.request(request, events),
            Fact::ToolAsks(request) => return self.ask(request, false, events),
            Fact::HostToolAsks(request) => return self.ask(request, true, events),
            Fact::ToolStarted(_) | Fact::ToolOutputDelta { .. } | Fact::ToolOutput { .. } | Fact::ToolCompleted(_) => {
                if let Err(violation) = self.execute(fact, events) {
                    return Next::End(violation.into());
                }
            }
            Fact::Question(question) => {
                let id = question.question_id.clone();
                if self.questions.iter().any(|(known, _)| *known == id) {
                    events.push(odd(format!("question {id} was asked twice; it is answered again")));
                } else {
                    self.questions.push((id.clone(), false));
                    events.push(question.into());
                }
                return Next::Decide(Asked::Question(id));
            }
            Fact::QuestionWithdrawn(id) => {
                events.extend(self.resolve(&id, Resolution::cancelled(WITHDRAWN)));
            }
            Fact::Ended(end) => return Next::End(end),
        }
        Next::Nothing
    }

    /// Takes what the runtime says about a tool that runs.
    fn execute(&mut self, fact: Fact, events: &mut Vec<EventBody>) -> Result<(), Violation> {
        let id = match &fact {
            Fact::ToolStarted(call) | Fact::ToolOutputDelta { call, .. } | Fact::ToolOutput { call, .. } => call,
            Fact::ToolCompleted(outcome) => &outcome.call,
            _ => return Ok(()),
        };
        // Of a call that the host runs, the host knows more.
        if self.is_the_hosts(id) {
            return Ok(());
        }
        match fact {
            Fact::ToolStarted(call) => {
                self.run(&call, events)?;
            }
            Fact::ToolOutputDelta { call, stream, delta } => {
                if let Some(identity) = self.run(&call, events)? {
                    let piece = |delta: &str| ToolOutputDeltaPayload {
                        identity: identity.clone(),
                        stream,
                        delta: delta.into(),
                    };
                    events.extend(spill::pieces(&delta).map(|delta| piece(delta).into()));
                }
            }
            Fact::ToolOutput { call, stdout, stderr } => {
                if let Some(identity) = self.run(&call, events)? {
                    events.push(ToolOutputCompletedPayload { identity, stdout, stderr }.into());
                }
            }
            Fact::ToolCompleted(outcome) => self.complete(outcome, events)?,
            _ => {}
        }
        Ok(())
    }

    /// Closes whatever is open, then the task: the last events it will ever have.
    pub fn close(&mut self, end: TaskEnd) -> Vec<EventBody> {
        let (how, reason) = match &end {
            TaskEnd::Completed(_) => (ApprovalEnd::TaskEnded, "task ended".to_owned()),
            TaskEnd::Stopped(reason) => (ApprovalEnd::Stopped, format!("stopped: {reason}")),
            TaskEnd::Failed(error) if error.code == FailureCode::HostRestarted => {
                (ApprovalEnd::HostRestarted, format!("task failed: {}", error.message))
            }
            TaskEnd::Failed(error) => (ApprovalEnd::TaskEnded, format!("task failed: {}", error.message)),
        };
        let mut events = Vec::new();
        for id in self.open.values().cloned().collect::<Vec<_>>() {
            match self.calls.get(&id).map(|call| call.state) {
                Some(CallState::Requested) => {
                    let word = word(PolicySource::Codesdk, PolicyResult::Deny, TASK_ENDED);
                    events.extend(self.decide(&id, vec![word], &reason, Terms::default()));
                }
                Some(CallState::Pending) => events.extend(self.answer(&id, Verdict::denied(how, &reason))),
                Some(CallState::Approved | CallState::Running) => {
                    let result = Some(Value::String(reason.clone()));
                    let outcome = match self.is_the_hosts(&id) {
                        true => ToolOutcome::of_host(id, result, true),
                        false => ToolOutcome::of_runtime(id, result, true),
                    };
                    // What was approved can always be completed.
                    let _ = self.complete(outcome, &mut events);
                }
                Some(CallState::Completed | CallState::Denied) | None => {}
            }
        }
        for (id, _) in self.questions.clone() {
            events.extend(self.resolve(&id, Resolution::cancelled(&reason)));
        }
        events.push(match end {
            TaskEnd::Completed(reason) => TaskCompletedPayload { reason }.into(),
            TaskEnd::Stopped(reason) => TaskStoppedPayload { reason }.into(),
            TaskEnd::Failed(error) => {
                let error: TaskError = *error;
                TaskFailedPayload { reason: error.message.clone(), error }.into()
            }
        });
        events
    }

    /// The tool calls and questions that wait for a decision.
    pub fn pending(&self) -> Vec<Asked> {
        let waits = |id: &&ToolCallId| self.calls.get(*id).is_some_and(|call| call.asked && call.is_undecided());
        let tools = self.open.values().filter(waits).cloned().map(Asked::Tool);
        let questions = self.questions.iter().filter(|(_, resolved)| !resolved);
        tools.chain(questions.map(|(id, _)| Asked::Question(id.clone()))).collect()
    }

    /// Whether a decided call was allowed; `None` while it waits or is unknown.
    pub fn decision(&self, id: &ToolCallId) -> Option<PolicyDecision> {
        match self.calls.get(id)?.state {
            CallState::Requested | CallState::Pending => None,
            CallState::Approved | CallState::Running | CallState::Completed => Some(PolicyDecision::Allow),
            CallState::Denied => Some(PolicyDecision::Deny),
        }
    }

    /// Brings a call to `Running`, writing what the runtime skipped; `None` if it cannot run any more.
    fn run(&mut self, id: &ToolCallId, events: &mut Vec<EventBody>) -> Result<Option<ToolCallIdentity>, Violation> {
        let Some(call) = self.calls.get_mut(id) else {
            events.push(odd(format!("the runtime ran tool call {id}, which it never announced")));
            return Ok(None);
        };
        if call.state == CallState::Requested {
            let word = word(PolicySource::Runtime, PolicyResult::Allow, UNASKED);
            events.push(evaluated(&call.identity, &word));
            call.words.push(word);
            call.state = CallState::Approved;
            events.push(ToolCallApprovedPayload { identity: call.identity.clone() }.into());
        }
        match call.state {
            CallState::Running => {}
            CallState::Approved => {
                call.state = CallState::Running;
                events.push(ToolCallStartedPayload { identity: call.identity.clone() }.into());
            }
            CallState::Denied => return Err(Violation(format!("{} ran although it was denied", call.name))),
            CallState::Pending => return Err(Violation(format!("{} ran before anybody allowed it", call.name))),
            CallState::Requested | CallState::Completed => return Ok(None),
        }
        Ok(Some(call.identity.clone()))
    }

    fn complete(&mut self, outcome: ToolOutcome, events: &mut Vec<EventBody>) -> Result<(), Violation> {
        // A runtime that was told no reports the call as failed: that is the denial, said again.
        if outcome.is_error && self.decision(&outcome.call) == Some(PolicyDecision::Deny) {
            return Ok(());
        }
        // A call that fails without having been decided never ran: the runtime itself refused it.
        match self.calls.get(&outcome.call).map(|call| call.state) {
            Some(CallState::Pending) if outcome.is_error => {
                events.extend(self.answer(&outcome.call, Verdict::denied(ApprovalEnd::Withdrawn, WITHDRAWN)));
                return Ok(());
            }
            Some(CallState::Requested) if outcome.is_error && self.is_asked(&outcome.call) => {
                let word = word(PolicySource::Runtime, PolicyResult::Deny, RUNTIME_WITHDRAWN);
                events.extend(self.decide(&outcome.call, vec![word], WITHDRAWN, Terms::default()));
                return Ok(());
            }
            _ => {}
        }
        let Some(identity) = self.run(&outcome.call, events)? else { return Ok(()) };
        let mode = self.mode;
        let Some(call) = self.calls.get(&outcome.call) else { return Ok(()) };
        let completed = ToolCallCompletedPayload {
            identity,
            name: call.name.clone(),
            executed_by: outcome.executed_by,
            execution_env: outcome.execution_env,
            policy_snapshot: snapshot(call, mode, PolicyDecision::Allow),
            sandbox: outcome.sandbox,
            result_ref: None,
            result_preview: outcome.result,
            is_error: outcome.is_error.then_some(true),
        };
        events.push(completed.into());
        self.reach(&outcome.call, CallState::Completed);
        Ok(())
    }

    /// Brings a call to where it stands; of one that is over little is kept, because tasks can be long.
    fn reach(&mut self, id: &ToolCallId, state: CallState) {
        let Some(call) = self.calls.get_mut(id) else { return };
        call.state = state;
        if matches!(state, CallState::Completed | CallState::Denied) {
            call.words = Vec::new();
            (call.request, call.claimed, call.offer) = (None, None, None);
            self.open.remove(&call.place);
        }
    }

    fn recall(&mut self, event: &EventBody) {
        match event {
            EventBody::ToolCallRequested(request) => self.begin(request.clone()),
            EventBody::ToolCallApproved(call) => self.reach(&call.identity.tool_call_id, CallState::Approved),
            EventBody::ToolCallDenied(call) => self.reach(&call.identity.tool_call_id, CallState::Denied),
            EventBody::ToolCallStarted(call) => self.reach(&call.identity.tool_call_id, CallState::Running),
            EventBody::ToolCallCompleted(call) => self.reach(&call.identity.tool_call_id, CallState::Completed),
            EventBody::ToolCallPolicyEvaluated(word) => {
                if let Some(call) = self.calls.get_mut(&word.identity.tool_call_id) {
                    let (source, result, rule) = (word.source, word.result, word.rule.clone());
                    call.words.push(ToolPolicyEvaluation { source, result, rule });
                    // The runtime waits for whoever was asked.
                    call.asked |= result == PolicyResult::Ask;
                    call.judged |= source != PolicySource::Runtime;
                }
            }
            EventBody::QuestionAsked(question) => self.questions.push((question.question_id.clone(), false)),
            EventBody::QuestionResolved(question) => {
                self.resolve(&question.question_id, Resolution::cancelled(""));
            }
            EventBody::ApprovalRequested(asked) => {
                if let Some(call) = self.calls.get_mut(&asked.identity.tool_call_id) {
                    (call.state, call.offer) = (CallState::Pending, asked.offer.clone());
                }
            }
            _ => {}
        }
    }
}

fn word(source: PolicySource, result: PolicyResult, rule: &str) -> ToolPolicyEvaluation {
    ToolPolicyEvaluation { source, result, rule: Some(rule.into()) }
}

fn evaluated(identity: &ToolCallIdentity, word: &ToolPolicyEvaluation) -> EventBody {
    let ToolPolicyEvaluation { source, result, rule } = word.clone();
    ToolCallPolicyEvaluatedPayload { identity: identity.clone(), source, result, rule }.into()
}

fn denied(call: &Call, mode: Mode, reason: &str) -> EventBody {
    let denied = ToolCallDeniedPayload {
        identity: call.identity.clone(),
        name: call.name.clone(),
        reason: reason.into(),
        policy_snapshot: snapshot(call, mode, PolicyDecision::Deny),
    };
    denied.into()
}

fn snapshot(call: &Call, mode: Mode, decision: PolicyDecision) -> ToolPolicySnapshot {
    let permission_mode = Some(PermissionMode::from(mode));
    ToolPolicySnapshot { permission_mode, mode: Some(mode), decision, sources: call.words.clone() }
}

fn odd(message: String) -> EventBody {
    RuntimeNoticePayload { level: NoticeLevel::Warning, source: NoticeSource::Engine, message }.into()
}
