//! What the agent says, as facts. Pure: lines in, drafts out.

use std::sync::Arc;

use agent_client_protocol_schema::v1 as acp;
use roost_engine::adapter::{Draft, Fact};
use roost_model::content::AssistantContentBlock;
use roost_model::payload::{
    ContextFill, ModelOutputCompletedPayload, ModelOutputDeltaKind, ModelOutputDeltaPayload, NoticeLevel, NoticeSource,
    PlanEntry, PlanPriority, PlanStatus, PlanUpdatedPayload, RuntimeNoticePayload, SessionUpdatedPayload,
    ToolCallRequestedPayload, UsageReportedPayload,
};
use serde_json::Value;
use serde_json::value::RawValue;

use super::cost::Spent;
use super::presets::Observed;
use super::tools::Tools;
use super::wire::Chunk;

/// What is said of an update that cannot be read.
pub(super) const UNKNOWN_UPDATE: &str = "an update that Roost does not know";

/// The block that is being written.
#[derive(Debug)]
struct Block {
    id: Arc<str>,
    thought: bool,
    message: Option<String>,
    text: String,
}

/// Turns one task's messages into drafts.
#[derive(Debug, Default)]
pub(super) struct Mapper {
    pub(super) tools: Tools,
    block: Option<Block>,
    blocks: usize,
}

impl Mapper {
    /// For an agent that does this.
    pub(super) fn of(observed: Observed) -> Self {
        Self { tools: Tools::of(observed), ..Self::default() }
    }

    /// A piece of text; the hot path.
    pub(super) fn chunk(&mut self, chunk: Chunk<'_>, drafts: &mut Vec<Draft>) {
        let same = self.block.as_ref().is_some_and(|block| {
            block.thought == chunk.thought && block.message.as_deref() == chunk.message.as_deref()
        });
        if !same {
            self.end_block(drafts);
            self.blocks += 1;
            let id = format!("block_{}", self.blocks).into();
            let message = chunk.message.map(Into::into);
            self.block = Some(Block { id, thought: chunk.thought, message, text: String::new() });
        }
        let Some(block) = &mut self.block else { return };
        if chunk.text.is_empty() {
            return;
        }
        let kind = if block.thought {
            ModelOutputDeltaKind::ReasoningDelta
        } else {
            block.text.push_str(&chunk.text);
            ModelOutputDeltaKind::TextDelta
        };
        let delta = ModelOutputDeltaPayload {
            kind,
            block_id: block.id.clone(),
            delta: chunk.text.into_owned(),
            tool_call_id: None,
            language: None,
        };
        drafts.push(Fact::Delta(delta).into());
    }

    /// Any other update of the session.
    pub(super) fn update(&mut self, params: &RawValue, spent: &mut Spent, drafts: &mut Vec<Draft>) {
        use acp::SessionUpdate as Update;
        let Ok(acp::SessionNotification { update, .. }) = serde_json::from_str(params.get()) else {
            drafts.push(unknown(UNKNOWN_UPDATE, params));
            return;
        };
        match update {
            // What the user said is in the log already.
            Update::UserMessageChunk(_) => {}
            Update::AgentMessageChunk(chunk) | Update::AgentThoughtChunk(chunk) => {
                let message = format!("a piece of output that is not text ({})", content_kind(&chunk.content));
                drafts.push(unknown(&message, params));
            }
            Update::ToolCall(call) => {
                self.end_block(drafts);
                self.tools.update(announced(call), drafts);
            }
            Update::ToolCallUpdate(update) => {
                self.end_block(drafts);
                self.tools.update(update, drafts);
            }
            Update::Plan(plan) => drafts.push(Fact::Plan(self::plan(plan)).into()),
            Update::UsageUpdate(usage) => {
                let fact = Fact::Usage(fill(usage, spent));
                drafts.push(Draft { fact, raw: serde_json::from_str(params.get()).ok() });
            }
            Update::SessionInfoUpdate(info) => {
                if let Some(title) = info.title.take() {
                    drafts
                        .push(Fact::Session(SessionUpdatedPayload { title: Some(title), ..Default::default() }).into());
                }
            }
            Update::AvailableCommandsUpdate(_) => drafts.push(known("the agent's commands changed", params)),
            Update::CurrentModeUpdate(_) => drafts.push(known("the agent's mode changed", params)),
            Update::ConfigOptionUpdate(_) => drafts.push(known("the agent's options changed", params)),
            _ => drafts.push(unknown("an update that Roost does not show", params)),
        }
    }

    /// The agent asks for permission.
    pub(super) fn asked(&mut self, call: acp::ToolCallUpdate, drafts: &mut Vec<Draft>) -> ToolCallRequestedPayload {
        self.end_block(drafts);
        self.tools.asked(call, drafts)
    }

    /// The turn is over: whatever is being written is finished.
    pub(super) fn end(&mut self, drafts: &mut Vec<Draft>) {
        self.end_block(drafts);
        self.tools.flush(drafts);
    }

    fn end_block(&mut self, drafts: &mut Vec<Draft>) {
        let Some(Block { thought: false, text, .. }) = self.block.take() else { return };
        if !text.is_empty() {
            let content = vec![AssistantContentBlock::Text { text }];
            drafts.push(Fact::Output(ModelOutputCompletedPayload { content }).into());
        }
    }
}

