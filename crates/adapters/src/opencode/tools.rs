//! Tracks the tool calls of one task: what OpenCode announced, requested permission for, ran and completed.

use std::collections::{BTreeMap, HashSet};

use roost_engine::GATEWAY_SERVER;
use roost_engine::adapter::{Draft, Fact, ToolOutcome};
use roost_model::canonical;
use roost_model::ids::ToolCallId;
use roost_model::payload::{OutputStream, ToolCallRequestedPayload, ToolKind};
use roost_model::tool::ToolCallIdentity;
use serde_json::{Value, json};
use uuid::Uuid;

use super::wire::{PermissionRequest, ToolState, ToolStatus};
use crate::host::pending_decisions::PendingDecisions;

/// Permissions that are requested in addition to that of the call itself.
const SEPARATE_PERMISSIONS: [&str; 2] = ["doom_loop", "external_directory"];

/// The tool that asks the user; the only one that runs without a permission.
const QUESTION: &str = "question";

/// What is known of one tool call.
#[derive(Debug, Default)]
struct TrackedCall {
    name: String,
    input: Value,
    title: Option<String>,
    /// Its input has arrived completely; a pending call has none yet.
    input_complete: bool,
    /// The number of the last attempt. A new one begins when the call changes, or when a permission differs from it.
    attempt: u32,
    /// The name and the input hash of the last report; `None` before the first.
    reported: Option<(String, String)>,
    permission_asked: bool,
    done: bool,
    /// Permissions that were requested before the input was complete.
    early_permissions: Vec<PermissionRequest>,
    /// The output that was sent as deltas.
    streamed_output: String,
}

impl TrackedCall {
    /// The next report of the call, as a new attempt with this name and input; and its key for [`Self::reported`].
    fn request(&self, native: &str, name: &str, input: Value) -> ((String, String), ToolCallRequestedPayload) {
        let title = self.title.clone().or_else(|| title(&input));
        let request = request(native, self.attempt + 1, name, input, title);
        ((name.to_owned(), request.identity.input_hash.clone()), request)
    }

    /// Reports the call, unless it was last reported with the same name and input.
    fn report(&mut self, native: &str, drafts: &mut Vec<Draft>) -> ToolCallId {
        let (about, request) = self.request(native, &self.name, self.input.clone());
        if self.reported.as_ref() != Some(&about) {
            (self.attempt, self.reported) = (request.identity.attempt, Some(about));
            drafts.push(Fact::ToolRequested(request).into());
        }
        id(native)
    }
}

/// A permission that waits for a decision.
#[derive(Debug)]
struct PendingPermission {
    permission: String,
    /// It is shown as a call of its own, which is completed as soon as it is allowed.
    separate: bool,
}

/// The tool calls of one task, by OpenCode's id of the call.
#[derive(Debug, Default)]
pub(super) struct CallTracker {
    known: BTreeMap<String, TrackedCall>,
    pending: PendingDecisions<PendingPermission>,
    /// The ids of all permissions that were requested; a stream that was opened again repeats them.
    seen_permissions: HashSet<String>,
}

