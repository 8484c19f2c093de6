//! The tool calls of one task: what OpenCode announced, asked about, ran and finished.

use std::collections::{BTreeMap, HashSet};

use roost_engine::adapter::{Draft, Fact, ToolOutcome};
use roost_model::canonical;
use roost_model::ids::ToolCallId;
use roost_model::payload::{OutputStream, ToolCallRequestedPayload, ToolKind};
use roost_model::tool::ToolCallIdentity;
use serde_json::{Value, json};
use uuid::Uuid;

use super::wire::{Permission, ToolState, ToolStatus};
use crate::host::waiting::Waiting;

/// Permissions that are asked for besides that of the call itself.
const BESIDES: [&str; 2] = ["doom_loop", "external_directory"];

/// What is known of one tool call.
#[derive(Debug, Default)]
struct Tool {
    name: String,
    input: Value,
    title: Option<String>,
    /// Its whole input has come.
    known: bool,
    /// How often it was reported as something else, or asked about.
    attempt: u32,
    /// The tool and the hash of the input that were reported.
    reported: Option<(String, String)>,
    asked: bool,
    done: bool,
    /// Asked before the input had come.
    early: Vec<Permission>,
    /// The output that was passed on already.
    shown: String,
}

impl Tool {
    /// The call as it is reported next, with this input.
    fn request(&self, native: &str, name: &str, input: Value) -> ((String, String), ToolCallRequestedPayload) {
        let title = self.title.clone().or_else(|| title(&input));
        let request = request(native, self.attempt + 1, name, input, title);
        ((name.to_owned(), request.identity.input_hash.clone()), request)
    }

    /// Reports the call, unless it was reported as this already.
    fn report(&mut self, native: &str, drafts: &mut Vec<Draft>) -> ToolCallId {
        let (about, request) = self.request(native, &self.name, self.input.clone());
        if self.reported.as_ref() != Some(&about) {
            (self.attempt, self.reported) = (request.identity.attempt, Some(about));
            drafts.push(Fact::ToolRequested(request).into());
        }
        id(native)
    }
}

/// What a decision is about.
#[derive(Debug)]
struct Pending {
    permission: String,
    /// The call is only a permission: it is over once it is allowed.
    besides: bool,
}

/// The tool calls of one task, by OpenCode's id.
#[derive(Debug, Default)]
pub(super) struct Tools {
    known: BTreeMap<String, Tool>,
    pending: Waiting<Pending>,
    /// Permissions that were asked for; a stream that was opened again tells them twice.
    heard: HashSet<String>,
}

impl Tools {
    /// A call began, changed or is over.
    pub(super) fn update(&mut self, native: &str, name: String, state: ToolState, drafts: &mut Vec<Draft>) {
        let tool = self.known.entry(native.to_owned()).or_default();
        let was_done = tool.done;
        tool.name = name;
        tool.title = state.title.filter(|title| !title.is_empty()).or(tool.title.take());
        tool.input = state.input;
        tool.known = state.status != ToolStatus::Pending;
        for permission in if tool.known { std::mem::take(&mut tool.early) } else { Vec::new() } {
            self.ask(native, permission, drafts);
        }
        let Some(tool) = self.known.get_mut(native) else { return };
        let before = tool.attempt;
        if tool.reported.is_some() {
            // A call that is another by now is told again.
            tool.report(native, drafts);
        }
        if was_done && tool.attempt == before {
            return;
        }
        let output = state.metadata.get("output").and_then(Value::as_str).unwrap_or_default();
        match state.status {
            ToolStatus::Pending => {}
            ToolStatus::Running => {
                if let Some(delta) = output.strip_prefix(&tool.shown).filter(|delta| !delta.is_empty()) {
                    let delta = delta.to_owned();
                    let (call, stream) = (tool.report(native, drafts), OutputStream::Stdout);
                    tool.shown = output.to_owned();
                    drafts.push(Fact::ToolOutputDelta { call, stream, delta }.into());
                }
            }
            ToolStatus::Completed | ToolStatus::Error => {
                let call = tool.report(native, drafts);
                tool.done = true;
                let failed = state.metadata.get("exit").and_then(Value::as_i64).is_some_and(|code| code != 0);
                let is_error = state.status == ToolStatus::Error || failed;
                let result = state.output.or(state.error).map(Value::from);
                drafts.push(Fact::ToolCompleted(ToolOutcome::of_runtime(call, result, is_error)).into());
            }
        }
    }

