//! Texts that were too big for their event, put back into it for clients that show them.

use std::borrow::Cow;

use roost_engine::Artifacts;
use roost_model::content::{AssistantContentBlock, TranscriptContentBlock};
use roost_model::event::{EventBody, NormalizedEvent};
use roost_model::ids::ArtifactId;
use roost_model::payload::TaskStartedPayload;

/// The kind of an artifact that is a text.
const TEXT: &str = "text/plain";

/// The event with its texts in it. One whose artifact is gone keeps the reference.
pub(crate) async fn inline_texts<'a>(artifacts: &Artifacts, event: &'a NormalizedEvent) -> Cow<'a, NormalizedEvent> {
    let mut event = Cow::Borrowed(event);
    match &event.body {
        EventBody::ModelOutputCompleted(output) if output.content.iter().any(|block| answer(block).is_some()) => {}
        EventBody::TaskStarted(started) if texts(started).any(|block| said(block).is_some()) => {}
        _ => return event,
    }
    match &mut event.to_mut().body {
        EventBody::ModelOutputCompleted(output) => {
            for block in &mut output.content {
                if let Some(text) = fetch(artifacts, answer(block)).await {
                    *block = AssistantContentBlock::Text { text };
                }
            }
        }
        EventBody::TaskStarted(started) => {
            for block in started.messages.iter_mut().flat_map(|message| &mut message.content) {
                if let Some(text) = fetch(artifacts, said(block)).await {
                    *block = TranscriptContentBlock::Text { text };
                }
            }
        }
        _ => {}
    }
    event
}

fn texts(started: &TaskStartedPayload) -> impl Iterator<Item = &TranscriptContentBlock> {
    started.messages.iter().flat_map(|message| &message.content)
}

/// The text that stands elsewhere, of an agent.
fn answer(block: &AssistantContentBlock) -> Option<&ArtifactId> {
    match block {
        AssistantContentBlock::ArtifactRef { artifact_id, content_type: Some(kind), .. } if kind == TEXT => {
            Some(artifact_id)
        }
        _ => None,
    }
}

/// The text that stands elsewhere, of a person.
fn said(block: &TranscriptContentBlock) -> Option<&ArtifactId> {
    match block {
        TranscriptContentBlock::ArtifactRef { artifact_id, content_type: Some(kind), .. } if kind == TEXT => {
            Some(artifact_id)
        }
        _ => None,
    }
}

async fn fetch(artifacts: &Artifacts, id: Option<&ArtifactId>) -> Option<String> {
    let id = id?;
    match artifacts.recent(id) {
        Some(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        None => Some(String::from_utf8_lossy(&artifacts.get(id).await.ok()?).into_owned()),
    }
}
