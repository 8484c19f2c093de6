//! Turns the agent's updates into facts. Pure: messages in, drafts out.

use std::sync::Arc;

use agent_client_protocol_schema::v1 as acp;
use roost_engine::adapter::{Draft, Fact};
use roost_model::content::AssistantContentBlock;
use roost_model::payload::{
    ContextFill, ModelOutputCompletedPayload, ModelOutputDeltaKind, ModelOutputDeltaPayload, NoticeLevel, NoticeSource,
    PlanEntry, PlanPriority, PlanStatus, PlanUpdatedPayload, SessionUpdatedPayload, ToolCallRequestedPayload,
    UsageReportedPayload,
};
use serde_json::Value;
use serde_json::value::RawValue;

use super::cost::SessionCost;
use super::presets::AgentProfile;
use super::tools::{AcpTools, TurnEnd};
use super::wire::Chunk;
use crate::host::notice;

/// The notice about an update that does not match the schema.
pub(super) const UNKNOWN_UPDATE: &str = "an update that Roost does not know";

/// The block of text that the agent is writing.
#[derive(Debug)]
struct OpenBlock {
    id: Arc<str>,
    thought: bool,
    /// The agent's id of the message; a chunk with another id begins a new block.
    message: Option<String>,
    /// The answer so far; empty for thinking, which is only streamed.
    text: String,
}

/// Turns the updates of one task into drafts.
#[derive(Debug)]
pub(super) struct AcpMapper {
    pub(super) tools: AcpTools,
    block: Option<OpenBlock>,
    /// How many blocks were begun; block ids are made from it.
    blocks: usize,
}

impl AcpMapper {
    /// A mapper for a turn of an agent with this profile.
    pub(super) fn new(profile: AgentProfile) -> Self {
        Self { tools: AcpTools::new(profile), block: None, blocks: 0 }
    }

