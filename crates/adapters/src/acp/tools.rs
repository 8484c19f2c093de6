//! The agent's tool calls: agents announce them early, late or never, and repeat themselves.
//!
//! A permission request is about what the request says, merged with everything that the agent said about the call
//! before. An update to a call that was reported already can add to it or make it stricter, never take something back.
//! If that changes what the call is, it is reported again as another attempt.

use std::collections::{BTreeSet, HashMap};

use agent_client_protocol_schema::v1 as acp;
use roost_engine::adapter::{Draft, Fact, ToolOutcome};
use roost_engine::ledger::adds_to;
use roost_model::canonical;
use roost_model::ids::ToolCallId;
use roost_model::payload::{OutputStream, ToolCallRequestedPayload, ToolKind};
use roost_model::tool::ToolCallIdentity;
use serde_json::{Value, json};

use super::presets::{AgentProfile, CallWords, NamedCall};
use super::tool_kind;

/// What makes an attempt a different call: the tool's name, its kind, and the hash of its input.
type CallFingerprint = (String, Option<ToolKind>, String);

/// How a turn ended, as far as its tool calls are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurnEnd {
    /// The agent answered the prompt.
    Answered,
    /// The agent's process is gone.
    Exited,
}

/// What the agent has said about one tool call, and what was reported of it.
#[derive(Debug)]
struct ToolCallState {
    profile: AgentProfile,
    id: ToolCallId,
    /// The number of the last attempt that was reported or asked about; 0 before the first.
    attempt: u32,
    /// All updates so far, merged.
    fields: acp::ToolCallUpdateFields,
    /// The content from before the call was reported, or of its last permission request; later content is output.
    preview: Vec<acp::ToolCallContent>,
    /// The title from the same time as `preview`; agents change it later to describe the result.
    label: Option<String>,
    /// The fingerprint that was reported last; `None` if the call was not reported yet.
    reported: Option<CallFingerprint>,
    /// The agent has requested permission for the last reported attempt.
    permission_requested: bool,
    /// The agent has requested permission for any attempt at this call.
    needs_permission: bool,
    running: bool,
    /// The outcome, once the call is over.
    done: Option<ToolOutcome>,
    /// The output text that was reported already.
    shown: String,
    /// The terminals that the agent has shown in the call, by its own ids.
    terminals: BTreeSet<String>,
}

impl ToolCallState {
    /// A call that nothing is known of yet, of an agent with this profile.
    fn new(profile: AgentProfile) -> Self {
        Self {
            profile,
            id: ToolCallId::new(),
            attempt: 0,
            fields: acp::ToolCallUpdateFields::default(),
            preview: Vec::new(),
            label: None,
            reported: None,
            permission_requested: false,
            needs_permission: false,
            running: false,
            done: None,
            shown: String::new(),
            terminals: BTreeSet::new(),
        }
    }

    /// Begins another attempt at a call that is over. Only the id and the attempt number are kept.
    fn restart(&mut self) {
        *self = Self { id: self.id.clone(), attempt: self.attempt, ..Self::new(self.profile) };
    }

    /// Merges an update. Before the call is reported it comes in pieces, and the last value of a field counts. After
    /// that, and in a permission request (`asks`), an update cannot take back what was said before.
    fn merge(&mut self, new: acp::ToolCallUpdateFields, asks: bool) {
        let adds = asks || self.reported.is_some();
        let fields = &mut self.fields;
        fields.kind = if adds { tool_kind::stricter(fields.kind, new.kind) } else { new.kind.or(fields.kind) };
        fields.title = new.title.or(fields.title.take());
        fields.name = new.name.or(fields.name.take());
        fields.raw_output = new.raw_output.or(fields.raw_output.take());
        fields.raw_input = match (fields.raw_input.take(), new.raw_input) {
            (Some(Value::Object(mut known)), Some(Value::Object(new_value))) if adds => {
                known.extend(new_value);
                Some(Value::Object(known))
            }
            (known, Some(new_value)) if !adds || has_details(&new_value) => Some(new_value).or(known),
            (known, _) => known,
        };
        fields.locations = match (fields.locations.take(), new.locations) {
            (Some(known), Some(new_value)) if adds => Some(known.into_iter().chain(new_value).collect()),
            (known, new_value) => new_value.or(known),
        };
        fields.content = new.content.or(fields.content.take());
        if adds && !asks {
            return;
        }
        self.preview = self.fields.content.clone().unwrap_or_default();
        self.label.clone_from(&self.fields.title);
    }