impl CallTracker {
    /// Called when a call starts, changes or ends.
    pub(super) fn on_tool_state(&mut self, native: &str, name: String, state: ToolState, drafts: &mut Vec<Draft>) {
        let tool = self.known.entry(native.to_owned()).or_default();
        let was_done = tool.done;
        tool.name = name;
        tool.title = state.title.filter(|title| !title.is_empty()).or(tool.title.take());
        tool.input = state.input;
        tool.input_complete = state.status != ToolStatus::Pending;
        for permission in if tool.input_complete { std::mem::take(&mut tool.early_permissions) } else { Vec::new() } {
            self.request_decision(native, permission, drafts);
        }
        let Some(tool) = self.known.get_mut(native) else { return };
        let before = tool.attempt;
        if tool.reported.is_some() {
            // A call that has changed is reported again.
            tool.report(native, drafts);
        }
        if was_done && tool.attempt == before {
            return;
        }
        let output = state.metadata.get("output").and_then(Value::as_str).unwrap_or_default();
        match state.status {
            ToolStatus::Pending => {}
            ToolStatus::Running => {
                if let Some(delta) = output.strip_prefix(&tool.streamed_output).filter(|delta| !delta.is_empty()) {
                    let delta = delta.to_owned();
                    let (call, stream) = (tool.report(native, drafts), OutputStream::Stdout);
                    tool.streamed_output = output.to_owned();
                    drafts.push(Fact::ToolOutputDelta { call, stream, delta }.into());
                }
            }
            // Every call but a question asks first, so one that did not ask never ran.
            ToolStatus::Error if !tool.permission_asked && tool.name != QUESTION => {
                let call = tool.report(native, drafts);
                tool.done = true;
                drafts.push(Fact::ToolRefused { call, reason: state.error.unwrap_or_default() }.into());
            }
            ToolStatus::Completed | ToolStatus::Error => {
                let call = tool.report(native, drafts);
                tool.done = true;
                let exit_code = state.metadata.get("exit").and_then(Value::as_i64).filter(|code| *code != 0);
                let is_error = state.status == ToolStatus::Error || exit_code.is_some();
                let text = state.output.or(state.error);
                let result = match exit_code {
                    Some(code) => Some(json!({ "exit_code": code, "output": text })),
                    None => text.map(Value::from),
                };
                drafts.push(Fact::ToolCompleted(ToolOutcome::of_runtime(call, result, is_error)).into());
            }
        }
    }

    /// Called when OpenCode requests a permission. If the input of its call is not complete yet, the request waits for
    /// it.
    pub(super) fn on_permission_asked(&mut self, permission: PermissionRequest, drafts: &mut Vec<Draft>) {
        if !self.seen_permissions.insert(permission.id.clone()) {
            return;
        }
        match permission.tool.as_ref().map(|tool| tool.call.clone()) {
            Some(native) => {
                let tool = self.known.entry(native.clone()).or_default();
                match tool.input_complete {
                    true => self.request_decision(&native, permission, drafts),
                    false => tool.early_permissions.push(permission),
                }
            }
            None => self.request_separate_decision(permission, drafts),
        }
    }

    /// Requests a decision about the permission of a call. Only the first one is the call's own.
    fn request_decision(&mut self, native: &str, permission: PermissionRequest, drafts: &mut Vec<Draft>) {
        let Some(tool) = self.known.get_mut(native) else { return };
        if tool.permission_asked || SEPARATE_PERMISSIONS.contains(&permission.permission.as_str()) {
            return self.request_separate_decision(permission, drafts);
        }
        tool.permission_asked = true;
        let announced = tool.request(native, &tool.name, tool.input.clone());
        let requested = match is_about(&permission, &tool.input) {
            true => announced,
            false => {
                // The permission is about something else than the call, so both are recorded.
                tool.report(native, drafts);
                tool.request(native, &permission.permission, permission_input(&permission))
            }
        };
        let (about, mut request) = requested;
        if tool.reported.as_ref() == Some(&about) {
            request.identity.attempt = tool.attempt;
        }
        (tool.attempt, tool.reported) = (request.identity.attempt, Some(about));
        self.pending.ask(&request.identity, PendingPermission { permission: permission.id, separate: false });
        drafts.push(Fact::ToolAsks(request).into());
    }

    /// Requests a decision about a permission that is not a call's own. It is shown as a call that does nothing else.
    fn request_separate_decision(&mut self, permission: PermissionRequest, drafts: &mut Vec<Draft>) {
        let input = permission_input(&permission);
        let PermissionRequest { id: native, permission: name, patterns, .. } = permission;
        let title = Some(patterns.join(", ")).filter(|title| !title.is_empty());
        let request = request(&native, 1, &name, input, title);
        self.pending.ask(&request.identity, PendingPermission { permission: native, separate: true });
        drafts.push(Fact::ToolAsks(request).into());
    }

