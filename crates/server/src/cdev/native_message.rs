//! Messages of a conversation that its runtime keeps, which the log knows nothing of.

use roost_model::content::{TranscriptContentBlock, TranscriptMessage, TranscriptRole};
use roost_model::ids::SessionId;
use roost_model::time::Timestamp;
use roost_rpc::conversation::{Block, Message, Said, Speaker};
use serde_json::json;
use uuid::Uuid;

use super::message::{CONTENT, block, speaker, truncate};
use super::notify::{About, Audience, Notification, Scene};
use super::truncate::Room;
use super::{claude_message, log_line};

/// The messages of a conversation: one for each block, so that a conversation that goes on only adds to them. What has
/// no time has that of the one before it, the first this one.
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
    let mut room = Room::new(CONTENT);
    content.iter_mut().for_each(|block| truncate(block, &mut room));
    let speaker = speaker(role);
    Some(Message {
        id,
        session_id: session.clone(),
        speaker,
        uuid,
        timestamp,
        message: Said { role: speaker, content, model: None, stop_reason: None },
        is_context_compaction: false,
        is_meta: false,
    })
}

/// Follows from the session, the place and what is said there: what takes the place of something else is not the same.
fn uuid(session: &SessionId, id: u64, said: &TranscriptContentBlock) -> String {
    let said = serde_json::to_string(said).unwrap_or_default();
    Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("roost:{session}/past/{id}/{said}").as_bytes()).to_string()
}

/// What tells those who watch such a conversation of a message that was added: the same as in a hosted session.
pub fn notifications(message: &Message, about: &About<'_>) -> Vec<Notification> {
    let scene = Scene { about, session_id: &message.session_id, time: message.timestamp };
    let is_prompt = message.speaker == Speaker::User && matches!(message.message.content[..], [Block::Text { .. }]);
    let mut notes = vec![claude_message::claude_message(&scene, message)];
    if !is_prompt {
        notes.push(log_line::record(&scene, message));
    }
    let is_answer =
        message.speaker == Speaker::Assistant && matches!(message.message.content[..], [Block::Text { .. }]);
    // Phones take a turn as done when all of a file has been read.
    if is_answer {
        let read = json!({ "messages_emitted": 1, "file_offset": message.id, "file_size": message.id });
        notes.push(scene.note("stream_read_complete", Audience::Watchers, read));
    }
    notes
}