    /// Whether more is known about the call than its kind and its title.
    fn has_details(&self) -> bool {
        let fields = &self.fields;
        fields.raw_input.as_ref().is_some_and(has_details) || !places(fields).is_empty() || !self.preview.is_empty()
    }

    /// Whether nothing about the call can be checked: there is no input and no location, and it is no command.
    fn is_blind(&self) -> bool {
        let fields = &self.fields;
        !fields.raw_input.as_ref().is_some_and(has_details)
            && places(fields).is_empty()
            && fields.kind != Some(acp::ToolKind::Execute)
    }

    fn fingerprint(&self, native: &str) -> (CallFingerprint, Value) {
        let NamedCall { name, input } = self.read_words(native).unwrap_or_else(|| {
            let name = self.fields.name.clone().unwrap_or_default();
            NamedCall { name, input: None }
        });
        let input = input.unwrap_or_else(|| self.input());
        // A claimed kind alone must not get a call allowed: the agent has to say what it wants to do.
        let claimed = self.fields.kind.filter(|_| !self.needs_permission || !self.is_blind());
        let kind = claimed.map(tool_kind::from_acp);
        let name = if name.is_empty() { kind.map_or("other", tool_kind::name).to_owned() } else { name };
        ((name, kind, canonical::hash(&input)), input)
    }

    /// The call as the profile reads it from the agent's words; `None` for an agent that sends raw inputs.
    fn read_words(&self, native: &str) -> Option<NamedCall> {
        let read = self.profile.read_call.filter(|_| self.fields.raw_input.is_none())?;
        read(CallWords {
            id: native,
            kind: self.fields.kind.map(tool_kind::from_acp),
            title: self.fields.title.as_deref().unwrap_or_default(),
            explanation: &joined_text(&self.preview),
        })
    }

    /// The call's input, plus the locations that the input does not name itself. Without an input, it is built from the
    /// title, the locations and the preview; for a command without an input, the title is the command.
    fn input(&self) -> Value {
        let fields = &self.fields;
        let places = places(fields);
        if let Some(raw) = fields.raw_input.as_ref().filter(|raw| has_details(raw)) {
            let more: Vec<_> = places.into_iter().filter(|place| !mentions(raw, place)).collect();
            return match raw {
                raw if more.is_empty() => raw.clone(),
                Value::Object(named) => {
                    let mut named = named.clone();
                    let own = named.remove("locations").map(|own| vec![own]).unwrap_or_default();
                    let more = own.into_iter().chain(more.into_iter().map(Value::from)).collect();
                    named.insert("locations".into(), more);
                    Value::Object(named)
                }
                raw => json!({ "input": raw, "locations": more }),
            };
        }
        let title = if fields.kind == Some(acp::ToolKind::Execute) { &fields.title } else { &self.label };
        let mut shown = json!({ "title": title, "locations": places });
        if !self.preview.is_empty() {
            shown["content"] = serde_json::to_value(&self.preview).unwrap_or_default();
        }
        shown
    }

    /// The next attempt at the call, as it would be reported now.
    fn request(&self, native: &str) -> (CallFingerprint, ToolCallRequestedPayload) {
        let (fingerprint, input) = self.fingerprint(native);
        let (name, kind, input_hash) = fingerprint.clone();
        let identity = ToolCallIdentity {
            tool_call_id: self.id.clone(),
            runtime_tool_call_id: Some(native.to_owned()),
            attempt: self.attempt + 1,
            input_hash,
        };
        let (input_ref, title) = (None, self.fields.title.clone());
        (fingerprint, ToolCallRequestedPayload { identity, name, input, input_ref, title, kind })
    }

    /// Reports the call as a new attempt, unless its fingerprint is the one that was reported last.
    fn report(&mut self, native: &str, drafts: &mut Vec<Draft>) -> ToolCallId {
        let (fingerprint, request) = self.request(native);
        if self.reported.as_ref() != Some(&fingerprint) {
            (self.attempt, self.reported, self.permission_requested) =
                (request.identity.attempt, Some(fingerprint), false);
            drafts.push(Fact::ToolRequested(request).into());
        }
        self.id.clone()
    }

    fn complete(&mut self, native: &str, is_error: bool, drafts: &mut Vec<Draft>) {
        let call = self.report(native, drafts);
        if !is_error {
            self.show_output(native, drafts);
        }
        let result = self.fields.raw_output.clone().or_else(|| content(&self.fields));
        let never_ran = is_error && self.profile.announces_runs && !self.running && !self.needs_permission;
        let outcome = ToolOutcome::of_runtime(call.clone(), result, is_error || self.says_that_it_failed());
        self.done = Some(outcome.clone());
        drafts.push(match never_ran {
            true => Fact::ToolRefused { call, reason: text(&self.fields) }.into(),
            false => Fact::ToolCompleted(outcome).into(),
        });
    }

