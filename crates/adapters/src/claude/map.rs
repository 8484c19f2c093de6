//! Turns Claude Code's messages into facts. Pure: messages in, drafts out.

use std::collections::BTreeMap;
use std::sync::Arc;

use roost_engine::adapter::{Draft, Fact};
use roost_model::content::AssistantContentBlock;
use roost_model::payload::{
    ModelOutputCompletedPayload, ModelOutputDeltaKind, ModelOutputDeltaPayload, NoticeLevel, NoticeSource,
    SessionUpdatedPayload,
};
use serde_json::Value;

use super::messages::{Assistant, ContentBlock, Piece, PieceKind, StreamEvent, StreamUpdate, System, Usage, User};
use super::plan::Plan;
use super::tools::{ClaudeTools, ToolResult};
use crate::host::notice;
use crate::provider_errors::UNREACHABLE;

/// What people are told where a part of the model's answer, which they have seen, counts no more.
const CUT_ANSWER: &str = "the model's answer was cut off; what follows is a new one";

/// Subtypes of `system` messages that are ignored, because other events say the same better.
const IGNORED_SUBTYPES: [&str; 13] = [
    "background_tasks_changed",
    "files_persisted",
    "hook_progress",
    "hook_response",
    "hook_started",
    "post_turn_summary",
    "session_state_changed",
    "status",
    "task_notification",
    "task_progress",
    "task_started",
    "task_updated",
    "thinking_tokens",
];

/// A block that the model is writing.
#[derive(Debug)]
struct OpenBlock {
    id: Arc<str>,
    kind: PieceKind,
    /// The model's id of the tool call whose input this is; `None` for text and thinking.
    native: Option<String>,
    text: String,
}

/// Turns the messages of one task into drafts.
#[derive(Debug, Default)]
pub(super) struct ClaudeMapper {
    pub(super) tools: ClaudeTools,
    /// The unfinished blocks of the message that is being streamed, by their index in it.
    open_blocks: BTreeMap<u64, OpenBlock>,
    blocks: usize,
    /// The tokens of the last request to the model, for the fill of the context.
    pub(super) last_request: Usage,
    /// The error kind of the last request to the model that failed.
    pub(super) failure: Option<String>,
}

impl ClaudeMapper {
    /// Handles a piece of a block. This is the hot path: nearly all traffic.
    pub(super) fn piece(&mut self, piece: Piece, drafts: &mut Vec<Draft>) {
        // A sub-agent's text is reported when it is finished, as output of the call that started it.
        if piece.parent.is_some() || piece.text.is_empty() {
            return;
        }
        if !self.open_blocks.contains_key(&piece.index) {
            self.begin(piece.index, piece.kind, None);
        }
        let Some(block) = self.open_blocks.get_mut(&piece.index) else { return };
        if block.kind == PieceKind::Text {
            block.text.push_str(&piece.text);
        }
        let tool_call_id = block.native.as_ref().map(|native| self.tools.id_of(native));
        drafts.push(delta(block.kind, &block.id, piece.text, tool_call_id));
    }

    /// Handles any other event of the model's stream; those of sub-agents are ignored.
    pub(super) fn stream_event(&mut self, update: StreamUpdate, drafts: &mut Vec<Draft>) {
        if update.parent.is_some() {
            return;
        }
        match update.event {
            StreamEvent::MessageStart { message } => {
                // Blocks that are still open belong to a request that was repeated.
                self.discard_blocks(drafts, |_| true);
                self.last_request = message.usage;
            }
            StreamEvent::ContentBlockStart { index, content_block } => match content_block {
                ContentBlock::Text { .. } => self.begin(index, PieceKind::Text, None),
                ContentBlock::Thinking { .. } => self.begin(index, PieceKind::Thinking, None),
                ContentBlock::ToolUse { id, .. } => self.begin(index, PieceKind::Input, Some(id)),
                ContentBlock::ToolResult { .. } | ContentBlock::Other => {}
            },
            StreamEvent::MessageDelta { usage } => self.last_request.output_tokens = usage.output_tokens,
            StreamEvent::Other => {}
        }
    }

