//! Attempts: a decision is about exactly one input.
//!
//! An attempt is defined by the call's name, its kind and the hash of its input. Whenever one of them changes, and
//! whenever the runtime asks again, a new attempt begins: the one before is closed, and the new one is recorded, judged
//! and decided by itself. An adapter cannot get an old decision for a new input, whatever it reports.

use roost_model::canonical;
use roost_model::event::EventBody;
use roost_model::ids::ToolCallId;
use roost_model::payload::{ToolCallRequestedPayload, ToolKind};
use roost_model::tool::{PolicyResult, PolicySource, ToolCallIdentity};
use serde_json::Value;

use super::{
    ApprovalEnd, Asked, CallRecord, CallState, Executor, Ledger, Next, RUNTIME_WITHDRAWN, Terms, ToolOutcome, Verdict,
    evaluation, warning,
};

/// The reason that is recorded for an attempt which another one replaced.
pub(crate) const REPLACED: &str = "the runtime put another attempt in its place";

impl CallRecord {
    /// Whether neither the policy nor a person has decided about it.
    pub(super) fn is_undecided(&self) -> bool {
        matches!(self.state, CallState::Requested | CallState::Pending)
    }

    /// Whether the request describes this attempt. The title does not count: it is only a label.
    fn is_about(&self, request: &ToolCallRequestedPayload) -> bool {
        (&self.name, self.kind, &self.identity.input_hash)
            == (&request.name, request.kind, &request.identity.input_hash)
    }

    /// Whether a question with the same content belongs to this attempt: it was not asked about before and has not run.
    fn is_not_asked_about(&self) -> bool {
        self.question.is_none() && !matches!(self.state, CallState::Running | CallState::Completed)
    }
}

impl Ledger {
    /// The runtime announces a call, or reports that one has changed. Once it has asked about a call, every later
    /// version of that call is judged too, whether it asks again or not.
    pub(super) fn on_tool_requested(
        &mut self,
        mut request: ToolCallRequestedPayload,
        events: &mut Vec<EventBody>,
    ) -> Next {
        request.identity.input_hash = canonical::hash(&request.input);
        let id = request.identity.tool_call_id.clone();
        let Some(known) = self.calls.get(&id) else {
            events.push(self.begin_attempt(request));
            return Next::Nothing;
        };
        if known.is_about(&request) && request.identity.attempt <= known.adapter_attempt {
            events.push(warning(format!("tool call {id} was announced twice; the second was ignored")));
            return Next::Nothing;
        }
        if self.runs_on_host(&id) {
            events
                .push(warning(format!("tool call {id} runs on the host as it was asked for; the change was ignored")));
            return Next::Nothing;
        }
        let judge = known.judged || known.runtime_asked;
        let waits = known.question.clone().filter(|_| known.is_undecided()).map(|question| {
            let only_adds = known.request.as_deref().is_some_and(|asked| adds_to(asked, &request));
            (question, known.executor, only_adds)
        });
        self.close_replaced(&id, events);
        events.push(self.begin_attempt(request));
        match (waits, self.calls.get_mut(&id)) {
            // The new version only adds to what it asked about, so its question stands for the new version.
            (Some((question, executor, true)), Some(call)) => {
                (call.question, call.runtime_asked, call.executor) = (Some(question), true, executor);
            }
            // An approval of the new version would answer a question about something else.
            (Some((question, _, false)), _) => self.void.push(question),
            _ => {}
        }
        if judge { Next::Decide(Asked::Tool(id)) } else { Next::Nothing }
    }

    /// The runtime asks about a call. It may have announced the same, something else, or nothing before.
    pub(super) fn on_tool_asked(
        &mut self,
        mut request: ToolCallRequestedPayload,
        executor: Executor,
        events: &mut Vec<EventBody>,
    ) -> Next {
        request.identity.input_hash = canonical::hash(&request.input);
        let question = request.identity.clone();
        let id = question.tool_call_id.clone();
        let joins = self.calls.get(&id).is_some_and(|known| known.is_about(&request) && known.is_not_asked_about());
        if !joins {
            let announced =
                self.calls.get(&id).filter(|known| known.state == CallState::Requested && !known.runtime_asked);
            let claimed = announced.and_then(|known| known.request.clone());
            self.close_replaced(&id, events);
            let claimed = claimed.filter(|claimed| !adds_to(claimed, &request));
            events.push(self.begin_attempt(request));
            if let Some(call) = self.calls.get_mut(&id) {
                call.claimed = claimed;
            }
        }
        if let Some(call) = self.calls.get_mut(&id) {
            if joins && call.runtime_asked {
                events.push(warning(format!("the runtime asks again about tool call {id}, which waited at a restart")));
            }
            (call.adapter_attempt, call.runtime_asked) = (question.attempt, true);
            // A call that has reached the gateway is run there, also if the runtime asks about it afterwards.
            if call.executor != Executor::Gateway {
                call.executor = executor;
            }
            call.question = Some(question);
        }
        Next::Decide(Asked::Tool(id))
    }

