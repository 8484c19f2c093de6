//! The books of one task: what is open, what was decided, and what must be written when.
//!
//! Runtimes announce tools late, twice, or not at all, and leave them open when they stop. The ledger takes whatever
//! comes and gives back events that always obey the contract: requested first, exactly one decision, started and
//! completed once and only when approved, and nothing open when the task ends. Pure: no I/O, no clock.

use std::collections::{HashMap, HashSet};

use roost_proto::event::EventBody;
use roost_proto::failure::TaskError;
use roost_proto::ids::{QuestionId, ToolCallId};
use roost_proto::mode::{Mode, PermissionMode};
use roost_proto::payload::*;
use roost_proto::runtime::RuntimeName;
use roost_proto::tool::{
    PolicyDecision, PolicyResult, PolicySource, ToolCallIdentity, ToolPolicyEvaluation, ToolPolicySnapshot,
};
use serde_json::Value;

use crate::adapter::{Fact, TaskEnd, ToolOutcome};

/// The rule under which a call that a runtime ran without asking is recorded.
pub const UNASKED: &str = "runtime:unasked";

/// Where a tool call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallState {
    Requested,
    Approved,
    Running,
    Completed,
    Denied,
}

#[derive(Debug)]
struct Call {
    identity: ToolCallIdentity,
    name: String,
    kind: Option<ToolKind>,
    input: Value,
    title: Option<String>,
    state: CallState,
    words: Vec<ToolPolicyEvaluation>,
}

/// A decision that the engine is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// May this tool run?
    Tool(ToolCallId),
    /// What does the user say?
    Question(QuestionId),
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
    order: Vec<ToolCallId>,
    questions: Vec<QuestionId>,
    asked: HashSet<ToolCallId>,
}

