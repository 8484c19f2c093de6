//! Tool calls that reach Roost through the MCP gateway, joined with what the runtime says of them.
//!
//! A runtime that calls a tool of the gateway usually announces the call, and asks about it, before it sends the request.
//! The request is then the same call: it is decided once and recorded once. Only the gateway reports its start and its
//! end, because only the gateway runs it; what the runtime says of that is ignored. A request that matches no call of the
//! runtime is a call of its own, and is judged like any other.

use roost_model::canonical;
use roost_model::event::EventBody;
use roost_model::ids::ToolCallId;
use roost_model::payload::{ToolCallRequestedPayload, ToolCallStartedPayload, ToolKind};
use roost_model::tool::{PolicyDecision, ToolCallIdentity, ToolPolicyEvaluation};
use serde_json::Value;

use super::{CallRecord, CallState, Executor, Ledger};
use crate::adapter::ToolOutcome;

/// The name under which runtimes know the gateway among their MCP servers.
pub const GATEWAY_SERVER: &str = "roost";
/// What adapters write before the name of a tool of that server, whatever their runtime writes.
const PREFIX: &str = "mcp__roost__";

/// A tool call that somebody makes through the MCP gateway.
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayToolCall {
    /// The tool as the gateway names it.
    pub tool: String,
    /// Its arguments, as the service would get them.
    pub input: Value,
    /// The id that the calling runtime gave the call, if the request names it.
    pub runtime_tool_call_id: Option<String>,
    /// Whether it only reads what a service lists, or is a tool of the gateway itself that changes nothing: it is not asked
    /// about, but a rule may deny it.
    pub only_looks: bool,
    /// Whether a person is asked about it in any case: no mode, rule or remembered answer allows it.
    pub always_asks: bool,
}

impl GatewayToolCall {
    /// The tool's name in events and rules, the same whoever calls.
    pub fn name(&self) -> String {
        format!("{PREFIX}{}", self.tool)
    }

    /// The call as a session's events show it, under a new id.
    pub(crate) fn request(self) -> ToolCallRequestedPayload {
        let identity = ToolCallIdentity::first(self.runtime_tool_call_id.clone(), &self.input);
        let (name, kind) = (self.name(), Some(ToolKind::Other));
        ToolCallRequestedPayload { identity, name, input: self.input, input_ref: None, title: None, kind }
    }
}

/// The gateway's name of a tool that a runtime names like this; `None` if it is no tool of the gateway.
fn gateway_tool(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX)
}

impl CallRecord {
    /// The hash of the input that the call may run with: the runtime's, or what a person put in its place.
    fn approved_hash(&self) -> String {
        self.edited.as_ref().map_or_else(|| self.identity.input_hash.clone(), canonical::hash)
    }
}

impl Ledger {
    /// Finds the runtime's call that a request at the gateway belongs to, or records a new one. Returns its identity.
    pub fn join_gateway_call(&mut self, call: GatewayToolCall, events: &mut Vec<EventBody>) -> ToolCallIdentity {
        let request = call.request();
        let hash = &request.identity.input_hash;
        let known = self.find_runtime_call(&request.name, request.identity.runtime_tool_call_id.as_deref(), hash);
        if let Some(call) = known.and_then(|id| self.calls.get_mut(&id)) {
            if call.state != CallState::Denied {
                call.executor = Executor::Gateway;
            }
            return call.identity.clone();
        }
        let identity = request.identity.clone();
        events.push(request.clone().into());
        self.insert_attempt(request);
        if let Some(call) = self.calls.get_mut(&identity.tool_call_id) {
            call.executor = Executor::Gateway;
        }
        self.unannounced.push(identity.tool_call_id.clone());
        identity
    }

    /// The runtime's call that has this id of the runtime's own, else the oldest open one of this tool; only one with this
    /// input that has not run and belongs to no other request.
    fn find_runtime_call(&self, name: &str, native: Option<&str>, hash: &str) -> Option<ToolCallId> {
        let tool = gateway_tool(name);
        let fits = |call: &CallRecord| {
            // A runtime that runs a call unasked has permitted it to itself, which is no permission.
            let may_join = match call.state {
                CallState::Requested | CallState::Pending | CallState::Denied => true,
                CallState::Approved => call.judged,
                CallState::Running | CallState::Completed => false,
            };
            may_join
                && call.executor == Executor::Runtime
                && gateway_tool(&call.name) == tool
                && call.approved_hash() == hash
        };
        let by_native = native.and_then(|native| {
            let has_id = |call: &&CallRecord| call.identity.runtime_tool_call_id.as_deref() == Some(native);
            self.calls.values().filter(has_id).find(|call| fits(call))
        });
        let by_input = || self.open.values().filter_map(|id| self.calls.get(id)).find(|call| fits(call));
        by_native.or_else(by_input).map(|call| call.identity.tool_call_id.clone())
    }