    /// Whether the runtime asked about the current attempt.
    pub(super) fn has_runtime_asked(&self, id: &ToolCallId) -> bool {
        self.calls.get(id).is_some_and(|call| call.runtime_asked)
    }

    /// The identity of the question that the runtime waits with, as its adapter named it; `None` if it does not wait.
    /// For a runtime that outlived its daemon it is the identity in the log, until the runtime asks again.
    pub fn question_about(&self, id: &ToolCallId) -> Option<&ToolCallIdentity> {
        let call = self.calls.get(id)?;
        call.question.as_ref().or_else(|| call.runtime_asked.then_some(&call.identity))
    }

    /// The call as it was announced, if the runtime then asked about something different.
    pub fn claim_of(&self, id: &ToolCallId) -> Option<&ToolCallRequestedPayload> {
        self.calls.get(id)?.claimed.as_deref()
    }

    /// Takes the questions that the runtime still waits with, although their calls have changed. They must be refused.
    pub fn take_void(&mut self) -> Vec<ToolCallIdentity> {
        std::mem::take(&mut self.void)
    }

    /// Closes the current attempt, because another one replaces it.
    fn close_replaced(&mut self, id: &ToolCallId, events: &mut Vec<EventBody>) {
        match self.calls.get(id).map(|call| call.state) {
            Some(CallState::Requested) => {
                let evaluation = evaluation(PolicySource::Runtime, PolicyResult::Deny, RUNTIME_WITHDRAWN);
                events.extend(self.decide(id, vec![evaluation], REPLACED, Terms::default()));
            }
            Some(CallState::Pending) => {
                events.extend(self.answer(id, Verdict::denied(ApprovalEnd::Withdrawn, REPLACED)));
            }
            Some(CallState::Approved | CallState::Running) => {
                let result = Some(Value::from(REPLACED));
                let outcome = match self.runs_on_host(id) {
                    true => ToolOutcome::of_host(id.clone(), result, true),
                    false => ToolOutcome::of_runtime(id.clone(), result, true),
                };
                // What was approved can always be completed.
                let _ = self.complete(outcome, events);
            }
            Some(CallState::Completed | CallState::Denied) | None => {}
        }
    }

    /// Begins the next attempt at a call, with the ledger's own count. Returns the event that must be written.
    fn begin_attempt(&mut self, mut request: ToolCallRequestedPayload) -> EventBody {
        let (id, adapter_attempt) = (request.identity.tool_call_id.clone(), request.identity.attempt);
        if let Some(before) = self.calls.get(&id) {
            request.identity.attempt = adapter_attempt.max(before.identity.attempt + 1);
        }
        self.insert_attempt(request.clone());
        if let Some(call) = self.calls.get_mut(&id) {
            call.adapter_attempt = adapter_attempt;
        }
        request.into()
    }

    /// Puts a new attempt in the place of the call's current one. The replay of a log uses it too.
    pub(super) fn insert_attempt(&mut self, request: ToolCallRequestedPayload) {
        let order = self.next_order;
        self.next_order += 1;
        let id = request.identity.tool_call_id.clone();
        let before = self.calls.remove(&id);
        before.iter().for_each(|before| drop(self.open.remove(&before.order)));
        self.open.insert(order, id.clone());
        let call = CallRecord {
            order,
            identity: request.identity.clone(),
            name: request.name.clone(),
            kind: request.kind,
            state: CallState::Requested,
            evaluations: Vec::new(),
            adapter_attempt: request.identity.attempt,
            runtime_asked: false,
            question: None,
            judged: before.is_some_and(|before| before.judged),
            claimed: None,
            request: Some(Box::new(request)),
            offer: None,
            edited: None,
            denial: None,
            executor: Executor::Runtime,
        };
        self.calls.insert(id, call);
    }
}

/// Whether the later version of a call only adds to the earlier one and changes nothing in it. Runtimes announce calls
/// before their input is complete. An unknown kind may become any kind.
pub fn adds_to(earlier: &ToolCallRequestedPayload, later: &ToolCallRequestedPayload) -> bool {
    let unknown = matches!(earlier.kind, None | Some(ToolKind::Other));
    let same_tool = unknown || (earlier.kind, &earlier.name) == (later.kind, &later.name);
    let same_input = match (&earlier.input, &later.input) {
        (Value::Null, _) => true,
        (Value::Object(earlier), Value::Object(later)) => {
            earlier.iter().all(|(name, value)| later.get(name) == Some(value))
        }
        (earlier, later) => earlier == later,
    };
    same_tool && same_input
}
