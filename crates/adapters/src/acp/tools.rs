//! The agent's tool calls: ACP announces them early, late or never, and says the same thing several times.
//!
//! What an agent asks about is what it says in the request, together with whatever it said of the call before. What it
//! says of a call that is reported already can add to it or make it stricter; if that makes it another call, it is
//! reported again, as another attempt.

use std::collections::{BTreeSet, HashMap};

use agent_client_protocol_schema::v1 as acp;
use roost_engine::adapter::{Draft, Fact, ToolOutcome};
use roost_engine::ledger::adds_to;
use roost_model::canonical;
use roost_model::ids::ToolCallId;
use roost_model::payload::{OutputStream, ToolCallRequestedPayload, ToolKind};
use roost_model::tool::ToolCallIdentity;
use serde_json::{Value, json};

use super::presets::Observed;

/// What an attempt is about: the tool, its kind, and the hash of its input.
type About = (String, Option<ToolKind>, String);

/// What is known of a tool call.
#[derive(Debug)]
struct Tool {
    id: ToolCallId,
    /// How often it was reported as something else, or asked about.
    attempt: u32,
    fields: acp::ToolCallUpdateFields,
    /// What the agent showed of the call before it ran; what it shows later is output.
    preview: Vec<acp::ToolCallContent>,
    /// Its title before it ran.
    label: Option<String>,
    /// What it was reported as.
    reported: Option<About>,
    /// The agent has asked about what was reported.
    asked: bool,
    /// The agent has asked about the call at all.
    needs_leave: bool,
    running: bool,
    /// It is over, with this outcome.
    done: Option<ToolOutcome>,
    /// The output that was passed on already.
    shown: String,
}

impl Default for Tool {
    fn default() -> Self {
        Self {
            id: ToolCallId::new(),
            attempt: 0,
            fields: acp::ToolCallUpdateFields::default(),
            preview: Vec::new(),
            label: None,
            reported: None,
            asked: false,
            needs_leave: false,
            running: false,
            done: None,
            shown: String::new(),
        }
    }
}

impl Tool {
    /// Another attempt at a call that is over: nothing that was said of the last one counts for it.
    fn again(&mut self) {
        *self = Self { id: self.id.clone(), attempt: self.attempt, ..Self::default() };
    }

    /// Takes what the agent says of the call now. Before it is reported, calls come in pieces and the last word counts;
    /// from then on, and in a request for permission, nothing is taken back that was said before.
    fn merge(&mut self, new: acp::ToolCallUpdateFields, asks: bool) {
        let adds = asks || self.reported.is_some();
        let fields = &mut self.fields;
        fields.kind = if adds { stricter(fields.kind, new.kind) } else { new.kind.or(fields.kind) };
        fields.title = new.title.or(fields.title.take());
        fields.name = new.name.or(fields.name.take());
        fields.raw_output = new.raw_output.or(fields.raw_output.take());
        fields.raw_input = match (fields.raw_input.take(), new.raw_input) {
            (Some(Value::Object(mut known)), Some(Value::Object(said))) if adds => {
                known.extend(said);
                Some(Value::Object(known))
            }
            (known, Some(said)) if !adds || says_something(&said) => Some(said).or(known),
            (known, _) => known,
        };
        fields.locations = match (fields.locations.take(), new.locations) {
            (Some(known), Some(said)) if adds => Some(known.into_iter().chain(said).collect()),
            (known, said) => said.or(known),
        };
        fields.content = new.content.or(fields.content.take());
        if adds && !asks {
            return;
        }
        self.preview = self.fields.content.clone().unwrap_or_default();
        self.label.clone_from(&self.fields.title);
    }

    /// The agent has said more of the call than its kind and its title.
    fn says_something(&self) -> bool {
        let fields = &self.fields;
        fields.raw_input.as_ref().is_some_and(says_something) || !places(fields).is_empty() || !self.preview.is_empty()
    }

    /// Nothing that could be checked is known of the call, only what the agent claims.
    fn is_blind(&self) -> bool {
        let fields = &self.fields;
        !fields.raw_input.as_ref().is_some_and(says_something)
            && places(fields).is_empty()
            && fields.kind != Some(acp::ToolKind::Execute)
    }

