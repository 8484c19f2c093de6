//! The agent's tool calls: ACP announces them early, late or never, and says the same thing several times.

use std::collections::HashMap;

use agent_client_protocol::v1::schema as acp;
use roost_engine::adapter::{Draft, Fact, ToolOutcome};
use roost_proto::canonical;
use roost_proto::ids::ToolCallId;
use roost_proto::payload::{OutputStream, ToolCallRequestedPayload, ToolKind};
use roost_proto::tool::ToolCallIdentity;
use serde_json::{Value, json};

use super::presets::Observed;

/// What is known of one attempt at a tool call.
#[derive(Debug, Default)]
struct Tool {
    fields: acp::ToolCallUpdateFields,
    /// The attempt before this one.
    before: Option<ToolCallIdentity>,
    /// The identity, once the call has been reported.
    identity: Option<ToolCallIdentity>,
    /// The input that the agent asked about.
    asked: Option<String>,
    running: bool,
    done: bool,
    /// The output that was passed on already.
    shown: String,
}

impl Tool {
    /// Another attempt at the call: what was decided about the last one does not count for it.
    fn again(&mut self) {
        *self = Self { before: self.identity.take(), ..Self::default() };
    }
}

/// A request for permission.
pub(super) struct Asked {
    /// The call that it is about.
    pub(super) call: ToolCallId,
    /// Requests about an earlier input of the same call are void.
    pub(super) anew: bool,
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
        self.known.values().any(|tool| tool.running && !tool.done)
    }

    /// Takes a new or changed call and reports what it means.
    pub(super) fn update(&mut self, update: acp::ToolCallUpdate, drafts: &mut Vec<Draft>) {
        let native = update.tool_call_id.0.to_string();
        let status = update.fields.status;
        if status == Some(acp::ToolCallStatus::Pending) {
            self.again_if_done(&native);
        }
        let tool = self.merge(&native, update.fields);
        match status {
            Some(acp::ToolCallStatus::Completed) => Self::complete(&native, tool, false, drafts),
            Some(acp::ToolCallStatus::Failed) => Self::complete(&native, tool, true, drafts),
            // Some agents say "in progress" and then ask: the call runs only when it is allowed or shows output.
            Some(acp::ToolCallStatus::InProgress) => {
                tool.running = true;
                Self::report(&native, tool, drafts);
                Self::show_output(tool, drafts);
            }
            _ if tool.running => Self::show_output(tool, drafts),
            // A pending call may still get its input, and what it shows is a preview, not output.
            _ => {}
        }
    }

    /// The agent asks about a call, which it may not have announced before. One that is over, or that was asked about
    /// with another input, is another attempt: leave for the one is no leave for the other.
    pub(super) fn asked(&mut self, update: acp::ToolCallUpdate, drafts: &mut Vec<Draft>) -> Asked {
        let native = update.tool_call_id.0.to_string();
        self.again_if_done(&native);
        let tool = self.merge(&native, update.fields);
        let hash = canonical::hash(&input(&tool.fields));
        let anew = tool.asked.as_ref().is_some_and(|asked| *asked != hash);
        if anew {
            let call = Self::report(&native, tool, drafts);
            let result = Some("the agent asked about another input instead".into());
            drafts.push(Fact::ToolCompleted(ToolOutcome::of_runtime(call, result, true)).into());
            let fields = std::mem::take(&mut tool.fields);
            tool.again();
            tool.fields = fields;
        }
        tool.asked = Some(hash);
        Asked { call: Self::report(&native, tool, drafts), anew }
    }

    fn again_if_done(&mut self, native: &str) {
        if let Some(tool) = self.known.get_mut(native).filter(|tool| tool.done) {
            tool.again();
        }
    }

    /// Reports the calls that were announced and never became more.
    pub(super) fn flush(&mut self, drafts: &mut Vec<Draft>) {
        for (native, tool) in &mut self.known {
            Self::report(native, tool, drafts);
        }
    }

    fn merge(&mut self, native: &str, mut new: acp::ToolCallUpdateFields) -> &mut Tool {
        if let Some(Value::Object(input)) = &mut new.raw_input {
            input.retain(|field, _| !self.not_input.contains(&field.as_str()));
        }
        if let (Some(field), Some(Value::Object(output))) = (self.output_field, &mut new.raw_output)
            && let Some(told) = output.remove(field)
        {
            new.raw_output = Some(told);
        }
        let tool = self.known.entry(native.to_owned()).or_default();
        let fields = &mut tool.fields;
        fields.kind = new.kind.or(fields.kind);
        fields.title = new.title.or(fields.title.take());
        fields.name = new.name.or(fields.name.take());
        fields.content = new.content.or(fields.content.take());
        fields.locations = new.locations.or(fields.locations.take());
        fields.raw_input = new.raw_input.or(fields.raw_input.take());
        fields.raw_output = new.raw_output.or(fields.raw_output.take());
        tool
    }

    fn report(native: &str, tool: &mut Tool, drafts: &mut Vec<Draft>) -> ToolCallId {
        if let Some(identity) = &tool.identity {
            return identity.tool_call_id.clone();
        }
        let input = input(&tool.fields);
        let first = ToolCallIdentity::first(Some(native.to_owned()), &input);
        let identity = match &tool.before {
            Some(before) => {
                let (tool_call_id, attempt) = (before.tool_call_id.clone(), before.attempt + 1);
                ToolCallIdentity { tool_call_id, attempt, ..first }
            }
            None => first,
        };
        let id = identity.tool_call_id.clone();
        tool.identity = Some(identity.clone());
        let kind = tool.fields.kind.map(kind);
        let named = tool.fields.name.clone();
        let name = named.unwrap_or_else(|| kind.map_or("other", kind_name).to_owned());
        let title = tool.fields.title.clone();
        drafts.push(
            Fact::ToolRequested(ToolCallRequestedPayload { identity, name, input, input_ref: None, title, kind })
                .into(),
        );
        id
    }

    fn complete(native: &str, tool: &mut Tool, is_error: bool, drafts: &mut Vec<Draft>) {
        let call = Self::report(native, tool, drafts);
        if std::mem::replace(&mut tool.done, true) {
            return;
        }
        if !is_error {
            Self::show_output(tool, drafts);
        }
        let result = tool.fields.raw_output.clone().or_else(|| content(&tool.fields));
        drafts.push(Fact::ToolCompleted(ToolOutcome::of_runtime(call, result, is_error)).into());
    }

    /// Passes on what was added to a running call's text since the last time; a text that was replaced is not output.
    fn show_output(tool: &mut Tool, drafts: &mut Vec<Draft>) {
        let Some(identity) = &tool.identity else { return };
        let text = text(&tool.fields);
        let Some(added) = text.strip_prefix(&tool.shown).filter(|added| !added.is_empty()) else { return };
        let (call, delta) = (identity.tool_call_id.clone(), added.to_owned());
        drafts.push(Fact::ToolOutputDelta { call, stream: OutputStream::Stdout, delta }.into());
        tool.shown = text;
    }
}