    /// Whether the runtime announces a call that has reached the gateway already, and so is recorded.
    pub(super) fn announces_gateway_call(&mut self, request: &ToolCallRequestedPayload) -> bool {
        let announced = &request.identity.tool_call_id;
        if self.aliases.contains_key(announced) {
            return true;
        }
        let Some(tool) = gateway_tool(&request.name).filter(|_| !self.unannounced.is_empty()) else { return false };
        let hash = canonical::hash(&request.input);
        let is_same = |id: &ToolCallId| {
            let call = self.calls.get(id);
            call.is_some_and(|call| gateway_tool(&call.name) == Some(tool) && call.identity.input_hash == hash)
        };
        let Some(at) = self.unannounced.iter().position(is_same) else { return false };
        let call = self.unannounced.remove(at);
        self.aliases.insert(announced.clone(), call);
        true
    }

    /// Whether the gateway runs this call, or has run it under another id.
    pub(super) fn is_of_gateway(&self, id: &ToolCallId) -> bool {
        self.aliases.contains_key(id) || self.calls.get(id).is_some_and(|call| call.executor == Executor::Gateway)
    }

    /// Whether what the runtime reports about a call is the gateway's to report. That it has begun is, even if the request
    /// has not come yet; that it is over only if the request came.
    pub(super) fn belongs_to_gateway(&self, id: &ToolCallId, is_over: bool) -> bool {
        let is_named_so = || self.calls.get(id).is_some_and(|call| gateway_tool(&call.name).is_some());
        self.is_of_gateway(id) || (!is_over && is_named_so())
    }

    /// The decision about this attempt and the evaluation that made it. `None` while it waits; a denial if another attempt
    /// has replaced it.
    pub fn gateway_decision(
        &self,
        attempt: &ToolCallIdentity,
        input_hash: &str,
    ) -> Option<(PolicyDecision, ToolPolicyEvaluation)> {
        let refused = |source| {
            let evaluation = super::evaluation(source, super::PolicyResult::Deny, super::RUNTIME_WITHDRAWN);
            Some((PolicyDecision::Deny, evaluation))
        };
        let Some(call) = self.calls.get(&attempt.tool_call_id).filter(|call| call.identity == *attempt) else {
            return refused(super::PolicySource::Runtime);
        };
        let decision = self.decision(&attempt.tool_call_id)?;
        if decision == PolicyDecision::Allow && call.approved_hash() != input_hash {
            return refused(super::PolicySource::Runtime);
        }
        Some((decision, call.evaluations.last()?.clone()))
    }

    /// Marks an allowed call of the gateway as running; `None` if it is not allowed or runs already.
    pub fn start_in_gateway(&mut self, id: &ToolCallId) -> Option<EventBody> {
        let call = self.calls.get_mut(id);
        let call = call.filter(|call| call.executor == Executor::Gateway && call.state == CallState::Approved)?;
        call.state = CallState::Running;
        Some(ToolCallStartedPayload { identity: call.identity.clone() }.into())
    }

    /// Records the result of a call that the gateway ran. Returns nothing if another attempt has replaced it.
    pub fn complete_in_gateway(&mut self, attempt: &ToolCallIdentity, result: Value, is_error: bool) -> Vec<EventBody> {
        let mut events = Vec::new();
        let runs = |call: &CallRecord| call.state == CallState::Running && call.identity == *attempt;
        if self.is_of_gateway(&attempt.tool_call_id) && self.calls.get(&attempt.tool_call_id).is_some_and(runs) {
            let outcome = ToolOutcome::of_host(attempt.tool_call_id.clone(), Some(result), is_error);
            // What was approved can always be completed.
            let _ = self.complete(outcome, &mut events);
        }
        events
    }

    /// Whether no tool call is open.
    pub fn is_idle(&self) -> bool {
        self.open.is_empty()
    }
}