    /// Whether the output of a completed command says that the command failed.
    fn says_that_it_failed(&self) -> bool {
        let output = text(&self.fields);
        self.fields.kind == Some(acp::ToolKind::Execute)
            && self.profile.failure_texts.iter().any(|beginning| output.starts_with(beginning))
    }

    /// Whether the agent may have begun the call without asking: it said that the call runs, or it is gone and had all
    /// of the call's input.
    fn may_have_begun(&self, end: TurnEnd) -> bool {
        let announced = self.running || end == TurnEnd::Exited && self.has_details();
        announced && !self.needs_permission && self.done.is_none()
    }

    /// Reports the text that was added to the call's output since the last time; replaced text is not output, and neither
    /// is what a permission request showed, such as the description of a command.
    fn show_output(&mut self, native: &str, drafts: &mut Vec<Draft>) {
        if self.needs_permission && self.fields.content.as_ref() == Some(&self.preview) {
            return;
        }
        let text = text(&self.fields);
        let Some(added) = text.strip_prefix(&self.shown).filter(|added| !added.is_empty()) else { return };
        let delta = added.to_owned();
        let call = self.report(native, drafts);
        drafts.push(Fact::ToolOutputDelta { call, stream: OutputStream::Stdout, delta }.into());
        self.shown = text;
    }
}

/// The tool calls of one task, by the agent's id.
#[derive(Debug)]
pub(super) struct AcpTools {
    known: HashMap<String, ToolCallState>,
    profile: AgentProfile,
    /// Terminals that were shown in calls since the last look, by the agent's own ids.
    shown_terminals: Vec<(ToolCallId, String)>,
}

impl AcpTools {
    /// No calls yet, of an agent with this profile.
    pub(super) fn new(profile: AgentProfile) -> Self {
        Self { known: HashMap::new(), profile, shown_terminals: Vec::new() }
    }

    /// The terminals that the agent has shown in calls since the last look.
    pub(super) fn take_shown_terminals(&mut self) -> Vec<(ToolCallId, String)> {
        std::mem::take(&mut self.shown_terminals)
    }

    /// Whether a call was reported as in progress and has not ended.
    pub(super) fn any_runs(&self) -> bool {
        self.known.values().any(|tool| tool.running && tool.done.is_none())
    }

    /// Handles an announcement or update of a call, and reports what it changes.
    pub(super) fn update(&mut self, update: acp::ToolCallUpdate, drafts: &mut Vec<Draft>) {
        let native = update.tool_call_id.0.to_string();
        let status = update.fields.status;
        let fields = self.without_noise(update.fields);
        let tool = self.known.entry(native.clone()).or_insert_with(|| ToolCallState::new(self.profile));
        if status == Some(acp::ToolCallStatus::Pending) && tool.done.is_some() {
            tool.restart();
        }
        tool.merge(fields, false);
        if let Some(outcome) = tool.done.clone() {
            // A finished call that turns out to have been another one is reported again, as what it was.
            if tool.reported.as_ref() != Some(&tool.fingerprint(&native).0) {
                tool.report(&native, drafts);
                drafts.push(Fact::ToolCompleted(outcome).into());
            }
            return;
        }
        match status {
            Some(acp::ToolCallStatus::Completed) => return tool.complete(&native, false, drafts),
            Some(acp::ToolCallStatus::Failed) => return tool.complete(&native, true, drafts),
            Some(acp::ToolCallStatus::InProgress) => tool.running = true,
            // A pending call may still get its input, and what it shows is a preview, not output.
            _ => {}
        }
        // Some agents say "in progress" and then ask: the call runs only when it is allowed or shows output. A call
        // without any details is not reported yet.
        if tool.reported.is_some() || tool.running && tool.has_details() {
            tool.report(&native, drafts);
        }
        if tool.running && tool.profile.streams_output {
            tool.show_output(&native, drafts);
        }
        if tool.reported.is_some() {
            let new = terminals(&tool.fields).filter(|id| tool.terminals.insert(id.clone()));
            self.shown_terminals.extend(new.map(|id| (tool.id.clone(), id)));
        }
    }

