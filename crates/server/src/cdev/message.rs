//! Messages of a session's history: one for each event with text, a tool call or a result.

use roost_model::content::{self, ArtifactRef, TranscriptContentBlock, TranscriptRole};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::SessionId;
use roost_model::payload::{QUESTION_TOOL, TaskFailedPayload, ToolCallCompletedPayload};
use roost_model::transcript;
use roost_rpc::conversation::{ContentBlock, Message, MessageBody, Speaker};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::prelude::Prelude;
use super::question;
use super::truncate::ByteBudget;

/// The greatest size of one message's blocks in JSON, in bytes. A `claude_log` holds them twice, and once more escaped.
pub(super) const CONTENT: usize = 128 * 1024;

/// The speaker of a role; results of tools come from the user, as in Claude's protocol.
pub(super) fn speaker(role: TranscriptRole) -> Speaker {
    match role {
        TranscriptRole::System => Speaker::System,
        TranscriptRole::User | TranscriptRole::Tool => Speaker::User,
        TranscriptRole::Assistant => Speaker::Assistant,
    }
}

/// The message of this event; `None` for events without content. It is without [`Prelude`], so an answer that came in
/// pieces has another UUID than they have.
pub fn from_event(event: &NormalizedEvent) -> Option<Message> {
    let (role, mut content) = content_from_body(&event.body)?;
    let mut budget = ByteBudget::new(CONTENT);
    content.iter_mut().for_each(|block| truncate(block, &mut budget));
    let agent = role == Speaker::Assistant;
    let failed = matches!(event.body, EventBody::TaskFailed(_));
    let calls = agent && content.iter().any(|block| matches!(block, ContentBlock::ToolUse { .. }));
    Some(Message {
        id: event.seq,
        session_id: event.trace.session_id.clone(),
        speaker: role,
        uuid: uuid(&event.trace.session_id, event.seq),
        timestamp: event.time,
        message: MessageBody {
            role,
            content,
            model: event.runtime.model.as_deref().filter(|_| agent && !failed).map(Into::into),
            stop_reason: if failed { Some("error".into()) } else { calls.then(|| "tool_use".into()) },
        },
        is_context_compaction: false,
        is_meta: false,
    })
}

/// The message of this event after those of the thinking that it ends.
pub fn after(prelude: &Prelude, event: &NormalizedEvent) -> (Vec<Message>, Option<Message>) {
    let thoughts = if Prelude::ends_blocks(&event.body) { prelude.thoughts(event) } else { Vec::new() };
    let mut message = from_event(event);
    if let (EventBody::ModelOutputCompleted(_), Some(message)) = (&event.body, &mut message)
        && let Some(uuid) = prelude.answer_uuid(event)
    {
        message.uuid = uuid;
    }
    (thoughts, message)
}

/// The messages of these events, in their order.
pub fn messages<'a>(events: impl IntoIterator<Item = &'a NormalizedEvent>) -> Vec<Message> {
    let (mut messages, mut prelude) = (Vec::new(), Prelude::default());
    for event in events {
        let (thoughts, message) = after(&prelude, event);
        messages.extend(thoughts.into_iter().chain(message));
        prelude.push(event);
    }
    messages
}

/// The UUID of an event's message: unique, and the same in every replay.
pub(super) fn uuid(session: &SessionId, seq: u64) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("roost:{session}/{seq}").as_bytes()).to_string()
}

fn text_block(text: impl Into<String>) -> ContentBlock {
    ContentBlock::Text { text: text.into() }
}

/// Cuts the texts of a block to the budget.
pub(super) fn truncate(block: &mut ContentBlock, budget: &mut ByteBudget) {
    match block {
        ContentBlock::Text { text } | ContentBlock::Thinking { text } => budget.text(text),
        ContentBlock::ToolUse { input, .. } => budget.fields(input),
        ContentBlock::ToolResult { content, .. } => budget.text(content),
    }
}

