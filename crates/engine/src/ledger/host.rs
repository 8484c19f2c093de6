//! Calls that the host runs: their books are kept by the host alone, whatever the runtime says about them.

use roost_model::event::EventBody;
use roost_model::ids::ToolCallId;
use roost_model::payload::ToolCallStartedPayload;
use roost_model::tool::{PolicyDecision, ToolCallIdentity};
use serde_json::Value;

use super::{Call, CallState, Ledger};
use crate::adapter::ToolOutcome;

/// A call that the host begins to run.
#[derive(Debug)]
pub struct HostCall {
    /// What is to be written first.
    pub started: EventBody,
    /// Which attempt it is.
    pub attempt: ToolCallIdentity,
    /// The tool.
    pub name: String,
    /// Its input.
    pub input: Value,
}

impl Ledger {
    /// The call was allowed, and it is the host that runs it.
    pub fn is_the_hosts(&self, id: &ToolCallId) -> bool {
        self.calls.get(id).is_some_and(|call| call.host) && self.decision(id) == Some(PolicyDecision::Allow)
    }

    /// Begins a call of the host's that was allowed; `None` if it may not run or runs already.
    pub fn start_on_host(&mut self, id: &ToolCallId) -> Option<HostCall> {
        let call = self.calls.get_mut(id).filter(|call| call.host && call.state == CallState::Approved)?;
        let input = call.request.as_ref()?.input.clone();
        call.state = CallState::Running;
        let attempt = call.identity.clone();
        let started = ToolCallStartedPayload { identity: attempt.clone() }.into();
        Some(HostCall { started, attempt, name: call.name.clone(), input })
    }

    /// Records what came of an attempt that the host ran; nothing if another one took its place.
    pub fn complete_on_host(&mut self, attempt: &ToolCallIdentity, result: Value, is_error: bool) -> Vec<EventBody> {
        let mut events = Vec::new();
        let runs = |call: &Call| call.state == CallState::Running && call.identity == *attempt;
        if self.is_the_hosts(&attempt.tool_call_id) && self.calls.get(&attempt.tool_call_id).is_some_and(runs) {
            let outcome = ToolOutcome::of_host(attempt.tool_call_id.clone(), Some(result), is_error);
            // What was approved can always be completed.
            let _ = self.complete(outcome, &mut events);
        }
        events
    }
}