    /// OpenCode asks whether something may be done.
    pub(super) fn asked(&mut self, permission: Permission, drafts: &mut Vec<Draft>) {
        if !self.heard.insert(permission.id.clone()) {
            return;
        }
        match permission.tool.as_ref().map(|tool| tool.call.clone()) {
            Some(native) => {
                let tool = self.known.entry(native.clone()).or_default();
                match tool.known {
                    true => self.ask(&native, permission, drafts),
                    false => tool.early.push(permission),
                }
            }
            None => self.ask_besides(permission, drafts),
        }
    }

    fn ask(&mut self, native: &str, permission: Permission, drafts: &mut Vec<Draft>) {
        let Some(tool) = self.known.get_mut(native) else { return };
        if tool.asked || BESIDES.contains(&permission.permission.as_str()) {
            return self.ask_besides(permission, drafts);
        }
        tool.asked = true;
        let announced = tool.request(native, &tool.name, tool.input.clone());
        let asked = match is_about(&permission, &tool.input) {
            true => announced,
            false => {
                // It asks for something else than its call is, and both are to be seen.
                tool.report(native, drafts);
                tool.request(native, &permission.permission, what(&permission))
            }
        };
        let (about, mut request) = asked;
        if tool.reported.as_ref() == Some(&about) {
            request.identity.attempt = tool.attempt;
        }
        (tool.attempt, tool.reported) = (request.identity.attempt, Some(about));
        self.pending.ask(&request.identity, Pending { permission: permission.id, besides: false });
        drafts.push(Fact::ToolAsks(request).into());
    }

    /// A permission that is no call's own is shown as a call that does nothing else.
    fn ask_besides(&mut self, permission: Permission, drafts: &mut Vec<Draft>) {
        let input = what(&permission);
        let Permission { id: native, permission: name, patterns, .. } = permission;
        let title = Some(patterns.join(", ")).filter(|title| !title.is_empty());
        let request = request(&native, 1, &name, input, title);
        self.pending.ask(&request.identity, Pending { permission: native, besides: true });
        drafts.push(Fact::ToolAsks(request).into());
    }

    /// The id of the permission that this decision answers.
    pub(super) fn decide(&mut self, about: &ToolCallIdentity, allow: bool, drafts: &mut Vec<Draft>) -> Option<String> {
        let Pending { permission, besides } = self.pending.answer(about)?;
        let call = &about.tool_call_id;
        if allow {
            drafts.push(Fact::ToolStarted(call.clone()).into());
            if besides {
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

    /// This permission is no longer waited for.
    pub(super) fn settled(&mut self, permission: &str) {
        self.pending.drop_if(|pending| pending.permission == permission);
    }

    /// Everything that is waited for; OpenCode forgets to withdraw it.
    pub(super) fn drop_pending(&mut self) -> Vec<String> {
        self.pending.take_all().into_iter().map(|pending| pending.permission).collect()
    }
}

/// The same for everybody who looks at the same call.
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
    let (name, kind) = (name.to_owned(), Some(kind(name)));
    ToolCallRequestedPayload { identity, name, input, input_ref: None, title, kind }
}

/// What a permission is asked for, in its own words.
fn what(permission: &Permission) -> Value {
    let Permission { patterns, metadata, .. } = permission;
    json!({ "patterns": patterns, "metadata": metadata })
}

/// Whether a permission is about what the call's input says: it names parts of commands, paths and addresses.
fn is_about(permission: &Permission, input: &Value) -> bool {
    permission.patterns.iter().all(|pattern| pattern == "*" || contains(input, pattern))
}

/// Whether this is a part of a text in the input.
fn contains(input: &Value, part: &str) -> bool {
    match input {
        Value::String(text) => text.contains(part),
        Value::Array(items) => items.iter().any(|item| contains(item, part)),
        Value::Object(fields) => fields.values().any(|field| contains(field, part)),
        _ => false,
    }
}

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