    /// Handles a permission request about a call, which may not have been announced before, and returns the call that
    /// it is about. Every request is a new attempt: an earlier permission, even for the same input, is not
    /// permission for this one.
    pub(super) fn on_permission_request(
        &mut self,
        update: acp::ToolCallUpdate,
        drafts: &mut Vec<Draft>,
    ) -> ToolCallRequestedPayload {
        let native = update.tool_call_id.0.to_string();
        let fields = self.without_noise(update.fields);
        let tool = self.known.entry(native.clone()).or_insert_with(|| ToolCallState::new(self.profile));
        if tool.done.is_some() {
            tool.restart();
        }
        let announced = (tool.reported.is_none() && tool.has_details()).then(|| tool.request(&native));
        tool.merge(fields, true);
        tool.needs_permission = true;
        if let Some((fingerprint, announced)) = announced
            && !adds_to(&announced, &tool.request(&native).1)
        {
            // The request is about something else than was announced; both are reported.
            (tool.attempt, tool.reported) = (announced.identity.attempt, Some(fingerprint));
            drafts.push(Fact::ToolRequested(announced).into());
        }
        let (fingerprint, mut request) = tool.request(&native);
        if tool.reported.as_ref() == Some(&fingerprint) && !tool.permission_requested {
            request.identity.attempt = tool.attempt;
        }
        (tool.attempt, tool.reported, tool.permission_requested) = (request.identity.attempt, Some(fingerprint), true);
        request
    }

    /// Reports the calls that were announced and nothing more, and the start of those that may have begun; called at
    /// the end of the turn. Without the start, the record would say that they were denied.
    pub(super) fn flush(&mut self, end: TurnEnd, drafts: &mut Vec<Draft>) {
        for (native, tool) in &mut self.known {
            if tool.may_have_begun(end) {
                let call = tool.report(native, drafts);
                drafts.push(Fact::ToolStarted(call).into());
            } else if tool.reported.is_none() {
                tool.report(native, drafts);
            }
        }
    }

    /// Removes the input fields that the profile ignores, and unwraps the output field that it names.
    fn without_noise(&self, mut fields: acp::ToolCallUpdateFields) -> acp::ToolCallUpdateFields {
        if let Some(Value::Object(input)) = &mut fields.raw_input {
            input.retain(|field, _| !self.profile.not_input.contains(&field.as_str()));
        }
        if let (Some(field), Some(Value::Object(output))) = (self.profile.output_field, &mut fields.raw_output)
            && let Some(tool_output) = output.remove(field)
        {
            fields.raw_output = Some(tool_output);
        }
        fields
    }
}

/// The paths that a call touches, from its locations and diffs; sorted, each once.
fn places(fields: &acp::ToolCallUpdateFields) -> Vec<String> {
    let diffs = fields.content.iter().flatten().filter_map(|content| match content {
        acp::ToolCallContent::Diff(diff) => Some(&diff.path),
        _ => None,
    });
    let located = fields.locations.iter().flatten().map(|place| &place.path);
    let places: BTreeSet<_> = located.chain(diffs).map(|path| path.display().to_string()).collect();
    places.into_iter().collect()
}

/// The terminals in a call's content, by the agent's own ids.
fn terminals(fields: &acp::ToolCallUpdateFields) -> impl Iterator<Item = String> {
    fields.content.iter().flatten().filter_map(|content| match content {
        acp::ToolCallContent::Terminal(terminal) => Some(terminal.terminal_id.0.to_string()),
        _ => None,
    })
}

/// Whether an input contains this path, as a value or as a member's name.
fn mentions(input: &Value, place: &str) -> bool {
    match input {
        Value::String(text) => text == place,
        Value::Array(items) => items.iter().any(|item| mentions(item, place)),
        Value::Object(fields) => fields.iter().any(|(name, value)| name == place || mentions(value, place)),
        _ => false,
    }
}

fn has_details(input: &Value) -> bool {
    match input {
        Value::Null => false,
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

fn content(fields: &acp::ToolCallUpdateFields) -> Option<Value> {
    let content = fields.content.as_ref().filter(|content| !content.is_empty())?;
    serde_json::to_value(content).ok()
}

fn text(fields: &acp::ToolCallUpdateFields) -> String {
    joined_text(fields.content.as_deref().unwrap_or_default())
}

fn joined_text(content: &[acp::ToolCallContent]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        acp::ToolCallContent::Content(acp::Content { content: acp::ContentBlock::Text(text), .. }) => {
            Some(text.text.as_str())
        }
        _ => None,
    });
    texts.collect()
}
