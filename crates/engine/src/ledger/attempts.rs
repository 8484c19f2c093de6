//! Attempts: a decision is about exactly one input.
//!
//! A call is what its name, its kind and the hash of its input say. Whenever one of them changes, and whenever the
//! runtime asks again, that is another attempt: what was decided about the one before is closed, and this one is recorded,
//! judged and decided by itself. An adapter cannot get an old decision for a new input, whatever it reports.

use roost_model::canonical;
use roost_model::event::EventBody;
use roost_model::ids::ToolCallId;
use roost_model::payload::{ToolCallRequestedPayload, ToolKind};
use roost_model::tool::{PolicyResult, PolicySource, ToolCallIdentity};
use serde_json::Value;

use super::{
    ApprovalEnd, Asked, Call, CallState, Ledger, Next, RUNTIME_WITHDRAWN, Terms, ToolOutcome, Verdict, odd, word,
};

/// What is said about an attempt that another one took the place of.
pub(crate) const REPLACED: &str = "the runtime put another attempt in its place";

impl Call {
    /// Nobody has decided about it.
    pub(super) fn is_undecided(&self) -> bool {
        matches!(self.state, CallState::Requested | CallState::Pending)
    }

    /// Whether this is what the attempt is about. A title is only a label.
    fn is_about(&self, request: &ToolCallRequestedPayload) -> bool {
        (&self.name, self.kind, &self.identity.input_hash)
            == (&request.name, request.kind, &request.identity.input_hash)
    }

    /// Whether a question about the same is about this very attempt: nobody asked about it before, and it has not run.
    fn is_unasked(&self) -> bool {
        self.question.is_none() && !matches!(self.state, CallState::Running | CallState::Completed)
    }
}

impl Ledger {
    /// The runtime announces a call, or says that one is another by now. Once it has asked about a call, whatever the
    /// call becomes is judged too, asked about or not.
    pub(super) fn request(&mut self, mut request: ToolCallRequestedPayload, events: &mut Vec<EventBody>) -> Next {
        request.identity.input_hash = canonical::hash(&request.input);
        let id = request.identity.tool_call_id.clone();
        let Some(known) = self.calls.get(&id) else {
            events.push(self.begin_next(request));
            return Next::Nothing;
        };
        if known.is_about(&request) && request.identity.attempt <= known.told_attempt {
            events.push(odd(format!("tool call {id} was announced twice; the second was ignored")));
            return Next::Nothing;
        }
        if self.is_the_hosts(&id) {
            events.push(odd(format!("tool call {id} runs on the host as it was asked for; the change was ignored")));
            return Next::Nothing;
        }
        let judge = known.judged || known.asked;
        let waits = known.question.clone().filter(|_| known.is_undecided()).map(|question| {
            let only_adds = known.request.as_deref().is_some_and(|asked| adds_to(asked, &request));
            (question, known.host, only_adds)
        });
        self.replace(&id, events);
        events.push(self.begin_next(request));
        match (waits, self.calls.get_mut(&id)) {
            // What it asked about is still all there: it waits to hear about the whole.
            (Some((question, host, true)), Some(call)) => {
                (call.question, call.asked, call.host) = (Some(question), true, host);
            }
            // A yes to what the call is now would answer a question about something else.
            (Some((question, _, false)), _) => self.void.push(question),
            _ => {}
        }
        if judge { Next::Decide(Asked::Tool(id)) } else { Next::Nothing }
    }

    /// The runtime asks about a call, which it may have announced before as this, as something else, or not at all.
    pub(super) fn ask(
        &mut self,
        mut request: ToolCallRequestedPayload,
        host: bool,
        events: &mut Vec<EventBody>,
    ) -> Next {
        request.identity.input_hash = canonical::hash(&request.input);
        let question = request.identity.clone();
        let id = question.tool_call_id.clone();
        let joins = self.calls.get(&id).is_some_and(|known| known.is_about(&request) && known.is_unasked());
        if !joins {
            let announced = self.calls.get(&id).filter(|known| known.state == CallState::Requested && !known.asked);
            let claimed = announced.and_then(|known| known.request.clone());
            self.replace(&id, events);
            let claimed = claimed.filter(|claimed| !adds_to(claimed, &request));
            events.push(self.begin_next(request));
            if let Some(call) = self.calls.get_mut(&id) {
                call.claimed = claimed;
            }
        }
        if let Some(call) = self.calls.get_mut(&id) {
            if joins && call.asked {
                events.push(odd(format!("the runtime asks again about tool call {id}, which waited at a restart")));
            }
            (call.told_attempt, call.asked, call.host) = (question.attempt, true, host);
            call.question = Some(question);
        }
        Next::Decide(Asked::Tool(id))
    }

