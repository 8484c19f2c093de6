//! The transcript: what was said and done in a session, derived from its events and from nothing else.

use serde_json::{Value, json};

use crate::content::{self, TranscriptContentBlock, TranscriptMessage, TranscriptRole};
use crate::event::{EventBody, NormalizedEvent};
use crate::payload::{QUESTION_TOOL, ToolCallCompletedPayload};

/// The messages that these events, in order of `seq`, add up to. Deltas and compiled inputs are ignored, because
/// what they say is said again when it is complete.
pub fn transcript<'a>(events: impl IntoIterator<Item = &'a NormalizedEvent>) -> Vec<TranscriptMessage> {
    events.into_iter().flat_map(|event| messages(&event.body)).collect()
}

/// The messages that one event adds.
pub fn messages(body: &EventBody) -> Vec<TranscriptMessage> {
    let (role, content) = match body {
        EventBody::TaskStarted(started) => return started.messages.clone(),
        EventBody::TaskSteered(steered) => return vec![steered.message.clone()],
        EventBody::ToolCallRequested(call) => (
            TranscriptRole::Assistant,
            vec![TranscriptContentBlock::ToolUse {
                tool_call_id: call.identity.tool_call_id.clone(),
                name: call.name.clone(),
                input: call.input.clone(),
            }],
        ),
        EventBody::ToolCallCompleted(call) => (
            TranscriptRole::Tool,
            vec![TranscriptContentBlock::ToolResult {
                tool_call_id: call.identity.tool_call_id.clone(),
                result: result(call),
                is_error: call.is_error,
            }],
        ),
        EventBody::ToolCallDenied(call) => (
            TranscriptRole::Tool,
            vec![TranscriptContentBlock::ToolResult {
                tool_call_id: call.identity.tool_call_id.clone(),
                result: call.reason.clone().into(),
                is_error: Some(true),
            }],
        ),
        EventBody::ModelOutputCompleted(output) => {
            (TranscriptRole::Assistant, output.content.iter().cloned().map(Into::into).collect())
        }
        _ => return Vec::new(),
    };
    vec![TranscriptMessage { role, content }]
}

/// Whether an event says or does something that a session's history shows; a session's record counts these.
pub fn is_message(body: &EventBody) -> bool {
    match body {
        EventBody::ToolCallRequested(call) => call.name != QUESTION_TOOL,
        EventBody::ToolCallCompleted(call) => call.name != QUESTION_TOOL,
        EventBody::ToolCallDenied(call) => call.name != QUESTION_TOOL,
        EventBody::QuestionAsked(_) | EventBody::QuestionResolved(_) | EventBody::TaskFailed(_) => true,
        EventBody::TaskStarted(started) => started.messages.iter().flat_map(|message| &message.content).any(is_shown),
        EventBody::TaskSteered(steered) => steered.message.content.iter().any(is_shown),
        EventBody::ModelOutputCompleted(output) => {
            output.content.iter().cloned().map(TranscriptContentBlock::from).any(|block| is_shown(&block))
        }
        _ => false,
    }
}

/// Whether a history shows this block; an empty text is left out.
pub fn is_shown(block: &TranscriptContentBlock) -> bool {
    !matches!(block, TranscriptContentBlock::Text { text } if text.is_empty())
}

fn result(call: &ToolCallCompletedPayload) -> Value {
    let preview = call.result_preview.clone().unwrap_or(Value::Null);
    match &call.result_ref {
        Some(artifact) => json!({ "artifact_ref": artifact, "preview": preview }),
        None => preview,
    }
}

/// The transcript as one text, for runtimes that take no message arrays.
pub fn flatten(messages: &[TranscriptMessage]) -> String {
    let texts = messages.iter().map(|message| {
        let role = match message.role {
            TranscriptRole::System => "SYSTEM",
            TranscriptRole::User => "USER",
            TranscriptRole::Assistant => "ASSISTANT",
            TranscriptRole::Tool => "TOOL",
        };
        let blocks: Vec<_> = message.content.iter().map(block_text).collect();
        format!("{role}: {}", blocks.join("\n"))
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

fn block_text(block: &TranscriptContentBlock) -> String {
    match block {
        TranscriptContentBlock::Text { text } => text.clone(),
        TranscriptContentBlock::Code { code, .. } => code.clone(),
        TranscriptContentBlock::ArtifactRef { artifact_id, name, .. } => {
            format!("[artifact {}]", name.as_deref().unwrap_or(artifact_id.as_str()))
        }
        TranscriptContentBlock::Image { artifact_id, name, .. } => {
            format!("[image {}]", name.as_deref().unwrap_or(artifact_id.as_str()))
        }
        TranscriptContentBlock::FileRef { path } => content::mention(path),
        TranscriptContentBlock::ToolUse { name, input, .. } => format!("[called {name} with {input}]"),
        TranscriptContentBlock::ToolResult { result: Value::String(text), .. } => text.clone(),
        TranscriptContentBlock::ToolResult { result, .. } => result.to_string(),
    }
}
