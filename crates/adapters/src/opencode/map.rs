//! What OpenCode tells of a turn, as facts. Pure: events in, drafts out.

use std::collections::HashSet;
use std::sync::Arc;

use roost_engine::adapter::{Draft, Fact};
use roost_model::content::AssistantContentBlock;
use roost_model::payload::{
    ModelOutputCompletedPayload, ModelOutputDeltaKind, ModelOutputDeltaPayload, NoticeLevel, NoticeSource, PlanEntry,
    PlanPriority, PlanStatus, PlanUpdatedPayload, RuntimeNoticePayload, UsageReportedPayload,
};
use serde_json::{Value, json};

use super::tools::Tools;
use super::wire::{Part, PartKind, Todo, Tokens};

/// A text that is being written.
#[derive(Debug)]
struct Block {
    native: String,
    /// Named by its order, not by OpenCode's id, which differs each time the same story is told.
    id: Arc<str>,
    kind: ModelOutputDeltaKind,
    text: String,
    /// Something of it was not heard: the rest is told once it is whole.
    torn: bool,
    done: bool,
}

impl Block {
    /// The text is this long by now; what is new of it is told.
    fn grow(&mut self, whole: &str, drafts: &mut Vec<Draft>) {
        if let Some(rest) = whole.strip_prefix(self.text.as_str()) {
            self.tell(rest, drafts);
        }
    }

    /// A piece was added to the text.
    fn add(&mut self, delta: &str, drafts: &mut Vec<Draft>) {
        if !self.torn {
            self.tell(delta, drafts);
        }
    }

    fn tell(&mut self, delta: &str, drafts: &mut Vec<Draft>) {
        if !delta.is_empty() && !self.done {
            self.text.push_str(delta);
            let (kind, block_id, delta) = (self.kind, self.id.clone(), delta.to_owned());
            let delta = ModelOutputDeltaPayload { kind, block_id, delta, tool_call_id: None, language: None };
            drafts.push(Fact::Delta(delta).into());
        }
    }

    fn finish(&mut self, drafts: &mut Vec<Draft>) {
        let first = !std::mem::replace(&mut self.done, true);
        if first && self.kind == ModelOutputDeltaKind::TextDelta && !self.text.is_empty() {
            let content = vec![AssistantContentBlock::Text { text: self.text.clone() }];
            drafts.push(Fact::Output(ModelOutputCompletedPayload { content }).into());
        }
    }
}

/// Turns one turn's parts of messages into drafts.
#[derive(Debug, Default)]
pub(super) struct Mapper {
    pub(super) tools: Tools,
    blocks: Vec<Block>,
    /// Steps whose usage was told.
    counted: HashSet<String>,
}

impl Mapper {
    /// A part of an answer of ours, or a tool call of an agent that ours started.
    pub(super) fn part(&mut self, part: Part, drafts: &mut Vec<Draft>) {
        match part.kind {
            PartKind::Text { text, time, .. } => {
                let block = self.block(&part.id, ModelOutputDeltaKind::TextDelta);
                block.grow(&text, drafts);
                if time.end.is_some() {
                    block.finish(drafts);
                }
            }
            PartKind::Reasoning { text } => {
                self.block(&part.id, ModelOutputDeltaKind::ReasoningDelta).grow(&text, drafts);
            }
            PartKind::Tool { tool, call, state } => self.tools.update(&call, tool, *state, drafts),
            PartKind::StepFinish { tokens, cost } => {
                if self.counted.insert(part.id) {
                    drafts.push(used(&tokens, cost));
                }
            }
            PartKind::Other => {}
        }
    }

    /// A piece of a text that was begun before.
    pub(super) fn delta(&mut self, native: &str, delta: &str, drafts: &mut Vec<Draft>) {
        if let Some(block) = self.blocks.iter_mut().rfind(|block| block.native == native) {
            block.add(delta, drafts);
        }
    }

    /// Nobody listened for a while, and pieces of texts may be lost.
    pub(super) fn missed_some(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.torn = true);
    }

    /// The turn is over: whatever is being written is finished.
    pub(super) fn end(&mut self, drafts: &mut Vec<Draft>) {
        self.blocks.iter_mut().for_each(|block| block.finish(drafts));
    }

    fn block(&mut self, native: &str, kind: ModelOutputDeltaKind) -> &mut Block {
        let at = self.blocks.iter().position(|block| block.native == native).unwrap_or_else(|| {
            let id = format!("block_{}", self.blocks.len() + 1).into();
            self.blocks.push(Block {
                native: native.to_owned(),
                id,
                kind,
                text: String::new(),
                torn: false,
                done: false,
            });
            self.blocks.len() - 1
        });
        &mut self.blocks[at]
    }
}

/// A line that is not protocol.
pub(super) fn noise(source: NoticeSource, message: String) -> Draft {
    Fact::Notice(RuntimeNoticePayload { level: NoticeLevel::Info, source, message }).into()
}

/// Something that people should know, kept as it came where our words say less.
pub(super) fn warning(message: String, raw: Option<Value>) -> Draft {
    let (level, source) = (NoticeLevel::Warning, NoticeSource::Protocol);
    Draft { fact: Fact::Notice(RuntimeNoticePayload { level, source, message }), raw }
}

/// An event that nobody knows.
pub(super) fn unknown(event: Value) -> Draft {
    let kind = event.get("type").and_then(Value::as_str).unwrap_or("an event without a type");
    warning(format!("Roost does not know what {kind} means"), Some(event))
}

/// The agent's plan; steps that it gave up are left out.
pub(super) fn planned(todos: Vec<Todo>) -> Draft {
    let entries = todos.into_iter().filter_map(|todo| {
        let status = match todo.status.as_str() {
            "in_progress" => PlanStatus::InProgress,
            "completed" => PlanStatus::Completed,
            "cancelled" => return None,
            _ => PlanStatus::Pending,
        };
        let priority = match todo.priority.as_str() {
            "high" => PlanPriority::High,
            "low" => PlanPriority::Low,
            _ => PlanPriority::Medium,
        };
        Some(PlanEntry { content: todo.content, priority, status })
    });
    Fact::Plan(PlanUpdatedPayload { entries: entries.collect() }).into()
}

/// The usage of one request to the model; OpenCode does not count what was cached as input.
fn used(tokens: &Tokens, cost: f64) -> Draft {
    let payload = UsageReportedPayload {
        input_tokens: Some(tokens.input + tokens.cache.read + tokens.cache.write),
        cached_input_tokens: Some(tokens.cache.read),
        output_tokens: Some(tokens.output),
        reasoning_tokens: Some(tokens.reasoning),
        // It does not know the price of every model, and then says nothing.
        cost_usd: Some(cost).filter(|cost| *cost > 0.0),
        context: None,
    };
    Draft { fact: Fact::Usage(payload), raw: Some(json!({ "tokens": tokens, "cost": cost })) }
}
