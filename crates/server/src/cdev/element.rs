//! Folds the events of a session into elements: calls are joined with their results, and deltas of thinking are
//! concatenated.

use std::collections::HashMap;
use std::sync::Arc;

use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::payload::{ModelOutputDeltaKind, QUESTION_TOOL, ToolCallRequestedPayload};
use roost_model::time::Timestamp;
use roost_rpc::call::ToolCallView;
use roost_rpc::conversation::{ContentBlock, Message, Speaker};
use roost_rpc::element::{CallStatus, Element, ElementContent, ToolCallElement, ToolResultElement};
use roost_rpc::file_change;
use roost_rpc::shorten::short;
use serde_json::{Map, Value};

use super::truncate::ByteBudget;
use super::{diff, message, question};

/// The greatest length of a result's summary, in characters.
const SUMMARY_CHARS: usize = 80;
/// The greatest size of an element's text, in bytes.
const TEXT: usize = 64 * 1024;

/// The elements of a session's events, which come in order of `seq`. Of deltas only those of thinking count, because
/// everything else also comes complete.
pub fn elements<'a>(events: impl IntoIterator<Item = &'a NormalizedEvent>) -> Vec<Element> {
    let mut fold = Fold::default();
    events.into_iter().for_each(|event| fold.push_event(event));
    for element in &mut fold.elements {
        if let ElementContent::Thinking { text, .. } = &mut element.content {
            ByteBudget::new(TEXT).text(text);
        }
    }
    fold.elements
}

/// The elements of messages that only a runtime keeps; they hold no thinking.
pub fn native(messages: &[Message]) -> Vec<Element> {
    let mut fold = Fold { ids: "past", ..Fold::default() };
    messages.iter().for_each(|message| fold.push_native(message));
    fold.elements
}

/// The elements of one call, as positions in `Fold::elements`.
struct CallElements {
    call: usize,
    has_diff: bool,
    since: Timestamp,
    result: Option<(usize, String)>,
}

/// The event that an element comes from, and its time.
#[derive(Clone, Copy)]
struct ElementPosition {
    seq: u64,
    time: Timestamp,
}

struct Fold {
    /// The prefix of the elements' ids.
    ids: &'static str,
    elements: Vec<Element>,
    /// The calls and questions of the open task, by id.
    calls: HashMap<String, CallElements>,
    /// The block of thinking that is being appended to, and its element.
    thinking: Option<(Arc<str>, usize)>,
    /// The last event that made elements, and how many.
    last: (u64, usize),
}

impl Default for Fold {
    fn default() -> Self {
        Self { ids: "elem", elements: Vec::new(), calls: HashMap::new(), thinking: None, last: (0, 0) }
    }
}

/// The result of a call, as its element shows it.
struct CallEnd<'a> {
    id: &'a str,
    tool: &'a str,
    text: String,
    error_code: Option<&'static str>,
    is_error: bool,
    truncated: bool,
}

impl Fold {
    fn push_event(&mut self, event: &NormalizedEvent) {
        let at = ElementPosition { seq: event.seq, time: event.time };
        match &event.body {
            EventBody::TaskStarted(_) | EventBody::TaskSteered(_) | EventBody::ModelOutputCompleted(_) => {
                if let Some(message) = message::from_event(event) {
                    self.push_text(at, &message);
                }
            }
            EventBody::ModelOutputDelta(delta) if delta.kind == ModelOutputDeltaKind::ReasoningDelta => {
                self.append_thinking(at, &delta.block_id, &delta.delta);
            }
            EventBody::ToolCallRequested(call) if call.name != QUESTION_TOOL => self.begin_call(at, call),
            EventBody::ToolCallDenied(call) if call.name != QUESTION_TOOL => {
                let (id, tool) = (call.identity.tool_call_id.as_str(), call.name.as_str());
                let (text, error_code) = (call.reason.clone(), Some("DENIED"));
                self.end_call(at, CallEnd { id, tool, text, error_code, is_error: true, truncated: false });
            }
            EventBody::ToolCallCompleted(call) if call.name != QUESTION_TOOL => {
                let (id, tool) = (call.identity.tool_call_id.as_str(), call.name.as_str());
                let (is_error, truncated) = (call.is_error.unwrap_or(false), call.result_ref.is_some());
                let text = message::completed_text(call);
                if let Some(result) = call.result_preview.as_ref().filter(|_| !truncated) {
                    self.push_diffs(at, id, result);
                }
                self.end_call(at, CallEnd { id, tool, text, error_code: None, is_error, truncated });
            }
            EventBody::QuestionAsked(asked) => {
                let input = question::input(asked);
                let id = asked.question_id.as_str();
                let display = format!("{}({})", QUESTION_TOOL, short(&asked.message, SUMMARY_CHARS));
                self.push_call(at, id, QUESTION_TOOL, display, &input);
            }
            EventBody::QuestionResolved(resolved) => {
                let ContentBlock::ToolResult { content, is_error, .. } = question::tool_result(resolved) else {
                    return;
                };
                let (id, text) = (resolved.question_id.as_str(), content);
                let tool = QUESTION_TOOL;
                self.end_call(at, CallEnd { id, tool, text, error_code: None, is_error, truncated: false });
            }
            EventBody::TaskCompleted(_) => self.end_task(),
            EventBody::TaskStopped(stopped) => {
                self.interrupt_task(at, &format!("stopped: {}", stopped.reason));
            }
            EventBody::TaskFailed(failed) => {
                self.interrupt_task(at, &format!("task failed: {}", failed.reason));
            }
            _ => {}
        }
    }