/// The usage in the answer to a prompt, in any of the places where agents put it, beside that place as it came.
pub(super) fn prompt_usage(result: &Value) -> Option<Draft> {
    let number = |value: &Value, name: &str| value.get(name).and_then(Value::as_u64);
    let places = [result.get("usage"), result.pointer("/_meta/usage")];
    let usage = places.into_iter().flatten().find(|usage| usage.is_object());
    if let Some(usage) = usage {
        let read = number(usage, "cachedReadTokens");
        let cached = read.unwrap_or(0) + number(usage, "cachedWriteTokens").unwrap_or(0);
        let told = UsageReportedPayload {
            // ACP counts cached tokens apart; our one shape includes them.
            input_tokens: number(usage, "inputTokens").map(|tokens| tokens + cached),
            cached_input_tokens: read,
            output_tokens: number(usage, "outputTokens"),
            reasoning_tokens: number(usage, "thoughtTokens"),
            cost_usd: None,
            context: None,
        };
        return Some(Draft { fact: Fact::Usage(told), raw: Some(usage.clone()) });
    }
    let quota = result.pointer("/_meta/quota")?;
    let count = quota.get("token_count")?;
    let told = UsageReportedPayload {
        input_tokens: number(count, "input_tokens"),
        cached_input_tokens: number(count, "cached_input_tokens"),
        output_tokens: number(count, "output_tokens"),
        reasoning_tokens: None,
        cost_usd: None,
        context: None,
    };
    Some(Draft { fact: Fact::Usage(told), raw: Some(quota.clone()) })
}

/// The sum that a session has cost so far, if this update tells it.
pub(super) fn cost_so_far(told: &acp::SessionNotification) -> Option<f64> {
    match &told.update {
        acp::SessionUpdate::UsageUpdate(usage) => dollars(usage),
        _ => None,
    }
}

fn dollars(usage: &acp::UsageUpdate) -> Option<f64> {
    usage.cost.as_ref().filter(|cost| cost.currency == "USD").map(|cost| cost.amount)
}

/// Whether an agent that counts tokens ended its turn as usual and counted none: no answer of its model came to an end.
pub(super) fn counts_no_answer(result: &Value) -> bool {
    let count = result.pointer("/_meta/quota/token_count");
    let none = |count: &Value| count["input_tokens"] == 0 && count["output_tokens"] == 0;
    result["stopReason"] == "end_turn" && count.is_some_and(none)
}

/// A line that is not protocol.
pub(super) fn noise(source: NoticeSource, message: impl Into<String>) -> Draft {
    Fact::Notice(RuntimeNoticePayload { level: NoticeLevel::Info, source, message: message.into() }).into()
}

/// A line that was too long to be read: something of the conversation is missing.
pub(super) fn skipped(bytes: u64) -> Draft {
    let message = format!("a line of {bytes} bytes was skipped; the longest allowed has 64 MiB");
    let (level, source) = (NoticeLevel::Warning, NoticeSource::Stdout);
    Fact::Notice(RuntimeNoticePayload { level, source, message }).into()
}

/// A message about something that is not open here; it is kept as it came.
pub(super) fn foreign(message: String, raw: Option<Value>) -> Draft {
    let notice = RuntimeNoticePayload { level: NoticeLevel::Warning, source: NoticeSource::Protocol, message };
    Draft { fact: Fact::Notice(notice), raw }
}

/// A protocol message without a meaning here; it is kept as it came.
pub(super) fn unknown(message: &str, raw: &RawValue) -> Draft {
    notice(NoticeLevel::Warning, message, raw)
}

fn known(message: &str, raw: &RawValue) -> Draft {
    notice(NoticeLevel::Info, message, raw)
}

fn notice(level: NoticeLevel, message: &str, raw: &RawValue) -> Draft {
    let notice = RuntimeNoticePayload { level, source: NoticeSource::Protocol, message: message.into() };
    Draft { fact: Fact::Notice(notice), raw: serde_json::from_str(raw.get()).ok() }
}

fn announced(call: acp::ToolCall) -> acp::ToolCallUpdate {
    let mut fields = acp::ToolCallUpdateFields::default();
    fields.kind = Some(call.kind);
    fields.status = Some(call.status);
    fields.title = Some(call.title);
    fields.name = call.name;
    fields.content = Some(call.content);
    fields.locations = Some(call.locations);
    fields.raw_input = call.raw_input;
    fields.raw_output = call.raw_output;
    acp::ToolCallUpdate::new(call.tool_call_id, fields)
}

fn plan(plan: acp::Plan) -> PlanUpdatedPayload {
    let entries = plan.entries.into_iter().map(|entry| PlanEntry {
        content: entry.content,
        priority: match entry.priority {
            acp::PlanEntryPriority::High => PlanPriority::High,
            acp::PlanEntryPriority::Low => PlanPriority::Low,
            _ => PlanPriority::Medium,
        },
        status: match entry.status {
            acp::PlanEntryStatus::InProgress => PlanStatus::InProgress,
            acp::PlanEntryStatus::Completed => PlanStatus::Completed,
            _ => PlanStatus::Pending,
        },
    });
    PlanUpdatedPayload { entries: entries.collect() }
}

fn fill(usage: acp::UsageUpdate, spent: &mut Spent) -> UsageReportedPayload {
    UsageReportedPayload {
        input_tokens: None,
        cached_input_tokens: None,
        output_tokens: None,
        reasoning_tokens: None,
        cost_usd: dollars(&usage).and_then(|total| spent.now(total)),
        context: Some(ContextFill { used: usage.used, size: usage.size }),
    }
}

fn content_kind(content: &acp::ContentBlock) -> &'static str {
    match content {
        acp::ContentBlock::Text(_) => "text",
        acp::ContentBlock::Image(_) => "image",
        acp::ContentBlock::Audio(_) => "audio",
        acp::ContentBlock::ResourceLink(_) => "link",
        acp::ContentBlock::Resource(_) => "resource",
        _ => "unknown",
    }
}
