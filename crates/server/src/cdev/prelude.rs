//! What a model wrote piece by piece before an event: its thinking, which no other event repeats, and the block that a
//! finished answer completes.

use std::sync::Arc;

use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::{SessionId, TaskId};
use roost_model::payload::ModelOutputDeltaKind;
use roost_rpc::conversation::{ContentBlock, Message, MessageBody, Speaker};
use uuid::Uuid;

use super::message::{CONTENT, truncate};
use super::truncate::ByteBudget;

/// The pieces since the last event that ended a block of output: see [`Prelude::ends_blocks`].
#[derive(Clone, Debug, Default)]
pub struct Prelude {
    thinking: Vec<Thinking>,
    /// The first block of the answer, by which the pieces and the whole have the same UUID.
    answer: Option<Arc<str>>,
}

/// A block of thinking, put together.
#[derive(Clone, Debug)]
struct Thinking {
    block_id: Arc<str>,
    /// The event with which it began.
    seq: u64,
    text: String,
}

impl Prelude {
    /// Whether whatever the model was writing is complete with this event.
    pub fn ends_blocks(body: &EventBody) -> bool {
        matches!(
            body,
            EventBody::TaskStarted(_)
                | EventBody::ModelOutputCompleted(_)
                | EventBody::ToolCallRequested(_)
                | EventBody::QuestionAsked(_)
                | EventBody::TaskCompleted(_)
                | EventBody::TaskStopped(_)
                | EventBody::TaskFailed(_)
        )
    }

    /// Takes the next event of the session into account.
    pub fn push(&mut self, event: &NormalizedEvent) {
        match &event.body {
            EventBody::ModelOutputDelta(delta) => match delta.kind {
                ModelOutputDeltaKind::ReasoningDelta => {
                    match self.thinking.iter_mut().find(|block| block.block_id == delta.block_id) {
                        Some(block) => block.text.push_str(&delta.delta),
                        None => self.thinking.push(Thinking {
                            block_id: delta.block_id.clone(),
                            seq: event.seq,
                            text: delta.delta.clone(),
                        }),
                    }
                }
                ModelOutputDeltaKind::TextDelta | ModelOutputDeltaKind::CodeDelta => {
                    self.answer.get_or_insert_with(|| delta.block_id.clone());
                }
                ModelOutputDeltaKind::JsonDelta | ModelOutputDeltaKind::UnknownDelta => {}
            },
            body if Self::ends_blocks(body) => *self = Self::default(),
            _ => {}
        }
    }

    /// The UUID of the answer that is being written or, with [`EventBody::ModelOutputCompleted`], was written; `None` if
    /// it did not come in pieces.
    pub fn answer_uuid(&self, event: &NormalizedEvent) -> Option<String> {
        self.answer.as_ref().map(|block| block_uuid(&event.trace.session_id, event.trace.task_id.as_ref(), block))
    }

    /// One message for each block of thinking, for the event that ends them.
    pub fn thoughts(&self, event: &NormalizedEvent) -> Vec<Message> {
        let shown = self.thinking.iter().filter(|block| !block.text.trim().is_empty());
        shown.map(|block| block.message(event)).collect()
    }
}

impl Thinking {
    fn message(&self, event: &NormalizedEvent) -> Message {
        let mut block = ContentBlock::Thinking { text: self.text.clone() };
        truncate(&mut block, &mut ByteBudget::new(CONTENT));
        let session_id = event.trace.session_id.clone();
        Message {
            id: self.seq,
            uuid: block_uuid(&session_id, event.trace.task_id.as_ref(), &self.block_id),
            session_id,
            speaker: Speaker::Assistant,
            timestamp: event.time,
            message: MessageBody {
                role: Speaker::Assistant,
                content: vec![block],
                model: event.runtime.model.as_deref().map(Into::into),
                stop_reason: None,
            },
            is_context_compaction: false,
            is_meta: false,
        }
    }
}

/// The UUID of what one block of output becomes: unique, known with its first piece, and the same in every replay.
pub(crate) fn block_uuid(session: &SessionId, task: Option<&TaskId>, block: &str) -> String {
    let task = task.map(TaskId::as_str).unwrap_or_default();
    Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("roost:{session}/{task}/{block}").as_bytes()).to_string()
}