    /// Handles finished blocks: text, thinking and tool calls.
    pub(super) fn assistant(&mut self, message: Assistant, drafts: &mut Vec<Draft>) {
        if message.error.is_some() {
            // The message stands for a failed request; the turn's `result` reports the failure.
            self.failure = message.error;
            return;
        }
        for block in message.message.content.blocks() {
            match (block, &message.parent) {
                (ContentBlock::Text { text }, None) => self.finish_text(text, drafts),
                (ContentBlock::Text { text }, Some(parent)) => self.tools.on_sub_agent_text(parent, &text, drafts),
                (ContentBlock::Thinking { thinking }, None) => self.finish_thinking(thinking, drafts),
                (ContentBlock::ToolUse { id, name, input }, _) => self.tools.announce(&id, &name, input, drafts),
                _ => {}
            }
        }
    }

    /// Handles the results of tools in a message to the model; everything else in it is ignored.
    pub(super) fn user(&mut self, message: User, stopping: bool, plan: &mut Plan, drafts: &mut Vec<Draft>) {
        let details = message.tool_use_result.as_ref();
        for block in message.message.content.blocks() {
            let ContentBlock::ToolResult { tool_use_id, content, is_error } = block else { continue };
            self.tools.on_result(ToolResult { native: &tool_use_id, content, is_error, details }, stopping, drafts);
            if let Some((name, input)) = self.tools.call(&tool_use_id).filter(|_| !is_error && message.parent.is_none())
            {
                plan.on_tool_result(name, input, details, drafts);
            }
        }
    }

    /// Reports the text of open blocks, at the end of a turn.
    pub(super) fn close_blocks(&mut self, drafts: &mut Vec<Draft>) {
        for block in std::mem::take(&mut self.open_blocks).into_values() {
            if block.kind == PieceKind::Text && !block.text.is_empty() {
                drafts.push(output(block.text));
            }
        }
    }

    /// Ends the task: reports the text of open blocks, the calls that were only announced, and, unless the task was
    /// stopped, the agents that go on in the background.
    pub(super) fn end(&mut self, stopped: bool, drafts: &mut Vec<Draft>) {
        self.close_blocks(drafts);
        self.tools.flush(stopped, drafts);
    }

    fn begin(&mut self, index: u64, kind: PieceKind, native: Option<String>) {
        self.blocks += 1;
        let id = format!("block_{}", self.blocks).into();
        self.open_blocks.insert(index, OpenBlock { id, kind, native, text: String::new() });
    }

    /// Reports a finished text, and the part of it that was not streamed. It belongs to the open text block that is a
    /// prefix of it, if there is one.
    pub(super) fn finish_text(&mut self, text: String, drafts: &mut Vec<Draft>) {
        let streamed = |block: &OpenBlock| block.kind == PieceKind::Text && text.starts_with(&block.text);
        let index = self.open_blocks.iter().find(|(_, block)| streamed(block)).map(|(index, _)| *index);
        let (id, shown) = match index.and_then(|index| self.open_blocks.remove(&index)) {
            Some(block) => (block.id, block.text.len()),
            None => {
                // Text blocks that are no prefix of it belong to a request that was cut and repeated.
                self.discard_blocks(drafts, |block| block.kind == PieceKind::Text);
                (self.next_id(), 0)
            }
        };
        if shown < text.len() {
            drafts.push(delta(PieceKind::Text, &id, text[shown..].to_owned(), None));
        }
        if !text.is_empty() {
            drafts.push(output(text));
        }
    }

    /// Forgets open blocks, because their request was cut and is repeated. If people have seen text of them, they are
    /// told: what follows begins anew.
    fn discard_blocks(&mut self, drafts: &mut Vec<Draft>, discard: impl Fn(&OpenBlock) -> bool) {
        let discarded = self.open_blocks.extract_if(.., |_, block| discard(block));
        if discarded.filter(|(_, block)| !block.text.is_empty()).count() > 0 {
            drafts.push(notice(NoticeLevel::Warning, NoticeSource::Protocol, CUT_ANSWER));
        }
    }

