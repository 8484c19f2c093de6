//! Tool calls that the host runs. Only the host reports on them; what the runtime says about them is ignored.

use roost_model::event::EventBody;
use roost_model::ids::ToolCallId;
use roost_model::payload::ToolCallStartedPayload;
use roost_model::tool::{PolicyDecision, ToolCallIdentity};
use serde_json::Value;

use super::{CallRecord, CallState, Executor, Ledger};
use crate::adapter::ToolOutcome;

/// A tool call that the host must run now.
#[derive(Debug)]
pub struct HostCall {
    /// Must be in the log before the tool starts.
    pub started: EventBody,
    /// To be passed to [`Ledger::complete_on_host`], which ignores results of replaced attempts.
    pub attempt: ToolCallIdentity,
    /// The tool's name in the host's manifest.
    pub name: String,
    /// The input of the approved attempt.
    pub input: Value,
}

impl Ledger {
    /// Whether the call was allowed and the host runs it.
    pub fn runs_on_host(&self, id: &ToolCallId) -> bool {
        self.calls.get(id).is_some_and(|call| call.executor != Executor::Runtime)
            && self.decision(id) == Some(PolicyDecision::Allow)
    }

    /// Whether the call was allowed and is one of [`HostTools`](crate::HostTools).
    pub fn runs_host_tool(&self, id: &ToolCallId) -> bool {
        self.calls.get(id).is_some_and(|call| call.executor == Executor::HostTools) && self.runs_on_host(id)
    }

    /// Marks an allowed host call as running; `None` if it is not the host's, is not allowed or runs already.
    pub fn start_on_host(&mut self, id: &ToolCallId) -> Option<HostCall> {
        let call = self
            .calls
            .get_mut(id)
            .filter(|call| call.executor == Executor::HostTools && call.state == CallState::Approved)?;
        let input = call.request.as_ref()?.input.clone();
        call.state = CallState::Running;
        let attempt = call.identity.clone();
        let started = ToolCallStartedPayload { identity: attempt.clone() }.into();
        Some(HostCall { started, attempt, name: call.name.clone(), input })
    }

    /// Records the result of a call that the host ran. Returns nothing if another attempt has replaced it.
    pub fn complete_on_host(&mut self, attempt: &ToolCallIdentity, result: Value, is_error: bool) -> Vec<EventBody> {
        let mut events = Vec::new();
        let runs = |call: &CallRecord| call.state == CallState::Running && call.identity == *attempt;
        if self.runs_on_host(&attempt.tool_call_id) && self.calls.get(&attempt.tool_call_id).is_some_and(runs) {
            let outcome = ToolOutcome::of_host(attempt.tool_call_id.clone(), Some(result), is_error);
            // What was approved can always be completed.
            let _ = self.complete(outcome, &mut events);
        }
        events
    }
}