    /// The runtime waits, or waited, to hear about this call.
    pub(super) fn is_asked(&self, id: &ToolCallId) -> bool {
        self.calls.get(id).is_some_and(|call| call.asked)
    }

    /// The question that the runtime waits with, as its adapter named it; `None` if it does not wait. One that outlived
    /// its daemon waits with what the log says, until it asks again.
    pub fn question_about(&self, id: &ToolCallId) -> Option<&ToolCallIdentity> {
        let call = self.calls.get(id)?;
        call.question.as_ref().or_else(|| call.asked.then_some(&call.identity))
    }

    /// What a call was announced as, where that is not what the runtime asked about in the end.
    pub fn claim_of(&self, id: &ToolCallId) -> Option<&ToolCallRequestedPayload> {
        self.calls.get(id)?.claimed.as_deref()
    }

    /// The questions that the runtime still waits with although their calls are others by now: they are refused.
    pub fn take_void(&mut self) -> Vec<ToolCallIdentity> {
        std::mem::take(&mut self.void)
    }

    /// Closes the attempt that another one takes the place of.
    fn replace(&mut self, id: &ToolCallId, events: &mut Vec<EventBody>) {
        match self.calls.get(id).map(|call| call.state) {
            Some(CallState::Requested) => {
                let word = word(PolicySource::Runtime, PolicyResult::Deny, RUNTIME_WITHDRAWN);
                events.extend(self.decide(id, vec![word], REPLACED, Terms::default()));
            }
            Some(CallState::Pending) => {
                events.extend(self.answer(id, Verdict::denied(ApprovalEnd::Withdrawn, REPLACED)));
            }
            Some(CallState::Approved | CallState::Running) => {
                let result = Some(Value::from(REPLACED));
                let outcome = match self.is_the_hosts(id) {
                    true => ToolOutcome::of_host(id.clone(), result, true),
                    false => ToolOutcome::of_runtime(id.clone(), result, true),
                };
                // What was approved can always be completed.
                let _ = self.complete(outcome, events);
            }
            Some(CallState::Completed | CallState::Denied) | None => {}
        }
    }

    /// Begins the next attempt at a call, counted by the ledger itself; what is to be written.
    fn begin_next(&mut self, mut request: ToolCallRequestedPayload) -> EventBody {
        let (id, told) = (request.identity.tool_call_id.clone(), request.identity.attempt);
        if let Some(before) = self.calls.get(&id) {
            request.identity.attempt = told.max(before.identity.attempt + 1);
        }
        self.begin(request.clone());
        if let Some(call) = self.calls.get_mut(&id) {
            call.told_attempt = told;
        }
        request.into()
    }

    /// Opens the page of an attempt, as it stands in the log.
    pub(super) fn begin(&mut self, request: ToolCallRequestedPayload) {
        let place = self.next_place;
        self.next_place += 1;
        let id = request.identity.tool_call_id.clone();
        let before = self.calls.remove(&id);
        before.iter().for_each(|before| drop(self.open.remove(&before.place)));
        self.open.insert(place, id.clone());
        let call = Call {
            place,
            identity: request.identity.clone(),
            name: request.name.clone(),
            kind: request.kind,
            state: CallState::Requested,
            words: Vec::new(),
            told_attempt: request.identity.attempt,
            asked: false,
            question: None,
            judged: before.is_some_and(|before| before.judged),
            claimed: None,
            request: Some(Box::new(request)),
            offer: None,
            edited: None,
            denial: None,
            host: false,
        };
        self.calls.insert(id, call);
    }
}

/// Whether a call only says more of what it said earlier, and takes back nothing: runtimes announce calls before their
/// input is there. What is not yet known of a kind is no kind.
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
