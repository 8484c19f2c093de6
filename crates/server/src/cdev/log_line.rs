//! The `claude_log` notification: the agent's output in the form of Claude's `stream-json`, whichever agent it is.

use roost_model::payload::{NoticeSource, RuntimeNoticePayload, UsageReportedPayload};
use roost_rpc::conversation::{ContentBlock, Message};
use serde_json::{Map, Value, json};

use super::message::object;
use super::notify::{Audience, Notification, NotificationBuilder};

/// A message as one `claude_log` line.
pub(super) fn record(builder: &NotificationBuilder<'_>, message: &Message) -> Notification {
    let content = &message.message.content;
    let is_thinking = content.iter().any(|block| matches!(block, ContentBlock::Thinking { .. }));
    let line = json!({
        "type": message.speaker, "message": message.message, "session_id": builder.session_id, "uuid": message.uuid,
    });
    let parsed = json!({
        "type": message.speaker, "session_id": builder.session_id,
        "content": content.iter().map(block).collect::<Vec<_>>(), "stop_reason": message.message.stop_reason,
        "model": message.message.model, "is_thinking": is_thinking,
        "is_context_compaction": message.is_context_compaction,
    });
    claude_log(builder, line, parsed)
}

/// The session as its runtime knows it; a client takes this as a new session.
pub(super) fn init(builder: &NotificationBuilder<'_>, model: Option<&str>) -> Notification {
    let session_id = builder.session_id;
    let line = json!({
        "type": "system", "subtype": "init", "session_id": session_id, "cwd": builder.session.cwd, "model": model,
    });
    claude_log(builder, line, json!({ "type": "system", "session_id": session_id, "content": [], "model": model }))
}

/// The end of a task, and why it failed.
pub(super) fn result(builder: &NotificationBuilder<'_>, stop_reason: &str, error: Option<&str>) -> Notification {
    let subtype = if error.is_some() { "error_during_execution" } else { "success" };
    let line = json!({
        "type": "result", "subtype": subtype, "is_error": error.is_some(), "stop_reason": stop_reason, "result": error, "session_id": builder.session_id,
    });
    let parsed =
        json!({ "type": "result", "session_id": builder.session_id, "content": [], "stop_reason": stop_reason });
    claude_log(builder, line, parsed)
}

/// The usage that the agent reported; `None` if it holds no number. It has no session id, because clients would take it
/// for a new session.
pub(super) fn usage(builder: &NotificationBuilder<'_>, usage: &UsageReportedPayload) -> Option<Notification> {
    let says = usage.output_tokens.is_some() || usage.input_tokens.is_some() || usage.cost_usd.is_some();
    let line = json!({ "type": "system", "subtype": "usage", "usage": usage });
    let parsed = json!({
        "type": "system", "content": [], "output_tokens": usage.output_tokens, "cost_usd": usage.cost_usd,
    });
    says.then(|| claude_log(builder, line, parsed))
}

/// A line that the runtime wrote beside its protocol; `None` for notices about the protocol itself.
pub(super) fn notice(builder: &NotificationBuilder<'_>, notice: &RuntimeNoticePayload) -> Option<Notification> {
    let stream = match notice.source {
        NoticeSource::Stdout => "stdout",
        NoticeSource::Stderr | NoticeSource::Engine => "stderr",
        NoticeSource::Protocol => return None,
    };
    Some(builder.note("claude_log", Audience::Watchers, json!({ "line": notice.message, "stream": stream })))
}

fn claude_log(builder: &NotificationBuilder<'_>, line: Value, parsed: Value) -> Notification {
    let (line, parsed) = (without_null(line), without_null(parsed));
    let fields = json!({ "line": json_text(&line), "stream": "stdout", "parsed": parsed });
    builder.note("claude_log", Audience::Watchers, fields)
}

fn without_null(fields: Value) -> Map<String, Value> {
    let mut fields = object(fields);
    fields.retain(|_, value| !value.is_null());
    fields
}

fn block(block: &ContentBlock) -> Value {
    match block {
        ContentBlock::Text { text } => json!({ "type": "text", "text": text }),
        ContentBlock::Thinking { text } => json!({ "type": "thinking", "text": text }),
        ContentBlock::ToolUse { id, name, input } => {
            json!({ "type": "tool_use", "tool_name": name, "tool_id": id, "tool_input": json_text(input) })
        }
        ContentBlock::ToolResult { tool_use_id, content, .. } => {
            json!({ "type": "tool_result", "tool_id": tool_use_id, "text": content })
        }
    }
}

/// An input in the form that `claude_log` and the older requests have: JSON as text.
pub(super) fn json_text(input: &Map<String, Value>) -> String {
    // A map with text keys can always be written.
    serde_json::to_string(input).unwrap_or_default()
}
