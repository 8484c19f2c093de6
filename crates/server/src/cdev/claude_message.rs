//! The `claude_message` notification: one for each message and tool call, sent to the session's watchers.

use roost_model::event::NormalizedEvent;
use roost_rpc::conversation::{ContentBlock, Message, MessageBody};
use serde_json::{Value, json};

use super::log_line;
use super::message;
use super::notify::{Audience, Notification, NotificationBuilder};
use super::prelude::Prelude;

/// The `claude_message` of an event, if the event has a message.
pub(super) fn message(builder: &NotificationBuilder<'_>, event: &NormalizedEvent) -> Option<Notification> {
    message::from_event(event).map(|message| claude_message(builder, &message))
}

/// The `claude_message` of an event, after those of the thinking that it ends, each with the `claude_log` line of the
/// same message.
pub(super) fn record(
    builder: &NotificationBuilder<'_>,
    prelude: &Prelude,
    event: &NormalizedEvent,
) -> Vec<Notification> {
    let (thoughts, message) = message::after(prelude, event);
    let messages = thoughts.iter().chain(&message);
    messages.flat_map(|message| [claude_message(builder, message), log_line::record(builder, message)]).collect()
}

/// The messages of the thinking that an event ends which has no message of its own.
pub(super) fn thoughts(
    builder: &NotificationBuilder<'_>,
    prelude: &Prelude,
    event: &NormalizedEvent,
) -> Vec<Notification> {
    let thoughts = prelude.thoughts(event);
    thoughts.iter().flat_map(|thought| [claude_message(builder, thought), log_line::record(builder, thought)]).collect()
}

/// The end of a turn: a message without content, because an event cannot know whether the one before was the last.
/// Clients take a turn as done when they see a reason to stop.
pub(super) fn end(builder: &NotificationBuilder<'_>, event: &NormalizedEvent, reason: &str) -> Notification {
    let uuid = message::uuid(builder.session_id, event.seq);
    let fields = json!({
        "type": "assistant", "role": "assistant", "content": [], "stop_reason": reason,
        "is_context_compaction": false, "uuid": uuid,
    });
    builder.note("claude_message", Audience::Watchers, fields)
}

pub(super) fn claude_message(builder: &NotificationBuilder<'_>, message: &Message) -> Notification {
    let MessageBody { role, content, model, stop_reason } = &message.message;
    let fields = json!({
        "type": message.speaker, "role": role, "content": content.iter().map(block).collect::<Vec<_>>(),
        "model": model, "stop_reason": stop_reason, "is_context_compaction": message.is_context_compaction,
        "uuid": message.uuid,
    });
    builder.note("claude_message", Audience::Watchers, fields)
}

/// A content block with the field names of events: `tool_id`, `tool_name` and `tool_input`, where the history has `id`,
/// `name` and `input`.
fn block(block: &ContentBlock) -> Value {
    match block {
        ContentBlock::Text { text } => json!({ "type": "text", "text": text }),
        ContentBlock::Thinking { text } => json!({ "type": "thinking", "text": text }),
        ContentBlock::ToolUse { id, name, input } => {
            json!({ "type": "tool_use", "tool_name": name, "tool_id": id, "tool_input": input })
        }
        ContentBlock::ToolResult { tool_use_id, content, is_error } => {
            json!({ "type": "tool_result", "tool_use_id": tool_use_id, "content": content, "is_error": is_error })
        }
    }
}