    /// Closes the open thinking block; if none was streamed, reports the thinking now.
    fn finish_thinking(&mut self, text: String, drafts: &mut Vec<Draft>) {
        let thinking = |block: &OpenBlock| block.kind == PieceKind::Thinking;
        let index = self.open_blocks.iter().find(|(_, block)| thinking(block)).map(|(index, _)| *index);
        if index.and_then(|index| self.open_blocks.remove(&index)).is_none() && !text.is_empty() {
            let id = self.next_id();
            drafts.push(delta(PieceKind::Thinking, &id, text, None));
        }
    }

    fn next_id(&mut self) -> Arc<str> {
        self.blocks += 1;
        format!("block_{}", self.blocks).into()
    }
}

/// Handles a `system` message; `None` if its subtype is unknown. `model` is the last reported model, and is updated.
pub(super) fn system(message: &System, model: &mut Option<String>, drafts: &mut Vec<Draft>) -> Option<()> {
    match message.subtype.as_str() {
        "init" => {
            if message.model.is_some() && *model != message.model {
                model.clone_from(&message.model);
                let update = SessionUpdatedPayload { model: model.clone(), ..Default::default() };
                drafts.push(Fact::Session(update).into());
            }
        }
        "api_retry" => {
            let (attempt, most) = (message.attempt.unwrap_or(1), message.max_retries.unwrap_or(1));
            let why = message.error.as_ref().and_then(Value::as_str).unwrap_or("unknown");
            let message = match message.error_status {
                Some(status) => {
                    format!("the model's provider failed {status} ({why}); trying again, {attempt} of {most}")
                }
                // There was no answer at all.
                None => {
                    format!("{UNREACHABLE}; trying again, {attempt} of {most}: check the connection, or stop the task")
                }
            };
            drafts.push(notice(NoticeLevel::Warning, NoticeSource::Protocol, message));
        }
        "compact_boundary" => {
            let message = "the agent made its conversation shorter, to fit its context";
            drafts.push(notice(NoticeLevel::Info, NoticeSource::Protocol, message));
        }
        ignored if IGNORED_SUBTYPES.contains(&ignored) => {}
        _ => return None,
    }
    Some(())
}

/// The warning about a message that has no meaning here, with the line as raw value.
pub(super) fn unknown(message: impl Into<String>, line: &str) -> Draft {
    let raw = serde_json::from_str(line).ok();
    Draft { raw, ..notice(NoticeLevel::Warning, NoticeSource::Protocol, message) }
}

fn delta(
    kind: PieceKind,
    block: &Arc<str>,
    delta: String,
    tool_call_id: Option<roost_model::ids::ToolCallId>,
) -> Draft {
    let kind = match kind {
        PieceKind::Text => ModelOutputDeltaKind::TextDelta,
        PieceKind::Thinking => ModelOutputDeltaKind::ReasoningDelta,
        PieceKind::Input => ModelOutputDeltaKind::JsonDelta,
    };
    let block_id = block.clone();
    Fact::Delta(ModelOutputDeltaPayload { kind, block_id, delta, tool_call_id, language: None }).into()
}

fn output(text: String) -> Draft {
    let content = vec![AssistantContentBlock::Text { text }];
    Fact::Output(ModelOutputCompletedPayload { content }).into()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_retry_without_an_answer_is_called_a_network_that_is_down() {
        for (status, expected) in
            [(json!(500), "provider failed 500 (x); trying again, 2 of 9"), (Value::Null, UNREACHABLE)]
        {
            let message = json!({
                "subtype": "api_retry", "attempt": 2, "max_retries": 9, "error_status": status, "error": "x"
            });
            let (mut model, mut drafts) = (None, Vec::new());
            system(&System::deserialize(message).unwrap(), &mut model, &mut drafts).unwrap();
            let [Draft { fact: Fact::Notice(told), .. }] = drafts.as_slice() else { panic!("{drafts:?}") };
            assert!(told.message.contains(expected) && told.message.contains("2 of 9"), "{}", told.message);
        }
    }
}
