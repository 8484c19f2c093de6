//! What Claude Code says, as facts. Pure: messages in, drafts out.

use std::collections::BTreeMap;
use std::sync::Arc;

use roost_engine::adapter::{Draft, Fact};
use roost_model::content::AssistantContentBlock;
use roost_model::payload::{
    ModelOutputCompletedPayload, ModelOutputDeltaKind, ModelOutputDeltaPayload, NoticeLevel, NoticeSource,
    RuntimeNoticePayload, SessionUpdatedPayload,
};
use serde_json::Value;

use super::messages::{Assistant, Block, Piece, PieceKind, StreamEvent, Streamed, System, Usage, User};
use super::plan::Plan;
use super::tools::{Told, Tools};

/// Messages of the CLI about itself that say nothing which a task's events do not say better.
const QUIET: [&str; 11] = [
    "files_persisted",
    "hook_progress",
    "hook_response",
    "hook_started",
    "post_turn_summary",
    "session_state_changed",
    "status",
    "task_progress",
    "task_started",
    "task_updated",
    "thinking_tokens",
];

/// A block that the model writes.
#[derive(Debug)]
struct Writing {
    id: Arc<str>,
    kind: PieceKind,
    /// The call whose input it is.
    native: Option<String>,
    text: String,
}

/// Turns one task's messages into drafts.
#[derive(Debug, Default)]
pub(super) struct Mapper {
    pub(super) tools: Tools,
    /// The blocks of the message that is being written, by their place in it.
    writing: BTreeMap<u64, Writing>,
    blocks: usize,
    /// What the last request to the model used.
    pub(super) last_request: Usage,
    /// Why the last request to the model failed.
    pub(super) failure: Option<String>,
}

impl Mapper {
    /// A piece of a block; the hot path.
    pub(super) fn piece(&mut self, piece: Piece, drafts: &mut Vec<Draft>) {
        // What a sub-agent writes is shown when it is finished, as its call's output.
        if piece.parent.is_some() || piece.text.is_empty() {
            return;
        }
        if !self.writing.contains_key(&piece.index) {
            self.begin(piece.index, piece.kind, None);
        }
        let Some(block) = self.writing.get_mut(&piece.index) else { return };
        if block.kind == PieceKind::Text {
            block.text.push_str(&piece.text);
        }
        let tool_call_id = block.native.as_ref().map(|native| self.tools.id_of(native));
        drafts.push(delta(block.kind, &block.id, piece.text, tool_call_id));
    }

    /// Another event of the model's stream.
    pub(super) fn streamed(&mut self, streamed: Streamed) {
        if streamed.parent.is_some() {
            return;
        }
        match streamed.event {
            StreamEvent::MessageStart { message } => {
                // What was not finished is written again: the request was repeated.
                self.writing.clear();
                self.last_request = message.usage;
            }
            StreamEvent::ContentBlockStart { index, content_block } => match content_block {
                Block::Text { .. } => self.begin(index, PieceKind::Text, None),
                Block::Thinking { .. } => self.begin(index, PieceKind::Thinking, None),
                Block::ToolUse { id, .. } => self.begin(index, PieceKind::Input, Some(id)),
                Block::ToolResult { .. } | Block::Other => {}
            },
            StreamEvent::MessageDelta { usage } => self.last_request.output_tokens = usage.output_tokens,
            StreamEvent::Other => {}
        }
    }

    /// Finished blocks.
    pub(super) fn assistant(&mut self, message: Assistant, drafts: &mut Vec<Draft>) {
        if message.error.is_some() {
            // It stands for a failed request, and the end of the turn says the same.
            self.failure = message.error;
            return;
        }
        for block in message.message.content.blocks() {
            match (block, &message.parent) {
                (Block::Text { text }, None) => self.said(text, drafts),
                (Block::Text { text }, Some(parent)) => self.tools.sub_agent_says(parent, &text, drafts),
                (Block::Thinking { thinking }, None) => self.thought(thinking, drafts),
                (Block::ToolUse { id, name, input }, _) => self.tools.announce(&id, &name, input, drafts),
                _ => {}
            }
        }
    }