    fn push(&mut self, at: ElementPosition, content: ElementContent) -> usize {
        self.last = if self.last.0 == at.seq { (at.seq, self.last.1 + 1) } else { (at.seq, 0) };
        let id = match self.last {
            (seq, 0) => format!("{}_{seq}", self.ids),
            (seq, more) => format!("{}_{seq}_{more}", self.ids),
        };
        self.elements.push(Element { id, timestamp: at.time, content });
        self.elements.len() - 1
    }

    fn push_text(&mut self, at: ElementPosition, Message { speaker, message, .. }: &Message) {
        let texts = message.content.iter().filter_map(|block| match block {
            ContentBlock::Text { text } => Some(text.as_str()),
            ContentBlock::Thinking { .. } | ContentBlock::ToolUse { .. } | ContentBlock::ToolResult { .. } => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        let content = match speaker {
            Speaker::Assistant => ElementContent::AssistantText { text, model: message.model.clone() },
            Speaker::User | Speaker::System => ElementContent::UserInput { text },
        };
        self.push(at, content);
    }

    /// Adds a message that a runtime keeps. Each has exactly one block.
    fn push_native(&mut self, message: &Message) {
        let at = ElementPosition { seq: message.id, time: message.timestamp };
        match message.message.content.first() {
            Some(ContentBlock::Text { .. }) => self.push_text(at, message),
            Some(ContentBlock::Thinking { text }) => self.append_thinking(at, &message.uuid.as_str().into(), text),
            Some(ContentBlock::ToolUse { id, name, input }) => {
                let input = Value::Object(input.clone());
                let call = ToolCallView { name, kind: None, input: &input };
                self.push_call(at, id, name, call.display(), &input);
                if call.edits() {
                    self.push_diffs(at, id, &input);
                }
            }
            Some(ContentBlock::ToolResult { tool_use_id, content, is_error }) => {
                let tool = self.tool_name(tool_use_id);
                let (text, is_error) = (content.clone(), *is_error);
                self.end_call(
                    at,
                    CallEnd { id: tool_use_id, tool: &tool, text, error_code: None, is_error, truncated: false },
                );
            }
            None => {}
        }
    }

    /// The tool of a call; empty if the call is unknown.
    fn tool_name(&self, id: &str) -> String {
        match self.calls.get(id).map(|shown| &self.elements[shown.call].content) {
            Some(ElementContent::ToolCall(call)) => call.tool.clone(),
            _ => String::new(),
        }
    }

    fn append_thinking(&mut self, at: ElementPosition, block: &Arc<str>, delta: &str) {
        let open = self.thinking.as_ref().filter(|(open, _)| open == block).map(|(_, index)| *index);
        let index = open.unwrap_or_else(|| {
            let index = self.push(at, ElementContent::Thinking { text: String::new(), collapsed: true });
            self.thinking = Some((block.clone(), index));
            index
        });
        if let ElementContent::Thinking { text, .. } = &mut self.elements[index].content {
            text.push_str(delta);
        }
    }

    fn begin_call(&mut self, at: ElementPosition, requested: &ToolCallRequestedPayload) {
        let ToolCallRequestedPayload { identity, name, input, input_ref, kind, title: _ } = requested;
        let call = ToolCallView { name, kind: *kind, input };
        let id = identity.tool_call_id.as_str();
        self.push_call(at, id, name, call.display(), input);
        // A cut input would show a change that nobody makes.
        if input_ref.is_none() && call.edits() {
            self.push_diffs(at, id, input);
        }
    }

    fn push_call(&mut self, at: ElementPosition, id: &str, tool: &str, display: String, input: &Value) {
        let element = ToolCallElement {
            tool: tool.to_owned(),
            tool_id: id.to_owned(),
            display,
            params: params(message::object(input.clone())),
            status: CallStatus::Running,
            duration_ms: None,
        };
        let call = self.push(at, ElementContent::ToolCall(element));
        self.calls.insert(id.to_owned(), CallElements { call, has_diff: false, since: at.time, result: None });
    }

    /// Adds the diffs that an input or a result contains, once for each call.
    fn push_diffs(&mut self, at: ElementPosition, id: &str, value: &Value) {
        if self.calls.get(id).is_none_or(|shown| shown.has_diff) {
            return;
        }
        let diffs: Vec<_> = file_change::changes(value).iter().filter_map(|change| diff::diff(id, change)).collect();
        if let Some(shown) = self.calls.get_mut(id) {
            shown.has_diff = !diffs.is_empty();
        }
        for diff in diffs {
            self.push(at, ElementContent::Diff(diff));
        }
    }

    fn end_call(&mut self, at: ElementPosition, end: CallEnd<'_>) {
        let CallEnd { id, tool, text, error_code, is_error, truncated } = end;
        let status = if is_error { CallStatus::Error } else { CallStatus::Completed };
        let since = self.calls.get(id).map(|shown| shown.since);
        self.set_status(id, status, since.map(|since| at.time.as_millis().abs_diff(since.as_millis())));
        let mut full_content = text.clone();
        ByteBudget::new(TEXT).text(&mut full_content);
        let summary = short(text.lines().next().unwrap_or_default(), SUMMARY_CHARS - 1);
        let result = ToolResultElement {
            tool_call_id: id.to_owned(),
            tool_name: tool.to_owned(),
            is_error,
            error_code: error_code.map(Into::into),
            line_count: full_content.lines().count(),
            expandable: summary != full_content,
            truncated: truncated || full_content != text,
            summary,
            full_content,
        };
        let index = self.push(at, ElementContent::ToolResult(result));
        if let Some(shown) = self.calls.get_mut(id) {
            shown.result = Some((index, text));
        }
    }

    fn set_status(&mut self, id: &str, status: CallStatus, duration_ms: Option<u64>) {
        let Some(shown) = self.calls.get(id) else { return };
        if let ElementContent::ToolCall(call) = &mut self.elements[shown.call].content {
            call.status = status;
            call.duration_ms = duration_ms.or(call.duration_ms);
        }
    }

    /// Marks the open calls of a stopped or failed task as interrupted. The log has closed them with `message` as their
    /// result just before; those results are replaced.
    fn interrupt_task(&mut self, at: ElementPosition, message: &str) {
        let cut = |shown: &CallElements| shown.result.as_ref().is_none_or(|(_, text)| text == message);
        let mut cut: Vec<_> = self.calls.iter().filter(|(_, shown)| cut(shown)).map(|(id, _)| id.clone()).collect();
        cut.sort_by_key(|id| self.calls.get(id).map(|shown| shown.call));
        if cut.is_empty() {
            let (tool_call_id, message) = (String::new(), message.to_owned());
            self.push(at, ElementContent::Interrupted { tool_call_id, message });
        }
        for id in cut {
            self.set_status(&id, CallStatus::Interrupted, None);
            let result = self.calls.get(&id).and_then(|shown| shown.result.as_ref()).map(|(index, _)| *index);
            let content = ElementContent::Interrupted { tool_call_id: id, message: message.to_owned() };
            match result {
                Some(index) => self.elements[index].content = content,
                None => {
                    self.push(at, content);
                }
            }
        }
        self.end_task();
    }

    fn end_task(&mut self) {
        self.calls.clear();
        self.thinking = None;
    }
}

/// A tool's input as texts, cut to `TEXT` bytes in all.
fn params(mut input: Map<String, Value>) -> std::collections::BTreeMap<String, String> {
    ByteBudget::new(TEXT).fields(&mut input);
    let text = |value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    input.into_iter().map(|(name, value)| (name, text(value))).collect()
}
