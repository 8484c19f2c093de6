//! Messages of a conversation that only its runtime keeps, not the log.

use roost_model::content::{TranscriptContentBlock, TranscriptMessage, TranscriptRole};
use roost_model::ids::SessionId;
use roost_model::time::Timestamp;
use roost_rpc::conversation::{ContentBlock, Message, MessageBody, Speaker};
use serde_json::json;
use uuid::Uuid;

use super::message::{CONTENT, block, speaker, truncate};
use super::notify::{Audience, Notification, NotificationBuilder, SessionContext};
use super::truncate::ByteBudget;
use super::{claude_message, log_line};

/// The messages of a conversation: one for each block, so that a growing conversation only adds messages. A message
/// without a time gets that of the one before it, the first `since`.
pub fn messages(
    session: &SessionId,
    since: Timestamp,
    said: impl IntoIterator<Item = (Option<Timestamp>, TranscriptMessage)>,
) -> Vec<Message> {
    let (mut messages, mut time) = (Vec::new(), since);
    for (at, TranscriptMessage { role, content }) in said {
        time = at.unwrap_or(time);
        for said in content {
            messages.extend(message(session, messages.len() as u64 + 1, time, role, said));
        }
    }
    messages
}

fn message(
    session: &SessionId,
    id: u64,
    timestamp: Timestamp,
    role: TranscriptRole,
    said: TranscriptContentBlock,
) -> Option<Message> {
    let uuid = uuid(session, id, &said);
    let mut content = vec![block(said)?];
    let mut budget = ByteBudget::new(CONTENT);
    content.iter_mut().for_each(|block| truncate(block, &mut budget));
    let speaker = speaker(role);
    Some(Message {
        id,
        session_id: session.clone(),
        speaker,
        uuid,
        timestamp,
        message: MessageBody { role: speaker, content, model: None, stop_reason: None },
        is_context_compaction: false,
        is_meta: false,
    })
}

/// The UUID of a message, from the session, the position and the content: other content at the same position gets
/// another id.
fn uuid(session: &SessionId, id: u64, said: &TranscriptContentBlock) -> String {
    let said = serde_json::to_string(said).unwrap_or_default();
    Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("roost:{session}/past/{id}/{said}").as_bytes()).to_string()
}

/// The notifications of a message that was added, the same as in a hosted session.
pub fn notifications(message: &Message, session: &SessionContext<'_>) -> Vec<Notification> {
    let builder = NotificationBuilder { session, session_id: &message.session_id, time: message.timestamp };
    let is_prompt =
        message.speaker == Speaker::User && matches!(message.message.content[..], [ContentBlock::Text { .. }]);
    let mut notes = vec![claude_message::claude_message(&builder, message)];
    if !is_prompt {
        notes.push(log_line::record(&builder, message));
    }
    let is_answer =
        message.speaker == Speaker::Assistant && matches!(message.message.content[..], [ContentBlock::Text { .. }]);
    // Phones take a turn as done when all of a file has been read.
    if is_answer {
        let read = json!({ "messages_emitted": 1, "file_offset": message.id, "file_size": message.id });
        notes.push(builder.note("stream_read_complete", Audience::Watchers, read));
    }
    notes
}