    /// Handles a text chunk. This is the hot path: nearly all traffic.
    pub(super) fn chunk(&mut self, chunk: Chunk<'_>, drafts: &mut Vec<Draft>) {
        let same = self.block.as_ref().is_some_and(|block| {
            block.thought == chunk.thought && block.message.as_deref() == chunk.message.as_deref()
        });
        if !same {
            self.end_block(drafts);
            self.blocks += 1;
            let id = format!("block_{}", self.blocks).into();
            let message = chunk.message.map(Into::into);
            self.block = Some(OpenBlock { id, thought: chunk.thought, message, text: String::new() });
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

    /// Handles any other update of the session; one that does not match the schema becomes a notice.
    pub(super) fn update(&mut self, params: &RawValue, cost: &mut SessionCost, drafts: &mut Vec<Draft>) {
        use acp::SessionUpdate as Update;
        let Ok(acp::SessionNotification { update, .. }) = serde_json::from_str(params.get()) else {
            drafts.push(unknown(UNKNOWN_UPDATE, params));
            return;
        };
        match update {
            // The user's messages are in the log already.
            Update::UserMessageChunk(_) => {}
            Update::AgentMessageChunk(chunk) | Update::AgentThoughtChunk(chunk) => {
                let message = format!("a piece of output that is not text ({})", content_kind(&chunk.content));
                drafts.push(unknown(&message, params));
            }
            Update::ToolCall(call) => {
                self.end_block(drafts);
                self.tools.update(into_update(call), drafts);
            }
            Update::ToolCallUpdate(update) => {
                self.end_block(drafts);
                self.tools.update(update, drafts);
            }
            Update::Plan(plan) => drafts.push(Fact::Plan(self::plan(plan)).into()),
            Update::UsageUpdate(usage) => {
                let fact = Fact::Usage(context_usage(usage, cost));
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

    /// Handles a permission request and returns the call that it is about.
    pub(super) fn on_permission_request(
        &mut self,
        call: acp::ToolCallUpdate,
        drafts: &mut Vec<Draft>,
    ) -> ToolCallRequestedPayload {
        self.end_block(drafts);
        self.tools.on_permission_request(call, drafts)
    }

    /// Ends the turn: finishes the open block and reports the calls whose end was not told.
    pub(super) fn end(&mut self, end: TurnEnd, drafts: &mut Vec<Draft>) {
        self.end_block(drafts);
        self.tools.flush(end, drafts);
    }

    fn end_block(&mut self, drafts: &mut Vec<Draft>) {
        let Some(OpenBlock { thought: false, text, .. }) = self.block.take() else { return };
        if !text.is_empty() {
            let content = vec![AssistantContentBlock::Text { text }];
            drafts.push(Fact::Output(ModelOutputCompletedPayload { content }).into());
        }
    }
}

/// The token usage in the answer to a prompt, from any member in which agents put it; that member is the raw value.
pub(super) fn prompt_usage(result: &Value) -> Option<Draft> {
    let number = |value: &Value, name: &str| value.get(name).and_then(Value::as_u64);
    let places = [result.get("usage"), result.pointer("/_meta/usage")];
    let usage = places.into_iter().flatten().find(|usage| usage.is_object());
    if let Some(usage) = usage {
        let read = number(usage, "cachedReadTokens");
        let cached = read.unwrap_or(0) + number(usage, "cachedWriteTokens").unwrap_or(0);
        let reported = UsageReportedPayload {
            // ACP counts cached tokens apart; our one shape includes them.
            input_tokens: number(usage, "inputTokens").map(|tokens| tokens + cached),
            cached_input_tokens: read,
            output_tokens: number(usage, "outputTokens"),
            reasoning_tokens: number(usage, "thoughtTokens"),
            cost_usd: None,
            context: None,
        };
        return Some(Draft { fact: Fact::Usage(reported), raw: Some(usage.clone()) });
    }
    let quota = result.pointer("/_meta/quota")?;
    let count = quota.get("token_count")?;
    let reported = UsageReportedPayload {
        input_tokens: number(count, "input_tokens"),
        cached_input_tokens: number(count, "cached_input_tokens"),
        output_tokens: number(count, "output_tokens"),
        reasoning_tokens: None,
        cost_usd: None,
        context: None,
    };
    Some(Draft { fact: Fact::Usage(reported), raw: Some(quota.clone()) })
}

/// The session's total cost in US dollars, if this update reports it.
pub(super) fn cost_so_far(notification: &acp::SessionNotification) -> Option<f64> {
    match &notification.update {
        acp::SessionUpdate::UsageUpdate(usage) => dollars(usage),
        _ => None,
    }
}

fn dollars(usage: &acp::UsageUpdate) -> Option<f64> {
    usage.cost.as_ref().filter(|cost| cost.currency == "USD").map(|cost| cost.amount)
}

/// Whether an agent that counts tokens ended its turn as usual with a count of zero: then the model's answer broke off.
pub(super) fn counts_no_answer(result: &Value) -> bool {
    let count = result.pointer("/_meta/quota/token_count");
    let none = |count: &Value| count["input_tokens"] == 0 && count["output_tokens"] == 0;
    result["stopReason"] == "end_turn" && count.is_some_and(none)
}

/// The notice about a message for a session or request that is not open here, with the message as raw value.
pub(super) fn foreign(message: String, raw: Option<Value>) -> Draft {
    Draft { raw, ..notice(NoticeLevel::Warning, NoticeSource::Protocol, message) }
}

/// The warning about a message of the protocol that has no meaning here, with the message as raw value.
pub(super) fn unknown(message: &str, raw: &RawValue) -> Draft {
    raw_notice(NoticeLevel::Warning, message, raw)
}

fn known(message: &str, raw: &RawValue) -> Draft {
    raw_notice(NoticeLevel::Info, message, raw)
}

fn raw_notice(level: NoticeLevel, message: &str, raw: &RawValue) -> Draft {
    Draft { raw: serde_json::from_str(raw.get()).ok(), ..notice(level, NoticeSource::Protocol, message) }
}

fn into_update(call: acp::ToolCall) -> acp::ToolCallUpdate {
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

fn context_usage(usage: acp::UsageUpdate, cost: &mut SessionCost) -> UsageReportedPayload {
    UsageReportedPayload {
        input_tokens: None,
        cached_input_tokens: None,
        output_tokens: None,
        reasoning_tokens: None,
        cost_usd: dollars(&usage).and_then(|total| cost.record_total(total)),
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