    /// What the model was told: of interest are the results of tools.
    pub(super) fn user(&mut self, message: User, stopping: bool, plan: &mut Plan, drafts: &mut Vec<Draft>) {
        let details = message.tool_use_result.as_ref();
        for block in message.message.content.blocks() {
            let Block::ToolResult { tool_use_id, content, is_error } = block else { continue };
            self.tools.completed(Told { native: &tool_use_id, content, is_error, details }, stopping, drafts);
            if let Some((name, input)) = self.tools.call(&tool_use_id).filter(|_| !is_error && message.parent.is_none())
            {
                plan.called(name, input, details, drafts);
            }
        }
    }

    /// Finishes whatever is being written, because no more will come.
    pub(super) fn end(&mut self, drafts: &mut Vec<Draft>) {
        for block in std::mem::take(&mut self.writing).into_values() {
            if block.kind == PieceKind::Text && !block.text.is_empty() {
                drafts.push(output(block.text));
            }
        }
        self.tools.flush(drafts);
    }

    fn begin(&mut self, index: u64, kind: PieceKind, native: Option<String>) {
        self.blocks += 1;
        let id = format!("block_{}", self.blocks).into();
        self.writing.insert(index, Writing { id, kind, native, text: String::new() });
    }

    /// A finished text: that of the block which began like it, or one that was not streamed.
    fn said(&mut self, text: String, drafts: &mut Vec<Draft>) {
        let streamed = |block: &Writing| block.kind == PieceKind::Text && text.starts_with(&block.text);
        let index = self.writing.iter().find(|(_, block)| streamed(block)).map(|(index, _)| *index);
        let (id, shown) = match index.and_then(|index| self.writing.remove(&index)) {
            Some(block) => (block.id, block.text.len()),
            None => {
                // What was streamed instead belongs to a request that was cut and made again.
                self.writing.retain(|_, block| block.kind != PieceKind::Text);
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

    fn thought(&mut self, text: String, drafts: &mut Vec<Draft>) {
        let thinking = |block: &Writing| block.kind == PieceKind::Thinking;
        let index = self.writing.iter().find(|(_, block)| thinking(block)).map(|(index, _)| *index);
        if index.and_then(|index| self.writing.remove(&index)).is_none() && !text.is_empty() {
            let id = self.next_id();
            drafts.push(delta(PieceKind::Thinking, &id, text, None));
        }
    }

    fn next_id(&mut self) -> Arc<str> {
        self.blocks += 1;
        format!("block_{}", self.blocks).into()
    }
}

/// What the CLI says about itself; `None` for what Roost does not know.
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
            let why = message.error.as_ref().and_then(Value::as_str).unwrap_or("unknown");
            let status = message.error_status.map(|status| format!(" {status}")).unwrap_or_default();
            let (attempt, most) = (message.attempt.unwrap_or(1), message.max_retries.unwrap_or(1));
            let said = format!("the model's provider failed{status} ({why}); trying again, {attempt} of {most}");
            drafts.push(notice(NoticeLevel::Warning, NoticeSource::Protocol, said));
        }
        "compact_boundary" => {
            let said = "the agent made its conversation shorter, to fit its context";
            drafts.push(notice(NoticeLevel::Info, NoticeSource::Protocol, said));
        }
        quiet if QUIET.contains(&quiet) => {}
        // The end of a background command is told to the agent too, and it speaks of it.
        "task_notification" => {}
        _ => return None,
    }
    Some(())
}

/// A line that is not protocol, or something to know about one that is.
pub(super) fn notice(level: NoticeLevel, source: NoticeSource, message: impl Into<String>) -> Draft {
    Fact::Notice(RuntimeNoticePayload { level, source, message: message.into() }).into()
}

/// A message without a meaning here; it is kept as it came.
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
