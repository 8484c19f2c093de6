//! `claude_message`: what is said and done, each once, for those who watch.

use roost_model::event::NormalizedEvent;
use roost_rpc::conversation::{Block, Message, Said};
use serde_json::{Value, json};

use super::log_line;
use super::message;
use super::notify::{Audience, Notification, Scene};

/// The event's message, if it has one.
pub(super) fn message(scene: &Scene<'_>, event: &NormalizedEvent) -> Option<Notification> {
    message::from_event(event).map(|message| claude_message(scene, &message))
}

/// The event's message and the same as a line of the agent's output.
pub(super) fn record(scene: &Scene<'_>, event: &NormalizedEvent) -> Vec<Notification> {
    match message::from_event(event) {
        Some(message) => vec![claude_message(scene, &message), log_line::record(scene, &message)],
        None => Vec::new(),
    }
}

/// The end of a turn: a message without content, because an event cannot know whether the one before was the last.
/// Clients take a turn as done when they see a reason to stop.
pub(super) fn end(scene: &Scene<'_>, event: &NormalizedEvent, reason: &str) -> Notification {
    let uuid = message::uuid(scene.session_id, event.seq);
    let fields = json!({
        "type": "assistant", "role": "assistant", "content": [], "stop_reason": reason,
        "is_context_compaction": false, "uuid": uuid,
    });
    scene.note("claude_message", Audience::Watchers, fields)
}

pub(super) fn claude_message(scene: &Scene<'_>, message: &Message) -> Notification {
    let Said { role, content, model, stop_reason } = &message.message;
    let fields = json!({
        "type": message.speaker, "role": role, "content": content.iter().map(block).collect::<Vec<_>>(),
        "model": model, "stop_reason": stop_reason, "is_context_compaction": message.is_context_compaction,
        "uuid": message.uuid,
    });
    scene.note("claude_message", Audience::Watchers, fields)
}

/// A block in the words that events use for what the history calls `id`, `name` and `input`.
fn block(block: &Block) -> Value {
    match block {
        Block::Text { text } => json!({ "type": "text", "text": text }),
        Block::ToolUse { id, name, input } => {
            json!({ "type": "tool_use", "tool_name": name, "tool_id": id, "tool_input": input })
        }
        Block::ToolResult { tool_use_id, content, is_error } => {
            json!({ "type": "tool_result", "tool_use_id": tool_use_id, "content": content, "is_error": is_error })
        }
    }
}
