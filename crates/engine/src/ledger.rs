//! The state machine of one task: which tool calls and questions are open, what was decided, and which events follow.
//!
//! Runtimes announce tools late, twice, or not at all, and leave them open when they stop. The ledger takes whatever
//! comes and returns events that always obey the contract: requested first, exactly one decision, started and
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
mod gateway;
mod host;

pub use approval::{PendingApproval, Resolution, Terms, Verdict};
pub(crate) use attempts::REPLACED;
pub use attempts::adds_to;
pub use gateway::{GATEWAY_SERVER, GatewayToolCall};
pub use host::HostCall;

/// The rule that is recorded for a call which the runtime ran without asking.
pub const UNASKED: &str = "runtime:unasked";
/// The rule that is recorded for a call which the runtime's own rules refused.
pub const RUNTIME_REFUSED: &str = "runtime:refused";
/// The rule that is recorded for a call which was still undecided when its task ended.
const TASK_ENDED: &str = "task_ended";
/// The rule that is recorded for a call which the runtime itself gave up.
const RUNTIME_WITHDRAWN: &str = "runtime:withdrawn";
/// The reason that is recorded when the runtime no longer waits for an answer.
const WITHDRAWN: &str = "withdrawn by the runtime";

/// A runtime ran a tool without permission. It is not trusted again: its task fails and its process is ended.
#[derive(Debug)]
struct Violation(String);

impl From<Violation> for TaskEnd {
    fn from(Violation(what): Violation) -> Self {
        let message = format!("the runtime broke its word: {what}; it was ended");
        Self::failed(FailureCode::PolicyViolation, message)
    }
}

/// The state of the current attempt at a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallState {
    Requested,
    /// A person was asked and has not answered.
    Pending,
    Approved,
    Running,
    Completed,
    Denied,
}

/// What the ledger knows about the current attempt at a tool call.
#[derive(Debug)]
struct CallRecord {
    /// The key in [`Ledger::open`]: attempts are numbered in the order in which they were announced.
    order: u64,
    identity: ToolCallIdentity,
    name: String,
    kind: Option<ToolKind>,
    state: CallState,
    evaluations: Vec<ToolPolicyEvaluation>,
    /// The attempt as the adapter counted it, which may be lower than the ledger's own count in `identity`.
    adapter_attempt: u32,
    /// The runtime asked about this attempt, and waits or waited for the decision.
    runtime_asked: bool,
    /// The runtime's question as the adapter identified it; decisions are sent under this identity. `None` after a
    /// restart, because events do not hold it.
    question: Option<ToolCallIdentity>,
    /// The policy or a person has decided about the call, in this attempt or an earlier one.
    judged: bool,
    /// The call as it was announced, if the runtime then asked about something different. The policy judges both.
    claimed: Option<Box<ToolCallRequestedPayload>>,
    /// The request; dropped once the attempt is over.
    request: Option<Box<ToolCallRequestedPayload>>,
    /// The pattern that an answer with a longer scope than "once" would remember.
    offer: Option<CallPattern>,
    /// The input that a person put in the place of the runtime's.
    edited: Option<Value>,
    /// Why it was denied; the agent reads it.
    denial: Option<String>,
    executor: Executor,
}

/// Who runs a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Executor {
    Runtime,
    /// The engine, by [`HostTools`](crate::HostTools).
    HostTools,
    /// The MCP gateway, which reports its start and its end.
    Gateway,
}

/// A decision that the runtime waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// Whether this tool call may run.
    Tool(ToolCallId),
    /// What the user answers to this question.
    Question(QuestionId),
}

impl Asked {
    /// The id that an answer names.
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
    /// The events were all there is to do.
    Nothing,
    /// Decide, or ask a person, and send the decision to the runtime.
    Decide(Asked),
    /// End the task with [`Ledger::close`].
    End(TaskEnd),
}

/// The tool calls and questions of one task.
#[derive(Debug)]
pub struct Ledger {
    mode: Mode,
    calls: HashMap<ToolCallId, CallRecord>,
    /// The calls that are neither denied nor completed, in the order in which they were announced.
    open: BTreeMap<u64, ToolCallId>,
    /// The order of the next attempt.
    next_order: u64,
    /// Every question, and whether it is resolved.
    questions: Vec<(QuestionId, bool)>,
    /// Questions about tool calls that the runtime still waits for, although the calls have changed since. They must be
    /// refused.
    void: Vec<ToolCallIdentity>,
    /// Calls that reached the gateway before their runtime announced them.
    unannounced: Vec<ToolCallId>,
    /// The runtime's ids of such calls, once it has announced them, with the ids that they have here.
    aliases: HashMap<ToolCallId, ToolCallId>,
}

