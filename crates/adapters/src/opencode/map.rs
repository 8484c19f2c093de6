//! Maps the message parts of a turn to drafts of events. Pure: no I/O.

use std::collections::HashSet;
use std::sync::Arc;

use roost_engine::adapter::{Draft, Fact};
use roost_model::content::AssistantContentBlock;
use roost_model::payload::{
    ModelOutputCompletedPayload, ModelOutputDeltaKind, ModelOutputDeltaPayload, NoticeLevel, NoticeSource, PlanEntry,
    PlanPriority, PlanStatus, PlanUpdatedPayload, RuntimeNoticePayload, UsageReportedPayload,
};
use serde_json::{Value, json};

use super::tools::CallTracker;
use super::wire::{MessagePart, PartKind, Todo, Tokens};

/// A text or a reasoning that is being streamed.
#[derive(Debug)]
struct OutputBlock {
    native: String,
    /// By order and not OpenCode's id, which differs every time the same conversation is replayed.
    id: Arc<str>,
    kind: ModelOutputDeltaKind,
    text: String,
    /// Deltas were missed. Later deltas are then ignored, and the missing rest is sent with the next complete text.
    has_gap: bool,
    done: bool,
}

impl OutputBlock {
    /// Takes the complete text so far, and sends what is new of it.
    fn update_text(&mut self, text: &str, drafts: &mut Vec<Draft>) {
        if let Some(rest) = text.strip_prefix(self.text.as_str()) {
            self.push_delta(rest, drafts);
        }
    }

    /// Takes a delta. It is ignored after a gap, because the text before it is not known.
    fn add(&mut self, delta: &str, drafts: &mut Vec<Draft>) {
        if !self.has_gap {
            self.push_delta(delta, drafts);
        }
    }

    fn push_delta(&mut self, delta: &str, drafts: &mut Vec<Draft>) {
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

/// Maps the message parts of one turn.
#[derive(Debug, Default)]
pub(super) struct PartMapper {
    pub(super) tools: CallTracker,
    blocks: Vec<OutputBlock>,
    /// The ids of steps whose usage was reported; a stream that was opened again repeats them.
    counted_steps: HashSet<String>,
}

impl PartMapper {
    /// Maps a part of an answer of this turn, or a tool call of a subagent.
    pub(super) fn on_part(&mut self, part: MessagePart, drafts: &mut Vec<Draft>) {
        match part.kind {
            PartKind::Text { text, time, .. } => {
                let block = self.block(&part.id, ModelOutputDeltaKind::TextDelta);
                block.update_text(&text, drafts);
                if time.end.is_some() {
                    block.finish(drafts);
                }
            }
            PartKind::Reasoning { text } => {
                self.block(&part.id, ModelOutputDeltaKind::ReasoningDelta).update_text(&text, drafts);
            }
            PartKind::Tool { tool, call, state } => self.tools.on_tool_state(&call, tool, *state, drafts),
            PartKind::StepFinish { tokens, cost } => {
                if self.counted_steps.insert(part.id) {
                    drafts.push(usage_draft(&tokens, cost));
                }
            }
            PartKind::Other => {}
        }
    }

    /// Maps a delta of a text; ignored if the part is unknown.
    pub(super) fn on_delta(&mut self, native: &str, delta: &str, drafts: &mut Vec<Draft>) {
        if let Some(block) = self.blocks.iter_mut().rfind(|block| block.native == native) {
            block.add(delta, drafts);
        }
    }

    /// Called after the event stream was broken: deltas of open texts may be missing.
    pub(super) fn mark_gap(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.has_gap = true);
    }

    /// Called when the provider is asked again: the model begins its answer anew, so what it had said is not completed.
    pub(super) fn discard_open_texts(&mut self) {
        self.blocks.iter_mut().for_each(|block| block.done = true);
    }

    /// Completes the open texts, when the turn is over.
    pub(super) fn on_turn_end(&mut self, drafts: &mut Vec<Draft>) {
        self.blocks.iter_mut().for_each(|block| block.finish(drafts));
    }

    fn block(&mut self, native: &str, kind: ModelOutputDeltaKind) -> &mut OutputBlock {
        let at = self.blocks.iter().position(|block| block.native == native).unwrap_or_else(|| {
            let id = format!("block_{}", self.blocks.len() + 1).into();
            self.blocks.push(OutputBlock {
                native: native.to_owned(),
                id,
                kind,
                text: String::new(),
                has_gap: false,
                done: false,
            });
            self.blocks.len() - 1
        });
        &mut self.blocks[at]
    }
}

/// A warning for people. `raw` is kept with it where the message says less than the event.
pub(super) fn warning(message: String, raw: Option<Value>) -> Draft {
    let (level, source) = (NoticeLevel::Warning, NoticeSource::Protocol);
    Draft { fact: Fact::Notice(RuntimeNoticePayload { level, source, message }), raw }
}

/// A warning about an event that Roost does not know, with the event.
pub(super) fn unknown_event(event: Value) -> Draft {
    let kind = event.get("type").and_then(Value::as_str).unwrap_or("an event without a type");
    warning(format!("Roost does not know what {kind} means"), Some(event))
}

/// The agent's plan, without cancelled steps.
pub(super) fn plan_draft(todos: Vec<Todo>) -> Draft {
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

/// The usage of one request to the model. OpenCode counts cached tokens apart from input; we count them as input.
fn usage_draft(tokens: &Tokens, cost: f64) -> Draft {
    let payload = UsageReportedPayload {
        input_tokens: Some(tokens.input + tokens.cache.read + tokens.cache.write),
        cached_input_tokens: Some(tokens.cache.read),
        output_tokens: Some(tokens.output),
        reasoning_tokens: Some(tokens.reasoning),
        // OpenCode reports 0 for models whose price it does not know.
        cost_usd: Some(cost).filter(|cost| *cost > 0.0),
        context: None,
    };
    Draft { fact: Fact::Usage(payload), raw: Some(json!({ "tokens": tokens, "cost": cost })) }
}