fn content_from_body(body: &EventBody) -> Option<(Speaker, Vec<ContentBlock>)> {
    use Speaker::{Assistant, User};
    let (role, content) = match body {
        // The question that such a call asks has an event of its own.
        EventBody::ToolCallRequested(call) if call.name == QUESTION_TOOL => return None,
        EventBody::ToolCallCompleted(call) if call.name == QUESTION_TOOL => return None,
        EventBody::ToolCallDenied(call) if call.name == QUESTION_TOOL => return None,
        EventBody::ToolCallCompleted(call) => (User, vec![result_block(call)]),
        EventBody::QuestionAsked(asked) => (Assistant, vec![question::tool_use(asked)]),
        EventBody::QuestionResolved(resolved) => (User, vec![question::tool_result(resolved)]),
        // Claude shows its own failures in this way, and not every client shows any other.
        EventBody::TaskFailed(failed) => (Assistant, vec![text_block(failure(failed))]),
        body => {
            let messages = transcript::messages(body);
            let role = speaker(messages.first()?.role);
            (role, messages.into_iter().flat_map(|message| message.content).filter_map(block).collect())
        }
    };
    (!content.is_empty()).then_some((role, content))
}

pub(super) fn block(block: TranscriptContentBlock) -> Option<ContentBlock> {
    Some(match block {
        TranscriptContentBlock::Text { text } if text.is_empty() => return None,
        TranscriptContentBlock::Text { text } => ContentBlock::Text { text },
        TranscriptContentBlock::Code { code, language } => {
            text_block(format!("```{}\n{code}\n```", language.unwrap_or_default()))
        }
        TranscriptContentBlock::ArtifactRef { artifact_id, name, .. } => match name {
            Some(name) => text_block(format!("[artifact {name}: {artifact_id}]")),
            None => text_block(format!("[artifact {artifact_id}]")),
        },
        TranscriptContentBlock::Image { artifact_id, name, .. } => match name {
            Some(name) => text_block(format!("[image {name}: {artifact_id}]")),
            None => text_block(format!("[image {artifact_id}]")),
        },
        TranscriptContentBlock::FileRef { path } => text_block(content::mention(&path)),
        TranscriptContentBlock::ToolUse { tool_call_id, name, input } => {
            ContentBlock::ToolUse { id: tool_call_id.to_string(), name, input: object(input) }
        }
        TranscriptContentBlock::ToolResult { tool_call_id, result, is_error } => ContentBlock::ToolResult {
            tool_use_id: tool_call_id.to_string(),
            content: result_text(&result),
            is_error: is_error.unwrap_or(false),
        },
    })
}

/// A tool's input as the object that clients expect.
pub(super) fn object(input: Value) -> Map<String, Value> {
    match input {
        Value::Object(fields) => fields,
        Value::Null => Map::new(),
        other => Map::from_iter([("input".to_owned(), other)]),
    }
}

fn result_block(call: &ToolCallCompletedPayload) -> ContentBlock {
    ContentBlock::ToolResult {
        tool_use_id: call.identity.tool_call_id.to_string(),
        content: completed_text(call),
        is_error: call.is_error.unwrap_or(false),
    }
}

/// The result of a tool as text; if it is stored as an artifact, its beginning and the artifact's id.
pub(super) fn completed_text(call: &ToolCallCompletedPayload) -> String {
    let text = call.result_preview.as_ref().map(result_text).unwrap_or_default();
    match &call.result_ref {
        None => text,
        Some(ArtifactRef { artifact_id, size_bytes, .. }) => {
            let size = size_bytes.map(|bytes| format!(" of {bytes} bytes")).unwrap_or_default();
            format!("{text}… [cut: the whole is artifact {artifact_id}{size}]")
        }
    }
}

/// A result as text: texts as they are, text blocks joined, anything else as JSON.
fn result_text(result: &Value) -> String {
    match result {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(blocks) if !blocks.is_empty() => {
            let text = |block: &Value| block.pointer("/content/text").or(block.get("text"))?.as_str().map(String::from);
            let texts: Option<Vec<_>> = blocks.iter().map(text).collect();
            texts.map_or_else(|| result.to_string(), |texts| texts.join("\n"))
        }
        other => other.to_string(),
    }
}

/// A failure as a sentence for people.
pub(super) fn failure(failed: &TaskFailedPayload) -> String {
    format!("The task failed ({}): {}", code(failed), failed.reason)
}

/// The code of a failure as the log writes it.
pub(super) fn code(failed: &TaskFailedPayload) -> String {
    match json!(failed.error.code) {
        Value::String(code) => code,
        other => other.to_string(),
    }
}