fn says_something(input: &Value) -> bool {
    match input {
        Value::Null => false,
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    }
}

/// The call's input; agents that send none are described by what they show instead.
fn input(fields: &acp::ToolCallUpdateFields) -> Value {
    if let Some(raw) = fields.raw_input.as_ref().filter(|raw| says_something(raw)) {
        return raw.clone();
    }
    let locations = fields.locations.iter().flatten().map(|place| place.path.display().to_string());
    let mut shown = json!({ "title": fields.title, "locations": locations.collect::<Vec<_>>() });
    if let Some(content) = content(fields) {
        shown["content"] = content;
    }
    shown
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

    fn ask(tools: &mut Tools, command: &str) -> (Asked, Vec<(u32, &'static str)>) {
        let mut drafts = Vec::new();
        let fields = acp::ToolCallUpdateFields::new().raw_input(json!({ "command": command }));
        let asked = tools.asked(acp::ToolCallUpdate::new("call", fields), &mut drafts);
        let told = drafts.iter().map(|draft| match &draft.fact {
            Fact::ToolRequested(request) => (request.identity.attempt, "requested"),
            Fact::ToolCompleted(_) => (0, "completed"),
            other => panic!("{other:?}"),
        });
        (asked, told.collect())
    }

    fn end(tools: &mut Tools) {
        let fields = acp::ToolCallUpdateFields::new().status(acp::ToolCallStatus::Completed);
        tools.update(acp::ToolCallUpdate::new("call", fields), &mut Vec::new());
    }

    #[test]
    fn asking_again_about_the_same_is_the_same_request() {
        let mut tools = Tools::default();
        let (first, told) = ask(&mut tools, "ls");
        assert_eq!(told, [(1, "requested")]);
        let (second, told) = ask(&mut tools, "ls");
        assert_eq!((second.call, second.anew, told), (first.call, false, vec![]));
    }

    #[test]
    fn leave_for_one_input_is_no_leave_for_another() {
        let mut tools = Tools::default();
        let (first, _) = ask(&mut tools, "ls");
        let (second, told) = ask(&mut tools, "rm -rf x");
        assert_eq!((second.call, second.anew), (first.call, true));
        assert_eq!(told, [(0, "completed"), (2, "requested")]);
    }

    #[test]
    fn a_call_that_is_over_is_asked_about_anew() {
        let mut tools = Tools::default();
        let (first, _) = ask(&mut tools, "ls");
        end(&mut tools);
        let (second, told) = ask(&mut tools, "ls");
        assert_eq!((second.call, second.anew), (first.call, false));
        assert_eq!(told, [(2, "requested")]);
    }
}