    fn about(&self) -> (About, Value) {
        let input = self.input();
        // A kind alone is no reason to let something happen: an agent that wants leave must say for what.
        let claimed = self.fields.kind.filter(|_| !self.needs_leave || !self.is_blind());
        let kind = claimed.map(kind);
        let name = self.fields.name.clone().unwrap_or_else(|| kind.map_or("other", kind_name).to_owned());
        ((name, kind, canonical::hash(&input)), input)
    }

    /// The call's input, with the places that it does not name itself; agents that send none are described by what they
    /// show instead. Of a command that comes without its input, the title is the command.
    fn input(&self) -> Value {
        let fields = &self.fields;
        let places = places(fields);
        if let Some(raw) = fields.raw_input.as_ref().filter(|raw| says_something(raw)) {
            let more: Vec<_> = places.into_iter().filter(|place| !mentions(raw, place)).collect();
            return match raw {
                raw if more.is_empty() => raw.clone(),
                Value::Object(named) => {
                    let mut named = named.clone();
                    let said = named.remove("locations").map(|said| vec![said]).unwrap_or_default();
                    let more = said.into_iter().chain(more.into_iter().map(Value::from)).collect();
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

    /// The call as it is reported next.
    fn request(&self, native: &str) -> (About, ToolCallRequestedPayload) {
        let (about, input) = self.about();
        let (name, kind, input_hash) = about.clone();
        let identity = ToolCallIdentity {
            tool_call_id: self.id.clone(),
            runtime_tool_call_id: Some(native.to_owned()),
            attempt: self.attempt + 1,
            input_hash,
        };
        let (input_ref, title) = (None, self.fields.title.clone());
        (about, ToolCallRequestedPayload { identity, name, input, input_ref, title, kind })
    }

    /// Reports the call, unless it was reported as this already.
    fn report(&mut self, native: &str, drafts: &mut Vec<Draft>) -> ToolCallId {
        let (about, request) = self.request(native);
        if self.reported.as_ref() != Some(&about) {
            (self.attempt, self.reported, self.asked) = (request.identity.attempt, Some(about), false);
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
        let outcome = ToolOutcome::of_runtime(call, result, is_error);
        self.done = Some(outcome.clone());
        drafts.push(Fact::ToolCompleted(outcome).into());
    }

    /// Passes on what was added to a running call's text since the last time; a text that was replaced is not output.
    fn show_output(&mut self, native: &str, drafts: &mut Vec<Draft>) {
        let text = text(&self.fields);
        let Some(added) = text.strip_prefix(&self.shown).filter(|added| !added.is_empty()) else { return };
        let delta = added.to_owned();
        let call = self.report(native, drafts);
        drafts.push(Fact::ToolOutputDelta { call, stream: OutputStream::Stdout, delta }.into());
        self.shown = text;
    }
}

/// The tool calls of one task, by the agent's id.
#[derive(Debug, Default)]
pub(super) struct Tools {
    known: HashMap<String, Tool>,
    not_input: &'static [&'static str],
    output_field: Option<&'static str>,
}

impl Tools {
    /// For an agent that does this.
    pub(super) fn of(observed: Observed) -> Self {
        Self { not_input: observed.not_input, output_field: observed.output_field, ..Self::default() }
    }

    /// A call runs that nothing has been heard of since.
    pub(super) fn any_runs(&self) -> bool {
        self.known.values().any(|tool| tool.running && tool.done.is_none())
    }

    /// Takes a new or changed call and reports what it means.
    pub(super) fn update(&mut self, update: acp::ToolCallUpdate, drafts: &mut Vec<Draft>) {
        let native = update.tool_call_id.0.to_string();
        let status = update.fields.status;
        let fields = self.without_noise(update.fields);
        let tool = self.known.entry(native.clone()).or_default();
        if status == Some(acp::ToolCallStatus::Pending) && tool.done.is_some() {
            tool.again();
        }
        tool.merge(fields, false);
        if let Some(outcome) = tool.done.clone() {
            // One that turns out to have been something else is told once more, as what it was.
            if tool.reported.as_ref() != Some(&tool.about().0) {
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
        // Some agents say "in progress" and then ask: the call runs only when it is allowed or shows output. One of which
        // nothing is known yet is told when there is.
        if tool.reported.is_some() || tool.running && tool.says_something() {
            tool.report(&native, drafts);
        }
        if tool.running {
            tool.show_output(&native, drafts);
        }
    }

    /// The agent asks about a call, which it may not have announced before; what it asks about. Each request is one of
    /// its own: leave for another, or for the same one before, is no leave for it.
    pub(super) fn asked(&mut self, update: acp::ToolCallUpdate, drafts: &mut Vec<Draft>) -> ToolCallRequestedPayload {
        let native = update.tool_call_id.0.to_string();
        let fields = self.without_noise(update.fields);
        let tool = self.known.entry(native.clone()).or_default();
        if tool.done.is_some() {
            tool.again();
        }
        let announced = (tool.reported.is_none() && tool.says_something()).then(|| tool.request(&native));
        tool.merge(fields, true);
        tool.needs_leave = true;
        if let Some((about, announced)) = announced
            && !adds_to(&announced, &tool.request(&native).1)
        {
            // It asks about something else than it announced, and both are to be seen.
            (tool.attempt, tool.reported) = (announced.identity.attempt, Some(about));
            drafts.push(Fact::ToolRequested(announced).into());
        }
        let (about, mut request) = tool.request(&native);
        if tool.reported.as_ref() == Some(&about) && !tool.asked {
            request.identity.attempt = tool.attempt;
        }
        (tool.attempt, tool.reported, tool.asked) = (request.identity.attempt, Some(about), true);
        request
    }

    /// Reports the calls that were announced and never became more.
    pub(super) fn flush(&mut self, drafts: &mut Vec<Draft>) {
        for (native, tool) in self.known.iter_mut().filter(|(_, tool)| tool.reported.is_none()) {
            tool.report(native, drafts);
        }
    }

    /// What an agent says of a call, without what is no part of it.
    fn without_noise(&self, mut said: acp::ToolCallUpdateFields) -> acp::ToolCallUpdateFields {
        if let Some(Value::Object(input)) = &mut said.raw_input {
            input.retain(|field, _| !self.not_input.contains(&field.as_str()));
        }
        if let (Some(field), Some(Value::Object(output))) = (self.output_field, &mut said.raw_output)
            && let Some(told) = output.remove(field)
        {
            said.raw_output = Some(told);
        }
        said
    }
}

/// The stricter of two kinds that an agent claims for one call. `other` is also what a call is before its kind is known.
fn stricter(before: Option<acp::ToolKind>, now: Option<acp::ToolKind>) -> Option<acp::ToolKind> {
    let strictness = |kind: acp::ToolKind| match kind {
        acp::ToolKind::Think => 0,
        acp::ToolKind::Search => 1,
        acp::ToolKind::Read => 2,
        acp::ToolKind::Fetch => 3,
        acp::ToolKind::SwitchMode => 4,
        acp::ToolKind::Move => 5,
        acp::ToolKind::Edit => 6,
        acp::ToolKind::Execute => 7,
        acp::ToolKind::Delete => 8,
        _ => 9,
    };
    match (before, now) {
        (None | Some(acp::ToolKind::Other), now) => now.or(before),
        (before, None) => before,
        (Some(before), Some(now)) => Some(if strictness(now) > strictness(before) { now } else { before }),
    }
}

/// The places that a call touches, as the agent shows them beside its input.
fn places(fields: &acp::ToolCallUpdateFields) -> Vec<String> {
    let diffs = fields.content.iter().flatten().filter_map(|content| match content {
        acp::ToolCallContent::Diff(diff) => Some(&diff.path),
        _ => None,
    });
    let located = fields.locations.iter().flatten().map(|place| &place.path);
    let places: BTreeSet<_> = located.chain(diffs).map(|path| path.display().to_string()).collect();
    places.into_iter().collect()
}

/// Whether an input names this itself.
fn mentions(input: &Value, place: &str) -> bool {
    match input {
        Value::String(text) => text == place,
        Value::Array(items) => items.iter().any(|item| mentions(item, place)),
        Value::Object(fields) => fields.iter().any(|(name, value)| name == place || mentions(value, place)),
        _ => false,
    }
}

fn says_something(input: &Value) -> bool {
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
    let texts = fields.content.iter().flatten().filter_map(|content| match content {
        acp::ToolCallContent::Content(acp::Content { content: acp::ContentBlock::Text(text), .. }) => {
            Some(text.text.as_str())
        }
        _ => None,
    });
    texts.collect()
}

fn kind(kind: acp::ToolKind) -> ToolKind {
    match kind {
        acp::ToolKind::Read => ToolKind::Read,
        acp::ToolKind::Edit => ToolKind::Edit,
        acp::ToolKind::Delete => ToolKind::Delete,
        acp::ToolKind::Move => ToolKind::Move,
        acp::ToolKind::Search => ToolKind::Search,
        acp::ToolKind::Execute => ToolKind::Execute,
        acp::ToolKind::Think => ToolKind::Think,
        acp::ToolKind::Fetch => ToolKind::Fetch,
        acp::ToolKind::SwitchMode => ToolKind::SwitchMode,
        _ => ToolKind::Other,
    }
}

fn kind_name(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        ToolKind::SwitchMode => "switch_mode",
        ToolKind::Other => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(fields: Value) -> acp::ToolCallUpdate {
        let mut call = json!({ "toolCallId": "call" });
        call.as_object_mut().unwrap().extend(fields.as_object().cloned().unwrap());
        serde_json::from_value(call).unwrap()
    }

    /// What is told: the attempts that are announced with their inputs, and what becomes of them.
    fn told(drafts: &[Draft]) -> Vec<String> {
        let told = drafts.iter().map(|draft| match &draft.fact {
            Fact::ToolRequested(request) => format!("{} {}", request.identity.attempt, request.input),
            Fact::ToolCompleted(_) => "completed".to_owned(),
            other => panic!("{other:?}"),
        });
        told.collect()
    }

    fn update(tools: &mut Tools, fields: Value) -> Vec<String> {
        let mut drafts = Vec::new();
        tools.update(call(fields), &mut drafts);
        told(&drafts)
    }

    /// The attempt that is asked about, its input, and what is told before.
    fn ask(tools: &mut Tools, fields: Value) -> (u32, Value, Vec<String>) {
        let mut drafts = Vec::new();
        let asked = tools.asked(call(fields), &mut drafts);
        (asked.identity.attempt, asked.input, told(&drafts))
    }

    fn command(command: &str) -> Value {
        json!({ "rawInput": { "command": command } })
    }

    #[test]
    fn every_question_is_an_attempt_of_its_own() {
        let mut tools = Tools::default();
        let input = |command: &str| json!({ "command": command });
        assert_eq!(ask(&mut tools, command("ls")), (1, input("ls"), vec![]));
        assert_eq!(ask(&mut tools, command("ls")), (2, input("ls"), vec![]));
        assert_eq!(ask(&mut tools, command("rm")), (3, input("rm"), vec![]));
        update(&mut tools, json!({ "status": "completed" }));
        assert_eq!(ask(&mut tools, command("rm")), (4, input("rm"), vec![]));
    }

    #[test]
    fn what_streams_in_before_the_question_is_one_attempt() {
        let mut tools = Tools::default();
        assert_eq!(update(&mut tools, json!({ "status": "pending", "kind": "other" })), [""; 0]);
        assert_eq!(update(&mut tools, json!({ "status": "in_progress", "title": "Terminal" })), [""; 0]);
        assert_eq!(update(&mut tools, json!({ "kind": "execute", "rawInput": {} })), [""; 0]);
        let (attempt, input, told) = ask(&mut tools, command("ls"));
        assert_eq!((attempt, input, told), (1, json!({ "command": "ls" }), vec![]));
    }

    #[test]
    fn a_question_without_an_input_is_about_what_was_announced() {
        let mut tools = Tools::default();
        update(&mut tools, command("ls"));
        assert_eq!(ask(&mut tools, json!({ "title": "List" })), (1, json!({ "command": "ls" }), vec![]));
    }

    #[test]
    fn a_question_about_something_else_than_was_announced_shows_both() {
        let mut tools = Tools::default();
        update(&mut tools, command("rm"));
        let (attempt, input, told) = ask(&mut tools, command("ls"));
        assert_eq!((attempt, input, told), (2, json!({ "command": "ls" }), vec![r#"1 {"command":"rm"}"#.to_owned()]));
    }

    #[test]
    fn a_field_that_was_announced_is_not_taken_back_by_the_question() {
        let mut tools = Tools::default();
        update(&mut tools, json!({ "rawInput": { "command": "ls", "cwd": "/etc" }, "status": "in_progress" }));
        let both = json!({ "command": "ls", "cwd": "/etc" });
        assert_eq!(ask(&mut tools, command("ls")), (1, both, vec![]));
    }

    #[test]
    fn a_claim_can_only_make_a_call_stricter() {
        let asked = |announced: &str, claimed: &str| {
            let mut tools = Tools::default();
            tools.update(call(json!({ "kind": announced, "rawInput": { "path": "a" } })), &mut Vec::new());
            tools.asked(call(json!({ "kind": claimed })), &mut Vec::new()).kind.unwrap()
        };
        assert_eq!(asked("edit", "read"), ToolKind::Edit);
        assert_eq!(asked("read", "edit"), ToolKind::Edit);
        assert_eq!(asked("delete", "execute"), ToolKind::Delete);
        assert_eq!(asked("read", "other"), ToolKind::Other);
        assert_eq!(asked("other", "read"), ToolKind::Read, "before its kind is known, a call is announced as other");
    }

    #[test]
    fn a_kind_alone_says_nothing_in_a_question() {
        let asked = |fields: Value| Tools::default().asked(call(fields), &mut Vec::new()).kind;
        for claimed in ["read", "search", "think", "fetch"] {
            assert_eq!(asked(json!({ "kind": claimed, "title": "Look" })), None, "{claimed}");
            let content = json!([{ "type": "content", "content": { "type": "text", "text": "a look" } }]);
            assert_eq!(asked(json!({ "kind": claimed, "rawInput": {}, "content": content })), None, "{claimed}");
        }
        assert_eq!(asked(json!({ "kind": "execute", "title": "ls" })), Some(ToolKind::Execute));
        assert_eq!(asked(json!({ "kind": "read", "locations": [{ "path": "a" }] })), Some(ToolKind::Read));
    }

    #[test]
    fn whatever_a_call_becomes_after_the_question_is_another_attempt_and_output_is_not() {
        let places = |path: &str| json!({ "locations": [{ "path": path, "line": 3 }] });
        let cases = [
            (command("rm"), Some(r#"2 {"path":"a","command":"rm"}"#)),
            (json!({ "kind": "execute" }), Some(r#"2 {"path":"a"}"#)),
            (json!({ "name": "Bash" }), Some(r#"2 {"path":"a"}"#)),
            (places("/etc/passwd"), Some(r#"2 {"path":"a","locations":["/etc/passwd"]}"#)),
            (places("a"), None),
            (json!({ "locations": [] }), None),
            (json!({ "kind": "think" }), None),
            (json!({ "title": "Reading", "rawInput": {} }), None),
            (json!({ "rawOutput": "text", "content": [] }), None),
        ];
        for (change, expected) in cases {
            let mut tools = Tools::default();
            ask(&mut tools, json!({ "kind": "read", "rawInput": { "path": "a" } }));
            let told = update(&mut tools, change.clone());
            assert_eq!(told.first().map(String::as_str), expected, "{change}");
            assert_eq!(update(&mut tools, change.clone()), [""; 0], "said twice, told once: {change}");
        }
    }

    #[test]
    fn the_title_of_a_command_without_an_input_is_the_command() {
        let mut tools = Tools::default();
        ask(&mut tools, json!({ "kind": "execute", "title": "ls" }));
        assert_eq!(update(&mut tools, json!({ "title": "rm" })).len(), 1);
        let mut tools = Tools::default();
        ask(&mut tools, json!({ "kind": "read", "title": "Reading" }));
        assert_eq!(update(&mut tools, json!({ "title": "Read 3 lines" })), [""; 0]);
    }

    #[test]
    fn a_call_that_is_over_and_turns_out_to_have_been_something_else_is_told_again() {
        let mut tools = Tools::default();
        update(&mut tools, json!({ "status": "completed", "rawInput": { "path": "a" } }));
        let told = update(&mut tools, json!({ "rawInput": { "path": "b" } }));
        assert_eq!(told, [r#"2 {"path":"b"}"#, "completed"]);
    }
}