    /// Takes a decision and returns OpenCode's id of the permission that it answers; `None` if nothing waits for it.
    pub(super) fn decide(&mut self, about: &ToolCallIdentity, allow: bool, drafts: &mut Vec<Draft>) -> Option<String> {
        let PendingPermission { permission, separate } = self.pending.answer(about)?;
        let call = &about.tool_call_id;
        if allow {
            drafts.push(Fact::ToolStarted(call.clone()).into());
            if separate {
                drafts.push(Fact::ToolCompleted(ToolOutcome::of_runtime(call.clone(), None, false)).into());
            }
        }
        Some(permission)
    }

    /// The attempt that waits for this permission.
    #[cfg(test)]
    pub(super) fn waiting_for(&self, permission: &str) -> Option<ToolCallIdentity> {
        self.pending.find(|pending| pending.permission == permission)
    }

    /// Called when a permission was answered, by us or somebody else.
    pub(super) fn on_permission_replied(&mut self, permission: &str) {
        self.pending.drop_if(|pending| pending.permission == permission);
    }

    /// Drops all open permissions and returns their ids; OpenCode does not withdraw them itself.
    pub(super) fn drop_pending(&mut self) -> Vec<String> {
        self.pending.take_all().into_iter().map(|pending| pending.permission).collect()
    }
}

/// Derived from OpenCode's id, so that the same call always has the same id.
fn id(native: &str) -> ToolCallId {
    format!("tc_{}", Uuid::new_v5(&Uuid::NAMESPACE_OID, native.as_bytes()).simple()).into()
}

fn request(native: &str, attempt: u32, name: &str, input: Value, title: Option<String>) -> ToolCallRequestedPayload {
    let identity = ToolCallIdentity {
        tool_call_id: id(native),
        runtime_tool_call_id: Some(native.to_owned()),
        attempt,
        input_hash: canonical::hash(&input),
    };
    let (name, kind) = (usual_name(name), Some(kind(name)));
    ToolCallRequestedPayload { identity, name, input, input_ref: None, title, kind }
}

/// The name of a tool. OpenCode writes `<server>_<tool>`, from which a server cannot be told; but a tool of Roost's own
/// gateway must have the same name in rules whichever agent calls it.
fn usual_name(name: &str) -> String {
    let of_gateway = name.strip_prefix(GATEWAY_SERVER).and_then(|rest| rest.strip_prefix('_'));
    of_gateway.map_or_else(|| name.to_owned(), |tool| format!("mcp__{GATEWAY_SERVER}__{tool}"))
}

/// The input of a call that stands for a permission.
fn permission_input(permission: &PermissionRequest) -> Value {
    let PermissionRequest { patterns, metadata, .. } = permission;
    json!({ "patterns": patterns, "metadata": metadata })
}

/// Whether a permission is about this input: its patterns are parts of commands, paths and addresses in it.
fn is_about(permission: &PermissionRequest, input: &Value) -> bool {
    permission.patterns.iter().all(|pattern| pattern == "*" || contains(input, pattern))
}

/// Whether `part` occurs in any string of the input.
fn contains(input: &Value, part: &str) -> bool {
    match input {
        Value::String(text) => text.contains(part),
        Value::Array(items) => items.iter().any(|item| contains(item, part)),
        Value::Object(fields) => fields.values().any(|field| contains(field, part)),
        _ => false,
    }
}

/// The field of the input that says most about the call.
fn title(input: &Value) -> Option<String> {
    let field = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
    ["command", "filePath", "path", "pattern", "url", "description"].into_iter().find_map(field)
}

fn kind(name: &str) -> ToolKind {
    match name {
        "bash" => ToolKind::Execute,
        "edit" | "write" | "patch" | "apply_patch" | "multiedit" => ToolKind::Edit,
        "read" => ToolKind::Read,
        "grep" | "glob" | "list" | "codesearch" => ToolKind::Search,
        "webfetch" | "websearch" => ToolKind::Fetch,
        _ => ToolKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_of_the_gateway_has_the_same_name_as_with_other_agents() {
        for (name, expected) in [
            ("roost_docs__search", "mcp__roost__docs__search"),
            ("roosting", "roosting"),
            ("probe_probe_echo", "probe_probe_echo"),
        ] {
            assert_eq!(usual_name(name), expected);
        }
    }
}