impl Ledger {
    /// Empty books for a task in this mode.
    pub fn new(mode: Mode) -> Self {
        Self { mode, calls: HashMap::new(), order: Vec::new(), questions: Vec::new(), asked: HashSet::new() }
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
            Fact::Delta(delta) => events.push(delta.into()),
            Fact::Input(input) => events.push(input.into()),
            Fact::RequestStarted(request) => events.push(request.into()),
            Fact::RequestCompleted(request) => events.push(request.into()),
            Fact::Output(output) => events.push(output.into()),
            Fact::Usage(usage) => events.push(usage.into()),
            Fact::Plan(plan) => events.push(plan.into()),
            Fact::Notice(notice) => events.push(notice.into()),
            Fact::Session(update) => events.push(update.into()),
            Fact::ToolRequested(request) => self.request(request, events),
            Fact::ToolAsks(call) => return self.ask(call, events),
            Fact::ToolStarted(call) => {
                self.run(&call, events);
            }
            Fact::ToolOutputDelta { call, stream, delta } => {
                if let Some(identity) = self.run(&call, events) {
                    events.push(ToolOutputDeltaPayload { identity, stream, delta }.into());
                }
            }
            Fact::ToolOutput { call, stdout, stderr } => {
                if let Some(identity) = self.run(&call, events) {
                    events.push(ToolOutputCompletedPayload { identity, stdout, stderr }.into());
                }
            }
            Fact::ToolCompleted(outcome) => self.complete(outcome, events),
            Fact::Question(question) => {
                let id = question.question_id.clone();
                self.questions.push(id.clone());
                events.push(question.into());
                return Next::Decide(Asked::Question(id));
            }
            Fact::QuestionWithdrawn(id) => {
                events.extend(self.resolve(&id, QuestionOutcome::Cancelled, Some("withdrawn by the runtime")));
            }
            Fact::Ended(end) => return Next::End(end),
        }
        Next::Nothing
    }

    /// A call as the policy sees it.
    pub fn for_policy<'a>(&'a self, id: &ToolCallId, runtime: &'a RuntimeName) -> Option<roost_policy::Call<'a>> {
        let Call { identity, name, kind, input, title, .. } = self.calls.get(id)?;
        let (input_hash, title) = (identity.input_hash.as_str(), title.as_deref());
        Some(roost_policy::Call { runtime, name, kind: *kind, input, input_hash, title })
    }

    /// Records the policy's words about a call that waits, the last of them final.
    pub fn decide(&mut self, id: &ToolCallId, words: Vec<ToolPolicyEvaluation>, reason: &str) -> Vec<EventBody> {
        let mode = self.mode;
        let Some(call) = self.calls.get_mut(id).filter(|call| call.state == CallState::Requested) else {
            return Vec::new();
        };
        let mut events = Vec::new();
        for word in words {
            events.push(evaluated(&call.identity, &word));
            call.words.push(word);
        }
        match call.words.last().map(|word| word.result) {
            Some(PolicyResult::Allow) => {
                call.state = CallState::Approved;
                events.push(ToolCallApprovedPayload { identity: call.identity.clone() }.into());
            }
            Some(PolicyResult::Deny) => {
                call.state = CallState::Denied;
                events.push(denied(call, mode, reason));
            }
            Some(PolicyResult::Ask) | None => {}
        }
        events
    }

    /// Records what came of an open question.
    pub fn resolve(&mut self, id: &QuestionId, outcome: QuestionOutcome, reason: Option<&str>) -> Option<EventBody> {
        let at = self.questions.iter().position(|open| open == id)?;
        let question_id = self.questions.remove(at);
        let reason = reason.map(Into::into);
        let resolved =
            QuestionResolvedPayload { question_id, outcome, answers: Default::default(), answered_by: None, reason };
        Some(resolved.into())
    }

    /// Closes whatever is open, then the task: the last events it will ever have.
    pub fn close(&mut self, end: TaskEnd) -> Vec<EventBody> {
        let reason = match &end {
            TaskEnd::Completed(_) => "task ended".to_owned(),
            TaskEnd::Stopped(reason) => format!("stopped: {reason}"),
            TaskEnd::Failed(error) => format!("task failed: {}", error.message),
        };
        let mut events = Vec::new();
        for id in std::mem::take(&mut self.order) {
            match self.calls.get(&id).map(|call| call.state) {
                Some(CallState::Requested) => {
                    let word = ToolPolicyEvaluation {
                        source: PolicySource::Codesdk,
                        result: PolicyResult::Deny,
                        rule: Some("task_ended".into()),
                    };
                    events.extend(self.decide(&id, vec![word], &reason));
                }
                Some(CallState::Approved | CallState::Running) => {
                    let result = Some(Value::String(reason.clone()));
                    self.complete(ToolOutcome::of_runtime(id, result, true), &mut events);
                }
                Some(CallState::Completed | CallState::Denied) | None => {}
            }
        }
        for id in self.questions.clone() {
            events.extend(self.resolve(&id, QuestionOutcome::Cancelled, Some(&reason)));
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
        let waits = |id: &&ToolCallId| {
            self.asked.contains(*id) && self.calls.get(*id).is_some_and(|call| call.state == CallState::Requested)
        };
        let tools = self.order.iter().filter(waits).cloned().map(Asked::Tool);
        tools.chain(self.questions.iter().cloned().map(Asked::Question)).collect()
    }

    fn request(&mut self, request: ToolCallRequestedPayload, events: &mut Vec<EventBody>) {
        let id = &request.identity.tool_call_id;
        if let Some(known) = self.calls.get(id) {
            let over = matches!(known.state, CallState::Completed | CallState::Denied);
            if !over || request.identity.attempt <= known.identity.attempt {
                events.push(odd(format!("tool call {id} was announced twice; the second was ignored")));
                return;
            }
        } else {
            self.order.push(id.clone());
        }
        self.asked.remove(id);
        self.calls.insert(
            id.clone(),
            Call {
                identity: request.identity.clone(),
                name: request.name.clone(),
                kind: request.kind,
                input: request.input.clone(),
                title: request.title.clone(),
                state: CallState::Requested,
                words: Vec::new(),
            },
        );
        events.push(request.into());
    }

    fn ask(&mut self, id: ToolCallId, events: &mut Vec<EventBody>) -> Next {
        let Some(call) = self.calls.get(&id) else {
            events.push(odd(format!("the runtime asked about tool call {id}, which it never announced")));
            return Next::Nothing;
        };
        if call.state == CallState::Requested {
            self.asked.insert(id.clone());
        }
        // Asking again about a decided call is not an error: the runtime is told the same decision again.
        Next::Decide(Asked::Tool(id))
    }

    /// Whether a decided call was allowed; `None` while it waits or is unknown.
    pub fn decision(&self, id: &ToolCallId) -> Option<PolicyDecision> {
        match self.calls.get(id)?.state {
            CallState::Requested => None,
            CallState::Approved | CallState::Running | CallState::Completed => Some(PolicyDecision::Allow),
            CallState::Denied => Some(PolicyDecision::Deny),
        }
    }

    /// Brings a call to `Running`, writing what the runtime skipped; `None` if it cannot run any more.
    fn run(&mut self, id: &ToolCallId, events: &mut Vec<EventBody>) -> Option<ToolCallIdentity> {
        let Some(call) = self.calls.get_mut(id) else {
            events.push(odd(format!("the runtime ran tool call {id}, which it never announced")));
            return None;
        };
        if call.state == CallState::Requested {
            let word = ToolPolicyEvaluation {
                source: PolicySource::Runtime,
                result: PolicyResult::Allow,
                rule: Some(UNASKED.into()),
            };
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
            CallState::Denied => {
                events.push(odd(format!("the runtime says that {} runs although it was denied", call.name)));
                return None;
            }
            CallState::Requested | CallState::Completed => return None,
        }
        Some(call.identity.clone())
    }

    fn complete(&mut self, outcome: ToolOutcome, events: &mut Vec<EventBody>) {
        // A runtime that was told no reports the call as failed: that is the denial, said again.
        if outcome.is_error && self.decision(&outcome.call) == Some(PolicyDecision::Deny) {
            return;
        }
        // A call that fails without having been decided never ran: the runtime itself refused it.
        let undecided = self.calls.get(&outcome.call).is_some_and(|call| call.state == CallState::Requested);
        if undecided && outcome.is_error && self.asked.contains(&outcome.call) {
            let word = ToolPolicyEvaluation {
                source: PolicySource::Runtime,
                result: PolicyResult::Deny,
                rule: Some("runtime:withdrawn".into()),
            };
            events.extend(self.decide(&outcome.call, vec![word], "withdrawn by the runtime"));
            return;
        }
        let Some(identity) = self.run(&outcome.call, events) else { return };
        let mode = self.mode;
        let Some(call) = self.calls.get_mut(&outcome.call) else { return };
        call.state = CallState::Completed;
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
    }

    fn recall(&mut self, event: &EventBody) {
        let mut state = |identity: &ToolCallIdentity, state| {
            if let Some(call) = self.calls.get_mut(&identity.tool_call_id) {
                call.state = state;
            }
        };
        match event {
            EventBody::ToolCallRequested(request) => self.request(request.clone(), &mut Vec::new()),
            EventBody::ToolCallApproved(call) => state(&call.identity, CallState::Approved),
            EventBody::ToolCallDenied(call) => state(&call.identity, CallState::Denied),
            EventBody::ToolCallStarted(call) => state(&call.identity, CallState::Running),
            EventBody::ToolCallCompleted(call) => state(&call.identity, CallState::Completed),
            EventBody::ToolCallPolicyEvaluated(word) => {
                if let Some(call) = self.calls.get_mut(&word.identity.tool_call_id) {
                    let (source, result, rule) = (word.source, word.result, word.rule.clone());
                    call.words.push(ToolPolicyEvaluation { source, result, rule });
                }
            }
            EventBody::QuestionAsked(question) => self.questions.push(question.question_id.clone()),
            EventBody::QuestionResolved(question) => self.questions.retain(|open| *open != question.question_id),
            _ => {}
        }
    }
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