impl Ledger {
    /// An empty ledger for a task in this mode.
    pub fn new(mode: Mode) -> Self {
        Self {
            mode,
            calls: HashMap::new(),
            open: BTreeMap::new(),
            next_order: 0,
            questions: Vec::new(),
            void: Vec::new(),
            unannounced: Vec::new(),
            aliases: HashMap::new(),
        }
    }

    /// Restores the ledger of a task from its events, as after a restart of the daemon.
    pub fn replay<'a>(mode: Mode, events: impl IntoIterator<Item = &'a EventBody>) -> Self {
        let mut ledger = Self::new(mode);
        for event in events {
            ledger.replay_event(event);
        }
        ledger
    }

    /// Records a fact and adds the events that must be written to `events`.
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
            Fact::ToolRequested(request) if self.announces_gateway_call(&request) => {}
            Fact::ToolRequested(request) => return self.on_tool_requested(request, events),
            Fact::ToolAsks(request) => return self.on_tool_asked(request, Executor::Runtime, events),
            Fact::HostToolAsks(request) => return self.on_tool_asked(request, Executor::HostTools, events),
            Fact::ToolStarted(_) | Fact::ToolOutputDelta { .. } | Fact::ToolOutput { .. } | Fact::ToolCompleted(_) => {
                if let Err(violation) = self.on_tool_progress(fact, events) {
                    return Next::End(violation.into());
                }
            }
            Fact::ToolRefused { call, reason } => self.on_tool_refused(call, &reason, events),
            Fact::Question(question) => {
                let id = question.question_id.clone();
                if self.questions.iter().any(|(known, _)| *known == id) {
                    events.push(warning(format!("question {id} was asked twice; it is answered again")));
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

    /// Records the start, the output or the end of a tool.
    fn on_tool_progress(&mut self, fact: Fact, events: &mut Vec<EventBody>) -> Result<(), Violation> {
        let id = match &fact {
            Fact::ToolStarted(call) | Fact::ToolOutputDelta { call, .. } | Fact::ToolOutput { call, .. } => call,
            Fact::ToolCompleted(outcome) => &outcome.call,
            _ => return Ok(()),
        };
        // The host itself reports the calls that it runs.
        if self.runs_on_host(id) || self.belongs_to_gateway(id, matches!(fact, Fact::ToolCompleted(_))) {
            return Ok(());
        }
        match fact {
            Fact::ToolStarted(call) => {
                self.ensure_running(&call, events)?;
            }
            Fact::ToolOutputDelta { call, stream, delta } => {
                if let Some(identity) = self.ensure_running(&call, events)? {
                    let piece = |delta: &str| ToolOutputDeltaPayload {
                        identity: identity.clone(),
                        stream,
                        delta: delta.into(),
                    };
                    events.extend(spill::pieces(&delta).map(|delta| piece(delta).into()));
                }
            }
            Fact::ToolOutput { call, stdout, stderr } => {
                if let Some(identity) = self.ensure_running(&call, events)? {
                    events.push(ToolOutputCompletedPayload { identity, stdout, stderr }.into());
                }
            }
            Fact::ToolCompleted(outcome) => self.complete(outcome, events)?,
            _ => {}
        }
        Ok(())
    }

    /// Records that the runtime itself refused a call. One that was allowed before has failed instead.
    fn on_tool_refused(&mut self, id: ToolCallId, reason: &str, events: &mut Vec<EventBody>) {
        match self.calls.get(&id).map(|call| call.state) {
            _ if self.is_of_gateway(&id) => {}
            Some(CallState::Requested) => {
                let evaluation = evaluation(PolicySource::Runtime, PolicyResult::Deny, RUNTIME_REFUSED);
                events.extend(self.decide(&id, vec![evaluation], reason, Terms::default()));
            }
            Some(CallState::Pending) => {
                events.extend(self.answer(&id, Verdict::denied(ApprovalEnd::Withdrawn, reason)));
            }
            Some(CallState::Approved | CallState::Running) if !self.runs_on_host(&id) => {
                // What was approved can always be completed.
                let _ = self.complete(ToolOutcome::of_runtime(id, Some(reason.into()), true), events);
            }
            Some(_) => {}
            None => events.push(warning(format!("the runtime refused tool call {id}, which it never announced"))),
        }
    }

    /// Closes everything that is open, then the task itself. Returns the task's last events.
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
                    let evaluation = evaluation(PolicySource::Codesdk, PolicyResult::Deny, TASK_ENDED);
                    events.extend(self.decide(&id, vec![evaluation], &reason, Terms::default()));
                }
                Some(CallState::Pending) => events.extend(self.answer(&id, Verdict::denied(how, &reason))),
                Some(CallState::Approved | CallState::Running) => {
                    let result = Some(Value::String(reason.clone()));
                    let outcome = match self.runs_on_host(&id) {
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
            TaskEnd::Stopped(reason) => TaskStoppedPayload { reason, stopped_by: None }.into(),
            TaskEnd::Failed(error) => {
                let error: TaskError = *error;
                TaskFailedPayload { reason: error.message.clone(), error }.into()
            }
        });
        events
    }

    /// The tool calls and questions that wait for a decision.
    pub fn pending(&self) -> Vec<Asked> {
        let waits =
            |id: &&ToolCallId| self.calls.get(*id).is_some_and(|call| call.runtime_asked && call.is_undecided());
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

    /// Brings a call to `Running` and adds the events that the runtime skipped; `None` if the call is unknown or over.
    fn ensure_running(
        &mut self,
        id: &ToolCallId,
        events: &mut Vec<EventBody>,
    ) -> Result<Option<ToolCallIdentity>, Violation> {
        let Some(call) = self.calls.get_mut(id) else {
            events.push(warning(format!("the runtime ran tool call {id}, which it never announced")));
            return Ok(None);
        };
        if call.state == CallState::Requested {
            let evaluation = evaluation(PolicySource::Runtime, PolicyResult::Allow, UNASKED);
            events.push(evaluation_event(&call.identity, &evaluation));
            call.evaluations.push(evaluation);
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
            Some(CallState::Requested) if outcome.is_error && self.has_runtime_asked(&outcome.call) => {
                let evaluation = evaluation(PolicySource::Runtime, PolicyResult::Deny, RUNTIME_WITHDRAWN);
                events.extend(self.decide(&outcome.call, vec![evaluation], WITHDRAWN, Terms::default()));
                return Ok(());
            }
            _ => {}
        }
        let Some(identity) = self.ensure_running(&outcome.call, events)? else { return Ok(()) };
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
        self.set_state(&outcome.call, CallState::Completed);
        Ok(())
    }

    /// Sets the state of a call. Drops most of what is known of a call that is over, because tasks can be long.
    fn set_state(&mut self, id: &ToolCallId, state: CallState) {
        let Some(call) = self.calls.get_mut(id) else { return };
        call.state = state;
        if matches!(state, CallState::Completed | CallState::Denied) {
            call.evaluations = call.evaluations.pop().into_iter().collect();
            (call.request, call.claimed, call.offer) = (None, None, None);
            self.open.remove(&call.order);
        }
    }

    fn replay_event(&mut self, event: &EventBody) {
        match event {
            EventBody::ToolCallRequested(request) => self.insert_attempt(request.clone()),
            EventBody::ToolCallApproved(call) => self.set_state(&call.identity.tool_call_id, CallState::Approved),
            EventBody::ToolCallDenied(call) => self.set_state(&call.identity.tool_call_id, CallState::Denied),
            EventBody::ToolCallStarted(call) => self.set_state(&call.identity.tool_call_id, CallState::Running),
            EventBody::ToolCallCompleted(call) => self.set_state(&call.identity.tool_call_id, CallState::Completed),
            EventBody::ToolCallPolicyEvaluated(evaluation) => {
                if let Some(call) = self.calls.get_mut(&evaluation.identity.tool_call_id) {
                    let (source, result, rule) = (evaluation.source, evaluation.result, evaluation.rule.clone());
                    call.evaluations.push(ToolPolicyEvaluation { source, result, rule });
                    // The runtime waits for whoever was asked.
                    call.runtime_asked |= result == PolicyResult::Ask;
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

fn evaluation(source: PolicySource, result: PolicyResult, rule: &str) -> ToolPolicyEvaluation {
    ToolPolicyEvaluation { source, result, rule: Some(rule.into()) }
}

fn evaluation_event(identity: &ToolCallIdentity, evaluation: &ToolPolicyEvaluation) -> EventBody {
    let ToolPolicyEvaluation { source, result, rule } = evaluation.clone();
    ToolCallPolicyEvaluatedPayload { identity: identity.clone(), source, result, rule }.into()
}

fn denied_event(call: &CallRecord, mode: Mode, reason: &str) -> EventBody {
    let denied = ToolCallDeniedPayload {
        identity: call.identity.clone(),
        name: call.name.clone(),
        reason: reason.into(),
        policy_snapshot: snapshot(call, mode, PolicyDecision::Deny),
    };
    denied.into()
}

fn snapshot(call: &CallRecord, mode: Mode, decision: PolicyDecision) -> ToolPolicySnapshot {
    let permission_mode = Some(PermissionMode::from(mode));
    ToolPolicySnapshot { permission_mode, mode: Some(mode), decision, sources: call.evaluations.clone() }
}

fn warning(message: String) -> EventBody {
    RuntimeNoticePayload { level: NoticeLevel::Warning, source: NoticeSource::Engine, message }.into()
}
